//! A text that must not be seen.

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A credential in memory: wiped when dropped, and without `Debug`, `Display` or `Serialize`, so that it cannot
/// reach a log, an error or an export by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes over the text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself. Call this only where it leaves for its purpose (a header, the vault).
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
