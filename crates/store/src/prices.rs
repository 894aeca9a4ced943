//! Price lists that were in force, own prices, and pricing records anew.

use chrono::{DateTime, Utc};
use headgate_domain::{AttemptRecord, CostColumns, RequestId, UpstreamId};
use headgate_pricing::{Entry, Rule, Table};
use serde::Serialize;
use sqlx::types::Json;

use crate::database::{Database, DatabaseError};

/// How many lists are kept.
const LISTS: i64 = 60;

/// How fetching the list went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PriceState {
    /// Grows with every change of prices.
    #[serde(skip)]
    pub changes: i64,
    /// When it was last tried.
    pub checked_at: Option<DateTime<Utc>>,
    /// When it last worked.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// Why the last try failed; the list from before stays in force.
    pub error: Option<String>,
}

/// A new price of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repriced {
    /// Start of its request.
    pub started_at: DateTime<Utc>,
    /// Its request.
    pub request_id: RequestId,
    /// Its number.
    pub number: i32,
    /// What it costs.
    #[serde(flatten)]
    pub cost: CostColumns,
}

/// That records were priced anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repricing<'a> {
    /// When.
    pub at: DateTime<Utc>,
    /// On whose word.
    pub author: &'a str,
    /// From this time of the requests' start on.
    pub since: DateTime<Utc>,
    /// Before this time.
    pub until: DateTime<Utc>,
    /// By which list.
    pub version: &'a str,
    /// Attempts looked at.
    pub attempts: i64,
    /// Those of them whose cost changed.
    pub changed: i64,
}

/// Where a page of attempts ended.
pub type Place = (DateTime<Utc>, RequestId, i32);

impl Database {
    /// How fetching went, and whether prices have changed.
    pub async fn price_state(&self) -> Result<PriceState, DatabaseError> {
        let row = sqlx::query!("select changes, checked_at, succeeded_at, error from headgate.price_state")
            .fetch_optional(self.pool())
            .await?;
        Ok(row.map_or_else(PriceState::default, |row| PriceState {
            changes: row.changes,
            checked_at: row.checked_at,
            succeeded_at: row.succeeded_at,
            error: row.error,
        }))
    }

    /// Takes the next fetch upon this process, if the last one was before a time. One of several processes gets it.
    pub async fn claim_price_check(&self, now: DateTime<Utc>, before: DateTime<Utc>) -> Result<bool, DatabaseError> {
        let done = sqlx::query!(
            "update headgate.price_state set checked_at = $1 where checked_at is null or checked_at < $2",
            now,
            before
        )
        .execute(self.pool())
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// A fetch failed.
    pub async fn price_check_failed(&self, now: DateTime<Utc>, error: &str) -> Result<(), DatabaseError> {
        sqlx::query!("update headgate.price_state set checked_at = $1, error = $2", now, error)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// Keeps a fetched list, and forgets very old ones.
    pub async fn store_price_list(&self, table: &Table, now: DateTime<Utc>) -> Result<(), DatabaseError> {
        let version = table.version();
        let mut transaction = self.pool().begin().await?;
        sqlx::query!(
            "insert into headgate.price_lists (version, source, date, models, body, fetched_at)
            values ($1, $2, $3, $4, $5, $6)
            on conflict (version) do update set fetched_at = excluded.fetched_at, body = excluded.body, date = excluded.date",
            version.id,
            version.source,
            version.date,
            i32::try_from(table.len()).unwrap_or(i32::MAX),
            table.to_text(),
            now
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "delete from headgate.price_lists where version in
                (select version from headgate.price_lists order by fetched_at desc offset $1)",
            LISTS
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "update headgate.price_state
            set changes = changes + 1, checked_at = $1, succeeded_at = $1, error = null",
            now
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The list that was fetched last, as text.
    pub async fn latest_price_list(&self) -> Result<Option<String>, DatabaseError> {
        let body = sqlx::query_scalar!("select body from headgate.price_lists order by fetched_at desc limit 1");
        Ok(body.fetch_optional(self.pool()).await?)
    }

    /// Own prices in the order in which they were made.
    pub async fn price_rules(&self) -> Result<Vec<Rule>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select id, model, upstream_id, valid_from,
                jsonb_build_object('currency', currency, 'rates', rates) as "entry!: Json<Entry>"
            from headgate.price_rules order by id"#
        )
        .fetch_all(self.pool())
        .await?;
        let rule = rows.into_iter().map(|row| Rule {
            id: row.id,
            model: row.model,
            upstream: row.upstream_id.map(UpstreamId),
            from: row.valid_from,
            entry: row.entry.0,
        });
        Ok(rule.collect())
    }

    /// Makes an own price (whatever its id) and gives it an id.
    pub async fn add_price_rule(&self, rule: &Rule) -> Result<i64, DatabaseError> {
        let id = sqlx::query_scalar!(
            "with made as (
                insert into headgate.price_rules (model, upstream_id, valid_from, currency, rates)
                values ($1, $2, $3, $4, $5) returning id
            ), told as (update headgate.price_state set changes = changes + 1)
            select id from made",
            rule.model,
            rule.upstream.map(|id| id.0),
            rule.from,
            rule.entry.currency.as_str(),
            Json(&rule.entry.rates) as _
        );
        Ok(id.fetch_one(self.pool()).await?)
    }

    /// Changes an own price; false if there is none of its id.
    pub async fn change_price_rule(&self, rule: &Rule) -> Result<bool, DatabaseError> {
        let count = sqlx::query_scalar!(
            r#"with made as (
                update headgate.price_rules
                set model = $2, upstream_id = $3, valid_from = $4, currency = $5, rates = $6 where id = $1 returning id
            ), told as (update headgate.price_state set changes = changes + 1)
            select count(*) as "count!" from made"#,
            rule.id,
            rule.model,
            rule.upstream.map(|id| id.0),
            rule.from,
            rule.entry.currency.as_str(),
            Json(&rule.entry.rates) as _
        );
        Ok(count.fetch_one(self.pool()).await? > 0)
    }

    /// Removes an own price; false if there is none of this id.
    pub async fn remove_price_rule(&self, id: i64) -> Result<bool, DatabaseError> {
        let count = sqlx::query_scalar!(
            r#"with gone as (delete from headgate.price_rules where id = $1 returning id),
            told as (update headgate.price_state set changes = changes + 1)
            select count(*) as "count!" from gone"#,
            id
        );
        Ok(count.fetch_one(self.pool()).await? > 0)
    }

    /// Attempts of a time that may have a cost, in the order of [`Place`]s, `limit` after a place.
    pub async fn attempts_to_price(
        &self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        after: Option<Place>,
        limit: i64,
    ) -> Result<Vec<AttemptRecord>, DatabaseError> {
        let (time, request, number) = after.unwrap_or((since, RequestId::nil(), 0));
        let rows = sqlx::query_scalar!(
            r#"select to_jsonb(a) || jsonb_build_object('cost', a.cost::text) as "attempt!: Json<AttemptRecord>"
            from headgate.attempts a
            where started_at >= $1 and started_at < $2 and (started_at, request_id, number) > ($3, $4, $5)
                and usage_source is not null
            order by started_at, request_id, number limit $6"#,
            since,
            until,
            time,
            request,
            number,
            limit
        )
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    /// Stores new costs of attempts, and of their requests the sums; their buckets are to be added up anew.
    pub async fn reprice(&self, costs: &[Repriced]) -> Result<(), DatabaseError> {
        let costs =
            serde_json::to_string(costs).map_err(|why| DatabaseError::Query(sqlx::Error::Encode(why.into())))?;
        let mut transaction = self.pool().begin().await?;
        sqlx::query!(
            "update headgate.attempts a
            set cost = n.cost, cost_currency = n.cost_currency, cost_gaps = n.cost_gaps,
                price_version = n.price_version, price_entry = n.price_entry, price_steps = n.price_steps,
                price_rule = n.price_rule
            from json_to_recordset($1::text::json) as n(started_at timestamptz, request_id uuid, number integer,
                cost numeric, cost_currency text, cost_gaps text[], price_version text, price_entry text,
                price_steps text[], price_rule bigint)
            where a.started_at = n.started_at and a.request_id = n.request_id and a.number = n.number",
            costs
        )
        .execute(&mut *transaction)
        .await?;
        // As RequestCost::of adds up.
        sqlx::query!(
            "with asked as (
                select distinct started_at, request_id
                from json_to_recordset($1::text::json) as n(started_at timestamptz, request_id uuid)
            ), sums as (
                select a.started_at, a.request_id, sum(a.cost) as cost, min(a.cost_currency) as currency,
                    count(distinct a.cost_currency) > 1 as mixed,
                    bool_and(a.cost is not null and a.cost_gaps is null)
                        filter (where a.usage_source is not null or a.outcome in ('success', 'partial')) as complete
                from asked n join headgate.attempts a on a.started_at = n.started_at and a.request_id = n.request_id
                group by 1, 2
            )
            update headgate.requests r
            set cost = case when not s.mixed then s.cost end, cost_currency = case when not s.mixed then s.currency end,
                cost_complete = s.complete and not s.mixed
            from sums s where r.started_at = s.started_at and r.id = s.request_id",
            costs
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "insert into headgate.rollup_changed as c (bucket)
            select distinct headgate.bucket(started_at)
            from json_to_recordset($1::text::json) as n(started_at timestamptz) order by 1
            on conflict (bucket) do update set changes = c.changes + 1",
            costs
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Writes down that records were priced anew.
    pub async fn log_repricing(&self, done: &Repricing<'_>) -> Result<(), DatabaseError> {
        sqlx::query!(
            "insert into headgate.repricings (at, author, since, until, price_version, attempts, changed)
            values ($1, $2, $3, $4, $5, $6, $7)",
            done.at,
            done.author,
            done.since,
            done.until,
            done.version,
            done.attempts,
            done.changed
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }
}
