//! `/revisions`: what was changed when and by whom; differences; going back.

use std::sync::Arc;

use axum::{Json, extract::State};
use headgate_domain::{
    Configuration, Revision,
    diff::{Change, diff},
};
use headgate_store::revisions::RevisionRecord;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    error::{
        ApiError,
        extract::{Path, Query},
    },
    upstreams::List,
};
use crate::shared::Shared;

/// Which part of the list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// Revisions older than this one.
    cursor: Option<i64>,
    /// Rows of a page (1–200).
    per_page: Option<i64>,
}

/// What to compare with.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Against {
    /// An earlier revision; absent: the one before.
    against: Option<i64>,
}

/// A difference.
#[derive(Serialize, ToSchema)]
struct DiffView {
    /// The earlier revision.
    from: Revision,
    /// The later one.
    to: Revision,
    /// What is different.
    changes: Vec<Change>,
}

/// What rolling back did.
#[derive(Serialize, ToSchema)]
struct RolledBack {
    /// The new revision.
    revision: Revision,
    /// What is different from before.
    changes: Vec<Change>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(difference)).routes(routes!(roll_back))
}

/// Revisions, newest first
#[utoipa::path(get, path = "/revisions", tag = "revisions", params(PageQuery), responses((status = 200, body = List<RevisionRecord>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    Query(page): Query<PageQuery>,
) -> Result<Json<List<RevisionRecord>>, ApiError> {
    let per_page = page.per_page.unwrap_or(50).clamp(1, 200);
    let items = shared.control.database()?.revisions(per_page, page.cursor.map(Revision)).await?;
    let full = i64::try_from(items.len()).unwrap_or(0) == per_page;
    let next = items.last().filter(|_| full).map(|r| r.id.to_string());
    Ok(Json(List { items, next, total: None }))
}

async fn document(shared: &Shared, id: Revision) -> Result<Configuration, ApiError> {
    if id.0 == 0 {
        return Ok(Configuration::default());
    }
    let found = shared.control.database()?.revision(id).await?;
    found.map(|(_, document)| document).ok_or_else(|| ApiError::not_found(format!("revision as {id}")))
}

/// What a revision changed
#[utoipa::path(get, path = "/revisions/{id}/diff", tag = "revisions", params(("id" = i64, Path), Against), responses((status = 200, body = DiffView)))]
async fn difference(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<Revision>,
    Query(query): Query<Against>,
) -> Result<Json<DiffView>, ApiError> {
    let from = Revision(query.against.unwrap_or(id.0 - 1).max(0));
    let (before, after) = (document(&shared, from).await?, document(&shared, id).await?);
    Ok(Json(DiffView { from, to: id, changes: diff(&before, &after) }))
}

/// Go back to a revision: its objects become a new one
#[utoipa::path(post, path = "/revisions/{id}/roll-back", tag = "revisions", params(("id" = i64, Path)), responses((status = 200, body = RolledBack)))]
async fn roll_back(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<Revision>,
) -> Result<Json<RolledBack>, ApiError> {
    let edited = shared.roll_back(id, author.as_str()).await?;
    Ok(Json(RolledBack { revision: edited.revision, changes: edited.changes }))
}
