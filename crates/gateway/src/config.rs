//! What a gateway needs to know before it has read its configuration.

use std::{net::SocketAddr, path::PathBuf};

use headgate_domain::Secret;
use headgate_store::{Cluster, DataDir, Target};
use headgate_vault::Vault;

/// Everything that is decided outside: by flags, environment, the bootstrap file, or the desktop shell.
pub struct GatewayConfig {
    /// Address to listen on; a loopback address also opens `[::1]` on the same port.
    pub listen: SocketAddr,
    /// The data directory, held by this process.
    pub data_dir: DataDir,
    /// The database.
    pub database: DatabaseChoice,
    /// Where secrets are.
    pub vault: Vault,
    /// What opens the admin API outside the process.
    pub admin_token: Secret,
    /// Opens the admin API to peers beyond loopback.
    pub admin_remote: bool,
    /// A configuration file to apply before the first request is accepted: its path, for messages, and its text.
    pub apply: Option<(PathBuf, String)>,
}

/// Which PostgreSQL.
pub enum DatabaseChoice {
    /// A configured URL.
    Configured(Target),
    /// The embedded cluster, started and supervised.
    Embedded(Cluster),
}

impl DatabaseChoice {
    /// The word for status pages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Configured(_) => "configured",
            Self::Embedded(_) => "embedded",
        }
    }

    /// Where to connect.
    pub fn target(&self) -> Target {
        match self {
            Self::Configured(target) => target.clone(),
            Self::Embedded(cluster) => cluster.target(),
        }
    }
}

/// What was decided outside and is looked at later.
#[derive(Debug, Clone)]
pub struct Bootstrap {
    /// The address that was really bound.
    pub address: SocketAddr,
    /// Opens the admin API to peers beyond loopback.
    pub admin_remote: bool,
    /// `configured` or `embedded`.
    pub database: &'static str,
    /// The data directory.
    pub data_dir: PathBuf,
}
