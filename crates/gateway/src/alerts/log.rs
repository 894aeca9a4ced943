//! What was delivered lately, and what was not. It outlives the process in a file of its own.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use headgate_domain::{AlertEvent, AlertId};
use headgate_store::state_file;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::document::{AlertDocument, Sentence};
use crate::shared::Shared;

/// Kept at most.
const MAX: usize = 200;
/// Where they are kept.
const FILE: &str = "alerts.json";

/// How a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOutcome {
    /// It arrived.
    Delivered,
    /// It did not, and is not tried again.
    Failed,
    /// Too many waited for this target already.
    Dropped,
}

/// One alert and what became of it at one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Delivery {
    /// The alert.
    pub alert: Uuid,
    /// The target.
    pub target: AlertId,
    /// What happened.
    pub kind: AlertEvent,
    /// When it was told.
    pub at: DateTime<Utc>,
    /// For people.
    pub sentence: Sentence,
    /// How often the same thing turned before without being told.
    pub suppressed: u32,
    /// How it ended.
    pub outcome: DeliveryOutcome,
    /// How often it was sent.
    pub attempts: u32,
    /// The status of the last answer.
    pub status: Option<u16>,
    /// What went wrong last.
    pub error: Option<String>,
    /// Milliseconds until it ended, pauses included.
    pub duration_ms: i64,
}

impl Delivery {
    /// A delivery that has not been begun: too many wait.
    pub fn dropped(document: &AlertDocument, target: AlertId) -> Self {
        Self {
            alert: document.id,
            target,
            kind: document.kind,
            at: document.at,
            sentence: document.sentence.clone(),
            suppressed: document.suppressed,
            outcome: DeliveryOutcome::Dropped,
            attempts: 0,
            status: None,
            error: None,
            duration_ms: 0,
        }
    }
}

/// The newest deliveries.
#[derive(Default)]
pub struct DeliveryLog(Mutex<VecDeque<Delivery>>);

impl DeliveryLog {
    /// Adds one.
    pub fn add(&self, delivery: Delivery) {
        let mut all = self.0.lock();
        if all.len() >= MAX {
            all.pop_front();
        }
        all.push_back(delivery);
    }

    /// All of them, newest first.
    pub fn newest(&self) -> Vec<Delivery> {
        self.0.lock().iter().rev().cloned().collect()
    }

    /// The last of a target.
    pub fn last(&self, target: AlertId) -> Option<Delivery> {
        self.0.lock().iter().rev().find(|d| d.target == target).cloned()
    }
}

/// Takes over those of the last run. A file that cannot be read is only a forgotten log.
pub fn restore(shared: &Shared) {
    match state_file::read_json::<VecDeque<Delivery>>(&shared.bootstrap.data_dir.join(FILE)) {
        Ok(kept) => *shared.alerts.log.0.lock() = kept.unwrap_or_default(),
        Err(why) => tracing::warn!(error = %why, "the log of alerts of the last run was not taken over"),
    }
}

/// Saves them for the next run.
pub fn save(shared: &Shared) {
    let all = shared.alerts.log.0.lock().clone();
    if let Err(why) = state_file::write_json(&shared.bootstrap.data_dir.join(FILE), &all) {
        tracing::warn!(error = %why, "the log of alerts could not be saved");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_a_targets_last_is_found() {
        let log = DeliveryLog::default();
        let document = AlertDocument::test(DateTime::from_timestamp(1_800_000_000, 0).unwrap());
        for n in 0..1000 {
            log.add(Delivery { duration_ms: n, ..Delivery::dropped(&document, AlertId(n % 2)) });
        }
        assert_eq!(log.newest().len(), MAX);
        assert_eq!(log.newest()[0].duration_ms, 999);
        assert_eq!(log.last(AlertId(0)).unwrap().duration_ms, 998);
        assert_eq!(log.last(AlertId(7)), None);
    }
}
