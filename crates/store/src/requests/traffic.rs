//! Who carries the load, and how much there is.

use chrono::{DateTime, Utc};
use headgate_domain::{GroupId, UpstreamId};

use super::COUNTING;
use crate::database::{Database, DatabaseError};

/// What an upstream answered for a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The group.
    pub group: GroupId,
    /// The upstream.
    pub upstream: UpstreamId,
    /// Requests answered.
    pub requests: i64,
}

/// Figures of the very last time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    /// Requests that arrived.
    pub requests: i64,
    /// Median of the gateway's own time before the first attempt, in microseconds.
    pub overhead_us: Option<f64>,
}

impl Database {
    /// Successes since a time, by group and upstream.
    pub async fn shares(&self, since: DateTime<Utc>) -> Result<Vec<Share>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select group_id as "group!", upstream_id as "upstream!", count(*) as "requests!"
            from headgate.requests
            where started_at >= $1 and outcome = 'success' and endpoint <> $2
                and group_id is not null and upstream_id is not null
            group by 1, 2"#,
            since,
            COUNTING
        )
        .fetch_all(self.pool())
        .await?;
        let share =
            |group, upstream, requests| Share { group: GroupId(group), upstream: UpstreamId(upstream), requests };
        Ok(rows.into_iter().map(|r| share(r.group, r.upstream, r.requests)).collect())
    }

    /// Requests since a time; meant for the last minute.
    pub async fn pace(&self, since: DateTime<Utc>) -> Result<Pace, DatabaseError> {
        let row = sqlx::query!(
            r#"select count(*) as "requests!", percentile_cont(0.5) within group (order by overhead_us) as overhead
            from headgate.requests where started_at >= $1 and endpoint <> $2"#,
            since,
            COUNTING
        )
        .fetch_one(self.pool())
        .await?;
        Ok(Pace { requests: row.requests, overhead_us: row.overhead })
    }
}
