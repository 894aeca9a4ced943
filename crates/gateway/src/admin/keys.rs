//! `/keys`: access keys. A secret is told once, when the key is made.

use std::sync::Arc;

use axum::{Json, extract::State};
use headgate_domain::{BudgetOwner, GroupId, KeyId, Name, Revision, key::KeySpec};
use headgate_store::requests::LastUse;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    error::{
        ApiError,
        extract::{Body, Path, Query},
    },
    upstreams::{List, SavedView, Seen, bring_back, remove, save},
};
use crate::{budgets::BudgetState, control::Section, ingress::auth, shared::Shared};

/// An access key, without its secret.
#[derive(Serialize, ToSchema)]
struct KeyView {
    /// Identity.
    id: KeyId,
    /// Name.
    name: Name,
    /// The revision that last changed it; a change has to name it.
    revision: Revision,
    /// Its first characters.
    prefix: String,
    /// What it may do.
    #[serde(flatten)]
    spec: KeySpec<GroupId>,
    /// How far its budget is used, the shortest span first.
    budget_state: Vec<BudgetState>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change, delete))
        .routes(routes!(restore))
        .routes(routes!(rotate))
        .routes(routes!(usage))
}

fn views(shared: &Shared) -> Vec<KeyView> {
    let snapshot = shared.snapshot.load_full();
    let keys = snapshot.configuration.keys.iter();
    keys.map(|k| KeyView {
        id: k.id,
        name: k.name.clone(),
        revision: k.revision,
        prefix: k.prefix.clone(),
        spec: k.spec.clone(),
        budget_state: shared.budget_states(BudgetOwner::Key(k.id), k.spec.budget.as_ref()),
    })
    .collect()
}

/// Access keys
#[utoipa::path(get, path = "/keys", tag = "keys", responses((status = 200, body = List<KeyView>)))]
async fn list(State(shared): State<Arc<Shared>>) -> Json<List<KeyView>> {
    Json(List::whole(views(&shared)))
}

/// Make an access key
///
/// The body is the object as the configuration file spells it; without a `secret` one is made and told in this answer
/// alone.
#[utoipa::path(post, path = "/keys", tag = "keys", request_body = Object, responses((status = 200, body = SavedView)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SavedView>, ApiError> {
    save(&shared, &author, Section::Keys, None, body).await
}

/// When each access key was last used, and by which client
///
/// Keys without a request on record are left out.
#[utoipa::path(get, path = "/keys/usage", tag = "keys", responses((status = 200, body = List<LastUse>)))]
async fn usage(State(shared): State<Arc<Shared>>) -> Result<Json<List<LastUse>>, ApiError> {
    let keys: Vec<KeyId> = shared.snapshot.load().configuration.keys.iter().map(|key| key.id).collect();
    Ok(Json(List::whole(shared.control.database()?.last_uses(&keys).await?)))
}

/// One access key
#[utoipa::path(get, path = "/keys/{id}", tag = "keys", params(("id" = i64, Path)), responses((status = 200, body = KeyView)))]
async fn read(State(shared): State<Arc<Shared>>, Path(id): Path<KeyId>) -> Result<Json<KeyView>, ApiError> {
    views(&shared).into_iter().find(|k| k.id == id).map(Json).ok_or_else(|| ApiError::not_found("key"))
}

/// Change an access key
///
/// A JSON merge patch; `revision` names the state it was made from.
#[utoipa::path(patch, path = "/keys/{id}", tag = "keys", params(("id" = i64, Path)), request_body = Object, responses((status = 200, body = SavedView)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SavedView>, ApiError> {
    save(&shared, &author, Section::Keys, Some(id), body).await
}

/// Give a key a new secret; the old one stops working at once
#[utoipa::path(post, path = "/keys/{id}/rotate", tag = "keys", params(("id" = i64, Path), Seen), responses((status = 200, body = SavedView)))]
async fn rotate(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<KeyId>,
    Query(seen): Query<Seen>,
) -> Result<Json<SavedView>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let key = snapshot.configuration.key(id).ok_or_else(|| ApiError::not_found("key"))?;
    let secret = auth::generate_key().map_err(|_| ApiError::from(crate::control::ControlError::Random))?;
    let mut body = Map::new();
    body.insert("secret".to_owned(), secret.expose().into());
    body.insert("revision".to_owned(), seen.revision.unwrap_or(key.revision.0).into());
    let name = key.name.to_string();
    let Json(mut saved) = save(&shared, &author, Section::Keys, Some(id.0), body).await?;
    saved.new_key = Some(crate::control::NewKey { name, secret: secret.expose().to_owned() });
    Ok(Json(saved))
}

/// Remove an access key
#[utoipa::path(delete, path = "/keys/{id}", tag = "keys", params(("id" = i64, Path), Seen), responses((status = 200, body = SavedView)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
    Query(seen): Query<Seen>,
) -> Result<Json<SavedView>, ApiError> {
    remove(&shared, &author, Section::Keys, id, seen).await
}

/// Bring a removed access key back, with its secret
#[utoipa::path(post, path = "/keys/{id}/restore", tag = "keys", params(("id" = i64, Path)), responses((status = 200, body = SavedView)))]
async fn restore(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Path(id): Path<i64>,
) -> Result<Json<SavedView>, ApiError> {
    bring_back(&shared, &author, Section::Keys, id).await
}
