//! Recorded traffic through another configuration.

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::{Class, GroupId, KeyId, Protocol, Strategy, UpstreamId, UpstreamKind, Usage};
use headgate_routing::{Features, Pool, PoolMember, Rates, Time};
use headgate_simulation::replay::{Asked, Basis, Figures, FirstOutput, Replay, Seen, Tariff, World};
use rust_decimal::Decimal;

const G: GroupId = GroupId(1);
const TOOK: (Duration, Duration) = (Duration::from_millis(400), Duration::from_secs(2));

/// Three for a million tokens of input, three tenths where they were cached, fifteen of output; USD.
struct List;

impl Tariff for List {
    fn rates(&self, _: UpstreamId, model: &str, _: u64) -> Option<Rates> {
        let rates = Rates {
            currency: *b"USD\0\0\0\0\0",
            input: 3.0,
            output: 15.0,
            read: Some(0.3),
            write: Some(3.75),
            request: 0.0,
        };
        (model != "unlisted").then_some(rates)
    }

    fn cost(&self, _: UpstreamId, model: &str, usage: &Usage) -> Option<(String, Decimal)> {
        let part =
            |count: Option<u64>, price: Decimal| Decimal::from(count.unwrap_or(0)) * price / Decimal::from(1_000_000);
        let sum = part(usage.fresh, Decimal::from(3))
            + part(usage.read, Decimal::new(3, 1))
            + part(usage.output, Decimal::from(15));
        (model != "unlisted").then(|| ("USD".to_owned(), sum))
    }
}

fn member(id: i64, priority: i32, multiplier: Option<i64>) -> PoolMember {
    let multiplier = multiplier.map(|tenths| Decimal::new(tenths, 1));
    PoolMember { priority, multiplier, ..PoolMember::new(UpstreamId(id), UpstreamKind::Passthrough) }
}

fn world(strategy: Strategy, members: Vec<PoolMember>) -> World {
    let pool = Pool { strategy, members, ..Pool::new(G) };
    World { pools: BTreeMap::from([(G, pool)]), affinity: Some((1000, Duration::from_secs(3600))), ..World::default() }
}

/// A request every ten seconds, answered by the first upstream.
fn traffic(count: u64) -> (Vec<Asked>, Vec<Seen>) {
    let asked = |n: u64| Asked {
        at: Time::secs(3600 + n * 10),
        group: G,
        key: KeyId(1),
        protocol: Protocol::Chat,
        model: "m".to_owned(),
        stream: true,
        features: Features::NONE,
        input: 10_000,
        region: None,
        session: Some(1),
        usage: Usage { fresh: Some(1000), read: Some(9000), output: Some(100), ..Usage::default() },
        upstream: Some(UpstreamId(1)),
        took: TOOK,
    };
    let asked: Vec<_> = (0..count).map(asked).collect();
    let seen = asked.iter().map(|a| seen(a.at, 1, Class::Ok)).collect();
    (asked, seen)
}

fn seen(at: Time, upstream: i64, class: Class) -> Seen {
    Seen { at, upstream: UpstreamId(upstream), class, broke_off: false, took: TOOK }
}

fn replay(world: &World, asked: &[Asked], seen: Vec<Seen>) -> Figures {
    Replay::new(1, world, &List, asked, seen).run()
}

#[test]
fn the_configuration_of_the_time_gives_what_happened() {
    let (asked, seen) = traffic(100);
    let figures = replay(&world(Strategy::P2c, vec![member(1, 1, Some(10)), member(2, 2, Some(5))]), &asked, seen);
    assert_eq!((figures.requests, figures.direct, figures.failures(), figures.moved), (100, 100, 0, 0));
    assert_eq!(figures.basis, BTreeMap::from([(Basis::Near, 100)]));
    assert_eq!(figures.first_output_ms, Some(FirstOutput { median: 400, p95: 400 }));
    let usd = &figures.cost["USD"];
    // 1,000 fresh, 9,000 cached and 100 of output, a hundred times.
    assert_eq!((usd.list, usd.charged), (Decimal::new(72, 2), Decimal::new(72, 2)));
}

#[test]
fn an_upstream_that_would_come_first_takes_the_traffic_with_a_cold_cache_and_is_assumed_to_answer() {
    let (asked, seen) = traffic(10);
    let figures = replay(&world(Strategy::P2c, vec![member(2, 1, Some(5)), member(1, 2, Some(10))]), &asked, seen);
    assert_eq!((figures.moved, figures.basis.get(&Basis::Assumed)), (10, Some(&10)));
    let usd = &figures.cost["USD"];
    // The session's first prompt was in no cache there.
    let cold = Decimal::new(72, 3) + Decimal::from(9000) * Decimal::new(27, 1) / Decimal::from(1_000_000);
    assert_eq!((usd.list, usd.charged), (cold, cold / Decimal::TWO));
}

#[test]
fn failures_are_met_where_and_when_they_were() {
    let (asked, mut all) = traffic(100);
    // The second upstream was asked beside it, and failed all through the second half.
    for (n, one) in asked.iter().enumerate() {
        all.push(seen(one.at, 2, if n >= 50 { Class::Server } else { Class::Ok }));
    }
    let second_first = world(Strategy::P2c, vec![member(2, 1, None), member(1, 2, None)]);
    let figures = replay(&second_first, &asked, all.clone());
    assert_eq!(figures.failures(), 0);
    assert!(figures.after_failover >= 1, "{figures:?}");
    let second = &figures.upstreams[&UpstreamId(2)];
    assert!((45..=55).contains(&second.served) && second.failed >= 1, "{second:?}");
    assert!(second.failed < 20, "its breaker opens: {second:?}");
    assert_eq!(figures.multiplier_unknown, 100);
    // With nobody behind it clients see it.
    let alone = replay(&world(Strategy::P2c, vec![member(2, 1, None)]), &asked, all);
    assert!((40..=55).contains(&alone.failures()), "{alone:?}");
}

#[test]
fn the_cheapest_is_found_and_what_has_no_price_is_counted() {
    let (mut asked, seen) = traffic(20);
    let two = || vec![member(1, 1, Some(10)), member(2, 1, Some(4))];
    let figures = replay(&world(Strategy::Cheapest, two()), &asked, seen.clone());
    assert_eq!(figures.upstreams[&UpstreamId(2)].served, 20);
    for one in &mut asked {
        one.model = "unlisted".to_owned();
    }
    let figures = replay(&world(Strategy::Cheapest, two()), &asked, seen);
    assert_eq!((figures.unpriced, figures.cost.len()), (20, 0));
    assert_eq!(figures.upstreams[&UpstreamId(2)].served, 20, "the multipliers decide");
}

#[test]
fn a_full_upstream_is_waited_for_and_a_group_that_is_gone_fails() {
    let (mut asked, seen) = traffic(4);
    for one in &mut asked {
        one.at = Time::secs(3600);
    }
    let mut one = member(1, 1, None);
    one.limits.concurrency = Some(1);
    let figures = replay(&world(Strategy::P2c, vec![one]), &asked, seen.clone());
    assert_eq!(figures.direct, 4);
    let FirstOutput { median, p95 } = figures.first_output_ms.unwrap();
    assert!(median >= 400 && p95 >= 4000, "one after the other: {median} {p95}");
    let figures = replay(&World::default(), &asked, seen);
    assert_eq!(figures.failed, BTreeMap::from([("no_group".to_owned(), 4)]));
}

#[test]
fn the_same_traffic_gives_the_same_figures() {
    let (asked, seen) = traffic(50);
    let world = world(Strategy::P2c, vec![member(1, 1, Some(10)), member(2, 1, Some(5))]);
    assert_eq!(replay(&world, &asked, seen.clone()), replay(&world, &asked, seen));
}
