//! One change to several upstreams at once: one revision, all or nothing.

use headgate_domain::{Configuration, Revision, UpstreamId, upstream::Tags};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{ControlError, Edited, edit::without_upstream};
use crate::shared::Shared;

/// What is done to each of them.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum BatchAction {
    /// Switches them on.
    Enable,
    /// Switches them off.
    Disable,
    /// Removes them, with their memberships and monitors.
    Delete,
    /// Adds labels, and sets the main tag where one is given.
    Tag {
        /// The main tag.
        main: Option<String>,
        /// Labels.
        #[serde(default)]
        labels: Vec<String>,
    },
    /// Takes labels, and the main tag where it is the one given.
    Untag {
        /// The main tag.
        main: Option<String>,
        /// Labels.
        #[serde(default)]
        labels: Vec<String>,
    },
}

impl Shared {
    /// Makes the change.
    pub async fn batch(&self, ids: &[UpstreamId], action: &BatchAction, author: &str) -> Result<Edited, ControlError> {
        self.edit(author, |next, revision| {
            for id in ids {
                if next.upstream(*id).is_none() {
                    return Err(ControlError::NotFound(format!("upstream {}", id.0)));
                }
                if matches!(action, BatchAction::Delete) {
                    without_upstream(next, *id, revision);
                } else {
                    change(next, *id, action, revision);
                }
            }
            Ok(())
        })
        .await
    }
}

fn change(next: &mut Configuration, id: UpstreamId, action: &BatchAction, revision: Revision) {
    let Some(upstream) = next.upstreams.iter_mut().find(|u| u.id == id) else { return };
    let before = upstream.spec.clone();
    match action {
        BatchAction::Enable => upstream.spec.enabled = true,
        BatchAction::Disable => upstream.spec.enabled = false,
        BatchAction::Tag { main, labels } => tag(&mut upstream.spec.tags, main.as_ref(), labels),
        BatchAction::Untag { main, labels } => {
            let tags = &mut upstream.spec.tags;
            tags.main = tags.main.take().filter(|m| main.as_ref() != Some(m));
            tags.labels.retain(|l| !labels.contains(l));
        }
        BatchAction::Delete => {}
    }
    if upstream.spec != before {
        upstream.revision = revision;
    }
}

fn tag(tags: &mut Tags, main: Option<&String>, labels: &[String]) {
    if let Some(main) = main {
        tags.main = Some(main.clone());
    }
    for label in labels {
        if !tags.labels.contains(label) {
            tags.labels.push(label.clone());
        }
    }
}
