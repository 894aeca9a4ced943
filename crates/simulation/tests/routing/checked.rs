//! What a decision must be, computed from outside: from the published view of health and the test's own books.

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::{Class, CredentialId, GroupId, UpstreamId, UpstreamKind, audit::BreakerState, audit::Selection};
use headgate_routing::{
    Candidate, Choice, Completion, Decision, Effect, Health, Lease, Need, Policy, Pool, PoolCredential, PoolMember,
    ProbeClaim, Refused, Time, Transition, Tried,
};
use headgate_simulation::Router;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// A member with credentials `id * 10`, `id * 10 + 1` …
pub(crate) fn member(id: i64, priority: i32, credentials: i64) -> PoolMember {
    PoolMember {
        priority,
        credentials: (0..credentials)
            .map(|n| PoolCredential { id: CredentialId(id * 10 + n), missing: false })
            .collect(),
        ..PoolMember::new(UpstreamId(id), UpstreamKind::Passthrough)
    }
}

/// A claim as the test remembers it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) candidate: Candidate,
    pub(crate) selection: Selection,
    pub(crate) lease: Lease,
    pub(crate) number: u64,
}

/// Health with books kept beside it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) health: Health,
    pub(crate) now: Time,
    pub(crate) rng: StdRng,
    number: u64,
    in_flight: BTreeMap<UpstreamId, u32>,
    /// The half-open trial under way: which claim, until when it keeps others away.
    trials: BTreeMap<UpstreamId, (u64, Time)>,
    retests: BTreeMap<UpstreamId, (u64, Time)>,
    /// What each request of a simulation has tried, and the number of its claim.
    requests: BTreeMap<u64, (Books, u64)>,
    probe: BTreeMap<UpstreamId, u64>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            health: Health::new(Policy::default()),
            now: Time::secs(1),
            rng: StdRng::seed_from_u64(seed),
            number: 0,
            in_flight: BTreeMap::new(),
            trials: BTreeMap::new(),
            retests: BTreeMap::new(),
            requests: BTreeMap::new(),
            probe: BTreeMap::new(),
        }
    }

    pub(crate) fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
    }

    /// Whether nothing that can be seen from outside stops this member.
    pub(crate) fn eligible(&self, pool: &Pool, m: &PoolMember, need: &Need<'_>, tried: &Books) -> bool {
        let view = self.health.view(m.upstream, self.now);
        let held_off = |marks: &BTreeMap<UpstreamId, (u64, Time)>| {
            marks.get(&m.upstream).is_some_and(|(_, deadline)| self.now < *deadline)
        };
        let usable = |id: Option<CredentialId>| {
            let cooling = view.credentials.iter().any(|c| {
                c.id == id && c.cooling.iter().any(|c| c.model.as_deref().is_none_or(|model| model == need.model))
            });
            !cooling && !tried.credentials.contains(&(m.upstream, id))
        };
        let credential = if m.credentials.is_empty() {
            usable(None)
        } else {
            m.credentials.iter().any(|c| !c.missing && usable(Some(c.id)))
        };
        let excluded = view.models.iter().find(|v| v.model == need.model).and_then(|v| v.excluded_ms);
        m.upstream_enabled
            && m.member_enabled
            && Self::admitted(pool, m, need)
            && match excluded {
                None => true,
                Some(0) => !held_off(&self.retests),
                Some(_) => false,
            }
            && match view.state {
                BreakerState::Closed => true,
                BreakerState::HalfOpen => !held_off(&self.trials),
                BreakerState::Open => false,
            }
            && view.cooling.is_none()
            && credential
            && m.limits.concurrency.is_none_or(|most| self.flying(m.upstream) < most)
            && !tried.upstreams.contains(&m.upstream)
    }

    /// The hard policy of these tests: regions.
    pub(crate) fn admitted(pool: &Pool, m: &PoolMember, need: &Need<'_>) -> bool {
        let region = m.region.as_ref();
        pool.regions.as_ref().is_none_or(|list| region.is_some_and(|r| list.contains(r)))
            && need.key_regions.is_none_or(|list| region.is_some_and(|r| list.contains(r)))
            && need.region.is_none_or(|asked| m.region.as_deref() == Some(asked))
    }

    pub(crate) fn flying(&self, upstream: UpstreamId) -> u32 {
        self.in_flight.get(&upstream).copied().unwrap_or(0)
    }

    /// Decides, and checks the decision against what is seen from outside.
    pub(crate) fn decide(&mut self, pool: &Pool, need: &Need<'_>, tried: &Books) -> Result<Held, Refused> {
        let choice = self.checked(pool, need, tried)?;
        let number = self.book(&choice);
        Ok(Held { candidate: choice.candidate, selection: choice.selection, lease: choice.lease, number })
    }

    fn checked(&mut self, pool: &Pool, need: &Need<'_>, tried: &Books) -> Decision {
        let best = pool.members.iter().filter(|m| self.eligible(pool, m, need, tried)).map(|m| m.priority).min();
        let limit = tried.tried.attempts() >= self.health.policy().max_attempts;
        match self.health.decide(pool, need, &tried.tried, self.now, &mut self.rng) {
            Ok(choice) => {
                let m = pool.members.get(choice.candidate.member).expect("the chosen member");
                assert!(Self::admitted(pool, m, need), "a hard policy was crossed: {choice:?}");
                assert!(!limit, "an attempt beyond the limit: {choice:?}");
                if choice.candidate.last_resort {
                    assert_eq!(best, None, "a last resort beside an eligible member: {choice:?}");
                } else {
                    assert_eq!(Some(m.priority), best, "not the best tier: {choice:?}");
                }
                Ok(choice)
            }
            Err(refused) => {
                let may = limit || best.is_none() || refused.wait.is_some();
                assert!(may, "refused beside an eligible member: {refused:?}");
                Err(refused)
            }
        }
    }

    fn book(&mut self, choice: &Choice) -> u64 {
        let upstream = choice.candidate.upstream;
        self.number += 1;
        let mark = (self.number, self.now + self.health.policy().lease);
        *self.in_flight.entry(upstream).or_default() += 1;
        if choice.selection == Selection::RecoveryTrial {
            let running = self.trials.get(&upstream).is_some_and(|(_, deadline)| self.now < *deadline);
            assert!(!running, "two half-open leases: {choice:?}");
            self.trials.insert(upstream, mark);
        }
        let excluded = self.health.view(upstream, self.now).models;
        if excluded.iter().any(|m| m.model == choice.sent_model && m.excluded_ms == Some(0)) {
            self.retests.insert(upstream, mark);
        }
        self.number
    }

    pub(crate) fn complete(&mut self, held: Held, done: &Completion) -> Effect {
        let upstream = held.candidate.upstream;
        if let Some(n) = self.in_flight.get_mut(&upstream) {
            *n -= 1;
        }
        for marks in [&mut self.trials, &mut self.retests] {
            if marks.get(&upstream).is_some_and(|(of, _)| *of == held.number) {
                marks.remove(&upstream);
            }
        }
        let effect = self.health.complete(held.lease, done, self.now, &mut self.rng);
        if effect.transition.is_some() {
            self.trials.remove(&upstream);
        }
        if let Some(Transition::Opened { until }) = effect.transition {
            assert!(until > self.now);
        }
        let view = self.health.view(upstream, self.now);
        if view.models.iter().all(|m| m.excluded_ms != Some(0)) {
            self.retests.remove(&upstream);
        }
        assert_eq!(view.in_flight, self.flying(upstream), "requests in flight");
        assert_eq!(view.state, effect.breaker_after);
        effect
    }
}

impl Router for World {
    fn health(&self) -> &Health {
        &self.health
    }

    fn decide(&mut self, request: u64, pool: &Pool, need: &Need<'_>, tried: &Tried, now: Time) -> Decision {
        self.now = now;
        let (books, _) = self.requests.remove(&request).unwrap_or_default();
        assert_eq!(books.tried, *tried);
        let decision = self.checked(pool, need, &books);
        let number = decision.as_ref().map_or(0, |choice| self.book(choice));
        self.requests.insert(request, (books, number));
        decision
    }

    fn answered(&mut self, lease: &mut Lease) {
        self.health.answered(lease);
    }

    fn complete(&mut self, request: u64, candidate: Candidate, lease: Lease, done: &Completion, now: Time) -> Effect {
        self.now = now;
        let (books, number) = self.requests.get_mut(&request).expect("a request that holds a claim");
        books.after(candidate, done.class, true);
        let held = Held { candidate, selection: Selection::Initial, lease, number: *number };
        self.complete(held, done)
    }

    fn claim_probe(&mut self, member: &PoolMember, now: Time) -> Option<ProbeClaim> {
        self.now = now;
        let claim = self.health.claim_probe(member, now)?;
        let upstream = member.upstream;
        let running = self.trials.get(&upstream).is_some_and(|(_, deadline)| now < *deadline);
        assert!(!running, "a probe beside a trial");
        self.number += 1;
        *self.in_flight.entry(upstream).or_default() += 1;
        self.trials.insert(upstream, (self.number, now + self.health.policy().lease));
        self.probe.insert(upstream, self.number);
        Some(claim)
    }

    fn complete_probe(&mut self, lease: Lease, done: &Completion, now: Time) -> Effect {
        self.now = now;
        let number = self.probe.remove(&lease.upstream()).expect("a probe under way");
        let (upstream, credential) = (lease.upstream(), lease.credential());
        let candidate = Candidate { member: 0, upstream, credential, last_resort: false };
        self.complete(Held { candidate, selection: Selection::RecoveryTrial, lease, number }, done)
    }
}

/// What one request has tried, with the test's own account of it.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) tried: Tried,
    upstreams: Vec<UpstreamId>,
    credentials: Vec<(UpstreamId, Option<CredentialId>)>,
}

impl Books {
    pub(crate) fn after(&mut self, candidate: Candidate, class: Class, sent: bool) -> bool {
        if matches!(class, Class::Credential | Class::Exhausted | Class::RateLimited) {
            self.credentials.push((candidate.upstream, candidate.credential));
        } else {
            self.upstreams.push(candidate.upstream);
        }
        self.tried.after(candidate, class, sent)
    }
}

/// A random pool of one to six members in up to three tiers.
pub(crate) fn random_pool(rng: &mut StdRng) -> Pool {
    let region = |rng: &mut StdRng| match rng.random_range(0..4) {
        0 => None,
        1 => Some("us".to_owned()),
        _ => Some("eu".to_owned()),
    };
    let members = (1..=rng.random_range(1..=6))
        .map(|id| {
            let (priority, credentials) = (rng.random_range(0..3), rng.random_range(0..3));
            let mut m = member(id, priority, credentials);
            m.weight = rng.random_range(1..5);
            m.upstream_enabled = rng.random_bool(0.95);
            m.region = region(rng);
            m.limits.concurrency = rng.random_bool(0.3).then(|| rng.random_range(1..4));
            if let Some(first) = m.credentials.first_mut() {
                first.missing = rng.random_bool(0.1);
            }
            m
        })
        .collect();
    let strategies = [
        headgate_domain::Strategy::P2c,
        headgate_domain::Strategy::SmoothWeighted,
        headgate_domain::Strategy::Balanced,
        headgate_domain::Strategy::Spread,
    ];
    let strategy = *strategies.get(rng.random_range(0..4)).unwrap_or(&headgate_domain::Strategy::P2c);
    Pool { strategy, regions: rng.random_bool(0.2).then(|| vec!["eu".to_owned()]), members, ..Pool::new(GroupId(1)) }
}
