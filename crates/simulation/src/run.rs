//! What happened.

use std::time::Duration;

use headgate_domain::{Class, UpstreamId, audit::Selection};
use headgate_routing::{Refused, Time, Transition};

/// One attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: Time,
    /// Of which request; `None`: a recovery probe.
    pub request: Option<u64>,
    /// At whom.
    pub upstream: UpstreamId,
    /// Why.
    pub selection: Selection,
    /// How it ended; `Ok` until then.
    pub class: Class,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// When it came.
    pub arrived: Time,
    /// When it ended.
    pub at: Time,
    /// When its first output came, if any did.
    pub first_output: Option<Time>,
    /// Attempts made.
    pub attempts: u32,
    /// The class of the last one.
    pub class: Option<Class>,
    /// Why there was no other candidate.
    pub refused: Option<Refused>,
    /// The upstream of the last attempt.
    pub upstream: Option<UpstreamId>,
    /// What it waited in the group's line.
    pub waited: Duration,
}

/// A breaker opened or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// When.
    pub at: Time,
    /// Whose.
    pub upstream: UpstreamId,
    /// Which way.
    pub transition: Transition,
}

/// Everything that happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The requests, in the order of their ends.
    pub ends: Vec<End>,
    /// The attempts, in the order of their beginnings.
    pub attempts: Vec<Attempt>,
    /// Turns of breakers.
    pub turns: Vec<Turn>,
    /// Requests whose session was known, and those of a session that was not.
    pub affinity: (u64, u64),
}

impl Run {
    /// The share of attempts since `from` that went to an upstream, probes left out.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    pub fn share_of(&self, upstream: UpstreamId, from: Time) -> f64 {
        let since = || self.attempts.iter().filter(|a| a.request.is_some() && a.at >= from);
        since().filter(|a| a.upstream == upstream).count() as f64 / since().count().max(1) as f64
    }
}
