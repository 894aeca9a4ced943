//! What was spent, by a dimension and over time.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::Configuration;
use headgate_store::{
    Database, DatabaseError,
    costs::{Dimension, SpendCell},
    requests::Amount,
};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

/// Rows that have a line of their own in the chart; the others share one.
const LINES: usize = 5;
/// Rows told; there may be any number of models.
const ROWS: usize = 100;

/// A sum in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = SpendTotal)]
pub(super) struct Total {
    /// The currency.
    currency: String,
    /// The sum.
    #[schema(value_type = String)]
    amount: Decimal,
    /// That of the time before, equally long.
    #[schema(value_type = Option<String>)]
    before: Option<Decimal>,
}

/// A part of a total.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = SpendPart)]
pub(super) struct Part {
    /// The currency.
    currency: String,
    /// The amount.
    #[schema(value_type = String)]
    amount: Decimal,
    /// Of the total in this currency, 0 to 1.
    share: f64,
}

/// What was spent on one model, key, group or upstream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub(super) struct SpendRow {
    /// The key, group or upstream; absent for models, and where there was none.
    id: Option<i64>,
    /// Its name, or the model; absent where none was named.
    name: Option<String>,
    /// Whether it is configured now. Models always are.
    exists: bool,
    /// What it cost.
    costs: Vec<Part>,
    /// Attempts.
    attempts: i64,
    /// Those that may have been charged for.
    charged: i64,
    /// Those of them that are priced in full.
    priced: i64,
    /// Input tokens of any kind.
    tokens_input: i64,
    /// Those of them that were read from a cache.
    tokens_read: i64,
    /// Output tokens.
    tokens_output: i64,
}

/// A line of the chart.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(super) struct SpendLine {
    /// Its currency.
    currency: String,
    /// Its place in `rows`; absent for all the others together.
    row: Option<usize>,
    /// An amount for each of `points`.
    #[schema(value_type = Vec<String>)]
    amounts: Vec<Decimal>,
}

/// What was spent.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub(super) struct Spent {
    /// The time: from this moment on.
    from: DateTime<Utc>,
    /// Before this moment.
    to: DateTime<Utc>,
    /// Where the time before, equally long, begins.
    before_from: DateTime<Utc>,
    /// By what the rows are.
    by: Dimension,
    /// The sums; the currency of most attempts first.
    totals: Vec<Total>,
    /// Attempts.
    attempts: i64,
    /// Those that may have been charged for.
    charged: i64,
    /// Those of them that are priced in full.
    priced: i64,
    /// What it was spent on, most first, at most a hundred.
    rows: Vec<SpendRow>,
    /// Rows left out.
    more: usize,
    /// Length of a stretch in milliseconds.
    step_ms: i64,
    /// Where the stretches begin.
    points: Vec<DateTime<Utc>>,
    /// The five rows that cost most in a currency, and all the others together.
    lines: Vec<SpendLine>,
}

/// Stretches of a chart: about two dozen to a hundred.
fn step(length: TimeDelta) -> TimeDelta {
    match length.num_hours() {
        ..7 => TimeDelta::minutes(15),
        7..37 => TimeDelta::hours(1),
        37..241 => TimeDelta::hours(6),
        _ => TimeDelta::days(1),
    }
}

/// What a key, group or upstream is called: by the configuration, else as it was called last.
pub(super) async fn names(
    database: &Database,
    configuration: &Configuration,
    of: Dimension,
    ids: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, (String, bool)>, DatabaseError> {
    let ids: Vec<i64> = ids.collect();
    let mut names: HashMap<i64, (String, bool)> = HashMap::new();
    if of == Dimension::Model || ids.is_empty() {
        return Ok(names);
    }
    names.extend(database.last_names(of, &ids).await?.into_iter().map(|(id, name)| (id, (name, false))));
    let now: Vec<(i64, String)> = match of {
        Dimension::Model => Vec::new(),
        Dimension::Key => configuration.keys.iter().map(|k| (k.id.0, k.name.to_string())).collect(),
        Dimension::Group => configuration.groups.iter().map(|g| (g.id.0, g.name.to_string())).collect(),
        Dimension::Upstream => configuration.upstreams.iter().map(|u| (u.id.0, u.name.to_string())).collect(),
    };
    names.extend(now.into_iter().map(|(id, name)| (id, (name, true))));
    Ok(names)
}

/// Reads what was spent.
pub(super) async fn spent(
    database: &Database,
    configuration: &Configuration,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    by: Dimension,
) -> Result<Spent, DatabaseError> {
    let step = step(to - from);
    let (cells, before) =
        tokio::try_join!(database.spending(from, to, step, by), database.spent(from - (to - from), from))?;
    let names = names(database, configuration, by, cells.iter().filter_map(|cell| cell.id)).await?;
    Ok(add_up(&cells, &before, &names, (from, to), step, by))
}

/// A value of the dimension: an id or a model.
type Value<'a> = (Option<i64>, Option<&'a str>);

/// What was spent on one value.
#[derive(Default)]
struct Tally<'a> {
    row: SpendRow,
    costs: BTreeMap<&'a str, Decimal>,
}

type Values<'a> = Vec<(Value<'a>, Tally<'a>)>;

impl Tally<'_> {
    fn amount(&self, currency: &str) -> Decimal {
        self.costs.get(currency).copied().unwrap_or_default()
    }
}

/// All values, those that cost most first, and the sums by currency, that of most attempts first.
fn tally(cells: &[SpendCell]) -> (Values<'_>, Vec<(&str, Decimal)>) {
    let mut sums: BTreeMap<&str, (Decimal, i64)> = BTreeMap::new();
    let mut values: BTreeMap<Value<'_>, Tally<'_>> = BTreeMap::new();
    for cell in cells {
        let Tally { row, costs } = values.entry((cell.id, cell.model.as_deref())).or_default();
        row.attempts += cell.attempts;
        row.charged += cell.charged;
        row.priced += cell.priced;
        row.tokens_input += cell.tokens_input;
        row.tokens_read += cell.tokens_read;
        row.tokens_output += cell.tokens_output;
        if let Some((currency, cost)) = cell.currency.as_deref().zip(cell.cost) {
            let sum = sums.entry(currency).or_default();
            sum.0 += cost;
            sum.1 += cell.attempts;
            *costs.entry(currency).or_default() += cost;
        }
    }
    let mut order: Vec<_> = sums.into_iter().collect();
    order.sort_by_key(|(_, (_, attempts))| Reverse(*attempts));
    let totals: Vec<(&str, Decimal)> = order.into_iter().map(|(currency, (sum, _))| (currency, sum)).collect();
    let mut values: Values<'_> = values.into_iter().collect();
    values.sort_by_cached_key(|(_, tally)| {
        let amounts: Vec<Decimal> = totals.iter().map(|(currency, _)| tally.amount(currency)).collect();
        Reverse((amounts, tally.row.attempts))
    });
    (values, totals)
}

/// The lines of one currency: the values that cost most in it, and all the others together.
fn lines(cells: &[SpendCell], values: &[(Value<'_>, Tally<'_>)], currency: &str, points: usize) -> Vec<SpendLine> {
    let mut ranked: Vec<(usize, Value<'_>, Decimal)> = values
        .iter()
        .take(ROWS)
        .enumerate()
        .map(|(n, (value, tally))| (n, *value, tally.amount(currency)))
        .filter(|(.., amount)| !amount.is_zero())
        .collect();
    ranked.sort_by_key(|(.., amount)| Reverse(*amount));
    ranked.truncate(LINES);
    let mut lines: Vec<(Option<Value<'_>>, SpendLine)> = ranked
        .into_iter()
        .map(|(n, value, _)| (Some(value), Some(n)))
        .chain([(None, None)])
        .map(|(value, row)| {
            (value, SpendLine { currency: currency.to_owned(), row, amounts: vec![Decimal::ZERO; points] })
        })
        .collect();
    for cell in cells.iter().filter(|cell| cell.currency.as_deref() == Some(currency)) {
        let value = (cell.id, cell.model.as_deref());
        let line = lines.iter_mut().find(|(of, _)| of.is_none_or(|of| of == value));
        let Some((_, line)) = line else { continue };
        let at = usize::try_from(cell.stretch).ok().and_then(|n| line.amounts.get_mut(n));
        if let Some((at, cost)) = at.zip(cell.cost) {
            *at += cost;
        }
    }
    lines
        .into_iter()
        .map(|(_, line)| line)
        .filter(|l| l.row.is_some() || l.amounts.iter().any(|a| !a.is_zero()))
        .collect()
}

/// Rows, sums and lines are of the same cells, so they agree.
fn add_up(
    cells: &[SpendCell],
    before: &[Amount],
    names: &HashMap<i64, (String, bool)>,
    (from, to): (DateTime<Utc>, DateTime<Utc>),
    step: TimeDelta,
    by: Dimension,
) -> Spent {
    let (values, totals) = tally(cells);
    let stretches = (to - from).num_seconds().div_euclid(step.num_seconds().max(1)) + 1;
    let points: Vec<DateTime<Utc>> = (0..stretches)
        .filter_map(|n| Some(from + step.checked_mul(i32::try_from(n).ok()?)?))
        .filter(|at| *at < to)
        .collect();
    let lines = totals.iter().flat_map(|(currency, _)| lines(cells, &values, currency, points.len())).collect();
    let sum = |count: fn(&SpendRow) -> i64| values.iter().map(|(_, tally)| count(&tally.row)).sum();
    let share = |amount: Decimal, whole: Decimal| {
        let share = if whole.is_zero() { Decimal::ZERO } else { amount / whole };
        f64::try_from(share.round_dp(6)).unwrap_or_default()
    };
    let (attempts, charged, priced) = (sum(|r| r.attempts), sum(|r| r.charged), sum(|r| r.priced));
    let more = values.len().saturating_sub(ROWS);
    let rows = values.into_iter().take(ROWS).map(|((id, model), tally)| {
        let known = id.and_then(|id| names.get(&id));
        let parts = totals.iter().filter_map(|(currency, whole)| {
            let amount = tally.costs.get(currency)?;
            Some(Part { currency: (*currency).to_owned(), amount: amount.normalize(), share: share(*amount, *whole) })
        });
        SpendRow {
            id,
            name: known.map(|(name, _)| name.clone()).or_else(|| model.map(str::to_owned)),
            exists: by == Dimension::Model || known.is_some_and(|(_, exists)| *exists),
            costs: parts.collect(),
            ..tally.row
        }
    });
    let rows = rows.collect();
    let earlier = |currency: &str| before.iter().find(|a| a.currency == currency).map(|a| a.amount);
    let total = |(currency, sum): &(&str, Decimal)| Total {
        currency: (*currency).to_owned(),
        amount: sum.normalize(),
        before: earlier(currency),
    };
    Spent {
        from,
        to,
        before_from: from - (to - from),
        by,
        totals: totals.iter().map(total).collect(),
        attempts,
        charged,
        priced,
        rows,
        more,
        step_ms: step.num_milliseconds(),
        points,
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(stretch: i64, model: &str, currency: &str, cost: i64) -> SpendCell {
        SpendCell {
            stretch,
            id: None,
            model: Some(model.to_owned()),
            currency: Some(currency.to_owned()),
            cost: Some(Decimal::new(cost, 3)),
            attempts: 2,
            charged: 2,
            priced: 1,
            tokens_input: 10,
            tokens_read: 4,
            tokens_output: 5,
        }
    }

    #[test]
    fn rows_lines_and_totals_are_the_same_money_and_currencies_stay_apart() {
        let from: DateTime<Utc> = "2026-06-01T12:00:00Z".parse().unwrap();
        let mut cells: Vec<SpendCell> = (0..8).map(|n| cell(n % 4, &format!("m{n}"), "USD", 100 + n)).collect();
        cells.push(cell(3, "m0", "CNY", 5));
        cells.push(SpendCell { currency: None, cost: None, ..cell(0, "free", "", 0) });
        let before = [Amount { currency: "USD".to_owned(), amount: Decimal::ONE }];
        let hour = TimeDelta::hours(1);
        let spent = add_up(&cells, &before, &HashMap::new(), (from, from + hour * 4), hour, Dimension::Model);
        let totals: Vec<_> = spent.totals.iter().map(|t| (t.currency.as_str(), t.amount, t.before)).collect();
        assert_eq!(totals, [("USD", Decimal::new(828, 3), Some(Decimal::ONE)), ("CNY", Decimal::new(5, 3), None)]);
        for (currency, whole, _) in totals {
            let of_rows: Decimal =
                spent.rows.iter().flat_map(|r| &r.costs).filter(|p| p.currency == currency).map(|p| p.amount).sum();
            let of_lines: Decimal =
                spent.lines.iter().filter(|l| l.currency == currency).flat_map(|l| &l.amounts).copied().sum();
            assert_eq!((of_rows, of_lines), (whole, whole), "{currency}");
        }
        assert_eq!((spent.points.len(), spent.rows.len(), spent.lines.len()), (4, 9, 7));
        assert_eq!(spent.rows[0].name.as_deref(), Some("m7"));
        assert_eq!((spent.attempts, spent.charged, spent.priced), (20, 20, 10));
        assert!(spent.lines.iter().all(|l| l.amounts.len() == 4));
    }
}
