//! `/costs/{upstream}/figures`: what an upstream said of itself, snapshot by snapshot, and our own calls of the same
//! time: the rows that the figures of a comparison are the sums of.

use std::{collections::HashMap, sync::Arc};

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use headgate_domain::UpstreamId;
use headgate_pricing::{
    Currency,
    by_hand::ByHand,
    compare::{Basis, BillingTrack, Comparison, Counted, Skip, Snapshot},
};
use headgate_store::by_hand::in_order;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    super::error::{
        ApiError,
        extract::{Path, Query},
    },
    Span,
};
use crate::{
    shared::Shared,
    verdicts::{self, Verdict},
};

/// Pairs of a page.
const PAIRS: usize = 500;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(super) struct FiguresQuery {
    /// `1h`, `24h`, `7d` or `30d`.
    #[param(inline)]
    window: Span,
    /// Which 500 pairs, from 1: the newest.
    page: Option<usize>,
}

/// What changed from one snapshot to the next.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
struct FigurePair {
    /// The snapshot before.
    from: DateTime<Utc>,
    /// This one.
    to: DateTime<Utc>,
    /// The currency of the amounts.
    currency: Currency,
    /// List price of what was used in between, by its counter.
    #[schema(value_type = Option<String>)]
    list: Option<Decimal>,
    /// What was charged in between, by its counter.
    #[schema(value_type = Option<String>)]
    charged: Option<Decimal>,
    /// By how much the balance fell.
    #[schema(value_type = Option<String>)]
    spent: Option<Decimal>,
    /// What is left.
    #[schema(value_type = Option<String>)]
    remaining: Option<Decimal>,
    /// The multiplier in force at its end.
    #[schema(value_type = Option<String>)]
    multiplier: Option<Decimal>,
    /// That was set by hand.
    by_hand: bool,
    /// Why it, or a part of it, is not compared.
    left_out: Option<Skip>,
    /// Our own calls that ended in between; absent where the pair is not compared, or not yet.
    ours: Option<Ours>,
    /// List price × mean multiplier, where a charge is compared with it.
    #[schema(value_type = Option<String>)]
    due: Option<Decimal>,
}

/// Our own calls of a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FigureOurs)]
struct Ours {
    /// How many may have been charged for.
    calls: u64,
    /// Those of them that are priced in full.
    priced: u64,
    /// What these cost at list price.
    #[schema(value_type = String)]
    list: Decimal,
}

/// What the pairs that are compared add up to.
#[derive(Debug, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = FigureSums)]
struct Sums {
    /// Our own calls.
    ours: Ours,
    /// List price that it states.
    #[schema(value_type = String)]
    list: Decimal,
    /// List price × multiplier.
    #[schema(value_type = String)]
    due: Decimal,
    /// What was charged, or by how much the balance fell, where something was due.
    #[schema(value_type = String)]
    charged: Decimal,
}

/// An upstream's own figures.
#[derive(Serialize, ToSchema)]
#[schema(as = CostFigures)]
pub(super) struct Figures {
    /// From this time on, with the last snapshot before it.
    from: DateTime<Utc>,
    /// Up to this time.
    to: DateTime<Utc>,
    /// Newest first, at most 500.
    pairs: Vec<FigurePair>,
    /// Older ones left out.
    more: usize,
    /// Sums of all pairs that are compared; absent before the first comparison.
    sums: Option<Sums>,
}

/// What an upstream said of itself over a time
///
/// Pairs of neighbouring snapshots with our own calls in between: what comparisons are made from.
#[utoipa::path(get, path = "/costs/{upstream}/figures", tag = "prices", params(("upstream" = i64, Path), FiguresQuery), responses((status = 200, body = Figures)))]
pub(super) async fn figures(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Query(query): Query<FiguresQuery>,
) -> Result<Json<Figures>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    let database = shared.control.database()?;
    // The readings that the comparison on the page was made of, no newer ones.
    let verdict = match verdicts::known(&shared, id) {
        None => verdicts::newest(&shared, &database, &[id]).await.remove(&id),
        known => known,
    };
    let compared = compared(verdict.as_ref(), query.window);
    let now = shared.clock.wall();
    let (from, to) =
        compared.map_or((now - query.window.length(), now), |compared| (compared.window.from, compared.window.to));
    let snapshots = database.billing_snapshots(id, from, to).await?;
    let sets: Vec<_> = database.multipliers_by_hand(&[id]).await?.into_iter().map(|(_, set)| set).collect();
    let rows = Rows {
        by_hand: in_order(&sets),
        track: compared.and_then(|compared| compared.billing),
        counted: verdict.iter().flat_map(|v| v.pairs.iter()).map(|pair| ((pair.from, pair.to), pair)).collect(),
    };
    let next = snapshots.iter().skip(1);
    let mut pairs: Vec<FigurePair> = snapshots.iter().zip(next).map(|(a, b)| rows.pair(a, b)).collect();
    pairs.reverse();
    let sums = verdict.is_some().then(|| rows.sums(&pairs));
    let past = query.page.unwrap_or(1).max(1).saturating_sub(1).saturating_mul(PAIRS);
    let more = pairs.len().saturating_sub(past.saturating_add(PAIRS));
    let pairs = pairs.into_iter().skip(past).take(PAIRS).collect();
    Ok(Json(Figures { from, to, pairs, more, sums }))
}

/// The comparison of a window, if there is one of it.
fn compared(verdict: Option<&Verdict>, window: Span) -> Option<&Comparison> {
    let found = verdict?.windows.iter().find(|one| one.window == window.as_str())?;
    Some(&found.comparison)
}

/// What rows are made of.
struct Rows<'a> {
    by_hand: ByHand,
    track: Option<BillingTrack>,
    counted: HashMap<(DateTime<Utc>, DateTime<Utc>), &'a Counted>,
}

impl Rows<'_> {
    fn pair(&self, before: &Snapshot, after: &Snapshot) -> FigurePair {
        let mut row = pair(before, after);
        let set = self.by_hand.at(after.at);
        row.by_hand = set.is_some();
        row.multiplier = set.map(|m| m.normalize()).or(row.multiplier);
        let Some(counted) = self.counted.get(&(before.at, after.at)) else { return row };
        row.ours = Some(Ours { calls: counted.calls, priced: counted.priced_calls, list: counted.priced.normalize() });
        let list = match self.track.map(|track| track.basis) {
            Some(Basis::Reported) => counted.list,
            Some(_) => counted.estimate,
            None => None,
        };
        let due = list.zip(counted.multiplier).and_then(|(list, m)| list.checked_mul(m));
        row.due = due.filter(|_| self.charged(&row).is_some()).map(|due| due.round_dp(12).normalize());
        row
    }

    /// The charge that is compared.
    fn charged(&self, row: &FigurePair) -> Option<Decimal> {
        match self.track?.charged_from {
            Basis::Reported => row.charged,
            _ => row.spent.filter(|_| row.left_out.is_none()),
        }
    }

    fn sums(&self, pairs: &[FigurePair]) -> Sums {
        let mut sums = Sums::default();
        for (row, ours) in pairs.iter().filter_map(|row| Some((row, row.ours?))) {
            sums.ours.calls += ours.calls;
            sums.ours.priced += ours.priced;
            sums.ours.list = sums.ours.list.saturating_add(ours.list);
            sums.list = sums.list.saturating_add(row.list.unwrap_or_default());
            if let Some((due, charged)) = row.due.zip(self.charged(row)) {
                sums.due = sums.due.saturating_add(due);
                sums.charged = sums.charged.saturating_add(charged);
            }
        }
        for sum in [&mut sums.ours.list, &mut sums.list, &mut sums.due, &mut sums.charged] {
            *sum = sum.normalize();
        }
        sums
    }
}

fn pair(before: &Snapshot, after: &Snapshot) -> FigurePair {
    let rise = |a: Option<Decimal>, b: Option<Decimal>| b?.checked_sub(a?).map(|d| d.normalize());
    let (list, charged) = (rise(before.list, after.list), rise(before.charged, after.charged));
    let spent = rise(after.remaining, before.remaining);
    let negative = |amount: Option<Decimal>| amount.is_some_and(|d| d.is_sign_negative() && !d.is_zero());
    let left_out = if before.key != after.key {
        Some(Skip::KeyChanged)
    } else if before.currency != after.currency {
        Some(Skip::CurrencyChanged)
    } else if negative(list) || negative(charged) {
        Some(Skip::CounterReset)
    } else if negative(spent) {
        Some(Skip::TopUp)
    } else {
        None
    };
    // Differences of two keys or currencies are no amounts.
    let same = !matches!(left_out, Some(Skip::KeyChanged | Skip::CurrencyChanged));
    FigurePair {
        from: before.at,
        to: after.at,
        currency: after.currency,
        list: list.filter(|_| same),
        charged: charged.filter(|_| same),
        spent: spent.filter(|_| same),
        remaining: after.remaining.map(|d| d.normalize()),
        multiplier: after.multiplier.as_ref().map(|m| m.at(after.at).normalize()),
        by_hand: false,
        left_out,
        ours: None,
        due: None,
    }
}
