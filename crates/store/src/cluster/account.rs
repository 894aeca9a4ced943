//! The operating-system user that the cluster runs as. PostgreSQL refuses to run as root.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use super::ClusterError;

/// Runs programs as the cluster's user and gives it files.
#[derive(Debug, Clone)]
pub(super) enum Account {
    /// The user of this process.
    Own,
    /// Another one; this process is root.
    #[cfg(unix)]
    Other {
        /// Its name, for messages.
        name: String,
        /// User id.
        uid: u32,
        /// Group id.
        gid: u32,
    },
}

impl Account {
    /// As root: the user named by `HEADGATE_PG_USER`, else `headgate`, else `postgres`.
    pub(super) fn choose() -> Result<Self, ClusterError> {
        #[cfg(unix)]
        if crate::data_dir::is_root() {
            let wanted = std::env::var("HEADGATE_PG_USER").ok().filter(|name| !name.is_empty());
            let candidates: &[&str] = match &wanted {
                Some(name) => &[name.as_str()],
                None => &["headgate", "postgres"],
            };
            return candidates
                .iter()
                .find_map(|name| Self::named(name))
                .ok_or_else(|| ClusterError::NoUser { name: candidates.first().unwrap_or(&"headgate").to_string() });
        }
        Ok(Self::Own)
    }

    /// Asks `id`, which knows users from elsewhere than `/etc/passwd`, too.
    #[cfg(unix)]
    fn named(name: &str) -> Option<Self> {
        let ask = |what: &str| -> Option<u32> {
            let output = Command::new("id").args([what, "--", name]).output().ok()?;
            if !output.status.success() {
                return None;
            }
            String::from_utf8(output.stdout).ok()?.trim().parse().ok()
        };
        let (uid, gid) = (ask("-u")?, ask("-g")?);
        (uid != 0).then(|| Self::Other { name: name.to_owned(), uid, gid })
    }

    /// Makes the program run as this user.
    pub(super) fn apply(&self, command: &mut Command) {
        match self {
            Self::Own => {}
            #[cfg(unix)]
            Self::Other { uid, gid, .. } => {
                use std::os::unix::process::CommandExt;
                // The standard library drops root's supplementary groups when it sets a user.
                command.uid(*uid).gid(*gid);
            }
        }
    }

    /// Gives the file or folder to this user.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::Own => {
                let _ = path;
                Ok(())
            }
            #[cfg(unix)]
            Self::Other { uid, gid, .. } => std::os::unix::fs::lchown(path, Some(*uid), Some(*gid)),
        }
    }

    /// The user id that files made for this account have.
    #[cfg(unix)]
    pub(super) fn uid(&self) -> u32 {
        match self {
            Self::Own => rustix::process::geteuid().as_raw(),
            Self::Other { uid, .. } => *uid,
        }
    }

    /// Whether this user can get to `path`: every folder above it must let it through.
    pub(super) fn check_way(&self, path: &Path) -> Result<(), ClusterError> {
        #[cfg(unix)]
        if let Self::Other { name, uid, gid } = self {
            use std::os::unix::fs::MetadataExt;
            for folder in path.ancestors().skip(1) {
                let file_error = |source| ClusterError::File { path: folder.to_owned(), source };
                let metadata = std::fs::metadata(folder).map_err(file_error)?;
                let mode = metadata.mode();
                let passes = match () {
                    () if metadata.uid() == *uid => mode & 0o100 != 0,
                    () if metadata.gid() == *gid => mode & 0o010 != 0,
                    () => mode & 0o001 != 0,
                };
                if !passes {
                    return Err(ClusterError::NoWay { folder: PathBuf::from(folder), user: name.clone() });
                }
            }
        }
        #[cfg(not(unix))]
        let _ = path;
        Ok(())
    }
}
