//! Partitions by UTC day: made ahead, dropped when their time is over.

use std::time::Duration;

use chrono::{DateTime, Days, NaiveDate, Utc};
use sqlx::{Postgres, Transaction};

use crate::database::{Database, DatabaseError};

const TABLES: [&str; 2] = ["requests", "attempts"];
const DAYS_AHEAD: u64 = 3;
/// How often the tables are tried for, and the pause between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// What [`Database::maintain_partitions`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Partitions made.
    pub created: u64,
    /// Partitions dropped.
    pub dropped: i64,
    /// Rows deleted from the default partitions.
    pub deleted: i64,
}

impl Database {
    /// Makes the partitions of today and three days ahead; with a `retention`, drops those of past days whose newest
    /// row is older. To be called at start and every hour or so; several processes may do it at once.
    pub async fn maintain_partitions(
        &self,
        now: DateTime<Utc>,
        retention: Option<Duration>,
    ) -> Result<Maintained, DatabaseError> {
        let today = now.date_naive();
        let mut done = Maintained::default();
        if self.lacks_partitions(today).await? {
            done.created = self.make_partitions(today).await?;
        }

        let cutoff = retention
            .filter(|keep| !keep.is_zero())
            .and_then(|keep| chrono::Duration::from_std(keep).ok())
            .and_then(|keep| now.checked_sub_signed(keep));
        if let Some(cutoff) = cutoff {
            // A day goes when it is added up; the day of the limit may be over.
            self.roll_up(cutoff + chrono::Duration::days(1)).await?;
            if self.has_past_days(today, cutoff).await? {
                (done.dropped, done.deleted) = self.drop_days(today, cutoff).await?;
            }
        }
        Ok(done)
    }

    async fn lacks_partitions(&self, today: NaiveDate) -> Result<bool, DatabaseError> {
        let last = today.checked_add_days(Days::new(DAYS_AHEAD)).unwrap_or(today);
        let lacks = sqlx::query_scalar!(
            r#"select exists (
                select from unnest($1::text[]) t(name), generate_series($2::date, $3::date, interval '1 day') d(day)
                where to_regclass(format('headgate.%I', name || to_char(day, '_YYYYMMDD'))) is null
            ) as "lacks!""#,
            &TABLES.map(str::to_owned),
            today,
            last
        );
        Ok(lacks.fetch_one(self.pool()).await?)
    }

    async fn has_past_days(&self, today: NaiveDate, cutoff: DateTime<Utc>) -> Result<bool, DatabaseError> {
        let has = sqlx::query_scalar!(
            r#"select exists (select from headgate.past_days($1, $2))
                or exists (select from headgate.requests_default where started_at < date_trunc('day', $2, 'UTC'))
                or exists (select from headgate.attempts_default where started_at < date_trunc('day', $2, 'UTC')) as "has!""#,
            today,
            cutoff
        );
        Ok(has.fetch_one(self.pool()).await?)
    }

    /// Partitions dropped and rows deleted. Who writes or adds up at that moment waits, and then finds the day gone.
    async fn drop_days(&self, today: NaiveDate, cutoff: DateTime<Utc>) -> Result<(i64, i64), DatabaseError> {
        let mut transaction = self.both_tables().await?;
        let gone = sqlx::query!(
            r#"select dropped as "dropped!", deleted as "deleted!" from headgate.drop_days($1, $2)"#,
            today,
            cutoff
        )
        .fetch_one(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok((gone.dropped, gone.deleted))
    }

    /// Rows that came before their partition move into it, and who has begun to read would look for them where they no
    /// longer are: both tables are taken whole first.
    async fn make_partitions(&self, today: NaiveDate) -> Result<u64, DatabaseError> {
        let mut transaction = self.both_tables().await?;
        let mut created = 0;
        for table in TABLES {
            for day in (0..=DAYS_AHEAD).filter_map(|n| today.checked_add_days(Days::new(n))) {
                let made = sqlx::query_scalar!(r#"select headgate.add_day($1, $2) as "created!""#, table, day)
                    .fetch_one(&mut *transaction)
                    .await?;
                created += u64::from(made);
            }
        }
        transaction.commit().await?;
        Ok(created)
    }

    /// Begins a transaction that has both tables to itself. Others take them in either order, so nothing is held while
    /// the second is waited for longer than a moment; it is tried again instead.
    async fn both_tables(&self) -> Result<Transaction<'static, Postgres>, DatabaseError> {
        let mut tries = 0;
        loop {
            let mut transaction = self.pool().begin().await?;
            sqlx::query!("select pg_advisory_xact_lock(hashtext('headgate.partitions'))")
                .execute(&mut *transaction)
                .await?;
            sqlx::query!("set local lock_timeout = '100ms'").execute(&mut *transaction).await?;
            let taken =
                sqlx::query!("lock table only headgate.requests, only headgate.attempts in access exclusive mode")
                    .execute(&mut *transaction)
                    .await;
            match taken {
                Ok(_) => {
                    sqlx::query!("set local lock_timeout = '5s'").execute(&mut *transaction).await?;
                    return Ok(transaction);
                }
                Err(why) if is_busy(&why) && tries < TRIES => {
                    transaction.rollback().await?;
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(why) => return Err(why.into()),
            }
        }
    }
}

/// Somebody else holds it (`lock_not_available`).
fn is_busy(why: &sqlx::Error) -> bool {
    why.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| code == "55P03")
}
