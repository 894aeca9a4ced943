//! Applying a configuration file: all or nothing.

use std::collections::HashMap;

use headgate_domain::{
    Configuration, Name, Revision, Secret,
    configuration::without_effect,
    diff::{Action, Change},
    file::{self, ConfigFile, Problem},
    plan::{self, Inputs, Options, Plan},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ATTEMPTS, ControlError, SecretCache};
use crate::{ingress::auth, shared::Shared};

/// How a file is applied.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyOptions {
    /// Only say what would change.
    pub dry_run: bool,
    /// Also remove what the file does not list.
    pub prune: bool,
    /// Make a renamed object's listed name anew.
    pub allow_recreate: bool,
    /// Refuse if the configuration is at another revision.
    pub expect_revision: Option<Revision>,
}

/// A key that was made: the only time its secret is told.
#[derive(Serialize, ToSchema)]
pub struct NewKey {
    /// Its name.
    pub name: String,
    /// The key.
    pub secret: String,
}

/// What applying did, or would do.
#[derive(Serialize, ToSchema)]
pub struct Applied {
    /// The revision in force afterwards.
    pub revision: Revision,
    /// Whether a new revision was made.
    pub changed: bool,
    /// The differences.
    pub changes: Vec<Change>,
    /// Keys that are set but have no effect in this version.
    pub notes: Vec<Problem>,
    /// Keys that were made. Empty in a dry run.
    pub new_keys: Vec<NewKey>,
}

impl Shared {
    /// Applies a configuration file's text.
    pub async fn apply(&self, text: &str, options: ApplyOptions, author: &str) -> Result<Applied, ControlError> {
        let file = file::parse(text).map_err(ControlError::Invalid)?;
        let cache = &mut *self.control.lock.lock().await;
        let database = self.control.database()?;
        let mut latest = Revision(0);
        for _ in 0..ATTEMPTS {
            let (revision, current) = self.latest().await?;
            if options.expect_revision.is_some_and(|expected| expected != revision) {
                return Err(ControlError::Conflict { latest: revision });
            }
            let plan = self.plan(&current, file.clone(), options, revision).await?;
            self.refuse_self_loops(&plan.next)?;
            let notes = without_effect(&plan.next);
            if options.dry_run || plan.changes.is_empty() {
                let Plan { changes, .. } = plan;
                return Ok(Applied { revision, changed: false, changes, notes, new_keys: Vec::new() });
            }
            self.keep_secrets(cache, &plan.secrets).await?;
            let summary = summary(&plan.changes);
            match database.append(revision, &plan.next, author, &summary).await {
                Ok(revision) => {
                    self.publish_with(cache, revision, plan.next).await;
                    let new_keys = plan
                        .new_keys
                        .into_iter()
                        .map(|(name, secret)| NewKey { name: name.into(), secret: secret.expose().to_owned() })
                        .collect();
                    return Ok(Applied { revision, changed: true, changes: plan.changes, notes, new_keys });
                }
                Err(headgate_store::revisions::AppendError::Conflict { latest: other }) => latest = other,
                Err(why) => return Err(why.into()),
            }
        }
        Err(ControlError::Conflict { latest })
    }

    pub(super) async fn plan(
        &self,
        current: &Configuration,
        file: ConfigFile,
        options: ApplyOptions,
        revision: Revision,
    ) -> Result<Plan, ControlError> {
        let mut stored: HashMap<String, Secret> = HashMap::new();
        for account in plan::accounts_needed(current, &file) {
            if let Some(secret) = self.control.vault.get(&account).await? {
                stored.insert(account, secret);
            }
        }
        let mut next_id = if options.dry_run {
            // Shown nowhere, stored nowhere.
            1 << 60
        } else {
            let count = u32::try_from(plan::ids_needed(&file)).unwrap_or(u32::MAX);
            self.control.database()?.allocate_ids(count).await?
        };
        let mut ids = || {
            next_id += 1;
            next_id - 1
        };
        let hash_key = |secret: &Secret| auth::hash_key(&self.pepper, secret);
        let mut no_random = false;
        let mut generate_key = || {
            auth::generate_key().unwrap_or_else(|_| {
                no_random = true;
                Secret::new("")
            })
        };
        let inputs = Inputs { ids: &mut ids, stored: &stored, hash_key: &hash_key, generate_key: &mut generate_key };
        let options = Options { prune: options.prune, allow_recreate: options.allow_recreate };
        let plan =
            plan::plan(current, file, options, inputs, Revision(revision.0 + 1)).map_err(ControlError::Invalid)?;
        if no_random { Err(ControlError::Random) } else { Ok(plan) }
    }

    /// Puts new secrets into the vault before the revision that needs them is stored.
    pub(super) async fn keep_secrets(
        &self,
        cache: &mut SecretCache,
        secrets: &[(String, Secret)],
    ) -> Result<(), ControlError> {
        for (account, secret) in secrets {
            self.control.vault.set(account, secret.clone()).await?;
            cache.forget(account);
        }
        Ok(())
    }

    /// An upstream that is this gateway would be asked for ever.
    pub(super) fn refuse_self_loops(&self, next: &Configuration) -> Result<(), ControlError> {
        let own = self.bootstrap.address;
        let leads_here = |base: &str| {
            let Ok(url) = url::Url::parse(base) else { return false };
            let same_port = url.port_or_known_default() == Some(own.port());
            let host = url.host_str().unwrap_or_default();
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let same_host = headgate_domain::upstream::is_loopback_host(host)
                || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip == own.ip() || ip.is_unspecified());
            same_port && same_host
        };
        let problems: Vec<Problem> = next
            .upstreams
            .iter()
            .filter(|u| leads_here(&u.spec.base_url))
            .map(|u| {
                Problem::new(
                    format!("upstreams[{}].base_url", u.name),
                    "leads back to this gateway; give the upstream's own address",
                )
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(ControlError::Invalid(problems)) }
    }
}

/// What was changed, in one line.
pub(super) fn summary(changes: &[Change]) -> String {
    let mut words: Vec<String> = changes
        .iter()
        .take(4)
        .map(|c| {
            let action = match c.action {
                Action::Create => "added",
                Action::Update => "changed",
                Action::Delete => "removed",
            };
            let kind = c.section.trim_end_matches('s');
            if c.section == "settings" { format!("{action} settings") } else { format!("{action} {kind} {}", c.name) }
        })
        .collect();
    if changes.len() > words.len() {
        words.push(format!("{} more", changes.len() - words.len()));
    }
    words.join(", ")
}

/// A name that could not be a name is nothing an object can be called.
pub(super) fn name(text: &str, field: &str) -> Result<Name, ControlError> {
    Name::new(text).map_err(|why| ControlError::Invalid(vec![Problem::new(field, why.to_string())]))
}
