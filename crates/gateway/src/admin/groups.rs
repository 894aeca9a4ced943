//! `/groups` and their members.

use std::sync::Arc;

use axum::{Json, extract::State};
use headgate_domain::{
    BudgetOwner, GroupId, Name, Revision, UpstreamId,
    group::{GroupSpec, Member},
};
use headgate_routing::UpstreamHealth;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    condition::{Condition, of_member},
    error::{
        ApiError,
        extract::{Body, Path, Query},
    },
    upstreams::{List, SavedView, Seen, bring_back, remove, save},
};
use crate::{budgets::BudgetState, control::Section, shared::Shared};

/// A group.
#[derive(Serialize, ToSchema)]
struct GroupView {
    /// Identity.
    id: GroupId,
    /// Name.
    name: Name,
    /// The revision that last changed it; a change has to name it.
    revision: Revision,
    /// What is configured; upstreams by id.
    #[serde(flatten)]
    spec: GroupSpec<UpstreamId>,
    /// How far its budget is used, the shortest span first.
    budget_state: Vec<BudgetState>,
}

/// A member with its state.
#[derive(Serialize, ToSchema)]
struct MemberView {
    /// The upstream's name.
    name: Name,
    /// What is configured.
    #[serde(flatten)]
    member: Member<UpstreamId>,
    /// The upstream is switched on.
    upstream_enabled: bool,
    /// How the upstream is, in one word.
    condition: Condition,
    /// How the upstream is, in full.
    health: UpstreamHealth,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change, delete))
        .routes(routes!(restore))
        .routes(routes!(members, set_member))
        .routes(routes!(remove_member))
}

fn views(shared: &Shared) -> Vec<GroupView> {
    let snapshot = shared.snapshot.load_full();
    let groups = &snapshot.configuration.groups;
    groups
        .iter()
        .map(|g| GroupView {
            id: g.id,
            name: g.name.clone(),
            revision: g.revision,
            spec: g.spec.clone(),
            budget_state: shared.budget_states(BudgetOwner::Group(g.id), g.spec.budget.as_ref()),
        })
        .collect()
}

/// Groups
#[utoipa::path(get, path = "/groups", tag = "groups", responses((status = 200, body = List<GroupView>)))]
async fn list(State(shared): State<Arc<Shared>>) -> Json<List<GroupView>> {
    Json(List::whole(views(&shared)))
}

/// Make a group
///
/// The body is the object as the configuration file spells it: upstreams by name.
#[utoipa::path(post, path = "/groups", tag = "groups", request_body = Object, responses((status = 200, body = SavedView)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SavedView>, ApiError> {
    save(&shared, &author, Section::Groups, None, body).await
}

/// One group
#[utoipa::path(get, path = "/groups/{id}", tag = "groups", params(("id" = i64, Path)), responses((status = 200, body = GroupView)))]
async fn read(State(shared): State<Arc<Shared>>, Path(id): Path<GroupId>) -> Result<Json<GroupView>, ApiError> {
    views(&shared).into_iter().find(|g| g.id == id).map(Json).ok_or_else(|| ApiError::not_found("group"))
}

/// Change a group
///
/// A JSON merge patch over the object as the configuration file spells it; `revision` names the state it was made from.
#[utoipa::path(patch, path = "/groups/{id}", tag = "groups", params(("id" = i64, Path)), request_body = Object, responses((status = 200, body = SavedView)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SavedView>, ApiError> {
    save(&shared, &author, Section::Groups, Some(id), body).await
}

/// Remove a group that no key uses
#[utoipa::path(delete, path = "/groups/{id}", tag = "groups", params(("id" = i64, Path), Seen), responses((status = 200, body = SavedView)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
    Query(seen): Query<Seen>,
) -> Result<Json<SavedView>, ApiError> {
    remove(&shared, &author, Section::Groups, id, seen).await
}

/// Bring a removed group back, with those of its members that are still there
#[utoipa::path(post, path = "/groups/{id}/restore", tag = "groups", params(("id" = i64, Path)), responses((status = 200, body = SavedView)))]
async fn restore(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
) -> Result<Json<SavedView>, ApiError> {
    bring_back(&shared, &author, Section::Groups, id).await
}

/// The members of a group, with their state
#[utoipa::path(get, path = "/groups/{id}/members", tag = "groups", params(("id" = i64, Path)), responses((status = 200, body = List<MemberView>)))]
async fn members(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<GroupId>,
) -> Result<Json<List<MemberView>>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let group = snapshot.configuration.group(id).ok_or_else(|| ApiError::not_found("group"))?;
    let now = shared.now();
    let routing = shared.routing.lock();
    let items = group
        .spec
        .members
        .iter()
        .filter_map(|m| {
            let upstream = snapshot.configuration.upstream(m.upstream)?;
            let health = routing.health.view(m.upstream, now);
            Some(MemberView {
                name: upstream.name.clone(),
                member: m.clone(),
                upstream_enabled: upstream.spec.enabled,
                condition: of_member(&snapshot, group, m, upstream, &health),
                health,
            })
        })
        .collect();
    Ok(Json(List::whole(items)))
}

/// Add a member, or change one
///
/// `upstream` is its name; `revision` that of the group.
#[utoipa::path(put, path = "/groups/{id}/members", tag = "groups", params(("id" = i64, Path)), request_body = Object, responses((status = 200, body = SavedView)))]
async fn set_member(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<GroupId>,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<Json<SavedView>, ApiError> {
    let name = body.get("upstream").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    if name.is_empty() {
        return Err(ApiError::bad_request("'upstream' is the name of the upstream").with_field("upstream"));
    }
    let revision = body.shift_remove("revision");
    edit_members(&shared, &author, id, revision, |members| {
        match members.iter_mut().find(|m| is_named(m, &name)) {
            Some(Value::Object(member)) => member.extend(std::mem::take(&mut body)),
            _ => members.push(Value::Object(std::mem::take(&mut body))),
        }
        true
    })
    .await
}

/// Remove a member
#[utoipa::path(delete, path = "/groups/{id}/members/{upstream}", tag = "groups", params(("id" = i64, Path), ("upstream" = i64, Path), Seen), responses((status = 200, body = SavedView)))]
async fn remove_member(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path((id, upstream)): Path<(GroupId, UpstreamId)>,
    Query(seen): Query<Seen>,
) -> Result<Json<SavedView>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let name = snapshot.configuration.upstream(upstream).ok_or_else(|| ApiError::not_found("upstream"))?.name.fold();
    edit_members(&shared, &author, id, seen.revision.map(Value::from), |members| {
        let before = members.len();
        members.retain(|m| !is_named(m, &name));
        members.len() < before
    })
    .await
}

fn is_named(member: &Value, folded: &str) -> bool {
    member.get("upstream").and_then(Value::as_str).is_some_and(|n| n.to_lowercase() == folded)
}

/// Changes the list of members as the file spells it.
async fn edit_members(
    shared: &Shared,
    author: &Author,
    id: GroupId,
    revision: Option<Value>,
    edit: impl FnOnce(&mut Vec<Value>) -> bool,
) -> Result<Json<SavedView>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let group = snapshot.configuration.group(id).ok_or_else(|| ApiError::not_found("group"))?;
    let objects = headgate_domain::file::objects(&snapshot.configuration);
    let spelled =
        objects.get(&("groups", group.name.to_string())).and_then(|o| o.get("members")).and_then(Value::as_array);
    let mut members = spelled.cloned().unwrap_or_default();
    if !edit(&mut members) {
        return Err(ApiError::not_found("member"));
    }
    let mut body = Map::new();
    body.insert("members".to_owned(), Value::Array(members));
    body.insert("revision".to_owned(), revision.unwrap_or_else(|| json!(group.revision)));
    save(shared, author, Section::Groups, Some(id.0), body).await
}
