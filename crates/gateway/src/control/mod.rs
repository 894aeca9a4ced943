//! Changing the configuration: plan, keep the secrets, store a revision, publish a snapshot.
//!
//! One change at a time in this process; several processes on one database meet at the revision's number, where the
//! second one starts over.

mod alerts;
mod apply;
mod batch;
mod draft;
mod edit;
mod restore;
mod secrets;
mod tidy;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use headgate_domain::{Configuration, Revision, file::Problem, key::KeyHash};
use headgate_routing::Policy;
use headgate_store::{Database, DatabaseError, revisions::AppendError, state_file};
use headgate_vault::{Vault, VaultError};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use self::secrets::SecretCache;
pub use self::{
    apply::{Applied, ApplyOptions, NewKey},
    batch::BatchAction,
    edit::{Edited, Section},
};
use crate::{alerts::Signal, billing::Known, events::Event, shared::Shared, snapshot::Snapshot};

/// Revisions given up after so many meetings with other writers.
const ATTEMPTS: usize = 8;

/// Where the configuration and its secrets live.
pub struct Control {
    /// The database; absent while it has not been reached yet.
    pub database: ArcSwapOption<Database>,
    /// The vault.
    pub vault: Vault,
    /// Held while the configuration changes; what was read from the vault.
    lock: Mutex<SecretCache>,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// It is not legal; nothing was changed.
    #[error("the configuration is not legal: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Problem>),
    /// Somebody else changed it first.
    #[error("the configuration was changed meanwhile (it is at revision {}); read it again and repeat the change", .latest.0)]
    Conflict {
        /// The newest revision.
        latest: Revision,
    },
    /// The object itself was changed since it was read.
    #[error("this object was changed meanwhile; read it again and repeat the change")]
    ObjectConflict(serde_json::Value),
    /// There is no such object.
    #[error("there is no {0}")]
    NotFound(String),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database has not been reached since the start.
    #[error("the database has not been reached yet; the last configuration is served, changes have to wait")]
    NoDatabase,
    /// No random bytes.
    #[error("the system gave no random bytes")]
    Random,
}

impl From<AppendError> for ControlError {
    fn from(why: AppendError) -> Self {
        match why {
            AppendError::Conflict { latest } => Self::Conflict { latest },
            AppendError::Database(why) => Self::Database(why),
        }
    }
}

/// The last good configuration on disk: enough to route while PostgreSQL is away. It holds no secret but key hashes
/// and the pepper, and is readable by its owner alone.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    /// Its revision.
    pub revision: Revision,
    /// HMAC key of access keys (hexadecimal, like a hash).
    pub pepper: KeyHash,
    /// The document.
    pub configuration: Configuration,
}

/// The file of [`Kept`] in the data directory.
pub const KEPT_FILE: &str = "snapshot.json";

impl Control {
    /// Control without anything known yet.
    pub fn new(database: Option<Database>, vault: Vault) -> Self {
        Self { database: ArcSwapOption::from(database.map(Arc::new)), vault, lock: Mutex::new(SecretCache::default()) }
    }

    /// The database, if it has been reached.
    pub fn database(&self) -> Result<Arc<Database>, ControlError> {
        self.database.load_full().ok_or(ControlError::NoDatabase)
    }

    /// The first snapshot of a start. A secret that has to be read and cannot be is an error here.
    pub async fn first(
        &self,
        revision: Revision,
        configuration: Configuration,
        clients: &crate::outbound::Clients,
    ) -> Result<Snapshot, VaultError> {
        let cache = &mut *self.lock.lock().await;
        let failed = cache.resolve(&self.vault, &configuration).await;
        if let Some(why) = failed {
            return Err(why);
        }
        Ok(Snapshot::build(revision, Arc::new(configuration), cache.resolved(), clients, &Known::default()))
    }
}

impl Shared {
    /// Publishes a revision, unless a newer one is in force. Requests in flight keep the snapshot they started with.
    pub async fn publish(&self, revision: Revision, configuration: Configuration) {
        let cache = &mut *self.control.lock.lock().await;
        self.publish_with(cache, revision, configuration).await;
    }

    async fn publish_with(&self, cache: &mut SecretCache, revision: Revision, configuration: Configuration) {
        if revision <= self.snapshot.load().revision {
            return;
        }
        if let Some(why) = cache.resolve(&self.control.vault, &configuration).await {
            tracing::error!(error = %why, "a secret could not be read; its credential counts as missing");
        }
        let configuration = Arc::new(configuration);
        let known = self.billing.known(self.pepper, self.clock.wall());
        let snapshot = Snapshot::build(revision, Arc::clone(&configuration), cache.resolved(), &self.clients, &known);
        let snapshot = Arc::new(snapshot);
        let before = self.snapshot.swap(Arc::clone(&snapshot));
        {
            let routing = &mut *self.routing.lock();
            let settings = &snapshot.settings;
            routing.health.set_policy(Policy::from(settings));
            routing.affinity.set_limits(settings.affinity_max as usize, settings.affinity_ttl.0);
            routing.repeats.set_share(settings.retry_budget);
            routing.allowances.retain(|id| snapshot.keys.values().any(|key| key.id == id));
            for gone in before.upstreams.keys().filter(|id| !snapshot.upstreams.contains_key(*id)) {
                routing.health.forget(*gone);
            }
        }
        drop(before);
        // A limit may have been raised.
        self.lines.room();
        self.clients.prune();
        self.keep(revision, &configuration);
        self.alerts.tell(Signal::Configured);
        self.events.send(Event::Revision { revision });
        tracing::info!(configuration.revision = revision.0, "configuration published");
    }

    /// Publishes the pools anew if what billing knows of their members has changed. Requests in flight keep theirs.
    pub async fn publish_billing(&self) {
        let changed = || {
            let known = self.billing.known(self.pepper, self.clock.wall());
            let snapshot = self.snapshot.load();
            (known.standings(&snapshot) != snapshot.standings).then(|| snapshot.with_billing(&known))
        };
        if changed().is_none() {
            return;
        }
        // A revision published meanwhile must not be lost.
        let _one_at_a_time = self.control.lock.lock().await;
        let Some(snapshot) = changed() else { return };
        self.snapshot.store(Arc::new(snapshot));
        self.lines.room();
    }

    /// Keeps the configuration on disk for starts without a database.
    pub fn keep(&self, revision: Revision, configuration: &Configuration) {
        let kept = Kept { revision, pepper: KeyHash(self.pepper), configuration: configuration.clone() };
        if let Err(why) = state_file::write_json(&self.bootstrap.data_dir.join(KEPT_FILE), &kept) {
            tracing::warn!(error = %why, "the last good configuration could not be kept on disk");
        }
    }

    /// Publishes the newest revision, whoever made it.
    pub async fn publish_latest(&self) {
        match self.latest().await {
            Ok((revision, configuration)) => self.publish(revision, configuration).await,
            Err(why) => tracing::warn!(error = %why, "a new revision could not be read"),
        }
    }

    /// The newest configuration in the database.
    pub async fn latest(&self) -> Result<(Revision, Configuration), ControlError> {
        let latest = self.control.database()?.latest().await?;
        Ok(latest.map_or_else(|| (Revision(0), Configuration::default()), |(record, document)| (record.id, document)))
    }
}
