//! What every part of the engine shares: small, and each piece with its own short lock.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use headgate_domain::{GroupId, Secret, UpstreamId};
use headgate_routing::{
    Affinity, Allowances, Completion, Effect, Health, Lease, Policy, RetryBudget, Time, Transition,
};
use headgate_store::JournalHandle;
use parking_lot::Mutex;
use rand::{SeedableRng as _, rngs::StdRng};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    admin::Sessions,
    alerts::{Alerts, Signal},
    billing::Billing,
    budgets::Budgets,
    clock::Clock,
    config::Bootstrap,
    control::Control,
    counting::Counting,
    events::{Event, Events},
    forward::line::Lines,
    incidents::{Incident, IncidentKind, Incidents},
    ingress::{auth::InvalidKeys, models::ModelLists},
    metrics::Metrics,
    neighbours::Telling,
    outbound::Clients,
    prices::PriceBook,
    snapshot::Snapshot,
    traces::Traces,
    verdicts::Verdicts,
};

/// Health and the random source of its decisions, under one lock.
pub struct Routing {
    /// Who is well.
    pub health: Health,
    /// Which upstream serves which session.
    pub affinity: Affinity,
    /// What access keys have under way.
    pub allowances: Allowances,
    /// How many repeats on the same candidate there may be.
    pub repeats: RetryBudget,
    /// For draws and jitter.
    pub rng: StdRng,
}

/// The shared state of a running gateway.
pub struct Shared {
    /// The clock.
    pub clock: Clock,
    /// The configuration in force.
    pub snapshot: ArcSwap<Snapshot>,
    /// Routing state.
    pub routing: Mutex<Routing>,
    /// Where records go.
    pub journal: JournalHandle,
    /// HTTP clients.
    pub clients: Arc<Clients>,
    /// HMAC key of access keys.
    pub pepper: [u8; 32],
    /// What was decided outside.
    pub bootstrap: Bootstrap,
    /// Our name in `via`, by which a loop is recognised.
    pub pseudonym: String,
    /// The newest turns of health.
    pub incidents: Incidents,
    /// What people are told of, and how it arrived.
    pub alerts: Alerts,
    /// Requests that wait for room.
    pub lines: Arc<Lines>,
    /// What other processes on the database are to hear.
    pub telling: Telling,
    /// Live events.
    pub events: Events,
    /// Model lists of upstreams.
    pub model_lists: ModelLists,
    /// Addresses that showed invalid keys.
    pub invalid_keys: InvalidKeys,
    /// Counters.
    pub counters: Counters,
    /// What access keys and groups have spent.
    pub budgets: Budgets,
    /// What models cost.
    pub prices: PriceBook,
    /// What upstreams say they charge, and what is left there.
    pub billing: Billing,
    /// Texts of answers that wait for their tokens to be counted.
    pub counting: Counting,
    /// Whether they charged what they said.
    pub verdicts: Verdicts,
    /// Figures for Prometheus.
    pub metrics: Metrics,
    /// Traces for OpenTelemetry.
    pub traces: Traces,
    /// Switched off for a while by a person: new requests are refused.
    pub paused: AtomicBool,
    /// The database did not answer when it was last looked at.
    pub database_away: AtomicBool,
    /// Set when the gateway stops: new requests are refused.
    pub stopping: CancellationToken,
    /// Set when waiting for open streams is over: they end with an error event.
    pub deadline: CancellationToken,
    /// Every task of the gateway.
    pub tasks: TaskTracker,
    /// The configuration's home.
    pub control: Control,
    /// What opens the admin API outside the process.
    pub admin_token: Secret,
    /// Browsers that have shown it.
    pub sessions: Sessions,
}

/// Counters for the status page.
#[derive(Default)]
pub struct Counters {
    /// Requests now in flight.
    pub in_flight: AtomicU64,
    /// Requests finished since the start.
    pub finished: AtomicU64,
    /// Attempts made since the start.
    pub attempts: AtomicU64,
    /// Sessions found on an upstream.
    pub affinity_hits: AtomicU64,
    /// Sessions with no upstream yet.
    pub affinity_misses: AtomicU64,
    /// Sessions written.
    pub affinity_puts: AtomicU64,
    /// Requests that were served where their session was.
    pub affinity_pinned: AtomicU64,
}

impl Counters {
    /// Counts one.
    pub fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads one.
    pub fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

impl Routing {
    /// Routing state with nothing known yet.
    pub fn new(snapshot: &Snapshot) -> Self {
        let settings = &snapshot.settings;
        Self {
            health: Health::new(Policy::from(settings)),
            affinity: Affinity::new(settings.affinity_max as usize, settings.affinity_ttl.0),
            allowances: Allowances::default(),
            repeats: RetryBudget::new(settings.retry_budget),
            rng: StdRng::from_rng(&mut rand::rng()),
        }
    }
}

impl Shared {
    /// Now.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Refuses new requests, or takes them again.
    pub fn pause(&self, paused: bool) {
        if self.paused.swap(paused, Ordering::Relaxed) != paused {
            tracing::info!(paused, "switched by hand");
            self.events.send(Event::Paused { paused });
        }
    }

    /// Gives a claim back without a result.
    pub fn release(&self, lease: Lease) -> Effect {
        let effect = self.routing.lock().health.release(lease, self.now());
        self.lines.room();
        effect
    }

    /// Gives a claim back with its result, and tells the news.
    pub fn complete(&self, lease: Lease, done: &Completion) -> Effect {
        let upstream = lease.upstream();
        let now = self.now();
        let effect = {
            let routing = &mut *self.routing.lock();
            routing.health.complete(lease, done, now, &mut routing.rng)
        };
        self.lines.room();
        for turn in &effect.turns {
            self.alerts.tell(Signal::Turned(turn.clone()));
        }
        if let Some(transition) = effect.transition {
            self.events.send(Event::health(upstream, transition, now));
            let (kind, class) = match transition {
                Transition::Opened { .. } => (IncidentKind::Opened, Some(done.class)),
                Transition::Closed => (IncidentKind::Closed, None),
            };
            self.incidents.add(Incident::of(self.clock.wall(), upstream, kind, class));
            self.tell_neighbours(upstream, transition, done.class);
        }
        if effect.needs_attention {
            let (kind, class) = (IncidentKind::CredentialRejected, Some(done.class));
            self.incidents.add(Incident::of(self.clock.wall(), upstream, kind, class));
        }
        effect
    }

    /// Remembers or forgets the upstream of a session.
    pub fn settle_affinity(&self, group: GroupId, session: Option<u64>, upstream: UpstreamId, keep: bool) {
        let Some(session) = session else { return };
        let now = self.now();
        let affinity = &mut self.routing.lock().affinity;
        if keep {
            affinity.set(group, session, upstream, now);
            Counters::add(&self.counters.affinity_puts);
        } else {
            affinity.drop_from(group, session, upstream);
        }
    }
}
