//! What runs in the background: partitions, the health file, the way back to a lost database; [`recovery`],
//! [`monitors`], [`billing`] and [`alerts`] are started from here.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use headgate_routing::SavedHealth;
use headgate_store::{Database, Target, state_file};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{
    alerts, billing, budgets, counting, events::Event, incidents::Incident, monitors, prices, recovery, shared::Shared,
    traces,
};

const HEALTH_FILE: &str = "health.json";
const HEALTH_EVERY: Duration = Duration::from_secs(5);
const PARTITIONS_EVERY: Duration = Duration::from_secs(3600);
const SUMS_EVERY: Duration = Duration::from_secs(60);
/// Most requests of a quarter of an hour have ended so long after it; those that have not change its sums once more.
const SUMS_AFTER: chrono::TimeDelta = chrono::TimeDelta::minutes(2);
const VAULT_EVERY: Duration = Duration::from_secs(24 * 3600);
/// How often the database is looked at while somebody watches.
const DATABASE_EVERY: Duration = Duration::from_secs(3);
/// The longest it may take to answer.
const DATABASE_ANSWERS: Duration = Duration::from_secs(2);

/// Starts the tasks; they end with `stop`.
pub fn spawn(shared: &Arc<Shared>, stop: &CancellationToken, traces: Option<traces::Outbox>) {
    if let Some(outbox) = traces {
        until(shared, stop, traces::run(Arc::clone(shared), outbox));
    }
    let last = Arc::new(parking_lot::Mutex::new(String::new()));
    every(shared, stop, HEALTH_EVERY, move |shared| {
        let last = Arc::clone(&last);
        async move {
            // An idle gateway leaves the disk alone.
            let now = view_for_comparison(&shared);
            if std::mem::replace(&mut *last.lock(), now.clone()) != now {
                save_health(&shared);
            }
        }
    });
    every(shared, stop, DATABASE_EVERY, |shared| async move {
        // Without watchers nobody asks it.
        if shared.events.is_watched() {
            let _ = look_at_database(&shared).await;
        }
    });
    every(shared, stop, PARTITIONS_EVERY, |shared| async move { maintain(&shared).await });
    every(shared, stop, SUMS_EVERY, |shared| async move { add_up(&shared).await });
    every(shared, stop, VAULT_EVERY, |shared| async move { shared.tidy_vault().await });
    until(shared, stop, recovery::run(Arc::clone(shared)));
    until(shared, stop, monitors::run(Arc::clone(shared)));
    until(shared, stop, prices::run(Arc::clone(shared)));
    until(shared, stop, billing::run(Arc::clone(shared)));
    until(shared, stop, counting::run(Arc::clone(shared)));
    until(shared, stop, budgets::run(Arc::clone(shared)));
    until(shared, stop, alerts::run(Arc::clone(shared)));
    until(shared, stop, tell_stored(Arc::clone(shared)));
}

/// Runs `work` until told to stop.
fn until(shared: &Shared, stop: &CancellationToken, work: impl Future<Output = ()> + Send + 'static) {
    let stop = stop.clone();
    shared.tasks.spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = work => {}
        }
    });
}

/// Tells watchers that lists and figures have changed.
async fn tell_stored(shared: Arc<Shared>) {
    let mut stored = shared.journal.stored();
    while stored.next().await {
        shared.events.send(Event::RequestsStored);
    }
}

/// Its version, if the database answers within a time in which a person would wait. Watchers are told when it has gone
/// away or is back.
pub async fn look_at_database(shared: &Shared) -> Result<String, String> {
    let reach = async {
        let database = shared.control.database().map_err(|why| why.to_string())?;
        database.server_version().await.map_err(|why| why.to_string())
    };
    let answer = tokio::time::timeout(DATABASE_ANSWERS, reach).await;
    let answer = answer.unwrap_or_else(|_| Err(format!("it did not answer within {} s", DATABASE_ANSWERS.as_secs())));
    let away = answer.is_err();
    if shared.database_away.swap(away, Ordering::Relaxed) != away {
        shared.events.send(Event::Database { reachable: !away });
    }
    answer
}

fn every<F, W>(shared: &Arc<Shared>, stop: &CancellationToken, period: Duration, work: F)
where
    F: Fn(Arc<Shared>) -> W + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let (shared_too, stop) = (Arc::clone(shared), stop.clone());
    shared.tasks.spawn(async move {
        let mut tick = tokio::time::interval(period);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = tick.tick() => work(Arc::clone(&shared_too)).await,
            }
        }
    });
}

#[derive(Serialize, Deserialize)]
struct HealthFile {
    saved_at: chrono::DateTime<chrono::Utc>,
    health: SavedHealth,
    /// Absent in the files of older programs.
    #[serde(default)]
    incidents: Vec<Incident>,
}

/// What would have to change for the file to be worth writing again.
fn view_for_comparison(shared: &Shared) -> String {
    let now = shared.now();
    let routing = shared.routing.lock();
    let snapshot = shared.snapshot.load();
    let mut text = format!("{:?}", shared.incidents.newest());
    for id in snapshot.upstreams.keys() {
        let mut view = routing.health.view(*id, now);
        // Remaining times run by themselves.
        view.open_ms = view.open_ms.map(|_| 0);
        view.in_flight = 0;
        view.credentials.iter_mut().flat_map(|c| &mut c.cooling).for_each(|c| c.remaining_ms = 0);
        view.models.iter_mut().for_each(|m| m.excluded_ms = m.excluded_ms.map(|_| 0));
        text.push_str(&serde_json::to_string(&(id, view)).unwrap_or_default());
    }
    text
}

/// Saves health for the next start.
pub fn save_health(shared: &Shared) {
    let health = shared.routing.lock().health.save(shared.now());
    let file = HealthFile { saved_at: shared.clock.wall(), health, incidents: shared.incidents.all() };
    if let Err(why) = state_file::write_json(&shared.bootstrap.data_dir.join(HEALTH_FILE), &file) {
        tracing::warn!(error = %why, "the state of health could not be saved");
    }
}

/// Takes over the health of the last run. A file that cannot be read is only forgotten health.
pub fn restore_health(shared: &Shared) {
    match state_file::read_json::<HealthFile>(&shared.bootstrap.data_dir.join(HEALTH_FILE)) {
        Ok(Some(file)) => {
            let elapsed = (shared.clock.wall() - file.saved_at).to_std().unwrap_or_default();
            shared.routing.lock().health.restore(&file.health, elapsed, shared.now());
            shared.incidents.restore(file.incidents);
        }
        Ok(None) => {}
        Err(why) => tracing::warn!(error = %why, "the state of health of the last run was not taken over"),
    }
    alerts::restore(shared);
}

async fn maintain(shared: &Shared) {
    let Ok(database) = shared.control.database() else { return };
    let retention = shared.snapshot.load().settings.request_retention.0;
    let now = shared.clock.wall();
    if let Err(why) = database.maintain_partitions(now, Some(retention).filter(|r| !r.is_zero())).await {
        tracing::warn!(error = %why, "the tables of requests could not be maintained; it is tried again in an hour");
    }
    if let Err(why) = database.forget_old_budgets(now).await {
        tracing::warn!(error = %why, "old counts of budgets could not be removed; it is tried again in an hour");
    }
    if let Err(why) = database.forget_old_sums(now).await {
        tracing::warn!(error = %why, "old sums of requests could not be removed; it is tried again in an hour");
    }
    monitors::forget_old(shared, &database).await;
    billing::forget_old(shared, &database).await;
}

async fn add_up(shared: &Shared) {
    let Ok(database) = shared.control.database() else { return };
    if let Err(why) = database.roll_up(shared.clock.wall() - SUMS_AFTER).await {
        tracing::warn!(error = %why, "requests could not be added up; figures of long times stay slow until it works");
    }
}

/// Tries to reach a database that was away at the start. What waits for it is then done; `None` if told to stop.
pub async fn reach(shared: &Arc<Shared>, target: &Target, stop: &CancellationToken) -> Option<Database> {
    let mut wait = Duration::from_millis(250);
    loop {
        tokio::select! {
            () = stop.cancelled() => return None,
            () = tokio::time::sleep(wait) => {}
        }
        wait = (wait * 2).min(Duration::from_secs(10));
        let reached = async {
            let database = Database::connect(target).await?;
            database.migrate().await?;
            Ok::<_, headgate_store::DatabaseError>(database)
        };
        match reached.await {
            Ok(database) => {
                tracing::info!("the database answers");
                shared.control.database.store(Some(Arc::new(database.clone())));
                maintain(shared).await;
                return Some(database);
            }
            Err(why) => tracing::warn!(error = %why, "the database is still away"),
        }
    }
}
