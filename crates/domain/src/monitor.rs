//! Monitors, as they are configured, and what they find.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    id::{MonitorId, Revision, UpstreamId},
    span::Span,
    upstream::{is_true, yes},
};

/// An active probe of one upstream and model. `R` is how the upstream is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MonitorSpec<R> {
    /// The upstream.
    pub upstream: R,
    /// The model asked for.
    pub model: String,
    /// Time between two probes.
    #[serde(default = "default_interval")]
    pub interval: Span,
    /// The route, or `auto`: that of the upstream's protocol.
    #[serde(default = "default_endpoint")]
    pub endpoint: String,
    /// Whether the answer is streamed.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub stream: bool,
    /// The prompt.
    #[serde(default = "default_message")]
    pub message: String,
    /// Output limit.
    #[serde(default = "default_tokens")]
    pub max_tokens: u32,
    /// Switched on.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
}

fn default_interval() -> Span {
    Span::secs(300)
}

fn default_endpoint() -> String {
    "auto".to_owned()
}

fn default_message() -> String {
    "hi".to_owned()
}

fn default_tokens() -> u32 {
    16
}

impl<R> MonitorSpec<R> {
    /// The same with the upstream named otherwise.
    pub fn with_upstream<S>(self, upstream: S) -> MonitorSpec<S> {
        MonitorSpec {
            upstream,
            model: self.model,
            interval: self.interval,
            endpoint: self.endpoint,
            stream: self.stream,
            message: self.message,
            max_tokens: self.max_tokens,
            enabled: self.enabled,
        }
    }
}

/// A monitor as it is configured; its identity in files is upstream and model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Monitor {
    /// Identity for history.
    pub id: MonitorId,
    /// The revision that last changed it.
    pub revision: Revision,
    /// Everything else.
    pub spec: MonitorSpec<UpstreamId>,
}

/// One active probe, as it ended. Field names are those of the columns of `headgate.probes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProbeRecord {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// When it began.
    pub at: DateTime<Utc>,
    /// The upstream probed.
    pub upstream_id: UpstreamId,
    /// The model asked for.
    pub model: String,
    /// `ok`, or the class of the failure.
    pub class: String,
    /// HTTP status; none when none came.
    pub status: Option<i32>,
    /// Milliseconds to the first output (streams).
    pub ttft_ms: Option<i64>,
    /// Milliseconds altogether.
    pub duration_ms: i64,
    /// A sentence about a failure, at most 500 bytes.
    pub error_text: Option<String>,
}

impl ProbeRecord {
    /// Whether a whole answer came.
    pub fn is_ok(&self) -> bool {
        self.class == crate::Class::Ok.as_str()
    }
}
