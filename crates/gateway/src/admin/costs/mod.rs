//! `/costs`: what was spent and on what, what is left at upstreams, and whether they charged what they said.

mod balances;
mod elsewhere;
mod figures;
mod multipliers;
mod notes;
mod spend;

use std::sync::Arc;

use axum::{Json, extract::State};
use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use headgate_domain::{Name, UpstreamId};
use headgate_store::{costs::Dimension, rollup::BUCKET};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use self::{
    balances::{Balance, balances},
    multipliers::{MultiplierStep, multipliers},
    notes::{TokenCheck, Unpriced, notes},
    spend::Spent,
};
use super::{
    billing::BillingView,
    error::{ApiError, extract::Query},
};
use crate::{
    shared::Shared,
    verdicts::{self, WindowView},
};

/// Longest time that is asked about at once.
const LONGEST: TimeDelta = TimeDelta::days(400);

/// A span of time by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostSpan)]
enum Span {
    #[serde(rename = "1h")]
    Hour,
    #[default]
    #[serde(rename = "24h")]
    Day,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
}

impl Span {
    fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
            Self::Month => "30d",
        }
    }

    fn length(self) -> TimeDelta {
        match self {
            Self::Hour => TimeDelta::hours(1),
            Self::Day => TimeDelta::hours(24),
            Self::Week => TimeDelta::days(7),
            Self::Month => TimeDelta::days(30),
        }
    }
}

/// Which time, and by what.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct CostQuery {
    /// Requests that started at this time or later; it is set back to a whole quarter of an hour.
    from: Option<DateTime<Utc>>,
    /// Requests that started before this time; absent: now.
    to: Option<DateTime<Utc>>,
    /// `1h`, `24h`, `7d` or `30d` before `to`, where `from` is absent.
    #[param(inline)]
    window: Span,
    /// By what spending is told.
    #[param(inline)]
    by: Dimension,
}

/// Money at a glance.
#[derive(Serialize, ToSchema)]
struct Costs {
    /// What was spent.
    #[serde(flatten)]
    spent: Spent,
    /// Models of upstreams without a full price: they are not in the amounts, or not whole.
    unpriced: Vec<Unpriced>,
    /// Output that upstreams reported against what passed through.
    tokens: Vec<TokenCheck>,
    /// What is left, by currency.
    balances: Vec<Balance>,
    /// The upstreams and whether they charged what they said.
    upstreams: Vec<UpstreamCosts>,
}

/// An upstream's billing and what was found about it.
#[derive(Serialize, ToSchema)]
struct UpstreamCosts {
    /// The upstream.
    upstream_id: UpstreamId,
    /// Its name.
    name: Name,
    /// What its billing says now.
    billing: BillingView,
    /// The comparison over the last hour, day and week; absent while it is being made for the first time.
    windows: Option<Vec<WindowView>>,
    /// Its multipliers of the last seven days, each from when it was seen or set.
    multipliers: Vec<MultiplierStep>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(costs)).routes(routes!(elsewhere::elsewhere)).routes(routes!(figures::figures))
}

/// The time asked about, in whole quarters of an hour at its beginning: sums are exact there even when the rows are gone.
fn time(query: &CostQuery, now: DateTime<Utc>) -> Result<(DateTime<Utc>, DateTime<Utc>), ApiError> {
    let to = query.to.unwrap_or(now).min(now);
    let from = query.from.unwrap_or(to - query.window.length());
    let from = from.duration_trunc(BUCKET).unwrap_or(from);
    if from >= to {
        return Err(ApiError::bad_request("'from' is before 'to'").with_field("from"));
    }
    if to - from > LONGEST + BUCKET {
        return Err(ApiError::bad_request("at most 400 days can be asked about").with_field("from"));
    }
    Ok((from, to))
}

/// What was spent, what is left, and whether it was charged as said
///
/// Amounts are list prices as they were stamped on attempts; those of different currencies are never added.
#[utoipa::path(get, path = "/costs", tag = "prices", params(CostQuery), responses((status = 200, body = Costs)))]
async fn costs(State(shared): State<Arc<Shared>>, Query(query): Query<CostQuery>) -> Result<Json<Costs>, ApiError> {
    let now = shared.clock.wall();
    let (from, to) = time(&query, now)?;
    let database = shared.control.database()?;
    let snapshot = shared.snapshot.load_full();
    let views: Vec<(UpstreamId, Name, BillingView)> = snapshot
        .configuration
        .upstreams
        .iter()
        .map(|upstream| (upstream.id, upstream.name.clone(), BillingView::of(&shared, &snapshot, upstream)))
        .collect();
    let told: Vec<UpstreamId> = views.iter().filter(|(.., view)| view.is_told()).map(|(id, ..)| *id).collect();
    let spent = spend::spent(&database, &snapshot.configuration, from, to, query.by);
    let notes = notes(&database, &snapshot.configuration, from, to);
    let balances = balances(&shared, &database, &views, now);
    let multipliers = multipliers(&database, &told, now);
    let (spent, (unpriced, tokens), balances, mut multipliers) = tokio::try_join!(spent, notes, balances, multipliers)?;
    let mut verdicts = verdicts::newest(&shared, &database, &told).await;
    let upstream = |(upstream_id, name, billing): (UpstreamId, Name, BillingView)| UpstreamCosts {
        upstream_id,
        name,
        windows: verdicts.remove(&upstream_id).map(|verdict| verdict.windows),
        multipliers: multipliers.remove(&upstream_id).unwrap_or_default(),
        billing,
    };
    let upstreams = views.into_iter().filter(|(id, ..)| told.contains(id)).map(upstream).collect();
    Ok(Json(Costs { spent, unpriced, tokens, balances, upstreams }))
}
