//! Which upstream served a session last: a table of bounded size whose entries run out.

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::{GroupId, UpstreamId};

use crate::{strategy::AHEAD, time::Time};

type Key = (GroupId, u64);

/// Requests of a session that wait for its upstream, in a row.
const PATIENCE: u8 = 3;

#[derive(Debug, Clone, Copy)]
struct Entry {
    upstream: UpstreamId,
    written: Time,
    turn: u64,
    /// Requests in a row that found the upstream full.
    contended: u8,
    /// Its requests within [`AHEAD`], older ones fading.
    pace: f64,
}

/// What sessions of a group do, older ones fading.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    requests: f64,
    sessions: f64,
    at: Time,
}

/// What is left after so long of a count over [`AHEAD`].
fn faded(count: f64, since: Duration) -> f64 {
    count * (-since.as_secs_f64() / AHEAD.as_secs_f64()).exp()
}

/// Session (hashed) × group → upstream; the least recently written goes first.
#[derive(Debug)]
pub struct Affinity {
    max: usize,
    ttl: Duration,
    entries: BTreeMap<Key, Entry>,
    order: BTreeMap<u64, Key>,
    turn: u64,
    paces: BTreeMap<GroupId, Pace>,
}

impl Affinity {
    /// An empty table of at most `max` entries, each valid for `ttl`.
    pub fn new(max: usize, ttl: Duration) -> Self {
        Self { max, ttl, entries: BTreeMap::new(), order: BTreeMap::new(), turn: 0, paces: BTreeMap::new() }
    }

    /// Takes over changed settings.
    pub fn set_limits(&mut self, max: usize, ttl: Duration) {
        self.max = max;
        self.ttl = ttl;
        self.shrink();
    }

    /// The session's upstream.
    pub fn get(&self, group: GroupId, session: u64, now: Time) -> Option<UpstreamId> {
        self.entries.get(&(group, session)).filter(|e| now.since(e.written) < self.ttl).map(|e| e.upstream)
    }

    /// How long ago the session was last served.
    pub fn idle(&self, group: GroupId, session: u64, now: Time) -> Option<Duration> {
        self.entries.get(&(group, session)).map(|e| now.since(e.written))
    }

    /// How many requests the session is expected to make in a quarter of an hour, this one included: as many as it
    /// did, and one that is new as many as sessions of its group do.
    pub fn pace(&self, group: GroupId, session: Option<u64>, now: Time) -> f64 {
        let own = session.and_then(|session| self.entries.get(&(group, session)));
        let usual = || {
            let pace = self.paces.get(&group).filter(|_| session.is_some())?;
            (pace.sessions > 0.0).then(|| pace.requests / pace.sessions)
        };
        own.map(|e| faded(e.pace, now.since(e.written)) + 1.0).or_else(usual).unwrap_or(1.0).max(1.0)
    }

    /// Remembers the upstream; to be called after a success whose content reached the client.
    pub fn set(&mut self, group: GroupId, session: u64, upstream: UpstreamId, now: Time) {
        let key = (group, session);
        self.turn += 1;
        let known = self.entries.get(&key);
        let contended = known.filter(|e| e.upstream == upstream).map_or(0, |e| e.contended);
        let pace = known.map_or(0.0, |e| faded(e.pace, now.since(e.written))) + 1.0;
        let of_group = self.paces.entry(group).or_default();
        let since = now.since(of_group.at);
        *of_group = Pace {
            requests: faded(of_group.requests, since) + 1.0,
            sessions: faded(of_group.sessions, since) + f64::from(u8::from(known.is_none())),
            at: now,
        };
        let entry = Entry { upstream, written: now, turn: self.turn, contended, pace };
        if let Some(old) = self.entries.insert(key, entry) {
            self.order.remove(&old.turn);
        }
        self.order.insert(self.turn, key);
        self.shrink();
    }

    /// Whether a request of this session may wait for its upstream, should that be full: not after three in a row.
    pub fn is_patient(&self, group: GroupId, session: u64) -> bool {
        self.entries.get(&(group, session)).is_some_and(|e| e.contended < PATIENCE)
    }

    /// Notes whether a request of this session found its upstream full.
    pub fn note_contended(&mut self, group: GroupId, session: u64, contended: bool) {
        if let Some(entry) = self.entries.get_mut(&(group, session)) {
            entry.contended = if contended { entry.contended.saturating_add(1) } else { 0 };
        }
    }

    /// Forgets the session if it is on this upstream; to be called when the upstream failed with a class that hurts
    /// health ([`crate::Meaning::hurts`]).
    pub fn drop_from(&mut self, group: GroupId, session: u64, upstream: UpstreamId) {
        let key = (group, session);
        if let Some(entry) = self.entries.get(&key).copied().filter(|e| e.upstream == upstream) {
            self.entries.remove(&key);
            self.order.remove(&entry.turn);
        }
    }

    /// Sessions remembered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn shrink(&mut self) {
        while self.entries.len() > self.max {
            let Some((_, key)) = self.order.pop_first() else { return };
            self.entries.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: GroupId = GroupId(1);

    #[test]
    fn a_session_is_remembered_until_it_runs_out() {
        let mut a = Affinity::new(10, Duration::from_secs(60));
        a.set(G, 7, UpstreamId(1), Time::secs(0));
        assert_eq!(a.get(G, 7, Time::secs(59)), Some(UpstreamId(1)));
        assert_eq!(a.get(GroupId(2), 7, Time::secs(1)), None);
        assert_eq!(a.get(G, 7, Time::secs(60)), None);
    }

    #[test]
    fn the_least_recently_written_session_makes_room() {
        let mut a = Affinity::new(2, Duration::from_secs(60));
        a.set(G, 1, UpstreamId(1), Time::secs(0));
        a.set(G, 2, UpstreamId(1), Time::secs(1));
        a.set(G, 1, UpstreamId(2), Time::secs(2));
        a.set(G, 3, UpstreamId(1), Time::secs(3));
        assert_eq!(a.get(G, 2, Time::secs(3)), None);
        assert_eq!(a.get(G, 1, Time::secs(3)), Some(UpstreamId(2)));
        assert_eq!((a.len(), a.order.len()), (2, 2));
        a.set_limits(0, Duration::from_secs(60));
        assert!(a.is_empty() && a.order.is_empty());
    }

    #[test]
    fn a_session_waits_for_its_full_upstream_three_times_in_a_row() {
        let mut a = Affinity::new(2, Duration::from_secs(60));
        assert!(!a.is_patient(G, 1));
        a.set(G, 1, UpstreamId(1), Time::secs(0));
        for _ in 0..3 {
            assert!(a.is_patient(G, 1));
            a.note_contended(G, 1, true);
            a.set(G, 1, UpstreamId(1), Time::secs(0));
        }
        assert!(!a.is_patient(G, 1));
        a.note_contended(G, 1, false);
        assert!(a.is_patient(G, 1));
    }

    #[test]
    fn a_session_goes_on_as_it_did_and_a_new_one_as_others_do() {
        let mut a = Affinity::new(10, Duration::from_secs(6000));
        assert!((a.pace(G, Some(1), Time::secs(0)) - 1.0).abs() < 1e-9);
        for turn in 0..6 {
            a.set(G, 1, UpstreamId(1), Time::secs(turn));
        }
        assert!((a.pace(G, Some(1), Time::secs(5)) - 7.0).abs() < 0.1);
        assert!((a.pace(G, Some(2), Time::secs(5)) - 6.0).abs() < 0.1, "as the group's sessions do");
        assert!((a.pace(G, None, Time::secs(5)) - 1.0).abs() < 1e-9, "no session, no next request");
        assert!(a.pace(G, Some(1), Time::secs(5000)) < 1.1, "long ago");
        assert_eq!(a.idle(G, 1, Time::secs(9)), Some(Duration::from_secs(4)));
    }

    #[test]
    fn a_failed_upstream_loses_only_its_own_sessions() {
        let mut a = Affinity::new(2, Duration::from_secs(60));
        a.set(G, 1, UpstreamId(1), Time::secs(0));
        a.drop_from(G, 1, UpstreamId(2));
        assert_eq!(a.len(), 1);
        a.drop_from(G, 1, UpstreamId(1));
        assert!(a.is_empty());
    }
}
