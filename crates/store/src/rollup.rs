//! Sums of requests and attempts by quarters of an hour, made in the background.
//!
//! The rules stand with the tables (`migrations/0007_rollup.sql`): a bucket that is marked as changed is read from its
//! rows, every other one from its sums, so figures are exact whether this has run or not. It only makes them quick,
//! and lets them outlive their rows.

use std::time::Duration;

use chrono::{DateTime, Days, TimeDelta, Utc};

use crate::database::{Database, DatabaseError};

/// Length of a bucket.
pub const BUCKET: TimeDelta = TimeDelta::minutes(15);
/// Days for which sums outlive their rows.
const KEPT: u64 = 400;
/// Between two buckets there is as much rest as there was work, but no more than this: requests come first.
const REST_MAX: Duration = Duration::from_millis(250);

impl Database {
    /// Adds up changed buckets that ended before a time, newest first, and returns how many. Several processes may do
    /// it at once: each bucket is one's.
    pub async fn roll_up(&self, before: DateTime<Utc>) -> Result<u64, DatabaseError> {
        let changed = sqlx::query_scalar!(
            "select bucket from headgate.rollup_changed where bucket <= $1 order by bucket desc",
            before - BUCKET
        )
        .fetch_all(self.pool())
        .await?;
        let mut done = 0;
        for bucket in changed {
            let began = tokio::time::Instant::now();
            done += u64::from(self.roll_up_bucket(bucket).await?);
            tokio::time::sleep(began.elapsed().min(REST_MAX)).await;
        }
        Ok(done)
    }

    /// False if another process has done it.
    async fn roll_up_bucket(&self, bucket: DateTime<Utc>) -> Result<bool, DatabaseError> {
        let mut transaction = self.pool().begin().await?;
        // No day is dropped from here on.
        sqlx::query!("lock table only headgate.requests, only headgate.attempts in access share mode")
            .execute(&mut *transaction)
            .await?;
        // Waits for who is writing into this bucket; who comes later waits for us and marks it again.
        let mark = sqlx::query!("delete from headgate.rollup_changed where bucket = $1", bucket)
            .execute(&mut *transaction)
            .await?;
        if mark.rows_affected() == 0 {
            return Ok(false);
        }
        let gone = sqlx::query_scalar!(
            r#"select exists (select from headgate.rollup_gone where day = ($1 at time zone 'UTC')::date) as "gone!""#,
            bucket
        )
        .fetch_one(&mut *transaction)
        .await?;
        if !gone {
            sqlx::query!("delete from headgate.rollup_requests where bucket = $1", bucket)
                .execute(&mut *transaction)
                .await?;
            sqlx::query!("delete from headgate.rollup_attempts where bucket = $1", bucket)
                .execute(&mut *transaction)
                .await?;
        }
        let end = bucket + BUCKET;
        sqlx::query!(
            "insert into headgate.rollup_names (kind, id, name, at)
            select distinct on (kind, id) kind, id, name, $1::timestamptz from (
                select 'group', group_id, group_name, started_at from headgate.requests
                where started_at >= $1 and started_at < $2
                union all
                select 'key', key_id, key_name, started_at from headgate.requests
                where started_at >= $1 and started_at < $2
                union all
                select 'upstream', upstream_id, upstream_name, started_at from headgate.attempts
                where started_at >= $1 and started_at < $2
            ) n(kind, id, name, at)
            where id is not null and name is not null order by kind, id, n.at desc
            on conflict (kind, id) do update set name = excluded.name, at = excluded.at
                where rollup_names.at < excluded.at",
            bucket,
            end
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "insert into headgate.rollup_requests select * from headgate.add_up_requests($1, $2, null)",
            bucket,
            end
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "insert into headgate.rollup_attempts select * from headgate.add_up_attempts($1, $2)",
            bucket,
            end
        )
        .execute(&mut *transaction)
        .await?;
        if gone {
            // They are in the sums now, where they would be added once more if another came.
            sqlx::query!("delete from headgate.requests where started_at >= $1 and started_at < $2", bucket, end)
                .execute(&mut *transaction)
                .await?;
            sqlx::query!("delete from headgate.attempts where started_at >= $1 and started_at < $2", bucket, end)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Forgets sums that are very old. Those whose rows are still there stay as long as these.
    pub async fn forget_old_sums(&self, now: DateTime<Utc>) -> Result<(), DatabaseError> {
        let border = now.checked_sub_days(Days::new(KEPT)).unwrap_or(now).date_naive();
        let mut transaction = self.pool().begin().await?;
        let days = sqlx::query_scalar!("delete from headgate.rollup_gone where day < $1 returning day", border)
            .fetch_all(&mut *transaction)
            .await?;
        for day in days {
            let since = day.and_time(chrono::NaiveTime::MIN).and_utc();
            let until = since + TimeDelta::days(1);
            sqlx::query!("delete from headgate.rollup_requests where bucket >= $1 and bucket < $2", since, until)
                .execute(&mut *transaction)
                .await?;
            sqlx::query!("delete from headgate.rollup_attempts where bucket >= $1 and bucket < $2", since, until)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}
