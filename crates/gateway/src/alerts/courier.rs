//! Carries the messages of one target, one after the other: with patience, and without hurry for anybody else.

use std::{sync::Arc, time::Duration};

use headgate_domain::AlertId;
use tokio::sync::mpsc;

use super::{
    Letter,
    document::AlertDocument,
    log::{self, Delivery, DeliveryOutcome},
    post::{Posted, post},
    target::Target,
};
use crate::{clock::millis, events::Event, shared::Shared};

/// Messages that wait for one target at most: behind a target that is away, older ones say enough.
const QUEUE: usize = 64;
/// Pauses before the second, third and fourth attempt.
const PAUSES: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(8)];

/// The way to the courier of one target; it ends when this is dropped.
pub struct Courier(mpsc::Sender<Letter>);

impl Courier {
    /// Engages one.
    pub fn engage(shared: &Arc<Shared>, target: AlertId) -> Self {
        let (letters, bag) = mpsc::channel(QUEUE);
        let (shared_too, stopping) = (Arc::clone(shared), shared.stopping.clone());
        shared.tasks.spawn(async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = carry(&shared_too, target, bag) => {}
            }
        });
        Self(letters)
    }

    /// Gives it a message. What does not fit is left out, and stands in the log as such.
    pub fn give(&self, shared: &Shared, target: AlertId, letter: Letter) {
        if let Err(mpsc::error::TrySendError::Full(letter)) = self.0.try_send(letter) {
            note(shared, Delivery::dropped(&letter, target));
        }
    }
}

async fn carry(shared: &Shared, id: AlertId, mut bag: mpsc::Receiver<Letter>) {
    while let Some(letter) = bag.recv().await {
        // As it is configured now, not when the message was written.
        let Some(target) = target(shared, id).filter(|target| target.spec.enabled) else { continue };
        deliver(shared, &target, &letter, &PAUSES).await;
    }
}

fn target(shared: &Shared, id: AlertId) -> Option<Arc<Target>> {
    shared.snapshot.load().alerts.iter().find(|target| target.id == id).cloned()
}

/// Sends a test, once; gives what became of it. `None`: there is no such target.
pub async fn test(shared: &Shared, id: AlertId) -> Option<Delivery> {
    let target = target(shared, id)?;
    Some(deliver(shared, &target, &AlertDocument::test(shared.clock.wall()), &[]).await)
}

async fn deliver(shared: &Shared, target: &Target, document: &AlertDocument, pauses: &[Duration]) -> Delivery {
    let begun = shared.now();
    let mut pauses = pauses.iter();
    let mut attempts = 0;
    let Posted { status, error, .. } = loop {
        attempts += 1;
        let posted = post(target, document, shared.clock.wall()).await;
        match pauses.next().filter(|_| posted.again) {
            Some(pause) => tokio::time::sleep(*pause).await,
            None => break posted,
        }
    };
    let outcome = if error.is_none() { DeliveryOutcome::Delivered } else { DeliveryOutcome::Failed };
    let delivery = Delivery {
        outcome,
        attempts,
        status,
        error,
        duration_ms: millis(shared.now().since(begun)),
        ..Delivery::dropped(document, target.id)
    };
    note(shared, delivery.clone());
    delivery
}

fn note(shared: &Shared, delivery: Delivery) {
    match delivery.outcome {
        DeliveryOutcome::Delivered => {
            tracing::info!(alert.target = delivery.target.0, alert.kind = delivery.kind.as_str(), "told");
        }
        DeliveryOutcome::Failed | DeliveryOutcome::Dropped => tracing::warn!(
            alert.target = delivery.target.0,
            alert.kind = delivery.kind.as_str(),
            alert.attempts = delivery.attempts,
            error = delivery.error.as_deref().unwrap_or("too many wait for this target"),
            "an alert did not arrive"
        ),
    }
    let target = delivery.target;
    shared.alerts.log.add(delivery);
    log::save(shared);
    shared.events.send(Event::AlertDelivered { target });
}
