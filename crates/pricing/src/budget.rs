//! Budgets: what of a limit is used in a span, when it begins anew, and which shares of it people are told of.
//!
//! A period is named by its first day in the time zone of the settings, so that processes agree on it, and a change of
//! the zone starts no period twice. Amounts of other currencies are never converted, because no rate is configured:
//! they are counted beside the budget, as are requests that have no price.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use headgate_domain::{BudgetLevel, BudgetOwner, BudgetSpan, CostColumns, Settings, group::Budget};
use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Currency;

/// A stretch of time for which something is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Its first day; that of [`BudgetSpan::Total`] is the same for ever.
    pub start: NaiveDate,
    /// When the next one begins.
    pub resets_at: Option<DateTime<Utc>>,
}

/// The period of a span that `now` is in.
pub fn period(span: BudgetSpan, now: DateTime<Utc>, settings: &Settings) -> Period {
    let today = settings.day(now);
    let (start, next) = match span {
        BudgetSpan::Day => (today, today.succ_opt()),
        BudgetSpan::Month => {
            let first = today.with_day(1).unwrap_or(today);
            (first, first.checked_add_months(chrono::Months::new(1)))
        }
        BudgetSpan::Total => return Period { start: NaiveDate::default(), resets_at: None },
    };
    // A zone that crosses the date line leaves a day out.
    let days = std::iter::successors(next, NaiveDate::succ_opt).take(3);
    Period { start, resets_at: days.filter_map(|day| settings.begin(day)).find(|begin| *begin > now) }
}

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Account {
    /// Whose.
    pub owner: BudgetOwner,
    /// Over which span.
    pub span: BudgetSpan,
    /// First day of the period.
    pub start: NaiveDate,
}

impl Account {
    /// The account of an owner that is in use at a time.
    pub fn at(owner: BudgetOwner, span: BudgetSpan, now: DateTime<Utc>, settings: &Settings) -> Self {
        Self { owner, span, start: period(span, now, settings).start }
    }
}

/// What was counted in an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// Spent, by currency.
    pub spent: BTreeMap<Currency, Decimal>,
    /// Attempts that were probably charged for, and have no price.
    pub unpriced: i64,
}

impl Amounts {
    /// What an attempt counts as, given with whether it may have been charged for.
    pub fn of(cost: &CostColumns, charged: bool) -> Self {
        let currency = cost.cost_currency.as_deref().and_then(|code| code.parse().ok());
        match (cost.cost, currency) {
            (Some(amount), Some(currency)) => Self { spent: BTreeMap::from([(currency, amount)]), unpriced: 0 },
            _ => Self { spent: BTreeMap::new(), unpriced: charged.into() },
        }
    }

    /// Whether there is nothing to count.
    pub fn is_nothing(&self) -> bool {
        self.unpriced == 0 && self.spent.values().all(Decimal::is_zero)
    }

    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        for (currency, amount) in &other.spent {
            let sum = self.spent.entry(*currency).or_default();
            *sum = sum.saturating_add(*amount);
        }
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }
}

/// An amount of a currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Money {
    /// The currency.
    pub currency: Currency,
    /// How much of it.
    #[schema(value_type = String, examples("0.0105"))]
    pub amount: Decimal,
}

/// How far a budget is used: what is shown is what is enforced.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = BudgetFigures)]
pub struct State {
    /// Over which span.
    pub span: BudgetSpan,
    /// The budget's currency.
    pub currency: Currency,
    /// Spent so far: what the database said last and what this process has not told it yet.
    #[schema(value_type = String, examples("4.75"))]
    pub spent: Decimal,
    /// How much may be spent.
    #[schema(value_type = String, examples("5"))]
    pub limit: Decimal,
    /// Spent of the limit: 1 is all of it.
    pub share: f64,
    /// When it begins anew; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<DateTime<Utc>>,
    /// Spent in other currencies, which does not count against the limit.
    pub other: Vec<Money>,
    /// Attempts without a price, which count as nothing.
    pub unpriced: i64,
}

impl State {
    /// Sets what was spent against a limit.
    pub fn of(span: BudgetSpan, limit: Decimal, currency: Currency, amounts: &Amounts, period: Period) -> Self {
        let spent = amounts.spent.get(&currency).copied().unwrap_or_default();
        let share = spent.checked_div(limit).and_then(|share| share.to_f64()).unwrap_or(1.0);
        let other = amounts.spent.iter().filter(|(other, amount)| **other != currency && !amount.is_zero());
        let other = other.map(|(currency, amount)| Money { currency: *currency, amount: *amount }).collect();
        let resets_at = period.resets_at;
        Self { span, currency, spent, limit, share, resets_at, other, unpriced: amounts.unpriced }
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.spent >= self.limit
    }

    /// The highest share people are told of that is reached.
    pub fn level(&self) -> Option<BudgetLevel> {
        let is_reached = |level: &BudgetLevel| {
            let border = self.limit.checked_mul(Decimal::new(level.percent().into(), 2));
            border.is_some_and(|border| self.spent >= border)
        };
        BudgetLevel::ALL.into_iter().rev().find(is_reached)
    }
}

/// The limits of a budget, the shortest span first.
pub fn limits(budget: &Budget) -> impl Iterator<Item = (BudgetSpan, Decimal)> {
    let limit = |span| match span {
        BudgetSpan::Day => budget.day,
        BudgetSpan::Month => budget.month,
        BudgetSpan::Total => budget.total,
    };
    BudgetSpan::ALL.into_iter().filter_map(move |span| Some((span, limit(span)?)))
}

/// The currency a budget is in.
pub fn currency(budget: &Budget) -> Currency {
    budget.currency.as_deref().and_then(|code| code.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn of(zone: &str) -> Settings {
        Settings { time_zone: Some(zone.to_owned()), ..Settings::default() }
    }

    fn cost(amount: i64, currency: &str) -> CostColumns {
        let cost = Some(Decimal::new(amount, 2));
        CostColumns { cost, cost_currency: Some(currency.to_owned()), ..CostColumns::default() }
    }

    fn state(spent: i64, limit: i64) -> State {
        let amounts = Amounts::of(&cost(spent, "USD"), true);
        let period = Period { start: NaiveDate::default(), resets_at: None };
        State::of(BudgetSpan::Day, Decimal::new(limit, 2), Currency::USD, &amounts, period)
    }

    #[test]
    fn a_day_lasts_as_long_as_the_clock_of_its_zone_says() {
        // 29 March 2026 has 23 hours in Berlin, 25 October 25.
        for (noon, resets, next) in [
            ("2026-03-29T12:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z"),
            ("2026-10-25T12:00:00Z", "2026-10-25T23:00:00Z", "2026-10-26T23:00:00Z"),
        ] {
            let berlin = of("Europe/Berlin");
            assert_eq!(period(BudgetSpan::Day, at(noon), &berlin).resets_at, Some(at(resets)));
            assert_eq!(period(BudgetSpan::Day, at(resets), &berlin).resets_at, Some(at(next)));
        }
        // In Beirut this day begins at one; in Apia there was no 30 December 2011.
        let beirut = period(BudgetSpan::Day, at("2026-03-28T12:00:00Z"), &of("Asia/Beirut"));
        assert_eq!(beirut.resets_at, Some(at("2026-03-28T22:00:00Z")));
        let apia = period(BudgetSpan::Day, at("2011-12-30T09:00:00Z"), &of("Pacific/Apia"));
        assert_eq!(apia.resets_at, Some(at("2011-12-30T10:00:00Z")));
    }

    #[test]
    fn a_month_ends_with_its_last_day_and_the_total_never() {
        let shanghai = of("Asia/Shanghai");
        for (now, start, resets) in [
            ("2028-02-29T15:59:59Z", "2028-02-01", "2028-02-29T16:00:00Z"),
            ("2028-02-29T16:00:00Z", "2028-03-01", "2028-03-31T16:00:00Z"),
            ("2026-12-31T12:00:00Z", "2026-12-01", "2026-12-31T16:00:00Z"),
        ] {
            let month = period(BudgetSpan::Month, at(now), &shanghai);
            assert_eq!((month.start, month.resets_at), (start.parse().unwrap(), Some(at(resets))), "{now}");
        }
        let total = |now| period(BudgetSpan::Total, at(now), &shanghai);
        assert_eq!(total("2026-01-01T00:00:00Z"), total("2036-01-01T00:00:00Z"));
        assert_eq!(total("2026-01-01T00:00:00Z").resets_at, None);
    }

    #[test]
    fn other_currencies_and_what_has_no_price_are_counted_beside_the_budget() {
        let mut amounts = Amounts::default();
        for (cost, charged) in [
            (cost(150, "USD"), true),
            (cost(700, "CNY"), true),
            (cost(25, "USD"), false),
            (CostColumns::default(), true),
            (CostColumns::default(), false),
        ] {
            amounts.add(&Amounts::of(&cost, charged));
        }
        let period = Period { start: NaiveDate::default(), resets_at: None };
        let state = State::of(BudgetSpan::Total, Decimal::new(5, 0), Currency::USD, &amounts, period);
        assert_eq!((state.spent, state.share, state.unpriced), (Decimal::new(175, 2), 0.35, 1));
        assert_eq!(state.other, [Money { currency: "CNY".parse().unwrap(), amount: Decimal::new(700, 2) }]);
        assert!(!state.is_spent());
    }

    #[test]
    fn shares_are_reached_at_80_95_and_100_hundredths() {
        let levels = [799, 800, 949, 950, 999, 1000, 5000].map(|spent| state(spent, 1000).level());
        let [most, nearly, spent] = BudgetLevel::ALL.map(Some);
        assert_eq!(levels, [None, most, most, nearly, nearly, spent, spent]);
        assert_eq!([999, 1000].map(|spent| state(spent, 1000).is_spent()), [false, true]);
        // A budget of nothing is spent from the beginning.
        assert!(state(0, 0).is_spent() && state(0, 0).level() == spent);
    }
}
