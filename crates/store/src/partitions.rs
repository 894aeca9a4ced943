//! Partitions by UTC day: made ahead, dropped when their time is over.

use std::time::Duration;

use chrono::{DateTime, Days, Utc};

use crate::database::{Database, DatabaseError};

const TABLES: [&str; 2] = ["requests", "attempts"];
const DAYS_AHEAD: u64 = 3;

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
        for table in TABLES {
            // A transaction of its own each: who writes or reads requests and attempts together locks both, in either
            // order.
            let mut transaction = self.pool().begin().await?;
            sqlx::query!("select pg_advisory_xact_lock(hashtext('headgate.partitions'))")
                .execute(&mut *transaction)
                .await?;
            // Whoever waits for such a lock makes everybody else wait behind it: rather try again next time.
            sqlx::query!("set local lock_timeout = '5s'").execute(&mut *transaction).await?;
            for day in (0..=DAYS_AHEAD).filter_map(|n| today.checked_add_days(Days::new(n))) {
                let created = sqlx::query_scalar!(r#"select headgate.add_day($1, $2) as "created!""#, table, day)
                    .fetch_one(&mut *transaction)
                    .await?;
                done.created += u64::from(created);
            }
            transaction.commit().await?;
        }

        let cutoff = retention
            .filter(|keep| !keep.is_zero())
            .and_then(|keep| chrono::Duration::from_std(keep).ok())
            .and_then(|keep| now.checked_sub_signed(keep));
        if let Some(cutoff) = cutoff {
            for table in TABLES {
                let mut transaction = self.pool().begin().await?;
                sqlx::query!("select pg_advisory_xact_lock(hashtext('headgate.partitions'))")
                    .execute(&mut *transaction)
                    .await?;
                sqlx::query!("set local lock_timeout = '5s'").execute(&mut *transaction).await?;
                let gone = sqlx::query!(
                    r#"select dropped as "dropped!", deleted as "deleted!" from headgate.drop_days($1, $2, $3)"#,
                    table,
                    today,
                    cutoff
                )
                .fetch_one(&mut *transaction)
                .await?;
                done.dropped += gone.dropped;
                done.deleted += gone.deleted;
                transaction.commit().await?;
            }
        }
        Ok(done)
    }
}
