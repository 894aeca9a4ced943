//! `/whatif`: recorded traffic through another configuration.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{Configuration, GroupId};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{
    ApiError,
    extract::{Body, Query},
};
use crate::{
    shared::Shared,
    whatif::{Comparison, MOST},
};

/// Which traffic.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TimeQuery {
    /// From when; a day before `until` if absent.
    since: Option<DateTime<Utc>>,
    /// Until when; now if absent.
    until: Option<DateTime<Utc>>,
    /// What the file does not list is left out.
    #[serde(default)]
    prune: bool,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(of_file)).routes(routes!(of_group))
}

/// Replay recorded traffic through a configuration file (YAML or JSON)
///
/// Nothing is sent and nothing changes. Upstreams answer as they did at the time.
#[utoipa::path(post, path = "/whatif", tag = "configuration", params(TimeQuery), request_body(content = String, content_type = "application/yaml"), responses((status = 200, body = Comparison)))]
async fn of_file(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<TimeQuery>,
    text: String,
) -> Result<Json<Comparison>, ApiError> {
    let time = query.time(&shared)?;
    let draft = shared.draft(&text, query.prune).await?;
    compare(&shared, draft, time).await
}

/// Replay recorded traffic with one group changed
///
/// The body is the JSON merge patch that would be sent to change it.
#[utoipa::path(post, path = "/groups/{id}/whatif", tag = "groups", params(("id" = i64, Path), TimeQuery), request_body = Object, responses((status = 200, body = Comparison)))]
async fn of_group(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<i64>,
    Query(query): Query<TimeQuery>,
    Body(patch): Body<Map<String, Value>>,
) -> Result<Json<Comparison>, ApiError> {
    let time = query.time(&shared)?;
    let draft = shared.draft_group(GroupId(id), &patch).await?;
    compare(&shared, draft, time).await
}

type Time = (DateTime<Utc>, DateTime<Utc>);

impl TimeQuery {
    fn time(&self, shared: &Shared) -> Result<Time, ApiError> {
        let until = self.until.unwrap_or_else(|| shared.clock.wall());
        let since = self.since.unwrap_or(until - TimeDelta::days(1));
        if since >= until {
            return Err(ApiError::bad_request("since is not before until").with_field("since"));
        }
        Ok((since, until))
    }
}

async fn compare(shared: &Arc<Shared>, draft: Configuration, time: Time) -> Result<Json<Comparison>, ApiError> {
    let traffic = shared.control.database()?.recorded(time.0, time.1, MOST).await?;
    let comparison = shared.what_if(draft, traffic, time).await;
    comparison.map(Json).ok_or_else(|| ApiError::internal("the replay failed; the log says why"))
}
