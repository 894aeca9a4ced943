//! Who asks, and how often.

use std::time::Duration;

use headgate_domain::Protocol;
use headgate_routing::Time;

/// The requests of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// When the first one arrives.
    pub start: Time,
    /// From one to the next.
    pub every: Duration,
    /// How many.
    pub count: u32,
    /// Sessions they belong to, in turn; 0: none belongs to one.
    pub sessions: u64,
    /// Access keys they come with, in turn.
    pub keys: u32,
    /// The clients' protocol.
    pub protocol: Protocol,
    /// The model asked for.
    pub model: String,
    /// Estimated prompt in tokens.
    pub input: u64,
    /// Share of requests whose key allows only the regions of `regions`.
    pub restricted: f64,
    /// The regions of those.
    pub regions: Vec<String>,
    /// The longest a request may wait in the group's line, and how many may; 0: nobody waits.
    pub line: (u32, Duration),
    /// Whether open upstreams are probed when their cooldown ends.
    pub probes: bool,
}

impl Workload {
    /// Streams without sessions, from one key, without waiting and without probes.
    pub fn new(start: Time, every: Duration, count: u32) -> Self {
        Self {
            start,
            every,
            count,
            sessions: 0,
            keys: 1,
            protocol: Protocol::Claude,
            model: "m".to_owned(),
            input: 0,
            restricted: 0.0,
            regions: Vec::new(),
            line: (0, Duration::ZERO),
            probes: false,
        }
    }

    /// When the last one arrives.
    pub fn end(&self) -> Time {
        self.start + self.every.saturating_mul(self.count.saturating_sub(1))
    }
}
