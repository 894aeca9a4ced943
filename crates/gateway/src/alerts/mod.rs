//! Alerts: from a turn of health to a message that reaches somebody.
//!
//! [`Alerts::tell`] takes what happened without ever waiting; [`desk`] decides what of it is news and to whom;
//! a [`courier`] for each target carries it, with its own queue and patience, so that a target that is slow or away
//! delays nobody; [`post`] is one delivery on the wire; [`shape`] is what the message looks like, as data.

mod courier;
mod desk;
mod document;
mod log;
mod money;
mod post;
mod shape;
mod target;

use std::sync::Arc;

use headgate_domain::UpstreamId;
use headgate_routing::Turn;
use parking_lot::Mutex;
use tokio::sync::mpsc;

pub use self::{
    courier::test,
    desk::run,
    document::AlertDocument,
    log::{Delivery, DeliveryLog, restore},
    target::Target,
};

/// What waits for the desk at most; turns are rare, so that more of them are noise.
const QUEUE: usize = 1024;

/// Something the desk should know.
pub enum Signal {
    /// Health turned.
    Turned(Turn),
    /// Another process on the database had it turn, and tells the targets.
    Heard(Turn),
    /// Who found it knows that it is news: a budget that is used to a share, an upstream's money.
    News {
        /// What.
        turn: Turn,
        /// Another process on the database tells the targets.
        is_heard: bool,
    },
    /// A person cleared an upstream's health, or that of one model.
    Cleared(UpstreamId, Option<String>),
    /// Another configuration is in force.
    Configured,
}

/// The desk's letter box, and what was delivered lately.
pub struct Alerts {
    letters: mpsc::Sender<Signal>,
    /// Taken by the desk when it opens.
    unread: Mutex<Option<mpsc::Receiver<Signal>>>,
    /// What was delivered, or was not.
    pub log: DeliveryLog,
}

impl Default for Alerts {
    fn default() -> Self {
        let (letters, unread) = mpsc::channel(QUEUE);
        Self { letters, unread: Mutex::new(Some(unread)), log: DeliveryLog::default() }
    }
}

impl Alerts {
    /// Tells the desk. Never waits: what does not fit is lost, and that is logged.
    pub fn tell(&self, signal: Signal) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.letters.try_send(signal) {
            tracing::warn!("more happens than can be told; an alert was left out");
        }
    }
}

/// A message on its way.
type Letter = Arc<AlertDocument>;
