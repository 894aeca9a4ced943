//! The one change made to a same-protocol body: the value of `model`, replaced where it stands.
//!
//! Everything else keeps its bytes: order of members, white space, spelling of numbers.

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Where a value stands in a body: its first byte and the one after its last.
pub type Span = std::ops::Range<usize>;

/// The place of `part` inside `whole`, which it must have been borrowed from.
pub(crate) fn place(whole: &[u8], part: &[u8]) -> Option<Span> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// `body` with the JSON value at `span` replaced by the string `text`.
pub fn replace(body: &[u8], span: &Span, text: &str) -> Bytes {
    let value = serde_json::Value::from(text).to_string();
    let mut out = BytesMut::with_capacity(body.len() + value.len());
    out.extend_from_slice(body.get(..span.start).unwrap_or_default());
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(body.get(span.end..).unwrap_or_default());
    out.freeze()
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

/// The place of the model's name in an answer or event: `model`, `message.model` or `response.model`.
pub fn answer_model(json: &[u8]) -> Option<Span> {
    // Most events do not name the model at all.
    memchr::memmem::find(json, b"\"model\"")?;
    let answer: Answer<'_> = serde_json::from_slice(json).ok()?;
    let inner = |raw: &'_ RawValue| -> Option<Span> {
        let named: Named<'_> = serde_json::from_str(raw.get()).ok()?;
        let model = named.model.filter(|m| m.get().starts_with('"'))?;
        let outer = place(json, raw.get().as_bytes())?;
        let span = place(raw.get().as_bytes(), model.get().as_bytes())?;
        Some(outer.start + span.start..outer.start + span.end)
    };
    if let Some(model) = answer.model.filter(|m| m.get().starts_with('"')) {
        return place(json, model.get().as_bytes());
    }
    answer.message.and_then(inner).or_else(|| answer.response.and_then(inner))
}

/// An event or whole answer with the model's name replaced; `None` when it names none.
///
/// In an event the JSON is looked for in its (single) data line; the other bytes stay.
pub fn rename_answer(raw: &[u8], asked: &str) -> Option<Bytes> {
    let start = memchr::memchr(b'{', raw)?;
    let tail = raw.get(start..)?;
    let end = memchr::memrchr(b'}', tail)? + 1;
    let span = answer_model(tail.get(..end)?)?;
    Some(replace(raw, &(start + span.start..start + span.end), asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(raw: &str) -> Option<String> {
        rename_answer(raw.as_bytes(), "as\"ked").map(|b| String::from_utf8(b.to_vec()).unwrap())
    }

    #[test]
    fn only_the_models_value_changes() {
        assert_eq!(
            renamed("event: x\ndata: { \"n\": 1.0e2, \"model\" : \"sent\" ,\"z\":null}\n\n").unwrap(),
            "event: x\ndata: { \"n\": 1.0e2, \"model\" : \"as\\\"ked\" ,\"z\":null}\n\n"
        );
        assert_eq!(
            renamed(r#"{"message":{"id":1,"model":"m"}}"#).unwrap(),
            r#"{"message":{"id":1,"model":"as\"ked"}}"#
        );
        assert_eq!(renamed(r#"{"response":{"model":"m"}}"#).unwrap(), r#"{"response":{"model":"as\"ked"}}"#);
    }

    #[test]
    fn a_model_named_elsewhere_is_left_alone() {
        assert_eq!(renamed(r#"{"delta":{"text":"\"model\":\"x\""}}"#), None);
        assert_eq!(renamed(r#"{"input":{"model":"x"}}"#), None);
        assert_eq!(renamed(r#"{"model":null}"#), None);
        assert_eq!(renamed("data: [DONE]\n\n"), None);
    }
}
