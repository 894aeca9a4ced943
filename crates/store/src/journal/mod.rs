//! The write-ahead journal of finished requests: on disk at once, in PostgreSQL when it is there.
//!
//! A finished request goes through a bounded channel to one thread, which appends whatever is queued with one write
//! to a *segment* (`journal/<n>.jsonl`, one record a line, at most 8 MiB). The *shipper* reads the segments, stores
//! them in batches, notes in `journal/ack` how far it came, and deletes what is shipped. Invariants:
//!
//! - A segment is only ever appended to, by the process that made it. A start makes a new one, so a line torn by a
//!   kill stays the last of its segment and is not taken for a record.
//! - The position in `ack` is never beyond what the database has confirmed. What is sent twice is stored once, by the
//!   primary key.
//! - At the size cap new records are dropped and counted, the oldest are kept.

mod segments;
mod shipper;
mod writer;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
};

use chrono::{DateTime, Utc};
use headgate_domain::audit::Record;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{oneshot, watch};

pub use shipper::Shipper;

use self::segments::{Folder, Position};

/// Size of the journal beyond which new records are dropped, unless chosen otherwise.
pub const DEFAULT_CAP: u64 = 1 << 30;
/// Records that may wait for the writing thread.
const QUEUE: usize = 8192;

/// Why there is no journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("The journal {} cannot be used ({source}); check its permissions and the free space.", path.display())]
    File {
        /// File or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The journal was closed before the record was stored.
    #[error("The journal was closed before everything was stored; it is stored at the next start.")]
    Closed,
}

/// The journal of one process.
#[derive(Debug)]
pub struct Journal;

/// Appends records. Clones share one journal; when the last one is gone the writing thread ends.
#[derive(Debug, Clone)]
pub struct JournalHandle {
    queue: SyncSender<Command>,
    shared: Arc<Shared>,
}

/// How the journal is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct JournalStats {
    /// Records that wait for the database.
    pub waiting_records: u64,
    /// Bytes of journal on disk that wait for the database.
    pub waiting_bytes: u64,
    /// Records lost since the start: the queue was full, or the journal was.
    pub lost: u64,
    /// Records since the start that the database refused for what they are; they are in `journal/rejected.jsonl`.
    pub rejected: u64,
    /// Records stored since the start.
    pub shipped: u64,
    /// The last failure, until something was stored again.
    pub last_error: Option<String>,
    /// When the oldest waiting record ended, as far as it was looked at.
    pub oldest: Option<DateTime<Utc>>,
}

enum Command {
    Append(Box<Record>),
    /// Answers with the end of the journal when everything sent before is in it.
    Barrier(oneshot::Sender<Position>),
}

/// What handle, writing thread and shipper share.
#[derive(Debug)]
struct Shared {
    queued: AtomicI64,
    waiting_records: AtomicI64,
    lost: AtomicU64,
    rejected: AtomicU64,
    shipped: AtomicU64,
    disk_bytes: AtomicU64,
    note: Mutex<Note>,
    /// The end of what is written. A shipper reads no further in the newest segment.
    written: watch::Sender<Position>,
    /// The end of what is stored.
    stored: watch::Sender<Position>,
}

#[derive(Debug, Default)]
struct Note {
    last_error: Option<String>,
    oldest: Option<DateTime<Utc>>,
}

impl Journal {
    /// Opens the journal in `folder` and starts its writing thread. The shipper is to be run by the caller.
    pub fn open(folder: &Path, cap_bytes: u64) -> Result<(JournalHandle, Shipper), JournalError> {
        let file = |source| JournalError::File { path: folder.to_owned(), source };
        let folder = Folder::open(folder).map_err(file)?;
        let found = folder.survey().map_err(file)?;
        let shared = Arc::new(Shared {
            queued: AtomicI64::new(0),
            waiting_records: AtomicI64::new(found.records),
            lost: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
            shipped: AtomicU64::new(0),
            disk_bytes: AtomicU64::new(found.bytes),
            note: Mutex::new(Note::default()),
            written: watch::Sender::new(Position::start_of(found.next)),
            stored: watch::Sender::new(found.stored),
        });
        let (queue, commands) = sync_channel(QUEUE);
        let writer = writer::Writer::new(folder.clone(), found.next, cap_bytes, Arc::clone(&shared)).map_err(file)?;
        std::thread::Builder::new().name("journal".into()).spawn(move || writer.run(&commands)).map_err(file)?;
        let handle = JournalHandle { queue, shared: Arc::clone(&shared) };
        Ok((handle, Shipper::new(folder, shared)))
    }
}

/// Waits for more to be stored.
#[derive(Debug)]
pub struct Stored(tokio::sync::watch::Receiver<segments::Position>);

impl Stored {
    /// Waits; false when nothing will be stored any more.
    pub async fn next(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

impl JournalHandle {
    /// Hands over a finished request. Never waits: when the queue is full the record is lost and counted.
    pub fn append(&self, record: Record) {
        // Counted before it is sent: the thread may be faster than this one.
        self.shared.queued.fetch_add(1, Ordering::Relaxed);
        match self.queue.try_send(Command::Append(Box::new(record))) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.shared.queued.fetch_sub(1, Ordering::Relaxed);
                self.shared.lose(1, "the queue is full");
            }
        }
    }

    /// Waits until everything appended before is written to disk.
    pub async fn written(&self) -> Result<(), JournalError> {
        self.barrier().await.map(drop)
    }

    /// Tells each time more has been stored.
    pub fn stored(&self) -> Stored {
        Stored(self.shared.stored.subscribe())
    }

    /// Waits until everything appended before is stored in the database (or rejected by it). Without a running
    /// shipper, or while the database is away, that takes as long as that lasts: put a limit around it.
    pub async fn flush(&self) -> Result<(), JournalError> {
        let end = self.barrier().await?;
        let mut stored = self.shared.stored.subscribe();
        stored.wait_for(|at| *at >= end).await.map(drop).map_err(|_| JournalError::Closed)
    }

    async fn barrier(&self) -> Result<Position, JournalError> {
        let (answer, end) = oneshot::channel();
        let mut command = Command::Barrier(answer);
        loop {
            match self.queue.try_send(command) {
                Ok(()) => break,
                Err(TrySendError::Disconnected(_)) => return Err(JournalError::Closed),
                Err(TrySendError::Full(back)) => command = back,
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        end.await.map_err(|_| JournalError::Closed)
    }

    /// How the journal is doing.
    pub fn stats(&self) -> JournalStats {
        let shared = &self.shared;
        let count = |n: &AtomicI64| u64::try_from(n.load(Ordering::Relaxed)).unwrap_or(0);
        let note = shared.note.lock();
        JournalStats {
            waiting_records: count(&shared.queued) + count(&shared.waiting_records),
            waiting_bytes: shared.disk_bytes.load(Ordering::Relaxed).saturating_sub(shared.stored.borrow().offset),
            lost: shared.lost.load(Ordering::Relaxed),
            rejected: shared.rejected.load(Ordering::Relaxed),
            shipped: shared.shipped.load(Ordering::Relaxed),
            last_error: note.last_error.clone(),
            oldest: note.oldest,
        }
    }
}

impl Shared {
    /// Counts lost records; says so at the first and at every hundredth.
    fn lose(&self, count: u64, why: &str) {
        let before = self.lost.fetch_add(count, Ordering::Relaxed);
        let after = before + count;
        if before == 0 || before / 100 != after / 100 {
            tracing::error!(journal.lost = after, "records of requests are being lost: {why}");
        }
    }
}
