//! The processes that were started; each is ended by its own id, whatever happens.

use std::{cell::RefCell, process::Stdio, time::Duration};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// How long a process may take to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(15);

/// All of them. What it starts ends with this process, too: the kernel sees to that.
#[derive(Default)]
pub struct Children(RefCell<Vec<(u32, Child)>>);

impl Children {
    /// Starts a program that says nothing.
    pub fn start(&self, command: &mut Command) -> Result<u32> {
        self.keep(command.stdout(Stdio::null())).map(|(pid, _)| pid)
    }

    /// Starts a program and waits until it prints a line that begins with `ready`; gives what follows.
    pub async fn start_until(&self, command: &mut Command, ready: &str, limit: Duration) -> Result<(u32, String)> {
        let (pid, output) = self.keep(command.stdout(Stdio::piped()))?;
        let mut lines = BufReader::new(output.context("no standard output")?).lines();
        let wait = async {
            while let Some(line) = lines.next_line().await? {
                if let Some(rest) = line.strip_prefix(ready) {
                    return Ok(rest.trim().to_owned());
                }
            }
            bail!("{command:?} ended before it was ready")
        };
        let rest = tokio::time::timeout(limit, wait).await.context("a process was not ready in time")??;
        Ok((pid, rest))
    }

    fn keep(&self, command: &mut Command) -> Result<(u32, Option<tokio::process::ChildStdout>)> {
        let mut child = command.spawn().with_context(|| format!("{command:?} could not be started"))?;
        let pid = child.id().context("a process ended at once")?;
        let output = child.stdout.take();
        self.0.borrow_mut().push((pid, child));
        Ok((pid, output))
    }

    /// Whether this one has ended by itself.
    pub fn has_ended(&self, pid: u32) -> bool {
        let mut all = self.0.borrow_mut();
        all.iter_mut().any(|(one, child)| *one == pid && !matches!(child.try_wait(), Ok(None)))
    }

    /// Ends one and waits for it.
    pub async fn stop(&self, pid: u32) {
        let place = self.0.borrow().iter().position(|(one, _)| *one == pid);
        if let Some(place) = place {
            let (pid, child) = self.0.borrow_mut().remove(place);
            end(pid, child).await;
        }
    }

    /// Ends all, the last one first.
    pub async fn stop_all(&self) {
        loop {
            let last = self.0.borrow_mut().pop();
            let Some((pid, child)) = last else { return };
            end(pid, child).await;
        }
    }
}

async fn end(pid: u32, mut child: Child) {
    // Not waited for yet, so that the id cannot belong to another process.
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        && matches!(child.try_wait(), Ok(None))
    {
        let _ = kill_process(pid, Signal::TERM);
    }
    if tokio::time::timeout(PATIENCE, child.wait()).await.is_err() {
        eprintln!("headgate-bench: process {pid} does not end and is killed");
        let _ = child.kill().await;
    }
}

/// A command whose process gets SIGTERM when this one ends without having stopped it.
pub fn tied(program: &std::path::Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program);
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}
