//! Refusals of upstreams, read from whatever shape they come in.

use headgate_domain::UpstreamError;
use serde_json::Value;

/// Longest message kept.
const MAX_MESSAGE: usize = 2048;

/// Reads an error body. Shapes: OpenAI and Anthropic envelopes, `{"detail"}`, `{"message"}`, `{"error":"text"}`,
/// `{"code","msg"}`, HTML and nothing at all.
pub fn read(status: Option<u16>, body: &[u8]) -> UpstreamError {
    let mut error = match serde_json::from_slice::<Value>(body) {
        Ok(value) => from_value(&value).unwrap_or_default(),
        Err(_) => UpstreamError::default(),
    };
    error.status = status;
    if error.message.is_empty() {
        error.message = match status {
            Some(status) => format!("upstream answered HTTP {status}"),
            None => "upstream answered with an error".to_owned(),
        };
        // A short plain text is a message too; a page is not.
        let text = String::from_utf8_lossy(body.get(..body.len().min(MAX_MESSAGE)).unwrap_or_default());
        let text = text.trim();
        if !error.structured && !text.is_empty() && !text.contains('<') && text.len() < 512 {
            error.message = format!("{}: {text}", error.message);
        }
    }
    error.message = mask(&headgate_domain::audit::clip(&error.message, MAX_MESSAGE));
    error.model_scoped = names_model(&error);
    error
}

/// Whether the answer says that it is the model that is limited, not the whole credential.
fn names_model(error: &UpstreamError) -> bool {
    let words = format!("{} {}", error.code.as_deref().unwrap_or_default(), error.message).to_ascii_lowercase();
    ["for model", "per model", "per-model", "model_rate_limit", "this model is", "limit for this model"]
        .iter()
        .any(|w| words.contains(w))
}

fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The error in a JSON document, if it is of a known shape.
pub fn from_value(value: &Value) -> Option<UpstreamError> {
    let object = value.as_object()?;
    let mut error = UpstreamError { structured: true, ..UpstreamError::default() };
    match object.get("error").or_else(|| object.get("response").and_then(|r| r.get("error"))) {
        Some(Value::Object(inner)) => {
            error.message = text(inner.get("message")).or_else(|| text(inner.get("msg"))).unwrap_or_default();
            error.code = text(inner.get("code"));
            error.kind = text(inner.get("type")).or_else(|| text(inner.get("status")));
        }
        Some(Value::String(message)) if !message.is_empty() => error.message.clone_from(message),
        _ if object.get("type").and_then(Value::as_str) == Some("error") => {
            error.message = text(object.get("message")).unwrap_or_default();
            error.code = text(object.get("code"));
        }
        _ => {
            let message = ["message", "msg", "detail", "error_message"].iter().find_map(|name| text(object.get(*name)));
            let detail = || object.get("detail").filter(|d| d.is_array() || d.is_object()).map(ToString::to_string);
            error.message = message.or_else(detail)?;
            error.code = text(object.get("code"));
            error.kind = text(object.get("type"));
        }
    }
    Some(error)
}

/// The error inside a document that came with a successful status: a non-null `error`, `type: "error"`, a Responses
/// document that `failed`, or a non-zero `code` with `msg` and no answer.
pub fn inside_success(value: &Value) -> Option<UpstreamError> {
    let object = value.as_object()?;
    let is_error = |e: &Value| match e {
        Value::Null | Value::Bool(false) => false,
        Value::String(s) => !s.is_empty(),
        Value::Object(o) => !o.is_empty(),
        Value::Array(a) => !a.is_empty(),
        _ => true,
    };
    let answered = ["choices", "output", "content"].iter().any(|name| object.contains_key(*name));
    let coded = object.get("msg").is_some_and(Value::is_string)
        && object
            .get("code")
            .is_some_and(|c| c.as_i64().is_some_and(|n| n != 0) || c.as_str().is_some_and(|s| s != "0"));
    let found = object.get("error").is_some_and(is_error)
        || matches!(object.get("type").and_then(Value::as_str), Some("error" | "response.failed"))
        || object.get("status").and_then(Value::as_str) == Some("failed")
        || (coded && !answered);
    found.then(|| from_value(value).unwrap_or(UpstreamError { structured: true, ..UpstreamError::default() })).map(
        |mut error| {
            if error.message.is_empty() {
                error.message = "the upstream reported an error without a message".to_owned();
            }
            error.message = mask(&headgate_domain::audit::clip(&error.message, MAX_MESSAGE));
            error
        },
    )
}

/// Hides what looks like a credential: relays like to repeat the key they refused.
pub fn mask(message: &str) -> String {
    let secret = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let known = ["sk-", "hg-", "pk-", "key-", "AIza", "xai-", "gsk_", "sess-"].iter().any(|p| bare.starts_with(p));
        (known && bare.len() >= 12) || (bare.len() >= 32 && looks_random(bare))
    };
    // Keys stand beside '=', ':' and quotes as often as beside spaces.
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while !rest.is_empty() {
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        out.push_str(if secret(word) { "[masked]" } else { word });
        let gap = tail.find(part).unwrap_or(tail.len());
        let (between, tail) = tail.split_at(gap);
        out.push_str(between);
        rest = tail;
    }
    out
}

/// A long run of letters and digits mixed, as keys are and words are not.
fn looks_random(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let key_like = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_' || b == b'.');
    // A UUID is a request id, which people need.
    let uuid = word.len() == 36 && word.bytes().filter(|b| *b == b'-').count() == 4;
    key_like && !uuid && digits >= 4 && letters >= 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_error_gives_its_message() {
        for (body, message, code) in [
            (r#"{"error":{"message":"m","type":"t","code":"c"}}"#, "m", Some("c")),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#, "m", None),
            (r#"{"error":"m"}"#, "m", None),
            (r#"{"message":"m","code":7}"#, "m", Some("7")),
            (r#"{"detail":"m"}"#, "m", None),
            (r#"{"detail":[{"loc":["body"]}]}"#, r#"[{"loc":["body"]}]"#, None),
            (r#"{"detail":{"reason":"m"}}"#, r#"{"reason":"m"}"#, None),
            (r#"{"error":{"msg":"m","status":"UNAVAILABLE"}}"#, "m", None),
            (r#"{"response":{"error":{"message":"m","code":"c"}}}"#, "m", Some("c")),
            (r#"{"error":null,"error_message":"m"}"#, "m", None),
            (r#"{"code":1001,"msg":"m"}"#, "m", Some("1001")),
            (r#"{"type":"error","message":"m","code":"c"}"#, "m", Some("c")),
        ] {
            let error = read(Some(500), body.as_bytes());
            assert_eq!((error.message.as_str(), error.code.as_deref()), (message, code), "{body}");
            assert!(error.structured, "{body}");
        }
        for (body, message) in [
            ("", "upstream answered HTTP 502"),
            ("<html><body>Bad gateway</body></html>", "upstream answered HTTP 502"),
            ("no healthy upstream", "upstream answered HTTP 502: no healthy upstream"),
            ("[1,2]", "upstream answered HTTP 502: [1,2]"),
            (r#"{"detail":true}"#, "upstream answered HTTP 502: {\"detail\":true}"),
        ] {
            let error = read(Some(502), body.as_bytes());
            assert_eq!(error.message, message);
            assert!(!error.structured);
        }
    }

    #[test]
    fn an_error_in_a_successful_answer_is_seen_and_an_answer_is_not_taken_for_one() {
        let inside = |json: &str| inside_success(&serde_json::from_str(json).unwrap()).is_some();
        assert!(inside(r#"{"error":{"message":"m"}}"#));
        assert!(inside(r#"{"type":"error","error":{}}"#));
        assert!(inside(r#"{"code":500,"msg":"m"}"#));
        assert!(inside(r#"{"status":"failed","error":{"code":"server_error"}}"#));
        assert!(!inside(r#"{"error":null,"choices":[]}"#));
        assert!(!inside(r#"{"code":0,"msg":"ok"}"#));
        assert!(!inside(r#"{"code":200,"msg":"ok","choices":[{}]}"#));
        assert!(!inside(r#"{"output":[],"status":"completed","error":null}"#));
    }

    #[test]
    fn a_repeated_key_is_masked() {
        let masked = mask(
            "Incorrect API key provided: sk-abcdef1234567890. request 0193b5c2-7c1e-7000-8000-000000000000 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8'",
        );
        assert!(!masked.contains("abcdef1234567890") && !masked.contains("a1b2c3d4"), "{masked}");
        assert!(masked.contains("0193b5c2-7c1e"), "{masked}");
        for leak in ["key=sk-abcdef1234567890", "Bearer:sk-abcdef1234567890", "'sk-abcdef1234567890'"] {
            assert!(!mask(leak).contains("abcdef1234567890"), "{leak}");
        }
    }
}
