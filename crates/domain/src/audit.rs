//! The record of a client request and of every attempt made for it.
//!
//! Field names are those of the columns of `headgate.requests` and `headgate.attempts`: a record is written to the
//! journal as JSON and inserted by name; what is absent is left out, and becomes null. A record never holds a body, a credential or a header value.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::{
    cost::{CostColumns, RequestCost},
    id::{CredentialId, GroupId, KeyId, RequestId, Revision, UpstreamId},
    protocol::{Protocol, UpstreamKind},
    upstream::Capability,
};

pub use crate::cost::UsageColumns;

/// How a request or attempt ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A complete answer reached the client.
    Success,
    /// No answer: every attempt failed.
    #[default]
    Failed,
    /// The client left.
    Canceled,
    /// Output was sent, then the answer broke off.
    Partial,
    /// The request was refused for what it is.
    ClientError,
    /// No candidate can express it.
    Unsupported,
    /// No candidate was there to try.
    Unavailable,
}

impl Outcome {
    /// The word used in the database and in filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Partial => "partial",
            Self::ClientError => "client_error",
            Self::Unsupported => "unsupported",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum ErrorSource {
    Client,
    Upstream,
    Gateway,
}

/// Why a candidate was chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The first choice.
    #[default]
    Initial,
    /// After another candidate failed.
    Failover,
    /// Another credential of the same upstream, after the first one was refused.
    Credential,
    /// The same candidate again.
    Retry,
    /// The session's upstream.
    Affinity,
    /// A trial of a half-open upstream.
    RecoveryTrial,
    /// A trial while everything is open.
    LastResort,
}

impl Selection {
    /// The word used in records and traces.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Failover => "failover",
            Self::Credential => "credential",
            Self::Retry => "retry",
            Self::Affinity => "affinity",
            Self::RecoveryTrial => "recovery_trial",
            Self::LastResort => "last_resort",
        }
    }
}

/// State of an upstream's breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the field's standard words")]
pub enum BreakerState {
    #[default]
    Closed,
    Open,
    HalfOpen,
}

/// One client request.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RequestRecord {
    /// Identity, UUIDv7.
    #[schema(value_type = uuid::Uuid)]
    pub id: RequestId,
    /// When the request's head had arrived.
    pub started_at: DateTime<Utc>,
    /// When its last byte was sent.
    pub completed_at: DateTime<Utc>,
    /// Group, by identity and by its name at the time.
    pub group_id: Option<GroupId>,
    /// Its name at the time.
    pub group_name: Option<String>,
    /// Access key.
    pub key_id: Option<KeyId>,
    /// Its name at the time.
    pub key_name: Option<String>,
    /// The upstream whose answer the client got.
    pub upstream_id: Option<UpstreamId>,
    /// Its name at the time.
    pub upstream_name: Option<String>,
    /// The protocol the client spoke.
    pub protocol: Option<Protocol>,
    /// The client program, as far as it is known (`codex`, `claude-code`, …).
    pub client: Option<String>,
    /// The path called, without query.
    pub endpoint: String,
    /// The model asked for, as the client wrote it.
    pub model: Option<String>,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Peer address.
    pub client_ip: Option<String>,
    /// At most 512 characters.
    pub user_agent: Option<String>,
    /// HTTP status sent; 499 when the client left before one was.
    pub status: i32,
    /// How it ended.
    pub outcome: Outcome,
    /// Class and detail of the failure.
    pub error_kind: Option<String>,
    /// Whose fault it is.
    pub error_source: Option<ErrorSource>,
    /// A sentence, at most 500 bytes.
    pub error_text: Option<String>,
    /// Milliseconds to the first output.
    pub ttft_ms: Option<i64>,
    /// Milliseconds from the head's arrival to the last byte.
    pub duration_ms: i64,
    /// Microseconds of `duration_ms` that were not spent waiting for an upstream, until the first attempt was sent.
    pub overhead_us: Option<i64>,
    /// Attempts made.
    pub attempt_count: i32,
    /// Size of the client's body, decoded.
    pub request_bytes: i64,
    /// Bytes of body sent to the client.
    pub response_bytes: i64,
    /// Estimated prompt tokens (UTF-8 bytes of text ÷ 4).
    pub estimated_input: Option<i64>,
    /// What it used beyond text, if anything.
    pub features: Option<Vec<Capability>>,
    /// Whether the completion event was seen.
    pub stream_completed: bool,
    /// The last event seen, at most 80 bytes.
    pub last_event: Option<String>,
    /// The upstream's own request id.
    pub upstream_request_id: Option<String>,
    /// The affinity key, hashed.
    pub affinity_key: Option<String>,
    /// The configuration revision used.
    pub revision: Revision,
    /// The region asked for.
    pub region: Option<String>,
    /// Codes of what translation dropped or changed.
    pub warnings: Vec<String>,
    /// Per candidate, why it was chosen or stopped, compactly.
    #[schema(value_type = Object)]
    pub reasons: Reasons,
    /// Tokens.
    #[serde(flatten)]
    pub usage: UsageColumns,
    /// What its attempts cost together.
    #[serde(flatten)]
    pub cost: RequestCost,
}

/// Per decision a list of candidates with the reason why each was chosen or stopped, as JSON: it is written once and
/// never looked into here.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reasons(Box<RawValue>);

impl Reasons {
    /// Adds the candidates of one more decision.
    pub fn push(&mut self, candidates: &impl Serialize) {
        let Ok(candidates) = serde_json::to_string(candidates) else { return };
        let text = match self.0.get().strip_suffix(']') {
            Some(before) => format!("{before},{candidates}]"),
            None => format!("[{candidates}]"),
        };
        if let Ok(reasons) = RawValue::from_string(text) {
            self.0 = reasons;
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Reasons {
    /// As JSON: the database writes it in its own way.
    fn eq(&self, other: &Self) -> bool {
        let value = |reasons: &Self| serde_json::from_str::<serde_json::Value>(reasons.as_str()).ok();
        value(self) == value(other)
    }
}

/// One attempt at an upstream.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttemptRecord {
    /// The request it belongs to.
    #[schema(value_type = uuid::Uuid)]
    pub request_id: RequestId,
    /// 1, 2, 3 …
    pub number: i32,
    /// Start of the request (part of the key: the partition).
    pub started_at: DateTime<Utc>,
    /// Start of the attempt.
    pub attempted_at: DateTime<Utc>,
    /// Its end.
    pub completed_at: DateTime<Utc>,
    /// Upstream.
    pub upstream_id: UpstreamId,
    /// Its name at the time.
    pub upstream_name: String,
    /// Credential used; none for an upstream without credentials.
    pub credential_id: Option<CredentialId>,
    /// What the upstream speaks.
    pub protocol: UpstreamKind,
    /// Proxy used, without user information; none when direct.
    pub proxy: Option<String>,
    /// The model name sent.
    pub mapped_model: Option<String>,
    /// Priority of the member.
    pub priority: i32,
    /// Why it was chosen.
    pub selection: Selection,
    /// Breaker before.
    pub health_before: BreakerState,
    /// Breaker after.
    pub health_after: BreakerState,
    /// HTTP status of the upstream; none when it sent none.
    pub status: Option<i32>,
    /// How it ended.
    pub outcome: Outcome,
    /// Class and detail of the failure.
    pub error_kind: Option<String>,
    /// Whose fault it is.
    pub error_source: Option<ErrorSource>,
    /// A sentence, at most 500 bytes.
    pub error_text: Option<String>,
    /// Milliseconds to the first output (streams).
    pub ttft_ms: Option<i64>,
    /// Milliseconds from sending to the last byte.
    pub duration_ms: i64,
    /// Bytes of body received.
    pub response_bytes: i64,
    /// Whether the answer was an event stream.
    pub stream: bool,
    /// Whether the completion event was seen.
    pub stream_completed: bool,
    /// The last event seen, at most 80 bytes.
    pub last_event: Option<String>,
    /// The upstream's own request id.
    pub upstream_request_id: Option<String>,
    /// Codes of what translation dropped or changed.
    pub warnings: Vec<String>,
    /// Tokens.
    #[serde(flatten)]
    pub usage: UsageColumns,
    /// What it cost.
    #[serde(flatten)]
    pub cost: CostColumns,
}

impl AttemptRecord {
    /// Whether the upstream may have charged for it: it reported tokens, or something of an answer came.
    pub fn may_be_charged(&self) -> bool {
        self.usage.usage_source.is_some() || matches!(self.outcome, Outcome::Success | Outcome::Partial)
    }
}

/// A finished request with its attempts: one line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The request.
    pub request: RequestRecord,
    /// Its attempts in order.
    pub attempts: Vec<AttemptRecord>,
}

/// Makes a text fit for a record: no NUL (PostgreSQL cannot store it), valid at the cut, at most `max` bytes.
pub fn clip(text: &str, max: usize) -> String {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_text_is_valid_and_storable() {
        assert_eq!(clip("中中中", 7), "中中");
        assert_eq!(clip("a\0b", 10), "a\u{fffd}b");
    }

    #[test]
    fn reasons_grow_by_one_list_a_decision() {
        let mut reasons = Reasons::default();
        assert_eq!(reasons.as_str(), "null");
        reasons.push(&["open"]);
        reasons.push(&["chosen", "]"]);
        assert_eq!(reasons.as_str(), r#"[["open"],["chosen","]"]]"#);
    }

    #[test]
    fn what_is_absent_is_not_written_and_read_as_absent() {
        let record = RequestRecord { model: Some("m".into()), ..RequestRecord::default() };
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains("error_kind") && !text.contains("tokens_fresh"), "{text}");
        assert_eq!(serde_json::from_str::<RequestRecord>(&text).unwrap(), record);
    }
}
