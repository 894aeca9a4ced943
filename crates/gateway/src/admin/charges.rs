//! `/costs/{upstream}/charges`: single charges against single requests.

use std::sync::Arc;

use axum::{Json, extract::State};
use chrono::TimeDelta;
use headgate_domain::UpstreamId;
use headgate_pricing::compare::Window;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{
    ApiError,
    extract::{Path, Query},
};
use crate::{
    billing::{Evidence, Pair, Reconciled, Sums},
    control::ControlError,
    shared::Shared,
};

/// Rows of a page at most.
const PAGE: usize = 200;

/// A span that ends now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub(super) enum Span {
    /// An hour.
    #[serde(rename = "1h")]
    Hour,
    /// A day.
    #[default]
    #[serde(rename = "24h")]
    Day,
    /// A week.
    #[serde(rename = "7d")]
    Week,
}

impl Span {
    /// Its name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    /// The window that ends now.
    pub(super) fn window(self, shared: &Shared) -> Window {
        let to = shared.clock.wall();
        let lasts = match self {
            Self::Hour => TimeDelta::hours(1),
            Self::Day => TimeDelta::hours(24),
            Self::Week => TimeDelta::days(7),
        };
        Window { from: to - lasts, to }
    }
}

/// Which rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    /// All.
    #[default]
    All,
    /// Charges with their request.
    Matched,
    /// Pairs that differ.
    Differing,
    /// Requests without a charge.
    Ours,
    /// Charges without a request.
    Theirs,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct ChargesQuery {
    /// `1h`, `24h` or `7d`, until now.
    #[param(inline)]
    window: Span,
    /// `all`, `matched` (charges with their request), `differing`, `ours` (requests without a charge) or `theirs` (charges without a request).
    #[param(inline)]
    which: Which,
    /// Which page, from 1.
    page: Option<usize>,
    /// Rows of a page; 50, at most 200.
    per_page: Option<usize>,
}

/// Single charges against single requests, newest first.
#[derive(Serialize, ToSchema)]
struct ChargesView {
    /// The upstream.
    upstream_id: UpstreamId,
    /// What was compared: the part of the window that the upstream's list of charges covers; absent: it lists none.
    compared: Option<Window>,
    /// Sums of the whole window.
    sums: Sums,
    /// Older rows were left out: there were too many.
    is_cut: bool,
    /// The page.
    items: Vec<Pair>,
    /// Rows of this kind in all.
    total: usize,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(charges))
}

/// Reads and compares both sides of a window.
pub(super) async fn reconciled(
    shared: &Shared,
    upstream: UpstreamId,
    window: Window,
) -> Result<(Evidence, Reconciled), ApiError> {
    if shared.snapshot.load().configuration.upstream(upstream).is_none() {
        return Err(ApiError::not_found("upstream"));
    }
    let database = shared.control.database()?;
    let evidence = Evidence::read(shared, &database, upstream, (window.from, window.to), None).await;
    let evidence = evidence.map_err(ControlError::from)?;
    let reconciled = Reconciled::read(&database, upstream, window, &evidence).await.map_err(ControlError::from)?;
    Ok((evidence, reconciled))
}

/// Single charges against single requests
///
/// One to one: by the request id that both know, else by model, tokens and time. A charge without a request is traffic
/// from elsewhere on the same key or account.
#[utoipa::path(get, path = "/costs/{upstream}/charges", tag = "prices", params(("upstream" = i64, Path), ChargesQuery), responses((status = 200, body = ChargesView)))]
async fn charges(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Query(query): Query<ChargesQuery>,
) -> Result<Json<ChargesView>, ApiError> {
    let (_, Reconciled { window, pairs, sums, is_cut }) = reconciled(&shared, id, query.window.window(&shared)).await?;
    let is_wanted = |pair: &Pair| match query.which {
        Which::All => true,
        Which::Matched => pair.charge.is_some() && pair.request.is_some(),
        Which::Differing => !pair.differences.is_empty(),
        Which::Ours => pair.charge.is_none(),
        Which::Theirs => pair.request.is_none(),
    };
    let wanted: Vec<Pair> = pairs.into_iter().filter(is_wanted).collect();
    let (page, size) = (query.page.unwrap_or(1).max(1), query.per_page.unwrap_or(50).clamp(1, PAGE));
    let total = wanted.len();
    let items = wanted.into_iter().skip((page - 1).saturating_mul(size)).take(size).collect();
    Ok(Json(ChargesView { upstream_id: id, compared: window, sums, is_cut, items, total }))
}
