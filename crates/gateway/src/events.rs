//! Live events for the window and other watchers.

use headgate_domain::{AlertId, GroupId, MonitorId, Outcome, Revision, UpstreamId};
use headgate_routing::{Time, Transition};
use serde::Serialize;
use tokio::sync::broadcast;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::alerts::AlertDocument;

/// Something that happened. A watcher that is too slow is told how many it missed.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A breaker opened or closed.
    Health {
        /// Whose.
        upstream: UpstreamId,
        /// `open` or `closed`.
        state: &'static str,
        /// Milliseconds until a trial is admitted.
        open_ms: Option<u64>,
    },
    /// A request arrived.
    RequestStarted {
        /// Its id.
        id: Uuid,
        /// The group.
        group: String,
        /// The model asked for.
        model: String,
    },
    /// A request ended.
    RequestFinished {
        /// Its id.
        id: Uuid,
        /// How.
        outcome: Outcome,
        /// Status sent.
        status: i32,
        /// The upstream that answered.
        upstream: Option<String>,
        /// Attempts made.
        attempts: i32,
        /// Milliseconds altogether.
        duration_ms: i64,
    },
    /// Records of finished requests were stored: lists and figures have changed.
    RequestsStored,
    /// A group does not use an upstream any more for its money, or does again.
    Withheld {
        /// The group.
        group: GroupId,
        /// The upstream.
        upstream: UpstreamId,
        /// Which of both.
        withheld: bool,
    },
    /// Upstreams' charges were compared with our records.
    Compared,
    /// A monitor's probe has ended.
    Probed {
        /// The monitor.
        monitor: MonitorId,
    },
    /// People are told of something; within the quiet time of `alert_debounce` at most once.
    Alerted {
        /// What.
        alert: Box<AlertDocument>,
    },
    /// An alert has arrived at a target, or has not.
    AlertDelivered {
        /// The target.
        target: AlertId,
    },
    /// The configuration changed.
    Revision {
        /// Its new number.
        revision: Revision,
    },
    /// The database stopped answering, or answers again.
    Database {
        /// Which of both.
        reachable: bool,
    },
    /// New requests are refused, or taken again.
    Paused {
        /// Which of both.
        paused: bool,
    },
    /// Events were missed.
    Lagged {
        /// How many.
        missed: u64,
    },
}

impl Event {
    /// The news of a breaker.
    pub fn health(upstream: UpstreamId, transition: Transition, now: Time) -> Self {
        match transition {
            Transition::Opened { until } => {
                let ms = u64::try_from(now.until(until).as_millis()).unwrap_or(u64::MAX);
                Self::Health { upstream, state: "open", open_ms: Some(ms) }
            }
            Transition::Closed => Self::Health { upstream, state: "closed", open_ms: None },
        }
    }
}

/// The channel of events.
pub struct Events(broadcast::Sender<Event>);

impl Default for Events {
    fn default() -> Self {
        Self(broadcast::channel(1024).0)
    }
}

impl Events {
    /// Tells everyone who watches; nobody may.
    pub fn send(&self, event: Event) {
        let _ = self.0.send(event);
    }

    /// Whether anybody watches, so that an event that costs something need not be made.
    pub fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Watches from now on.
    pub fn watch(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}
