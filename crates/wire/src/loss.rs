//! What a translation could not carry: warnings, and requests that are refused before anything is sent.

use std::{borrow::Cow, fmt};

use headgate_domain::Protocol;
use serde_json::json;

/// How many different codes one request may record.
const MAX_CODES: usize = 48;

/// The warnings of one attempt: codes `action:field`, each once, in the order they arose.
///
/// Actions are `dropped`, `clamped` and `repaired`; the field is the client's own word where it has one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    codes: Vec<Cow<'static, str>>,
    unknown_fields: usize,
}

impl Losses {
    /// Records a code that is known beforehand.
    pub fn note(&mut self, code: &'static str) {
        self.add(Cow::Borrowed(code));
    }

    /// Records `action:field` for a field named by the client: cut, and made safe for a header.
    pub fn note_named(&mut self, action: &str, field: &str) {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "_.-:[]".contains(c) { c } else { '_' };
        let field: String = field.chars().take(64).map(safe).collect();
        self.add(Cow::Owned(format!("{action}:{field}")));
    }

    /// Counts members nobody knows; they are dropped without a warning.
    pub fn count_unknown(&mut self, fields: usize) {
        self.unknown_fields += fields;
    }

    fn add(&mut self, code: Cow<'static, str>) {
        if !self.codes.contains(&code) && self.codes.len() < MAX_CODES {
            self.codes.push(code);
        }
    }

    /// The codes recorded.
    pub fn codes(&self) -> &[Cow<'static, str>] {
        &self.codes
    }

    /// How many unknown members were dropped.
    pub fn unknown_fields(&self) -> usize {
        self.unknown_fields
    }

    /// Nothing was lost, clamped or repaired.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The codes joined by commas, as `x-headgate-warnings` carries them.
    pub fn header(&self) -> String {
        self.codes.join(",")
    }
}

/// Why a request is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The body is not legal for the client's own protocol.
    Illegal,
    /// The upstream's protocol has no way to say it; another candidate may.
    Unsupported,
}

/// A request that cannot be expressed for an upstream: a 400 if no other candidate can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub why: Why,
    /// The member it is about, in the client's words.
    pub param: Option<Cow<'static, str>>,
    /// A sentence for the client.
    pub message: String,
}

impl Rejection {
    /// The member `param` is not legal.
    pub fn illegal(param: impl Into<Cow<'static, str>>, what: &str) -> Self {
        let param = param.into();
        Self { why: Why::Illegal, message: format!("'{param}' {what}"), param: Some(param) }
    }

    /// The member `param` has no counterpart.
    pub fn unsupported(param: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { why: Why::Unsupported, param: Some(param.into()), message: message.into() }
    }

    /// `error.code` for OpenAI clients and `x-headgate-error`.
    pub fn code(&self) -> &'static str {
        match self.why {
            Why::Illegal => "bad_request",
            Why::Unsupported => "unsupported_parameter",
        }
    }

    /// The error body in the client's protocol; the status is 400.
    pub fn body(&self, protocol: Protocol, request_id: &str) -> Vec<u8> {
        let kind = "invalid_request_error";
        match protocol {
            Protocol::Claude => {
                json!({"type":"error","error":{"type":kind,"message":self.message},"request_id":request_id})
            }
            Protocol::Chat | Protocol::Responses => json!({"error":{
                "message":format!("{} (request {request_id})", self.message),
                "type":kind,"param":self.param,"code":self.code()
            }}),
        }
        .to_string()
        .into_bytes()
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_recorded_once_and_is_safe_in_a_header() {
        let mut losses = Losses::default();
        losses.note("dropped:seed");
        losses.note("dropped:seed");
        losses.note_named("dropped", "we\r\nird,type");
        assert_eq!(losses.header(), "dropped:seed,dropped:we__ird_type");
    }

    #[test]
    fn a_client_that_sends_a_thousand_unknown_types_does_not_fill_memory() {
        let mut losses = Losses::default();
        for n in 0..1000 {
            losses.note_named("dropped", &format!("type{n}"));
        }
        assert_eq!(losses.codes().len(), MAX_CODES);
    }
}
