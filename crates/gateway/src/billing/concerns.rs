//! What about upstreams' money needs a person: found by one function, for the overview and for alerts alike, and told
//! once, by one of several processes.

use std::{collections::BTreeSet, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{
    AlertEvent, Concern, GroupId, Upstream, UpstreamId,
    upstream::{Billing as Configured, BillingKind},
};
use headgate_pricing::compare::Status;
use headgate_routing::{Subject, Turn, Withheld};
use headgate_store::{
    Database,
    billing::{BillingRow, BillingStatus, ToldConcerns},
};
use rust_decimal::Decimal;

use super::{
    standing::{STALE, current},
    withheld::withheld,
};
use crate::{alerts::Signal, shared::Shared, snapshot::Snapshot};

/// How long a changed multiplier is shown.
const CHANGED: TimeDelta = TimeDelta::hours(24);
/// Failures shorter than this concern nobody.
const FAILING: TimeDelta = TimeDelta::minutes(30);
/// A balance that was low is enough again at so many times the line: one that hovers about it is told once.
const ENOUGH: Decimal = Decimal::from_parts(15, 0, 0, false, 1);

/// What holds of an upstream. `None`: that cannot be told by this process, which has another key or has not asked yet.
pub fn concerns(
    snapshot: &Snapshot,
    upstream: &Upstream,
    row: &BillingRow,
    pepper: &[u8; 32],
    now: DateTime<Utc>,
) -> Option<BTreeSet<Concern>> {
    if !upstream.spec.enabled {
        return Some(BTreeSet::new());
    }
    let mut found: BTreeSet<Concern> =
        over_caps(snapshot, upstream).map(|(group, _)| Concern::OverCap { group }).collect();
    if upstream.spec.billing.kind != BillingKind::None {
        let status = current(row, upstream, snapshot.upstreams.get(&upstream.id)?, pepper)?;
        found.extend(of_status(status, &upstream.spec.billing, &row.told.concerns, now));
    }
    Some(found)
}

/// The groups that do not use an upstream because it costs more than they allow, with what they allow.
pub fn over_caps<'a>(
    snapshot: &'a Snapshot,
    upstream: &'a Upstream,
) -> impl Iterator<Item = (GroupId, Decimal)> + use<'a> {
    snapshot.configuration.groups.iter().filter_map(move |group| match withheld(snapshot, group.id, upstream.id)? {
        Withheld::OverCap { cap, .. } => Some((group.id, cap)),
        Withheld::MultiplierUnknown | Withheld::BalanceEmpty => None,
    })
}

fn of_status(
    status: &BillingStatus,
    billing: &Configured,
    told: &BTreeSet<Concern>,
    now: DateTime<Utc>,
) -> impl Iterator<Item = Concern> {
    let is_fresh = status.figures.as_ref().is_some_and(|figures| now - figures.at < STALE);
    let failing = status.failing_since.is_some_and(|since| now - since > FAILING && status.checked_at > Some(since));
    let warning = is_fresh && status.day.as_ref().is_some_and(|day| day.status == Status::Warning);
    let was_low = told.contains(&Concern::BalanceLow);
    // What was low and is not told any more may be low still.
    let low = if is_fresh { is_low(status, billing, was_low) } else { was_low };
    let changed = status.multiplier_changed_at.is_some_and(|at| now - at < CHANGED);
    [
        (low, Concern::BalanceLow),
        (changed, Concern::MultiplierChanged),
        (failing, Concern::CollectionFailing),
        (warning, Concern::BillingWarning),
    ]
    .into_iter()
    .filter_map(|(holds, concern)| holds.then_some(concern))
}

fn is_low(status: &BillingStatus, billing: &Configured, was_low: bool) -> bool {
    let Some(left) = status.figures.as_ref().and_then(|f| f.remaining).filter(|_| !status.unlimited) else {
        return false;
    };
    let rate = status.shown.map_or(Decimal::ONE, |shown| shown.rate);
    let line = match billing.low_balance {
        Some(low) => low.checked_div(rate),
        None => status.day.as_ref().and_then(|day| day.spent),
    };
    let line = line.unwrap_or_default();
    let line = if was_low { line.saturating_mul(ENOUGH) } else { line };
    left <= Decimal::ZERO || left < line
}

/// What people are told when what they were told becomes something else.
pub(super) fn turns(upstream: UpstreamId, before: &ToldConcerns, after: &ToldConcerns) -> Vec<Turn> {
    let changed = after
        .multiplier_changed_at
        .filter(|at| before.multiplier_changed_at != Some(*at))
        .map(|_| Concern::MultiplierChanged);
    let began = after.concerns.difference(&before.concerns).copied().filter(|c| *c != Concern::MultiplierChanged);
    let ended = before.concerns.difference(&after.concerns).copied().filter(|c| c.has_end());
    let turn = |concern, event| Turn { subject: Subject::Money(upstream, concern), event, class: None };
    let began = began.chain(changed).map(|concern| turn(concern, concern.event()));
    began.chain(ended.map(|concern| turn(concern, AlertEvent::BillingCleared))).collect()
}

/// Tells what has begun or ended since the last time.
pub(super) async fn tell(shared: &Arc<Shared>, database: &Database) {
    for upstream in claim(shared, database).await {
        super::read(shared, database, Some(upstream)).await;
    }
}

/// Tells what this process gets to tell; gives the upstreams of which it knew too little.
async fn claim(shared: &Arc<Shared>, database: &Database) -> Vec<UpstreamId> {
    let snapshot = shared.snapshot.load_full();
    let now = shared.clock.wall();
    let mut outdated = Vec::new();
    let _rows_stay = shared.billing.reading.lock().await;
    for upstream in &snapshot.configuration.upstreams {
        let Some(row) = shared.billing.row(upstream.id) else { continue };
        let Some(found) = concerns(&snapshot, upstream, &row, &shared.pepper, now) else { continue };
        let before = row.told;
        let changed_at = if found.contains(&Concern::MultiplierChanged) {
            row.status.multiplier_changed_at
        } else {
            before.multiplier_changed_at
        };
        let after = ToldConcerns { concerns: found, multiplier_changed_at: changed_at };
        if after == before {
            continue;
        }
        match database.claim_concerns(upstream.id, &before, &after).await {
            Ok(true) => {
                let news = turns(upstream.id, &before, &after);
                // What a person switched off ends without a word.
                for turn in news.into_iter().filter(|turn| upstream.spec.enabled || !turn.event.is_recovery()) {
                    shared.alerts.tell(Signal::News { turn, is_heard: false });
                }
                shared.billing.set_told(upstream.id, after);
            }
            Ok(false) => outdated.push(upstream.id),
            Err(why) => {
                tracing::debug!(error = %why, "what is told of upstreams' money could not be noted");
                break;
            }
        }
    }
    outdated
}

#[cfg(test)]
mod tests {
    use headgate_pricing::{
        Currency,
        compare::{Reason, Scope, Snapshot as Figures},
        schedule::Multiplier,
    };
    use headgate_store::billing::Day;

    use super::*;

    fn at(minute: i64) -> DateTime<Utc> {
        "2026-06-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::minutes(minute)
    }

    fn left(remaining: i64) -> BillingStatus {
        let figures = Figures {
            at: at(0),
            key: 1,
            currency: Currency::USD,
            list: None,
            charged: None,
            requests: None,
            remaining: Some(Decimal::from(remaining)),
            multiplier: None,
            counters: Scope::Key,
            balance: Scope::Key,
        };
        BillingStatus { figures: Some(figures), checked_at: Some(at(0)), ..BillingStatus::default() }
    }

    fn day(status: Status, spent: i64) -> Option<Day> {
        let spent = Some(Decimal::from(spent));
        Some(Day { status, reason: Reason::AsExpected, excess: None, spent })
    }

    fn found(status: &BillingStatus, billing: &Configured, told: &[Concern], minute: i64) -> Vec<Concern> {
        of_status(status, billing, &told.iter().copied().collect(), at(minute)).collect()
    }

    #[test]
    fn a_balance_is_low_below_the_line_or_what_a_day_takes_and_enough_well_above_it() {
        let line = Configured { low_balance: Some(Decimal::from(5)), ..Configured::default() };
        let none = Configured::default();
        assert_eq!(found(&left(4), &line, &[], 1), [Concern::BalanceLow]);
        assert_eq!(found(&left(5), &line, &[], 1), []);
        assert_eq!(found(&left(6), &line, &[Concern::BalanceLow], 1), [Concern::BalanceLow]);
        assert_eq!(found(&left(8), &line, &[Concern::BalanceLow], 1), []);
        assert_eq!(found(&left(4), &none, &[], 1), []);
        assert_eq!(found(&left(0), &none, &[], 1), [Concern::BalanceLow]);
        let busy = BillingStatus { day: day(Status::Ok, 10), ..left(4) };
        assert_eq!(found(&busy, &none, &[], 1), [Concern::BalanceLow]);
        assert_eq!(found(&BillingStatus { unlimited: true, ..busy }, &none, &[], 1), []);
    }

    #[test]
    fn the_line_is_in_the_currency_that_the_site_shows() {
        let line = Configured { low_balance: Some(Decimal::from(35)), ..Configured::default() };
        let shown = headgate_store::billing::Shown { currency: "CNY".parse().unwrap(), rate: Decimal::from(7) };
        assert_eq!(found(&BillingStatus { shown: Some(shown), ..left(4) }, &line, &[], 1), [Concern::BalanceLow]);
        assert_eq!(found(&BillingStatus { shown: Some(shown), ..left(6) }, &line, &[], 1), []);
    }

    #[test]
    fn what_is_a_day_old_neither_accuses_nor_clears() {
        let status = BillingStatus { day: day(Status::Warning, 0), ..left(0) };
        let (none, day) = (Configured::default(), 24 * 60);
        assert_eq!(found(&status, &none, &[], day - 1), [Concern::BalanceLow, Concern::BillingWarning]);
        assert_eq!(found(&status, &none, &[], day), []);
        assert_eq!(found(&status, &none, &[Concern::BalanceLow], day), [Concern::BalanceLow]);
    }

    #[test]
    fn half_an_hour_of_failures_concerns_somebody_and_a_single_one_does_not() {
        let none = Configured::default();
        let once = BillingStatus { failing_since: Some(at(0)), checked_at: Some(at(0)), ..BillingStatus::default() };
        assert_eq!(found(&once, &none, &[], 90), []);
        let again = BillingStatus { checked_at: Some(at(10)), ..once };
        assert_eq!(found(&again, &none, &[], 30), []);
        assert_eq!(found(&again, &none, &[], 31), [Concern::CollectionFailing]);
    }

    #[test]
    fn each_concern_is_told_once_when_it_begins_and_once_when_it_ends() {
        let told = |concerns: &[Concern], changed: Option<i64>| ToldConcerns {
            concerns: concerns.iter().copied().collect(),
            multiplier_changed_at: changed.map(at),
        };
        let events = |before: &ToldConcerns, after: &ToldConcerns| -> Vec<AlertEvent> {
            turns(UpstreamId(1), before, after).iter().map(|turn| turn.event).collect()
        };
        let cap = Concern::OverCap { group: GroupId(3) };
        let (nothing, some) = (told(&[], None), told(&[Concern::BalanceLow, cap], None));
        assert_eq!(events(&nothing, &some), [AlertEvent::BalanceLow, AlertEvent::OverCap]);
        assert_eq!(events(&some, &some), []);
        assert_eq!(events(&some, &told(&[cap], None)), [AlertEvent::BillingCleared]);
        let changed = told(&[Concern::MultiplierChanged], Some(5));
        assert_eq!(events(&nothing, &changed), [AlertEvent::MultiplierChanged]);
        let anew = told(&[Concern::MultiplierChanged], Some(15));
        assert_eq!(events(&changed, &anew), [AlertEvent::MultiplierChanged], "another change is news");
        assert_eq!(events(&anew, &told(&[], Some(15))), [], "that a change is past is none");
    }

    #[test]
    fn a_changed_multiplier_is_shown_for_a_day() {
        let status = BillingStatus {
            multiplier_before: Some(Multiplier::flat(Decimal::ONE)),
            multiplier_changed_at: Some(at(0)),
            ..left(1)
        };
        let none = Configured::default();
        assert_eq!(found(&status, &none, &[], 60), [Concern::MultiplierChanged]);
        assert_eq!(found(&status, &none, &[], 24 * 60), []);
    }
}
