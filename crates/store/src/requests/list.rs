//! The list and one request.

use headgate_domain::{AttemptRecord, Outcome, RequestRecord, UpstreamId};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use super::filter::{BadFilter, Cursor, Filter};
use crate::database::{Database, DatabaseError};

/// Most rows of a page.
const PAGE_MAX: i64 = 500;
/// A total beyond this is not counted.
const TOTAL_MAX: i64 = 10_000;

/// Which part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paging {
    /// What follows a row, or the beginning.
    After(Option<Cursor>),
    /// A page by its number, from 1, with the total.
    Number(i64),
}

/// A part of the list, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its rows.
    pub items: Vec<Item>,
    /// Where it goes on; none at the end.
    pub next: Option<Cursor>,
    /// How many there are, exact up to 10,000 (10,000 stands for more); only for a page by number.
    pub total: Option<i64>,
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Item {
    /// The request.
    #[serde(flatten)]
    pub request: RequestRecord,
    /// Its attempts in short, in order.
    pub route: Vec<RouteStep>,
}

/// An attempt in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RouteStep {
    /// 1, 2, 3 …
    pub number: i32,
    /// Upstream.
    pub upstream_id: UpstreamId,
    /// Its name at the time.
    pub upstream_name: String,
    /// HTTP status of the upstream.
    pub status: Option<i32>,
    /// How it ended.
    pub outcome: Outcome,
    /// Class and detail of the failure.
    pub error_kind: Option<String>,
}

/// Why a list was not made.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The filter cannot be.
    #[error(transparent)]
    Filter(#[from] BadFilter),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl From<sqlx::Error> for ListError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

/// A statement over the filtered rows `r` of `headgate.requests`: `head` with its `from` and the condition on the
/// upstream ($5) and on what figures are made of ($21 to $24, see `migrations/0010_traces.sql`), the other conditions,
/// `tail`. Parameters from $26 are the statement's own. Plans are made for the values at hand (see `database.rs`), so an
/// absent condition costs nothing.
macro_rules! filtered {
    ([$($head:tt)*], [$($tail:tt)*], $filter:expr, $bound:expr $(, $own:expr)* $(,)?) => {
        sqlx::query!(
            $($head)* + " and ($1::timestamptz is null or r.started_at >= $1)
                and ($2::timestamptz is null or r.started_at < $2)
                and ($3::bigint is null or r.group_id = $3)
                and ($4::bigint is null or r.key_id = $4)
                and ($6::text is null or (left(r.model, 100) = left($6, 100) and r.model = $6))
                and ($7::text is null or r.protocol = $7)
                and ($8::text is null or r.client = $8)
                and ($9::text[] is null or r.outcome = any($9))
                and ($10::int is null or r.attempt_count >= $10)
                and ($11::int is null or r.attempt_count <= $11)
                and ($12::text is null or r.error_kind like $12)
                and ($13::text is null or r.error_source = $13)
                and ($14::boolean is null or r.stream = $14)
                and ($15::bigint is null or r.duration_ms >= $15)
                and ($16::uuid is null or r.id between $16 and $17::uuid)
                and ($18::text is null or r.client_ip ilike $18 or r.user_agent ilike $18 or r.id between $19::uuid and $20::uuid)
                and ($25::text is null or case $25 when 'model' then r.model is null when 'key' then r.key_id is null
                    else r.group_id is null end)"
                + $($tail)*,
            $filter.since,
            $filter.until,
            $filter.group.map(|id| id.0),
            $filter.key.map(|id| id.0),
            $filter.upstream.map(|id| id.0),
            $bound.model,
            $filter.protocol.map(headgate_domain::Protocol::as_str),
            $bound.client,
            $bound.outcomes.as_deref(),
            $bound.min_attempts,
            $bound.max_attempts,
            $bound.error_kind,
            $bound.error_source,
            $filter.stream,
            $filter.slow_ms,
            $bound.id_from,
            $bound.id_to,
            $bound.text,
            $bound.text_id_from,
            $bound.text_id_to,
            $filter.priced,
            $filter.tokens.map($crate::requests::TokensWord::as_str),
            $filter.ended_after,
            $filter.ended_by,
            $filter.without.map($crate::requests::Unnamed::as_str)
            $(, $own)*
        )
    };
}
pub(super) use filtered;

/// The rows of a page. The inner part finds them, the outer one reads them and their attempts.
macro_rules! rows {
    ($from:tt, $order:tt, $filter:expr, $bound:expr $(, $own:expr)* $(,)?) => {
        filtered!(
            [r#"select to_jsonb(r) || jsonb_build_object('cost', r.cost::text) as "request!: Json<RequestRecord>", coalesce((
                select jsonb_agg(jsonb_build_object('number', a.number, 'upstream_id', a.upstream_id,
                    'upstream_name', a.upstream_name, 'status', a.status, 'outcome', a.outcome,
                    'error_kind', a.error_kind) order by a.number)
                from headgate.attempts a where a.started_at = r.started_at and a.request_id = r.id
            ), '[]') as "route!: Json<Vec<RouteStep>>"
            from (select r.* from "#
                + $from],
            [$order + " limit $28 offset $29) r order by r.started_at desc, r.id desc"],
            $filter,
            $bound
            $(, $own)*
        )
    };
}

impl Database {
    /// Requests that pass the filter, newest first, `per_page` (1–500) of them.
    pub async fn requests(&self, filter: &Filter, paging: Paging, per_page: i64) -> Result<Page, ListError> {
        let bound = filter.bind()?;
        let per_page = per_page.clamp(1, PAGE_MAX);
        let (cursor, offset) = match paging {
            Paging::After(cursor) => (cursor, 0),
            Paging::Number(number) => (None, (number.max(1) - 1).saturating_mul(per_page)),
        };
        let (cursor_time, cursor_id) = (cursor.map(|c| c.started_at), cursor.map(|c| c.id));
        let mut items: Vec<Item> = if filter.upstream.is_some() {
            // Walks the upstream's attempts, the first of each request, rather than asking every request for them;
            // written so that the planner has no other choice.
            rows!(
                "headgate.attempts u cross join lateral (
                    select * from headgate.requests q where q.started_at = u.started_at and q.id = u.request_id offset 0
                ) r
                where u.upstream_id = $5::bigint
                    and headgate.attempt_passes(u, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz)
                    and u.number = (
                    select min(e.number) from headgate.attempts e where e.started_at = u.started_at
                    and e.request_id = u.request_id and e.upstream_id = $5
                    and headgate.attempt_passes(e, $21, $22, $23, $24))",
                " and ($1::timestamptz is null or u.started_at >= $1) and ($2::timestamptz is null or u.started_at < $2)
                and ($26::timestamptz is null or (u.started_at, u.request_id) < ($26, $27::uuid))
                order by u.started_at desc, u.request_id desc",
                filter,
                bound,
                cursor_time,
                cursor_id,
                per_page + 1,
                offset,
            )
            .fetch_all(self.pool())
            .await?
            .into_iter()
            .map(|row| Item { request: row.request.0, route: row.route.0 })
            .collect()
        } else {
            rows!(
                "headgate.requests r where $5::bigint is null
                    and headgate.request_passes(r, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz)",
                " and ($26::timestamptz is null or (r.started_at, r.id) < ($26, $27::uuid))
                order by r.started_at desc, r.id desc",
                filter,
                bound,
                cursor_time,
                cursor_id,
                per_page + 1,
                offset,
            )
            .fetch_all(self.pool())
            .await?
            .into_iter()
            .map(|row| Item { request: row.request.0, route: row.route.0 })
            .collect()
        };
        let more = i64::try_from(items.len()).unwrap_or(i64::MAX) > per_page;
        items.truncate(usize::try_from(per_page).unwrap_or(usize::MAX));
        let next = items
            .last()
            .filter(|_| more)
            .map(|last| Cursor { started_at: last.request.started_at, id: last.request.id });
        let total = match paging {
            Paging::After(_) => None,
            Paging::Number(_) => Some(
                filtered!(
                    [r#"select count(*) as "total!" from (select from headgate.requests_of($5::bigint,
                    $1::timestamptz, $2::timestamptz, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz) r
                    where true"#],
                    [" limit $26) r"],
                    filter,
                    bound,
                    TOTAL_MAX
                )
                .fetch_one(self.pool())
                .await?
                .total,
            ),
        };
        Ok(Page { items, next, total })
    }

    /// One request with its attempts.
    pub async fn request(&self, id: Uuid) -> Result<Option<(RequestRecord, Vec<AttemptRecord>)>, DatabaseError> {
        let row = sqlx::query!(
            r#"select to_jsonb(r) || jsonb_build_object('cost', r.cost::text) as "request!: Json<RequestRecord>", coalesce((
                select jsonb_agg(to_jsonb(a) || jsonb_build_object('cost', a.cost::text) order by a.number)
                from headgate.attempts a where a.started_at = r.started_at and a.request_id = r.id
            ), '[]') as "attempts!: Json<Vec<AttemptRecord>>"
            from headgate.requests r where r.id = $1"#,
            id
        )
        .fetch_optional(self.pool())
        .await?;
        Ok(row.map(|row| (row.request.0, row.attempts.0)))
    }
}
