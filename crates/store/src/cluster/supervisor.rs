//! The thread that keeps the cluster running.
//!
//! It is a thread of its own, and not one of a pool, because on Linux a child is told of the end of the thread that
//! made it.

use std::{
    process::{Child, ExitStatus},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use tokio::sync::watch;

use super::{
    ClusterError,
    postmaster::{POLL, Setup, interrupt},
};

const WATCH: Duration = Duration::from_millis(100);
const TRIM_EVERY: u32 = 300;
const BACKOFF: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// Crash recovery after a power failure reads the log since the last checkpoint: minutes on a slow disk.
const READY_WITHIN: Duration = Duration::from_secs(300);
/// How long processes of an earlier run may take to go.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the cluster is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterState {
    /// On its way up.
    Starting,
    /// Accepting connections.
    Ready {
        /// The postmaster's process id.
        pid: u32,
        /// How often it had to be started again.
        restarts: u32,
    },
    /// Ended without being asked; it is being started again.
    Down {
        /// A sentence.
        reason: String,
        /// How often it had to be started again.
        restarts: u32,
    },
    /// Stopped as asked.
    Stopped,
}

/// Runs until `stop` says so or all its senders are gone. `started` gets the outcome of the first start.
pub(super) fn supervise(
    setup: &Setup,
    state: &watch::Sender<ClusterState>,
    stop: &Receiver<()>,
    started: tokio::sync::oneshot::Sender<Result<(), ClusterError>>,
) {
    let mut started = Some(started);
    let mut restarts = 0;
    let mut backoff = BACKOFF;
    loop {
        match run_up(setup, stop) {
            Ok(Up::Stopped) => break,
            Ok(Up::Ready(child)) => {
                backoff = BACKOFF;
                state.send_replace(ClusterState::Ready { pid: child.id(), restarts });
                if let Some(started) = started.take() {
                    // Whoever is gone stops the cluster by dropping its handle.
                    let _ = started.send(Ok(()));
                }
                let Some(status) = watch_over(setup, child, stop) else { break };
                let reason = format!("The embedded PostgreSQL ended unexpectedly ({status}); it is started again.");
                tracing::error!(cluster.restarts = restarts, "{reason}");
                state.send_replace(ClusterState::Down { reason, restarts });
            }
            Err(error) => {
                if let Some(started) = started.take() {
                    let _ = started.send(Err(error));
                    break;
                }
                tracing::error!(error = %error, "the embedded PostgreSQL could not be started again");
                state.send_replace(ClusterState::Down { reason: error.to_string(), restarts });
                if stop_within(stop, backoff) {
                    break;
                }
                backoff = (backoff * 2).min(BACKOFF_MAX);
            }
        }
        restarts += 1;
    }
    state.send_replace(ClusterState::Stopped);
}

enum Up {
    Ready(Child),
    Stopped,
}

/// Starts the process and waits until it accepts connections. What is left of a killed one may be in the way for some
/// seconds: that is waited for.
fn run_up(setup: &Setup, stop: &Receiver<()>) -> Result<Up, ClusterError> {
    let mut patience = PATIENCE;
    loop {
        setup.clear(PATIENCE)?;
        let mut child = setup.spawn()?;
        let mut left = READY_WITHIN;
        let status = loop {
            if setup.is_ready(child.id()) {
                return Ok(Up::Ready(child));
            }
            if let Ok(Some(status)) = child.try_wait() {
                break status;
            }
            if stop_within(stop, POLL) {
                end(child);
                return Ok(Up::Stopped);
            }
            left = left.saturating_sub(POLL);
            if left.is_zero() {
                end(child);
                return Err(ClusterError::NotReady { log: setup.log.clone() });
            }
        };
        let said = setup.last_words();
        let in_the_way = ["already exists", "is still in use", "already in use"].iter().any(|w| said.contains(w));
        let pause = Duration::from_millis(100);
        match patience.checked_sub(pause) {
            Some(rest) if in_the_way => patience = rest,
            _ => return Err(ClusterError::Start { status: status.to_string(), said, log: setup.log.clone() }),
        }
        if stop_within(stop, pause) {
            return Ok(Up::Stopped);
        }
    }
}

/// Waits for the end of the process; none if it was ended because `stop` said so.
fn watch_over(setup: &Setup, mut child: Child, stop: &Receiver<()>) -> Option<ExitStatus> {
    let mut ticks: u32 = 0;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if stop_within(stop, WATCH) {
            end(child);
            return None;
        }
        ticks = ticks.wrapping_add(1);
        if ticks.is_multiple_of(TRIM_EVERY)
            && let Err(error) = setup.trim_log()
        {
            tracing::warn!(error = %error, "the log of the embedded PostgreSQL could not be trimmed");
        }
    }
}

/// Ends the process in good order, and after half a minute in any.
fn end(mut child: Child) {
    let mut left = PATIENCE;
    #[cfg(unix)]
    interrupt(child.id());
    #[cfg(not(unix))]
    {
        // There is no signal to ask with: the server recovers from its log at the next start.
        interrupt(child.id());
        left = Duration::ZERO;
    }
    while let Ok(None) = child.try_wait() {
        if left.is_zero() {
            tracing::error!(
                "the embedded PostgreSQL did not stop in time and was killed; it recovers at its next start"
            );
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        thread::sleep(POLL);
        left = left.saturating_sub(POLL);
    }
}

fn stop_within(stop: &Receiver<()>, time: Duration) -> bool {
    match stop.recv_timeout(time) {
        Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
        Err(RecvTimeoutError::Timeout) => false,
    }
}

/// The handle's side of `stop`.
pub(super) type Stop = Sender<()>;
