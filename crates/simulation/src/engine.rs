//! The simulation: a queue of moments.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    time::Duration,
};

use headgate_domain::{Class, KeyId, UpstreamId, audit::Selection};
use headgate_routing::{Affinity, Choice, Completion, Line, Pool, Refusal, Refused, Time, Transition, Wait, meaning};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use crate::{
    behaviour::{Behaviour, Faults},
    request::{Held, Request},
    router::Router,
    run::{Attempt, End, Run, Turn},
    workload::Workload,
};

/// How often it is looked whether a probe is due.
const LOOK: Duration = Duration::from_secs(1);
/// The first-response limit, as in the default settings.
const FIRST_RESPONSE: Duration = Duration::from_secs(120);
/// What a recovery probe takes at a healthy upstream.
const PROBE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Arrival(u32),
    Output(u64, usize),
    Result(u64),
    /// A waiting request's patience, or the moment at which there may be room.
    Alarm(u64),
    Look,
    ProbeResult(u64),
}

struct Probe {
    upstream: UpstreamId,
    lease: headgate_routing::Lease,
    done: Completion,
    attempt: usize,
}

/// A workload on its way through a pool.
pub struct Simulation<R> {
    /// Who decides.
    pub router: R,
    /// The pool.
    pub pool: Pool,
    /// How its upstreams behave.
    pub faults: Faults,
    workload: Workload,
    /// Of the clients and upstreams; the router has its own.
    rng: StdRng,
    affinity: Affinity,
    line: Line,
    moments: BinaryHeap<Reverse<(Time, Moment)>>,
    requests: BTreeMap<u64, Request>,
    waiting: BTreeMap<headgate_routing::Ticket, u64>,
    probes: BTreeMap<u64, Probe>,
    numbers: u64,
    run: Run,
}

impl<R: Router> Simulation<R> {
    /// A workload about to begin.
    pub fn new(seed: u64, router: R, pool: Pool, faults: Faults, workload: Workload) -> Self {
        let settings = headgate_domain::Settings::default();
        Self {
            router,
            pool,
            faults,
            workload,
            rng: StdRng::seed_from_u64(seed ^ 0x5eed),
            affinity: Affinity::new(settings.affinity_max as usize, settings.affinity_ttl.0),
            line: Line::new(),
            moments: BinaryHeap::new(),
            requests: BTreeMap::new(),
            waiting: BTreeMap::new(),
            probes: BTreeMap::new(),
            numbers: 0,
            run: Run::default(),
        }
    }

    /// Lets everything happen: until the last request has ended and no probe is under way.
    pub fn run(mut self) -> (Run, R) {
        if self.workload.count > 0 {
            self.at(self.workload.start, Moment::Arrival(0));
        }
        if self.workload.probes {
            self.at(self.workload.start, Moment::Look);
        }
        while let Some(Reverse((now, moment))) = self.moments.pop() {
            match moment {
                Moment::Arrival(n) => self.arrive(n, now),
                Moment::Output(id, attempt) => {
                    let held = self.requests.get_mut(&id).and_then(|r| r.held.as_mut());
                    if let Some(held) = held.filter(|held| held.attempt == attempt) {
                        self.router.answered(&mut held.lease);
                    }
                }
                Moment::Result(id) => self.result(id, now),
                Moment::Alarm(id) => {
                    if self.requests.get(&id).is_some_and(|r| r.ticket.is_some()) {
                        self.advance(id, now);
                    }
                }
                Moment::Look => self.look(now),
                Moment::ProbeResult(number) => self.probed(number, now),
            }
        }
        (self.run, self.router)
    }

    fn at(&mut self, time: Time, moment: Moment) {
        self.moments.push(Reverse((time, moment)));
    }

    fn arrive(&mut self, n: u32, now: Time) {
        if n + 1 < self.workload.count {
            self.at(self.workload.start + self.workload.every * (n + 1), Moment::Arrival(n + 1));
        }
        let id = u64::from(n);
        let session = id.checked_rem(self.workload.sessions);
        let patient = session.is_some_and(|s| self.affinity.is_patient(self.pool.group, s));
        let request = Request {
            arrived: now,
            session,
            key: KeyId(i64::from(n % self.workload.keys.max(1)) + 1),
            restricted: self.rng.random_bool(self.workload.restricted),
            tried: headgate_routing::Tried::new(),
            attempts: 0,
            held: None,
            last: None,
            began: None,
            first_output: None,
            ticket: None,
            waits_for_tier: true,
            waits_for_favourite: patient,
        };
        self.requests.insert(id, request);
        // A newcomer stands behind those who wait already.
        if self.line.is_empty() || !self.join(id) {
            self.advance(id, now);
        } else {
            self.at(now + self.workload.line.1, Moment::Alarm(id));
        }
    }

    /// Looks for a candidate; ends the request, or lets it wait, if there is none.
    fn advance(&mut self, id: u64, now: Time) {
        loop {
            let Some(request) = self.requests.get(&id) else { return };
            let affinity = request.session.and_then(|s| self.affinity.get(self.pool.group, s, now));
            let need = request.need(&self.workload, affinity);
            let refused = match self.router.decide(id, &self.pool, &need, &request.tried, now) {
                Ok(choice) => {
                    self.note_affinity(id, affinity, &choice);
                    self.begin(id, choice, now);
                    return;
                }
                Err(refused) => refused,
            };
            match self.wait(id, &refused, now) {
                Some(Again::Later) => return,
                Some(Again::Now) => {}
                None => {
                    self.end(id, Some(refused), now);
                    return;
                }
            }
        }
    }

    fn note_affinity(&mut self, id: u64, affinity: Option<UpstreamId>, choice: &Choice) {
        let Some(request) = self.requests.get(&id).filter(|r| r.session.is_some() && !r.tried.any()) else { return };
        let (hits, misses) = &mut self.run.affinity;
        *if affinity.is_some() { hits } else { misses } += 1;
        if let (Some(session), Some(upstream)) = (request.session, affinity) {
            let contended = request.ticket.is_some() && choice.candidate.upstream == upstream;
            self.affinity.note_contended(self.pool.group, session, contended);
        }
    }

    fn wait(&mut self, id: u64, refused: &Refused, now: Time) -> Option<Again> {
        let (places, longest) = self.workload.line;
        let request = self.requests.get(&id)?;
        if refused.refusal != Refusal::Saturated || request.tried.any() || places == 0 {
            return None;
        }
        let limit = match refused.wait {
            Some(Wait::Favourite(limit) | Wait::Tier(limit)) => limit,
            None => longest,
        };
        let until = request.arrived + limit;
        if until > now && (request.ticket.is_some() || self.join(id)) {
            let alarm = refused.retry_at.map_or(until, |at| at.min(until)).max(now + Duration::from_millis(1));
            self.at(alarm, Moment::Alarm(id));
            return Some(Again::Later);
        }
        let request = self.requests.get_mut(&id)?;
        match refused.wait? {
            Wait::Favourite(_) => request.waits_for_favourite = false,
            Wait::Tier(_) => request.waits_for_tier = false,
        }
        Some(Again::Now)
    }

    fn join(&mut self, id: u64) -> bool {
        let Some(request) = self.requests.get_mut(&id) else { return false };
        request.ticket = self.line.join(request.key, self.workload.line.0 as usize);
        if let Some(ticket) = request.ticket {
            self.waiting.insert(ticket, id);
        }
        request.ticket.is_some()
    }

    fn begin(&mut self, id: u64, choice: Choice, now: Time) {
        let Choice { candidate, selection, lease, sent_model, .. } = choice;
        let behaviour = self.faults.of(candidate.upstream, candidate.credential, now);
        let input = self.workload.input;
        let limit = self.router.health().first_response_limit(candidate.upstream, &sent_model, input, FIRST_RESPONSE);
        let (mut done, mut after, first) = outcome(behaviour, limit);
        let leaves = self.rng.random_bool(self.faults.leaving);
        if leaves {
            done = Completion::new(Class::ClientGone);
            after = after.mul_f64(self.rng.random_range(0.0..1.0));
        }
        let attempt = self.run.attempts.len();
        let upstream = candidate.upstream;
        self.run.attempts.push(Attempt { at: now, request: Some(id), upstream, selection, class: Class::Ok });
        if let Some(request) = self.requests.get_mut(&id) {
            if let Some(ticket) = request.ticket.take() {
                self.line.served(ticket);
                self.waiting.remove(&ticket);
            }
            request.attempts += 1;
            request.began = request.began.or(Some(now));
            let first = first.filter(|first| *first <= after).map(|first| now + first);
            let committed = first.is_some();
            request.first_output = request.first_output.or(first);
            request.held = Some(Held { candidate, lease, done, committed, attempt });
            if let Some(first) = first {
                self.at(first, Moment::Output(id, attempt));
            }
        }
        self.at(now + after, Moment::Result(id));
    }

    fn result(&mut self, id: u64, now: Time) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        let Some(Held { candidate, lease, done, committed, attempt }) = request.held.take() else { return };
        if let Some(attempt) = self.run.attempts.get_mut(attempt) {
            attempt.class = done.class;
        }
        request.last = Some((candidate.upstream, done));
        let again = request.tried.after(candidate, done.class, true) && !committed;
        if let Some(session) = request.session {
            if done.class == Class::Ok {
                self.affinity.set(self.pool.group, session, candidate.upstream, now);
            } else if meaning(done.class).hurts() {
                self.affinity.drop_from(self.pool.group, session, candidate.upstream);
            }
        }
        let effect = self.router.complete(id, candidate, lease, &done, now);
        self.turn(candidate.upstream, effect.transition, now);
        if again {
            self.advance(id, now);
        } else {
            self.end(id, None, now);
        }
        self.room(now);
    }

    /// Those who wait are asked in their order.
    fn room(&mut self, now: Time) {
        for ticket in self.line.order() {
            if let Some(id) = self.waiting.get(&ticket).copied() {
                self.advance(id, now);
            }
        }
    }

    fn end(&mut self, id: u64, refused: Option<Refused>, now: Time) {
        let Some(request) = self.requests.remove(&id) else { return };
        if let Some(ticket) = request.ticket {
            self.line.leave(ticket);
            self.waiting.remove(&ticket);
        }
        let waited = request.began.unwrap_or(now).since(request.arrived);
        self.run.ends.push(End {
            arrived: request.arrived,
            at: now,
            first_output: request.first_output,
            attempts: request.attempts,
            class: request.last.as_ref().map(|(_, done)| done.class),
            refused,
            upstream: request.last.map(|(upstream, _)| upstream),
            waited,
        });
    }

    /// Probes what is due, as the gateway does.
    fn look(&mut self, now: Time) {
        for due in self.router.health().due_probes(now) {
            let Some(member) = self.pool.members.iter().find(|m| m.upstream == due.upstream && m.upstream_enabled)
            else {
                continue;
            };
            let Some(claim) = self.router.claim_probe(member, now) else { continue };
            let (done, after) = match self.faults.of(due.upstream, claim.credential, now) {
                Behaviour::Answers { first, whole } => (Completion::ok(None), first.max(PROBE.min(whole))),
                Behaviour::Fails { class, after, retry_after } => {
                    (Completion { retry_after, ..Completion::new(class) }, after.min(Duration::from_secs(30)))
                }
                Behaviour::Breaks { class, after } => (Completion::new(class), after),
            };
            self.numbers += 1;
            let (number, attempt, upstream) = (self.numbers, self.run.attempts.len(), due.upstream);
            let selection = Selection::RecoveryTrial;
            self.run.attempts.push(Attempt { at: now, request: None, upstream, selection, class: Class::Ok });
            self.probes.insert(number, Probe { upstream, lease: claim.lease, done, attempt });
            self.at(now + after, Moment::ProbeResult(number));
        }
        if !self.requests.is_empty() || now < self.workload.end() {
            let next = self.router.health().next_probe_at(now).map_or(LOOK, |at| now.until(at));
            self.at(now + next.clamp(Duration::from_millis(20), LOOK), Moment::Look);
        }
    }

    fn probed(&mut self, number: u64, now: Time) {
        let Some(Probe { upstream, lease, done, attempt }) = self.probes.remove(&number) else { return };
        if let Some(attempt) = self.run.attempts.get_mut(attempt) {
            attempt.class = done.class;
        }
        let effect = self.router.complete_probe(lease, &done, now);
        self.turn(upstream, effect.transition, now);
        self.room(now);
    }

    fn turn(&mut self, upstream: UpstreamId, transition: Option<Transition>, now: Time) {
        if let Some(transition) = transition {
            self.run.turns.push(Turn { at: now, upstream, transition });
        }
    }
}

enum Again {
    Now,
    Later,
}

/// The result of an attempt, when it is known, and when its first output comes.
pub(crate) fn outcome(behaviour: Behaviour, limit: Duration) -> (Completion, Duration, Option<Duration>) {
    match behaviour {
        Behaviour::Answers { first, .. } if first > limit => {
            let slow = Completion { tripped: limit >= FIRST_RESPONSE, ..Completion::new(Class::SlowFirst) };
            (slow, limit, None)
        }
        Behaviour::Answers { first, whole } => (Completion::ok(Some(first)), whole, Some(first)),
        Behaviour::Fails { class, after, retry_after } => {
            (Completion { retry_after, ..Completion::new(class) }, after, None)
        }
        Behaviour::Breaks { class, after } => (Completion::new(class), after, Some(after / 2)),
    }
}
