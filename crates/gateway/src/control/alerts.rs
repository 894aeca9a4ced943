//! Single changes to alert targets. They have no names: a list with one place changed is planned as a file would be, so
//! that addresses and secrets go the same way into the vault.

use headgate_domain::{
    AlertId, Configuration, Revision,
    alert::{Alert, AlertSpec},
    file::{ConfigFile, Problem},
};
use headgate_store::revisions::AppendError;
use serde_json::{Map, Value};

use super::{ATTEMPTS, ApplyOptions, ControlError, apply::summary};
use crate::shared::Shared;

impl Shared {
    /// Makes a target, or changes one as the caller last saw it. `patch` is laid over it as a file would spell it
    /// (JSON merge patch), so that what is left out stays, the address and the secret too.
    pub async fn save_alert(
        &self,
        target: Option<(AlertId, Option<Revision>)>,
        patch: &Map<String, Value>,
        author: &str,
    ) -> Result<(AlertId, Revision), ControlError> {
        let cache = &mut *self.control.lock.lock().await;
        let database = self.control.database()?;
        let mut latest = Revision(0);
        for _ in 0..ATTEMPTS {
            let (revision, current) = self.latest().await?;
            let at = match target {
                Some((id, seen)) => place(&current, id, seen)?,
                None => current.alerts.len(),
            };
            let file = ConfigFile { alerts: Some(merged(&current, at, patch)?), ..ConfigFile::default() };
            let plan =
                self.plan(&current, file, ApplyOptions::default(), revision).await.map_err(named_by_field(at))?;
            let id = plan.next.alerts.get(at).map(|alert| alert.id);
            let id = id.ok_or_else(|| ControlError::NotFound("alert".to_owned()))?;
            if plan.changes.is_empty() {
                return Ok((id, revision));
            }
            self.keep_secrets(cache, &plan.secrets).await?;
            match database.append(revision, &plan.next, author, &summary(&plan.changes)).await {
                Ok(revision) => {
                    self.publish_with(cache, revision, plan.next).await;
                    return Ok((id, revision));
                }
                Err(AppendError::Conflict { latest: other }) => latest = other,
                Err(why) => return Err(why.into()),
            }
        }
        Err(ControlError::Conflict { latest })
    }

    /// Removes a target.
    pub async fn remove_alert(
        &self,
        id: AlertId,
        seen: Option<Revision>,
        author: &str,
    ) -> Result<Revision, ControlError> {
        let edited = self
            .edit(author, move |next, _| {
                place(next, id, seen)?;
                next.alerts.retain(|alert| alert.id != id);
                Ok(())
            })
            .await?;
        Ok(edited.revision)
    }

    /// Brings a removed target back, with its address and its secret.
    pub async fn restore_alert(&self, id: AlertId, author: &str) -> Result<Revision, ControlError> {
        let find = |earlier: &Configuration| earlier.alerts.iter().find(|a| a.id == id).cloned();
        let earlier = self.newest_with(&format!("alert {id}"), find).await?;
        let edited = self
            .edit(author, move |next, revision| {
                if !next.alerts.iter().any(|alert| alert.id == id) {
                    next.alerts.push(Alert { revision, ..earlier.clone() });
                }
                Ok(())
            })
            .await?;
        Ok(edited.revision)
    }
}

/// Where a target stands in the list; it must be as the caller last saw it.
fn place(current: &Configuration, id: AlertId, seen: Option<Revision>) -> Result<usize, ControlError> {
    let found = current.alerts.iter().enumerate().find(|(_, alert)| alert.id == id);
    let (at, alert) = found.ok_or_else(|| ControlError::NotFound(format!("alert {id}")))?;
    if seen.is_some_and(|seen| seen != alert.revision) {
        let object = serde_json::json!({"id": id, "revision": alert.revision, "object": alert.spec});
        return Err(ControlError::ObjectConflict(object));
    }
    Ok(at)
}

/// The whole list as a file spells it, with the patch at one place.
fn merged(current: &Configuration, at: usize, patch: &Map<String, Value>) -> Result<Vec<AlertSpec>, ControlError> {
    let mut specs: Vec<AlertSpec> = current.alerts.iter().map(|alert| alert.spec.clone()).collect();
    let mut fields = match specs.get(at).map(serde_json::to_value) {
        Some(Ok(Value::Object(fields))) => fields,
        _ => Map::from_iter([("kind".to_owned(), "webhook".into())]),
    };
    for (name, value) in patch {
        match value {
            Value::Null => drop(fields.shift_remove(name)),
            value => drop(fields.insert(name.clone(), value.clone())),
        }
    }
    let spec: AlertSpec = serde_path_to_error::deserialize(Value::Object(fields)).map_err(|why| {
        let path = why.path().to_string();
        ControlError::Invalid(vec![Problem::new(path, why.inner().to_string())])
    })?;
    match specs.get_mut(at) {
        Some(place) => *place = spec,
        None => specs.push(spec),
    }
    Ok(specs)
}

/// A caller who changes one target knows its fields, not its place.
fn named_by_field(at: usize) -> impl Fn(ControlError) -> ControlError {
    move |why| match why {
        ControlError::Invalid(problems) => {
            let prefix = format!("alerts[{at}].");
            let bare = |p: Problem| Problem { path: p.path.strip_prefix(&prefix).unwrap_or(&p.path).to_owned(), ..p };
            ControlError::Invalid(problems.into_iter().map(bare).collect())
        }
        why => why,
    }
}
