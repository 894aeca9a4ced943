//! Billing collection: what upstreams say they multiply their prices by, what is left there and what they charged.
//! Decisions and displays read the same [`Standing`]; a failed collection leaves the last good figures in force until
//! they are too old to count.

mod ask;
mod budget;
mod collect;
mod collected;
mod newapi;
mod standing;
mod sub2api;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use headgate_domain::UpstreamId;
use headgate_store::{Database, billing::BillingRow};
use parking_lot::Mutex;
use tokio::sync::Notify;

use self::budget::Budgets;
pub use self::{
    collect::{RefreshError, refresh, run},
    standing::{Known, Standing, current},
};
use crate::shared::Shared;

/// What this process knows of billing.
#[derive(Default)]
pub struct Billing {
    /// The database's rows.
    rows: Mutex<HashMap<UpstreamId, BillingRow>>,
    /// How often sites were asked.
    pub(crate) budgets: Mutex<Budgets>,
    /// Who is being asked now.
    asking: Mutex<HashSet<UpstreamId>>,
    /// As whom this process has asked each; two processes with different keys would otherwise ask in turns for ever.
    asked_as: Mutex<HashMap<UpstreamId, u64>>,
    /// Told whenever asking has ended for one.
    asked: Notify,
}

impl Billing {
    /// What is known of an upstream.
    pub fn row(&self, upstream: UpstreamId) -> Option<BillingRow> {
        self.rows.lock().get(&upstream).cloned()
    }

    /// What is known at a moment.
    pub fn known(&self, pepper: [u8; 32], now: DateTime<Utc>) -> Known {
        Known { rows: self.rows.lock().clone(), pepper, now }
    }
}

/// Reads what is known of one upstream or of all, and publishes what changed.
pub async fn read(shared: &Shared, database: &Database, of: Option<UpstreamId>) {
    match database.billing(of).await {
        Ok(rows) => shared.billing.rows.lock().extend(rows),
        Err(why) => {
            tracing::warn!(error = %why, "what billing knows could not be read; what was known stays in force");
            return;
        }
    }
    shared.publish_billing().await;
}

/// Removes snapshots that are older than `billing_retention`.
pub async fn forget_old(shared: &Shared, database: &Database) {
    let retention = shared.snapshot.load().settings.billing_retention.0;
    let Ok(retention) = chrono::TimeDelta::from_std(retention) else { return };
    if retention.is_zero() {
        return;
    }
    if let Err(why) = database.forget_billing(shared.clock.wall() - retention).await {
        tracing::warn!(error = %why, "old billing snapshots could not be removed; it is tried again in an hour");
    }
}
