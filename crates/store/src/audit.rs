//! Writing finished requests.

use crate::database::{Database, DatabaseError};

impl Database {
    /// Stores records, given as a JSON array of [`headgate_domain::audit::Record`], in one transaction and without
    /// parsing them here. Those that are stored already are left as they are, so a repetition is harmless. Their buckets
    /// are marked as changed, in order, so that processes that write at once wait for each other in one direction.
    pub async fn insert_records(&self, records: &str) -> Result<(), DatabaseError> {
        sqlx::query!(
            "with input as materialized (
                select request, attempts from json_to_recordset($1::text::json) as r(request json, attempts json)
            ), requests as (
                insert into headgate.requests
                select r.* from input cross join json_populate_record(null::headgate.requests, input.request) r
                on conflict do nothing
            ), changed as (
                insert into headgate.rollup_changed as c (bucket)
                select distinct headgate.bucket((request->>'started_at')::timestamptz) from input order by 1
                on conflict (bucket) do update set changes = c.changes + 1
            )
            insert into headgate.attempts
            select a.* from input cross join json_populate_recordset(null::headgate.attempts, input.attempts) a
            on conflict do nothing",
            records
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }
}
