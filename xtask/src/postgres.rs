//! PostgreSQL for chores: its programs, and a scratch cluster that is gone afterwards.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::{
    command::{run_quietly, which},
    setup::{is_root, user_exists},
};

const OLDEST: u32 = 15;

/// A folder with `initdb`, `pg_ctl` and `postgres`.
#[derive(Debug)]
pub(crate) struct Binaries(PathBuf);

impl Binaries {
    /// Those of `HEADGATE_PG_BIN`, else the system's newest.
    pub(crate) fn find() -> Option<Self> {
        let given = env::var_os("HEADGATE_PG_BIN").filter(|v| !v.is_empty()).map(PathBuf::from);
        let folders: Vec<PathBuf> = match given {
            Some(given) => vec![given.join("native/bin"), given.join("bin"), given],
            None => system(),
        };
        let found = folders.into_iter().filter(|folder| folder.join(exe("initdb")).is_file());
        found.filter_map(|folder| Some((major(&folder)?, folder))).max().map(|(_, folder)| Self(folder))
    }

    fn program(&self, name: &str) -> PathBuf {
        self.0.join(exe(name))
    }
}

fn exe(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}

fn system() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for root in ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"] {
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            if root == "/usr/lib/postgresql" || entry.file_name().to_string_lossy().starts_with("postgresql") {
                folders.push(entry.path().join("bin"));
            }
        }
    }
    folders.extend(which("initdb").and_then(|path| path.canonicalize().ok()?.parent().map(Path::to_owned)));
    folders
}

fn major(folder: &Path) -> Option<u32> {
    let said = crate::command::ask(folder.join(exe("postgres")).to_str()?, &["--version"])?;
    let version = said.split_once("(PostgreSQL)")?.1.trim_start();
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|major| *major >= OLDEST)
}

/// How a cluster is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// On loopback, which works everywhere.
    Loopback,
    /// Through a socket in its folder: also from a network of one's own. Folders of some systems are too long for it.
    Socket,
}

/// A running cluster in a temporary folder; stopped and removed when dropped.
pub(crate) struct Scratch {
    folder: TempDir,
    reach: Reach,
    binaries: Binaries,
    port: u16,
}

impl Scratch {
    /// Makes and starts one. It wants a password, and keeps nothing safe.
    pub(crate) fn start(reach: Reach) -> Result<Self> {
        let binaries = Binaries::find().context("PostgreSQL 15 or newer is not installed")?;
        let folder = tempfile::Builder::new().prefix("headgate-scratch-").tempdir()?;
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).context("no free port on loopback")?;
        let port = listener.local_addr()?.port();
        let scratch = Self { folder, reach, binaries, port };
        fs::write(scratch.password_file(), scratch.password())?;
        for path in [scratch.folder.path(), &scratch.password_file()] {
            give_away(path)?;
        }
        run_quietly(
            scratch
                .command("initdb")
                .args(["--username=postgres", "--auth=scram-sha-256", "--locale=C", "--encoding=UTF8", "--no-sync"])
                .arg(format!("--pwfile={}", scratch.password_file().display()))
                .arg("-D")
                .arg(scratch.data()),
        )?;
        drop(listener);
        let listen = match reach {
            Reach::Loopback => "-c listen_addresses=127.0.0.1 -c unix_socket_directories=".to_owned(),
            Reach::Socket => {
                format!("-c listen_addresses= -c unix_socket_directories='{}'", scratch.folder.path().display())
            }
        };
        let settings = format!("{listen} -c port={port} -c fsync=off -c full_page_writes=off");
        run_quietly(
            scratch
                .command("pg_ctl")
                .args(["start", "--wait", "--silent", "-D"])
                .arg(scratch.data())
                .arg("-l")
                .arg(scratch.folder.path().join("log"))
                .args(["-o", &settings]),
        )?;
        Ok(scratch)
    }

    /// The address of its database.
    pub(crate) fn url(&self) -> String {
        let (password, port) = (self.password(), self.port);
        match self.reach {
            Reach::Loopback => format!("postgres://postgres:{password}@127.0.0.1:{port}/postgres"),
            Reach::Socket => {
                let folder = self.folder.path();
                format!("postgres://postgres:{password}@localhost:{port}/postgres?host={}", folder.display())
            }
        }
    }

    /// Known to whoever can read the folder's name; the cluster lives for a minute and holds nothing.
    fn password(&self) -> String {
        self.folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn password_file(&self) -> PathBuf {
        self.folder.path().join("password")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of PostgreSQL, as a user that it accepts.
    fn command(&self, name: &str) -> Command {
        let program = self.binaries.program(name);
        let mut command = match unprivileged() {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={user}")).arg(format!("--regid={user}")).arg("--init-groups").arg(program);
                command
            }
            None => Command::new(program),
        };
        command.current_dir(self.folder.path());
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let stopped =
            run_quietly(self.command("pg_ctl").args(["stop", "--wait", "-m", "immediate", "-D"]).arg(self.data()));
        if let Err(error) = stopped {
            crate::command::say(&format!("the scratch cluster could not be stopped: {error}"));
        }
    }
}

/// As root: the user to run PostgreSQL as.
fn unprivileged() -> Option<&'static str> {
    if is_root() { ["headgate", "postgres"].into_iter().find(|name| user_exists(name)) } else { None }
}

fn give_away(path: &Path) -> Result<()> {
    match unprivileged() {
        Some(user) => run_quietly(Command::new("chown").arg(user).arg(path)),
        None => Ok(()),
    }
}
