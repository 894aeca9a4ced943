//! The whole configuration as one document: what a revision stores.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    group::Group,
    id::{GroupId, KeyId, Revision, UpstreamId},
    key::AccessKey,
    monitor::{Alert, Monitor},
    name::Name,
    settings::SettingsPatch,
    upstream::Upstream,
};

/// Every object of one revision. It holds no secret: those are in the vault, under the ids that stand here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Configuration {
    /// Settings that were set.
    pub settings: SettingsPatch,
    /// The revision that last changed the settings.
    #[serde(default)]
    pub settings_revision: Revision,
    /// Upstreams.
    pub upstreams: Vec<Upstream>,
    /// Groups.
    pub groups: Vec<Group>,
    /// Access keys.
    pub keys: Vec<AccessKey>,
    /// Monitors.
    pub monitors: Vec<Monitor>,
    /// Alert targets.
    pub alerts: Vec<Alert>,
}

impl Default for Revision {
    fn default() -> Self {
        Self(0)
    }
}

impl Configuration {
    /// The upstream of this id.
    pub fn upstream(&self, id: UpstreamId) -> Option<&Upstream> {
        self.upstreams.iter().find(|u| u.id == id)
    }

    /// The upstream of this name, without regard to case.
    pub fn upstream_named(&self, name: &Name) -> Option<&Upstream> {
        let fold = name.fold();
        self.upstreams.iter().find(|u| u.name.fold() == fold)
    }

    /// The group of this id.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.iter().find(|g| g.id == id)
    }

    /// The group of this name, without regard to case.
    pub fn group_named(&self, name: &Name) -> Option<&Group> {
        let fold = name.fold();
        self.groups.iter().find(|g| g.name.fold() == fold)
    }

    /// The key of this id.
    pub fn key(&self, id: KeyId) -> Option<&AccessKey> {
        self.keys.iter().find(|k| k.id == id)
    }

    /// The key of this name, without regard to case.
    pub fn key_named(&self, name: &Name) -> Option<&AccessKey> {
        let fold = name.fold();
        self.keys.iter().find(|k| k.name.fold() == fold)
    }
}
