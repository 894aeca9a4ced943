//! How upstreams answered, and so how they would have.

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::{Class, UpstreamId};
use headgate_routing::Time;
use rand::{RngExt as _, rngs::StdRng};

use super::{Asked, Seen, figures::Basis};
use crate::behaviour::Behaviour;

/// How far in time an attempt may be that speaks for a moment.
const NEAR: Duration = Duration::from_secs(300);
/// How many of the nearest are drawn from: one would repeat a single failure for minutes.
const NEAREST: usize = 5;

/// The attempts of each upstream, by time.
pub(super) struct Course {
    seen: BTreeMap<UpstreamId, Vec<Seen>>,
}

impl Course {
    pub(super) fn new(mut seen: Vec<Seen>) -> Self {
        seen.sort_by_key(|s| s.at);
        let mut by_upstream: BTreeMap<UpstreamId, Vec<Seen>> = BTreeMap::new();
        for one in seen {
            by_upstream.entry(one.upstream).or_default().push(one);
        }
        Self { seen: by_upstream }
    }

    /// What the upstream does with a request at a moment, and what that is known from.
    pub(super) fn behaviour(
        &self,
        upstream: UpstreamId,
        asked: &Asked,
        now: Time,
        rng: &mut StdRng,
    ) -> (Behaviour, Basis) {
        let all = self.seen.get(&upstream).map_or(&[][..], Vec::as_slice);
        let near = nearest(all, now);
        let (from, basis) = if near.is_empty() { (all, Basis::Overall) } else { (near, Basis::Near) };
        if from.is_empty() {
            return (answers(asked.took), Basis::Assumed);
        }
        let drawn = from.get(rng.random_range(0..from.len()));
        (drawn.map_or_else(|| answers(asked.took), |seen| behaviour(seen, asked)), basis)
    }

    /// What a small question finds.
    pub(super) fn probe(&self, upstream: UpstreamId, now: Time, rng: &mut StdRng) -> Behaviour {
        let all = self.seen.get(&upstream).map_or(&[][..], Vec::as_slice);
        let near = nearest(all, now);
        let drawn = if near.is_empty() { None } else { near.get(rng.random_range(0..near.len())) };
        match drawn {
            Some(seen) if failed(seen.class) => {
                Behaviour::Fails { class: seen.class, after: seen.took.1, retry_after: None }
            }
            _ => Behaviour::answers(500),
        }
    }
}

/// Up to [`NEAREST`] attempts around a moment.
fn nearest(all: &[Seen], now: Time) -> &[Seen] {
    let apart = |seen: &Seen| seen.at.since(now).max(now.since(seen.at));
    let (mut from, mut to) = {
        let at = all.partition_point(|s| s.at < now);
        (at, at)
    };
    while to - from < NEAREST {
        let before = from.checked_sub(1).and_then(|at| all.get(at)).filter(|s| apart(s) <= NEAR);
        let after = all.get(to).filter(|s| apart(s) <= NEAR);
        match (before, after) {
            (Some(b), Some(a)) if apart(b) <= apart(a) => from -= 1,
            (Some(_), None) => from -= 1,
            (_, Some(_)) => to += 1,
            (None, None) => break,
        }
    }
    all.get(from..to).unwrap_or_default()
}

/// Whether an attempt that ended so says something against the upstream.
fn failed(class: Class) -> bool {
    !matches!(
        class,
        Class::Ok | Class::ClientGone | Class::ClientFault | Class::ContentPolicy | Class::Deadline | Class::Gateway
    )
}

fn behaviour(seen: &Seen, asked: &Asked) -> Behaviour {
    if !failed(seen.class) {
        // A short answer of somebody else's says how fast the upstream begins, not how long this one takes.
        let written = asked.took.1.saturating_sub(asked.took.0);
        return answers((seen.took.0, seen.took.0 + written));
    }
    if seen.broke_off {
        return Behaviour::Breaks { class: seen.class, after: seen.took.1 };
    }
    Behaviour::Fails { class: seen.class, after: seen.took.1, retry_after: None }
}

fn answers((first, whole): (Duration, Duration)) -> Behaviour {
    Behaviour::Answers { first, whole: whole.max(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at: u64, class: Class) -> Seen {
        let took = (Duration::from_millis(100), Duration::from_millis(300));
        Seen { at: Time::secs(at), upstream: UpstreamId(1), class, broke_off: false, took }
    }

    #[test]
    fn the_nearest_in_time_speak_for_a_moment() {
        let all: Vec<_> = [0, 100, 200, 300, 400, 500, 600, 5000].map(|at| seen(at, Class::Ok)).to_vec();
        let at = |now| nearest(&all, Time::secs(now)).iter().map(|s| s.at).collect::<Vec<_>>();
        assert_eq!(at(310), [100, 200, 300, 400, 500].map(Time::secs));
        assert_eq!(at(0), [0, 100, 200, 300].map(Time::secs), "no more than five minutes away");
        assert_eq!(at(2000), []);
        assert_eq!(at(5100), [Time::secs(5000)]);
    }
}
