//! Who is drawn within a tier.

use headgate_domain::{Class, CredentialId, KeyId};
use rust_decimal::Decimal;

use super::*;
use crate::{Choice, Completion, Policy, PoolCredential, Tried, test_support::*};

const NOW: Time = Time::secs(10);

struct Bench {
    health: Health,
    pool: Pool,
    rng: rand::rngs::StdRng,
}

impl Bench {
    fn new(strategy: Strategy, members: usize) -> Self {
        let pool = Pool { strategy, ..pool(&vec![1; members]) };
        Self { health: Health::new(Policy::default()), pool, rng: rng(3) }
    }

    fn claim(&mut self) -> Choice {
        let need = Need { key: Some(KeyId(1)), ..need() };
        self.health.decide(&self.pool, &need, &Tried::new(), NOW, &mut self.rng).unwrap()
    }

    /// One attempt; the number of the member that got it.
    fn attempt(&mut self, done: &Completion) -> i64 {
        let choice = self.claim();
        self.health.complete(choice.lease, done, NOW, &mut self.rng);
        choice.candidate.upstream.0
    }

    fn order(&mut self, count: usize) -> Vec<i64> {
        (0..count).map(|_| self.attempt(&Completion::ok(None))).collect()
    }

    /// Gives a member a measured latency.
    fn measure(&mut self, id: i64, ms: u64) {
        let all = std::mem::take(&mut self.pool.members);
        self.pool.members = vec![member(id, 1)];
        self.attempt(&Completion::ok(Some(Duration::from_millis(ms))));
        self.pool.members = all;
    }

    fn share(&mut self, id: i64) -> f64 {
        f64::from(u32::try_from(self.order(2000).into_iter().filter(|got| *got == id).count()).unwrap()) / 2000.0
    }
}

#[test]
fn two_choices_prefer_the_faster_and_still_try_the_slower() {
    let mut b = Bench::new(Strategy::P2c, 2);
    b.measure(1, 100);
    b.measure(2, 1000);
    let share = b.share(2);
    assert!((0.2..0.3).contains(&share), "both draws fall on the slower one a quarter of the time: {share}");
}

#[test]
fn two_choices_prefer_the_one_with_fewer_requests_under_way() {
    let mut b = Bench::new(Strategy::P2c, 2);
    let held: Vec<_> = (0..40).map(|_| b.claim()).collect();
    let first = held.iter().filter(|c| c.candidate.upstream == UpstreamId(1)).count();
    assert!((15..=25).contains(&first), "{first}");
    for choice in held {
        b.health.release(choice.lease, NOW);
    }
    assert_eq!((b.health.in_flight(UpstreamId(1)), b.health.in_flight(UpstreamId(2))), (0, 0));
}

#[test]
fn an_upstream_without_a_latency_counts_as_the_tiers_upper_median() {
    let mut b = Bench::new(Strategy::P2c, 3);
    b.measure(1, 100);
    b.measure(2, 1000);
    let verdicts = b.health.survey(&b.pool, &need(), &Tried::new(), NOW);
    let typical = b.health.typical_latency(&b.pool, &verdicts, &[0, 1, 2], NOW);
    assert!((typical - 1000.0).abs() < 1e-6);
    assert!((b.health.latency(UpstreamId(3), "m", typical, NOW) - 1000.0).abs() < 1e-6);
    // A model without its own figure takes the upstream's.
    assert!((b.health.latency(UpstreamId(1), "other", typical, NOW) - 100.0).abs() < 1e-6);
    // Nobody known: 1.
    let fresh = Bench::new(Strategy::P2c, 2);
    let verdicts = fresh.health.survey(&fresh.pool, &need(), &Tried::new(), NOW);
    assert!((fresh.health.typical_latency(&fresh.pool, &verdicts, &[0, 1], NOW) - 1.0).abs() < 1e-6);
}

#[test]
fn an_old_latency_gives_way_to_what_is_typical() {
    let mut b = Bench::new(Strategy::P2c, 2);
    b.measure(1, 5000);
    let at = |s| b.health.latency(UpstreamId(1), "m", 100.0, Time::secs(s));
    assert!((at(10) - 5000.0).abs() < 1.0);
    assert!(at(610) < 4000.0 && at(610) > 100.0);
    assert!((at(100_000) - 100.0).abs() < 1.0);
}

#[test]
fn smooth_weighted_spreads_turns_by_weight() {
    let mut b = Bench::new(Strategy::SmoothWeighted, 3);
    for (m, weight) in b.pool.members.iter_mut().zip([5, 1, 1]) {
        m.weight = weight;
    }
    assert_eq!(b.order(14), [1, 1, 2, 1, 3, 1, 1, 1, 1, 2, 1, 3, 1, 1]);
}

#[test]
fn balanced_weighs_price_latency_quality_and_load() {
    let fresh = || {
        let mut b = Bench::new(Strategy::Balanced, 2);
        b.measure(1, 500);
        b.measure(2, 500);
        b
    };
    let mut b = fresh();
    b.pool.members[0].multiplier = Some(Decimal::TWO);
    b.pool.members[1].multiplier = Some(Decimal::ONE);
    assert_eq!(b.order(1), [2], "the cheaper one");
    let mut b = fresh();
    b.measure(1, 900);
    assert_eq!(b.order(1), [2], "the faster one");
    let mut b = fresh();
    b.pool.members.remove(1);
    b.attempt(&Completion::new(Class::Server));
    b.pool.members.push(member(2, 1));
    assert_eq!(b.order(1), [2], "the better one");
    let mut b = fresh();
    for m in &mut b.pool.members {
        m.limits.rpm = Some(10);
    }
    assert_eq!(b.order(4), [1, 2, 1, 2], "the emptier one");
}

#[test]
fn spread_takes_what_this_key_has_used_least() {
    let mut b = Bench::new(Strategy::Spread, 3);
    let mut first = b.order(3);
    first.sort_unstable();
    assert_eq!(first, [1, 2, 3]);
    let order = b.order(30);
    for id in 1..=3 {
        let times = order.iter().filter(|got| **got == id).count();
        assert!((9..=11).contains(&times), "{order:?}");
    }
}

#[test]
fn spread_counts_upstream_and_credential_together() {
    let mut b = Bench::new(Strategy::Spread, 2);
    b.pool.members[0].credentials = (1..=3).map(|n| PoolCredential { id: CredentialId(n), missing: false }).collect();
    b.pool.members[1].credentials = vec![PoolCredential { id: CredentialId(9), missing: false }];
    let order = b.order(40);
    let times = order.iter().filter(|got| **got == 1).count();
    assert!((26..=34).contains(&times), "three of four combinations: {times}");
}
