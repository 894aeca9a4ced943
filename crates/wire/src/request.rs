//! What a client's body asks for: the model and its place, stream or not, the features it uses, an estimate of its
//! size, and a session to stay with. One pass over the bytes, nothing copied.

use std::{collections::BTreeSet, fmt};

use headgate_domain::{Protocol, upstream::Capability};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::splice::{self, Span};

/// Deepest nesting of a body (`serde_json` itself refuses more).
pub const MAX_DEPTH: usize = 128;

/// What a body asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// `model`, as the client wrote it.
    pub model: String,
    /// The place of its value (with quotes) in the body.
    pub model_span: Span,
    /// `stream: true`.
    pub stream: bool,
    /// Features used.
    pub features: BTreeSet<Capability>,
    /// Estimated prompt: UTF-8 bytes of all text ÷ 4, with fixed amounts for images and documents.
    pub estimated_input: u64,
    /// A cache key or session id from the body.
    pub session: Option<String>,
}

/// Why a body cannot be used: a sentence for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRequest(pub String);

/// Reads a body of `protocol`.
pub fn read(protocol: Protocol, body: &[u8]) -> Result<Asked, BadRequest> {
    if body.trim_ascii().is_empty() {
        return Err(BadRequest("the body is empty; it should be a JSON object".to_owned()));
    }
    let text = std::str::from_utf8(body).map_err(|_| BadRequest("the body is not valid UTF-8".to_owned()))?;
    let mut walk = Walk { body, protocol, asked: Asked::default(), text_bytes: 0, fixed_tokens: 0, seen_model: false };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Top(&mut walk).deserialize(&mut deserializer).and_then(|()| deserializer.end()).map_err(|why| {
        let why = why.to_string();
        BadRequest(if why.contains("recursion limit") {
            format!("the body is nested deeper than {MAX_DEPTH} levels")
        } else {
            format!("the body is not a legal request: {why}")
        })
    })?;
    if !walk.seen_model {
        return Err(BadRequest("the body has no 'model'; name the model to use".to_owned()));
    }
    walk.asked.estimated_input = walk.text_bytes / 4 + walk.fixed_tokens;
    Ok(walk.asked)
}

struct Walk<'b> {
    body: &'b [u8],
    protocol: Protocol,
    asked: Asked,
    text_bytes: u64,
    fixed_tokens: u64,
    seen_model: bool,
}

impl Walk<'_> {
    fn feature(&mut self, capability: Capability) {
        self.asked.features.insert(capability);
    }

    /// A piece of text, or a data URL, which counts by what it holds.
    fn text(&mut self, text: &str) {
        if text.len() > 256
            && let Some((mime, payload)) = text.strip_prefix("data:").and_then(|rest| rest.split_once(','))
        {
            self.payload(mime, payload.len());
        } else {
            self.text_bytes += text.len() as u64;
        }
    }

    /// A base64 payload: 1,600 tokens an image, 1,500 for 3 KiB of a PDF, audio not at all.
    fn payload(&mut self, mime: &str, base64_len: usize) {
        let bytes = base64_len as u64 / 4 * 3;
        self.fixed_tokens += if mime.starts_with("image/") {
            1600
        } else if mime.starts_with("application/pdf") {
            1500 * bytes.div_ceil(3 * 1024)
        } else {
            bytes / 4
        };
    }

    /// The `type` of a content part.
    fn part_type(&mut self, kind: &str) {
        match kind {
            "image" | "image_url" | "input_image" => self.feature(Capability::Images),
            "document" | "file" | "input_file" => self.feature(Capability::Documents),
            "additional_tools" => self.feature(Capability::Tools),
            _ => {}
        }
    }

    fn session(&mut self, session: &str, rank_first: bool) {
        if !session.is_empty() && (rank_first || self.asked.session.is_none()) {
            self.asked.session = Some(session.chars().take(512).collect());
        }
    }

    /// Claude Code's `metadata.user_id` is a JSON text with a `session_id`; older ones end in `_session_<id>`.
    fn user_id(&mut self, text: &str) {
        #[derive(serde::Deserialize)]
        struct UserId {
            session_id: String,
        }
        let session = serde_json::from_str::<UserId>(text).ok().map(|u| u.session_id);
        let session = session.or_else(|| text.rsplit_once("_session_").map(|(_, id)| id.to_owned()));
        self.session(session.as_deref().unwrap_or(text), false);
    }
}

/// The top object.
struct Top<'w, 'b>(&'w mut Walk<'b>);

impl<'de> DeserializeSeed<'de> for Top<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let walk = self.0;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match &*key {
                "model" => {
                    if walk.seen_model {
                        return Err(de::Error::custom("'model' stands there twice"));
                    }
                    let raw: &'de serde_json::value::RawValue = map.next_value()?;
                    walk.asked.model =
                        serde_json::from_str(raw.get()).map_err(|_| de::Error::custom("'model' is not a text"))?;
                    if walk.asked.model.is_empty() || walk.asked.model.len() > 256 {
                        return Err(de::Error::custom("'model' is empty or longer than 256 bytes"));
                    }
                    walk.asked.model_span = splice::place(walk.body, raw.get().as_bytes()).unwrap_or_default();
                    walk.seen_model = true;
                }
                "stream" => walk.asked.stream = map.next_value::<Option<bool>>()?.unwrap_or(false),
                "tools" | "functions" => {
                    let mut counted = Counted { walk, place: Place::Tools, items: 0 };
                    map.next_value_seed(&mut counted)?;
                    if counted.items > 0 {
                        walk.feature(Capability::Tools);
                    }
                }
                "response_format" | "text" | "output_config" | "output_format" => {
                    map.next_value_seed(Node { walk, place: Place::Format, key: "" })?;
                }
                "reasoning" | "thinking" | "reasoning_effort" => {
                    let value: serde_json::Value = map.next_value()?;
                    let off = value.is_null()
                        || value.get("type").and_then(|t| t.as_str()) == Some("disabled")
                        || value.as_str().or_else(|| value.get("effort").and_then(|e| e.as_str())) == Some("none");
                    if !off {
                        walk.feature(Capability::Reasoning);
                    }
                }
                "prompt_cache_key" => {
                    if let Some(text) = map.next_value::<Option<std::borrow::Cow<'de, str>>>()? {
                        walk.session(&text, true);
                    }
                }
                "metadata" | "client_metadata" => {
                    let value: serde_json::Value = map.next_value()?;
                    let text = |name: &str| value.get(name).and_then(|v| v.as_str());
                    if let Some(session) = text("session_id").or_else(|| text("thread_id")) {
                        walk.session(session, false);
                    } else if let Some(user) = text("user_id").filter(|_| walk.protocol == Protocol::Claude) {
                        walk.user_id(user);
                    }
                }
                // What the model reads.
                "messages" | "input" | "system" | "instructions" | "prompt" => {
                    map.next_value_seed(Node { walk, place: Place::Content, key: "" })?;
                }
                _ => {
                    map.next_value_seed(Node { walk, place: Place::Other, key: "" })?;
                }
            }
        }
        Ok(())
    }
}

/// Which part of the body a value is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Content,
    Tools,
    Format,
    Other,
}

/// A list whose items are counted.
struct Counted<'w, 'b> {
    walk: &'w mut Walk<'b>,
    place: Place,
    items: usize,
}

impl<'de> DeserializeSeed<'de> for &mut Counted<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Counted<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Node { walk: self.walk, place: self.place, key: "" })?.is_some() {
            self.items += 1;
        }
        Ok(())
    }
}

/// Any value below the top.
struct Node<'w, 'b, 'k> {
    walk: &'w mut Walk<'b>,
    place: Place,
    /// The member it is the value of.
    key: &'k str,
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        match (self.place, self.key) {
            (Place::Content, "type") => self.walk.part_type(text),
            (Place::Format, "type") if text == "json_schema" => self.walk.feature(Capability::StructuredOutput),
            (Place::Content, "encrypted_content" | "signature" | "id" | "call_id" | "tool_use_id" | "role") => {}
            (Place::Content | Place::Tools | Place::Format, _) => self.walk.text(text),
            (Place::Other, _) => {}
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Node { walk: self.walk, place: self.place, key: self.key })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // Claude's media: {"type":"base64","media_type":…,"data":…} in any order of members.
        let source = self.place == Place::Content && matches!(self.key, "source" | "input_audio");
        let (mut mime, mut data) = (None::<String>, None::<usize>);
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if source && key == "media_type" {
                mime = map.next_value::<Option<String>>()?;
            } else if source && key == "data" {
                data = map.next_value::<Option<std::borrow::Cow<'de, str>>>()?.map(|d| d.len());
            } else {
                map.next_value_seed(Node { walk: self.walk, place: self.place, key: &key })?;
            }
        }
        if let Some(length) = data {
            match mime.as_deref() {
                Some(mime) if !mime.starts_with("text/") => self.walk.payload(mime, length),
                Some(_) => self.walk.text_bytes += length as u64,
                None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
