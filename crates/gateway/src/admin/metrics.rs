//! `/metrics`: figures for Prometheus.

use std::sync::Arc;

use axum::{extract::State, response::IntoResponse};
use http::header;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::shared::Shared;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Figures as text, in the form of OpenMetrics
#[utoipa::path(get, path = "/metrics", tag = "status", responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
async fn metrics(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], shared.metrics.text(&shared))
}
