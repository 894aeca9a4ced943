//! What upstreams do, and when.

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::{Class, CredentialId, UpstreamId};
use headgate_routing::Time;

/// What an upstream does with an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers.
    Answers {
        /// Until the first output.
        first: Duration,
        /// Until the end.
        whole: Duration,
    },
    /// Fails before any output.
    Fails {
        /// How.
        class: Class,
        /// Until that is known.
        after: Duration,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// Begins to answer; then the answer ends badly, too late for another upstream.
    Breaks {
        /// How.
        class: Class,
        /// Until the end.
        after: Duration,
    },
}

impl Behaviour {
    /// Every attempt fails with this class after so many milliseconds.
    pub const fn fails(class: Class, after_ms: u64) -> Self {
        Self::Fails { class, after: Duration::from_millis(after_ms), retry_after: None }
    }

    /// Every attempt is answered, whole after so many milliseconds.
    pub const fn answers(ms: u64) -> Self {
        let span = Duration::from_millis(ms);
        Self::Answers { first: span, whole: span }
    }
}

/// A behaviour from a moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Since when.
    pub from: Time,
    /// What.
    pub behaviour: Behaviour,
    /// Only for attempts with this credential; `None`: for all.
    pub credential: Option<CredentialId>,
}

/// How upstreams behave. Those that are not named are healthy.
#[derive(Debug, Clone, PartialEq)]
pub struct Faults {
    /// Without a fault.
    pub healthy: Behaviour,
    phases: BTreeMap<UpstreamId, Vec<Phase>>,
    /// Share of clients that leave before the end of their answer.
    pub leaving: f64,
}

impl Faults {
    /// None at all.
    pub fn none(healthy: Behaviour) -> Self {
        Self { healthy, phases: BTreeMap::new(), leaving: 0.0 }
    }

    /// From `from` on the upstream does this with every attempt.
    pub fn set(&mut self, upstream: UpstreamId, from: Time, behaviour: Behaviour) {
        self.add(upstream, Phase { from, behaviour, credential: None });
    }

    /// From `from` on the upstream is healthy.
    pub fn end(&mut self, upstream: UpstreamId, from: Time) {
        self.set(upstream, from, self.healthy);
    }

    /// One more phase; phases are added in the order of time.
    pub fn add(&mut self, upstream: UpstreamId, phase: Phase) {
        self.phases.entry(upstream).or_default().push(phase);
    }

    /// What it does with an attempt that begins now.
    pub fn of(&self, upstream: UpstreamId, credential: Option<CredentialId>, now: Time) -> Behaviour {
        let concerns = |p: &&Phase| p.from <= now && (p.credential.is_none() || p.credential == credential);
        let last = self.phases.get(&upstream).and_then(|phases| phases.iter().rfind(concerns));
        last.map_or(self.healthy, |phase| phase.behaviour)
    }

    /// The moments at which the upstream becomes healthy again after a fault.
    pub fn recoveries(&self, upstream: UpstreamId) -> Vec<Time> {
        let phases = self.phases.get(&upstream).map(Vec::as_slice).unwrap_or_default();
        let pairs = phases.iter().zip(phases.iter().skip(1));
        pairs.filter(|(a, b)| a.behaviour != self.healthy && b.behaviour == self.healthy).map(|(_, b)| b.from).collect()
    }
}
