//! `/costs/{upstream}/figures`: what an upstream said of itself, snapshot by snapshot: what a comparison rests on.

use std::sync::Arc;

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use headgate_domain::UpstreamId;
use headgate_pricing::{
    Currency,
    compare::{Skip, Snapshot},
};
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
use crate::shared::Shared;

/// Pairs told, the newest of the window.
const PAIRS: usize = 500;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(super) struct FiguresQuery {
    /// `1h`, `24h`, `7d` or `30d`.
    #[param(inline)]
    window: Span,
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
    /// Why it, or a part of it, is not compared.
    left_out: Option<Skip>,
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
}

/// What an upstream said of itself over a time
///
/// Pairs of neighbouring snapshots: what comparisons are made from.
#[utoipa::path(get, path = "/costs/{upstream}/figures", tag = "prices", params(("upstream" = i64, Path), FiguresQuery), responses((status = 200, body = Figures)))]
pub(super) async fn figures(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Query(query): Query<FiguresQuery>,
) -> Result<Json<Figures>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    let to = shared.clock.wall();
    let from = to - query.window.length();
    let snapshots = shared.control.database()?.billing_snapshots(id, from, to).await?;
    let next = snapshots.iter().skip(1);
    let mut pairs: Vec<FigurePair> = snapshots.iter().zip(next).map(|(before, after)| pair(before, after)).collect();
    pairs.reverse();
    let more = pairs.len().saturating_sub(PAIRS);
    pairs.truncate(PAIRS);
    Ok(Json(Figures { from, to, pairs, more }))
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
        left_out,
    }
}
