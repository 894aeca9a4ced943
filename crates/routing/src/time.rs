//! The monotonic time that every decision is given.

use std::{ops::Add, time::Duration};

/// A moment: what has passed since the process started, by the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub Duration);

impl Time {
    /// Whole seconds after the start.
    pub const fn secs(s: u64) -> Self {
        Self(Duration::from_secs(s))
    }

    /// Whole milliseconds after the start.
    pub const fn millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// What has passed since `earlier`; zero if that lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// What remains until `later`; zero if that has passed.
    pub fn until(self, later: Self) -> Duration {
        later.since(self)
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span))
    }
}

/// Whole milliseconds, as far as the type goes.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
