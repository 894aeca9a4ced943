//! What is left at upstreams, and what they multiplied their prices by.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{Name, UpstreamId};
use headgate_pricing::{Currency, compare::Snapshot};
use headgate_store::{Database, DatabaseError};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::billing::BillingView;
use crate::shared::Shared;

/// A month in quarters of a day.
const BALANCE_STEP: TimeDelta = TimeDelta::hours(6);
const BALANCE_POINTS: i32 = 121;
/// A week in hours.
const MULTIPLIER_STEP: TimeDelta = TimeDelta::hours(1);
const MULTIPLIER_POINTS: i32 = 169;
/// How far back falls of balances are looked at for how long they last, in points.
const RECENT: usize = 29;

/// What was left at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(super) struct BalancePoint {
    /// When.
    at: DateTime<Utc>,
    /// The sum of what was known then.
    #[schema(value_type = String)]
    amount: Decimal,
}

/// What is left in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = CostBalance)]
pub(super) struct Balance {
    /// The currency, as the upstreams show it.
    currency: String,
    /// The sum.
    #[schema(value_type = String)]
    amount: Decimal,
    /// The upstreams it is at.
    upstreams: Vec<UpstreamId>,
    /// Those of them where nothing is left.
    empty: Vec<UpstreamId>,
    /// When the oldest of these figures was told.
    oldest_at: Option<DateTime<Utc>>,
    /// Days it lasts if balances fall on as in the last week; absent where none fell.
    days_left: Option<f64>,
    /// The last 30 days.
    points: Vec<BalancePoint>,
}

/// A multiplier, from when it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(super) struct MultiplierStep {
    /// When it was first seen.
    at: DateTime<Utc>,
    /// How much.
    #[schema(value_type = String)]
    multiplier: Decimal,
}

fn moment(now: DateTime<Utc>, step: TimeDelta, count: i32, n: i32) -> DateTime<Utc> {
    now - step.checked_mul(count - 1 - n).unwrap_or_default()
}

/// Balances by currency with their course.
pub(super) async fn balances(
    shared: &Shared,
    database: &Database,
    views: &[(UpstreamId, Name, BillingView)],
    now: DateTime<Utc>,
) -> Result<Vec<Balance>, DatabaseError> {
    let mut balances: BTreeMap<Currency, Balance> = BTreeMap::new();
    let mut rates: HashMap<UpstreamId, (Currency, Decimal)> = HashMap::new();
    for (id, _, view) in views.iter().filter(|(.., view)| !view.unlimited) {
        let (Some(remaining), Some(currency)) = (view.remaining, view.currency) else { continue };
        let balance = balances.entry(currency).or_insert_with(|| Balance {
            currency: currency.to_string(),
            amount: Decimal::ZERO,
            upstreams: Vec::new(),
            empty: Vec::new(),
            oldest_at: None,
            days_left: None,
            points: Vec::new(),
        });
        balance.amount += remaining;
        balance.upstreams.push(*id);
        if remaining <= Decimal::ZERO {
            balance.empty.push(*id);
        }
        balance.oldest_at = match (balance.oldest_at, view.collected_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let shown = shared.billing.row(*id).and_then(|row| row.status.shown);
        rates.insert(*id, (currency, shown.map_or(Decimal::ONE, |shown| shown.rate)));
    }
    let ids: Vec<UpstreamId> = rates.keys().copied().collect();
    let figures = database.figures_over(&ids, now, BALANCE_STEP, BALANCE_POINTS).await?;
    for (currency, balance) in &mut balances {
        let of_currency: Vec<(UpstreamId, i32, Decimal)> = figures
            .iter()
            .filter_map(|(id, n, snapshot)| {
                let (own, rate) = rates.get(id)?;
                (own == currency).then_some((*id, *n, snapshot.remaining?.checked_mul(*rate)?))
            })
            .collect();
        balance.amount = balance.amount.normalize();
        balance.points = course(&of_currency, now);
        balance.days_left = lasts(balance.amount, &of_currency);
    }
    Ok(balances.into_values().collect())
}

fn course(figures: &[(UpstreamId, i32, Decimal)], now: DateTime<Utc>) -> Vec<BalancePoint> {
    let mut sums: BTreeMap<i32, Decimal> = BTreeMap::new();
    for (_, n, amount) in figures {
        *sums.entry(*n).or_default() += amount;
    }
    let point = |(n, amount): (i32, Decimal)| BalancePoint {
        at: moment(now, BALANCE_STEP, BALANCE_POINTS, n),
        amount: amount.normalize(),
    };
    sums.into_iter().map(point).collect()
}

/// Days that an amount lasts by the falls of the last week; what was topped up does not count.
fn lasts(amount: Decimal, figures: &[(UpstreamId, i32, Decimal)]) -> Option<f64> {
    let first = BALANCE_POINTS - i32::try_from(RECENT).unwrap_or_default();
    let mut fell = Decimal::ZERO;
    let (mut earliest, mut latest) = (BALANCE_POINTS, 0);
    let mut last: Option<(UpstreamId, i32, Decimal)> = None;
    for one in figures.iter().filter(|(_, n, _)| *n >= first) {
        if let Some((_, n, before)) = last.filter(|(id, ..)| *id == one.0) {
            fell += (before - one.2).max(Decimal::ZERO);
            earliest = earliest.min(n);
            latest = latest.max(one.1);
        }
        last = Some(*one);
    }
    let days = f64::from(latest - earliest) * 0.25;
    let (fell, amount) = (f64::try_from(fell).ok()?, f64::try_from(amount).ok()?);
    (fell > 0.0 && amount > 0.0 && days > 0.0).then(|| (amount / (fell / days) * 10.0).round() / 10.0)
}

/// Multipliers of the last week: a step for each change.
pub(super) async fn multipliers(
    database: &Database,
    of: &[UpstreamId],
    now: DateTime<Utc>,
) -> Result<HashMap<UpstreamId, Vec<MultiplierStep>>, DatabaseError> {
    let figures = database.figures_over(of, now, MULTIPLIER_STEP, MULTIPLIER_POINTS).await?;
    let mut steps: HashMap<UpstreamId, Vec<MultiplierStep>> = HashMap::new();
    for (id, n, snapshot) in figures {
        let at = moment(now, MULTIPLIER_STEP, MULTIPLIER_POINTS, n);
        let Some(multiplier) = at_moment(&snapshot, at) else { continue };
        let own = steps.entry(id).or_default();
        if own.last().is_none_or(|last| last.multiplier != multiplier) {
            own.push(MultiplierStep { at, multiplier });
        }
    }
    Ok(steps)
}

fn at_moment(snapshot: &Snapshot, at: DateTime<Utc>) -> Option<Decimal> {
    Some(snapshot.multiplier.as_ref()?.at(at).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_lasts_by_its_falls_whatever_was_topped_up() {
        let of = |id, n, amount| (UpstreamId(id), n, Decimal::from(amount));
        // A unit in each quarter of a day, and a top-up in between.
        let figures: Vec<_> =
            (0..BALANCE_POINTS).map(|n| of(1, n, i64::from(if n < 110 { 300 - n } else { 900 - n }))).collect();
        let left = lasts(Decimal::from(40), &figures).unwrap();
        assert!((9.9..=10.8).contains(&left), "{left}");
        assert_eq!(lasts(Decimal::from(40), &[of(1, 120, 5)]), None);
        assert_eq!(lasts(Decimal::ZERO, &figures), None);
        // Two upstreams fall twice as fast.
        let both: Vec<_> =
            figures.iter().copied().chain(figures.iter().map(|(_, n, a)| (UpstreamId(2), *n, *a))).collect();
        assert!(lasts(Decimal::from(40), &both).unwrap() < left * 0.55);
    }
}
