//! When upstreams are asked, and what becomes of their answers.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{Upstream, UpstreamId, audit::clip, upstream::BillingKind};
use headgate_pricing::compare;
use headgate_store::{
    Database, DatabaseError,
    billing::{BillingStatus, Spoken},
};
use rand::RngExt as _;
use tokio::sync::Semaphore;

use super::{
    ask::{Ask, AskError},
    collected::{Collected, Collector as _},
    concerns, evidence,
    newapi::Newapi,
    read,
    standing::{credential, current, identity},
    sub2api::Sub2api,
    withheld,
};
use crate::{
    control::ControlError,
    shared::Shared,
    snapshot::{Endpoint, Snapshot},
};

/// How often it is looked whether something is due, and whether the time of day changed a multiplier.
const LOOK: Duration = Duration::from_secs(1);
/// How often everything is read again, should news have been lost: in looks.
const READ_AGAIN: u32 = 60;
/// How often an upstream is asked unless it is configured.
const INTERVAL: Duration = Duration::from_secs(600);
/// The longest pause after failures.
const PAUSE_MAX: Duration = Duration::from_secs(2 * 3600);
/// The longest all questions of one collection may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Another process that took a collection and died is waited for so long.
const TAKEN: TimeDelta = TimeDelta::seconds(60);
/// Collections at the same time.
const AT_ONCE: usize = 4;
/// Longest text kept of what went wrong.
const TEXT: usize = 300;

/// Why an upstream was not asked by hand.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// There is no such upstream.
    #[error("there is no such upstream")]
    NotFound,
    /// Nobody said which API it has.
    #[error("this upstream's billing.kind is none; say which billing API it has, or 'auto'")]
    NotAsked,
    /// The database is away.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Asks what is due. Never ends.
pub async fn run(shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut looks = 0u32;
    loop {
        if let Ok(database) = shared.control.database() {
            if looks.is_multiple_of(READ_AGAIN) {
                read(&shared, &database, None).await;
            }
            looks = looks.wrapping_add(1);
            start_due(&shared, &database, &room);
            concerns::tell(&shared, &database).await;
        }
        shared.publish_billing().await;
        withheld::watch(&shared);
        tokio::time::sleep(LOOK).await;
    }
}

fn start_due(shared: &Arc<Shared>, database: &Arc<Database>, room: &Arc<Semaphore>) {
    let snapshot = shared.snapshot.load_full();
    let now = shared.clock.wall();
    let mut due = Vec::new();
    for upstream in &snapshot.configuration.upstreams {
        let Some(endpoint) = snapshot.upstreams.get(&upstream.id) else { continue };
        if !upstream.spec.enabled || upstream.spec.billing.kind == BillingKind::None {
            continue;
        }
        // Another process may have the secret.
        if credential(upstream, endpoint).is_none() {
            continue;
        }
        let row = shared.billing.row(upstream.id);
        let known = row.as_ref().and_then(|row| current(row, upstream, endpoint, &shared.pepper));
        // A new key or address is asked at once, whenever the old one was due.
        let is_new = || {
            let key = identity(upstream, endpoint, &shared.pepper);
            shared.billing.asked_as.lock().get(&upstream.id) != Some(&key)
        };
        let by = match &row {
            // One that another process is asking for the first time has told nothing yet.
            Some(row) if known.is_none() && row.status.checked_at.is_some() && is_new() => row.due_at.max(now),
            _ => now,
        };
        if row.as_ref().is_none_or(|row| row.due_at <= by) {
            let waits_since = known.and_then(|status| status.figures.as_ref()).map(|figures| figures.at);
            due.push((waits_since, by, upstream));
        }
    }
    // Who has waited longest for figures goes first.
    due.sort_by_key(|(waits_since, ..)| *waits_since);
    for (_, by, upstream) in due {
        let Ok(permit) = Arc::clone(room).try_acquire_owned() else { return };
        let Some(turn) = Turn::take(shared, upstream.id) else { continue };
        let (shared_too, database, snapshot, upstream) =
            (Arc::clone(shared), Arc::clone(database), Arc::clone(&snapshot), upstream.clone());
        shared.tasks.spawn(async move {
            let (_permit, _turn) = (permit, turn);
            let done = async {
                if database.claim_billing(upstream.id, by, now + TAKEN).await? {
                    collect(&shared_too, &database, &snapshot, &upstream).await?;
                } else {
                    read(&shared_too, &database, Some(upstream.id)).await;
                }
                Ok::<_, DatabaseError>(())
            };
            if let Err(why) = done.await {
                tracing::warn!(error = %why, upstream.name = %upstream.name, "what billing told could not be stored");
                // No faster than the database can be hoped to be back.
                tokio::time::sleep(LOOK * 10).await;
            }
        });
    }
}

/// That an upstream is being asked; it ends with this.
struct Turn {
    shared: Arc<Shared>,
    upstream: UpstreamId,
}

impl Turn {
    fn take(shared: &Arc<Shared>, upstream: UpstreamId) -> Option<Self> {
        let taken = shared.billing.asking.lock().insert(upstream);
        taken.then(|| Self { shared: Arc::clone(shared), upstream })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shared.billing.asking.lock().remove(&self.upstream);
        self.shared.billing.asked.notify_waiters();
    }
}

/// Asks an upstream now and waits for what becomes of it, good or bad.
///
/// # Errors
/// It was not asked.
pub async fn refresh(shared: &Arc<Shared>, id: UpstreamId) -> Result<(), RefreshError> {
    let snapshot = shared.snapshot.load_full();
    let upstream = snapshot.configuration.upstream(id).ok_or(RefreshError::NotFound)?;
    if upstream.spec.billing.kind == BillingKind::None {
        return Err(RefreshError::NotAsked);
    }
    let database = shared.control.database()?;
    // One under way may have been told what is old by now.
    let _turn = loop {
        let mut ended = std::pin::pin!(shared.billing.asked.notified());
        ended.as_mut().enable();
        if let Some(turn) = Turn::take(shared, id) {
            break turn;
        }
        ended.await;
    };
    Ok(collect(shared, &database, &snapshot, upstream).await?)
}

async fn collect(
    shared: &Arc<Shared>,
    database: &Database,
    snapshot: &Snapshot,
    upstream: &Upstream,
) -> Result<(), DatabaseError> {
    let Some(endpoint) = snapshot.upstreams.get(&upstream.id) else { return Ok(()) };
    let row = shared.billing.row(upstream.id);
    let known = row.as_ref().and_then(|row| current(row, upstream, endpoint, &shared.pepper));
    let before = known.cloned().unwrap_or_default();
    let mut found = match tokio::time::timeout(LIMIT, ask(shared, endpoint, upstream, &before)).await {
        Ok(found) => found,
        Err(_) => Err(AskError::TooSlow(LIMIT.as_secs())),
    };
    let now = shared.clock.wall();
    let key = identity(upstream, endpoint, &shared.pepper);
    shared.billing.asked_as.lock().insert(upstream.id, key);
    let pause = found.as_ref().err().and_then(AskError::wait);
    let worked = found.is_ok();
    let charges = found.as_mut().map(|found| std::mem::take(&mut found.charges)).unwrap_or_default();
    let mut status = after(before, found, key, now);
    if let Some(figures) = status.figures.as_ref().filter(|_| worked) {
        evidence::settle(shared).await;
        status.day = Some(evidence::day(shared, database, upstream.id, figures).await?);
    }
    if let Some(why) = &status.error {
        tracing::warn!(upstream.name = %upstream.name, error = %why, "billing was not collected; the last good figures stay");
    }
    let interval = upstream.spec.billing.interval.map_or(INTERVAL, |span| span.0);
    let jitter = shared.routing.lock().rng.random_range(0.9..=1.1);
    let pause = pause.unwrap_or_else(|| pause_after(interval, status.failures)).mul_f64(jitter);
    let due = now + TimeDelta::from_std(pause).unwrap_or(TimeDelta::hours(2));
    // Before the figures that count them: what is stored twice is stored once.
    database.store_charges(upstream.id, &charges).await?;
    database.store_billing(upstream.id, &status, status.figures.as_ref().filter(|_| worked), due).await?;
    read(shared, database, Some(upstream.id)).await;
    Ok(())
}

async fn ask(
    shared: &Shared,
    endpoint: &Endpoint,
    upstream: &Upstream,
    before: &BillingStatus,
) -> Result<Collected, AskError> {
    let credential = credential(upstream, endpoint).ok_or(AskError::NoCredential)?;
    let ask = Ask { shared, endpoint, credential, access: endpoint.billing_access.as_ref() };
    match (upstream.spec.billing.kind, before.spoken) {
        (BillingKind::Sub2api, _) | (BillingKind::Auto, Some(Spoken::Sub2api)) => Sub2api.collect(&ask, before).await,
        (BillingKind::Newapi, _) | (BillingKind::Auto, Some(Spoken::Newapi)) => Newapi.collect(&ask, before).await,
        (BillingKind::Auto | BillingKind::None, _) => match Sub2api.collect(&ask, before).await {
            Err(why @ (AskError::Status { .. } | AskError::Broken { .. })) => {
                let sub2api = Box::new(why);
                let other = Newapi.collect(&ask, before).await;
                other.map_err(|why| AskError::Neither { sub2api, newapi: Box::new(why) })
            }
            other => other,
        },
    }
}

/// What is known after a collection: new figures and, if it was told, the new multiplier; after a failure all as it was.
fn after(before: BillingStatus, found: Result<Collected, AskError>, key: u64, now: DateTime<Utc>) -> BillingStatus {
    let mut status = BillingStatus { key, checked_at: Some(now), ..before };
    let found = match found {
        Ok(found) => found,
        Err(why) => {
            // To be left alone is no failure of the site's.
            if why.wait().is_none() {
                status.failures = status.failures.saturating_add(1);
            }
            status.error = Some(clip(&why.to_string(), TEXT));
            status.failing_since = status.failing_since.or(Some(now));
            return status;
        }
    };
    status.figures = Some(compare::Snapshot {
        at: now,
        key,
        currency: found.currency,
        list: found.list,
        charged: found.charged,
        requests: found.requests,
        remaining: found.remaining,
        multiplier: found.multiplier.clone(),
        counters: found.counters,
        balance: found.balance,
    });
    if found.multiplier.is_some() {
        if status.multiplier.is_some() && status.multiplier != found.multiplier {
            (status.multiplier_before, status.multiplier_changed_at) = (status.multiplier.take(), Some(now));
        }
        (status.multiplier, status.multiplier_at) = (found.multiplier, Some(now));
    }
    status.listed = found.listed;
    status.spoken = Some(found.spoken);
    status.unlimited = found.unlimited;
    status.group = found.group;
    status.shown = found.shown;
    status.warning = found.warning.map(|text| clip(&text, TEXT));
    (status.error, status.failures, status.failing_since) = (None, 0, None);
    status
}

fn pause_after(interval: Duration, failures: u32) -> Duration {
    let doubled = interval.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1).min(8)));
    doubled.min(PAUSE_MAX.max(interval))
}

#[cfg(test)]
mod tests {
    use headgate_pricing::schedule::Multiplier;
    use rust_decimal::Decimal;

    use super::*;

    fn at(minute: u32) -> DateTime<Utc> {
        format!("2026-06-01T00:{minute:02}:00Z").parse().unwrap()
    }

    fn told(multiplier: Option<i64>) -> Collected {
        let multiplier = multiplier.map(|m| Multiplier::flat(Decimal::from(m)));
        Collected { remaining: Some(Decimal::TEN), multiplier, ..Collected::new(Spoken::Sub2api) }
    }

    #[test]
    fn a_failure_leaves_the_last_good_figures_with_their_age() {
        let good = after(BillingStatus::default(), Ok(told(Some(2))), 7, at(0));
        let bad = after(good.clone(), Err(AskError::broken("/x", "it is no JSON")), 7, at(10));
        assert_eq!((&bad.figures, &bad.multiplier), (&good.figures, &good.multiplier));
        assert_eq!((bad.multiplier_at, bad.checked_at, bad.failures), (Some(at(0)), Some(at(10)), 1));
        assert!(bad.error.is_some());
        assert_eq!(after(bad.clone(), Err(AskError::NoCredential), 7, at(20)).failing_since, Some(at(10)));
        let again = after(bad, Ok(told(Some(3))), 7, at(20));
        assert_eq!(again.failing_since, None);
        let before = Some(Multiplier::flat(Decimal::TWO));
        assert_eq!((&again.multiplier_before, again.multiplier_changed_at), (&before, Some(at(20))));
        assert_eq!((again.error, again.failures, again.multiplier_at), (None, 0, Some(at(20))));
    }

    #[test]
    fn a_multiplier_that_was_not_told_again_stays_with_its_own_age() {
        let good = after(BillingStatus::default(), Ok(told(Some(2))), 7, at(0));
        let partial = after(good, Ok(told(None)), 7, at(10));
        assert_eq!(partial.multiplier, Some(Multiplier::flat(Decimal::TWO)));
        assert_eq!(partial.multiplier_at, Some(at(0)));
        assert_eq!(partial.figures.unwrap().multiplier, None);
    }

    #[test]
    fn failures_lengthen_the_pause_and_a_rest_is_no_failure() {
        assert_eq!(pause_after(INTERVAL, 0), INTERVAL);
        assert_eq!(pause_after(INTERVAL, 1), INTERVAL);
        assert_eq!(pause_after(INTERVAL, 2), INTERVAL * 2);
        assert_eq!(pause_after(INTERVAL, 40), PAUSE_MAX);
        let rest = AskError::Resting { wait: Duration::from_secs(60) };
        assert_eq!(after(BillingStatus::default(), Err(rest), 7, at(0)).failures, 0);
    }
}
