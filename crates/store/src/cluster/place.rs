//! Where the cluster listens: a Unix socket in a private folder, or loopback where there are none.

use std::path::{Path, PathBuf};

use super::{ClusterError, account::Account};

/// Address of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Folder of the socket.
    #[cfg(unix)]
    Socket(PathBuf),
    /// Port on 127.0.0.1.
    #[cfg(not(unix))]
    Port(u16),
}

/// The part of the socket's name that PostgreSQL chooses; nobody else listens in that folder.
pub(super) const PORT: u16 = 5432;

/// The path of a Unix socket has to fit into 107 bytes, on some systems 103.
#[cfg(unix)]
const LONGEST: usize = 100;

impl Place {
    /// Prepares the place for a cluster under `data_dir`.
    #[cfg(unix)]
    pub(super) fn prepare(data_dir: &Path, account: &Account) -> Result<Self, ClusterError> {
        let near = data_dir.join("run");
        let folder = if fits(&near) { near } else { far(data_dir, account) };
        make_private(&folder, account)?;
        if fits(&folder) {
            account.check_way(&folder)?;
            Ok(Self::Socket(folder))
        } else {
            Err(ClusterError::SocketPath { folder })
        }
    }

    /// Picks a free port for a cluster.
    #[cfg(not(unix))]
    pub(super) fn prepare(data_dir: &Path, _account: &Account) -> Result<Self, ClusterError> {
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .map_err(|source| ClusterError::File { path: data_dir.to_owned(), source })?;
        Ok(Self::Port(port.port()))
    }

    /// The server's parameters.
    pub(super) fn parameters(&self) -> Vec<String> {
        match self {
            #[cfg(unix)]
            Self::Socket(folder) => vec![
                "listen_addresses=".to_owned(),
                format!("port={PORT}"),
                // A comma separates folders, quotes keep it together.
                format!("unix_socket_directories=\"{}\"", folder.display()),
                "unix_socket_permissions=0700".to_owned(),
            ],
            #[cfg(not(unix))]
            Self::Port(port) => vec!["listen_addresses=127.0.0.1".to_owned(), format!("port={port}")],
        }
    }
}

#[cfg(unix)]
fn fits(folder: &Path) -> bool {
    folder.join(format!(".s.PGSQL.{PORT}")).as_os_str().len() <= LONGEST
}

/// A folder with a short path, the same for every start with this data directory. Root's runtime directory is closed
/// to the cluster's user.
#[cfg(unix)]
fn far(data_dir: &Path, account: &Account) -> PathBuf {
    let runtime = match account {
        Account::Own => std::env::var_os("XDG_RUNTIME_DIR").filter(|v| !v.is_empty()).map(PathBuf::from),
        Account::Other { .. } => None,
    };
    let root = runtime.filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir);
    // FNV-1a: the name must only be stable and differ between directories.
    let hash = data_dir
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    root.join(format!("headgate-{hash:016x}"))
}

/// A folder in a place that others can write to might have been put there by them: it must be a real folder of ours.
#[cfg(unix)]
fn make_private(folder: &Path, account: &Account) -> Result<(), ClusterError> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let file_error = |source| ClusterError::File { path: folder.to_owned(), source };
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => account.give(folder).map_err(file_error),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            let metadata = std::fs::symlink_metadata(folder).map_err(file_error)?;
            if !metadata.is_dir() || (metadata.uid() != account.uid() && metadata.uid() != own_uid()) {
                return Err(ClusterError::ForeignFolder { folder: folder.to_owned() });
            }
            account.give(folder).and_then(|()| crate::data_dir::set_mode(folder, 0o700)).map_err(file_error)
        }
        Err(source) => Err(file_error(source)),
    }
}

#[cfg(unix)]
fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_gets_a_short_folder_that_is_always_the_same() {
        let long = PathBuf::from(format!("/{}", "x".repeat(120)));
        assert!(!fits(&long.join("run")));
        assert!(fits(&far(&long, &Account::Own)));
        assert_eq!(far(&long, &Account::Own), far(&long, &Account::Own));
        assert_ne!(far(&long, &Account::Own), far(&long.join("y"), &Account::Own));
    }
}
