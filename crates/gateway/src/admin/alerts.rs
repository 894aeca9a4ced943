//! `/alerts`: where people are told, how it went, and the button that tries it.

use std::{collections::HashMap, sync::Arc};

use axum::{Json, extract::State};
use headgate_domain::{AlertEvent, AlertId, Name, Revision, Span, alert::AlertTemplate};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    error::{
        ApiError,
        extract::{Body, Path, Query},
    },
    upstreams::{List, Seen},
};
use crate::{
    alerts::{self, Delivery, Target},
    shared::Shared,
};

/// An alert target, with what last became of it. Its address and secret are written, never read.
#[derive(Serialize, ToSchema)]
struct AlertView {
    /// Identity.
    id: AlertId,
    /// The revision that last changed it; a change has to name it.
    revision: Revision,
    /// What people call it.
    name: Option<Name>,
    /// The address as far as it may be seen: scheme and host. Absent when it is not in the vault.
    address: Option<String>,
    /// What the body looks like.
    template: AlertTemplate,
    /// It has a signing secret.
    signed: bool,
    /// What is told; absent: everything.
    events: Option<Vec<AlertEvent>>,
    /// Quiet time of its own; absent: the setting.
    debounce: Option<Span>,
    /// Switched on.
    enabled: bool,
    /// Why it cannot be called as it is configured.
    trouble: Option<String>,
    /// The newest delivery.
    last: Option<Delivery>,
}

/// What a change of a target did.
#[derive(Serialize, ToSchema)]
struct SavedAlert {
    /// The target.
    id: AlertId,
    /// The revision in force afterwards.
    revision: Revision,
}

/// A delivery, and to whom it went.
#[derive(Serialize, ToSchema)]
struct DeliveryView {
    /// The delivery.
    #[serde(flatten)]
    delivery: Delivery,
    /// What the target is called, or its address as far as it may be seen; absent once it is removed.
    target_name: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
struct LogQuery {
    /// At most so many, of the 200 that are kept.
    limit: Option<usize>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(log))
        .routes(routes!(change, delete))
        .routes(routes!(restore))
        .routes(routes!(test))
}

/// Alert targets
#[utoipa::path(get, path = "/alerts", tag = "alerts", responses((status = 200, body = List<AlertView>)))]
async fn list(State(shared): State<Arc<Shared>>) -> Json<List<AlertView>> {
    let snapshot = shared.snapshot.load_full();
    let views = snapshot.alerts.iter().zip(&snapshot.configuration.alerts).map(|(target, alert)| AlertView {
        id: alert.id,
        revision: alert.revision,
        name: alert.spec.name.clone(),
        address: target.shown(),
        template: alert.spec.template,
        signed: alert.spec.secret.is_some(),
        events: alert.spec.events.clone(),
        debounce: alert.spec.debounce,
        enabled: alert.spec.enabled,
        trouble: target.trouble().map(str::to_owned),
        last: shared.alerts.log.last(alert.id),
    });
    Json(List::whole(views.collect()))
}

/// Make an alert target
///
/// Fields as in the configuration file; `url` and `secret` go into the vault.
#[utoipa::path(post, path = "/alerts", tag = "alerts", request_body = Object, responses((status = 200, body = SavedAlert)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SavedAlert>, ApiError> {
    let (id, revision) = shared.save_alert(None, &body, author.as_str()).await?;
    Ok(Json(SavedAlert { id, revision }))
}

/// Change an alert target
///
/// A JSON merge patch over the target; `revision` names the state it was made from. Without `url` and `secret` the
/// stored ones stay; `"secret": null` ends signing.
#[utoipa::path(patch, path = "/alerts/{id}", tag = "alerts", params(("id" = i64, Path)), request_body = Object, responses((status = 200, body = SavedAlert)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<AlertId>,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<Json<SavedAlert>, ApiError> {
    let seen = body.shift_remove("revision").and_then(|v| v.as_i64()).map(Revision);
    let (id, revision) = shared.save_alert(Some((id, seen)), &body, author.as_str()).await?;
    Ok(Json(SavedAlert { id, revision }))
}

/// Remove an alert target
#[utoipa::path(delete, path = "/alerts/{id}", tag = "alerts", params(("id" = i64, Path), Seen), responses((status = 200, body = SavedAlert)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<AlertId>,
    Query(seen): Query<Seen>,
) -> Result<Json<SavedAlert>, ApiError> {
    let revision = shared.remove_alert(id, seen.revision.map(Revision), author.as_str()).await?;
    Ok(Json(SavedAlert { id, revision }))
}

/// Bring a removed alert target back, with its address and secret
#[utoipa::path(post, path = "/alerts/{id}/restore", tag = "alerts", params(("id" = i64, Path)), responses((status = 200, body = SavedAlert)))]
async fn restore(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<AlertId>,
) -> Result<Json<SavedAlert>, ApiError> {
    let revision = shared.restore_alert(id, author.as_str()).await?;
    Ok(Json(SavedAlert { id, revision }))
}

/// Send a test, once, and say what became of it; also to a target that is switched off
#[utoipa::path(post, path = "/alerts/{id}/test", tag = "alerts", params(("id" = i64, Path)), responses((status = 200, body = Delivery)))]
async fn test(State(shared): State<Arc<Shared>>, Path(id): Path<AlertId>) -> Result<Json<Delivery>, ApiError> {
    alerts::test(&shared, id).await.map(Json).ok_or_else(|| ApiError::not_found("alert"))
}

/// The newest deliveries
#[utoipa::path(get, path = "/alerts/log", tag = "alerts", params(LogQuery), responses((status = 200, body = List<DeliveryView>)))]
async fn log(State(shared): State<Arc<Shared>>, Query(query): Query<LogQuery>) -> Json<List<DeliveryView>> {
    let snapshot = shared.snapshot.load_full();
    let names: HashMap<AlertId, String> =
        snapshot.alerts.iter().filter_map(|target| Some((target.id, called(target)?))).collect();
    let newest = shared.alerts.log.newest().into_iter().take(query.limit.unwrap_or(usize::MAX));
    let views = newest.map(|delivery| {
        let target_name = names.get(&delivery.target).cloned();
        DeliveryView { delivery, target_name }
    });
    Json(List::whole(views.collect()))
}

fn called(target: &Target) -> Option<String> {
    target.spec.name.as_ref().map(ToString::to_string).or_else(|| target.shown())
}
