//! What a change would make of the configuration. Nothing is stored and nothing changes.

use headgate_domain::{Configuration, GroupId, file};
use serde_json::{Map, Value};

use super::{ApplyOptions, ControlError, Section, edit::merged};
use crate::shared::Shared;

impl Shared {
    /// The configuration after a file.
    pub async fn draft(&self, text: &str, prune: bool) -> Result<Configuration, ControlError> {
        let file = file::parse(text).map_err(ControlError::Invalid)?;
        let (revision, current) = self.latest().await?;
        let options = ApplyOptions { dry_run: true, prune, allow_recreate: true, expect_revision: None };
        Ok(self.plan(&current, file, options, revision).await?.next)
    }

    /// The configuration after a change of one group: a JSON merge patch over the group as a file spells it.
    pub async fn draft_group(&self, id: GroupId, patch: &Map<String, Value>) -> Result<Configuration, ControlError> {
        let (revision, current) = self.latest().await?;
        let (base, file, _) = merged(Section::Groups, Some((id.0, None)), patch, &current)?;
        let options = ApplyOptions { dry_run: true, allow_recreate: true, ..ApplyOptions::default() };
        Ok(self.plan(&base, file, options, revision).await?.next)
    }
}
