//! Numbered states of the configuration.

use chrono::{DateTime, Utc};
use headgate_domain::{Configuration, Revision};
use serde::Serialize;
use sqlx::types::Json;

use crate::{
    database::{Database, DatabaseError},
    news::REVISIONS,
};

/// Revisions that are kept; older ones go when a new one is made.
pub const KEPT: i64 = 500;

/// A revision without its document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RevisionRecord {
    /// Its number.
    pub id: Revision,
    /// Who made it.
    pub author: String,
    /// What was changed, in a sentence.
    pub summary: String,
    /// When.
    pub created_at: DateTime<Utc>,
}

/// Why a revision was not made.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else was first.
    #[error(
        "The configuration was changed meanwhile (it is at revision {latest}); read it again and repeat the change."
    )]
    Conflict {
        /// The newest revision.
        latest: Revision,
    },
    /// The database failed; nothing was changed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl From<sqlx::Error> for AppendError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Database {
    /// The newest revision; none before the first change.
    pub async fn latest(&self) -> Result<Option<(RevisionRecord, Configuration)>, DatabaseError> {
        let row = sqlx::query!(
            r#"select id, author, summary, created_at, document::text as "document!"
            from headgate.revisions order by id desc limit 1"#
        )
        .fetch_optional(self.pool())
        .await?;
        row.map(|row| {
            let record = RevisionRecord {
                id: Revision(row.id),
                author: row.author,
                summary: row.summary,
                created_at: row.created_at,
            };
            Ok((record, parse(row.id, &row.document)?))
        })
        .transpose()
    }

    /// One revision; none if there never was one or it is no longer kept.
    pub async fn revision(&self, id: Revision) -> Result<Option<(RevisionRecord, Configuration)>, DatabaseError> {
        let row = sqlx::query!(
            r#"select id, author, summary, created_at, document::text as "document!"
            from headgate.revisions where id = $1"#,
            id.0
        )
        .fetch_optional(self.pool())
        .await?;
        row.map(|row| {
            let record = RevisionRecord {
                id: Revision(row.id),
                author: row.author,
                summary: row.summary,
                created_at: row.created_at,
            };
            Ok((record, parse(row.id, &row.document)?))
        })
        .transpose()
    }

    /// Revisions, newest first; `before` is the last one of the page before.
    pub async fn revisions(&self, limit: i64, before: Option<Revision>) -> Result<Vec<RevisionRecord>, DatabaseError> {
        let rows = sqlx::query!(
            "select id, author, summary, created_at from headgate.revisions
            where $1::bigint is null or id < $1 order by id desc limit $2",
            before.map(|r| r.0),
            limit
        )
        .fetch_all(self.pool())
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| RevisionRecord {
                id: Revision(row.id),
                author: row.author,
                summary: row.summary,
                created_at: row.created_at,
            })
            .collect())
    }

    /// Makes revision `expected + 1`, provided that `expected` is still the newest (0: there is none yet), tells all
    /// processes and forgets what is older than [`KEPT`] revisions.
    pub async fn append(
        &self,
        expected: Revision,
        configuration: &Configuration,
        author: &str,
        summary: &str,
    ) -> Result<Revision, AppendError> {
        let mut transaction = self.pool().begin().await?;
        let inserted = sqlx::query_scalar!(
            r#"insert into headgate.revisions (id, author, summary, document)
            select $1::bigint + 1, $2, $3, $4
            where coalesce((select max(id) from headgate.revisions), 0) = $1
            on conflict (id) do nothing
            returning id"#,
            expected.0,
            author,
            summary,
            Json(configuration) as _
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(id) = inserted else {
            transaction.rollback().await?;
            return Err(AppendError::Conflict { latest: self.latest_id().await? });
        };
        sqlx::query!("delete from headgate.revisions where id <= $1", id - KEPT).execute(&mut *transaction).await?;
        sqlx::query!("select pg_notify($1, $2::bigint::text)", REVISIONS, id).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(Revision(id))
    }

    /// The number of the newest revision; 0 before the first change.
    pub async fn latest_id(&self) -> Result<Revision, DatabaseError> {
        let id = sqlx::query_scalar!(r#"select coalesce(max(id), 0) as "id!" from headgate.revisions"#)
            .fetch_one(self.pool())
            .await?;
        Ok(Revision(id))
    }

    /// Takes `count` numbers in a row for new objects and returns the first. None is ever given twice.
    pub async fn allocate_ids(&self, count: u32) -> Result<i64, DatabaseError> {
        let first = sqlx::query_scalar!(
            r#"update headgate.instance set next_object_id = next_object_id + $1::bigint
            returning next_object_id - $1::bigint as "first!""#,
            i64::from(count)
        )
        .fetch_one(self.pool())
        .await?;
        Ok(first)
    }
}

fn parse(id: i64, document: &str) -> Result<Configuration, DatabaseError> {
    serde_json::from_str(document).map_err(|error| DatabaseError::Unreadable {
        what: format!("Revision {id} of the configuration"),
        reason: error.to_string(),
    })
}
