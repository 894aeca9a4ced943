//! `/logs`: the newest lines of the log.

use std::sync::Arc;

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{error::extract::Query, upstreams::List};
use crate::{
    logs::{self, LogLine},
    shared::Shared,
};

/// Which lines.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LogQuery {
    /// Only lines after this number.
    #[serde(default)]
    after: u64,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// The newest lines of the log, oldest first
#[utoipa::path(get, path = "/logs", tag = "status", params(LogQuery), responses((status = 200, body = List<LogLine>)))]
async fn list(Query(query): Query<LogQuery>) -> Json<List<LogLine>> {
    Json(List::whole(logs::after(query.after)))
}
