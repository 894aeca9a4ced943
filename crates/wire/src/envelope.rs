//! What a client is told when there is no answer: its own protocol's shape.

use std::borrow::Cow;

use headgate_domain::{Class, Detail, Failure, Protocol};
use serde_json::json;

/// Machine words of one error in one protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// HTTP status.
    pub status: u16,
    /// `error.type`.
    pub kind: &'static str,
    /// `error.code` (OpenAI shapes only).
    pub code: Cow<'static, str>,
}

/// The gateway's own refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the codes, see `code`")]
pub enum Refusal {
    InvalidKey,
    PolicyNoRoute,
    ModelNotFound,
    CapabilityNoRoute,
    TranslationLoss,
    BudgetNoRoute,
    UpstreamsExhausted,
    RateLimited,
    Saturated,
    CoolingDown,
    UpstreamAuth,
    NoUpstream,
    LoopDetected,
    ContextTooLong,
    UnsupportedParameter,
    BadRequest,
    MethodNotAllowed,
    RequestTimeout,
    BodyTooLarge,
    WrongContentType,
    WrongHost,
    WebsocketUnsupported,
    HeadersTooLarge,
    ForeignOrigin,
    NotFound,
    Deadline,
    Stopping,
    InternalError,
}

/// What a client is told about trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryHint {
    /// `x-should-retry: false`.
    Never,
    /// The soonest retry, if it is known.
    WhenKnown,
    /// `Retry-After` of this many seconds.
    After(u64),
}

impl Refusal {
    /// The code in `x-headgate-error` and in the record.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidKey => "invalid_key",
            Self::PolicyNoRoute => "policy_no_route",
            Self::ModelNotFound => "model_not_found",
            Self::CapabilityNoRoute => "capability_no_route",
            Self::TranslationLoss => "translation_loss",
            Self::BudgetNoRoute => "budget_no_route",
            Self::UpstreamsExhausted => "upstreams_exhausted",
            Self::RateLimited => "rate_limited",
            Self::Saturated => "saturated",
            Self::CoolingDown => "cooling_down",
            Self::UpstreamAuth => "upstream_auth",
            Self::NoUpstream => "no_upstream",
            Self::LoopDetected => "loop_detected",
            Self::ContextTooLong => "context_length_exceeded",
            Self::UnsupportedParameter => "unsupported_parameter",
            Self::BadRequest => "bad_request",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::RequestTimeout => "request_timeout",
            Self::BodyTooLarge => "body_too_large",
            Self::WrongContentType => "wrong_content_type",
            Self::WrongHost => "wrong_host",
            Self::WebsocketUnsupported => "websocket_unsupported",
            Self::HeadersTooLarge => "headers_too_large",
            Self::ForeignOrigin => "foreign_origin",
            Self::NotFound => "not_found",
            Self::Deadline => "deadline",
            Self::Stopping => "stopping",
            Self::InternalError => "internal_error",
        }
    }

    /// HTTP status: one for every client.
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidKey => 401,
            Self::BudgetNoRoute => 402,
            Self::PolicyNoRoute | Self::ForeignOrigin => 403,
            Self::ModelNotFound | Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::RequestTimeout => 408,
            Self::BodyTooLarge => 413,
            Self::WrongContentType => 415,
            Self::WrongHost => 421,
            Self::CapabilityNoRoute | Self::TranslationLoss => 422,
            Self::WebsocketUnsupported => 426,
            Self::UpstreamsExhausted | Self::RateLimited | Self::Saturated => 429,
            Self::HeadersTooLarge => 431,
            Self::BadRequest | Self::ContextTooLong | Self::UnsupportedParameter => 400,
            Self::InternalError => 500,
            Self::UpstreamAuth => 502,
            Self::CoolingDown | Self::NoUpstream | Self::Stopping => 503,
            Self::Deadline => 504,
            Self::LoopDetected => 508,
        }
    }

    /// What the client is told about trying again.
    pub fn retry(self) -> RetryHint {
        match self {
            Self::UpstreamsExhausted | Self::RateLimited | Self::Saturated | Self::CoolingDown => RetryHint::WhenKnown,
            Self::Stopping => RetryHint::After(2),
            _ => RetryHint::Never,
        }
    }

    /// The words of this refusal for a client of `protocol`.
    pub fn words(self, protocol: Protocol) -> Words {
        let code = self.code();
        let claude = protocol == Protocol::Claude;
        let (kind, code) = match self {
            Self::InvalidKey if claude => ("authentication_error", code),
            Self::InvalidKey => ("invalid_request_error", "invalid_api_key"),
            Self::PolicyNoRoute | Self::ForeignOrigin if claude => ("permission_error", code),
            Self::ModelNotFound | Self::NotFound if claude => ("not_found_error", code),
            Self::BudgetNoRoute if claude => ("billing_error", code),
            Self::BudgetNoRoute => ("insufficient_quota", code),
            Self::UpstreamsExhausted if !claude => ("insufficient_quota", "insufficient_quota"),
            Self::RateLimited | Self::Saturated if !claude => ("rate_limit_error", "rate_limit_exceeded"),
            Self::UpstreamsExhausted | Self::RateLimited | Self::Saturated => ("rate_limit_error", code),
            Self::CoolingDown if claude => ("overloaded_error", code),
            Self::CoolingDown => ("server_error", "overloaded"),
            Self::Deadline if claude => ("timeout_error", code),
            Self::UpstreamAuth | Self::NoUpstream | Self::LoopDetected | Self::Stopping | Self::InternalError
                if claude =>
            {
                ("api_error", code)
            }
            Self::UpstreamAuth
            | Self::NoUpstream
            | Self::LoopDetected
            | Self::Stopping
            | Self::InternalError
            | Self::Deadline => ("server_error", code),
            _ => ("invalid_request_error", code),
        };
        Words { status: self.status(), kind, code: Cow::Borrowed(code) }
    }
}

/// The words in which a failure of an upstream is relayed when no candidate is left.
pub fn failure_words(failure: &Failure, protocol: Protocol) -> Words {
    let claude = protocol == Protocol::Claude;
    let row = |status_claude: u16, kind_claude, status: u16, kind, code: &'static str| {
        if claude {
            Words { status: status_claude, kind: kind_claude, code: Cow::Borrowed(code) }
        } else {
            Words { status, kind, code: Cow::Borrowed(code) }
        }
    };
    let bad = "invalid_request_error";
    match (failure.class, failure.detail) {
        (Class::ClientFault, Some(Detail::ContextLength)) => row(400, bad, 400, bad, "context_length_exceeded"),
        (Class::ClientFault, Some(Detail::TooLarge)) => row(413, bad, 413, bad, "request_too_large"),
        (Class::ModelMissing, _) | (Class::ClientFault, Some(Detail::NoSuchModel)) => {
            row(404, "not_found_error", 404, bad, "model_not_found")
        }
        (Class::ContentPolicy, _) => row(400, bad, 400, bad, "content_filter"),
        (Class::ClientFault | Class::Untranslatable, _) => {
            let status = match failure.status {
                Some(status) if (400..500).contains(&status) && status != 422 => status,
                _ => 400,
            };
            let code = failure.code.clone().map_or(Cow::Borrowed("bad_request"), Cow::Owned);
            Words { status, kind: bad, code }
        }
        (Class::RateLimited, _) => row(429, "rate_limit_error", 429, "rate_limit_error", "rate_limit_exceeded"),
        (Class::Exhausted, _) => row(429, "rate_limit_error", 429, "insufficient_quota", "insufficient_quota"),
        (Class::Credential, _) => row(502, "api_error", 502, "server_error", "upstream_auth"),
        (Class::Overloaded, _) => row(529, "overloaded_error", 503, "server_error", "overloaded"),
        (Class::SlowFirst | Class::Stalled | Class::Deadline, _) | (Class::Server, Some(Detail::Timeout)) => {
            row(504, "timeout_error", 504, "server_error", "timeout")
        }
        (Class::Gateway, _) => row(500, "api_error", 500, "server_error", "internal_error"),
        _ => row(502, "api_error", 502, "server_error", "upstream_error"),
    }
}

/// The sentence a failure is relayed with. A context error begins with the words Claude Code compacts on.
pub fn failure_message(failure: &Failure, protocol: Protocol) -> String {
    const PREFIX: &str = "prompt is too long";
    let context = failure.detail == Some(Detail::ContextLength) && protocol == Protocol::Claude;
    if context && !failure.message.starts_with(PREFIX) {
        format!("{PREFIX}: {}", failure.message)
    } else {
        failure.message.clone().into_owned()
    }
}

/// A whole error body.
pub fn body(protocol: Protocol, words: &Words, message: &str, request_id: &str) -> Vec<u8> {
    match protocol {
        Protocol::Claude => {
            json!({"type":"error","error":{"type":words.kind,"message":message},"request_id":request_id})
        }
        Protocol::Chat | Protocol::Responses => json!({
            "error":{"message":format!("{message} (request {request_id})"),"type":words.kind,"param":null,"code":words.code}
        }),
    }
    .to_string()
    .into_bytes()
}

/// `error.code` and `error.message` of a `response.failed`.
///
/// Codex knows these codes, and reads the delay of a rate limit in the message.
pub fn failed_response(failure: &Failure) -> (&'static str, String) {
    let code = match (failure.class, failure.detail) {
        (Class::RateLimited, _) => "rate_limit_exceeded",
        (Class::Exhausted, _) => "insufficient_quota",
        (_, Some(Detail::ContextLength)) => "context_length_exceeded",
        (Class::Overloaded, _) => "server_is_overloaded",
        _ => "server_error",
    };
    let message = failure_message(failure, Protocol::Responses);
    match failure.retry_after {
        Some(wait) if failure.class == Class::RateLimited => {
            (code, format!("{message} Please try again in {}s.", wait.as_secs_f64()))
        }
        _ => (code, message),
    }
}

/// The event that ends a stream that has begun and cannot be finished.
///
/// For Responses `sequence` is the number after the last one the client saw.
pub fn stream_error(protocol: Protocol, failure: &Failure, model: &str, request_id: &str, sequence: u64) -> Vec<u8> {
    let words = failure_words(failure, protocol);
    let message = failure_message(failure, protocol);
    match protocol {
        Protocol::Chat => {
            let error = json!({"error":{"message":message,"type":words.kind,"code":words.code,"param":null}});
            format!("data: {error}\n\n")
        }
        Protocol::Claude => {
            let error = json!({"type":"error","error":{"type":words.kind,"message":message},"request_id":request_id});
            format!("event: error\ndata: {error}\n\n")
        }
        Protocol::Responses => {
            let (code, message) = failed_response(failure);
            let event = json!({
                "type":"response.failed","sequence_number":sequence,
                "response":{
                    "id":format!("resp_{}", request_id.replace('-', "")),"object":"response","created_at":0,"status":"failed",
                    "model":model,"output":[],"error":{"code":code,"message":message},"incomplete_details":null,
                    "instructions":null,"metadata":{},"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":null
                }
            });
            format!("event: response.failed\ndata: {event}\n\n")
        }
    }
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_speaks_the_clients_protocol() {
        let claude = Refusal::InvalidKey.words(Protocol::Claude);
        let body_claude: serde_json::Value =
            serde_json::from_slice(&body(Protocol::Claude, &claude, "no", "r1")).unwrap();
        assert_eq!(body_claude["error"]["type"], "authentication_error");
        assert_eq!(body_claude["request_id"], "r1");
        let chat = Refusal::InvalidKey.words(Protocol::Chat);
        let body_chat: serde_json::Value = serde_json::from_slice(&body(Protocol::Chat, &chat, "no", "r1")).unwrap();
        assert_eq!(body_chat["error"]["code"], "invalid_api_key");
    }

    #[test]
    fn a_refused_upstream_key_never_looks_like_the_clients_own() {
        let failure = Failure { status: Some(401), ..Failure::new(Class::Credential, "bad key") };
        for protocol in [Protocol::Chat, Protocol::Responses, Protocol::Claude] {
            assert_eq!(failure_words(&failure, protocol).status, 502);
        }
    }

    #[test]
    fn a_context_error_begins_with_the_words_claude_code_compacts_on() {
        let failure =
            Failure::new(Class::ClientFault, "maximum context length is 8192").with_detail(Detail::ContextLength);
        assert!(failure_message(&failure, Protocol::Claude).starts_with("prompt is too long"));
        assert_eq!(failure_words(&failure, Protocol::Chat).code, "context_length_exceeded");
    }

    #[test]
    fn codex_reads_the_delay_of_a_rate_limit_in_the_message() {
        let mut failure = Failure::new(Class::RateLimited, "slow down");
        failure.retry_after = Some(std::time::Duration::from_millis(2500));
        let event = String::from_utf8(stream_error(Protocol::Responses, &failure, "m", "r", 4)).unwrap();
        assert!(event.contains("Please try again in 2.5s.") && event.contains("rate_limit_exceeded"), "{event}");
        assert!(event.contains(r#""sequence_number":4"#));
    }
}
