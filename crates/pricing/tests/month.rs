//! A month with upstreams that bill honestly, if noisily, and with some that do not: how often is each noticed, by
//! counters alone and charge by charge? Virtual time, seeded. `cargo test -p headgate-pricing --test month -- --nocapture` prints the rates.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::Usage;
use headgate_pricing::{
    Currency,
    by_hand::ByHand,
    compare::{
        Comparison, Reason, Scope, Snapshot, Status, Use, Window,
        charges::{Charge, Difference, Request, match_up},
        compare,
    },
    schedule::Multiplier,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use rust_decimal::Decimal;

/// What an upstream does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Conduct {
    Honest,
    /// States list prices 40 % above the real ones.
    InflatedList,
    /// Charges by a multiplier a quarter above the one it states.
    WrongMultiplier,
    /// Reports 60 % more tokens than there were.
    InflatedTokens,
    /// Charges cached tokens like fresh ones.
    CachedAsFresh,
    /// Honest, with counters of the whole account, which others use as much as we do.
    Shared,
    /// Charges by a multiplier 6 % above the one it states: less than counters and rounding may explain.
    Skimming,
}

fn usd(millionths: f64) -> Decimal {
    #[expect(clippy::cast_possible_truncation, reason = "small amounts")]
    Decimal::new(millionths as i64, 6)
}

struct Month {
    snapshots: Vec<Snapshot>,
    uses: Vec<Use>,
}

/// Three to forty requests an hour by day, few by night; snapshots every ten minutes, some of which fail; counters
/// that lag, now and then a reset, a top-up, an answer without usage and a model without price.
fn month(conduct: Conduct, seed: u64, begin: DateTime<Utc>) -> Month {
    let rng = &mut StdRng::seed_from_u64(seed);
    let mut events: Vec<(DateTime<Utc>, f64, Use)> = Vec::new();
    let mut now = begin;
    while now < begin + TimeDelta::days(30) {
        let day = (8..20).contains(&((now - begin).num_hours() % 24));
        now += TimeDelta::seconds(rng.random_range(if day { 30..300 } else { 600..7200 }));
        let (fresh, read, output) =
            (rng.random_range(200.0..4000.0), rng.random_range(0.0..60_000.0), rng.random_range(50.0..3000.0));
        // Dollars per million: 3, 0.3 and 15.
        let list: f64 = fresh * 3.0 + read * 0.3 + output * 15.0;
        let reported = if conduct == Conduct::InflatedTokens { list * 1.6 } else { list };
        let stated = match conduct {
            Conduct::InflatedList => list * 1.4,
            Conduct::CachedAsFresh => fresh * 3.0 + read * 3.0 + output * 15.0,
            _ => reported,
        };
        // Our own count is an estimate by length, off by up to a fifth; its bound allows for a third.
        let counted = list * rng.random_range(0.8..1.2) * 4.0 / 3.0;
        let known = rng.random_bool(0.97);
        let one = Use {
            at: now,
            list: known.then(|| usd(reported)),
            complete: known,
            observed_at_most: rng.random_bool(0.8).then(|| usd(counted)),
        };
        events.push((now + TimeDelta::seconds(rng.random_range(0..45)), stated, one));
    }
    let charge = match conduct {
        Conduct::WrongMultiplier => 0.25,
        Conduct::Skimming => 0.212,
        _ => 0.2,
    };
    let users = if conduct == Conduct::Shared { 2 } else { 1 };
    let counters = if conduct == Conduct::Shared { Scope::Account } else { Scope::Key };
    let (mut list, mut charged, mut requests, mut remaining) = (0.0, 0.0, 0, 50_000_000.0);
    let mut snapshots = Vec::new();
    let mut waiting = events.iter().peekable();
    let mut at = begin;
    while at < begin + TimeDelta::days(30) {
        at += TimeDelta::seconds(rng.random_range(590..610));
        while let Some((_, stated, _)) = waiting.next_if(|(settled, _, _)| *settled <= at) {
            for _ in 0..users {
                list += stated;
                charged += stated * charge * rng.random_range(0.99..1.01);
                remaining -= stated * charge;
                requests += 1;
            }
        }
        if rng.random_bool(0.0005) {
            (list, charged, requests) = (0.0, 0.0, 0);
        }
        if rng.random_bool(0.001) {
            remaining += 20_000_000.0;
        }
        if rng.random_bool(0.9) {
            snapshots.push(Snapshot {
                at,
                key: 1,
                currency: Currency::USD,
                list: Some(usd(list)),
                charged: Some(usd(charged)),
                requests: Some(requests),
                remaining: Some(usd(remaining)),
                multiplier: Some(Multiplier::flat(Decimal::new(2, 1))),
                counters,
                balance: Scope::Account,
            });
        }
    }
    Month { snapshots, uses: events.into_iter().map(|(_, _, one)| one).collect() }
}

/// Every day of the month, judged at its end.
fn days(conduct: Conduct, seed: u64) -> Vec<Comparison> {
    let begin: DateTime<Utc> = "2026-06-01T00:00:00Z".parse().unwrap();
    let Month { snapshots, uses } = month(conduct, seed, begin);
    (1..30)
        .map(|day| {
            let from = begin + TimeDelta::days(day);
            compare(Window { from, to: from + TimeDelta::days(1) }, &snapshots, &uses, &ByHand::default())
        })
        .collect()
}

fn rates(conduct: Conduct) -> (f64, f64, Vec<Reason>) {
    let all: Vec<Comparison> = (0..8).flat_map(|seed| days(conduct, seed)).collect();
    let of = |status| {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred days")]
        let share = all.iter().filter(|c| c.status == status).count() as f64 / all.len() as f64;
        share
    };
    let mut reasons: Vec<Reason> = all.iter().filter(|c| c.status == Status::Warning).map(|c| c.reason).collect();
    reasons.dedup();
    let (warned, unsure) = (of(Status::Warning), of(Status::CannotTell));
    println!("{conduct:?}: warned on {:.1} % of days, could not tell on {:.1} %", warned * 100.0, unsure * 100.0);
    (warned, unsure, reasons)
}

#[test]
fn an_honest_upstream_is_hardly_ever_accused() {
    let (warned, unsure, _) = rates(Conduct::Honest);
    assert!(warned <= 0.01, "{warned}");
    assert!(unsure <= 0.05, "{unsure}");
}

#[test]
fn what_others_used_on_the_account_is_no_accusation() {
    let (warned, unsure, _) = rates(Conduct::Shared);
    assert!(warned <= 0.01 && unsure >= 0.9, "{warned} {unsure}");
}

#[test]
fn less_than_noise_explains_goes_unnoticed() {
    // The price of not accusing anybody wrongly; stated here so that nobody believes otherwise.
    let (warned, _, _) = rates(Conduct::Skimming);
    assert!(warned <= 0.01, "{warned}");
}

#[test]
fn a_dishonest_one_is_noticed_on_the_same_day() {
    for (conduct, reason) in [
        (Conduct::InflatedList, Reason::ListExceeded),
        (Conduct::WrongMultiplier, Reason::ChargedExceeded),
        (Conduct::InflatedTokens, Reason::TokensExceeded),
        (Conduct::CachedAsFresh, Reason::ListExceeded),
    ] {
        let (warned, _, reasons) = rates(conduct);
        assert!(warned >= 0.95, "{conduct:?}: {warned}");
        assert!(reasons.iter().all(|r| *r == reason), "{conduct:?}: {reasons:?}");
    }
}

/// A month charge by charge: the upstream lists each, seconds later and rounded to its unit; a hundredth of ours is not
/// listed, now and then an answer broke off without usage, and every tenth charge is somebody else's.
fn listed(conduct: Conduct, seed: u64) -> (Vec<Charge>, Vec<Request>) {
    let rng = &mut StdRng::seed_from_u64(seed);
    let begin: DateTime<Utc> = "2026-06-01T00:00:00Z".parse().unwrap();
    let (mut charges, mut requests) = (Vec::new(), Vec::new());
    let mut now = begin;
    while now < begin + TimeDelta::days(30) {
        now += TimeDelta::milliseconds(rng.random_range(5_000..600_000));
        let (fresh, output) = (rng.random_range(200..4000), rng.random_range(50..3000));
        let read = if rng.random_bool(0.7) { rng.random_range(1000..60_000) } else { 0 };
        let usage = |fresh, read, output| Usage {
            fresh: Some(fresh),
            read: Some(read),
            output: Some(output),
            ..Usage::default()
        };
        let price = |u: Usage| {
            let tokens = |n: Option<u64>| Decimal::from(n.unwrap_or(0));
            (tokens(u.fresh) * Decimal::from(3)
                + tokens(u.read) * Decimal::new(3, 1)
                + tokens(u.output) * Decimal::from(15))
                / Decimal::from(1_000_000)
        };
        let answered = usage(fresh, read, output);
        let billed = match conduct {
            Conduct::InflatedTokens => usage(fresh * 8 / 5, read * 8 / 5, output * 8 / 5),
            Conduct::CachedAsFresh => usage(fresh + read, 0, output),
            _ => answered,
        };
        let mut list = price(billed);
        if conduct == Conduct::InflatedList {
            list *= Decimal::new(14, 1);
        }
        let applied = match conduct {
            Conduct::WrongMultiplier => Decimal::new(25, 2),
            Conduct::Skimming => Decimal::new(212, 3),
            _ => Decimal::new(2, 1),
        };
        let unit = Decimal::from(500_000);
        let charged = (list * applied * unit).ceil() / unit;
        let charge = |at: DateTime<Utc>, model: &str| Charge {
            id: format!("{}-{model}", at.timestamp_millis()),
            at: DateTime::from_timestamp(at.timestamp(), 0).unwrap(),
            model: model.to_owned(),
            request_id: None,
            key: None,
            usage: billed,
            list: Some(charged / applied),
            charged,
            multiplier: Some(applied),
        };
        let late = now + TimeDelta::seconds(rng.random_range(0..20));
        if rng.random_bool(0.99) {
            charges.push(charge(late, "m"));
        }
        if rng.random_bool(0.1) {
            charges.push(charge(late + TimeDelta::seconds(30), "another"));
        }
        let known = rng.random_bool(0.97);
        requests.push(Request {
            id: requests.len().to_string(),
            attempt: 1,
            began: now - TimeDelta::seconds(20),
            ended: now,
            model: "vendor/m".to_owned(),
            upstream_request_id: None,
            usage: if known { answered } else { Usage::default() },
            list: known.then(|| price(answered)),
            complete: known,
            price_entry: None,
            price_version: None,
            multiplier: Some(Decimal::new(2, 1)),
        });
    }
    (charges, requests)
}

#[test]
fn charge_by_charge_each_dishonesty_is_named_and_an_honest_upstream_hardly_ever_accused() {
    #[expect(clippy::cast_precision_loss, reason = "some ten thousand charges")]
    let share = |part: usize, whole: usize| part as f64 / whole as f64;
    for (conduct, expected) in [
        (Conduct::Honest, None),
        (Conduct::InflatedList, Some(Difference::ListExceeded)),
        (Conduct::WrongMultiplier, Some(Difference::MultiplierExceeded)),
        // What sums explain by noise, single charges show.
        (Conduct::Skimming, Some(Difference::MultiplierExceeded)),
        (Conduct::InflatedTokens, Some(Difference::TokensExceeded)),
        (Conduct::CachedAsFresh, Some(Difference::CachedAsFresh)),
    ] {
        let (mut ours, mut couples, mut named, mut misnamed, mut elsewhere, mut others) = (0, 0, 0, 0, 0, 0);
        for seed in 0..4 {
            let (charges, requests) = listed(conduct, seed);
            let found = match_up(&charges, &requests);
            ours += charges.iter().filter(|c| c.model == "m").count();
            others += charges.iter().filter(|c| c.model != "m").count();
            elsewhere += found.theirs.iter().filter(|at| charges[**at].model != "m").count();
            couples += found.couples.len();
            for couple in &found.couples {
                let of = |one: &Difference| expected == Some(*one);
                named += usize::from(couple.differences.iter().any(of));
                misnamed += usize::from(couple.differences.iter().any(|one| !of(one)));
            }
        }
        println!(
            "{conduct:?}, charge by charge: {:.2} % of charges matched, {:.2} % named as expected, {:.2} % as something else, {:.1} % of others' left to them",
            share(couples, ours) * 100.0,
            share(named, couples) * 100.0,
            share(misnamed, couples) * 100.0,
            share(elsewhere, others) * 100.0
        );
        assert!(share(couples, ours) >= 0.99, "{conduct:?}");
        assert!(share(misnamed, couples) <= 0.01, "{conduct:?}");
        assert_eq!(elsewhere, others, "{conduct:?}: somebody else's charge was taken for ours");
        // What never read from a cache cannot be charged as fresh; without usage nothing can be told.
        let least = if conduct == Conduct::CachedAsFresh { 0.6 } else { 0.9 };
        assert!(expected.is_none() || share(named, couples) >= least, "{conduct:?}");
    }
}
