//! Traffic as it was, to be replayed: features and figures, no bodies.

use chrono::{DateTime, Utc};
use headgate_domain::{AttemptRecord, RequestRecord};
use sqlx::types::Json;

use super::COUNTING;
use crate::database::{Database, DatabaseError};

/// What a replay reads of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The request.
    pub request: RequestRecord,
    /// Its attempts, in order.
    pub attempts: Vec<AttemptRecord>,
}

/// Recorded traffic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traffic {
    /// Requests of that time that were meant for a model.
    pub total: i64,
    /// Every so manieth session is in it.
    pub every: i64,
    /// The requests, oldest first.
    pub requests: Vec<Recorded>,
}

impl Database {
    /// The requests that began within a time and were meant for a model. Of more than `most`, whole sessions are left
    /// out, evenly.
    pub async fn recorded(
        &self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        most: i64,
    ) -> Result<Traffic, DatabaseError> {
        let total = sqlx::query_scalar!(
            r#"select count(*) as "count!" from headgate.requests
            where started_at >= $1 and started_at < $2 and endpoint <> $3 and model is not null and key_id is not null"#,
            since,
            until,
            COUNTING
        )
        .fetch_one(self.pool())
        .await?;
        let every = total.div_euclid(most.max(1)) + i64::from(total % most.max(1) > 0);
        let rows = sqlx::query!(
            r#"select
                to_jsonb(r) || jsonb_build_object('cost', r.cost::text, 'reasons', '[]'::jsonb)
                    as "request!: Json<RequestRecord>",
                (select coalesce(jsonb_agg(to_jsonb(a) || jsonb_build_object('cost', a.cost::text) order by a.number), '[]')
                    from headgate.attempts a where a.started_at = r.started_at and a.request_id = r.id)
                    as "attempts!: Json<Vec<AttemptRecord>>"
            from headgate.requests r
            where r.started_at >= $1 and r.started_at < $2 and r.endpoint <> $3
                and r.model is not null and r.key_id is not null
                and abs(hashtext(coalesce(r.affinity_key, r.id::text))::bigint) % $4 = 0
            order by r.started_at, r.id"#,
            since,
            until,
            COUNTING,
            every.max(1)
        )
        .fetch_all(self.pool())
        .await?;
        let requests =
            rows.into_iter().map(|row| Recorded { request: row.request.0, attempts: row.attempts.0 }).collect();
        Ok(Traffic { total, every: every.max(1), requests })
    }
}
