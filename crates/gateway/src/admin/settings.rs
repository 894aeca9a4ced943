//! `/settings`: effective values and where they come from.

use std::sync::Arc;

use axum::{Json, extract::State};
use headgate_domain::{Revision, Settings, SettingsPatch, file::Problem};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    error::{ApiError, extract::Body},
};
use crate::{control::ControlError, shared::Shared};

/// Every setting.
#[derive(Serialize, ToSchema)]
struct SettingsView {
    /// The revision that last changed one; a change has to name it.
    revision: Revision,
    /// Effective values.
    values: Settings,
    /// Names that are set; all others have their defaults.
    set: Vec<String>,
    /// The defaults.
    defaults: Settings,
}

/// A change of settings.
#[derive(Deserialize, ToSchema)]
struct SettingsChange {
    /// The revision of the settings it was made from.
    revision: Revision,
    /// New values by name; `null` goes back to the default.
    #[schema(value_type = Object)]
    values: Map<String, Value>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(read, change))
}

fn view(shared: &Shared) -> SettingsView {
    let snapshot = shared.snapshot.load_full();
    let set = match serde_json::to_value(&snapshot.configuration.settings) {
        Ok(Value::Object(map)) => map.keys().cloned().collect(),
        _ => Vec::new(),
    };
    SettingsView {
        revision: snapshot.configuration.settings_revision,
        values: snapshot.settings.clone(),
        set,
        defaults: Settings::default(),
    }
}

/// Settings
#[utoipa::path(get, path = "/settings", tag = "settings", responses((status = 200, body = SettingsView)))]
async fn read(State(shared): State<Arc<Shared>>) -> Json<SettingsView> {
    Json(view(&shared))
}

/// Change settings
#[utoipa::path(patch, path = "/settings", tag = "settings", request_body = SettingsChange, responses((status = 200, body = SettingsView)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(change): Body<SettingsChange>,
) -> Result<Json<SettingsView>, ApiError> {
    let unset: Vec<String> = change.values.iter().filter(|(_, v)| v.is_null()).map(|(k, _)| k.clone()).collect();
    let set: Map<String, Value> = change.values.into_iter().filter(|(_, v)| !v.is_null()).collect();
    let patch: SettingsPatch = serde_json::from_value(Value::Object(set))
        .map_err(|why| ControlError::Invalid(vec![Problem::new("values", why.to_string())]))?;
    if patch.sealed_fetch_proxy().is_some() {
        return Err(
            ApiError::bad_request("a proxy with user and password is set by applying a file").with_field("fetch_proxy")
        );
    }
    shared
        .edit(author.as_str(), move |next, revision| {
            if next.settings_revision != change.revision {
                let current = serde_json::to_value(&next.settings).unwrap_or_default();
                return Err(ControlError::ObjectConflict(
                    serde_json::json!({"revision": next.settings_revision, "object": current}),
                ));
            }
            let before = next.settings.clone();
            next.settings.merge(&patch);
            for name in &unset {
                if !next.settings.unset(name) {
                    return Err(ControlError::Invalid(vec![Problem::new(name.clone(), "is no setting")]));
                }
            }
            if next.settings != before {
                next.settings_revision = revision;
            }
            Ok(())
        })
        .await?;
    Ok(Json(view(&shared)))
}
