//! What upstreams' billing APIs said: the newest of each upstream, and the snapshots that comparisons rest on.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use headgate_domain::{AttemptRecord, Concern, UpstreamId};
use headgate_pricing::{
    Currency,
    compare::{Reason, Snapshot, Status, Use},
    schedule::Multiplier,
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use crate::{
    database::{Database, DatabaseError},
    news::BILLING,
};

/// The API that answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spoken {
    /// sub2api's.
    Sub2api,
    /// new-api's.
    Newapi,
}

/// How a site shows amounts that it keeps in another unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its currency.
    pub currency: Currency,
    /// Its units for one of the snapshots' currency.
    pub rate: Decimal,
}

/// The newest that is known of an upstream. A failed collection leaves the figures as they were.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BillingStatus {
    /// Whose figures these are, as [`Snapshot::key`]; those of another key or address count for nothing.
    pub key: u64,
    /// The API that answered last.
    pub spoken: Option<Spoken>,
    /// The figures of the newest collection that worked.
    pub figures: Option<Snapshot>,
    /// There is no end to the balance.
    pub unlimited: bool,
    /// The newest multiplier stated, which may be older than the figures.
    pub multiplier: Option<Multiplier>,
    /// When it was stated.
    pub multiplier_at: Option<DateTime<Utc>>,
    /// The upstream's own group that the key belongs to.
    pub group: Option<String>,
    /// How the site shows amounts.
    pub shown: Option<Shown>,
    /// What was missing in the newest collection that worked.
    pub warning: Option<String>,
    /// Why the newest collection failed.
    pub error: Option<String>,
    /// Collections that failed in a row.
    pub failures: u32,
    /// When it was last asked.
    pub checked_at: Option<DateTime<Utc>>,
    /// Since when no collection has worked.
    pub failing_since: Option<DateTime<Utc>>,
    /// The multiplier that was stated before the present one.
    pub multiplier_before: Option<Multiplier>,
    /// When the present one was first stated in its place.
    pub multiplier_changed_at: Option<DateTime<Utc>>,
    /// What the newest figures say of the last day.
    pub day: Option<Day>,
    /// List prices of single charges, as far as they are counted.
    pub listed: Option<Listed>,
}

/// The list prices of single charges, added up since they were first read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The sum.
    pub total: Decimal,
    /// The newest second counted.
    pub at: DateTime<Utc>,
    /// What is counted of it.
    pub ids: Vec<String>,
}

/// What the newest figures say of the day before them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Day {
    /// Whether the upstream charged what it said.
    pub status: Status,
    /// Why it looks so.
    pub reason: Reason,
    /// How much more was charged, or stated, than explained, in the figures' currency.
    pub excess: Option<Decimal>,
    /// What was spent, in the figures' currency.
    pub spent: Option<Decimal>,
}

/// What people were told of an upstream's money.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldConcerns {
    /// What holds, as far as it was told.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub concerns: BTreeSet<Concern>,
    /// Which change of the multiplier was told last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiplier_changed_at: Option<DateTime<Utc>>,
}

/// A multiplier that a person set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManualMultiplier {
    /// How much.
    pub multiplier: Decimal,
    /// When it was set.
    pub at: DateTime<Utc>,
}

/// All that is kept of an upstream, but for its snapshots.
#[derive(Debug, Clone, PartialEq)]
pub struct BillingRow {
    /// When it is next asked.
    pub due_at: DateTime<Utc>,
    /// What its API said.
    pub status: BillingStatus,
    /// What a person said.
    pub manual: Option<ManualMultiplier>,
    /// What people were told.
    pub told: ToldConcerns,
}

impl Database {
    /// What is known, of one upstream or of all.
    pub async fn billing(&self, of: Option<UpstreamId>) -> Result<Vec<(UpstreamId, BillingRow)>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select upstream_id, due_at, status as "status: Json<BillingStatus>", manual as "manual: Json<ManualMultiplier>",
                told as "told: Json<ToldConcerns>"
            from headgate.billing_status where $1::bigint is null or upstream_id = $1"#,
            of.map(|id| id.0)
        )
        .fetch_all(self.pool())
        .await?;
        let row = rows.into_iter().map(|row| {
            let manual = row.manual.map(|manual| manual.0);
            let (status, told) = (row.status.0, row.told.0);
            (UpstreamId(row.upstream_id), BillingRow { due_at: row.due_at, status, manual, told })
        });
        Ok(row.collect())
    }

    /// Takes the next collection upon this process, if it is due `by` then. One of several processes gets it; the
    /// others may try again at `again`.
    pub async fn claim_billing(
        &self,
        upstream: UpstreamId,
        by: DateTime<Utc>,
        again: DateTime<Utc>,
    ) -> Result<bool, DatabaseError> {
        let done = sqlx::query!(
            "insert into headgate.billing_status as s (upstream_id, due_at) values ($1, $2)
            on conflict (upstream_id) do update set due_at = excluded.due_at where s.due_at <= $3",
            upstream.0,
            again,
            by
        )
        .execute(self.pool())
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Keeps what a collection found, with its figures if it worked, and tells every process.
    pub async fn store_billing(
        &self,
        upstream: UpstreamId,
        status: &BillingStatus,
        figures: Option<&Snapshot>,
        due: DateTime<Utc>,
    ) -> Result<(), DatabaseError> {
        let mut transaction = self.pool().begin().await?;
        sqlx::query!(
            "insert into headgate.billing_status (upstream_id, due_at, status) values ($1, $2, $3)
            on conflict (upstream_id) do update set due_at = excluded.due_at, status = excluded.status",
            upstream.0,
            due,
            Json(status) as _
        )
        .execute(&mut *transaction)
        .await?;
        if let Some(figures) = figures {
            sqlx::query!(
                "insert into headgate.billing_snapshots (upstream_id, at, figures) values ($1, $2, $3)
                on conflict do nothing",
                upstream.0,
                figures.at,
                Json(figures) as _
            )
            .execute(&mut *transaction)
            .await?;
        }
        sqlx::query!("select pg_notify($1, $2::bigint::text)", BILLING, upstream.0).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Takes it upon this process to tell people what has changed since `before`, and tells every process. One of
    /// several gets it.
    pub async fn claim_concerns(
        &self,
        upstream: UpstreamId,
        before: &ToldConcerns,
        after: &ToldConcerns,
    ) -> Result<bool, DatabaseError> {
        let mut transaction = self.pool().begin().await?;
        let done = sqlx::query!(
            "update headgate.billing_status set told = $3 where upstream_id = $1 and told = $2",
            upstream.0,
            Json(before) as _,
            Json(after) as _
        )
        .execute(&mut *transaction)
        .await?;
        let is_ours = done.rows_affected() > 0;
        if is_ours {
            sqlx::query!("select pg_notify($1, $2::bigint::text)", BILLING, upstream.0)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(is_ours)
    }

    /// An upstream's snapshots of a span of time, oldest first, with the one before it.
    pub async fn billing_snapshots(
        &self,
        upstream: UpstreamId,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> Result<Vec<Snapshot>, DatabaseError> {
        let rows = sqlx::query_scalar!(
            r#"select figures as "figures: Json<Snapshot>" from headgate.billing_snapshots
            where upstream_id = $1 and at <= $3 and at >= coalesce(
                (select max(at) from headgate.billing_snapshots where upstream_id = $1 and at <= $2), $2)
            order by at"#,
            upstream.0,
            from,
            to
        );
        Ok(rows.fetch_all(self.pool()).await?.into_iter().map(|row| row.0).collect())
    }

    /// Our own attempts of an upstream that ended after `from` and by `to` and that it may have charged for, with
    /// their list price where it is in `currency`. What reports more output than was counted here comes with its record,
    /// so that it can be priced by the count.
    pub async fn billed_uses(
        &self,
        upstream: UpstreamId,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
        currency: Currency,
    ) -> Result<Vec<(Use, Option<AttemptRecord>)>, DatabaseError> {
        // A request lasts a day at most; the bound on its start spares the older partitions.
        let rows = sqlx::query!(
            r#"select completed_at, case when cost_currency = $4 then cost::text end as list,
                cost is not null and cost_gaps is null as "complete!", c.is_counted as "is_counted!",
                case when c.is_counted and tokens_output > observed_output * 11 / 10 + 16 + coalesce(tokens_reasoning, 0)
                    then to_jsonb(a) || jsonb_build_object('cost', a.cost::text) end as "exceeding: Json<AttemptRecord>"
            from headgate.attempts a cross join lateral (select coalesce(
                observed_with is not null and outcome = 'success' and usage_source = 'reported', false) as is_counted) c
            where upstream_id = $1 and started_at > $2::timestamptz - interval '1 day' and started_at <= $3
                and completed_at > $2 and completed_at <= $3
                and (outcome in ('success', 'partial') or usage_source is not null)
            order by completed_at"#,
            upstream.0,
            from,
            to,
            currency.as_str()
        );
        let rows = rows.fetch_all(self.pool()).await?;
        let used = rows.into_iter().map(|row| {
            let list = row.list.and_then(|text| text.parse().ok());
            let observed_at_most = if row.is_counted && row.exceeding.is_none() { list } else { None };
            let one = Use { at: row.completed_at, list, complete: row.complete, observed_at_most };
            (one, row.exceeding.map(|attempt| attempt.0))
        });
        Ok(used.collect())
    }

    /// Removes older snapshots, but never the newest two of an upstream.
    pub async fn forget_billing(&self, before: DateTime<Utc>) -> Result<(), DatabaseError> {
        sqlx::query!(
            "delete from headgate.billing_snapshots s where at < $1 and 2 <=
                (select count(*) from headgate.billing_snapshots n where n.upstream_id = s.upstream_id and n.at > s.at)",
            before
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }
}
