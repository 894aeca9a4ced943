//! What the processes on one database tell each other.

use std::time::Duration;

use headgate_domain::{Class, Revision, UpstreamId};
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgListener, PgNotification};

use crate::database::{Database, DatabaseError};

pub(crate) const REVISIONS: &str = "headgate_revision";
pub(crate) const BILLING: &str = "headgate_billing";
const TURNS: &str = "headgate_turn";
const BACKOFF: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// A connection that has died without a word would otherwise be listened to for ever.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);

/// A breaker of one process opened or closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The process, by a name of its own choice.
    pub process: String,
    /// Whose breaker.
    pub upstream: UpstreamId,
    /// Set when it opened.
    pub opened: Option<Opened>,
}

/// A breaker that opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// For how many milliseconds from the telling.
    pub ms: u64,
    /// The failure behind it.
    pub class: Class,
    /// The model of the last attempt that failed.
    pub model: Option<String>,
}

/// Something that another process may have done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// There is a newer revision.
    Revision(Revision),
    /// A breaker turned; one's own turns are told, too.
    Turn(Turn),
    /// What is known of an upstream's billing has changed.
    Billing(UpstreamId),
}

impl Database {
    /// Tells every process on this database of a turn. Nobody may be listening.
    pub async fn tell_turn(&self, turn: &Turn) -> Result<(), DatabaseError> {
        let text = serde_json::to_string(turn).unwrap_or_default();
        sqlx::query!("select pg_notify($1, $2::text)", TURNS, text).execute(self.pool()).await?;
        Ok(())
    }

    /// Listens for turns, for what billing told, and for revisions newer than `seen`, of any process.
    pub fn listen(&self, seen: Revision) -> NewsListener {
        NewsListener { database: self.clone(), seen, connection: None, backoff: BACKOFF }
    }
}

/// Tells what happens, across lost connections.
#[derive(Debug)]
pub struct NewsListener {
    database: Database,
    seen: Revision,
    connection: Option<PgListener>,
    backoff: Duration,
}

impl NewsListener {
    /// Waits for news: of revisions the newest, after every reconnection, too. Turns that happen while the database is
    /// away are not told. Never fails; may be dropped while it waits.
    pub async fn next(&mut self) -> News {
        loop {
            match self.look().await {
                Ok(Some(news)) => return news,
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(error = %error, "listening for news was interrupted");
                    self.connection = None;
                    tokio::time::sleep(self.backoff).await;
                    self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
                }
            }
        }
    }

    async fn look(&mut self) -> Result<Option<News>, DatabaseError> {
        match &mut self.connection {
            None => {
                let mut listener = PgListener::connect_with(self.database.pool()).await?;
                listener.listen_all([REVISIONS, TURNS, BILLING]).await?;
                self.connection = Some(listener);
            }
            Some(listener) => match tokio::time::timeout(LOOK_ANYWAY, listener.try_recv()).await {
                Ok(Ok(Some(note))) => return Ok(self.read(&note)),
                Ok(Ok(None)) => {}
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => {}
            },
        }
        let latest = self.database.latest_id().await?;
        self.backoff = BACKOFF;
        Ok(self.newer(latest))
    }

    fn read(&mut self, note: &PgNotification) -> Option<News> {
        if note.channel() == REVISIONS {
            return note.payload().parse().ok().and_then(|id| self.newer(Revision(id)));
        }
        if note.channel() == BILLING {
            return note.payload().parse().ok().map(|id| News::Billing(UpstreamId(id)));
        }
        // A newer program may say more than this one understands.
        serde_json::from_str(note.payload()).ok().map(News::Turn)
    }

    fn newer(&mut self, revision: Revision) -> Option<News> {
        (revision > self.seen).then(|| {
            self.seen = revision;
            News::Revision(revision)
        })
    }
}
