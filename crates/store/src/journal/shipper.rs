//! From the journal into the database.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use chrono::{DateTime, Utc};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{
    Shared,
    segments::{Batch, Folder, Position},
};
use crate::database::{Database, DatabaseError};

const LINES: usize = 500;
const BYTES: usize = 1 << 20;
/// Requests that end shortly after one another share a transaction.
const LINGER: Duration = Duration::from_millis(120);
/// How often it is noted on disk how far everything is stored. What is stored twice after a crash counts once.
const NOTE_EVERY: Duration = Duration::from_secs(1);
/// Up to so much of a backlog the database gets as much rest as work: where everything shares few cores, requests come
/// before their records. Beyond it, records hurry.
const AT_LEISURE: u64 = 128 << 20;
/// The longest rest.
const REST_MAX: Duration = Duration::from_millis(250);
const BACKOFF: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// A server that is frozen does not even keep its own statement timeout.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);

/// Sends the journal to the database; there is one for each journal.
#[derive(Debug)]
pub struct Shipper {
    folder: Folder,
    shared: Arc<Shared>,
    at: Position,
    /// How far is noted on disk, and when that was.
    noted: (Position, tokio::time::Instant),
    /// Fewer after a statement that took too long.
    lines: usize,
}

/// Why a batch was not stored.
enum Trouble {
    /// Because of what is in it.
    Data(String),
    /// It took too long; a smaller one may not.
    Slow(String),
    /// The database is not there, or not able.
    Away(String),
}

impl Shipper {
    pub(super) fn new(folder: Folder, shared: Arc<Shared>) -> Self {
        let at = *shared.stored.borrow();
        let noted = (at, tokio::time::Instant::now());
        Self { folder, shared, at, noted, lines: LINES }
    }

    /// Ships until `shutdown`; then what is written already, unless the database is away. Takes up where an earlier
    /// process stopped.
    pub async fn run(mut self, database: Database, shutdown: CancellationToken) {
        let mut written = self.shared.written.subscribe();
        let mut backoff = BACKOFF;
        let mut is_full = false;
        loop {
            let end = *written.borrow_and_update();
            let began = tokio::time::Instant::now();
            let outcome = match self.read(end).await {
                Ok(Some(batch)) => {
                    is_full = batch.end < end;
                    self.ship(&database, batch).await
                }
                Ok(None) => {
                    self.shared.note.lock().oldest = None;
                    if let Err(why) = self.note().await {
                        tracing::warn!(error = %why, "the journal cannot be trimmed");
                    }
                    tokio::select! {
                        () = shutdown.cancelled() => return,
                        changed = written.changed() => if changed.is_err() { return },
                    }
                    // A shutdown cuts the pause short.
                    let _ = tokio::time::timeout(LINGER, shutdown.cancelled()).await;
                    continue;
                }
                Err(error) => Err(format!("the journal cannot be read: {error}")),
            };
            match outcome {
                Ok(()) => {
                    backoff = BACKOFF;
                    if self.shared.disk_bytes.load(Ordering::Relaxed) < AT_LEISURE {
                        // Under steady traffic there is always a next record: without a pause each would have a
                        // transaction of its own.
                        let least = if is_full { Duration::ZERO } else { LINGER };
                        // A shutdown cuts the rest short.
                        let rest = began.elapsed().clamp(least, REST_MAX);
                        let _ = tokio::time::timeout(rest, shutdown.cancelled()).await;
                    }
                }
                Err(why) => {
                    if self.shared.note.lock().last_error.replace(why.clone()).is_none() {
                        tracing::warn!(error = %why, "requests wait in the journal");
                    }
                    if tokio::time::timeout(backoff, shutdown.cancelled()).await.is_ok() {
                        return;
                    }
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
            }
        }
    }

    async fn read(&self, end: Position) -> io::Result<Option<Batch>> {
        let (folder, at, lines) = (self.folder.clone(), self.at, self.lines);
        blocking(move || folder.read(at, end, lines, BYTES)).await
    }

    /// Stores a batch and notes that it is stored. After an error everything is as before, except that a part may be
    /// in the database.
    async fn ship(&mut self, database: &Database, batch: Batch) -> Result<(), String> {
        let Batch { lines, end } = batch;
        let count = lines.len();
        let mut rejected = 0;
        if let Some(first) = lines.first() {
            self.shared.note.lock().oldest = ended_at(first);
        }
        // Halves of what the database refuses, in order: what remains in the end are the records it cannot take.
        let mut parts = if lines.is_empty() { Vec::new() } else { vec![lines] };
        while let Some(mut part) = parts.pop() {
            match store(database, &part).await {
                Ok(()) => self.lines = (self.lines * 2).min(LINES),
                Err(Trouble::Away(why)) => return Err(why),
                Err(Trouble::Slow(why)) => {
                    self.lines = (part.len() / 2).max(1);
                    return Err(why);
                }
                Err(Trouble::Data(_)) if part.len() > 1 => {
                    let second = part.split_off(part.len() / 2);
                    parts.push(second);
                    parts.push(part);
                }
                // A partition that was made at that moment looks like wrong data, once.
                Err(Trouble::Data(_)) => match store(database, &part).await {
                    Ok(()) => {}
                    Err(Trouble::Away(why) | Trouble::Slow(why)) => return Err(why),
                    Err(Trouble::Data(why)) => {
                        tracing::error!(error = %why, "a record was refused by the database and put into rejected.jsonl");
                        let folder = self.folder.clone();
                        blocking(move || part.iter().try_for_each(|line| folder.reject(line)))
                            .await
                            .map_err(|error| format!("rejected.jsonl cannot be written: {error}"))?;
                        rejected += 1;
                    }
                },
            }
        }
        self.acknowledge(end).await.map_err(|error| format!("the journal cannot be trimmed: {error}"))?;
        let stored = i64::try_from(count).unwrap_or(i64::MAX);
        self.shared.waiting_records.fetch_sub(stored, Ordering::Relaxed);
        self.shared.shipped.fetch_add(stored.unsigned_abs() - rejected, Ordering::Relaxed);
        self.shared.rejected.fetch_add(rejected, Ordering::Relaxed);
        self.shared.note.lock().last_error = None;
        // Last: a flush that waits for it may look at the counters.
        self.shared.stored.send_replace(end);
        Ok(())
    }

    async fn acknowledge(&mut self, end: Position) -> io::Result<()> {
        self.at = end;
        let (noted, when) = self.noted;
        if end.segment == noted.segment && when.elapsed() < NOTE_EVERY {
            return Ok(());
        }
        self.note().await
    }

    /// Notes on disk how far everything is stored, and removes the segments before.
    async fn note(&mut self) -> io::Result<()> {
        let end = self.at;
        if end == self.noted.0 {
            return Ok(());
        }
        let folder = self.folder.clone();
        let (freed, noted) = blocking(move || {
            // First, since on a full disk there is no room for the note before. A note of a segment that is gone only
            // means that what follows is sent again.
            let mut freed = 0;
            for done in folder.segments()?.into_iter().take_while(|number| *number < end.segment) {
                freed += folder.remove(done)?;
            }
            Ok((freed, folder.ack(end)))
        })
        .await?;
        self.shared.disk_bytes.fetch_sub(freed, Ordering::Relaxed);
        noted?;
        self.noted = (end, tokio::time::Instant::now());
        Ok(())
    }
}

async fn store(database: &Database, lines: &[Vec<u8>]) -> Result<(), Trouble> {
    let mut array = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum::<usize>() + 2);
    array.push('[');
    for (n, line) in lines.iter().enumerate() {
        if n > 0 {
            array.push(',');
        }
        let line = std::str::from_utf8(line).map_err(|error| Trouble::Data(error.to_string()))?;
        // A damaged line must not be able to close the array and begin another.
        serde_json::from_str::<&serde_json::value::RawValue>(line).map_err(|error| Trouble::Data(error.to_string()))?;
        array.push_str(line);
    }
    array.push(']');
    match tokio::time::timeout(ANSWER_WITHIN, database.insert_records(&array)).await {
        Err(_) => Err(Trouble::Away("the database does not answer".into())),
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(match &error {
            DatabaseError::Slow => Trouble::Slow(error.to_string()),
            other if is_about_data(other) => Trouble::Data(error.to_string()),
            _ => Trouble::Away(error.to_string()),
        }),
    }
}

/// SQLSTATE classes of data, constraints and limits; everything else may pass when the database is well again.
fn is_about_data(error: &DatabaseError) -> bool {
    error.code().is_some_and(|code| ["22", "23", "54"].iter().any(|class| code.starts_with(class)))
}

fn ended_at(line: &[u8]) -> Option<DateTime<Utc>> {
    #[derive(Deserialize)]
    struct Line {
        request: Request,
    }
    #[derive(Deserialize)]
    struct Request {
        completed_at: DateTime<Utc>,
    }
    serde_json::from_slice::<Line>(line).ok().map(|line| line.request.completed_at)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}
