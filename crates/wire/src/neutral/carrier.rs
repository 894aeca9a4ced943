//! Sealed reasoning that travels through a client which speaks another protocol.
//!
//! A provider accepts its signed or encrypted reasoning only unchanged, and the gateway keeps no state. So the seal is
//! put into the client's own opaque field (Responses `encrypted_content`, Claude `signature`) as
//! `hg1.` + base64url without padding of `{"o": origin, "d": data}`, and is restored when it comes back.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// How every carrier begins.
pub const PREFIX: &str = "hg1.";

/// The seal of a piece of reasoning.
#[derive(Debug, Clone, PartialEq)]
pub enum Carrier {
    /// Made by a Claude upstream: the complete `thinking` or `redacted_thinking` block.
    Claude(Value),
    /// Made by a Responses upstream.
    OpenAi {
        /// The reasoning item's `id`.
        id: Option<String>,
        /// `encrypted_content`.
        encrypted: String,
    },
    /// Nothing but text.
    Text,
}

impl Carrier {
    /// The text put into the client's opaque field.
    pub fn wrap(&self) -> String {
        let value = match self {
            Self::Claude(block) => json!({"o":"claude","d":block}),
            Self::OpenAi { id, encrypted } => json!({"o":"openai","d":{"id":id,"encrypted_content":encrypted}}),
            Self::Text => json!({"o":"text","d":null}),
        };
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(value.to_string()))
    }

    /// Reads what [`Self::wrap`] wrote; `None` for anything else, damaged carriers included.
    pub fn unwrap(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let mut value: Value = serde_json::from_slice(&bytes).ok()?;
        let data = value.get_mut("d").map(Value::take).unwrap_or_default();
        match value.get("o")?.as_str()? {
            "claude" => {
                let kind = data.get("type").and_then(Value::as_str);
                matches!(kind, Some("thinking" | "redacted_thinking")).then_some(Self::Claude(data))
            }
            "openai" => Some(Self::OpenAi {
                id: data.get("id").and_then(Value::as_str).map(str::to_owned),
                encrypted: data.get("encrypted_content")?.as_str()?.to_owned(),
            }),
            "text" => Some(Self::Text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_comes_back_and_anything_else_is_nothing() {
        for carrier in [
            Carrier::Claude(json!({"type":"thinking","thinking":"é","signature":"s"})),
            Carrier::OpenAi { id: Some("rs_1".into()), encrypted: "gAAAA".into() },
            Carrier::OpenAi { id: None, encrypted: "x".into() },
            Carrier::Text,
        ] {
            assert_eq!(Carrier::unwrap(&carrier.wrap()), Some(carrier));
        }
        let forged = format!("hg1.{}", URL_SAFE_NO_PAD.encode(r#"{"o":"claude","d":{"type":"tool_use"}}"#));
        for bad in ["", "hg1.", "hg1.!!!", "hg1.e30", "gAAAA", "hg1.bnVsbA", forged.as_str()] {
            assert_eq!(Carrier::unwrap(bad), None, "{bad}");
        }
    }
}
