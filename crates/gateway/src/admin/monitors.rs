//! `/monitors`: what is probed, how it went, and beside it what real requests say.

use std::{collections::HashMap, sync::Arc};

use axum::{Json, extract::State};
use headgate_domain::{
    Configuration, MonitorId, Name, Revision, UpstreamId,
    monitor::{Monitor, MonitorSpec, ProbeRecord},
};
use headgate_routing::UpstreamHealth;
use headgate_store::probes::{ModelTraffic, ProbeStrip};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    condition::{Condition, condition},
    error::{
        ApiError,
        extract::{Body, Path, Query},
    },
    upstreams::{List, Seen},
};
use crate::{control::ControlError, monitors, shared::Shared};

/// Probes shown of one monitor.
const HISTORY: i64 = 200;

/// A monitor, with what it found.
#[derive(Serialize, ToSchema)]
struct MonitorView {
    /// Identity.
    id: MonitorId,
    /// The revision that last changed it; a change has to name it.
    revision: Revision,
    /// The upstream's name.
    upstream_name: Name,
    /// Its main tag, by which cards are put together.
    tag: Option<String>,
    /// Whether both the monitor and its upstream are switched on.
    active: bool,
    /// What is configured.
    #[serde(flatten)]
    spec: MonitorSpec<UpstreamId>,
    /// How the upstream is, in one word.
    condition: Condition,
    /// How the upstream is, of its models only the one that is probed.
    health: UpstreamHealth,
    /// Its probes of the last 24 hours; absent before the first one, or while the database is away.
    strip: Option<ProbeStrip>,
    /// Real requests of the last 24 hours for the same model of the same upstream.
    traffic: Option<ModelTraffic>,
}

/// Monitors to make: one for each model.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewMonitors {
    /// The upstream.
    upstream: UpstreamId,
    /// The models; those that are monitored already are left as they are.
    models: Vec<String>,
    /// Fields of the configuration file that all of them get, such as `interval` and `message`.
    #[serde(default)]
    #[schema(value_type = Object)]
    fields: Map<String, Value>,
}

/// What a change of monitors did.
#[derive(Serialize, ToSchema)]
struct Changed {
    /// The revision in force afterwards.
    revision: Revision,
    /// The monitors made or changed.
    ids: Vec<MonitorId>,
}

/// Which probes.
#[derive(Debug, Deserialize, IntoParams)]
struct HistoryQuery {
    /// At most so many.
    limit: Option<i64>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(change, delete))
        .routes(routes!(restore))
        .routes(routes!(probe))
        .routes(routes!(history))
}

/// Monitors
#[utoipa::path(get, path = "/monitors", tag = "monitors", responses((status = 200, body = List<MonitorView>)))]
async fn list(State(shared): State<Arc<Shared>>) -> Json<List<MonitorView>> {
    let (now, wall) = (shared.now(), shared.clock.wall());
    let (mut strips, mut traffic) = (HashMap::new(), HashMap::new());
    // Without the database what is configured is shown nevertheless.
    if let Ok(database) = shared.control.database() {
        let found = database.probe_strips(wall).await.unwrap_or_default();
        strips.extend(found.into_iter().map(|strip| (strip.monitor_id, strip)));
        let found = database.model_traffic(wall).await.unwrap_or_default();
        traffic.extend(found.into_iter().map(|t| ((t.upstream_id, t.model.clone()), t)));
    }
    let snapshot = shared.snapshot.load_full();
    let routing = shared.routing.lock();
    let views = snapshot.configuration.monitors.iter().filter_map(|monitor| {
        let upstream = snapshot.configuration.upstream(monitor.spec.upstream)?;
        let mut health = routing.health.view(upstream.id, now);
        let sent = upstream.spec.models.resolve(&monitor.spec.model);
        let sent = sent.map_or_else(|| monitor.spec.model.clone(), |name| name.into_owned());
        let condition = condition(&snapshot, upstream, &health);
        // With hundreds of monitors of one upstream each would repeat what is known of all its models.
        health.models.retain(|m| m.model == sent);
        Some(MonitorView {
            id: monitor.id,
            revision: monitor.revision,
            upstream_name: upstream.name.clone(),
            tag: upstream.spec.tags.main.clone(),
            active: monitor.spec.enabled && upstream.spec.enabled,
            spec: monitor.spec.clone(),
            condition,
            health,
            strip: strips.remove(&monitor.id),
            traffic: traffic.remove(&(upstream.id, sent)),
        })
    });
    Json(List::whole(views.collect()))
}

/// Make monitors, one for each model
#[utoipa::path(post, path = "/monitors", tag = "monitors", request_body = NewMonitors, responses((status = 200, body = Changed)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(body): Body<NewMonitors>,
) -> Result<Json<Changed>, ApiError> {
    if body.models.is_empty() {
        return Err(ApiError::bad_request("'models' names at least one model").with_field("models"));
    }
    let count = u32::try_from(body.models.len()).unwrap_or(u32::MAX);
    let first = shared.control.database()?.allocate_ids(count).await?;
    let mut ids = Vec::new();
    let edited = shared.edit(author.as_str(), |next, revision| {
        ids.clear();
        for (id, model) in (first..).map(MonitorId).zip(&body.models) {
            let model = model.trim();
            let known = |m: &Monitor| m.spec.upstream == body.upstream && m.spec.model == model;
            if next.monitors.iter().any(known) {
                continue;
            }
            let mut fields = body.fields.clone();
            fields.insert("upstream".into(), body.upstream.0.into());
            fields.insert("model".into(), model.into());
            next.monitors.push(Monitor { id, revision, spec: spec(fields)? });
            ids.push(id);
        }
        Ok(())
    });
    let revision = edited.await?.revision;
    Ok(Json(Changed { revision, ids }))
}

/// Change a monitor
///
/// A JSON merge patch over the monitor; `revision` names the state it was made from.
#[utoipa::path(patch, path = "/monitors/{id}", tag = "monitors", params(("id" = i64, Path)), request_body = Object, responses((status = 200, body = Changed)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<MonitorId>,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<Json<Changed>, ApiError> {
    let seen = body.shift_remove("revision").and_then(|v| v.as_i64()).map(Revision);
    let edited = shared.edit(author.as_str(), |next, revision| {
        let monitor = find(next, id, seen)?;
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&monitor.spec) else {
            return Err(ControlError::NotFound("monitor".to_owned()));
        };
        for (name, value) in &body {
            match value {
                Value::Null => drop(fields.shift_remove(name)),
                value => drop(fields.insert(name.clone(), value.clone())),
            }
        }
        let changed = spec(fields)?;
        if changed != monitor.spec {
            monitor.spec = changed;
            monitor.revision = revision;
        }
        Ok(())
    });
    let revision = edited.await?.revision;
    Ok(Json(Changed { revision, ids: vec![id] }))
}

/// Remove a monitor
#[utoipa::path(delete, path = "/monitors/{id}", tag = "monitors", params(("id" = i64, Path), Seen), responses((status = 200, body = Changed)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<MonitorId>,
    Query(seen): Query<Seen>,
) -> Result<Json<Changed>, ApiError> {
    let edited = shared.edit(author.as_str(), |next, _| {
        find(next, id, seen.revision.map(Revision))?;
        next.monitors.retain(|m| m.id != id);
        Ok(())
    });
    let revision = edited.await?.revision;
    Ok(Json(Changed { revision, ids: vec![id] }))
}

/// Bring a removed monitor back, with its probes
#[utoipa::path(post, path = "/monitors/{id}/restore", tag = "monitors", params(("id" = i64, Path)), responses((status = 200, body = Changed)))]
async fn restore(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<MonitorId>,
) -> Result<Json<Changed>, ApiError> {
    let revision = shared.restore_monitor(id, author.as_str()).await?;
    Ok(Json(Changed { revision, ids: vec![id] }))
}

/// Probe now
#[utoipa::path(post, path = "/monitors/{id}/probe", tag = "monitors", params(("id" = i64, Path)), responses((status = 200, body = ProbeRecord)))]
async fn probe(State(shared): State<Arc<Shared>>, Path(id): Path<MonitorId>) -> Result<Json<ProbeRecord>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let monitor = snapshot.configuration.monitors.iter().find(|m| m.id == id);
    let monitor = monitor.ok_or_else(|| ApiError::not_found("monitor"))?;
    monitors::probe(&shared, monitor).await.map(Json).ok_or_else(|| ApiError::not_found("upstream"))
}

/// The newest probes of a monitor
#[utoipa::path(get, path = "/monitors/{id}/probes", tag = "monitors", params(("id" = i64, Path), HistoryQuery), responses((status = 200, body = List<ProbeRecord>)))]
async fn history(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<MonitorId>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<List<ProbeRecord>>, ApiError> {
    let limit = query.limit.unwrap_or(50).clamp(1, HISTORY);
    Ok(Json(List::whole(shared.control.database()?.probes(id, limit).await?)))
}

/// Fields as a monitor's; what is wrong with them is named.
fn spec(fields: Map<String, Value>) -> Result<MonitorSpec<UpstreamId>, ControlError> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|why| {
        let path = why.path().to_string();
        ControlError::Invalid(vec![headgate_domain::file::Problem::new(path, why.inner().to_string())])
    })
}

fn find(next: &mut Configuration, id: MonitorId, seen: Option<Revision>) -> Result<&mut Monitor, ControlError> {
    let monitor = next.monitors.iter_mut().find(|m| m.id == id);
    let monitor = monitor.ok_or_else(|| ControlError::NotFound(format!("monitor {id}")))?;
    if seen.is_some_and(|seen| seen != monitor.revision) {
        let object = serde_json::json!({"id": id, "revision": monitor.revision, "object": monitor.spec});
        return Err(ControlError::ObjectConflict(object));
    }
    Ok(monitor)
}
