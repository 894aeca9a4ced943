//! Decides what is news, and to whom it is told now, later or not at all.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};
use headgate_domain::{AlertEvent, AlertId, BudgetOwner, Class, UpstreamId, audit::BreakerState};
use headgate_routing::{Debounce, Pool, Subject, Told, Turn, UpstreamHealth, Wrongs, meaning};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{Signal, courier::Courier, document::AlertDocument};
use crate::{events::Event, shared::Shared, snapshot::Snapshot};

/// Works until the letter box is closed. A second desk finds nothing to do.
pub async fn run(shared: Arc<Shared>) {
    let Some(mut letters) = shared.alerts.unread.lock().take() else { return };
    let mut desk = Desk::open(shared);
    while desk.serve(&mut letters).await {}
}

/// A target, with what it was told and who carries it there.
struct Listener {
    debounce: Debounce,
    courier: Courier,
}

struct Desk {
    shared: Arc<Shared>,
    wrongs: Wrongs,
    /// For those who watch this process: the window and the shell.
    house: Debounce,
    listeners: HashMap<AlertId, Listener>,
}

impl Desk {
    /// What is wrong at the start was told by the last run.
    fn open(shared: Arc<Shared>) -> Self {
        let mut wrongs = Wrongs::default();
        let snapshot = shared.snapshot.load_full();
        let now = shared.now();
        for id in snapshot.upstreams.keys() {
            let health = shared.routing.lock().health.view(*id, now);
            for turn in known(*id, &health) {
                wrongs.take(turn, pools(&snapshot));
            }
        }
        // Groups whose secrets are missing are down without any turn.
        wrongs.follow(|subject| is_there(&snapshot, subject), pools(&snapshot));
        Self { shared, wrongs, house: Debounce::default(), listeners: HashMap::new() }
    }

    /// Waits for the next thing to do, and does it. `false`: there is none any more.
    async fn serve(&mut self, letters: &mut mpsc::Receiver<Signal>) -> bool {
        let wake = self.listeners.values().map(|l| &l.debounce).chain([&self.house]).filter_map(Debounce::next).min();
        let clock = self.shared.clock;
        let late = async {
            match wake {
                Some(at) => tokio::time::sleep_until(clock.instant(at)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            letter = letters.recv() => match letter {
                Some(signal) => self.take(signal),
                None => return false,
            },
            () = late => self.tell_late(),
        }
        true
    }

    fn take(&mut self, signal: Signal) {
        let snapshot = self.shared.snapshot.load_full();
        let pools = pools(&snapshot);
        let is_heard = matches!(signal, Signal::Heard(_) | Signal::News { is_heard: true, .. });
        let news = match signal {
            Signal::Turned(turn) | Signal::Heard(turn) => self.wrongs.take(turn, pools),
            Signal::News { turn, .. } => vec![turn],
            Signal::Cleared(upstream, model) => self.wrongs.clear(upstream, model.as_deref(), pools),
            Signal::Configured => {
                self.listeners.retain(|id, _| snapshot.alerts.iter().any(|target| target.id == *id));
                self.wrongs.follow(|subject| is_there(&snapshot, subject), pools)
            }
        };
        for turn in news {
            let id = Uuid::now_v7();
            self.tell_house(&turn, &snapshot, id);
            // The targets are everybody's: who had it turn tells them.
            if !is_heard {
                self.tell_targets(&turn, &snapshot, id);
            }
        }
    }

    fn tell_house(&mut self, turn: &Turn, snapshot: &Snapshot, id: Uuid) {
        let quiet = snapshot.settings.alert_debounce.0;
        if let Some(told) = self.house.take(turn.clone(), quiet, self.shared.now()) {
            to_house(&self.shared, snapshot, &told, id, self.shared.clock.wall());
        }
    }

    fn tell_targets(&mut self, turn: &Turn, snapshot: &Snapshot, id: Uuid) {
        let Self { shared, listeners, .. } = self;
        let (at, now) = (shared.clock.wall(), shared.now());
        for target in snapshot.alerts.iter().filter(|target| target.spec.wants(turn.event)) {
            let listener = listeners.entry(target.id).or_insert_with(|| Listener {
                debounce: Debounce::default(),
                courier: Courier::engage(shared, target.id),
            });
            if let Some(told) = listener.debounce.take(turn.clone(), target.quiet, now) {
                to_target(shared, snapshot, target.id, listener, &told, id, at);
            }
        }
    }

    /// Tells what waited for the end of its quiet time.
    fn tell_late(&mut self) {
        let Self { shared, house, listeners, .. } = self;
        let snapshot = shared.snapshot.load_full();
        let (at, now) = (shared.clock.wall(), shared.now());
        for told in house.due(now) {
            to_house(shared, &snapshot, &told, Uuid::now_v7(), at);
        }
        for (target, listener) in listeners {
            for told in listener.debounce.due(now) {
                to_target(shared, &snapshot, *target, listener, &told, Uuid::now_v7(), at);
            }
        }
    }
}

fn to_house(shared: &Shared, snapshot: &Snapshot, told: &Told, id: Uuid, at: DateTime<Utc>) {
    if let Some(document) = AlertDocument::of(told, id, at, snapshot, &shared.billing) {
        tracing::info!(alert.kind = document.kind.as_str(), "{}", document.sentence.en);
        shared.events.send(Event::Alerted { alert: Box::new(document) });
    }
}

fn to_target(
    shared: &Shared,
    snapshot: &Snapshot,
    target: AlertId,
    listener: &Listener,
    told: &Told,
    id: Uuid,
    at: DateTime<Utc>,
) {
    if let Some(document) = AlertDocument::of(told, id, at, snapshot, &shared.billing) {
        listener.courier.give(shared, target, Arc::new(document));
    }
}

fn pools(snapshot: &Snapshot) -> impl Iterator<Item = &Pool> {
    snapshot.groups.values().map(|group| &group.pool)
}

fn is_there(snapshot: &Snapshot, subject: &Subject) -> bool {
    let configuration = &snapshot.configuration;
    match subject {
        Subject::Group(group) | Subject::Budget(BudgetOwner::Group(group), ..) => configuration.group(*group).is_some(),
        Subject::Budget(BudgetOwner::Key(key), ..) => configuration.key(*key).is_some(),
        Subject::Credential(upstream, Some(id)) => {
            configuration.upstream(*upstream).is_some_and(|u| u.credentials.iter().any(|c| c.id == *id))
        }
        Subject::Upstream(upstream)
        | Subject::Model(upstream, _)
        | Subject::Credential(upstream, None)
        | Subject::Money(upstream, _) => configuration.upstream(*upstream).is_some(),
    }
}

/// What an upstream's health says is wrong, as the turns that have led there.
fn known(upstream: UpstreamId, health: &UpstreamHealth) -> Vec<Turn> {
    let mut turns = Vec::new();
    if health.state != BreakerState::Closed {
        let class = health.last_failure;
        turns.push(Turn { subject: Subject::Upstream(upstream), event: AlertEvent::UpstreamOpened, class });
    }
    for credential in &health.credentials {
        let refused = credential.cooling.iter().find(|c| c.model.is_none() && meaning(c.class).needs_attention);
        turns.extend(refused.map(|c| {
            let event = match c.class {
                Class::Exhausted => AlertEvent::CredentialExhausted,
                _ => AlertEvent::CredentialRejected,
            };
            Turn::new(Subject::Credential(upstream, credential.id), event, c.class)
        }));
    }
    turns
}
