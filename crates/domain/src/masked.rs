//! Texts that are kept in the vault and printed as a mask everywhere else.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::secret::Secret;

/// What stands in exports, revisions and answers for a text that is kept in the vault.
pub const MASK: &str = "***";

/// A text that is a secret as a whole (a header value, a signing key). It is printed as `***`.
#[derive(Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String)]
pub struct Masked(Secret);

impl Masked {
    /// The text, or the mask if this is only a reference to what is stored.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// Whether this only says "keep what is stored".
    pub fn is_mask(&self) -> bool {
        self.0.expose() == MASK
    }

    /// Puts a stored text in the place of the mask.
    pub fn reveal(&mut self, text: &str) {
        self.0 = Secret::new(text);
    }
}

impl fmt::Debug for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Masked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

impl<'de> Deserialize<'de> for Masked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Secret::deserialize(deserializer).map(Self)
    }
}

/// A URL whose user information is secret. It is printed with `***` in its place.
#[derive(Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String)]
pub struct MaskedUrl(Secret);

impl MaskedUrl {
    /// The URL; with the mask inside if this is only a reference to what is stored.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The URL with `***` in the place of its user information.
    pub fn masked(&self) -> String {
        let text = self.0.expose();
        match (text.split_once("://"), text.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{MASK}@{host}"),
            _ => text.to_owned(),
        }
    }

    /// Whether the user information is only the mask.
    pub fn is_mask(&self) -> bool {
        self.0.expose().contains(&format!("://{MASK}@"))
    }

    /// The whole URL as a secret, when it has user information that is not the mask.
    pub fn secret(&self) -> Option<Secret> {
        (self.0.expose().contains('@') && !self.is_mask()).then(|| self.0.clone())
    }

    /// Puts the stored URL in the place of the masked one.
    pub fn reveal(&mut self, text: &str) {
        self.0 = Secret::new(text);
    }
}

impl fmt::Debug for MaskedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

impl Serialize for MaskedUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.masked())
    }
}

impl<'de> Deserialize<'de> for MaskedUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Secret::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_url_never_prints_its_user_information() {
        let url: MaskedUrl = serde_json::from_str(r#""socks5://me:p@ss@127.0.0.1:1080""#).unwrap();
        assert_eq!(serde_json::to_string(&url).unwrap(), r#""socks5://***@127.0.0.1:1080""#);
        assert_eq!(format!("{url:?}"), "socks5://***@127.0.0.1:1080");
        assert!(url.secret().is_some());
        let masked: MaskedUrl = serde_json::from_str(r#""socks5://***@127.0.0.1:1080""#).unwrap();
        assert!(masked.is_mask() && masked.secret().is_none());
        let plain: MaskedUrl = serde_json::from_str(r#""socks5://127.0.0.1:1080""#).unwrap();
        assert!(!plain.is_mask() && plain.secret().is_none());
    }
}
