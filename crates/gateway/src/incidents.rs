//! What went wrong lately, and got well again: the newest turns of breakers and cooldowns.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use headgate_domain::{Class, UpstreamId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Kept at most.
const MAX: usize = 500;

/// What happened to an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IncidentKind {
    /// Its breaker opened.
    Opened,
    /// Its breaker closed: it serves again.
    Closed,
    /// A credential was rejected or is exhausted.
    CredentialRejected,
}

/// A turn of an upstream's health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Incident {
    /// When.
    pub at: DateTime<Utc>,
    /// Whose.
    pub upstream: UpstreamId,
    /// What.
    pub kind: IncidentKind,
    /// The class of the failure behind it.
    pub class: Option<Class>,
}

/// The newest incidents; they outlive the process in the file of health.
#[derive(Default)]
pub struct Incidents(Mutex<VecDeque<Incident>>);

impl Incidents {
    /// Adds one. The same kind of the same upstream within a second is one.
    pub fn add(&self, incident: Incident) {
        let mut all = self.0.lock();
        let again = all.iter().rev().take(8).any(|i| {
            i.upstream == incident.upstream && i.kind == incident.kind && (incident.at - i.at).num_milliseconds() < 1000
        });
        if again {
            return;
        }
        if all.len() >= MAX {
            all.pop_front();
        }
        all.push_back(incident);
    }

    /// Puts those of the last run, oldest first, before the ones of this run.
    pub fn restore(&self, earlier: Vec<Incident>) {
        let mut all = self.0.lock();
        let room = MAX.saturating_sub(all.len());
        let skipped = earlier.len().saturating_sub(room);
        for incident in earlier.into_iter().skip(skipped).rev() {
            all.push_front(incident);
        }
    }

    /// All of them, oldest first.
    pub fn all(&self) -> Vec<Incident> {
        self.0.lock().iter().cloned().collect()
    }

    /// Those since a time, newest first.
    pub fn since(&self, since: DateTime<Utc>) -> Vec<Incident> {
        self.0.lock().iter().rev().take_while(|i| i.at >= since).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn their_number_is_bounded_and_a_storm_is_one() {
        let incidents = Incidents::default();
        let start = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let one = |n: i64, upstream| Incident {
            at: start + chrono::Duration::milliseconds(n * 900),
            upstream: UpstreamId(upstream),
            kind: IncidentKind::Opened,
            class: Some(Class::Cut),
        };
        incidents.add(one(0, 1));
        incidents.add(one(1, 1));
        incidents.add(one(1, 2));
        assert_eq!(incidents.since(start).len(), 2);
        for n in 0..2000 {
            incidents.add(one(n, n));
        }
        assert_eq!(incidents.since(start).len(), MAX);
        assert!(incidents.since(start + chrono::Duration::days(1)).is_empty());
    }

    #[test]
    fn those_of_the_last_run_stand_before_those_of_this_one() {
        let start = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let one = |n: i64| Incident {
            at: start + chrono::Duration::seconds(n),
            upstream: UpstreamId(n),
            kind: IncidentKind::Closed,
            class: None,
        };
        let last = Incidents::default();
        last.add(one(1));
        last.add(one(2));
        let now = Incidents::default();
        now.add(one(3));
        now.restore(last.all());
        assert_eq!(now.all(), [one(1), one(2), one(3)]);
        now.restore((0..2000).map(one).collect());
        assert_eq!(now.all().len(), MAX);
    }
}
