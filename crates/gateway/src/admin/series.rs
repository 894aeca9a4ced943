//! `/overview/series`: how the last day went, in stretches.

use std::sync::Arc;

use axum::{Json, extract::State};
use chrono::{Duration, DurationRound as _};
use headgate_store::requests::Point;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::ApiError;
use crate::shared::Shared;

/// A day in quarters of an hour.
const STRETCHES: usize = 96;
const MINUTES: i64 = 15;

/// The last day.
#[derive(Serialize, ToSchema)]
struct Series {
    /// Length of a stretch in milliseconds.
    step_ms: i64,
    /// The stretches, oldest first, without gaps; the last is the one under way.
    points: Vec<Point>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(series))
}

/// The last 24 hours in quarters of an hour
#[utoipa::path(get, path = "/overview/series", tag = "status", responses((status = 200, body = Series)))]
async fn series(State(shared): State<Arc<Shared>>) -> Result<Json<Series>, ApiError> {
    let step = Duration::minutes(MINUTES);
    let now = shared.clock.wall();
    let current = now.duration_trunc(step).unwrap_or(now);
    let since = current - Duration::hours(24) + step;
    let points = shared.control.database()?.series(since, step, STRETCHES).await?;
    Ok(Json(Series { step_ms: step.num_milliseconds(), points }))
}
