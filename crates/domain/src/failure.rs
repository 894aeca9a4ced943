//! What can go wrong, as one enum.
//!
//! `wire` parses an upstream's answer into [`UpstreamError`]; `routing::classify` turns it into a [`Failure`] and says
//! what it means for health, retry and the client; `wire` writes a [`Failure`] in the client's shape. Nobody else
//! inspects status codes.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The class of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A complete answer that is not empty.
    Ok,
    /// The client went away.
    ClientGone,
    /// The request itself was refused.
    ClientFault,
    /// Refused for its content.
    ContentPolicy,
    /// The upstream refused our key.
    Credential,
    /// Quota, balance or plan used up.
    Exhausted,
    /// Too many requests for now.
    RateLimited,
    /// The upstream has no capacity.
    Overloaded,
    /// The upstream does not have this model.
    ModelMissing,
    /// A fault of the upstream's server.
    Server,
    /// No connection: DNS, TCP, TLS or proxy.
    Connect,
    /// No work before the first-response limit.
    SlowFirst,
    /// Silence inside an answer.
    Stalled,
    /// The answer broke off.
    Cut,
    /// An error or nonsense inside a successful status.
    Broken,
    /// A natural end without any output.
    Empty,
    /// The client's own deadline passed.
    Deadline,
    /// The request cannot be expressed for this upstream.
    Untranslatable,
    /// Our own fault.
    Gateway,
}

impl Class {
    /// The word used in records, headers and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ClientGone => "client_gone",
            Self::ClientFault => "client_fault",
            Self::ContentPolicy => "content_policy",
            Self::Credential => "credential",
            Self::Exhausted => "exhausted",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ModelMissing => "model_missing",
            Self::Server => "server",
            Self::Connect => "connect",
            Self::SlowFirst => "slow_first",
            Self::Stalled => "stalled",
            Self::Cut => "cut",
            Self::Broken => "broken",
            Self::Empty => "empty",
            Self::Deadline => "deadline",
            Self::Untranslatable => "untranslatable",
            Self::Gateway => "gateway",
        }
    }
}

/// A finer distinction inside a class, where the client is told something different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The prompt is longer than the model's context.
    ContextLength,
    /// The request's body is larger than the upstream takes.
    TooLarge,
    /// A filter refused the content.
    ContentFilter,
    /// The model is unknown.
    NoSuchModel,
    /// The upstream timed out by itself (408, 504).
    Timeout,
    /// A redirect, or a page instead of an API answer: most likely a wrong base URL.
    NotAnApi,
    /// The answer's compression could not be undone, or exceeded the allowed ratio.
    Encoding,
    /// One event or body larger than the limit.
    EventTooLarge,
    /// DNS did not resolve, or resolved to a refused address.
    Dns,
    /// The TLS handshake failed.
    Tls,
    /// The proxy failed.
    Proxy,
}

impl Detail {
    /// The word used in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ContextLength => "context_length",
            Self::TooLarge => "too_large",
            Self::ContentFilter => "content_filter",
            Self::NoSuchModel => "no_such_model",
            Self::Timeout => "timeout",
            Self::NotAnApi => "not_an_api",
            Self::Encoding => "encoding",
            Self::EventTooLarge => "event_too_large",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Proxy => "proxy",
        }
    }
}

/// An upstream's refusal as it was read, not yet judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamError {
    /// HTTP status; `None` when the error came inside a stream that had begun with 2xx.
    pub status: Option<u16>,
    /// Machine code (`error.code`), as text whatever its JSON type.
    pub code: Option<String>,
    /// Machine type (`error.type`).
    pub kind: Option<String>,
    /// The upstream's sentence, at most 2 KiB, credentials masked.
    pub message: String,
    /// Whether the body was a JSON error of a known shape.
    pub structured: bool,
    /// `Retry-After`, `retry-after-ms` or a reset header, from now.
    pub retry_after: Option<Duration>,
    /// The answer names the model as what is limited (a per-model rate limit).
    pub model_scoped: bool,
}

/// A judged failure: what the record stores and what the client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of thing went wrong.
    pub class: Class,
    /// A finer distinction, where there is one.
    pub detail: Option<Detail>,
    /// The upstream's HTTP status, if it gave one.
    pub status: Option<u16>,
    /// The upstream's machine code, if it gave one.
    pub code: Option<String>,
    /// A sentence for a person; the upstream's where it had one.
    pub message: Cow<'static, str>,
    /// How long the upstream asks to wait, from now.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure of ours, without an upstream's answer.
    pub fn new(class: Class, message: impl Into<Cow<'static, str>>) -> Self {
        Self { class, detail: None, status: None, code: None, message: message.into(), retry_after: None }
    }

    /// The same with a detail.
    #[must_use]
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// `class` or `class.detail`: the record's `error_kind` and the header `x-headgate-error`.
    pub fn kind(&self) -> String {
        match self.detail {
            Some(detail) => format!("{}.{}", self.class.as_str(), detail.as_str()),
            None => self.class.as_str().to_owned(),
        }
    }
}
