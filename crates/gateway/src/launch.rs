//! What is decided before the configuration (flags, over the environment, over `headgate.toml`), and the start from it.

use std::{
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy as _;
use headgate_store::{Cluster, ClusterError, ClusterOptions, DataDir, DataDirError, Target};
use headgate_vault::{Kind, SealKey, Vault, VaultError};
use serde::Deserialize;

use crate::{
    admin::{TokenError, admin_token},
    config::{DatabaseChoice, GatewayConfig},
    start::{Gateway, GatewayHandle, StartError},
};

/// What a program does before anything else: lets a panic say little, chooses the TLS provider, and small pages of memory.
pub fn prepare_process() {
    quiet_panics();
    // Two providers are compiled in by different libraries' defaults: say which one is meant before anybody asks.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    #[cfg(target_os = "linux")]
    {
        // Thousands of streams have many small pieces of memory each; huge pages would keep whole regions for few.
        #[expect(unsafe_code, reason = "this prctl takes plain numbers and only sets a flag of the process")]
        let done = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
        if done != 0 {
            tracing::debug!("huge pages could not be switched off; memory use is higher");
        }
    }
}

/// A panic says where it happened and nothing else: its message may hold request data.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!("{}:{}", l.file(), l.line())).unwrap_or_default();
        // There may be nobody to read it.
        let _ = writeln!(std::io::stderr(), "headgate: internal error at {place}; please report this");
    }));
}

/// Why the gateway did not start: one sentence with cause and remedy.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// `headgate.toml`.
    #[error("{} cannot be understood ({why}); correct or remove it", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// `headgate.toml`, when it is changed.
    #[error("{} cannot be written: {why}", path.display())]
    FileWrite {
        /// The file.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// There is no home directory to put anything into.
    #[error("there is no home directory; name the data directory with --data-dir")]
    NoHome,
    /// A word of the environment or of `headgate.toml`.
    #[error("{name}: {why}")]
    Word {
        /// Where it stands.
        name: &'static str,
        /// Why it is wrong.
        why: String,
    },
    /// The file to apply.
    #[error("{} cannot be read: {why}", path.display())]
    Apply {
        /// The file.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The data directory.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The admin token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The embedded cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The engine.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// What a start failed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchProblem {
    /// The address is taken or cannot be used.
    Port,
    /// PostgreSQL.
    Database,
    /// The vault.
    Vault,
    /// The data directory.
    DataDir,
    /// A configuration file.
    Configuration,
}

impl LaunchError {
    /// What it is about.
    pub fn problem(&self) -> LaunchProblem {
        match self {
            Self::File { .. } | Self::FileWrite { .. } | Self::Word { .. } | Self::Apply { .. } => {
                LaunchProblem::Configuration
            }
            Self::NoHome | Self::DataDir(_) | Self::Token(_) => LaunchProblem::DataDir,
            Self::Vault(_) | Self::Start(StartError::Vault(_)) => LaunchProblem::Vault,
            Self::Cluster(_) | Self::Start(StartError::Database(_)) => LaunchProblem::Database,
            Self::Start(StartError::PortTaken { .. } | StartError::Listen { .. }) => LaunchProblem::Port,
            Self::Start(StartError::Apply { .. } | StartError::ApplyProblems { .. } | StartError::Traces(_)) => {
                LaunchProblem::Configuration
            }
            Self::Start(StartError::Journal(_) | StartError::Kept(_)) => LaunchProblem::DataDir,
        }
    }
}

/// How the gateway is started; what is absent has its default.
#[derive(Default, Clone)]
pub struct Launch {
    /// Address to listen on.
    pub listen: Option<SocketAddr>,
    /// PostgreSQL to use instead of the embedded one.
    pub database_url: Option<String>,
    /// Where everything is kept.
    pub data_dir: Option<PathBuf>,
    /// A configuration file to apply first.
    pub apply: Option<PathBuf>,
    /// File with the admin token.
    pub admin_token_file: Option<PathBuf>,
    /// Opens the admin API beyond this machine.
    pub admin_remote: bool,
    /// Where credentials are kept.
    pub vault: Option<Kind>,
    /// What the sealed file is sealed with; absent: what the environment says.
    pub passphrase: Option<headgate_domain::Secret>,
}

impl Launch {
    /// What the environment says (`HEADGATE_…`), for a program without flags.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, LaunchError> {
        let path = |name| variable(name).map(PathBuf::from);
        let word = |name: &'static str, why: String| LaunchError::Word { name, why };
        let listen = variable("HEADGATE_LISTEN")
            .map(|text| text.parse().map_err(|_| word("HEADGATE_LISTEN", format!("'{text}' is not an address"))))
            .transpose()?;
        let vault = variable("HEADGATE_VAULT").map(|text| text.parse().map_err(|why| word("HEADGATE_VAULT", why)));
        Ok(Self {
            listen,
            database_url: variable("HEADGATE_DATABASE_URL"),
            data_dir: path("HEADGATE_DATA_DIR"),
            apply: path("HEADGATE_APPLY"),
            admin_token_file: path("HEADGATE_ADMIN_TOKEN_FILE"),
            admin_remote: variable("HEADGATE_ADMIN_REMOTE").is_some_and(|text| text == "true" || text == "1"),
            vault: vault.transpose()?,
            passphrase: None,
        })
    }

    /// What is absent here, as the file says.
    pub fn over(self, file: File) -> Result<Self, LaunchError> {
        let vault = file
            .vault
            .map(|text| text.parse().map_err(|why| LaunchError::Word { name: "vault in headgate.toml", why }));
        Ok(Self {
            listen: self.listen.or(file.listen),
            database_url: self.database_url.or(file.database_url),
            data_dir: self.data_dir.or(file.data_dir),
            apply: self.apply.or(file.apply),
            admin_token_file: self.admin_token_file.or(file.admin_token_file),
            admin_remote: self.admin_remote || file.admin_remote.unwrap_or(false),
            vault: self.vault.or(vault.transpose()?),
            passphrase: self.passphrase,
        })
    }

    /// The address to listen on.
    pub fn address(&self) -> SocketAddr {
        self.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8642)))
    }

    /// The data directory's path.
    pub fn data_dir(&self) -> Result<PathBuf, LaunchError> {
        self.data_dir.clone().map_or_else(default_data_dir, Ok)
    }

    /// Starts the gateway; `say` is told what takes long.
    pub async fn start(self, say: impl Fn(&str) + Send + 'static) -> Result<GatewayHandle, LaunchError> {
        let listen = self.address();
        let apply = match self.apply.clone() {
            Some(path) => match std::fs::read_to_string(&path) {
                Ok(text) => Some((path, text)),
                Err(why) => return Err(LaunchError::Apply { path, why }),
            },
            None => None,
        };
        let data_dir = DataDir::open(self.data_dir()?)?;
        let vault = match self.vault.unwrap_or(Kind::Keychain) {
            Kind::Keychain => Vault::keychain(),
            Kind::Memory => Vault::memory(),
            Kind::File => {
                let key = match &self.passphrase {
                    Some(passphrase) => SealKey::Passphrase(passphrase.clone()),
                    None => SealKey::from_environment(|name| std::env::var(name).ok())?,
                };
                Vault::file(data_dir.join(SEALED_FILE), &key)?
            }
        };
        let token_file = self.admin_token_file.unwrap_or_else(|| data_dir.join("admin-token"));
        let admin_token = admin_token(&token_file)?;
        Gateway::check_address(listen)?;
        let database = match self.database_url {
            Some(url) => DatabaseChoice::Configured(Target::Url(url)),
            None => DatabaseChoice::Embedded(Cluster::start(&data_dir, ClusterOptions::default(), say).await?),
        };
        let config =
            GatewayConfig { listen, data_dir, database, vault, admin_token, admin_remote: self.admin_remote, apply };
        Ok(Box::pin(Gateway::start(config)).await?)
    }
}

/// The sealed vault, in the data directory.
pub const SEALED_FILE: &str = "vault.sealed";

/// `headgate.toml` in the OS's configuration directory.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct File {
    /// `--listen`
    pub listen: Option<SocketAddr>,
    /// `--database-url`
    #[serde(alias = "database-url")]
    pub database_url: Option<String>,
    /// `--data-dir`
    #[serde(alias = "data-dir")]
    pub data_dir: Option<PathBuf>,
    /// `--apply`
    pub apply: Option<PathBuf>,
    /// `--admin-token-file`
    #[serde(alias = "admin-token-file")]
    pub admin_token_file: Option<PathBuf>,
    /// `--admin-remote`
    #[serde(alias = "admin-remote")]
    pub admin_remote: Option<bool>,
    /// `--vault`
    pub vault: Option<String>,
    /// `--log-format`
    #[serde(alias = "log-format")]
    pub log_format: Option<String>,
}

impl File {
    /// Reads the file if there is one.
    pub fn load() -> Result<Self, LaunchError> {
        file_path().map_or_else(|| Ok(Self::default()), |path| Self::read(&path))
    }

    /// Writes the address to listen on into the file, and leaves the rest of it as it is.
    pub fn keep_address(address: SocketAddr) -> Result<(), LaunchError> {
        let path = file_path().ok_or(LaunchError::NoHome)?;
        let failed = |why| LaunchError::FileWrite { path: path.clone(), why };
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(why) => return Err(failed(why)),
        };
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        std::fs::write(&path, with_address(&before, address)).map_err(failed)
    }

    fn read(path: &Path) -> Result<Self, LaunchError> {
        let wrong = |why: String| LaunchError::File { path: path.to_owned(), why };
        match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).map_err(|why| wrong(why.to_string())),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(why) => Err(wrong(why.to_string())),
        }
    }
}

fn file_path() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("headgate").join("headgate.toml"))
}

/// The file has no tables: its lines stand for themselves, and a person's comments stay.
fn with_address(text: &str, address: SocketAddr) -> String {
    let says_it = |line: &&str| line.split('=').next().is_some_and(|key| key.trim() == "listen");
    let mut lines = vec![format!("listen = \"{address}\"")];
    lines.extend(text.lines().filter(|line| !says_it(line)).map(str::to_owned));
    lines.join("\n") + "\n"
}

/// The data directory when none is named.
fn default_data_dir() -> Result<PathBuf, LaunchError> {
    #[cfg(target_os = "linux")]
    if is_root() {
        return Ok(PathBuf::from("/var/lib/headgate"));
    }
    #[cfg(target_os = "macos")]
    let base = etcetera::base_strategy::Apple::new();
    #[cfg(not(target_os = "macos"))]
    let base = etcetera::choose_base_strategy();
    let base = base.map_err(|_| LaunchError::NoHome)?.data_dir();
    Ok(base.join(if cfg!(any(windows, target_os = "macos")) { "Headgate" } else { "headgate" }))
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    #[expect(unsafe_code, reason = "geteuid has no preconditions and cannot fail")]
    let euid = unsafe { libc::geteuid() };
    euid == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_where_it_happened_and_nothing_else() {
        const CHILD: &str = "HEADGATE_TEST_PANICS";
        if std::env::var_os(CHILD).is_some() {
            quiet_panics();
            panic!("what-a-client-sent");
        }
        let test = "launch::tests::a_panic_says_where_it_happened_and_nothing_else";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let done = child.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().unwrap();
        let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        assert!(!done.status.success());
        assert!(said.contains("internal error at crates/gateway/src/launch.rs:"), "{said}");
        assert!(!said.contains("what-a-client-sent"), "{said}");
    }

    #[test]
    fn another_address_replaces_the_one_in_the_file_and_nothing_else() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8643));
        assert_eq!(with_address("", address), "listen = \"127.0.0.1:8643\"\n");
        let text = "# mine\nlisten = \"127.0.0.1:1\" # old\nvault = \"file\"\n";
        let changed = with_address(text, address);
        assert_eq!(changed, "listen = \"127.0.0.1:8643\"\n# mine\nvault = \"file\"\n");
        assert_eq!(toml::from_str::<File>(&changed).unwrap().listen, Some(address));
    }

    #[test]
    fn the_file_takes_both_spellings_and_refuses_unknown_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headgate.toml");
        std::fs::write(&path, "listen = \"127.0.0.1:9\"\ndatabase-url = \"postgres://x\"\nadmin_remote = true\n")
            .unwrap();
        let file = File::read(&path).unwrap();
        assert_eq!(file.listen.unwrap().port(), 9);
        assert_eq!(file.database_url.as_deref(), Some("postgres://x"));
        std::fs::write(&path, "lissten = 5\n").unwrap();
        let why = format!("{:#}", File::read(&path).unwrap_err());
        assert!(why.contains("lissten"), "{why}");
        assert!(File::read(&folder.path().join("none")).unwrap().listen.is_none());
    }
}
