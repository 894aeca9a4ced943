//! `/explain`: what would happen to a request, by the code that decides.

use std::sync::Arc;

use axum::{Json, extract::State};
use headgate_domain::{CredentialId, GroupId, KeyId, Protocol, UpstreamId, audit::Selection, upstream::Capability};
use headgate_routing::{Features, Forecast, Need, Reason, Tried};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{ApiError, extract::Query};
use crate::shared::Shared;

/// The request to explain.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ExplainQuery {
    /// The access key that asks (its policy counts); or a group.
    key: Option<i64>,
    /// The group, when there is no key.
    group: Option<i64>,
    /// The model asked for.
    model: String,
    /// What the client speaks.
    protocol: Protocol,
    /// Whether a stream is asked for.
    #[serde(default)]
    stream: bool,
    /// Features used, separated by commas: tools, images, documents, structured_output, reasoning.
    #[serde(default)]
    features: String,
    /// Estimated prompt in tokens.
    #[serde(default)]
    input: u64,
    /// The region asked for.
    region: Option<String>,
}

/// What would happen.
#[derive(Serialize, ToSchema)]
struct Explanation {
    /// The upstream that would be asked.
    chosen: Option<ChosenView>,
    /// Why nobody would be: the code a client would see.
    refusal: Option<&'static str>,
    /// Milliseconds until somebody can be asked again.
    retry_ms: Option<u64>,
    /// Every member in the order of the pool.
    candidates: Vec<CandidateView>,
}

#[derive(Serialize, ToSchema)]
struct ChosenView {
    /// The upstream.
    upstream: UpstreamId,
    /// Its credential.
    credential: Option<CredentialId>,
    /// The model name it would be asked for.
    sent_model: Option<String>,
    /// Why it.
    selection: Option<Selection>,
}

#[derive(Serialize, ToSchema)]
struct CandidateView {
    /// The upstream.
    upstream: UpstreamId,
    /// Its name.
    name: String,
    /// Its priority here.
    priority: i32,
    /// What became of it.
    #[serde(flatten)]
    reason: Reason,
    /// What it is expected to cost, where the strategy is `cheapest` and it was among those compared.
    forecast: Option<Forecast>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(explain))
}

/// Explain a route
#[utoipa::path(get, path = "/explain", tag = "routing", params(ExplainQuery), responses((status = 200, body = Explanation)))]
async fn explain(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<ExplainQuery>,
) -> Result<Json<Explanation>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let key = match query.key {
        Some(id) => Some(snapshot.keys.values().find(|k| k.id == KeyId(id)).ok_or_else(|| ApiError::not_found("key"))?),
        None => None,
    };
    let group = match (key, query.group) {
        (Some(key), _) => &key.group,
        (None, Some(id)) => snapshot.groups.get(&GroupId(id)).ok_or_else(|| ApiError::not_found("group"))?,
        (None, None) => return Err(ApiError::bad_request("name a key or a group").with_field("key")),
    };
    let mut features = Features::NONE;
    for word in query.features.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let feature: Capability = serde_json::from_value(word.into())
            .map_err(|_| ApiError::bad_request(format!("'{word}' is no feature")).with_field("features"))?;
        features = features.with(feature);
    }
    let model = headgate_domain::pattern::strip_context_mark(&query.model);
    let mut need = Need::new(query.protocol, model);
    need.stream = query.stream;
    need.features = features;
    need.estimated_input = query.input;
    need.region = query.region.as_deref();
    if let Some(key) = key {
        need.key = Some(key.id);
        need.key_regions = key.spec.regions.as_deref();
        need.key_labels = key.spec.labels.as_deref();
    }
    let (prices, wall) = (shared.prices.now(), shared.clock.wall());
    let rates = |upstream: UpstreamId, model: &str| prices.rates(upstream, model, query.input, wall);
    need.rates = &rates;
    let pool = group.pool_for(model);
    let now = shared.now();
    let explained = {
        let routing = &mut *shared.routing.lock();
        routing.health.explain(pool, &need, &Tried::new(), now, &mut routing.rng)
    };
    let candidates = pool
        .members
        .iter()
        .zip(&explained.reasons)
        .map(|(member, reason)| CandidateView {
            upstream: member.upstream,
            name: group.endpoint(member.upstream).map(|e| e.name.to_string()).unwrap_or_default(),
            priority: member.priority,
            reason: reason.reason,
            forecast: explained.forecasts.iter().find(|f| f.upstream == member.upstream).copied(),
        })
        .collect();
    Ok(Json(Explanation {
        chosen: explained.candidate.map(|c| ChosenView {
            upstream: c.upstream,
            credential: c.credential,
            sent_model: explained.sent_model.clone(),
            selection: explained.selection,
        }),
        refusal: explained.refusal.map(|r| r.as_str()),
        retry_ms: explained.retry_at.map(|at| u64::try_from(now.until(at).as_millis()).unwrap_or(u64::MAX)),
        candidates,
    }))
}
