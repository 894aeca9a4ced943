//! Single changes by the admin API: the same validation, revision and publication as a file.

use std::collections::HashMap;

use headgate_domain::{
    Configuration, Revision, Secret,
    configuration::validate,
    plan::{Change, diff},
};

use super::{ATTEMPTS, ControlError, apply::summary};
use crate::shared::Shared;

/// Ids for new objects, taken in advance.
pub struct Ids {
    next: i64,
}

impl Ids {
    /// The next one.
    pub fn take(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }
}

/// What an edit did.
pub struct Edited<T> {
    /// What the edit gave.
    pub value: T,
    /// The revision in force afterwards.
    pub revision: Revision,
    /// The differences.
    pub changes: Vec<Change>,
}

/// What an edit wants kept in the vault.
pub type NewSecrets = Vec<(String, Secret)>;

/// Ids an edit may take.
const IDS: u32 = 32;

impl Shared {
    /// Makes one change. `edit` gets the newest configuration, ids for new objects and the number of the revision to
    /// come; it may be called again when another process was first.
    pub async fn edit<T>(
        &self,
        author: &str,
        mut edit: impl FnMut(&mut Configuration, &mut Ids, Revision) -> Result<(T, NewSecrets), ControlError>,
    ) -> Result<Edited<T>, ControlError> {
        let cache = &mut *self.control.lock.lock().await;
        let database = self.control.database()?;
        let mut latest = Revision(0);
        for _ in 0..ATTEMPTS {
            let (revision, current) = self.latest().await?;
            let mut next = current.clone();
            let mut ids = Ids { next: database.allocate_ids(IDS).await? };
            let (value, secrets) = edit(&mut next, &mut ids, Revision(revision.0 + 1))?;
            let problems = validate(&next);
            if !problems.is_empty() {
                return Err(ControlError::Invalid(problems));
            }
            self.refuse_self_loops(&next)?;
            let changes = diff(&current, &next);
            if changes.is_empty() && secrets.is_empty() && current == next {
                return Ok(Edited { value, revision, changes });
            }
            self.keep_secrets(cache, &secrets).await?;
            match database.append(revision, &next, author, &summary(&changes)).await {
                Ok(revision) => {
                    self.publish_with(cache, revision, next).await;
                    return Ok(Edited { value, revision, changes });
                }
                Err(headgate_store::revisions::AppendError::Conflict { latest: other }) => latest = other,
                Err(why) => return Err(why.into()),
            }
        }
        Err(ControlError::Conflict { latest })
    }

    /// Goes back to an earlier revision: its objects, with their ids, become a new one.
    pub async fn roll_back(&self, to: Revision, author: &str) -> Result<Edited<()>, ControlError> {
        let (_, earlier) = self
            .control
            .database()?
            .revision(to)
            .await?
            .ok_or_else(|| ControlError::NotFound(format!("revision {}; it is older than what is kept", to.0)))?;
        self.edit(author, move |next, _, revision| {
            *next = restamped(next, earlier.clone(), revision);
            Ok(((), Vec::new()))
        })
        .await
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
