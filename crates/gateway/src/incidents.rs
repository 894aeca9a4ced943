//! What went wrong lately, and got well again: the newest turns of breakers and cooldowns.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use headgate_domain::{Class, UpstreamId};
use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;

/// Kept at most.
const MAX: usize = 500;

/// What happened to an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
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

/// The newest incidents of this process.
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
}
