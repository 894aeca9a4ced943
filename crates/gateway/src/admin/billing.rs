//! What upstreams charge: asking them now, a multiplier by hand, and whether the bill is right.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use headgate_domain::{Concern, Upstream, UpstreamId, upstream::BillingKind};
use headgate_pricing::{
    Currency,
    compare::{Reason, Status},
};
use headgate_store::billing::{ManualMultiplier, Spoken};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    error::{
        ApiError,
        extract::{Body, Path},
    },
};
use crate::{
    billing::{self, RefreshError},
    control::ControlError,
    shared::Shared,
    snapshot::Snapshot,
    verdicts::{self, WindowView},
};

/// How collecting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum BillingState {
    /// Its billing is not asked about.
    NotAsked,
    /// Nothing was told yet.
    Pending,
    /// All was told.
    Ok,
    /// Something was not told: see the warning.
    Partial,
    /// The newest collection failed: see the error. Older figures stay in force for a day.
    Error,
}

/// What is known of an upstream's billing.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BillingView {
    /// How collecting goes.
    state: BillingState,
    /// The API that answered.
    spoken: Option<Spoken>,
    /// The multiplier in force now, before the credit ratio; as decisions take it.
    #[schema(value_type = Option<String>)]
    pub(super) multiplier: Option<Decimal>,
    /// What one unit of list price costs: multiplier ÷ credit ratio. What caps are compared with.
    #[schema(value_type = Option<String>)]
    pub(super) price: Option<Decimal>,
    /// The multiplier was set by hand.
    manual: bool,
    /// When the multiplier was stated or set.
    multiplier_at: Option<DateTime<Utc>>,
    /// What is left, in `currency`.
    #[schema(value_type = Option<String>)]
    pub(super) remaining: Option<Decimal>,
    /// The currency the site shows.
    pub(super) currency: Option<Currency>,
    /// Units of that for one of the currency that its figures are kept in; absent: it is the same.
    #[schema(value_type = Option<String>)]
    rate: Option<Decimal>,
    /// There is no end to what is left.
    pub(super) unlimited: bool,
    /// Nothing is left: it is not used.
    pub(super) exhausted: bool,
    /// The upstream's own group that the key belongs to.
    group: Option<String>,
    /// When the figures were told.
    pub(super) collected_at: Option<DateTime<Utc>>,
    /// When it was last asked.
    checked_at: Option<DateTime<Utc>>,
    /// When it is asked again.
    due_at: Option<DateTime<Utc>>,
    /// What the newest figures lack.
    warning: Option<String>,
    /// Why the newest collection failed.
    pub(super) error: Option<String>,
    /// Since when no collection has worked.
    pub(super) failing_since: Option<DateTime<Utc>>,
    /// The multiplier stated before the present one.
    #[schema(value_type = Option<String>)]
    pub(super) multiplier_before: Option<Decimal>,
    /// When it was first stated otherwise.
    multiplier_changed_at: Option<DateTime<Utc>>,
    /// Whether it charged what it said in the day before `collected_at`.
    verdict: Option<Status>,
    /// Why it looks so.
    pub(super) reason: Option<Reason>,
    /// How much more was charged, or stated, than explained in that day, in `currency`.
    #[schema(value_type = Option<String>)]
    pub(super) excess: Option<Decimal>,
    /// What was spent in that day, in `currency`, as far as its API tells.
    #[schema(value_type = Option<String>)]
    spent_day: Option<Decimal>,
    /// What needs a person.
    pub(super) concerns: BTreeSet<Concern>,
}

impl BillingView {
    /// Whether there is anything to show: it is asked for, or a person set something.
    pub(super) fn is_told(&self) -> bool {
        self.state != BillingState::NotAsked || self.manual
    }

    /// What is known of an upstream of this snapshot.
    pub(super) fn of(shared: &Shared, snapshot: &Snapshot, upstream: &Upstream) -> Self {
        let asked = upstream.spec.billing.kind != BillingKind::None;
        let row = shared.billing.row(upstream.id);
        let endpoint = snapshot.upstreams.get(&upstream.id);
        let status = row
            .as_ref()
            .zip(endpoint)
            .and_then(|(row, endpoint)| billing::current(row, upstream, endpoint, &shared.pepper))
            .cloned()
            .unwrap_or_default();
        let standing = snapshot.standings.get(&upstream.id).copied().unwrap_or_default();
        let manual = row.as_ref().and_then(|row| row.manual);
        let figures = status.figures.as_ref();
        let rate = status.shown.map_or(Decimal::ONE, |shown| shown.rate);
        let currency = status.shown.map(|shown| shown.currency).or(figures.map(|f| f.currency));
        let state = match (&status.error, figures, &status.warning) {
            _ if !asked => BillingState::NotAsked,
            (Some(_), ..) => BillingState::Error,
            (None, None, _) => BillingState::Pending,
            (None, Some(_), Some(_)) => BillingState::Partial,
            (None, Some(_), None) => BillingState::Ok,
        };
        let ratio = upstream.spec.billing.credit_ratio;
        let shown = |amount: Option<Decimal>| amount.and_then(|n| n.checked_mul(rate)).map(|n| n.normalize());
        let now = shared.clock.wall();
        let concerns = row
            .as_ref()
            .and_then(|row| billing::concerns(snapshot, upstream, row, &shared.pepper, now))
            .unwrap_or_default();
        let day = status.day.as_ref();
        Self {
            concerns,
            failing_since: status.failing_since,
            multiplier_before: status.multiplier_before.as_ref().map(|m| m.base.normalize()),
            multiplier_changed_at: status.multiplier_changed_at,
            verdict: day.map(|day| day.status),
            reason: day.map(|day| day.reason),
            excess: shown(day.and_then(|day| day.excess)),
            spent_day: shown(day.and_then(|day| day.spent)),
            state,
            spoken: status.spoken,
            multiplier: standing.multiplier.map(|m| m.normalize()),
            price: standing.multiplier.and_then(|m| headgate_routing::price(m, ratio)).map(|p| p.normalize()),
            manual: manual.is_some(),
            multiplier_at: manual.map(|manual| manual.at).or(status.multiplier_at),
            remaining: shown(figures.and_then(|f| f.remaining)),
            currency,
            rate: status.shown.map(|shown| shown.rate.normalize()),
            unlimited: status.unlimited,
            exhausted: standing.exhausted,
            group: status.group,
            collected_at: figures.map(|f| f.at),
            checked_at: status.checked_at,
            due_at: row.map(|row| row.due_at).filter(|_| asked),
            warning: status.warning,
            error: status.error,
        }
    }
}

/// A larger multiplier is a slip of the hand.
const MOST: Decimal = Decimal::from_parts(1_000_000, 0, 0, false, 0);

/// A multiplier set by hand.
#[derive(Deserialize, ToSchema)]
struct ManualBody {
    /// How much; more than 0.
    #[schema(value_type = String)]
    multiplier: Decimal,
}

/// Whether an upstream charged what it said.
#[derive(Serialize, ToSchema)]
struct CostsView {
    /// The upstream.
    upstream_id: UpstreamId,
    /// What its billing says now.
    billing: BillingView,
    /// The comparison over the last hour, day and week.
    windows: Vec<WindowView>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(refresh)).routes(routes!(set, unset)).routes(routes!(costs))
}

fn view(shared: &Shared, id: UpstreamId) -> Result<BillingView, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let upstream = snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    Ok(BillingView::of(shared, &snapshot, upstream))
}

/// Ask an upstream for its billing now
///
/// Waits for the result, which takes ten seconds at most, or twenty if it is being asked already. A collection that failed is told in `error`.
#[utoipa::path(post, path = "/upstreams/{id}/billing/refresh", tag = "upstreams", params(("id" = i64, Path)), responses((status = 200, body = BillingView)))]
async fn refresh(State(shared): State<Arc<Shared>>, Path(id): Path<UpstreamId>) -> Result<Json<BillingView>, ApiError> {
    match billing::refresh(&shared, id).await {
        Ok(()) => {
            shared.verdicts.forget(id);
            Ok(Json(view(&shared, id)?))
        }
        Err(RefreshError::NotFound) => Err(ApiError::not_found("upstream")),
        Err(why @ RefreshError::NotAsked) => Err(ApiError::bad_request(why.to_string()).with_field("billing.kind")),
        Err(RefreshError::Control(why)) => Err(why.into()),
        Err(RefreshError::Database(why)) => Err(ControlError::from(why).into()),
    }
}

/// Set the multiplier by hand
///
/// It goes before what the upstream states until it is removed.
#[utoipa::path(put, path = "/upstreams/{id}/billing/multiplier", tag = "upstreams", params(("id" = i64, Path)), request_body = ManualBody, responses((status = 200, body = BillingView)))]
async fn set(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<UpstreamId>,
    Body(body): Body<ManualBody>,
) -> Result<Json<BillingView>, ApiError> {
    if body.multiplier <= Decimal::ZERO || body.multiplier > MOST {
        return Err(
            ApiError::bad_request("a multiplier is greater than 0 and at most 1,000,000").with_field("multiplier")
        );
    }
    let manual = ManualMultiplier { multiplier: body.multiplier, at: shared.clock.wall() };
    by_hand(&shared, &author, id, Some(&manual)).await
}

/// Remove the multiplier set by hand
#[utoipa::path(delete, path = "/upstreams/{id}/billing/multiplier", tag = "upstreams", params(("id" = i64, Path)), responses((status = 200, body = BillingView)))]
async fn unset(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<UpstreamId>,
) -> Result<Json<BillingView>, ApiError> {
    by_hand(&shared, &author, id, None).await
}

async fn by_hand(
    shared: &Shared,
    author: &Author,
    id: UpstreamId,
    manual: Option<&ManualMultiplier>,
) -> Result<Json<BillingView>, ApiError> {
    view(shared, id)?;
    let database = shared.control.database()?;
    let now = manual.map_or_else(|| shared.clock.wall(), |manual| manual.at);
    let stored = database.set_manual_multiplier(id, manual, now, author.as_str()).await;
    stored.map_err(ControlError::from)?;
    billing::read(shared, &database, Some(id)).await;
    shared.verdicts.forget(id);
    tracing::info!(upstream.id = id.0, set = manual.is_some(), "multiplier changed by hand");
    Ok(Json(view(shared, id)?))
}

/// Whether an upstream charged what it said
///
/// Over the last hour, day and week: its own figures against our own records.
#[utoipa::path(get, path = "/costs/{upstream}", tag = "prices", params(("upstream" = i64, Path)), responses((status = 200, body = CostsView)))]
async fn costs(State(shared): State<Arc<Shared>>, Path(id): Path<UpstreamId>) -> Result<Json<CostsView>, ApiError> {
    let billing = view(&shared, id)?;
    let database = shared.control.database()?;
    let windows = verdicts::windows(&shared, &database, id).await.map_err(ControlError::from)?;
    Ok(Json(CostsView { upstream_id: id, billing, windows }))
}
