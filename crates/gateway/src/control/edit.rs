//! Single changes by the admin API: the same validation, revision and publication as a file.

use std::collections::HashMap;

use headgate_domain::{
    Configuration, Revision, UpstreamId,
    configuration::validate,
    diff::{Change, diff},
    file::{self, ConfigFile, Problem},
};
use serde_json::{Map, Value};

use super::{ATTEMPTS, ApplyOptions, ControlError, NewKey, apply::summary};
use crate::shared::Shared;

/// What an edit did.
pub struct Edited {
    /// The revision in force afterwards.
    pub revision: Revision,
    /// The differences.
    pub changes: Vec<Change>,
}

impl Shared {
    /// Makes one change to what there is. `edit` gets the newest configuration and the number of the revision to come;
    /// it may be called again when another process was first.
    pub async fn edit(
        &self,
        author: &str,
        mut edit: impl FnMut(&mut Configuration, Revision) -> Result<(), ControlError>,
    ) -> Result<Edited, ControlError> {
        let cache = &mut *self.control.lock.lock().await;
        let database = self.control.database()?;
        let mut latest = Revision(0);
        for _ in 0..ATTEMPTS {
            let (revision, current) = self.latest().await?;
            let mut next = current.clone();
            edit(&mut next, Revision(revision.0 + 1))?;
            let problems = validate(&next);
            if !problems.is_empty() {
                return Err(ControlError::Invalid(problems));
            }
            self.refuse_self_loops(&next)?;
            let changes = diff(&current, &next);
            if changes.is_empty() && current == next {
                return Ok(Edited { revision, changes });
            }
            match database.append(revision, &next, author, &summary(&changes)).await {
                Ok(revision) => {
                    self.publish_with(cache, revision, next).await;
                    return Ok(Edited { revision, changes });
                }
                Err(headgate_store::revisions::AppendError::Conflict { latest: other }) => latest = other,
                Err(why) => return Err(why.into()),
            }
        }
        Err(ControlError::Conflict { latest })
    }

    /// Goes back to an earlier revision: its objects, with their ids, become a new one.
    pub async fn roll_back(&self, to: Revision, author: &str) -> Result<Edited, ControlError> {
        let (_, earlier) = self
            .control
            .database()?
            .revision(to)
            .await?
            .ok_or_else(|| ControlError::NotFound(format!("revision {}; it is older than what is kept", to.0)))?;
        self.edit(author, move |next, revision| {
            *next = restamped(next, earlier.clone(), revision);
            Ok(())
        })
        .await
    }
}

/// A section whose objects are edited one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Upstreams.
    Upstreams,
    /// Groups.
    Groups,
    /// Access keys.
    Keys,
}

impl Section {
    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Upstreams => "upstreams",
            Self::Groups => "groups",
            Self::Keys => "keys",
        }
    }

    /// One of its objects, in words.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Upstreams => "upstream",
            Self::Groups => "group",
            Self::Keys => "key",
        }
    }

    /// An object's present name and revision.
    pub(super) fn find(self, configuration: &Configuration, id: i64) -> Option<(String, Revision)> {
        match self {
            Self::Upstreams => {
                configuration.upstreams.iter().find(|o| o.id.0 == id).map(|o| (o.name.to_string(), o.revision))
            }
            Self::Groups => {
                configuration.groups.iter().find(|o| o.id.0 == id).map(|o| (o.name.to_string(), o.revision))
            }
            Self::Keys => configuration.keys.iter().find(|o| o.id.0 == id).map(|o| (o.name.to_string(), o.revision)),
        }
    }

    /// The id of a name.
    fn id_of(self, configuration: &Configuration, name: &str) -> Option<i64> {
        let fold = name.to_lowercase();
        match self {
            Self::Upstreams => configuration.upstreams.iter().find(|o| o.name.fold() == fold).map(|o| o.id.0),
            Self::Groups => configuration.groups.iter().find(|o| o.name.fold() == fold).map(|o| o.id.0),
            Self::Keys => configuration.keys.iter().find(|o| o.name.fold() == fold).map(|o| o.id.0),
        }
    }
}

/// Which object is changed, as the caller last saw it; none: a new one.
pub type Target = Option<(i64, Option<Revision>)>;

/// What saving an object did.
pub struct Saved {
    /// Its id.
    pub id: i64,
    /// The revision in force afterwards.
    pub revision: Revision,
    /// A key that was made.
    pub new_key: Option<NewKey>,
}

impl Shared {
    /// Makes or changes one object. `patch` is laid over the object as a file would spell it (JSON merge patch), so
    /// that what is left out stays.
    pub async fn save(
        &self,
        section: Section,
        target: Target,
        patch: &Map<String, Value>,
        author: &str,
    ) -> Result<Saved, ControlError> {
        let cache = &mut *self.control.lock.lock().await;
        let database = self.control.database()?;
        let mut latest = Revision(0);
        for _ in 0..ATTEMPTS {
            let (revision, current) = self.latest().await?;
            let (base, file, name) = merged(section, target, patch, &current)?;
            let plan = self
                .plan(&base, file, ApplyOptions { allow_recreate: true, ..ApplyOptions::default() }, revision)
                .await?;
            let mut next = plan.next;
            let Some(id) = section.id_of(&next, &name) else {
                return Err(ControlError::NotFound(section.singular().to_owned()));
            };
            settle(section, id, &current, &mut next, Revision(revision.0 + 1));
            self.refuse_self_loops(&next)?;
            let changes = diff(&current, &next);
            if changes.is_empty() && plan.secrets.is_empty() && plan.changes.is_empty() {
                return Ok(Saved { id, revision, new_key: None });
            }
            self.keep_secrets(cache, &plan.secrets).await?;
            let told = if changes.is_empty() { &plan.changes } else { &changes };
            match database.append(revision, &next, author, &summary(told)).await {
                Ok(revision) => {
                    self.publish_with(cache, revision, next).await;
                    let new_key = plan.new_keys.into_iter().next();
                    let new_key =
                        new_key.map(|(name, secret)| NewKey { name: name.into(), secret: secret.expose().to_owned() });
                    return Ok(Saved { id, revision, new_key });
                }
                Err(headgate_store::revisions::AppendError::Conflict { latest: other }) => latest = other,
                Err(why) => return Err(why.into()),
            }
        }
        Err(ControlError::Conflict { latest })
    }

    /// Removes one object, with what refers to it where that can go with it (memberships, monitors).
    pub async fn remove(
        &self,
        section: Section,
        id: i64,
        seen: Option<Revision>,
        author: &str,
    ) -> Result<Revision, ControlError> {
        let edited = self
            .edit(author, move |next, revision| {
                check_seen(section, id, seen, next)?;
                match section {
                    Section::Upstreams => without_upstream(next, UpstreamId(id), revision),
                    Section::Groups => next.groups.retain(|g| g.id.0 != id),
                    Section::Keys => next.keys.retain(|k| k.id.0 != id),
                }
                Ok(())
            })
            .await?;
        Ok(edited.revision)
    }
}

/// Takes an upstream out, with what refers to it.
pub(super) fn without_upstream(next: &mut Configuration, id: UpstreamId, revision: Revision) {
    next.upstreams.retain(|u| u.id != id);
    next.monitors.retain(|m| m.spec.upstream != id);
    for group in &mut next.groups {
        let before = group.spec.clone();
        group.spec.members.retain(|m| m.upstream != id);
        for alias in group.spec.aliases.values_mut() {
            alias.candidates.retain(|t| t.upstream != id);
            alias.fallback.retain(|t| t.upstream != id);
        }
        group.spec.aliases.retain(|_, alias| !alias.candidates.is_empty());
        if group.spec != before {
            group.revision = revision;
        }
    }
}

/// The object must be as the caller last saw it.
fn check_seen(
    section: Section,
    id: i64,
    seen: Option<Revision>,
    current: &Configuration,
) -> Result<String, ControlError> {
    let (name, revision) =
        section.find(current, id).ok_or_else(|| ControlError::NotFound(format!("{} {id}", section.singular())))?;
    if seen.is_some_and(|seen| seen != revision) {
        let object = file::objects(current).get(&(section.as_str(), name)).cloned().unwrap_or_default();
        return Err(ControlError::ObjectConflict(
            serde_json::json!({"id": id, "revision": revision, "object": object}),
        ));
    }
    Ok(name)
}

/// The configuration to plan on (renamed, if the patch renames), the patched object as a file, and its name.
pub(super) fn merged(
    section: Section,
    target: Target,
    patch: &Map<String, Value>,
    current: &Configuration,
) -> Result<(Configuration, ConfigFile, String), ControlError> {
    let mut base = current.clone();
    let mut object = Map::new();
    let mut present = None;
    if let Some((id, seen)) = target {
        let name = check_seen(section, id, seen, current)?;
        if let Some(Value::Object(map)) = file::objects(current).get(&(section.as_str(), name.clone())) {
            object.clone_from(map);
        }
        present = Some((id, name));
    }
    merge(&mut object, patch);
    let name = object.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    match (section.id_of(current, &name), &present) {
        (Some(other), Some((id, _))) if other == *id => {}
        (Some(_), _) => {
            let message = format!("there is already a {} '{name}'", section.singular());
            return Err(ControlError::Invalid(vec![Problem::new("name", message)]));
        }
        (None, _) => {}
    }
    if let Some((id, old)) = present
        && old != name
    {
        let new = super::apply::name(&name, "name")?;
        match section {
            Section::Upstreams => base.upstreams.iter_mut().filter(|o| o.id.0 == id).for_each(|o| o.name = new.clone()),
            Section::Groups => base.groups.iter_mut().filter(|o| o.id.0 == id).for_each(|o| o.name = new.clone()),
            Section::Keys => base.keys.iter_mut().filter(|o| o.id.0 == id).for_each(|o| o.name = new.clone()),
        }
    }
    let file = file::parse_one(section.as_str(), object).map_err(ControlError::Invalid)?;
    Ok((base, file, name))
}

/// JSON merge patch (RFC 7396).
fn merge(object: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, value) in patch {
        match (object.get_mut(key), value) {
            (_, Value::Null) => drop(object.shift_remove(key)),
            (Some(Value::Object(inner)), Value::Object(patch)) => merge(inner, patch),
            _ => drop(object.insert(key.clone(), value.clone())),
        }
    }
}

/// What planning as a file got wrong for a single change: no file listed this object, and a new name is a change.
fn settle(section: Section, id: i64, current: &Configuration, next: &mut Configuration, revision: Revision) {
    macro_rules! settle {
        ($list:ident) => {
            let before = current.$list.iter().find(|o| o.id.0 == id);
            for object in next.$list.iter_mut().filter(|o| o.id.0 == id) {
                object.applied_name = before.and_then(|o| o.applied_name.clone());
                if before.is_some_and(|o| o.name != object.name) {
                    object.revision = revision;
                }
            }
        };
    }
    match section {
        Section::Upstreams => {
            settle!(upstreams);
        }
        Section::Groups => {
            settle!(groups);
        }
        Section::Keys => {
            settle!(keys);
        }
    }
}

/// An earlier document in which every object that differs from the present one carries the new revision.
fn restamped(current: &Configuration, mut earlier: Configuration, revision: Revision) -> Configuration {
    macro_rules! stamp {
        ($list:ident) => {
            let present: HashMap<_, _> = current.$list.iter().map(|o| (o.id, o)).collect();
            for object in &mut earlier.$list {
                let mut as_now = object.clone();
                match present.get(&object.id) {
                    Some(now) => {
                        as_now.revision = now.revision;
                        object.revision = if as_now == **now { now.revision } else { revision };
                    }
                    None => object.revision = revision,
                }
            }
        };
    }
    stamp!(upstreams);
    stamp!(groups);
    stamp!(keys);
    stamp!(monitors);
    stamp!(alerts);
    earlier.settings_revision = if earlier.settings == current.settings { current.settings_revision } else { revision };
    // Numbers of credentials are given once: an earlier counter must not come back.
    for upstream in &mut earlier.upstreams {
        if let Some(now) = current.upstream(upstream.id) {
            upstream.next_credential = upstream.next_credential.max(now.next_credential);
        }
    }
    earlier
}
