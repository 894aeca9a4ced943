//! `/requests`: the record of what was asked and answered.

use std::sync::Arc;

use axum::{Json, extract::State};
use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{AttemptRecord, ErrorSource, GroupId, KeyId, Protocol, RequestRecord, UpstreamId};
use headgate_store::requests::{Filter, Item, Options, Paging, Stats, StatusWord, TokensWord, Unnamed};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};
use uuid::Uuid;

use super::{
    error::{
        ApiError,
        extract::{Path, Query},
    },
    upstreams::List,
};
use crate::shared::Shared;

/// Which requests; every parameter narrows.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(super) struct FilterQuery {
    /// Started at this time or later (RFC 3339).
    since: Option<DateTime<Utc>>,
    /// Started before this time.
    until: Option<DateTime<Utc>>,
    /// Group id.
    group: Option<i64>,
    /// Key id.
    key: Option<i64>,
    /// Any attempt at this upstream.
    upstream: Option<i64>,
    /// Exactly this model.
    model: Option<String>,
    /// Protocol of the client.
    protocol: Option<Protocol>,
    /// Client program.
    client: Option<String>,
    /// direct_success, failover_success, failed, partial, canceled, client_error, ok or fail.
    status: Option<String>,
    /// Error kind, or its beginning.
    error_kind: Option<String>,
    /// Whose fault.
    error_source: Option<ErrorSource>,
    /// Streams only, or the others only.
    stream: Option<bool>,
    /// More than one attempt.
    retried: Option<bool>,
    /// Took so many milliseconds or longer.
    slow_ms: Option<i64>,
    /// Request id, or its beginning.
    id: Option<String>,
    /// Beginning of the id, or part of address or user agent.
    q: Option<String>,
    /// Priced in full, or charged for and not; this and what follows is asked of the attempts at the upstream, if one is
    /// named.
    priced: Option<bool>,
    /// Whose tokens the upstream reported, are estimated by what passed through, or are unknown; or whose output was
    /// both reported and counted here.
    #[param(inline)]
    tokens: Option<TokensWord>,
    /// Ended later than this. Without `since` a day before it is looked at.
    ended_after: Option<DateTime<Utc>>,
    /// Ended at this time or earlier.
    ended_by: Option<DateTime<Utc>>,
    /// That asked for no model, showed no known key, or belong to no group.
    #[param(inline)]
    without: Option<Unnamed>,
}

/// How long before its end a request may have started.
const LASTS: TimeDelta = TimeDelta::days(1);

/// Which part of the list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct PageQuery {
    /// What `next` of the page before said.
    cursor: Option<String>,
    /// Page number from 1, with the total; instead of a cursor.
    page: Option<i64>,
    /// Rows of a page (1–500).
    per_page: Option<i64>,
}

impl TryFrom<FilterQuery> for Filter {
    type Error = ApiError;
    fn try_from(q: FilterQuery) -> Result<Self, ApiError> {
        let status = q.status.map(|word| word.parse::<StatusWord>()).transpose();
        Ok(Self {
            since: q.since.or_else(|| q.ended_after?.checked_sub_signed(LASTS)),
            until: q.until.or_else(|| q.ended_by?.checked_add_signed(TimeDelta::microseconds(1))),
            group: q.group.map(GroupId),
            key: q.key.map(KeyId),
            upstream: q.upstream.map(UpstreamId),
            model: q.model,
            protocol: q.protocol,
            client: q.client,
            status: status.map_err(|why| ApiError::bad_request(why.to_string()).with_field("status"))?,
            error_kind: q.error_kind,
            error_source: q.error_source,
            stream: q.stream,
            retried: q.retried,
            slow_ms: q.slow_ms,
            id: q.id,
            text: q.q,
            priced: q.priced,
            tokens: q.tokens,
            ended_after: q.ended_after,
            ended_by: q.ended_by,
            without: q.without,
        })
    }
}

/// A request with its attempts.
#[derive(Serialize, ToSchema)]
struct Detail {
    /// The request.
    #[serde(flatten)]
    request: RequestRecord,
    /// Its attempts in order.
    attempts: Vec<AttemptRecord>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(stats)).routes(routes!(options)).routes(routes!(read))
}

/// Requests, newest first
#[utoipa::path(get, path = "/requests", tag = "requests", params(FilterQuery, PageQuery), responses((status = 200, body = List<Item>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    Query(filter): Query<FilterQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<List<Item>>, ApiError> {
    let paging = match (page.cursor, page.page) {
        (Some(cursor), _) => {
            let cursor = cursor.parse().map_err(|why: headgate_store::requests::BadFilter| {
                ApiError::bad_request(why.to_string()).with_field("cursor")
            })?;
            Paging::After(Some(cursor))
        }
        (None, Some(number)) => Paging::Number(number),
        (None, None) => Paging::After(None),
    };
    let database = shared.control.database()?;
    let found = database.requests(&filter.try_into()?, paging, page.per_page.unwrap_or(50)).await?;
    Ok(Json(List { items: found.items, next: found.next.map(|c| c.to_string()), total: found.total }))
}

/// Figures of the requests that pass a filter
#[utoipa::path(get, path = "/requests/stats", tag = "requests", params(FilterQuery), responses((status = 200, body = Stats)))]
async fn stats(State(shared): State<Arc<Shared>>, Query(filter): Query<FilterQuery>) -> Result<Json<Stats>, ApiError> {
    Ok(Json(shared.control.database()?.request_stats(&filter.try_into()?).await?))
}

/// Values to filter by
#[utoipa::path(get, path = "/requests/options", tag = "requests", params(FilterQuery), responses((status = 200, body = Options)))]
async fn options(
    State(shared): State<Arc<Shared>>,
    Query(filter): Query<FilterQuery>,
) -> Result<Json<Options>, ApiError> {
    Ok(Json(shared.control.database()?.request_options(filter.since, filter.until).await?))
}

/// One request with its attempts
#[utoipa::path(get, path = "/requests/{id}", tag = "requests", params(("id" = Uuid, Path)), responses((status = 200, body = Detail)))]
async fn read(State(shared): State<Arc<Shared>>, Path(id): Path<Uuid>) -> Result<Json<Detail>, ApiError> {
    let found = shared.control.database()?.request(id).await?;
    let (request, attempts) = found.ok_or_else(|| ApiError::not_found("request; it may still be under way"))?;
    Ok(Json(Detail { request, attempts }))
}
