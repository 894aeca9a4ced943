//! Who is drawn within a tier.

use headgate_domain::{Class, CredentialId, KeyId};
use rust_decimal::Decimal;

use super::*;
use crate::{Choice, Completion, Policy, PoolCredential, Rates, Reason, Tokens, Tried, test_support::*};

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

/// A pool of `cheapest` whose members have these multipliers, and list prices of 3 and 15 for a million tokens.
fn thrifty(multipliers: &[i64]) -> Bench {
    let mut b = Bench::new(Strategy::Cheapest, multipliers.len());
    for (m, multiplier) in b.pool.members.iter_mut().zip(multipliers) {
        m.multiplier = Some(Decimal::new(*multiplier, 1));
    }
    b
}

const LISTED: Rates =
    Rates { currency: *b"USD\0\0\0\0\0", input: 3.0, output: 15.0, read: Some(0.3), write: Some(3.75), request: 0.0 };

impl Bench {
    fn explain(&self, need: &Need<'_>) -> crate::Explained {
        self.health.explain(&self.pool, need, &Tried::new(), NOW, &mut rng(1))
    }

    fn cheapest(&self, need: &Need<'_>) -> i64 {
        self.explain(need).candidate.unwrap().upstream.0
    }

    /// Answers of a member whose cache had to do with nine tenths of the prompt.
    fn caches(&mut self, id: i64, hits: usize) {
        let all = std::mem::take(&mut self.pool.members);
        self.pool.members = vec![member(id, 1)];
        for n in 0..=hits {
            let (read, written) = if n == 0 { (0, 9000) } else { (9000, 0) };
            let tokens = Tokens { input: 10_000, read, written, hour: false, output: 200 };
            self.attempt(&Completion { tokens: Some(tokens), ..Completion::ok(None) });
        }
        self.pool.members = all;
    }
}

#[test]
fn the_cheapest_is_asked_and_the_others_are_told_by_how_much_they_are_dearer() {
    let b = thrifty(&[15, 10, 12]);
    let need = Need { rates: &|_, _| Some(LISTED), ..need() };
    let explained = b.explain(&need);
    assert_eq!(explained.candidate.unwrap().upstream, UpstreamId(2));
    let reasons: Vec<_> = explained.reasons.iter().map(|r| r.reason).collect();
    assert_eq!(reasons, [Reason::Dearer { percent: 50 }, Reason::Chosen, Reason::Dearer { percent: 20 }]);
    // One request of 1,000 tokens and 250 of answer.
    let need = Need { estimated_input: 1000, ..need };
    let cost = b.explain(&need).forecasts[1].cost;
    assert!((cost - (1000.0 * 3.0 + 250.0 * 15.0) / 1e6).abs() < 1e-12, "{cost}");
}

#[test]
fn the_list_price_of_the_model_that_would_be_asked_for_counts() {
    let b = thrifty(&[10, 10]);
    let rates = |upstream, _: &str| Some(Rates { input: if upstream == UpstreamId(1) { 30.0 } else { 3.0 }, ..LISTED });
    assert_eq!(b.cheapest(&Need { rates: &rates, ..need() }), 2);
}

#[test]
fn without_prices_the_multipliers_decide_and_without_those_one_is_assumed() {
    let mut b = thrifty(&[12, 8, 9]);
    assert_eq!(b.cheapest(&need()), 2);
    b.pool.members[0].multiplier = None;
    b.pool.members[1].multiplier = Some(Decimal::new(11, 1));
    b.pool.members[2].multiplier = Some(Decimal::new(12, 1));
    assert_eq!(b.cheapest(&need()), 1);
    b.pool.members[2].credit_ratio = Some(Decimal::TWO);
    assert_eq!(b.cheapest(&need()), 3);
}

#[test]
fn a_member_priced_in_another_currency_is_compared_by_its_multiplier() {
    let b = thrifty(&[10, 11, 9]);
    let rates = |upstream, _: &str| {
        let foreign = Rates { currency: *b"CNY\0\0\0\0\0", input: 0.1, output: 0.1, ..LISTED };
        Some(if upstream == UpstreamId(2) { foreign } else { LISTED })
    };
    let need = Need { rates: &rates, ..need() };
    assert_eq!(b.cheapest(&need), 3);
    assert_eq!(b.explain(&need).forecasts.iter().map(|f| f.listed).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn within_a_percent_latency_decides() {
    let mut b = thrifty(&[100, 100, 200]);
    b.pool.members[1].multiplier = Some(Decimal::new(1009, 2));
    b.measure(1, 3000);
    b.measure(2, 100);
    b.measure(3, 1);
    assert!(b.share(2) > 0.6, "both draws fall on the slower one a quarter of the time");
    assert!(b.share(3) < f64::EPSILON);
}

#[test]
fn a_cache_makes_up_for_a_higher_multiplier_where_sessions_are_long() {
    let mut b = thrifty(&[15, 10]);
    b.caches(1, 20);
    let once = Need { rates: &|_, _| Some(LISTED), estimated_input: 10_000, ..need() };
    assert_eq!(b.cheapest(&once), 2, "one request only writes what nobody reads");
    assert_eq!(b.cheapest(&Need { pace: 12.0, ..once }), 1);
}

#[test]
fn a_session_stays_where_its_prompt_is_until_moving_pays() {
    let mut b = thrifty(&[12, 10]);
    b.caches(1, 20);
    b.caches(2, 20);
    let session = Need {
        rates: &|_, _| Some(LISTED),
        estimated_input: 10_000,
        affinity: Some(UpstreamId(1)),
        idle: Some(Duration::from_secs(20)),
        pace: 4.0,
        ..need()
    };
    let explained = b.explain(&session);
    assert_eq!(explained.selection, Some(headgate_domain::audit::Selection::Affinity));
    assert!(explained.forecasts[0].warm && !explained.forecasts[1].warm);
    assert_eq!(b.cheapest(&Need { idle: Some(Duration::from_secs(600)), ..session }), 2, "the entry has run out");
    b.pool.members[0].multiplier = Some(Decimal::from(3));
    assert_eq!(b.cheapest(&session), 2, "three times as dear");
}

#[test]
fn an_upstream_that_fails_every_other_time_costs_twice() {
    let mut b = thrifty(&[10, 15]);
    b.pool.members.truncate(1);
    for n in 0..24 {
        b.attempt(&if n % 2 == 0 { Completion::new(Class::Stalled) } else { Completion::ok(None) });
    }
    b.pool.members.push(PoolMember { multiplier: Some(Decimal::new(15, 1)), ..member(2, 1) });
    assert_eq!(b.cheapest(&need()), 2);
}

#[test]
fn a_lower_tier_is_cheaper_in_vain_unless_the_group_looks_across_tiers() {
    let mut b = thrifty(&[10, 1]);
    b.pool.members[1].priority = 9;
    assert_eq!(b.cheapest(&need()), 1);
    b.pool.across_tiers = true;
    assert_eq!(b.cheapest(&need()), 2);
    assert_eq!(b.explain(&need()).reasons[0].reason, Reason::Dearer { percent: 900 });
    b.pool.members[0].multiplier = Some(Decimal::new(1, 2));
    assert_eq!(b.cheapest(&need()), 1);
    assert_eq!(b.explain(&need()).reasons[1].reason, Reason::Dearer { percent: 900 });
}
