//! Who decides.

use headgate_routing::{
    Candidate, Completion, Decision, Effect, Health, Lease, Need, Policy, Pool, PoolMember, ProbeClaim, Time, Tried,
};
use rand::{SeedableRng as _, rngs::StdRng};

/// The decisions of a simulation: routing itself, or routing with somebody who checks it.
pub trait Router {
    /// The health of the upstreams.
    fn health(&self) -> &Health;

    /// Chooses and claims a candidate for a request.
    fn decide(&mut self, request: u64, pool: &Pool, need: &Need<'_>, tried: &Tried, now: Time) -> Decision;

    /// Notes the first output for a request.
    fn answered(&mut self, lease: &mut Lease);

    /// Takes the claim of a request back with its result.
    fn complete(&mut self, request: u64, candidate: Candidate, lease: Lease, done: &Completion, now: Time) -> Effect;

    /// Claims the trial of an upstream that is due for one.
    fn claim_probe(&mut self, member: &PoolMember, now: Time) -> Option<ProbeClaim>;

    /// Takes a probe's claim back.
    fn complete_probe(&mut self, lease: Lease, done: &Completion, now: Time) -> Effect;
}

/// Routing itself.
#[derive(Debug)]
pub struct Plain {
    health: Health,
    rng: StdRng,
}

impl Plain {
    /// Nothing known of any upstream.
    pub fn new(policy: Policy, seed: u64) -> Self {
        Self { health: Health::new(policy), rng: StdRng::seed_from_u64(seed) }
    }
}

impl Router for Plain {
    fn health(&self) -> &Health {
        &self.health
    }

    fn decide(&mut self, _: u64, pool: &Pool, need: &Need<'_>, tried: &Tried, now: Time) -> Decision {
        self.health.decide(pool, need, tried, now, &mut self.rng)
    }

    fn answered(&mut self, lease: &mut Lease) {
        self.health.answered(lease);
    }

    fn complete(&mut self, _: u64, _: Candidate, lease: Lease, done: &Completion, now: Time) -> Effect {
        self.health.complete(lease, done, now, &mut self.rng)
    }

    fn claim_probe(&mut self, member: &PoolMember, now: Time) -> Option<ProbeClaim> {
        self.health.claim_probe(member, now)
    }

    fn complete_probe(&mut self, lease: Lease, done: &Completion, now: Time) -> Effect {
        self.health.complete(lease, done, now, &mut self.rng)
    }
}
