//! The one place that reads a clock: monotonic for every decision, wall time for records only.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use headgate_routing::Time;

/// The process's clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that begins now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Time since the start; jumps of the wall clock do not move it.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(self) -> Time {
        Time(Instant::now().duration_since(self.origin))
    }

    /// The time of day, for records and for what the configuration states in it.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn wall(self) -> DateTime<Utc> {
        Utc::now()
    }

    /// The instant of a [`Time`], for timers.
    pub fn instant(self, time: Time) -> tokio::time::Instant {
        tokio::time::Instant::from_std(self.origin + time.0)
    }
}

/// Whole milliseconds, as records hold them.
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
