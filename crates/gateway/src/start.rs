//! Bringing a gateway up, and taking it down without losing anybody's answer.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use headgate_domain::{Configuration, Revision, SettingsPatch, file::Problem};
use headgate_store::{
    Cluster, Database, DatabaseError, Journal, Shipper, Target,
    journal::{DEFAULT_CAP, JournalError},
    state_file,
};
use headgate_vault::VaultError;
use rust_decimal::Decimal;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    admin::{self, Glance},
    budgets,
    clock::Clock,
    config::{Bootstrap, DatabaseChoice, GatewayConfig},
    control::{Applied, ApplyOptions, Control, ControlError, KEPT_FILE, Kept},
    events::Event,
    neighbours,
    outbound::Clients,
    serve,
    shared::{Counters, Routing, Shared},
    snapshot::Snapshot,
    tasks,
    traces::{Collector, Traces},
};

/// How long open streams may go on when the gateway stops.
const DRAIN: Duration = Duration::from_secs(20);
/// How long the last records may take into the database; what is left waits in the journal.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// Why a gateway did not start: a sentence with cause and remedy.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is taken.
    #[error("{address} is in use by another program; end it, or choose another address with --listen")]
    PortTaken {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be used.
    #[error("{address} cannot be listened on ({why}); choose an address of this machine with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        why: std::io::Error,
    },
    /// The collector of traces that the environment names.
    #[error("{0}; correct it, or unset it to send no traces")]
    Traces(String),
    /// The database, and there is no kept configuration to serve meanwhile.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A secret has to be read and cannot be.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The file given with `--apply`.
    #[error("{} was not applied: {why}", path.display())]
    Apply {
        /// The file.
        path: PathBuf,
        /// Why.
        why: ControlError,
    },
    /// The file given with `--apply` has problems.
    #[error("{} was not applied:\n{}", path.display(), problems.iter().map(|p| format!("  {p}")).collect::<Vec<_>>().join("\n"))]
    ApplyProblems {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problems: Vec<Problem>,
    },
    /// The kept configuration cannot be read.
    #[error("{0}")]
    Kept(String),
}

/// What a day has brought so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Today {
    /// Requests that arrived.
    pub requests: i64,
    /// What attempts cost, by currency.
    pub spent: Vec<(String, Decimal)>,
}

/// The engine.
pub struct Gateway;

/// A running gateway.
pub struct GatewayHandle {
    shared: Arc<Shared>,
    cluster: Option<Cluster>,
    background: CancellationToken,
    shipper: tokio::task::JoinHandle<()>,
    /// What `apply` did before the first request was accepted.
    pub applied: Option<Applied>,
    router: axum::Router,
    /// Held until everything has stopped.
    _data_dir: headgate_store::DataDir,
}

/// The database as it was found.
enum Found {
    Ready(Database, [u8; 32], Revision, Configuration),
    /// Away; the kept configuration serves.
    Away(Kept),
}

async fn look(target: &Target, kept: Option<Kept>) -> Result<Found, DatabaseError> {
    let reached = async {
        let database = Database::connect(target).await?;
        let instance = database.migrate().await?;
        let latest = database.latest().await?;
        let (revision, document) = latest.map_or_else(Default::default, |(record, document)| (record.id, document));
        Ok((database, instance.pepper, revision, document))
    };
    match (reached.await, kept) {
        (Ok((database, pepper, revision, document)), _) => Ok(Found::Ready(database, pepper, revision, document)),
        // A wrong password or schema is a mistake to be corrected, not an outage.
        (Err(why @ (DatabaseError::Unreachable { .. } | DatabaseError::Slow)), Some(kept)) => {
            tracing::warn!(error = %why, configuration.revision = kept.revision.0, "the last good configuration serves until the database answers");
            Ok(Found::Away(kept))
        }
        (Err(why), _) => Err(why),
    }
}

fn listen_on(address: SocketAddr) -> Result<Vec<tokio::net::TcpListener>, StartError> {
    serve::listen(address).map_err(|why| match why.kind() {
        std::io::ErrorKind::AddrInUse => StartError::PortTaken { address },
        _ => StartError::Listen { address, why },
    })
}

impl Gateway {
    /// Whether an address can be listened on, before anything slow is begun.
    pub fn check_address(address: SocketAddr) -> Result<(), StartError> {
        listen_on(address).map(drop)
    }

    /// Starts everything; returns when requests are accepted.
    pub async fn start(config: GatewayConfig) -> Result<GatewayHandle, StartError> {
        let GatewayConfig { listen, data_dir, database: choice, vault, admin_token, admin_remote, apply } = config;
        let collector = Collector::from_env(|name| std::env::var(name).ok()).map_err(StartError::Traces)?;
        let (traces, outbox) = Traces::to(collector);
        let listeners = listen_on(listen)?;
        let address = listeners.first().and_then(|l| l.local_addr().ok()).unwrap_or(listen);
        let kept: Option<Kept> =
            state_file::read_json(&data_dir.join(KEPT_FILE)).map_err(|why| StartError::Kept(why.to_string()))?;
        let kind = choice.kind();
        let target = choice.target();
        let found = look(&target, kept).await?;
        let (journal, shipper) = Journal::open(&data_dir.join("journal"), DEFAULT_CAP)?;

        let clock = Clock::start();
        let clients = Arc::new(Clients::default());
        let (database, pepper, revision, document) = match found {
            Found::Ready(database, pepper, revision, document) => (Some(database), pepper, revision, document),
            Found::Away(kept) => (None, kept.pepper.0, kept.revision, kept.configuration),
        };
        let control = Control::new(database.clone(), vault);
        let snapshot: Snapshot = control.first(revision, document, &clients).await?;
        let bootstrap = Bootstrap { address, admin_remote, database: kind, data_dir: data_dir.path().to_owned() };
        let stopping = CancellationToken::new();
        let shared = Arc::new(Shared {
            clock,
            routing: parking_lot::Mutex::new(Routing::new(&snapshot)),
            snapshot: arc_swap::ArcSwap::from_pointee(snapshot),
            journal,
            clients,
            pepper,
            bootstrap,
            pseudonym: format!("headgate-{}", uuid::Uuid::now_v7().simple()),
            incidents: Default::default(),
            alerts: Default::default(),
            lines: Default::default(),
            telling: Default::default(),
            events: Default::default(),
            traces,
            model_lists: Default::default(),
            invalid_keys: Default::default(),
            counters: Counters::default(),
            prices: Default::default(),
            verdicts: Default::default(),
            billing: Default::default(),
            budgets: Default::default(),
            metrics: Default::default(),
            paused: Default::default(),
            database_away: Default::default(),
            stopping: stopping.clone(),
            deadline: CancellationToken::new(),
            tasks: TaskTracker::new(),
            control,
            admin_token,
            sessions: Default::default(),
        });
        tasks::restore_health(&shared);
        budgets::restore(&shared);

        let applied = match apply {
            Some((path, _)) if database.is_none() => {
                tracing::warn!(file = %path.display(), "not applied: the database is away; start again when it answers");
                None
            }
            Some((path, text)) => Some(apply_first(&shared, path, &text).await?),
            None => None,
        };
        if database.is_some() {
            first_settings(&shared).await;
            let snapshot = shared.snapshot.load_full();
            shared.keep(snapshot.revision, &snapshot.configuration);
        }

        if database.is_some() {
            // The first request shall know what was spent.
            budgets::hand_over(&shared).await;
        }
        let background = CancellationToken::new();
        let shipper = run_database(&shared, database, target, shipper, background.clone());
        tasks::spawn(&shared, &background, outbox);
        let router = admin::router(Arc::clone(&shared));
        let room = serve::room();
        for listener in listeners {
            let accept = serve::accept(Arc::clone(&shared), listener, router.clone(), Arc::clone(&room));
            shared.tasks.spawn(accept);
        }
        write_instance(&shared);
        let cluster = match choice {
            DatabaseChoice::Embedded(cluster) => Some(cluster),
            DatabaseChoice::Configured(_) => None,
        };
        Ok(GatewayHandle { shared, cluster, background, shipper, applied, router, _data_dir: data_dir })
    }
}

/// Applies the file of `--apply`.
async fn apply_first(shared: &Shared, path: PathBuf, text: &str) -> Result<Applied, StartError> {
    shared.apply(text, ApplyOptions::default(), "serve --apply").await.map_err(|why| match why {
        ControlError::Invalid(problems) => StartError::ApplyProblems { path, problems },
        why => StartError::Apply { path, why },
    })
}

/// The file by which other programs find this instance.
const INSTANCE_FILE: &str = "instance.json";

fn write_instance(shared: &Shared) {
    let instance = serde_json::json!({
        "address": shared.bootstrap.address.to_string(),
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    if let Err(why) = state_file::write_json(&shared.bootstrap.data_dir.join(INSTANCE_FILE), &instance) {
        tracing::warn!(error = %why, "instance.json could not be written; other commands need --url");
    }
}

/// The machine's time zone, written at the first start so that today means the same everywhere from then on.
async fn first_settings(shared: &Shared) {
    if shared.snapshot.load().settings.time_zone.is_some() {
        return;
    }
    let zone = iana_time_zone::get_timezone().unwrap_or_else(|_| "UTC".to_owned());
    let zone = SettingsPatch { time_zone: Some(Some(zone)), ..SettingsPatch::default() };
    let zone = if zone.effective().problems().is_empty() {
        zone
    } else {
        SettingsPatch { time_zone: Some(Some("UTC".to_owned())), ..SettingsPatch::default() }
    };
    let done = shared
        .edit("first start", |next, revision| {
            if next.settings.time_zone.is_none() {
                next.settings.merge(&zone);
                next.settings_revision = revision;
            }
            Ok(())
        })
        .await;
    if let Err(why) = done {
        tracing::warn!(error = %why, "the time zone could not be written into the settings");
    }
}

/// Connects (if the database was away), then ships the journal until told to stop.
fn run_database(
    shared: &Arc<Shared>,
    database: Option<Database>,
    target: Target,
    shipper: Shipper,
    stop: CancellationToken,
) -> tokio::task::JoinHandle<()> {
    let shared = Arc::clone(shared);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        let database = match database {
            Some(database) => database,
            None => match tasks::reach(&shared, &target, &stop).await {
                Some(database) => database,
                None => return,
            },
        };
        let watch = neighbours::talk(Arc::clone(&shared), database.clone());
        tokio::select! {
            () = shipper.run(database, stop.clone()) => {}
            () = watch => {}
        }
    })
}

/// The longest a figure is waited for that is only good to know.
const GLANCE: Duration = Duration::from_secs(5);

impl GatewayHandle {
    /// The address that was bound.
    pub fn address(&self) -> SocketAddr {
        self.shared.bootstrap.address
    }

    /// The admin API as a service, for callers in this process: no socket, no token.
    pub fn admin(&self) -> axum::Router {
        self.router.clone()
    }

    /// What happens, as it happens.
    pub fn events(&self) -> tokio::sync::broadcast::Receiver<Event> {
        self.shared.events.watch()
    }

    /// The state of the whole in one word, with its cause.
    pub fn glance(&self) -> Glance {
        admin::glance(&self.shared)
    }

    /// What came and what it cost today, in the time zone of the settings; none while the database is away.
    pub fn today(&self) -> impl Future<Output = Option<Today>> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        async move {
            let now = shared.clock.wall();
            let since = shared.snapshot.load().settings.midnight(now);
            let database = shared.control.database().ok()?;
            let asked = async { tokio::try_join!(database.arrived(since), database.spent(since, now)) };
            let (requests, spent) = tokio::time::timeout(GLANCE, asked).await.ok()?.ok()?;
            let spent = spent.into_iter().map(|amount| (amount.currency, amount.amount)).collect();
            Some(Today { requests, spent })
        }
    }

    /// Refuses new requests, or takes them again.
    pub fn pause(&self, paused: bool) {
        self.shared.pause(paused);
    }

    /// Stops in good order: no new requests, open ones finish or end with their protocol's own error event, every
    /// record is written.
    pub async fn shutdown(mut self) {
        self.shared.stopping.cancel();
        let shared = Arc::clone(&self.shared);
        let deadline = async move {
            tokio::time::sleep(DRAIN).await;
            shared.deadline.cancel();
            // Their last words.
            tokio::time::sleep(Duration::from_secs(2)).await;
        };
        let idle = async {
            let mut tick = tokio::time::interval(Duration::from_millis(20));
            while Counters::get(&self.shared.counters.in_flight) > 0 {
                tick.tick().await;
            }
        };
        tokio::select! {
            () = idle => {}
            () = deadline => tracing::warn!("some requests were ended with the gateway"),
        }
        tasks::save_health(&self.shared);
        // Gone already is fine.
        let _ = std::fs::remove_file(self.shared.bootstrap.data_dir.join(INSTANCE_FILE));
        let _ = tokio::time::timeout(LAST_RECORDS, self.shared.journal.flush()).await;
        let _ = tokio::time::timeout(Duration::from_secs(1), self.shared.journal.written()).await;
        self.background.cancel();
        budgets::hand_over(&self.shared).await;
        let _ = tokio::time::timeout(Duration::from_secs(2), &mut self.shipper).await;
        self.shipper.abort();
        if let Ok(database) = self.shared.control.database() {
            let _ = tokio::time::timeout(Duration::from_secs(2), database.close()).await;
        }
        if let Some(cluster) = self.cluster.take() {
            cluster.stop().await;
        }
    }
}
