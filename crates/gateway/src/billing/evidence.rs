//! What a comparison rests on: an upstream's own figures, and our own records of the same time.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{AttemptRecord, UpstreamId};
use headgate_pricing::{
    Currency,
    by_hand::ByHand,
    compare::{Comparison, Counted, Reason, Snapshot, Use, Window, compare, counted, spent},
};
use headgate_store::{Database, DatabaseError, billing::Day, by_hand::in_order};
use rust_decimal::Decimal;

use crate::{prices::InForce, shared::Shared};

/// How long it is waited for our own records to be in the database.
const FLUSH: Duration = Duration::from_secs(2);

/// Both sides of a span of time.
pub struct Evidence {
    /// What the upstream said, with the last word before the span.
    pub snapshots: Vec<Snapshot>,
    /// What we have recorded.
    pub uses: Vec<Use>,
    /// What persons said of its multiplier.
    pub by_hand: ByHand,
}

impl Evidence {
    /// Reads both; `newest` is what was told just now and is not stored yet.
    pub async fn read(
        shared: &Shared,
        database: &Database,
        upstream: UpstreamId,
        (from, to): (DateTime<Utc>, DateTime<Utc>),
        newest: Option<&Snapshot>,
    ) -> Result<Self, DatabaseError> {
        let mut snapshots = database.billing_snapshots(upstream, from, to).await?;
        snapshots.extend(newest.cloned());
        let sets: Vec<_> = database.multipliers_by_hand(&[upstream]).await?.into_iter().map(|(_, set)| set).collect();
        let from = snapshots.first().map_or(from, |first| first.at.min(from));
        let currency = snapshots.last().map(|s| s.currency).unwrap_or_default();
        // Without two snapshots there is no pair, whatever was used.
        let uses = match snapshots.len() {
            0 | 1 => Vec::new(),
            _ => database.billed_uses(upstream, from, to, currency).await?,
        };
        let prices = shared.prices.now();
        let bounded = uses.into_iter().map(|(one, exceeding)| match exceeding {
            Some(attempt) => Use { observed_at_most: at_most(&attempt, &prices, currency), ..one },
            None => one,
        });
        Ok(Self { snapshots, uses: bounded.collect(), by_hand: in_order(&sets) })
    }

    /// Whether the upstream charged what it said.
    pub fn compare(&self, window: Window) -> Comparison {
        compare(window, &self.snapshots, &self.uses, &self.by_hand)
    }

    /// The pairs of readings that the comparison is made of.
    pub fn counted(&self, window: Window) -> Vec<Counted> {
        counted(window, &self.snapshots, &self.uses, &self.by_hand)
    }

    /// The multiplier in force at a moment: a person's, else what was last stated before it or first after it.
    pub fn multiplier(&self, at: DateTime<Utc>) -> Option<Decimal> {
        let known = || self.snapshots.iter().filter(|snapshot| snapshot.multiplier.is_some());
        let stated = || known().rfind(|snapshot| snapshot.at <= at).or_else(|| known().next());
        let stated = || Some(stated()?.multiplier.as_ref()?.at(at));
        self.by_hand.at(at).or_else(stated).or_else(|| self.by_hand.first())
    }
}

/// The list price of an attempt by the output that was counted here, with what stands between texts and calls, and with
/// the reasoning that was reported.
fn at_most(attempt: &AttemptRecord, prices: &InForce, currency: Currency) -> Option<Decimal> {
    let observed = attempt.usage.observed_output?;
    let output = observed.saturating_mul(11) / 10 + 16 + attempt.usage.tokens_reasoning.unwrap_or(0);
    let mut counted = attempt.clone();
    counted.usage.tokens_output = counted.usage.tokens_output.map(|reported| reported.min(output));
    let cost = prices.stamp(&counted);
    cost.cost.filter(|_| cost.cost_currency.as_deref() == Some(currency.as_str()))
}

/// Waits a little until what has ended by now is in the database: figures are compared with all of it.
pub(super) async fn settle(shared: &Shared) {
    match tokio::time::timeout(FLUSH, shared.journal.flush()).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => tracing::debug!(error = %why, "the journal could not be flushed before a comparison"),
        Err(_) => tracing::debug!("the journal was not flushed in time for a comparison"),
    }
}

/// What the newest figures say of the day before them.
pub(super) async fn day(
    shared: &Shared,
    database: &Database,
    upstream: UpstreamId,
    newest: &Snapshot,
) -> Result<Day, DatabaseError> {
    let window = Window { from: newest.at - TimeDelta::hours(24), to: newest.at };
    let evidence = Evidence::read(shared, database, upstream, (window.from, window.to), Some(newest)).await?;
    let compared = evidence.compare(window);
    let spent = spent(window, &evidence.snapshots).map(|amount| amount.normalize());
    Ok(Day { status: compared.status, reason: compared.reason, excess: excess(&compared), spent })
}

/// How much more was charged, or stated, than explained.
fn excess(compared: &Comparison) -> Option<Decimal> {
    let excess = match compared.reason {
        Reason::ChargedExceeded | Reason::ChargedExceededLocalBasis => compared.billing.map(|track| track.deviation),
        Reason::ListExceeded => compared.list.map(|track| track.deviation),
        _ => None,
    };
    excess.map(|amount| amount.round_dp(4).normalize())
}
