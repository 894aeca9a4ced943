//! The replay: arrivals as they were, results as they would be.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    time::Duration,
};

use headgate_domain::{Class, UpstreamId, Usage};
use headgate_routing::{
    Affinity, Candidate, Completion, Health, Lease, Need, Refusal, Time, Tokens, Tried, meaning, price,
};
use rand::{SeedableRng as _, rngs::StdRng};

use super::{Asked, Figures, Seen, Tariff, World, course::Course};
use crate::{behaviour::Behaviour, engine::outcome};

/// How often a request that finds no place looks again, and for how long.
const AGAIN: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether a probe is due.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Result(usize),
    Again(usize),
    Output(usize),
    ProbeResult(u64),
    Arrival(usize),
}

#[derive(Default)]
struct Progress {
    tried: Tried,
    held: Option<Held>,
    last: Option<Class>,
    first: Option<Time>,
}

struct Held {
    candidate: Candidate,
    lease: Lease,
    model: String,
    done: Completion,
    committed: bool,
}

/// Recorded traffic on its way through a configuration.
pub struct Replay<'a> {
    world: &'a World,
    tariff: &'a dyn Tariff,
    asked: &'a [Asked],
    course: Course,
    health: Health,
    affinity: Affinity,
    rng: StdRng,
    moments: BinaryHeap<Reverse<(Time, Moment)>>,
    progress: BTreeMap<usize, Progress>,
    probes: BTreeMap<u64, (Lease, Completion)>,
    serial: u64,
    looked: Time,
    figures: Figures,
    first: Vec<u64>,
}

impl<'a> Replay<'a> {
    /// A replay about to begin; `asked` in the order of time.
    pub fn new(seed: u64, world: &'a World, tariff: &'a dyn Tariff, asked: &'a [Asked], seen: Vec<Seen>) -> Self {
        let (max, ttl) = world.affinity.unwrap_or((0, Duration::ZERO));
        Self {
            world,
            tariff,
            asked,
            course: Course::new(seen),
            health: Health::new(world.policy.clone()),
            affinity: Affinity::new(max, ttl),
            rng: StdRng::seed_from_u64(seed),
            moments: BinaryHeap::new(),
            progress: BTreeMap::new(),
            probes: BTreeMap::new(),
            serial: 0,
            looked: Time::default(),
            figures: Figures::default(),
            first: Vec::new(),
        }
    }

    /// Lets everything happen.
    pub fn run(mut self) -> Figures {
        if let Some(first) = self.asked.first() {
            self.at(first.at, Moment::Arrival(0));
        }
        while let Some(Reverse((now, moment))) = self.moments.pop() {
            self.probe(now);
            match moment {
                Moment::Arrival(n) => {
                    if let Some(next) = self.asked.get(n + 1) {
                        self.at(next.at.max(now), Moment::Arrival(n + 1));
                    }
                    self.figures.requests += 1;
                    self.progress.insert(n, Progress::default());
                    self.advance(n, now);
                }
                Moment::Again(n) => self.advance(n, now),
                Moment::Output(n) => {
                    if let Some(held) = self.progress.get_mut(&n).and_then(|p| p.held.as_mut()) {
                        self.health.answered(&mut held.lease);
                    }
                }
                Moment::Result(n) => self.result(n, now),
                Moment::ProbeResult(serial) => {
                    if let Some((lease, done)) = self.probes.remove(&serial) {
                        self.health.complete(lease, &done, now, &mut self.rng);
                    }
                }
            }
        }
        self.figures.close(self.first);
        self.figures
    }

    fn at(&mut self, time: Time, moment: Moment) {
        self.moments.push(Reverse((time, moment)));
    }

    fn advance(&mut self, n: usize, now: Time) {
        let (Some(asked), Some(progress)) = (self.asked.get(n), self.progress.get(&n)) else { return };
        let Some(pool) = self.world.pool(asked.group, &asked.model) else {
            return self.end(n, "no_group");
        };
        let session = asked.session.filter(|_| self.world.affinity.is_some());
        let allowed = self.world.keys.get(&asked.key);
        let need = Need {
            stream: asked.stream,
            features: asked.features,
            estimated_input: asked.input,
            affinity: session.and_then(|session| self.affinity.get(asked.group, session, now)),
            idle: session.and_then(|session| self.affinity.idle(asked.group, session, now)),
            pace: self.affinity.pace(asked.group, session, now),
            key: Some(asked.key),
            key_regions: allowed.and_then(|a| a.regions.as_deref()),
            key_labels: allowed.and_then(|a| a.labels.as_deref()),
            region: asked.region.as_deref(),
            rates: &|upstream, model| self.tariff.rates(upstream, model, asked.input),
            ..Need::new(asked.protocol, &asked.model)
        };
        match self.health.decide(pool, &need, &progress.tried, now, &mut self.rng) {
            Ok(choice) => {
                let upstream = choice.candidate.upstream;
                let (behaviour, basis) = self.course.behaviour(upstream, asked, now, &mut self.rng);
                *self.figures.basis.entry(basis).or_default() += 1;
                self.figures.upstreams.entry(upstream).or_default().attempts += 1;
                let limit = Duration::from_secs(120);
                let (mut done, after, first) = outcome(behaviour, limit);
                done.tokens = Tokens::of(&asked.usage).filter(|_| done.class == Class::Ok);
                let committed = first.is_some();
                if let Some(progress) = self.progress.get_mut(&n) {
                    progress.first = progress.first.or(first.map(|first| now + first));
                    let (candidate, lease, model) = (choice.candidate, choice.lease, choice.sent_model);
                    progress.held = Some(Held { candidate, lease, model, done, committed });
                }
                if let Some(first) = first.filter(|first| *first < after) {
                    self.at(now + first, Moment::Output(n));
                }
                self.at(now + after, Moment::Result(n));
            }
            Err(refused) if refused.refusal == Refusal::Saturated && now.since(asked.at) < PATIENCE => {
                self.at(now + AGAIN, Moment::Again(n));
            }
            Err(refused) => {
                let code = progress.last.map_or(refused.refusal.as_str(), Class::as_str);
                self.end(n, code);
            }
        }
    }

    fn result(&mut self, n: usize, now: Time) {
        let (Some(asked), Some(progress)) = (self.asked.get(n), self.progress.get_mut(&n)) else { return };
        let Some(Held { candidate, lease, model, done, committed }) = progress.held.take() else { return };
        let (upstream, class) = (candidate.upstream, done.class);
        let attempts = progress.tried.attempts();
        let again = progress.tried.after(candidate, class, true) && !committed;
        progress.last = Some(class);
        let first = progress.first;
        let served_by = asked.session.map(|session| self.affinity.get(asked.group, session, now));
        if let Some(session) = asked.session {
            if class == Class::Ok {
                self.affinity.set(asked.group, session, upstream, now);
            } else if meaning(class).hurts() {
                self.affinity.drop_from(asked.group, session, upstream);
            }
        }
        self.health.complete(lease, &done, now, &mut self.rng);
        if class == Class::Ok {
            let share = self.figures.upstreams.entry(upstream).or_default();
            share.served += 1;
            *(if attempts == 0 { &mut self.figures.direct } else { &mut self.figures.after_failover }) += 1;
            self.figures.moved += u64::from(asked.upstream.is_some_and(|before| before != upstream));
            self.first.extend(first.map(|at| u64::try_from(at.since(asked.at).as_millis()).unwrap_or(u64::MAX)));
            let is_cold = served_by.is_some_and(|by| by != Some(upstream)) && asked.upstream != Some(upstream);
            self.pay(asked, upstream, &model, is_cold);
            self.progress.remove(&n);
            return;
        }
        self.figures.upstreams.entry(upstream).or_default().failed += 1;
        if again {
            self.advance(n, now);
        } else {
            self.end(n, class.as_str());
        }
    }

    /// What the answer costs at the upstream. A session that comes to another upstream finds nothing in its cache: what
    /// was read there is paid for as input.
    fn pay(&mut self, asked: &Asked, upstream: UpstreamId, model: &str, is_cold: bool) {
        let usage = if is_cold {
            let fresh = asked.usage.fresh.unwrap_or(0).saturating_add(asked.usage.read.unwrap_or(0));
            Usage { fresh: Some(fresh), read: asked.usage.read.map(|_| 0), ..asked.usage }
        } else {
            asked.usage
        };
        let Some((currency, list)) = self.tariff.cost(upstream, model, &usage) else {
            self.figures.unpriced += 1;
            return;
        };
        let member = self
            .world
            .pool(asked.group, &asked.model)
            .and_then(|pool| pool.members.iter().find(|member| member.upstream == upstream));
        let factor = member.and_then(|m| price(m.multiplier?, m.credit_ratio));
        self.figures.add(upstream, &currency, list, factor);
    }

    fn end(&mut self, n: usize, code: &str) {
        self.progress.remove(&n);
        *self.figures.failed.entry(code.to_owned()).or_default() += 1;
    }

    /// Asks what is due to be asked, as the gateway does.
    fn probe(&mut self, now: Time) {
        if now.since(self.looked) < LOOK {
            return;
        }
        self.looked = now;
        for due in self.health.due_probes(now) {
            let member = self.world.pools.values().flat_map(|pool| &pool.members).find(|m| m.upstream == due.upstream);
            let Some(claim) = member.and_then(|member| self.health.claim_probe(member, now)) else { continue };
            let (done, after) = match self.course.probe(due.upstream, now, &mut self.rng) {
                Behaviour::Answers { whole, .. } => (Completion::ok(None), whole),
                Behaviour::Fails { class, after, .. } | Behaviour::Breaks { class, after } => {
                    (Completion::new(class), after.min(Duration::from_secs(30)))
                }
            };
            self.serial += 1;
            self.probes.insert(self.serial, (claim.lease, done));
            self.at(now + after, Moment::ProbeResult(self.serial));
        }
    }
}
