//! Who carries the load, and how much there is.

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{GroupId, KeyId, UpstreamId};

use super::{COUNTING, sums::Histogram};
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

/// When an access key was last used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct LastUse {
    /// The key.
    pub key: KeyId,
    /// When.
    pub at: DateTime<Utc>,
    /// By which client program.
    pub client: Option<String>,
}

/// A stretch of a time series.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, utoipa::ToSchema)]
pub struct Point {
    /// Where it begins.
    pub at: DateTime<Utc>,
    /// Requests that arrived.
    pub requests: i64,
    /// Those of them that failed or broke off.
    pub failed: i64,
    /// Their output tokens.
    pub tokens_output: i64,
    /// Median of the time to the first output in milliseconds, within 5 %; none without one.
    pub p50_ttft_ms: Option<f64>,
}

impl Database {
    /// Successes since a time, by group and upstream.
    pub async fn shares(&self, since: DateTime<Utc>) -> Result<Vec<Share>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select group_id as "group!", upstream_id as "upstream!", sum(answered)::bigint as "requests!"
            from headgate.attempts_in($1, 'infinity'::timestamptz)
            where answered > 0 and group_id is not null
            group by 1, 2"#,
            since
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

    /// The newest request of each of these keys that has any on record: one look into an index per key.
    pub async fn last_uses(&self, keys: &[KeyId]) -> Result<Vec<LastUse>, DatabaseError> {
        let ids: Vec<i64> = keys.iter().map(|key| key.0).collect();
        let rows = sqlx::query!(
            r#"select k.id as "id!", last.started_at as "at!", last.client
            from unnest($1::bigint[]) k(id) cross join lateral (
                select r.started_at, r.client from headgate.requests r
                where r.key_id = k.id order by r.started_at desc, r.id desc limit 1
            ) last"#,
            &ids
        )
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(|r| LastUse { key: KeyId(r.id), at: r.at, client: r.client }).collect())
    }

    /// How many requests have arrived since a time.
    pub async fn arrived(&self, since: DateTime<Utc>) -> Result<i64, DatabaseError> {
        let count = sqlx::query_scalar!(
            r#"select coalesce(sum(requests), 0)::bigint as "count!"
            from headgate.requests_in($1, 'infinity'::timestamptz, false)"#,
            since
        );
        Ok(count.fetch_one(self.pool()).await?)
    }

    /// `count` stretches of `step` from a time on, without gaps; both are whole buckets.
    pub async fn series(
        &self,
        since: DateTime<Utc>,
        step: TimeDelta,
        count: usize,
    ) -> Result<Vec<Point>, DatabaseError> {
        let at = |n: usize| step.checked_mul(i32::try_from(n).ok()?);
        let mut points: Vec<(Point, Histogram)> = (0..count)
            .filter_map(|n| since.checked_add_signed(at(n)?))
            .map(|at| Point { at, requests: 0, failed: 0, tokens_output: 0, p50_ttft_ms: None })
            .map(|point| (point, Histogram::default()))
            .collect();
        let rows = sqlx::query!(
            r#"select floor(extract(epoch from bucket - $1) / $2::bigint)::bigint as "stretch!",
                requests as "requests!", tokens_output as "tokens_output!", ttft as "ttft!",
                outcome in ('failed', 'unavailable', 'unsupported', 'partial') as "failed!"
            from headgate.requests_in($1, 'infinity'::timestamptz, false)"#,
            since,
            step.num_seconds().max(1)
        )
        .fetch_all(self.pool())
        .await?;
        for row in &rows {
            let place = usize::try_from(row.stretch).ok();
            let Some((point, ttft)) = place.and_then(|n| points.get_mut(n)) else { continue };
            point.requests += row.requests;
            point.failed += if row.failed { row.requests } else { 0 };
            point.tokens_output += row.tokens_output;
            ttft.add(&row.ttft);
        }
        let with_median = |(point, ttft): (Point, Histogram)| Point { p50_ttft_ms: ttft.percentile(0.5), ..point };
        Ok(points.into_iter().map(with_median).collect())
    }
}
