//! Secrets as they were read from the vault and the environment, kept so that a publish need not ask again.

use std::collections::{HashMap, HashSet};

use headgate_domain::{
    Configuration, Revision, Secret, masked::MaskedUrl, settings::FETCH_PROXY_ACCOUNT, upstream::CredentialSource,
};
use headgate_vault::{Vault, VaultError};

use crate::snapshot::{Resolved, env_account};

/// What was read, with the revision of the object it belongs to: a changed object is read again.
#[derive(Default)]
pub struct SecretCache {
    resolved: Resolved,
    read_at: HashMap<String, Revision>,
}

/// The vault accounts a configuration needs, with the revision of their object.
pub(super) fn accounts(configuration: &Configuration) -> Vec<(String, Revision)> {
    let mut all = Vec::new();
    for u in &configuration.upstreams {
        let vault = u.credentials.iter().filter(|c| c.source == CredentialSource::Vault);
        all.extend(vault.map(|c| (c.account(), Revision(0))));
        all.extend(u.spec.headers.keys().map(|h| (u.header_account(h), u.revision)));
        all.extend(u.spec.billing.access_token.as_ref().map(|_| (u.access_token_account(), u.revision)));
        all.extend(u.spec.proxy.as_ref().filter(|p| p.is_mask()).map(|_| (u.proxy_account(), u.revision)));
    }
    for a in &configuration.alerts {
        let secret = a.spec.secret.as_ref().map(|_| "secret");
        all.extend(["url"].into_iter().chain(secret).map(|field| (a.account(field), a.revision)));
    }
    if configuration.settings.fetch_proxy.iter().flatten().any(MaskedUrl::is_mask) {
        all.push((FETCH_PROXY_ACCOUNT.to_owned(), configuration.settings_revision));
    }
    all
}

impl SecretCache {
    /// Reads what is not known yet; gives the last error of the vault, whose accounts stay missing.
    pub async fn resolve(&mut self, vault: &Vault, configuration: &Configuration) -> Option<VaultError> {
        let wanted = accounts(configuration);
        let names: HashSet<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
        self.resolved.retain(|name, _| names.contains(name.as_str()));
        let mut failed = None;
        for (account, revision) in &wanted {
            if self.resolved.contains_key(account) && self.read_at.get(account) == Some(revision) {
                continue;
            }
            match vault.get(account).await {
                Ok(Some(secret)) => {
                    self.resolved.insert(account.clone(), secret);
                    self.read_at.insert(account.clone(), *revision);
                }
                Ok(None) => {
                    tracing::warn!(vault.account = %account, "there is no such item in the vault; what needs it is missing");
                    self.resolved.remove(account);
                }
                Err(why) => {
                    self.resolved.remove(account);
                    failed = Some(why);
                }
            }
        }
        // The environment is read at each publish.
        for name in configuration.upstreams.iter().flat_map(|u| &u.credentials).filter_map(|c| match &c.source {
            CredentialSource::Env(name) => Some(name),
            CredentialSource::Vault => None,
        }) {
            match std::env::var(name).ok().filter(|text| !text.trim().is_empty()) {
                Some(text) => drop(self.resolved.insert(env_account(name), Secret::new(text))),
                None => {
                    tracing::warn!(variable = %name, "the environment has no such variable; the credential is missing")
                }
            }
        }
        failed
    }

    /// What is known.
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// Takes over a secret that has just been put into the vault.
    pub fn forget(&mut self, account: &str) {
        self.resolved.remove(account);
        self.read_at.remove(account);
    }
}
