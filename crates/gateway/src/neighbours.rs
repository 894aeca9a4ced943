//! Processes on one database: what one learns of an upstream, the others need not learn by failures of their own.

use std::{sync::Arc, time::Duration};

use headgate_domain::{AlertEvent, Class, UpstreamId};
use headgate_routing::{Subject, Transition};
use headgate_store::{
    Database,
    news::{News, Opened, Turn},
};
use tokio::sync::mpsc;

use crate::{
    alerts::Signal,
    billing,
    events::Event,
    incidents::{Incident, IncidentKind},
    shared::Shared,
};

/// Turns that wait to be told. More than that at once would be no news.
const WAITING: usize = 256;

/// Where turns are put to be told to the others.
pub struct Telling {
    put: mpsc::Sender<Turn>,
    take: parking_lot::Mutex<Option<mpsc::Receiver<Turn>>>,
}

impl Default for Telling {
    fn default() -> Self {
        let (put, take) = mpsc::channel(WAITING);
        Self { put, take: parking_lot::Mutex::new(Some(take)) }
    }
}

impl Telling {
    /// Puts a turn of this process. What finds no place is not told: each process finds out by itself, too.
    pub fn put(&self, turn: Turn) {
        let _ = self.put.try_send(turn);
    }
}

impl Shared {
    /// Tells the others of a turn of one of our breakers. A trial that failed is no news to them: an upstream that only
    /// this process cannot reach would keep theirs open for ever.
    pub fn tell_neighbours(&self, upstream: UpstreamId, transition: Transition, class: Class) {
        let opened = match transition {
            Transition::Closed => None,
            Transition::Opened { until } => {
                let now = self.now();
                let health = &self.routing.lock().health;
                if health.view(upstream, now).openings > 1 {
                    return;
                }
                let ms = u64::try_from(now.until(until).as_millis()).unwrap_or(u64::MAX);
                let model = health.last_failed_model(upstream).map(str::to_owned);
                Some(Opened { ms, class, model })
            }
        };
        self.telling.put(Turn { process: self.pseudonym.clone(), upstream, opened });
    }

    fn hear(&self, turn: &Turn) {
        let now = self.now();
        if turn.process == self.pseudonym || !self.snapshot.load().upstreams.contains_key(&turn.upstream) {
            return;
        }
        let heard = |event, class| {
            let subject = Subject::Upstream(turn.upstream);
            self.alerts.tell(Signal::Heard(headgate_routing::Turn { subject, event, class }));
        };
        let health = &mut self.routing.lock().health;
        let Some(Opened { ms, class, model }) = &turn.opened else {
            health.closed_elsewhere(turn.upstream, now);
            heard(AlertEvent::UpstreamClosed, None);
            return;
        };
        let lasting = Duration::from_millis(*ms);
        if health.opened_elsewhere(turn.upstream, *class, lasting, model.as_deref(), now) {
            heard(AlertEvent::UpstreamOpened, Some(*class));
            self.events.send(Event::health(turn.upstream, Transition::Opened { until: now + lasting }, now));
            let (at, kind) = (self.clock.wall(), IncidentKind::Opened);
            self.incidents.add(Incident::of(at, turn.upstream, kind, Some(*class)));
        }
    }
}

/// Tells the others, and hears from them: of turns, of what billing told, and of revisions, which are published. Never ends.
pub async fn talk(shared: Arc<Shared>, database: Database) {
    let Some(mut turns) = shared.telling.take.lock().take() else { return };
    let seen = shared.snapshot.load().revision;
    let mut listener = database.listen(seen);
    // What changed while nobody listened.
    shared.publish_latest().await;
    loop {
        tokio::select! {
            turn = turns.recv() => {
                let Some(turn) = turn else { return };
                if let Err(why) = database.tell_turn(&turn).await {
                    tracing::debug!(error = %why, "other processes could not be told of a breaker");
                }
            }
            news = listener.next() => match news {
                News::Revision(told) if told > shared.snapshot.load().revision => shared.publish_latest().await,
                News::Revision(_) => {}
                News::Turn(turn) => shared.hear(&turn),
                News::Billing(upstream) => billing::read(&shared, &database, Some(upstream)).await,
            }
        }
    }
}
