//! The data directory and its lock: one process at a time.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

/// A data directory this process holds. The lock ends with the value or with the process, however that ends.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
    cluster: AtomicBool,
}

/// Why the data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// It could not be made.
    #[error("The data directory {} cannot be created ({source}); choose another with --data-dir.", path.display())]
    Create {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Nothing can be written into it.
    #[error(
        "The data directory {} cannot be written to ({source}); give it to this user or choose another with --data-dir.",
        path.display()
    )]
    NotWritable {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another process has it.
    #[error(
        "The data directory {} is in use by process {pid}; stop that process or choose another with --data-dir.",
        path.display()
    )]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The holder's process id, as it wrote it (`unknown` if it could not).
        pid: String,
    },
}

impl DataDir {
    /// Creates the directory if need be (0711 as root, so that the cluster's user can reach its own folder, else
    /// 0700), checks that it is writable and takes the lock.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DataDirError> {
        let given = path.as_ref();
        let create = |source| DataDirError::Create { path: given.to_owned(), source };
        fs::create_dir_all(given).map_err(create)?;
        let path = given.canonicalize().map_err(create)?;
        let not_writable = |source| DataDirError::NotWritable { path: path.clone(), source };
        set_mode(&path, if is_root() { 0o711 } else { 0o700 }).map_err(not_writable)?;
        let mut lock = private(&path.join("lock")).map_err(not_writable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                // On Windows a locked file cannot be read; the sentence is useful without the number, too.
                let _ = lock.read_to_string(&mut pid);
                let pid = if pid.trim().is_empty() { "unknown".to_owned() } else { pid.trim().to_owned() };
                return Err(DataDirError::Locked { path, pid });
            }
            Err(TryLockError::Error(source)) => return Err(not_writable(source)),
        }
        lock.set_len(0)
            .and_then(|()| lock.rewind())
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(not_writable)?;
        Ok(Self { path, _lock: lock, cluster: AtomicBool::new(false) })
    }

    /// The directory, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file or folder in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Claims the place of the one cluster; false if it is taken.
    pub(crate) fn claim_cluster(&self) -> bool {
        !self.cluster.swap(true, Ordering::AcqRel)
    }
}

/// Opens a file for reading and writing, 0600, making it if need be.
pub(crate) fn private(path: &Path) -> io::Result<File> {
    private_options().read(true).write(true).create(true).truncate(false).open(path)
}

/// Options that make files 0600.
pub(crate) fn private_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "the mode exists on Unix only"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder 0700 if it is not there.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    set_mode(path, 0o700)
}

/// Sets permissions; does nothing where there are none.
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(path)?.permissions().mode() & 0o7777 != mode {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
    Ok(())
}

/// Whether this process is root.
pub(crate) fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    return false;
}
