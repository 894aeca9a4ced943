//! What is left at upstreams.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{Name, UpstreamId};
use headgate_pricing::Currency;
use headgate_store::{Database, DatabaseError};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::billing::BillingView;
use crate::shared::Shared;

/// A month in quarters of a day.
const BALANCE_STEP: TimeDelta = TimeDelta::hours(6);
const BALANCE_POINTS: i32 = 121;
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
    /// By how much they fell on a day of that week.
    #[schema(value_type = Option<String>)]
    falls_a_day: Option<Decimal>,
    /// The last 30 days.
    points: Vec<BalancePoint>,
}

pub(super) fn moment(now: DateTime<Utc>, step: TimeDelta, count: i32, n: i32) -> DateTime<Utc> {
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
            falls_a_day: None,
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
        let fall = falls_a_day(&of_currency);
        balance.days_left = fall.and_then(|fall| lasts(balance.amount, fall));
        balance.falls_a_day = fall.map(|fall| fall.round_dp(4).normalize());
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

/// By how much balances fell on a day of the last week; what was topped up does not count. `None`: they did not.
fn falls_a_day(figures: &[(UpstreamId, i32, Decimal)]) -> Option<Decimal> {
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
    let days = Decimal::from(latest - earliest).checked_div(Decimal::from(4))?;
    if days <= Decimal::ZERO { None } else { fell.checked_div(days).filter(|fall| *fall > Decimal::ZERO) }
}

/// Days that an amount lasts if it falls by so much on each.
fn lasts(amount: Decimal, falls_a_day: Decimal) -> Option<f64> {
    let days = f64::try_from(amount.checked_div(falls_a_day)?).ok()?;
    (days > 0.0).then(|| (days * 10.0).round() / 10.0)
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
        let days = |figures: &[_]| lasts(Decimal::from(40), falls_a_day(figures)?);
        let left = days(&figures).unwrap();
        assert!((9.9..=10.8).contains(&left), "{left}");
        assert_eq!(falls_a_day(&[of(1, 120, 5)]), None);
        assert_eq!(lasts(Decimal::ZERO, Decimal::ONE), None);
        // Two upstreams fall twice as fast.
        let both: Vec<_> =
            figures.iter().copied().chain(figures.iter().map(|(_, n, a)| (UpstreamId(2), *n, *a))).collect();
        assert!(days(&both).unwrap() < left * 0.55);
    }
}
