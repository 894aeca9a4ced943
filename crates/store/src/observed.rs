//! Output tokens counted here, beside what upstreams reported.

use chrono::{DateTime, Utc};
use headgate_domain::{RequestId, UpstreamId};
use serde::Serialize;

use crate::database::{Database, DatabaseError};

/// The count of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Start of its request.
    pub started_at: DateTime<Utc>,
    /// Its request.
    pub request_id: RequestId,
    /// Its number.
    pub number: i32,
    /// The tokens of its answer's text.
    pub tokens: i64,
    /// The vocabulary they were counted with.
    pub counted_with: &'static str,
}

/// What an upstream reported for a model against what passed through, over a span of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reported {
    /// The model, by the name the upstream was asked for.
    pub model: String,
    /// The vocabulary counted with; none: estimated by length.
    pub counted_with: Option<String>,
    /// Answers.
    pub requests: i64,
    /// Output tokens reported, without reasoning that was reported apart.
    pub reported: i64,
    /// Output tokens observed.
    pub observed: i64,
}

impl Database {
    /// Notes counts beside what was reported. Attempts that are not there are passed over.
    pub async fn note_observed(&self, counts: &[Observed]) -> Result<(), DatabaseError> {
        let started: Vec<DateTime<Utc>> = counts.iter().map(|one| one.started_at).collect();
        let requests: Vec<RequestId> = counts.iter().map(|one| one.request_id).collect();
        let numbers: Vec<i32> = counts.iter().map(|one| one.number).collect();
        let tokens: Vec<i64> = counts.iter().map(|one| one.tokens).collect();
        let with: Vec<String> = counts.iter().map(|one| one.counted_with.to_owned()).collect();
        // Records come as texts, whose nanoseconds are rounded; here they are cut off.
        sqlx::query!(
            "update headgate.attempts a set observed_output = n.tokens, observed_with = n.counted_with
            from unnest($1::timestamptz[], $2::uuid[], $3::integer[], $4::bigint[], $5::text[])
                as n(started_at, request_id, number, tokens, counted_with)
            where a.started_at between n.started_at and n.started_at + interval '1 microsecond' and a.request_id = n.request_id and a.number = n.number",
            &started,
            &requests,
            &numbers,
            &tokens,
            &with
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// Reported against observed output of whole answers, by model; those with most answers first.
    pub async fn reported_tokens(
        &self,
        upstream: UpstreamId,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> Result<Vec<Reported>, DatabaseError> {
        let rows = sqlx::query_as!(
            Reported,
            r#"select mapped_model as "model!", observed_with as counted_with, count(*) as "requests!",
                sum(tokens_output - coalesce(tokens_reasoning, 0))::bigint as "reported!",
                sum(observed_output)::bigint as "observed!"
            from headgate.attempts
            where upstream_id = $1 and started_at > $2::timestamptz - interval '1 day' and started_at <= $3
                and completed_at > $2 and completed_at <= $3 and outcome = 'success' and usage_source = 'reported'
                and mapped_model is not null and observed_output > 0 and tokens_output is not null
            group by 1, 2 order by 3 desc, 1 limit 200"#,
            upstream.0,
            from,
            to
        );
        Ok(rows.fetch_all(self.pool()).await?)
    }
}
