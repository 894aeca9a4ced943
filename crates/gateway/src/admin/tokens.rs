//! `/costs/{upstream}/tokens`: tokens reported against tokens that passed through.

use std::sync::Arc;

use axum::{Json, extract::State};
use headgate_domain::UpstreamId;
use headgate_pricing::compare::Window;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    charges::Span,
    error::{
        ApiError,
        extract::{Path, Query},
    },
};
use crate::{control::ControlError, shared::Shared};

/// How far an estimate by length may be off, for code and prose in the usual languages.
const ESTIMATED: Decimal = Decimal::from_parts(33, 0, 0, false, 2);
/// How far a count may be off: tokens that stand between texts and calls.
const COUNTED: Decimal = Decimal::from_parts(10, 0, 0, false, 2);

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct TokensQuery {
    /// `1h`, `24h` or `7d`, until now.
    #[param(inline)]
    window: Span,
}

/// The tokens of one model.
#[derive(Serialize, ToSchema)]
struct ModelTokens {
    /// The model, by the name the upstream was asked for.
    model: String,
    /// The vocabulary that the text was counted with; absent: it is estimated by length.
    counted_with: Option<String>,
    /// Whole answers with usage.
    requests: i64,
    /// Output tokens reported, without reasoning that was reported apart.
    reported: i64,
    /// Output tokens observed.
    observed: i64,
    /// Reported ÷ observed: 1 is honest. Reasoning that is neither shown nor reported apart makes it larger.
    #[schema(value_type = String, examples("1.02"))]
    inflation: Decimal,
    /// What it may be off for the way of counting alone, as a share.
    #[schema(value_type = String, examples("0.1"))]
    error: Decimal,
}

/// Tokens reported against tokens that passed through.
#[derive(Serialize, ToSchema)]
struct TokensView {
    /// The upstream.
    upstream_id: UpstreamId,
    /// When.
    window: Window,
    /// By model, those with most answers first.
    items: Vec<ModelTokens>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(tokens))
}

/// Tokens reported against tokens that passed through
///
/// Output alone, by model. Models of OpenAI's families are counted with their vocabulary, others estimated by length.
#[utoipa::path(get, path = "/costs/{upstream}/tokens", tag = "prices", params(("upstream" = i64, Path), TokensQuery), responses((status = 200, body = TokensView)))]
async fn tokens(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Query(query): Query<TokensQuery>,
) -> Result<Json<TokensView>, ApiError> {
    if shared.snapshot.load().configuration.upstream(id).is_none() {
        return Err(ApiError::not_found("upstream"));
    }
    let window = query.window.window(&shared);
    let found = shared.control.database()?.reported_tokens(id, window.from, window.to).await;
    let items = found.map_err(ControlError::from)?.into_iter().map(|row| ModelTokens {
        inflation: (Decimal::from(row.reported) / Decimal::from(row.observed.max(1))).round_dp(3).normalize(),
        error: if row.counted_with.is_some() { COUNTED } else { ESTIMATED }.normalize(),
        model: row.model,
        counted_with: row.counted_with,
        requests: row.requests,
        reported: row.reported,
        observed: row.observed,
    });
    Ok(Json(TokensView { upstream_id: id, window, items: items.collect() }))
}
