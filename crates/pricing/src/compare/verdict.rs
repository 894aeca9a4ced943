//! From pairs to a verdict.

use rust_decimal::Decimal;

use super::{
    Basis, BillingTrack, Comparison, Coverage, ListTrack, Reason, Scope, Skip, Snapshot, Status, Use, Window,
    pair::{Counted, Local, Pair, pairs},
};
use crate::{by_hand::ByHand, currency::Currency};

/// Amounts that are nothing.
const NOTHING: Decimal = Decimal::from_parts(1, 0, 0, false, 9);
/// The smallest deviation that is ever one.
const LEAST: Decimal = Decimal::from_parts(1, 0, 0, false, 2);
/// What a stated list price may be above ours: prices differ between lists.
const LIST_SHARE: Decimal = Decimal::from_parts(25, 0, 0, false, 2);
/// What a charge may be above list price × multiplier: counters lag and are rounded.
const BILLING_SHARE: Decimal = Decimal::from_parts(10, 0, 0, false, 2);
/// Fewer requests counted here say nothing about tokens.
const COUNTED_LEAST: u64 = 20;

/// Compares what an upstream said with our own traffic over a window. Snapshots in the order of time; the last one
/// before the window is needed for its left edge. What persons set goes before what the snapshots state.
pub fn compare(window: Window, snapshots: &[Snapshot], uses: &[Use], by_hand: &ByHand) -> Comparison {
    let mut skips = Vec::new();
    let snapshots: &[Snapshot] = &snapshots.iter().map(Snapshot::within_reason).collect::<Vec<_>>();
    let (used, currency, pairs) = counting(window, snapshots, uses, by_hand, &mut skips);
    let newest = snapshots.iter().filter(|s| s.at <= window.to).max_by_key(|s| s.at);
    let known = |s: &&Snapshot| s.at <= window.to && s.multiplier.is_some();
    let multiplier = snapshots.iter().filter(known).max_by_key(|s| s.at).and_then(|s| s.multiplier.as_ref());
    let widest = |of: fn(&Snapshot) -> Scope| {
        let account = snapshots.iter().any(|s| s.at <= window.to && of(s) == Scope::Account);
        if account || newest.is_none() { Scope::Account } else { Scope::Key }
    };
    let mut local = Local::default();
    for pair in &pairs {
        local.add(&pair.local);
    }
    let mut comparison = Comparison {
        status: Status::CannotTell,
        reason: Reason::NoSnapshots,
        window,
        currency,
        snapshots: used,
        pairs: pairs.len(),
        skipped: tally(skips),
        coverage: coverage(&local, &pairs, window),
        counters: widest(|s| s.counters),
        balance: widest(|s| s.balance),
        multiplier: by_hand.at(window.to).or_else(|| multiplier.map(|m| m.at(window.to))).or_else(|| by_hand.first()),
        multiplier_changed: pairs.iter().any(|p| p.changed),
        list: list_track(&pairs),
        billing: None,
        elsewhere: None,
    };
    if used < 2 {
        return comparison;
    }
    if pairs.is_empty() {
        comparison.reason = Reason::NoUsablePair;
        return comparison;
    }
    let billing = billing_track(&pairs);
    comparison.billing = billing.as_ref().ok().copied();
    comparison.elsewhere = elsewhere(&comparison, &pairs);
    (comparison.status, comparison.reason) = judge(&comparison, billing.err(), &local);
    comparison
}

/// The pairs that a comparison of a window is made of, the oldest first.
pub fn counted(window: Window, snapshots: &[Snapshot], uses: &[Use], by_hand: &ByHand) -> Vec<Counted> {
    let snapshots: Vec<Snapshot> = snapshots.iter().map(Snapshot::within_reason).collect();
    let (.., pairs) = counting(window, &snapshots, uses, by_hand, &mut Vec::new());
    pairs.iter().map(Counted::from).collect()
}

/// The number of snapshots of a window, their newest currency, and the pairs in it: amounts of two are never added.
fn counting(
    window: Window,
    snapshots: &[Snapshot],
    uses: &[Use],
    by_hand: &ByHand,
    skips: &mut Vec<Skip>,
) -> (usize, Currency, Vec<Pair>) {
    let mut uses = uses.to_vec();
    uses.sort_by_key(|one| one.at);
    let (used, mut pairs) = pairs(snapshots, &uses, window, by_hand, skips);
    let newest = snapshots.iter().filter(|s| s.at <= window.to).max_by_key(|s| s.at);
    let currency = newest.map_or_else(Default::default, |s| s.currency);
    pairs.retain(|pair| snapshots.iter().any(|s| s.at == pair.from && s.currency == currency));
    (used, currency, pairs)
}

/// What was spent at an upstream over a window, as far as its snapshots tell: what it charged, or else by how much the
/// balance fell. `None`: they do not tell.
pub fn spent(window: Window, snapshots: &[Snapshot]) -> Option<Decimal> {
    let snapshots: Vec<Snapshot> = snapshots.iter().map(Snapshot::within_reason).collect();
    let currency = snapshots.iter().filter(|s| s.at <= window.to).max_by_key(|s| s.at)?.currency;
    let (_, pairs) = pairs(&snapshots, &[], window, &ByHand::default(), &mut Vec::new());
    let of_currency = |pair: &&Pair| snapshots.iter().any(|s| s.at == pair.from && s.currency == currency);
    let amounts = pairs.iter().filter(of_currency).filter_map(|pair| pair.charged.or(pair.spent));
    amounts.fold(None, |sum, amount| Some(sum.unwrap_or_default() + amount))
}

fn judge(c: &Comparison, no_billing: Option<Reason>, local: &Local) -> (Status, Reason) {
    if local.counted_requests >= COUNTED_LEAST
        && local.counted - local.counted_at_most > LEAST.max(local.counted_at_most * BILLING_SHARE)
    {
        return (Status::Warning, Reason::TokensExceeded);
    }
    let list_exceeded = c.list.is_some_and(|t| t.rate > LIST_SHARE && t.deviation > t.tolerance);
    let list = || match (list_exceeded, c.elsewhere) {
        (false, _) => None,
        (true, Some(_)) => Some((Status::CannotTell, Reason::TrafficElsewhere)),
        (true, None) => Some((Status::Warning, Reason::ListExceeded)),
    };
    let Some(billing) = &c.billing else {
        let reason = no_billing.unwrap_or(Reason::NoUsablePair);
        return list().filter(|(status, _)| *status == Status::Warning).unwrap_or((Status::CannotTell, reason));
    };
    if billing.deviation > billing.tolerance {
        // A list price of one key says nothing about a balance that several keys use up.
        let other_keys = billing.charged_from == Basis::Balance
            && c.balance == Scope::Account
            && (billing.basis == Basis::Local || c.counters == Scope::Key);
        return match (billing.basis, other_keys) {
            (Basis::Reported, true) => (Status::CannotTell, Reason::TrafficElsewhere),
            (Basis::Reported, false) => (Status::Warning, Reason::ChargedExceeded),
            _ => (Status::Ok, Reason::ChargedExceededLocalBasis),
        };
    }
    if let Some(verdict) = list() {
        return verdict;
    }
    if billing.list <= NOTHING && billing.charged <= NOTHING && local.requests == 0 {
        return (Status::Ok, Reason::Idle);
    }
    let without_slack = LEAST.max(billing.expected * BILLING_SHARE);
    if c.multiplier_changed && billing.deviation > without_slack {
        return (Status::Ok, Reason::MultiplierChanged);
    }
    (Status::Ok, Reason::AsExpected)
}

fn list_track(pairs: &[Pair]) -> Option<ListTrack> {
    let mut local = Local::default();
    let mut reported = Decimal::ZERO;
    for pair in pairs {
        if let Some(list) = pair.list {
            reported += list;
            local.add(&pair.local);
        }
    }
    let estimate = local.estimate().filter(|e| *e > NOTHING && reported > NOTHING)?;
    let deviation = reported - estimate;
    Some(ListTrack {
        local: estimate,
        local_priced: local.priced,
        reported,
        deviation,
        rate: deviation / estimate.max(reported),
        tolerance: LEAST.max(local.uncertainty() + local.edge),
    })
}

/// # Errors
/// Which side is not there.
fn billing_track(pairs: &[Pair]) -> Result<BillingTrack, Reason> {
    // Only pairs that have both sides are added up, so that both sides are of the same time.
    let charged_from = if pairs.iter().any(|p| p.charged.is_some()) { Basis::Reported } else { Basis::Balance };
    let charged = |p: &Pair| if charged_from == Basis::Reported { p.charged } else { p.spent };
    let basis =
        if pairs.iter().any(|p| p.list.is_some() && charged(p).is_some()) { Basis::Reported } else { Basis::Local };
    if pairs.iter().all(|p| p.multiplier.is_none()) {
        return Err(Reason::MultiplierUnknown);
    }
    let [mut list, mut sum, mut expected, mut slack] = [Decimal::ZERO; 4];
    let (mut any, mut any_charged) = (false, false);
    let mut local = Local::default();
    for pair in pairs {
        let Some(amount) = charged(pair) else { continue };
        any_charged = true;
        let Some(multiplier) = pair.multiplier else { continue };
        let of_pair = match basis {
            Basis::Reported => pair.list,
            _ => pair.local.estimate(),
        };
        let Some(of_pair) = of_pair else { continue };
        any = true;
        local.add(&pair.local);
        list += of_pair;
        sum += amount;
        expected += of_pair * multiplier.value;
        slack += of_pair * (multiplier.high - multiplier.low) / Decimal::TWO;
        if basis == Basis::Local {
            slack += pair.local.uncertainty() * multiplier.high;
        }
    }
    if !any_charged {
        return Err(Reason::ChargedUnknown);
    }
    if !any || (basis == Basis::Local && list <= NOTHING && sum > NOTHING) {
        return Err(Reason::ListUnknown);
    }
    if basis == Basis::Local {
        let mean = if list > NOTHING { expected / list } else { Decimal::ONE };
        slack += local.edge * mean;
    }
    Ok(track(basis, list, charged_from, sum, expected, slack))
}

fn track(
    basis: Basis,
    list: Decimal,
    charged_from: Basis,
    charged: Decimal,
    expected: Decimal,
    slack: Decimal,
) -> BillingTrack {
    let deviation = charged - expected;
    BillingTrack {
        basis,
        list,
        charged_from,
        charged,
        expected,
        observed_multiplier: (list > NOTHING).then(|| charged / list),
        deviation,
        rate: (expected > NOTHING).then(|| deviation / expected),
        tolerance: LEAST.max(expected * BILLING_SHARE) + slack,
    }
}

/// Stated list price beyond our own traffic, where others may have used the key or account: the counters are the
/// account's, or they count more requests than were ours.
fn elsewhere(c: &Comparison, pairs: &[Pair]) -> Option<Decimal> {
    let list = c.list?;
    let stated: Vec<(u64, u64)> = pairs.iter().filter_map(|p| Some((p.requests?, p.local.requests))).collect();
    let (theirs, ours) = stated.iter().fold((0, 0), |(a, b), (x, y)| (a + x, b + y));
    // A few may fall on the other side of an edge.
    let more_requests = theirs > ours + 2 + ours / 50;
    let rest = list.deviation - list.tolerance;
    (rest > NOTHING && (c.counters == Scope::Account || more_requests)).then_some(list.deviation)
}

fn coverage(local: &Local, pairs: &[Pair], window: Window) -> Coverage {
    let share =
        |part: i64, whole: i64| if whole <= 0 { Decimal::ONE } else { Decimal::from(part) / Decimal::from(whole) };
    let inside = |p: &Pair| (p.to.min(window.to) - p.from.max(window.from)).num_seconds().max(0);
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    Coverage {
        requests: local.requests,
        priced: local.complete,
        share: share(count(local.complete), count(local.requests)).round_dp(4),
        time: share(pairs.iter().map(inside).sum(), (window.to - window.from).num_seconds()).round_dp(4),
    }
}

fn tally(mut skips: Vec<Skip>) -> Vec<(Skip, usize)> {
    skips.sort_unstable();
    let mut all: Vec<(Skip, usize)> = Vec::new();
    for skip in skips {
        match all.last_mut() {
            Some((last, n)) if *last == skip => *n += 1,
            _ => all.push((skip, 1)),
        }
    }
    all
}
