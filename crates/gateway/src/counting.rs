//! Output tokens counted here, beside what upstreams report: by the tokenizer of a model's family, after the answer's
//! end and in a task of its own. A text is held until it is counted and kept nowhere.
//!
//! Of other families, and of what finds no room here, the estimate by length stays.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use headgate_domain::AttemptRecord;
use headgate_store::observed::Observed;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::shared::Shared;

/// Bytes of text that wait at most: more of them are not counted.
const HELD: usize = 16 << 20;
/// Texts that wait at most.
const WAITING: usize = 4096;
/// Texts counted at once.
const BATCH: usize = 256;
/// How long it is waited for the records to which the counts belong.
const FLUSH: Duration = Duration::from_secs(2);
/// Pause after the database failed.
const PAUSE: Duration = Duration::from_secs(5);

/// A vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// That of OpenAI's models since GPT-4o.
    O200k,
}

impl Encoding {
    /// The vocabulary of a model, by the name its upstream knows.
    pub fn of(model: &str) -> Option<Self> {
        let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let of_family = ["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-4o", "o1", "o3", "o4", "codex-"];
        of_family.into_iter().any(|family| name.starts_with(family)).then_some(Self::O200k)
    }

    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
        }
    }

    fn count(self, text: &str) -> usize {
        match self {
            Self::O200k => bpe_openai::o200k_base().count(text),
        }
    }
}

/// The text of an attempt's answer.
struct Text {
    of: Observed,
    encoding: Encoding,
    text: String,
}

/// Where texts are put to be counted.
pub struct Counting {
    put: mpsc::Sender<Text>,
    take: Mutex<Option<mpsc::Receiver<Text>>>,
    held: AtomicUsize,
}

impl Default for Counting {
    fn default() -> Self {
        let (put, take) = mpsc::channel(WAITING);
        Self { put, take: Mutex::new(Some(take)), held: AtomicUsize::new(0) }
    }
}

impl Counting {
    /// Takes an answer's text to be counted later, if there is room. Never waits.
    pub fn put(&self, attempt: &AttemptRecord, text: &str) {
        let Some(encoding) = attempt.mapped_model.as_deref().and_then(Encoding::of) else { return };
        let of = Observed {
            started_at: attempt.started_at,
            request_id: attempt.request_id,
            number: attempt.number,
            tokens: 0,
            counted_with: encoding.as_str(),
        };
        if text.is_empty() || self.held.fetch_add(text.len(), Ordering::Relaxed) + text.len() > HELD {
            self.held.fetch_sub(text.len(), Ordering::Relaxed);
            return;
        }
        if self.put.try_send(Text { of, encoding, text: text.to_owned() }).is_err() {
            self.held.fetch_sub(text.len(), Ordering::Relaxed);
        }
    }
}

/// Counts what is put. Never ends.
pub async fn run(shared: Arc<Shared>) {
    let Some(mut texts) = shared.counting.take.lock().take() else { return };
    let mut counted: Vec<Observed> = Vec::new();
    loop {
        let mut batch = Vec::new();
        if texts.recv_many(&mut batch, BATCH).await == 0 {
            return;
        }
        let bytes: usize = batch.iter().map(|one| one.text.len()).sum();
        let work = move || batch.into_iter().map(count).collect::<Vec<_>>();
        let found = shared.tasks.spawn_blocking(work).await;
        shared.counting.held.fetch_sub(bytes, Ordering::Relaxed);
        counted.extend(found.unwrap_or_default());
        // What the database could not take is tried again with what follows, the newest first of all.
        counted.drain(..counted.len().saturating_sub(WAITING));
        store(&shared, &mut counted).await;
    }
}

fn count(Text { of, encoding, text }: Text) -> Observed {
    Observed { tokens: i64::try_from(encoding.count(&text)).unwrap_or(i64::MAX), ..of }
}

async fn store(shared: &Shared, counted: &mut Vec<Observed>) {
    let Ok(database) = shared.control.database() else { return };
    // The records have to be there.
    if !matches!(tokio::time::timeout(FLUSH, shared.journal.flush()).await, Ok(Ok(()))) {
        return;
    }
    match database.note_observed(counted).await {
        Ok(()) => counted.clear(),
        Err(why) => {
            tracing::debug!(error = %why, "counted tokens could not be noted");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_known_by_the_models_own_name() {
        for model in ["gpt-4o", "openai/gpt-5.5-mini", "GPT-4.1-2025-04-14", "o3-mini", "gpt-oss-120b"] {
            assert_eq!(Encoding::of(model), Some(Encoding::O200k), "{model}");
        }
        for model in ["claude-sonnet-4-5", "gpt-4-turbo", "gemini-2.5-pro", "deepseek-chat", ""] {
            assert_eq!(Encoding::of(model), None, "{model}");
        }
    }

    #[test]
    fn tokens_are_those_of_the_vocabulary() {
        assert_eq!(Encoding::O200k.count("hello world"), 2);
        assert_eq!(Encoding::O200k.count("{\"city\":\"Zürich\"}"), 7);
    }

    #[test]
    fn what_finds_no_room_is_not_counted_and_takes_none() {
        let counting = Counting::default();
        let of = |model: &str| AttemptRecord { mapped_model: Some(model.to_owned()), ..AttemptRecord::default() };
        counting.put(&of("claude-opus"), "text");
        counting.put(&of("gpt-5"), "");
        counting.put(&of("gpt-5"), &"x".repeat(HELD + 1));
        assert_eq!(counting.held.load(Ordering::Relaxed), 0);
        counting.put(&of("gpt-5"), "text");
        assert_eq!(counting.held.load(Ordering::Relaxed), 4);
    }
}
