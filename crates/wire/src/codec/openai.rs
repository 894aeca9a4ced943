//! What Chat and Responses write alike: content parts, efforts, tool schemas' surroundings.

use serde_json::{Value, json};

use crate::{
    codec::Out,
    json::Fields,
    loss::{Losses, Rejection},
    neutral::{
        Content, Document, Effort, Grammar, Image, Origin, OutputFormat, ReasoningWish, Sampling, Source, Text,
        Thinking, ToolChoice,
    },
    profile::Profile,
    schema,
};

/// A content part as it was read.
pub(crate) enum Part {
    /// Something to read or look at.
    Content(Content),
    /// A refusal of the assistant.
    Refusal(String),
    /// A type nobody knows.
    Unknown(String),
}

/// The parts of a message, read one by one.
pub(crate) struct Parts<'l> {
    /// What no other protocol can express.
    pub(crate) unsupported: &'l mut Vec<Rejection>,
    /// Warnings.
    pub(crate) losses: &'l mut Losses,
}

impl Parts<'_> {
    /// A message's `content`: nothing, a text, or a list of parts. Unknown types are dropped, unless there is nothing
    /// else.
    pub(crate) fn read(&mut self, content: Option<Value>, place: &'static str) -> Result<Vec<Part>, Rejection> {
        let list = match content {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => return Ok(vec![Part::Content(Content::Text(Text::new(text)))]),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(Rejection::illegal(place, "is neither a text nor a list of parts")),
        };
        let mut parts = Vec::with_capacity(list.len());
        let mut unknown = None;
        for value in list {
            match self.part(value, place)? {
                Some(Part::Unknown(kind)) => {
                    self.losses.note_named("dropped", &kind);
                    unknown = Some(kind);
                }
                Some(part) => parts.push(part),
                None => {}
            }
        }
        if let Some(kind) = unknown.filter(|_| parts.is_empty()) {
            return Err(Rejection::unsupported(place, format!("content of type '{kind}' cannot be translated")));
        }
        Ok(parts)
    }

    fn part(&mut self, value: Value, place: &'static str) -> Result<Option<Part>, Rejection> {
        if let Value::String(text) = value {
            return Ok(Some(Part::Content(Content::Text(Text::new(text)))));
        }
        let mut part = Fields::new(value, place)?;
        let kind = part.kind().unwrap_or_default();
        let cache = part.any("cache_control");
        let content = match kind.as_str() {
            "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" => {
                Content::Text(Text { text: part.required("text")?, cache })
            }
            "refusal" => return Ok(Some(Part::Refusal(part.required("refusal")?))),
            "image_url" => {
                let (url, detail) = match part.any("image_url") {
                    Some(Value::String(url)) => (url, None),
                    Some(object) => {
                        let mut object = Fields::new(object, "image_url")?;
                        (object.required("url")?, object.text("detail")?)
                    }
                    None => return Err(Rejection::illegal("image_url", "is missing")),
                };
                Content::Image(Image { source: address(url, "image_url")?, detail: telling(detail), cache })
            }
            "input_image" => {
                let source = match (part.text("image_url")?, part.text("file_id")?) {
                    (Some(url), _) => address(url, "image_url")?,
                    (None, Some(id)) => Source::File { origin: Origin::OpenAi, id },
                    (None, None) => return Err(Rejection::illegal("image_url", "is missing")),
                };
                Content::Image(Image { source, detail: telling(part.text("detail")?), cache })
            }
            "file" => {
                let mut file = part.object("file")?.ok_or_else(|| Rejection::illegal("file", "is missing"))?;
                Content::Document(document(&mut file, cache)?)
            }
            "input_file" => Content::Document(document(&mut part, cache)?),
            "input_audio" | "audio" | "output_audio" => {
                self.unsupported.push(Rejection::unsupported(place, "audio cannot be translated"));
                return Ok(None);
            }
            _ => return Ok(Some(Part::Unknown(if kind.is_empty() { "part".to_owned() } else { kind }))),
        };
        Ok(Some(Part::Content(content)))
    }

    /// Content of a user, or of a tool's result: a refusal is text there.
    pub(crate) fn content(&mut self, value: Option<Value>, place: &'static str) -> Result<Vec<Content>, Rejection> {
        let content = |part| match part {
            Part::Content(content) => content,
            Part::Refusal(text) | Part::Unknown(text) => Content::Text(Text::new(text)),
        };
        Ok(self.read(value, place)?.into_iter().map(content).collect())
    }

    /// Instructions: only their texts.
    pub(crate) fn texts(&mut self, value: Option<Value>, place: &'static str) -> Result<Vec<Text>, Rejection> {
        let text = |content| if let Content::Text(text) = content { Some(text) } else { None };
        Ok(self.content(value, place)?.into_iter().filter_map(text).collect())
    }
}

/// `auto` is what stands there when nothing is said.
fn telling(detail: Option<String>) -> Option<String> {
    detail.filter(|d| d != "auto")
}

fn document(file: &mut Fields, cache: Option<Value>) -> Result<Document, Rejection> {
    let title = file.text("filename")?.filter(|t| !t.is_empty());
    let source = if let Some(data) = file.text("file_data")? {
        match address(data, "file_data")? {
            // Bare base64 is accepted by OpenAI for PDF files.
            Source::Url(data) => Source::Base64 { mime: "application/pdf".to_owned(), data },
            source => source,
        }
    } else if let Some(url) = file.text("file_url")? {
        Source::Url(url)
    } else if let Some(id) = file.text("file_id")? {
        Source::File { origin: Origin::OpenAi, id }
    } else {
        return Err(Rejection::illegal("file", "has neither data nor a URL nor an id"));
    };
    Ok(Document { source, title, cache })
}

/// A URL, or the bytes inside a data URL.
fn address(url: String, param: &'static str) -> Result<Source, Rejection> {
    let Some(rest) = url.strip_prefix("data:") else { return Ok(Source::Url(url)) };
    let Some((head, data)) = rest.split_once(',') else {
        return Err(Rejection::illegal(param, "is not a complete data URL"));
    };
    let Some(mime) = head.strip_suffix(";base64") else {
        return Err(Rejection::illegal(param, "is a data URL that is not base64"));
    };
    let mime = mime.split(';').next().unwrap_or_default();
    let mime = if mime == "image/jpg" { "image/jpeg" } else { mime };
    Ok(Source::Base64 { mime: mime.to_owned(), data: data.to_owned() })
}

/// A data URL.
pub(crate) fn data_url(mime: &str, data: &str) -> String {
    format!("data:{mime};base64,{data}")
}

/// A URL or data URL of an image; `None` if it lives at a provider.
pub(crate) fn image_url(source: &Source) -> Option<String> {
    match source {
        Source::Base64 { mime, data } => Some(data_url(mime, data)),
        Source::Url(url) => Some(url.clone()),
        Source::Plain(_) | Source::File { .. } => None,
    }
}

/// The file name a document goes by.
pub(crate) fn file_name(document: &Document) -> String {
    document.title.clone().unwrap_or_else(|| {
        match &document.source {
            Source::Base64 { mime, .. } if mime.starts_with("text/") => "file.txt",
            _ => "document.pdf",
        }
        .to_owned()
    })
}

/// A document that is text, as text: its title, a blank line, the text.
pub(crate) fn plain_text(title: Option<&str>, text: &str) -> String {
    match title.filter(|t| !t.is_empty()) {
        Some(title) => format!("{title}\n\n{text}"),
        None => text.to_owned(),
    }
}

/// Reads an effort; a word nobody knows is dropped.
pub(crate) fn effort(word: Option<String>, wish: &mut ReasoningWish, losses: &mut Losses) {
    match word.as_deref() {
        None => {}
        Some("none") => wish.thinking = Thinking::Off,
        Some(word) => match Effort::read(word) {
            Some(effort) => wish.effort = Some(effort),
            None => losses.note("dropped:effort"),
        },
    }
}

impl Effort {
    /// The word of a protocol.
    pub fn read(word: &str) -> Option<Self> {
        Some(match word {
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" => Self::Xhigh,
            "max" => Self::Max,
            _ => return None,
        })
    }

    /// The word in every protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// `url_citation`, as Responses writes it flat.
pub(crate) fn url_citation(citation: &crate::neutral::Citation, offset: u64, length: u64) -> Value {
    let (start, end) = citation.span.unwrap_or((0, length));
    json!({
        "type":"url_citation","start_index":start + offset,"end_index":end + offset,
        "title":citation.title,"url":citation.url
    })
}

impl Grammar {
    /// Reads `syntax` and `definition`.
    pub(crate) fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { syntax: fields.lenient("syntax")?, definition: fields.lenient("definition")? })
    }
}

/// A choice that is one word, in both OpenAI protocols.
pub(crate) fn choice(word: &str) -> Option<ToolChoice> {
    Some(match word {
        "auto" => ToolChoice::Auto,
        "required" | "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        _ => return None,
    })
}

/// The members of a JSON schema format, which both OpenAI protocols write alike.
pub(crate) fn json_schema(fields: &mut Fields) -> Result<OutputFormat, Rejection> {
    Ok(OutputFormat::JsonSchema {
        name: fields.text("name")?,
        description: fields.text("description")?,
        schema: fields.any("schema").unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        strict: fields.boolean("strict")?,
    })
}

/// Temperature and `top_p`, as both OpenAI protocols take them.
pub(crate) fn sampling(sampling: &Sampling, profile: &Profile, out: &mut Out, losses: &mut Losses) {
    let mut member = |name: &'static str, value: &Option<serde_json::Number>, code| match value {
        Some(value) if profile.sampling => out.put(name, Value::Number(value.clone())),
        Some(_) => losses.note(code),
        None => {}
    };
    member("temperature", &sampling.temperature, "dropped:temperature");
    member("top_p", &sampling.top_p, "dropped:top_p");
    if sampling.top_k.is_some() {
        losses.note("dropped:top_k");
    }
}

/// The members of a JSON schema format, as both OpenAI protocols write them. From a protocol without a name it is
/// `response`, and strict if the schema is.
pub(crate) fn write_json_schema(format: &OutputFormat) -> Out {
    let mut out = Out::default();
    let OutputFormat::JsonSchema { name, description, schema, strict } = format else { return out };
    out.put("name", name.as_deref().unwrap_or("response"));
    out.put_some("description", description.as_deref());
    out.put("schema", schema.clone());
    if name.is_none() {
        out.put("strict", schema::is_strict(schema));
    } else {
        out.put_some("strict", *strict);
    }
    out
}
