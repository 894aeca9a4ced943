//! Single charges, as upstreams list them, and our own attempts that they may belong to.

use chrono::{DateTime, Utc};
use headgate_domain::{AttemptRecord, UpstreamId};
use headgate_pricing::compare::charges::{Charge, Request};
use sqlx::types::Json;

use crate::database::{Database, DatabaseError};

/// Rows of either side that are compared at once, the newest.
pub const MOST: i64 = 20_000;

impl Database {
    /// Keeps charges; those that are known already stay as they are.
    pub async fn store_charges(&self, upstream: UpstreamId, charges: &[Charge]) -> Result<(), DatabaseError> {
        if charges.is_empty() {
            return Ok(());
        }
        let (ids, at): (Vec<String>, Vec<DateTime<Utc>>) = charges.iter().map(|c| (c.id.clone(), c.at)).unzip();
        let rows: Vec<Json<&Charge>> = charges.iter().map(Json).collect();
        sqlx::query!(
            "insert into headgate.charges (upstream_id, id, at, charge)
            select $1, id, at, charge from unnest($2::text[], $3::timestamptz[], $4::jsonb[]) as n(id, at, charge)
            on conflict do nothing",
            upstream.0,
            &ids,
            &at,
            &rows as _
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// Charges of a span of time, the newest [`MOST`] of them, oldest first.
    pub async fn charges(
        &self,
        upstream: UpstreamId,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> Result<Vec<Charge>, DatabaseError> {
        let rows = sqlx::query_scalar!(
            r#"select charge as "charge: Json<Charge>" from headgate.charges
            where upstream_id = $1 and at >= $2 and at <= $3 order by at desc, id limit $4"#,
            upstream.0,
            from,
            to,
            MOST
        );
        Ok(rows.fetch_all(self.pool()).await?.into_iter().rev().map(|row| row.0).collect())
    }

    /// When the oldest and the newest charge that is known of an upstream were made.
    pub async fn charges_reach(
        &self,
        upstream: UpstreamId,
    ) -> Result<Option<(DateTime<Utc>, DateTime<Utc>)>, DatabaseError> {
        let row = sqlx::query!(
            "select min(at) as oldest, max(at) as newest from headgate.charges where upstream_id = $1",
            upstream.0
        );
        let row = row.fetch_one(self.pool()).await?;
        Ok(row.oldest.zip(row.newest))
    }

    /// Our own attempts that ended in a span of time and that the upstream may have charged for, the newest [`MOST`] of
    /// them, oldest first. List prices only in dollars, as charges are.
    pub async fn billed_requests(
        &self,
        upstream: UpstreamId,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> Result<Vec<Request>, DatabaseError> {
        // A request lasts a day at most; the bound on its start spares the older partitions.
        let rows = sqlx::query_scalar!(
            r#"select to_jsonb(a) || jsonb_build_object('cost', a.cost::text) as "attempt!: Json<AttemptRecord>"
            from headgate.attempts a
            where upstream_id = $1 and started_at > $2::timestamptz - interval '1 day' and started_at <= $3
                and completed_at >= $2 and completed_at <= $3
                and (outcome in ('success', 'partial') or usage_source is not null)
            order by completed_at desc limit $4"#,
            upstream.0,
            from,
            to,
            MOST
        );
        Ok(rows.fetch_all(self.pool()).await?.into_iter().rev().map(|row| request(row.0)).collect())
    }

    /// Removes older charges.
    pub async fn forget_charges(&self, before: DateTime<Utc>) -> Result<(), DatabaseError> {
        sqlx::query!("delete from headgate.charges where at < $1", before).execute(self.pool()).await?;
        Ok(())
    }
}

fn request(attempt: AttemptRecord) -> Request {
    let is_dollars = attempt.cost.cost_currency.as_deref() == Some("USD");
    // What was only estimated is not what the upstream reported.
    let reported = attempt.usage.usage_source == Some(headgate_domain::UsageSource::Reported);
    Request {
        id: attempt.request_id.to_string(),
        attempt: attempt.number,
        began: attempt.attempted_at,
        ended: attempt.completed_at,
        model: attempt.mapped_model.unwrap_or_default(),
        upstream_request_id: attempt.upstream_request_id,
        usage: if reported { attempt.usage.to_price() } else { Default::default() },
        complete: is_dollars && attempt.cost.cost.is_some() && attempt.cost.cost_gaps.is_none(),
        list: attempt.cost.cost.filter(|_| is_dollars),
        price_entry: attempt.cost.price_entry,
        price_version: attempt.cost.price_version,
        multiplier: None,
    }
}
