//! An access key: what a client shows, and what it may do.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    group::Budget,
    id::{GroupId, KeyId, Revision},
    name::Name,
    pattern,
    upstream::{Limits, is_default, is_true, yes},
};

/// HMAC-SHA-256 of an access key under the installation's pepper. The key itself is never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyHash(pub [u8; 32]);

impl Serialize for KeyHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            let _ = write!(text, "{byte:02x}");
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for KeyHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(serde::de::Error::custom("a key hash has 64 hexadecimal digits"));
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = text
                .get(at * 2..at * 2 + 2)
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .ok_or_else(|| serde::de::Error::custom("a key hash has 64 hexadecimal digits"))?;
        }
        Ok(Self(bytes))
    }
}

/// Everything of a key but its identity and secret. `R` is how its group is named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeySpec<R> {
    /// The group its requests go to.
    pub group: R,
    /// Switched on.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// From then on it is invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// Models it may ask for; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
    /// Regions allowed; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<Vec<String>>,
    /// Only upstreams with one of these labels; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Limits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// Budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

impl<R> KeySpec<R> {
    /// A key to a group, without any limit.
    pub fn of(group: R) -> Self {
        Self {
            group,
            enabled: true,
            expires_at: None,
            models: None,
            regions: None,
            labels: None,
            limits: Limits::default(),
            budget: None,
        }
    }

    /// Whether the key may ask for this model.
    pub fn allows_model(&self, model: &str) -> bool {
        self.models.as_ref().is_none_or(|list| list.iter().any(|p| pattern::matches(p, model)))
    }

    /// Whether the key is valid at `now`.
    pub fn is_valid_at(&self, now: DateTime<Utc>) -> bool {
        self.enabled && self.expires_at.is_none_or(|end| now < end)
    }

    /// The same with the group named otherwise.
    pub fn with_group<S>(self, group: S) -> KeySpec<S> {
        KeySpec {
            group,
            enabled: self.enabled,
            expires_at: self.expires_at,
            models: self.models,
            regions: self.regions,
            labels: self.labels,
            limits: self.limits,
            budget: self.budget,
        }
    }
}

/// An access key as it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AccessKey {
    /// Identity for history.
    pub id: KeyId,
    /// Identity for files.
    pub name: Name,
    /// The revision that last changed it.
    pub revision: Revision,
    /// The name under which a file last listed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_name: Option<Name>,
    /// What is kept of the key.
    #[schema(value_type = String)]
    pub hash: KeyHash,
    /// Its first characters, for people: `hg-abcd…`.
    pub prefix: String,
    /// Everything else.
    pub spec: KeySpec<GroupId>,
}

/// Checks the form of an access key: `hg-` and 20–125 of `[A-Za-z0-9_-]`.
pub fn check_secret(text: &str) -> Result<(), &'static str> {
    let rest = text.strip_prefix("hg-").ok_or("an access key begins with hg-")?;
    if !(20..=125).contains(&rest.len()) {
        return Err("an access key has 20 to 125 characters after hg-");
    }
    if !rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        return Err("an access key has only letters, digits, _ and - after hg-");
    }
    Ok(())
}

/// What may be shown of an access key.
pub fn display_prefix(secret: &str) -> String {
    format!("{}…", secret.chars().take(9).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_key_has_its_form() {
        assert!(check_secret("hg-abcdefghij0123456789").is_ok());
        for bad in [
            "sk-abcdefghij0123456789",
            "hg-short",
            "hg-abcdefghij012345678 ",
            "hg-",
            &format!("hg-{}", "a".repeat(126)),
        ] {
            assert!(check_secret(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_hash_reads_as_it_is_written() {
        let hash = KeyHash([7; 32]);
        let text = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<KeyHash>(&text).unwrap(), hash);
    }
}
