//! `/apply` and `/export`: the configuration file.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse};
use headgate_domain::{Revision, file};
use http::header;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{ApiError, extract::Query};
use crate::{
    control::{Applied, ApplyOptions},
    shared::Shared,
};

/// How a file is applied.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct ApplyQuery {
    /// Only say what would change.
    dry_run: bool,
    /// Also remove what the file does not list.
    prune: bool,
    /// Make a renamed object's listed name anew.
    allow_recreate: bool,
    /// Refuse if the configuration is at another revision.
    expect_revision: Option<i64>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(apply)).routes(routes!(export))
}

/// Apply a configuration file (YAML or JSON): all or nothing
#[utoipa::path(post, path = "/apply", tag = "configuration", params(ApplyQuery), request_body(content = String, content_type = "application/yaml"), responses((status = 200, body = Applied)))]
async fn apply(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<ApplyQuery>,
    body: String,
) -> Result<Json<Applied>, ApiError> {
    let options = ApplyOptions {
        dry_run: query.dry_run,
        prune: query.prune,
        allow_recreate: query.allow_recreate,
        expect_revision: query.expect_revision.map(Revision),
    };
    Ok(Json(shared.apply(&body, options, "apply").await?))
}

/// The configuration as a file, without any secret
#[utoipa::path(get, path = "/export", tag = "configuration", responses((status = 200, body = String, content_type = "application/yaml")))]
async fn export(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let snapshot = shared.snapshot.load_full();
    ([(header::CONTENT_TYPE, "application/yaml")], file::export(&snapshot.configuration))
}
