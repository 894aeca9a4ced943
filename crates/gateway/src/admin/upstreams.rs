//! `/upstreams`: what is configured, and how it is.

use std::sync::Arc;

use axum::{Json, extract::State};
use headgate_domain::{
    CredentialId, GroupId, Name, Revision, Upstream, UpstreamId, UpstreamKind,
    upstream::{CredentialSource, UpstreamSpec},
};
use headgate_routing::UpstreamHealth;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    billing::BillingView,
    condition::{Condition, condition},
    error::{
        ApiError,
        extract::{Body, Path, Query},
    },
};
use crate::{
    alerts::Signal,
    control::{BatchAction, NewKey, Section},
    shared::Shared,
    snapshot::Snapshot,
};

/// An upstream with its state.
#[derive(Serialize, ToSchema)]
pub(super) struct UpstreamView {
    /// Identity.
    id: UpstreamId,
    /// Name.
    name: Name,
    /// The revision that last changed it; a change has to name it.
    revision: Revision,
    /// What is configured. Secret texts are `***`.
    #[serde(flatten)]
    spec: UpstreamSpec,
    /// Its credentials.
    credentials: Vec<CredentialView>,
    /// Groups it is a member of.
    groups: Vec<GroupId>,
    /// How it is, in one word.
    condition: Condition,
    /// How it is, in full.
    health: UpstreamHealth,
    /// What it charges and what is left.
    account: BillingView,
}

/// A credential, without its secret.
#[derive(Serialize, ToSchema)]
struct CredentialView {
    /// Identity.
    id: CredentialId,
    /// How files spell it: `NAME/1`.
    name: String,
    /// Where its secret is.
    source: CredentialSource,
    /// Its last four characters (vault only).
    hint: Option<String>,
    /// Its secret was not found: it is not used.
    missing: bool,
}

/// A list.
#[derive(Serialize, ToSchema)]
pub(super) struct List<T> {
    /// Its items.
    pub(super) items: Vec<T>,
    /// Where it goes on.
    pub(super) next: Option<String>,
    /// How many there are.
    pub(super) total: Option<i64>,
}

impl<T> List<T> {
    /// A list that is complete.
    pub(super) fn whole(items: Vec<T>) -> Self {
        let total = i64::try_from(items.len()).ok();
        Self { items, next: None, total }
    }
}

/// What saving did.
#[derive(Serialize, ToSchema)]
pub(super) struct SavedView {
    /// Identity.
    pub(super) id: i64,
    /// The revision in force afterwards.
    pub(super) revision: Revision,
    /// A key that was made; told only now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) new_key: Option<NewKey>,
}

/// Which revision of the object the caller has seen.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Seen {
    /// Refuse if the object was changed since.
    pub(super) revision: Option<i64>,
}

/// Which upstreams.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Part of the name or base URL.
    search: Option<String>,
    /// Main tag or label.
    tag: Option<String>,
    /// What it speaks.
    protocol: Option<UpstreamKind>,
    /// Breaker state: closed, open, half_open.
    state: Option<String>,
    /// Switched on or not.
    enabled: Option<bool>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change, delete))
        .routes(routes!(restore))
        .routes(routes!(reset))
        .routes(routes!(reset_model))
        .routes(routes!(retry))
        .routes(routes!(batch))
        .routes(routes!(models))
}

fn view(shared: &Shared, snapshot: &Snapshot, upstream: &Upstream) -> UpstreamView {
    let endpoint = snapshot.upstreams.get(&upstream.id);
    let credentials = upstream
        .credentials
        .iter()
        .map(|c| CredentialView {
            id: c.id,
            name: format!("{}/{}", upstream.name, c.number),
            source: c.source.clone(),
            hint: c.hint.clone(),
            missing: endpoint.is_none_or(|e| !e.credentials.contains_key(&c.id)),
        })
        .collect();
    let groups = &snapshot.configuration.groups;
    let health = shared.routing.lock().health.view(upstream.id, shared.now());
    UpstreamView {
        id: upstream.id,
        name: upstream.name.clone(),
        revision: upstream.revision,
        spec: upstream.spec.clone(),
        credentials,
        groups: groups
            .iter()
            .filter(|g| g.spec.members.iter().any(|m| m.upstream == upstream.id))
            .map(|g| g.id)
            .collect(),
        condition: condition(snapshot, upstream, &health),
        health,
        account: BillingView::of(shared, snapshot, upstream),
    }
}

/// Upstreams
#[utoipa::path(get, path = "/upstreams", tag = "upstreams", params(ListQuery), responses((status = 200, body = List<UpstreamView>)))]
async fn list(State(shared): State<Arc<Shared>>, Query(query): Query<ListQuery>) -> Json<List<UpstreamView>> {
    let snapshot = shared.snapshot.load_full();
    let search = query.search.map(|s| s.to_lowercase());
    let items = snapshot
        .configuration
        .upstreams
        .iter()
        .filter(|u| {
            let text = |s: &String| u.name.fold().contains(s) || u.spec.base_url.to_lowercase().contains(s);
            let tags = &u.spec.tags;
            search.as_ref().is_none_or(text)
                && query.tag.as_ref().is_none_or(|t| tags.main.as_ref() == Some(t) || tags.labels.contains(t))
                && query.protocol.is_none_or(|p| u.spec.protocol == p)
                && query.enabled.is_none_or(|e| u.spec.enabled == e)
        })
        .map(|u| view(&shared, &snapshot, u))
        .filter(|v| {
            query.state.as_ref().is_none_or(|s| serde_json::to_value(v.health.state).is_ok_and(|w| w == *s.as_str()))
        })
        .collect();
    Json(List::whole(items))
}

/// Make an upstream
///
/// The body is the object as the configuration file spells it.
#[utoipa::path(post, path = "/upstreams", tag = "upstreams", request_body = Object, responses((status = 200, body = SavedView)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SavedView>, ApiError> {
    save(&shared, &author, Section::Upstreams, None, body).await
}

/// One upstream
#[utoipa::path(get, path = "/upstreams/{id}", tag = "upstreams", params(("id" = i64, Path)), responses((status = 200, body = UpstreamView)))]
async fn read(State(shared): State<Arc<Shared>>, Path(id): Path<UpstreamId>) -> Result<Json<UpstreamView>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let upstream = snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    Ok(Json(view(&shared, &snapshot, upstream)))
}

/// Change an upstream
///
/// The body is a JSON merge patch over the object as the configuration file spells it; `revision` names the state it
/// was made from.
#[utoipa::path(patch, path = "/upstreams/{id}", tag = "upstreams", params(("id" = i64, Path)), request_body = Object, responses((status = 200, body = SavedView)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SavedView>, ApiError> {
    save(&shared, &author, Section::Upstreams, Some(id), body).await
}

/// Remove an upstream, with its memberships and monitors
#[utoipa::path(delete, path = "/upstreams/{id}", tag = "upstreams", params(("id" = i64, Path), Seen), responses((status = 200, body = SavedView)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
    Query(seen): Query<Seen>,
) -> Result<Json<SavedView>, ApiError> {
    remove(&shared, &author, Section::Upstreams, id, seen).await
}

/// Bring a removed upstream back
#[utoipa::path(post, path = "/upstreams/{id}/restore", tag = "upstreams", params(("id" = i64, Path)), responses((status = 200, body = SavedView)))]
async fn restore(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
) -> Result<Json<SavedView>, ApiError> {
    bring_back(&shared, &author, Section::Upstreams, id).await
}

/// Brings a removed object back.
pub(super) async fn bring_back(
    shared: &Shared,
    author: &Author,
    section: Section,
    id: i64,
) -> Result<Json<SavedView>, ApiError> {
    let revision = shared.restore(section, id, author.as_str()).await?;
    Ok(Json(SavedView { id, revision, new_key: None }))
}

/// Does something to an upstream's health at a person's wish, and shows the upstream afterwards.
fn by_hand(shared: &Shared, id: UpstreamId, what: &str, act: impl FnOnce()) -> Result<Json<UpstreamView>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let upstream = snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    act();
    tracing::info!(upstream.name = %upstream.name, what, "by hand");
    Ok(Json(view(shared, &snapshot, upstream)))
}

/// Close the breaker and forget cooldowns and exclusions
#[utoipa::path(post, path = "/upstreams/{id}/reset", tag = "upstreams", params(("id" = i64, Path)), responses((status = 200, body = UpstreamView)))]
async fn reset(State(shared): State<Arc<Shared>>, Path(id): Path<UpstreamId>) -> Result<Json<UpstreamView>, ApiError> {
    by_hand(&shared, id, "reset", || {
        shared.routing.lock().health.reset(id);
        shared.alerts.tell(Signal::Cleared(id, None));
    })
}

/// A model by the name its upstream knows.
#[derive(Deserialize, ToSchema)]
struct NamedModel {
    /// At most 256 characters.
    model: String,
}

/// Forget that the upstream does not have a model
#[utoipa::path(post, path = "/upstreams/{id}/models/reset", tag = "upstreams", params(("id" = i64, Path)), request_body = NamedModel, responses((status = 200, body = UpstreamView)))]
async fn reset_model(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Body(body): Body<NamedModel>,
) -> Result<Json<UpstreamView>, ApiError> {
    by_hand(&shared, id, "exclusion ended", || {
        shared.routing.lock().health.reset_model(id, &body.model);
        shared.alerts.tell(Signal::Cleared(id, Some(body.model)));
    })
}

/// End every wait of the upstream: what still fails waits again
#[utoipa::path(post, path = "/upstreams/{id}/retry", tag = "upstreams", params(("id" = i64, Path)), responses((status = 200, body = UpstreamView)))]
async fn retry(State(shared): State<Arc<Shared>>, Path(id): Path<UpstreamId>) -> Result<Json<UpstreamView>, ApiError> {
    by_hand(&shared, id, "tried again", || shared.routing.lock().health.try_now(id, shared.now()))
}

/// What to do to several upstreams.
#[derive(Deserialize, ToSchema)]
struct Batch {
    /// Which.
    ids: Vec<UpstreamId>,
    /// What.
    #[serde(flatten)]
    action: BatchAction,
}

/// What it did.
#[derive(Serialize, ToSchema)]
struct BatchView {
    /// The revision in force afterwards.
    revision: Revision,
}

/// Change several upstreams at once: one revision, all or nothing
#[utoipa::path(post, path = "/upstreams/batch", tag = "upstreams", request_body = Batch, responses((status = 200, body = BatchView)))]
async fn batch(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(body): Body<Batch>,
) -> Result<Json<BatchView>, ApiError> {
    let edited = shared.batch(&body.ids, &body.action, author.as_str()).await?;
    Ok(Json(BatchView { revision: edited.revision }))
}

/// The models of an upstream.
#[derive(Serialize, ToSchema)]
struct ModelsView {
    /// Their ids, as the upstream lists them.
    models: Vec<String>,
}

/// Ask an upstream for its models now
#[utoipa::path(get, path = "/upstreams/{id}/models", tag = "upstreams", params(("id" = i64, Path)), responses((status = 200, body = ModelsView)))]
async fn models(State(shared): State<Arc<Shared>>, Path(id): Path<UpstreamId>) -> Result<Json<ModelsView>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let endpoint = snapshot.upstreams.get(&id).ok_or_else(|| ApiError::not_found("upstream"))?;
    let fetched =
        tokio::time::timeout(std::time::Duration::from_secs(10), crate::ingress::models::fetch(endpoint)).await;
    match fetched {
        Ok(Some(list)) => Ok(Json(ModelsView { models: list.into_iter().collect() })),
        _ => Err(ApiError::bad_request(format!(
            "the upstream '{}' gave no list of models; test it to see why",
            endpoint.name
        ))),
    }
}

/// Saves an object of a section; `revision` in the body is the state it was made from.
pub(super) async fn save(
    shared: &Shared,
    author: &Author,
    section: Section,
    id: Option<i64>,
    mut body: Map<String, Value>,
) -> Result<Json<SavedView>, ApiError> {
    let seen = match body.shift_remove("revision") {
        None => None,
        Some(value) => {
            let number =
                value.as_i64().ok_or_else(|| ApiError::bad_request("'revision' is a number").with_field("revision"))?;
            Some(Revision(number))
        }
    };
    if id.is_some() && seen.is_none() {
        let message = "a change names the 'revision' of the object it was made from";
        return Err(ApiError::bad_request(message).with_field("revision"));
    }
    let saved = shared.save(section, id.map(|id| (id, seen)), &body, author.as_str()).await?;
    Ok(Json(SavedView { id: saved.id, revision: saved.revision, new_key: saved.new_key }))
}

/// Removes an object of a section.
pub(super) async fn remove(
    shared: &Shared,
    author: &Author,
    section: Section,
    id: i64,
    seen: Seen,
) -> Result<Json<SavedView>, ApiError> {
    let revision = shared.remove(section, id, seen.revision.map(Revision), author.as_str()).await?;
    Ok(Json(SavedView { id, revision, new_key: None }))
}
