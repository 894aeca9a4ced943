//! What went wrong lately, and got well again: the newest turns of breakers and cooldowns, and of groups that leave a
//! member out for its money.

use std::collections::{BTreeSet, VecDeque};

use chrono::{DateTime, Utc};
use headgate_domain::{Class, GroupId, UpstreamId};
use headgate_routing::Withheld;
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
    /// A group does not use it any more, for its money.
    Withheld,
    /// The group uses it again, or a person took it out of the group.
    Returned,
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
    /// The group that does not use it, or does again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// Why the group does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
}

impl Incident {
    /// A turn of the upstream itself.
    pub fn of(at: DateTime<Utc>, upstream: UpstreamId, kind: IncidentKind, class: Option<Class>) -> Self {
        Self { at, upstream, kind, class, group: None, withheld: None }
    }
}

/// The newest incidents; they outlive the process in the file of health.
#[derive(Default)]
pub struct Incidents(Mutex<VecDeque<Incident>>);

impl Incidents {
    /// Adds one. The same kind of the same upstream within a second is one.
    pub fn add(&self, incident: Incident) {
        let mut all = self.0.lock();
        let again = all.iter().rev().take(8).any(|i| {
            let is_same = i.upstream == incident.upstream && i.kind == incident.kind && i.group == incident.group;
            is_same && (incident.at - i.at).num_milliseconds() < 1000
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

    /// When the newest was; none without any.
    pub fn newest(&self) -> Option<DateTime<Utc>> {
        self.0.lock().back().map(|incident| incident.at)
    }

    /// All of them, oldest first.
    pub fn all(&self) -> Vec<Incident> {
        self.0.lock().iter().cloned().collect()
    }

    /// Those since a time, newest first, and before them how long-lasting ones began.
    pub fn since(&self, since: DateTime<Utc>) -> Vec<Incident> {
        let all = self.0.lock();
        let mut ended = BTreeSet::new();
        let mut lasts = |i: &Incident| {
            let newest = i.group.is_some() && ended.insert((i.group, i.upstream));
            newest && i.kind == IncidentKind::Withheld
        };
        // What was turned within the time is told from there on; of what is older, what has not ended.
        all.iter().rev().filter(|i| lasts(i) || i.at >= since).cloned().collect()
    }

    /// Which groups do not use which upstreams, by what happened last.
    pub fn withheld(&self) -> BTreeSet<(GroupId, UpstreamId)> {
        let mut found = BTreeSet::new();
        for incident in self.0.lock().iter() {
            let Some(group) = incident.group else { continue };
            if incident.kind == IncidentKind::Withheld {
                found.insert((group, incident.upstream));
            } else {
                found.remove(&(group, incident.upstream));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn their_number_is_bounded_and_a_storm_is_one() {
        let incidents = Incidents::default();
        let start = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let one = |n: i64, upstream| {
            let at = start + chrono::Duration::milliseconds(n * 900);
            Incident::of(at, UpstreamId(upstream), IncidentKind::Opened, Some(Class::Cut))
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
        let one = |n: i64| {
            let at = start + chrono::Duration::seconds(n);
            Incident::of(at, UpstreamId(n), IncidentKind::Closed, None)
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

    #[test]
    fn what_a_group_leaves_out_is_told_until_it_is_used_again_however_long_that_is() {
        let start = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let one = |hour: i64, upstream: i64, kind| Incident {
            group: Some(GroupId(1)),
            ..Incident::of(start + chrono::Duration::hours(hour), UpstreamId(upstream), kind, None)
        };
        let incidents = Incidents::default();
        for (hour, upstream, kind) in [
            (0, 1, IncidentKind::Withheld),
            (1, 2, IncidentKind::Withheld),
            (2, 2, IncidentKind::Returned),
            (40, 3, IncidentKind::Withheld),
        ] {
            incidents.add(one(hour, upstream, kind));
        }
        let told: Vec<i64> =
            incidents.since(start + chrono::Duration::hours(24)).iter().map(|i| i.upstream.0).collect();
        assert_eq!(told, [3, 1], "the first is out still, the second is not");
        let out: Vec<i64> = incidents.withheld().iter().map(|(_, upstream)| upstream.0).collect();
        assert_eq!(out, [1, 3]);
    }
}
