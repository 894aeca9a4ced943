//! Vault items that nothing leads back to any more.

use std::collections::HashSet;

use chrono::{DateTime, Duration, Utc};
use headgate_domain::{Configuration, Revision};
use headgate_store::DatabaseError;

use super::secrets::accounts;
use crate::shared::Shared;

/// How long a removed object can be brought back, with its secrets.
const KEPT_DAYS: i64 = 30;
/// Revisions looked at in one go.
const PAGE: i64 = 100;

/// Collects, revision by revision from the newest on, which accounts are needed and which are left over.
#[derive(Default)]
struct Left {
    needed: HashSet<String>,
    over: HashSet<String>,
}

impl Left {
    /// Takes a revision that was replaced at a time (none: it is the newest).
    fn take(&mut self, configuration: &Configuration, replaced: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        let recent = replaced.is_none_or(|at| now - at < Duration::days(KEPT_DAYS));
        let names = accounts(configuration).into_iter().map(|(name, _)| name);
        if recent { self.needed.extend(names) } else { self.over.extend(names) }
    }

    /// What no recent revision needs.
    fn stale(self) -> Vec<String> {
        self.over.into_iter().filter(|name| !self.needed.contains(name)).collect()
    }
}

impl Shared {
    /// Removes the vault items that only revisions need which were replaced more than 30 days ago.
    pub async fn tidy_vault(&self) {
        match self.stale_accounts().await {
            Ok(stale) => {
                for account in stale {
                    if let Err(why) = self.control.vault.delete(&account).await {
                        tracing::debug!(error = %why, "a vault item that is no longer needed could not be removed");
                        return;
                    }
                }
            }
            Err(why) => tracing::debug!(error = %why, "the vault was not tidied: the database is away"),
        }
    }

    async fn stale_accounts(&self) -> Result<Vec<String>, DatabaseError> {
        let Ok(database) = self.control.database() else { return Ok(Vec::new()) };
        let now = self.clock.wall();
        let (mut left, mut before, mut replaced) = (Left::default(), None::<Revision>, None);
        loop {
            let page = database.revisions(PAGE, before).await?;
            let Some(last) = page.last().map(|r| r.id) else { return Ok(left.stale()) };
            for record in page {
                if let Some((_, configuration)) = database.revision(record.id).await? {
                    left.take(&configuration, replaced, now);
                }
                replaced = Some(record.created_at);
            }
            before = Some(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_header(id: i64) -> Configuration {
        let upstream = serde_json::json!({"id": id, "name": format!("u{id}"), "revision": 1, "credentials": [],
            "next_credential": 1, "spec": {"base_url": "https://a.example", "headers": {"x-a": "***"}}});
        let mut configuration = Configuration::default();
        configuration.upstreams.push(serde_json::from_value(upstream).unwrap());
        configuration
    }

    #[test]
    fn only_what_no_recent_revision_needs_is_removed() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let days = |n| Some(now - Duration::days(n));
        let mut left = Left::default();
        left.take(&with_header(1), None, now);
        left.take(&with_header(2), days(29), now);
        left.take(&with_header(1), days(31), now);
        left.take(&with_header(2), days(40), now);
        assert!(Left { needed: left.needed.clone(), over: left.over.clone() }.stale().is_empty());
        left.take(&with_header(3), days(50), now);
        let stale = left.stale();
        assert!(stale.len() == 1 && stale[0].contains('3'), "{stale:?}");
    }
}
