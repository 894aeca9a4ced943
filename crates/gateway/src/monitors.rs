//! Active monitoring: each configured monitor asks its upstream now and then, over the connections, the proxy and the
//! protocol that requests use, and its answer counts like theirs.

use std::{collections::HashMap, sync::Arc, time::Duration};

use headgate_domain::{
    Class, CredentialId, MonitorId, Protocol,
    audit::clip,
    monitor::{Monitor, ProbeRecord},
};
use headgate_routing::{PoolCredential, PoolMember, Time};
use headgate_store::Database;
use parking_lot::Mutex;
use rand::RngExt as _;
use tokio::sync::Semaphore;

use crate::{
    clock::millis,
    events::Event,
    question::{Question, own_protocol},
    shared::Shared,
    snapshot::{Endpoint, Snapshot},
};

/// The longest a probe waits for its answer.
const LIMIT: Duration = Duration::from_secs(30);
/// How often it is looked whether a probe is due.
const LOOK: Duration = Duration::from_secs(1);
/// Probes at the same time.
const AT_ONCE: usize = 4;
/// The first probes after a start are spread over so long at most.
const SPREAD: Duration = Duration::from_secs(60);

/// When each monitor is next due; absent while one is under way or it is new.
type Due = Arc<Mutex<HashMap<MonitorId, Option<Time>>>>;

/// Probes what is due. Never ends.
pub async fn run(shared: Arc<Shared>) {
    let due: Due = Arc::default();
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut starting = true;
    loop {
        let snapshot = shared.snapshot.load_full();
        let now = shared.now();
        let monitors = || snapshot.configuration.monitors.iter().filter(|m| is_on(&snapshot, m));
        due.lock().retain(|id, _| monitors().any(|m| m.id == *id));
        for monitor in monitors() {
            let interval = monitor.spec.interval.0;
            let first = if starting { jitter(&shared, interval.min(SPREAD)) } else { Duration::ZERO };
            let is_due = {
                let due = &mut *due.lock();
                let at = due.entry(monitor.id).or_insert(Some(now + first));
                at.is_some_and(|at| at <= now)
            };
            // Too many at once wait for the next look.
            let Some(permit) = is_due.then(|| Arc::clone(&room).try_acquire_owned().ok()).flatten() else { continue };
            due.lock().insert(monitor.id, None);
            let (shared_too, due, monitor) = (Arc::clone(&shared), Arc::clone(&due), monitor.clone());
            shared.tasks.spawn(async move {
                probe(&shared_too, &monitor).await;
                // A tenth earlier or later, so that monitors do not march in step.
                let next = interval.mul_f64(0.9) + jitter(&shared_too, interval / 5);
                due.lock().entry(monitor.id).and_modify(|at| *at = Some(shared_too.now() + next));
                drop(permit);
            });
        }
        starting = false;
        tokio::time::sleep(LOOK).await;
    }
}

fn jitter(shared: &Shared, most: Duration) -> Duration {
    most.mul_f64(shared.routing.lock().rng.random_range(0.0..=1.0))
}

fn is_on(snapshot: &Snapshot, monitor: &Monitor) -> bool {
    monitor.spec.enabled && snapshot.configuration.upstream(monitor.spec.upstream).is_some_and(|u| u.spec.enabled)
}

/// Asks now, records the answer, and lets it count. `None` when the upstream is not there.
pub async fn probe(shared: &Arc<Shared>, monitor: &Monitor) -> Option<ProbeRecord> {
    let snapshot = shared.snapshot.load_full();
    let spec = &monitor.spec;
    let endpoint = snapshot.upstreams.get(&spec.upstream)?;
    let member = member(&snapshot, endpoint, monitor)?;
    let model = member.models.resolve(&spec.model).map_or_else(|| spec.model.clone(), |name| name.into_owned());
    let (at, started) = (shared.clock.wall(), shared.now());
    let claim = shared.routing.lock().health.claim_monitor(&member, &model, started);
    let mut record = ProbeRecord {
        monitor_id: monitor.id,
        at,
        upstream_id: endpoint.id,
        model: spec.model.clone(),
        class: Class::Credential.as_str().to_owned(),
        status: None,
        ttft_ms: None,
        duration_ms: 0,
        error_text: Some("no credential of this upstream has a known secret".to_owned()),
    };
    if let Some(claim) = claim {
        let protocol = Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.route() == spec.endpoint)
            .unwrap_or_else(|| own_protocol(endpoint.kind));
        let question = Question {
            protocol,
            model: &model,
            message: &spec.message,
            max_tokens: spec.max_tokens,
            stream: spec.stream,
        };
        let credential = claim.credential.and_then(|id| endpoint.credentials.get(&id));
        let reply = question.ask(shared, endpoint, credential, LIMIT, drop).await;
        let done = reply.completion();
        if let Some(lease) = claim.lease {
            shared.complete(lease, &done);
        }
        record.class = done.class.as_str().to_owned();
        record.status = reply.status.map(i32::from);
        record.ttft_ms = reply.ttft.map(millis);
        record.duration_ms = millis(reply.duration);
        record.error_text = reply.result.err().filter(|_| done.class != Class::Ok).map(|f| clip(&f.message, 500));
    }
    tracing::debug!(upstream.name = %endpoint.name, probe.class = %record.class, "monitor");
    if let Ok(database) = shared.control.database()
        && let Err(why) = database.insert_probe(&record).await
    {
        tracing::warn!(error = %why, "the result of a monitor could not be stored");
    }
    shared.events.send(Event::Probed { monitor: monitor.id });
    Some(record)
}

/// The upstream as a member of some pool: a monitored upstream need not be in a group.
fn member(snapshot: &Snapshot, endpoint: &Endpoint, monitor: &Monitor) -> Option<PoolMember> {
    let upstream = snapshot.configuration.upstream(monitor.spec.upstream)?;
    let missing = |id: CredentialId| !endpoint.credentials.contains_key(&id);
    Some(PoolMember {
        models: upstream.spec.models.clone(),
        credentials: upstream.credentials.iter().map(|c| PoolCredential { id: c.id, missing: missing(c.id) }).collect(),
        ..PoolMember::new(upstream.id, upstream.spec.protocol)
    })
}

/// Removes results that are older than `probe_retention`.
pub async fn forget_old(shared: &Shared, database: &Database) {
    let retention = shared.snapshot.load().settings.probe_retention.0;
    let Ok(retention) = chrono::TimeDelta::from_std(retention) else { return };
    if retention.is_zero() {
        return;
    }
    if let Err(why) = database.forget_probes(shared.clock.wall() - retention).await {
        tracing::warn!(error = %why, "old results of monitors could not be removed; it is tried again in an hour");
    }
}
