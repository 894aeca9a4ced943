//! A configuration file read alone, where nothing of it is stored.

use std::collections::HashMap;

use crate::{
    configuration::Configuration,
    file::{self, CredentialEntry, Problem},
    id::Revision,
    key::KeyHash,
    plan::{self, Inputs, Options},
    secret::Secret,
};

/// The configuration that a file describes, with ids of its own: for programs that only look at it.
///
/// # Errors
///
/// What is wrong with the file, each with its path.
pub fn read(text: &str) -> Result<Configuration, Vec<Problem>> {
    let mut file = file::parse(text)?;
    // What is stored cannot be known here: references to it are taken for good.
    for upstream in &mut file.upstreams {
        for credential in upstream.credentials.iter_mut().flatten() {
            if let CredentialEntry::Vault(name) = credential {
                *credential = CredentialEntry::Value(Secret::new(format!("stored {name}")));
            }
        }
        upstream.spec.headers.values_mut().filter(|v| v.is_mask()).for_each(|v| v.reveal("stored"));
        if let Some(proxy) = upstream.spec.proxy.as_mut().filter(|p| p.is_mask()) {
            let plain = proxy.expose().replace("***@", "");
            proxy.reveal(&plain);
        }
    }
    for alert in file.alerts.iter_mut().flatten() {
        if alert.url.is_mask() {
            alert.url.reveal("https://stored.invalid/");
        }
        if let Some(secret) = alert.secret.as_mut().filter(|s| s.is_mask()) {
            secret.reveal("stored");
        }
    }
    if let Some(Some(proxy)) = file.settings.fetch_proxy.as_mut().map(Option::as_mut)
        && proxy.is_mask()
    {
        let plain = proxy.expose().replace("***@", "");
        proxy.reveal(&plain);
    }
    let mut last = 0;
    let mut ids = || {
        last += 1;
        last
    };
    let mut made = 0;
    let mut generate_key = || {
        made += 1;
        Secret::new(format!("hg-to-be-generated-{made:08}"))
    };
    let inputs = Inputs {
        ids: &mut ids,
        stored: &HashMap::new(),
        hash_key: &different_for_different,
        generate_key: &mut generate_key,
    };
    plan::plan(&Configuration::default(), file, Options::default(), inputs, Revision(1)).map(|plan| plan.next)
}

/// Only says whether two keys are the same; nothing is stored.
fn different_for_different(key: &Secret) -> KeyHash {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut bytes = [0; 32];
    for (salt, part) in bytes.chunks_exact_mut(8).enumerate() {
        let mut hasher = DefaultHasher::new();
        (salt, key.expose()).hash(&mut hasher);
        part.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    KeyHash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_legal_although_nothing_is_stored_here() {
        let text = "version: 1\nupstreams:\n  - { name: a, base_url: 'https://a.example', credentials: [ { vault: a/1 } ], headers: { x-a: '***' }, proxy: 'http://***@127.0.0.1:1' }\ngroups: [ { name: g, members: [ { upstream: a } ] } ]\nkeys: [ { name: k, group: g }, { name: l, group: g } ]\n";
        let next = read(text).unwrap_or_else(|p| panic!("{p:?}"));
        assert_eq!(next.keys.len(), 2);
    }

    #[test]
    fn the_same_key_twice_is_a_problem() {
        let text = "version: 1\ngroups: [ { name: g } ]\nkeys: [ { name: k, group: g, secret: hg-01234567890123456789 }, { name: l, group: g, secret: hg-01234567890123456789 } ]\n";
        assert!(read(text).unwrap_err().iter().any(|p| p.message.contains("same as another")));
    }
}
