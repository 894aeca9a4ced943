//! Billing collection: what upstreams say they multiply their prices by, what is left there and what they charged.
//! Decisions and displays read the same [`Standing`]; a failed collection leaves the last good figures in force until
//! they are too old to count.

mod ask;
mod budget;
mod collect;
mod collected;
mod concerns;
mod evidence;
mod newapi;
mod reconcile;
mod standing;
mod sub2api;
mod withheld;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::atomic::{AtomicBool, Ordering},
};

use chrono::{DateTime, Utc};
use headgate_domain::{GroupId, UpstreamId};
use headgate_routing::Turn;
use headgate_store::{
    Database,
    billing::{BillingRow, ToldConcerns},
};
use parking_lot::Mutex;
use tokio::sync::Notify;

use self::budget::Budgets;
pub use self::{
    ask::Access,
    collect::{RefreshError, refresh, run},
    concerns::{concerns, over_caps},
    evidence::Evidence,
    reconcile::{Pair, Reconciled, Sums},
    standing::{Known, Standing, current},
    withheld::withheld,
};
use crate::{alerts::Signal, shared::Shared};

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
    /// Held while rows are read or what people are told is noted in them: what this process tells it must not take
    /// for another's word.
    reading: tokio::sync::Mutex<()>,
    /// All rows were read at least once.
    was_read: AtomicBool,
    /// Which groups do not use which upstreams for their money, as far as it was noted.
    withheld: Mutex<Option<BTreeSet<(GroupId, UpstreamId)>>>,
}

impl Billing {
    /// What is known of an upstream.
    pub fn row(&self, upstream: UpstreamId) -> Option<BillingRow> {
        self.rows.lock().get(&upstream).cloned()
    }

    /// Whether what the database knows is known here.
    fn was_read(&self) -> bool {
        self.was_read.load(Ordering::Acquire)
    }

    fn set_told(&self, upstream: UpstreamId, told: ToldConcerns) {
        if let Some(row) = self.rows.lock().get_mut(&upstream) {
            row.told = told;
        }
    }

    /// Takes over what the database knows; gives what another process has told people meanwhile.
    fn take(&self, fresh: Vec<(UpstreamId, BillingRow)>) -> Vec<Turn> {
        let rows = &mut *self.rows.lock();
        let mut heard = Vec::new();
        for (upstream, row) in fresh {
            let after = row.told.clone();
            if let Some(old) = rows.insert(upstream, row) {
                heard.extend(concerns::turns(upstream, &old.told, &after));
            }
        }
        heard
    }

    /// What is known at a moment.
    pub fn known(&self, pepper: [u8; 32], now: DateTime<Utc>) -> Known {
        Known { rows: self.rows.lock().clone(), pepper, now }
    }
}

/// Reads what is known of one upstream or of all, and publishes what changed.
pub async fn read(shared: &Shared, database: &Database, of: Option<UpstreamId>) {
    let heard = {
        let _nothing_is_noted = shared.billing.reading.lock().await;
        match database.billing(of).await {
            Ok(rows) => shared.billing.take(rows),
            Err(why) => {
                tracing::warn!(error = %why, "what billing knows could not be read; what was known stays in force");
                return;
            }
        }
    };
    for turn in heard {
        shared.alerts.tell(Signal::News { turn, is_heard: true });
    }
    shared.publish_billing().await;
    if of.is_none() {
        shared.billing.was_read.store(true, Ordering::Release);
    }
    withheld::watch(shared);
}

/// Removes snapshots that are older than `billing_retention`.
pub async fn forget_old(shared: &Shared, database: &Database) {
    let retention = shared.snapshot.load().settings.billing_retention.0;
    let Ok(retention) = chrono::TimeDelta::from_std(retention) else { return };
    if retention.is_zero() {
        return;
    }
    let before = shared.clock.wall() - retention;
    if let Err(why) = database.forget_charges(before).await {
        tracing::warn!(error = %why, "old charges could not be removed; it is tried again in an hour");
    }
    if let Err(why) = database.forget_multipliers_by_hand(before).await {
        tracing::warn!(error = %why, "old multipliers set by hand could not be removed; it is tried again in an hour");
    }
    if let Err(why) = database.forget_billing(before).await {
        tracing::warn!(error = %why, "old billing snapshots could not be removed; it is tried again in an hour");
    }
}
