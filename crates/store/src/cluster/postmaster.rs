//! One run of the `postgres` process and what its files say about it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{ClusterError, account::Account, binaries::Binaries, place::Place};
use crate::data_dir::private_options;

/// How often files and the process are looked at while something is about to happen.
pub(super) const POLL: Duration = Duration::from_millis(5);
const LOG_MAX: u64 = 8 << 20;

/// What a run needs to know.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) folder: PathBuf,
    pub(super) log: PathBuf,
    pub(super) binaries: Binaries,
    pub(super) account: Account,
    pub(super) place: Place,
}

impl Setup {
    /// Starts the process. On Linux it gets SIGINT when the calling *thread* ends, so the caller must live as long as
    /// the cluster should.
    pub(super) fn spawn(&self) -> Result<Child, ClusterError> {
        let log = self.open_log().map_err(|source| ClusterError::File { path: self.log.clone(), source })?;
        let program = self.binaries.program("postgres");
        let mut command = Command::new(&program);
        command.arg("-D").arg(&self.folder);
        let modest = [
            "fsync=on",
            "logging_collector=off",
            "log_destination=stderr",
            "log_timezone=UTC",
            "timezone=UTC",
            "cluster_name=headgate",
            "max_connections=100",
            "shared_buffers=64MB",
            "max_wal_size=512MB",
            "jit=off",
            "password_encryption=scram-sha-256",
        ];
        for parameter in modest.into_iter().map(str::to_owned).chain(self.place.parameters()) {
            command.arg("-c").arg(parameter);
        }
        let errors = log.try_clone().map_err(|source| ClusterError::File { path: self.log.clone(), source })?;
        command.env_remove("PGDATA").current_dir(&self.folder).stdin(Stdio::null()).stdout(log).stderr(errors);
        self.account.apply(&mut command);
        die_with_parent(&mut command);
        command.spawn().map_err(|source| ClusterError::File { path: program, source })
    }

    fn open_log(&self) -> io::Result<File> {
        self.trim_log()?;
        private_options().append(true).create(true).open(&self.log)
    }

    /// Keeps the log and its predecessor within bounds. The server appends, so it goes on in the emptied file.
    pub(super) fn trim_log(&self) -> io::Result<()> {
        match fs::metadata(&self.log) {
            Ok(metadata) if metadata.len() > LOG_MAX => {
                let mut old =
                    private_options().write(true).create(true).truncate(true).open(self.log.with_extension("log.1"))?;
                io::copy(&mut File::open(&self.log)?, &mut old)?;
                OpenOptions::new().write(true).open(&self.log)?.set_len(0)
            }
            _ => Ok(()),
        }
    }

    /// The last words of the log that speak of a failure.
    pub(super) fn last_words(&self) -> String {
        let read = || -> io::Result<String> {
            let mut file = File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(4096)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        super::tail(&read().unwrap_or_default())
    }

    /// Whether this process is ready for connections.
    pub(super) fn is_ready(&self, pid: u32) -> bool {
        let text = fs::read_to_string(self.pid_file()).unwrap_or_default();
        let mut lines = text.lines().map(str::trim);
        let same = lines.next().and_then(|line| line.parse().ok()) == Some(pid);
        same && lines.nth(6) == Some("ready")
    }

    /// Clears the way of what an earlier process has left: waits for one that is still there (it ends by itself when
    /// its parent was killed, and is asked to where the system does not tell it), removes the traces of one that is
    /// not. The data directory's lock is held, so it is nobody else's.
    pub(super) fn clear(&self, mut patience: Duration) -> Result<(), ClusterError> {
        let Some(pid) = self.left_pid() else { return Ok(()) };
        match kind_of(pid, &self.folder) {
            Kind::Gone => Ok(()),
            // The number was given to somebody else, as after a reboot: PostgreSQL would refuse to start.
            Kind::Other => match fs::remove_file(self.pid_file()) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    Err(ClusterError::File { path: self.pid_file(), source })
                }
                _ => Ok(()),
            },
            Kind::Ours => {
                interrupt(pid);
                while kind_of(pid, &self.folder) == Kind::Ours {
                    patience = patience.checked_sub(POLL).ok_or(ClusterError::StillRunning { pid })?;
                    thread::sleep(POLL);
                }
                Ok(())
            }
        }
    }

    fn left_pid(&self) -> Option<u32> {
        fs::read_to_string(self.pid_file()).ok()?.lines().next()?.trim().parse().ok()
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.join("postmaster.pid")
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Gone,
    Ours,
    Other,
}

/// What the process of this number is.
#[cfg(target_os = "linux")]
fn kind_of(pid: u32, folder: &Path) -> Kind {
    let process = PathBuf::from(format!("/proc/{pid}"));
    match fs::read_to_string(process.join("stat")) {
        Err(_) => Kind::Gone,
        // Dead, but not yet reaped by its parent.
        Ok(stat) if stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')) => Kind::Gone,
        Ok(_) => match fs::read_link(process.join("cwd")) {
            Ok(cwd) if cwd == folder => Kind::Ours,
            _ => Kind::Other,
        },
    }
}

/// What the process of this number is.
#[cfg(all(unix, not(target_os = "linux")))]
fn kind_of(pid: u32, folder: &Path) -> Kind {
    let output = Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output();
    let said = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    match said.trim() {
        "" => Kind::Gone,
        command if command.contains(&*folder.to_string_lossy()) => Kind::Ours,
        _ => Kind::Other,
    }
}

/// What the process of this number is: PostgreSQL finds that out by itself here.
#[cfg(not(unix))]
fn kind_of(_pid: u32, _folder: &Path) -> Kind {
    Kind::Gone
}

/// Asks a postmaster to end now and in good order ("fast").
pub(super) fn interrupt(pid: u32) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // A process that is gone needs no signal.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    }
    #[cfg(not(unix))]
    let _ = pid;
}

/// Lets the system end the child in good order when this process is killed, and keeps the terminal's Ctrl-C from it:
/// the program stops the cluster itself, last.
#[cfg(unix)]
fn die_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        let parent = rustix::process::getpid();
        let closure = move || {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::INT))?;
            // The parent may have died before the signal was asked for.
            if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        };
        // It has to be set after the change of user, which clears it, and so in the child.
        #[expect(unsafe_code, reason = "the closure makes two system calls and neither allocates nor locks")]
        // SAFETY: only async-signal-safe calls are made between fork and exec.
        unsafe {
            command.pre_exec(closure);
        }
    }
}

#[cfg(not(unix))]
fn die_with_parent(_command: &mut Command) {}
