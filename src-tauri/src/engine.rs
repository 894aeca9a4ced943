//! The gateway in this process: started, stopped, started again; on a runtime of its own, so that no window slows it.

use std::{net::SocketAddr, sync::Arc};

use headgate_domain::Secret;
use headgate_gateway::{File, GatewayHandle, Launch, LaunchError, LaunchProblem};
use headgate_vault::{Kind, Vault};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::{runtime::Runtime, sync::watch};

/// Where the gateway is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It starts.
    Starting {
        /// What takes long.
        line: Option<String>,
    },
    /// It accepts requests.
    Running {
        /// Its address.
        address: String,
    },
    /// It did not start.
    Failed {
        /// What it is about.
        problem: LaunchProblem,
        /// A sentence with cause and remedy.
        message: String,
        /// A sealed file with a passphrase is a way out.
        can_seal: bool,
        /// There is a sealed file already: its passphrase is asked for.
        sealed: bool,
        /// An address beside the one that is taken.
        free_address: Option<SocketAddr>,
    },
    /// It stops.
    Stopping,
}

/// The gateway and its runtime.
pub struct Engine {
    runtime: Runtime,
    launch: Mutex<Result<Launch, (LaunchProblem, String)>>,
    running: Mutex<Option<Arc<Running>>>,
    state: watch::Sender<State>,
}

/// A running gateway, as the shell uses it.
pub struct Running {
    handle: Mutex<Option<GatewayHandle>>,
    /// Its admin API: no socket, no token.
    pub admin: axum::Router,
    /// The URL tools are pointed at.
    pub url: String,
}

impl Running {
    /// Does something with the gateway, if it has not been stopped.
    pub fn with<T>(&self, work: impl FnOnce(&GatewayHandle) -> T) -> Option<T> {
        self.handle.lock().as_ref().map(work)
    }
}

impl Engine {
    /// An engine that has not been started.
    pub fn new(launch: Result<Launch, LaunchError>) -> anyhow::Result<Self> {
        let workers = std::thread::available_parallelism().map_or(2, usize::from).min(8);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
        let launch = launch.map_err(|why| (why.problem(), sentence(&why)));
        let (state, _) = watch::channel(State::Starting { line: None });
        Ok(Self { runtime, launch: Mutex::new(launch), running: Mutex::default(), state })
    }

    /// Where it is, now and from now on.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// The running gateway.
    pub fn running(&self) -> Option<Arc<Running>> {
        self.running.lock().clone()
    }

    /// Runs a task beside the gateway.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> tokio::task::JoinHandle<()> {
        self.runtime.spawn(work)
    }

    /// Starts it, unless it runs.
    pub fn start(self: &Arc<Self>) {
        if self.running.lock().is_some() {
            return;
        }
        let engine = Arc::clone(self);
        self.state.send_replace(State::Starting { line: None });
        self.spawn(async move {
            let launch = engine.launch.lock().clone();
            let begun = match launch {
                Ok(launch) => Box::pin(engine.launch(launch)).await,
                Err((problem, message)) => {
                    Err(State::Failed { problem, message, can_seal: false, sealed: false, free_address: None })
                }
            };
            engine.state.send_replace(begun.unwrap_or_else(|failed| failed));
        });
    }

    /// Starts it with the secrets in a file sealed with this passphrase.
    pub fn start_sealed(self: &Arc<Self>, passphrase: Secret) {
        if let Ok(launch) = &mut *self.launch.lock() {
            launch.vault = Some(Kind::File);
            launch.passphrase = Some(passphrase);
        }
        self.start();
    }

    /// Whether this is the address that was offered in place of one that is taken.
    pub fn offers(&self, address: SocketAddr) -> bool {
        matches!(*self.state.borrow(), State::Failed { free_address: Some(offered), .. } if offered == address)
    }

    /// Starts it on another address, which is kept for the next starts.
    pub fn start_at(self: &Arc<Self>, address: SocketAddr) -> Result<(), String> {
        File::keep_address(address).map_err(|why| sentence(&why))?;
        if let Ok(launch) = &mut *self.launch.lock() {
            launch.listen = Some(address);
        }
        self.start();
        Ok(())
    }

    async fn launch(self: &Arc<Self>, mut launch: Launch) -> Result<State, State> {
        let sealed = launch.data_dir().is_ok_and(|dir| dir.join(headgate_gateway::SEALED_FILE).exists());
        let wanted = launch.address();
        let failed = |problem, message, can_seal| {
            let free_address = (problem == LaunchProblem::Port).then(|| free_beside(wanted)).flatten();
            State::Failed { problem, message, can_seal, sealed, free_address }
        };
        if launch.vault.is_none() && launch.passphrase.is_none() {
            // Secrets that were sealed once stay there; a keychain that cannot keep any is told before it is needed.
            if sealed {
                let message = "the secrets are in a sealed file; its passphrase opens it".to_owned();
                return Err(failed(LaunchProblem::Vault, message, true));
            }
            if let Err(why) = Vault::keychain().probe().await {
                return Err(failed(LaunchProblem::Vault, why.to_string(), true));
            }
            launch.vault = Some(Kind::Keychain);
        }
        let sealing = launch.passphrase.is_some();
        let lines = self.state.clone();
        let say = move |line: &str| {
            lines.send_replace(State::Starting { line: Some(line.to_owned()) });
        };
        let handle = Box::pin(launch.start(say)).await.map_err(|why| {
            tracing::error!(error = %sentence(&why), "the gateway did not start");
            failed(why.problem(), sentence(&why), sealing)
        })?;
        let address = handle.address().to_string();
        let running =
            Running { admin: handle.admin(), url: format!("http://{address}"), handle: Mutex::new(Some(handle)) };
        *self.running.lock() = Some(Arc::new(running));
        Ok(State::Running { address })
    }

    /// Stops it in good order; waits until it has.
    pub fn stop(&self) {
        self.state.send_replace(State::Stopping);
        let running = self.running.lock().take();
        let handle = running.and_then(|running| running.handle.lock().take());
        if let Some(handle) = handle {
            self.runtime.block_on(Box::pin(handle.shutdown()));
        }
    }
}

/// The next port nobody listens on.
fn free_beside(taken: SocketAddr) -> Option<SocketAddr> {
    (1..=50)
        .filter_map(|n| taken.port().checked_add(n))
        .map(|port| SocketAddr::new(taken.ip(), port))
        .find(|address| std::net::TcpListener::bind(address).is_ok())
}

/// The chain of causes as one text.
fn sentence(why: &LaunchError) -> String {
    let mut text = why.to_string();
    let mut cause = std::error::Error::source(why);
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}
