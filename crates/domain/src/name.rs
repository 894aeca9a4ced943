//! Names: the identity of objects in configuration files.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A name of an upstream, group or key: 1–64 characters, unique per kind without regard to case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, min_length = 1, max_length = 64)]
pub struct Name(String);

/// Why a text is not a name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NameError {
    /// Empty, or longer than 64 characters.
    #[error("a name has 1 to 64 characters, this one has {0}")]
    Length(usize),
    /// Control characters, a slash, or white space at either end.
    #[error("a name may not contain control characters or '/', nor begin or end with white space")]
    Characters,
}

impl Name {
    /// Checks the rules of a name.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        let length = text.chars().count();
        if length == 0 || length > 64 {
            return Err(NameError::Length(length));
        }
        if text.trim() != text || text.chars().any(|c| c.is_control() || c == '/') {
            return Err(NameError::Characters);
        }
        Ok(Self(text))
    }

    /// The name of what the gateway itself does.
    pub fn ours() -> Self {
        Self("Headgate".to_owned())
    }

    /// The form in which names are compared: two names with the same fold are the same object.
    pub fn fold(&self) -> String {
        self.0.to_lowercase()
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_to_sixty_four_characters_without_controls() {
        assert!(Name::new("relay-a").is_ok());
        assert!(Name::new("中".repeat(64)).is_ok());
        assert_eq!(Name::new(""), Err(NameError::Length(0)));
        assert_eq!(Name::new("x".repeat(65)), Err(NameError::Length(65)));
        for bad in ["a\nb", " a", "a ", "a/b"] {
            assert_eq!(Name::new(bad), Err(NameError::Characters), "{bad:?}");
        }
    }
}
