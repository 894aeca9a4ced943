//! The embedded PostgreSQL: a private cluster in the data directory, made once, supervised, stopped with the program.
//!
//! The server is a direct child, listens on a Unix socket in a private folder only, keeps `fsync` on, and as root runs
//! as an unprivileged user. A killed server is started again; a killed program takes its server with it.

mod account;
mod binaries;
mod initdb;
mod place;
mod postmaster;
mod supervisor;

use std::{
    io,
    path::{Path, PathBuf},
    sync::mpsc,
};

use sqlx::postgres::PgConnectOptions;
use tokio::sync::{oneshot, watch};

pub use binaries::Binaries;
pub use supervisor::ClusterState;

use self::{account::Account, place::Place, postmaster::Setup};
use crate::{data_dir::DataDir, database::Target};

const DATABASE: &str = "headgate";

/// What can be chosen about a cluster.
#[derive(Debug, Clone, Default)]
pub struct ClusterOptions {
    /// The programs to use; found by [`Binaries::find`] when absent.
    pub binaries: Option<Binaries>,
}

/// A running cluster. Dropping it stops the server in the background; [`Cluster::stop`] waits for that.
pub struct Cluster {
    place: Place,
    password: String,
    major: u32,
    state: watch::Receiver<ClusterState>,
    stop: Option<supervisor::Stop>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("place", &self.place)
            .field("state", &*self.state.borrow())
            .finish_non_exhaustive()
    }
}

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No PostgreSQL on this machine.
    #[error("{}", not_found(*wanted))]
    NotFound {
        /// The major version of the cluster that exists.
        wanted: Option<u32>,
    },
    /// `HEADGATE_PG_BIN` names a folder without them.
    #[error(
        "HEADGATE_PG_BIN names {}, which holds no working initdb and postgres; correct it or unset it.",
        folder.display()
    )]
    NoPrograms {
        /// The folder.
        folder: PathBuf,
    },
    /// The programs are of another major version than the cluster.
    #[error(
        "The cluster was made by PostgreSQL {wanted}, and HEADGATE_PG_BIN names PostgreSQL {found}; name the programs of {wanted}."
    )]
    WrongMajor {
        /// That of the cluster.
        wanted: u32,
        /// That of the programs.
        found: u32,
    },
    /// Root, and no user to run as.
    #[error(
        "PostgreSQL does not run as root and there is no user '{name}'; create it with: useradd --system --user-group --no-create-home {name}"
    )]
    NoUser {
        /// The user that was looked for first.
        name: String,
    },
    /// A folder is closed to the cluster's user.
    #[error(
        "The user '{user}', as whom PostgreSQL runs, cannot enter {}; run chmod o+x on it or choose another place.",
        folder.display()
    )]
    NoWay {
        /// The folder.
        folder: PathBuf,
        /// The user.
        user: String,
    },
    /// The file system refused.
    #[error("{} cannot be used ({source}); check its permissions and the free space.", path.display())]
    File {
        /// File or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The folder is there and is no cluster.
    #[error("{} is not a whole PostgreSQL cluster; move it away to start with an empty database.", folder.display())]
    Damaged {
        /// The folder.
        folder: PathBuf,
    },
    /// The password file is lost.
    #[error(
        "The password of the embedded PostgreSQL is missing ({}); restore that file, or move the cluster's folder away to start with an empty database.",
        path.display()
    )]
    Password {
        /// The file.
        path: PathBuf,
    },
    /// A folder in a shared place belongs to somebody else.
    #[error("{} belongs to somebody else; remove it or choose a data directory with a shorter path.", folder.display())]
    ForeignFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// No place for the socket.
    #[error(
        "The path {} is too long for a socket; choose a data directory with a shorter path.",
        folder.display()
    )]
    SocketPath {
        /// The folder.
        folder: PathBuf,
    },
    /// `initdb` failed.
    #[error("A new PostgreSQL cluster could not be made in {} ({said}); correct the cause and start again.", folder.display())]
    Init {
        /// The folder.
        folder: PathBuf,
        /// Its last words.
        said: String,
    },
    /// The server ended at once.
    #[error("The embedded PostgreSQL did not start ({said}; {status}); see {}.", log.display())]
    Start {
        /// How it ended.
        status: String,
        /// Its last words.
        said: String,
        /// Its log.
        log: PathBuf,
    },
    /// The server did not get ready.
    #[error("The embedded PostgreSQL was not ready within five minutes; see {}.", log.display())]
    NotReady {
        /// Its log.
        log: PathBuf,
    },
    /// A server of an earlier run does not end.
    #[error("The PostgreSQL of an earlier run (process {pid}) does not end; end it and start again.")]
    StillRunning {
        /// Its process id.
        pid: u32,
    },
    /// Called twice.
    #[error("The data directory has its cluster already; use the one that was started.")]
    Twice,
    /// The supervising thread is gone.
    #[error("The embedded PostgreSQL was stopped while it started; start again.")]
    Stopped,
}

impl Cluster {
    /// Makes the cluster if there is none, starts it and returns when it accepts connections. `on_progress` gets a
    /// line for each step that takes time.
    pub async fn start(
        data_dir: &DataDir,
        options: ClusterOptions,
        on_progress: impl Fn(&str),
    ) -> Result<Self, ClusterError> {
        if !data_dir.claim_cluster() {
            return Err(ClusterError::Twice);
        }
        let (state_sender, state) = watch::channel(ClusterState::Starting);
        let (stop, stopped) = mpsc::channel();
        let (prepared_sender, prepared) = oneshot::channel();
        let (started_sender, started) = oneshot::channel();
        let (progress_sender, mut progress) = tokio::sync::mpsc::unbounded_channel();
        let path = data_dir.path().to_owned();
        std::thread::Builder::new()
            .name("postgres".into())
            .spawn(move || match prepare(&path, options, &progress_sender) {
                Err(error) => drop(prepared_sender.send(Err(error))),
                Ok((setup, password)) => {
                    drop(prepared_sender.send(Ok((setup.place.clone(), password, setup.binaries.major))));
                    drop(progress_sender);
                    supervisor::supervise(&setup, &state_sender, &stopped, started_sender);
                }
            })
            .map_err(|source| ClusterError::File { path: data_dir.path().to_owned(), source })?;
        while let Some(line) = progress.recv().await {
            on_progress(line);
        }
        let (place, password, major) = prepared.await.map_err(|_| ClusterError::Stopped)??;
        started.await.map_err(|_| ClusterError::Stopped)??;
        Ok(Self { place, password, major, state, stop: Some(stop) })
    }

    /// What [`crate::Database::connect`] takes.
    pub fn target(&self) -> Target {
        let options = PgConnectOptions::new_without_pgpass()
            .username(initdb::USER)
            .password(&self.password)
            .database(DATABASE)
            .ssl_mode(sqlx::postgres::PgSslMode::Disable);
        Target::Embedded(Box::new(match &self.place {
            #[cfg(unix)]
            Place::Socket(folder) => options.socket(folder).port(place::PORT),
            #[cfg(not(unix))]
            Place::Port(port) => options.host("127.0.0.1").port(*port),
        }))
    }

    /// PostgreSQL's major version.
    pub fn major(&self) -> u32 {
        self.major
    }

    /// What it is doing, now and from now on.
    pub fn state(&self) -> watch::Receiver<ClusterState> {
        self.state.clone()
    }

    /// Stops the server in good order and waits for it.
    pub async fn stop(mut self) {
        self.stop = None;
        // An error means that the thread is gone, and with it the server.
        let _ = self.state.wait_for(|state| *state == ClusterState::Stopped).await;
    }
}

/// Where the cluster of a data directory is.
pub(crate) fn cluster_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("postgres")
}

fn prepare(
    data_dir: &Path,
    options: ClusterOptions,
    progress: &tokio::sync::mpsc::UnboundedSender<&'static str>,
) -> Result<(Setup, String), ClusterError> {
    let binaries = match options.binaries {
        Some(binaries) => binaries,
        None => Binaries::find(data_dir)?,
    };
    let account = Account::choose()?;
    let folder = cluster_folder(data_dir);
    account.check_way(&folder)?;
    account.check_way(&binaries.program("postgres"))?;
    let password_file = data_dir.join("postgres-password");
    // Whoever asked for progress may be gone; the start goes on.
    if !folder.exists() {
        let _ = progress.send("making a database cluster");
    }
    initdb::ensure(&folder, &password_file, &binaries, &account)?;
    let password = initdb::read_password(&password_file)?;
    let place = Place::prepare(data_dir, &account)?;
    let _ = progress.send("starting PostgreSQL");
    Ok((Setup { folder, log: data_dir.join("postgres.log"), binaries, account, place }, password))
}

fn not_found(wanted: Option<u32>) -> String {
    match wanted {
        Some(major) => format!(
            "The database cluster needs PostgreSQL {major}, which is not installed; \
             install the package postgresql-{major} or set HEADGATE_PG_BIN to its bin folder."
        ),
        None => format!(
            "PostgreSQL {} or newer is not installed; install the package postgresql, \
             set HEADGATE_PG_BIN to its bin folder, or use a database elsewhere with --database-url.",
            binaries::OLDEST
        ),
    }
}

/// The last line of a program's output that speaks of a failure, else the last line.
fn tail(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let line = lines().find(|line| line.contains("FATAL") || line.contains("error:")).or_else(|| lines().next());
    line.unwrap_or("no reason given").to_owned()
}
