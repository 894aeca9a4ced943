//! Multipliers that persons set: which holds now, and all that held before.

use chrono::{DateTime, Utc};
use headgate_domain::UpstreamId;
use headgate_pricing::by_hand::{ByHand, Set};
use sqlx::types::Json;

use crate::{
    billing::ManualMultiplier,
    database::{Database, DatabaseError},
    news::BILLING,
};

/// A change by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetBy {
    /// From when on, and what.
    pub set: Set,
    /// By whom, as far as it is known.
    pub author: Option<String>,
}

/// All changes of one upstream as decisions take them.
pub fn in_order(sets: &[SetBy]) -> ByHand {
    ByHand::new(sets.iter().map(|one| one.set))
}

impl Database {
    /// Sets or takes back what a person says of the multiplier, notes when and by whom, and tells every process.
    pub async fn set_manual_multiplier(
        &self,
        upstream: UpstreamId,
        manual: Option<&ManualMultiplier>,
        now: DateTime<Utc>,
        author: &str,
    ) -> Result<(), DatabaseError> {
        let mut transaction = self.pool().begin().await?;
        sqlx::query!(
            "insert into headgate.billing_status (upstream_id, due_at, manual) values ($1, $2, $3)
            on conflict (upstream_id) do update set manual = excluded.manual",
            upstream.0,
            now,
            manual.map(Json) as _
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "insert into headgate.multipliers_by_hand (upstream_id, at, multiplier, author)
            values ($1, $2, $3::text::numeric, $4)
            on conflict (upstream_id, at) do update set multiplier = excluded.multiplier, author = excluded.author",
            upstream.0,
            now,
            manual.map(|manual| manual.multiplier.to_string()),
            author
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!("select pg_notify($1, $2::bigint::text)", BILLING, upstream.0).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// What persons set for these upstreams, by upstream and the oldest first.
    pub async fn multipliers_by_hand(
        &self,
        upstreams: &[UpstreamId],
    ) -> Result<Vec<(UpstreamId, SetBy)>, DatabaseError> {
        let ids: Vec<i64> = upstreams.iter().map(|id| id.0).collect();
        let rows = sqlx::query!(
            "select upstream_id, at, multiplier::text as multiplier, author from headgate.multipliers_by_hand
            where upstream_id = any($1) order by upstream_id, at",
            &ids
        )
        .fetch_all(self.pool())
        .await?;
        let set =
            |row_at, text: Option<String>| Set { at: row_at, multiplier: text.and_then(|text| text.parse().ok()) };
        let sets = rows
            .into_iter()
            .map(|row| (UpstreamId(row.upstream_id), SetBy { set: set(row.at, row.multiplier), author: row.author }));
        Ok(sets.collect())
    }

    /// Forgets what no longer held at a time.
    pub async fn forget_multipliers_by_hand(&self, before: DateTime<Utc>) -> Result<(), DatabaseError> {
        sqlx::query!(
            "delete from headgate.multipliers_by_hand m where at < $1 and exists (
                select from headgate.multipliers_by_hand n where n.upstream_id = m.upstream_id and n.at > m.at and n.at <= $1)",
            before
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }
}
