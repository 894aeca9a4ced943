//! The numbers of the result table and of the breaker.

use std::time::Duration;

use headgate_domain::Settings;

/// What the settings say about health.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Candidates tried for one request.
    pub max_attempts: u32,
    /// Failures in a row that open a breaker.
    pub breaker_failures: u32,
    /// Window of the breaker's error rate.
    pub breaker_window: Duration,
    /// Share of failures in the window that opens a breaker.
    pub breaker_error_rate: f64,
    /// Results in the window before the rate counts.
    pub breaker_min_results: u32,
    /// How long a breaker stays open the first time.
    pub breaker_open: Duration,
    /// How long a breaker stays open at the most.
    pub breaker_open_max: Duration,
    /// Successes in a row that close a half-open breaker.
    pub breaker_recovery_successes: u32,
    /// How long a half-open lease, a last resort trial or a re-test keeps others away.
    pub lease: Duration,
    /// Whether the first-response limit follows what was observed.
    pub adaptive_timeout: bool,
}

impl From<&Settings> for Policy {
    fn from(s: &Settings) -> Self {
        Self {
            max_attempts: s.max_attempts,
            breaker_failures: s.breaker_failures,
            breaker_window: s.breaker_window.0,
            breaker_error_rate: s.breaker_error_rate,
            breaker_min_results: s.breaker_min_results,
            breaker_open: s.breaker_open.0,
            breaker_open_max: s.breaker_open_max.0,
            breaker_recovery_successes: s.breaker_recovery_successes,
            // A trial that has not even begun to answer by then has failed by its own limits.
            lease: s.connect_timeout.0 + s.first_response_timeout.0,
            adaptive_timeout: s.adaptive_timeout,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::from(&Settings::default())
    }
}
