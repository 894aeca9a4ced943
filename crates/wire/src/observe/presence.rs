//! Whether a member holds anything, and its text where that is counted.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A non-empty text, list or map is something; `null`, numbers and booleans are nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Filled {
    /// It holds something.
    pub(super) any: bool,
}

/// The same with its text, which is borrowed where it stands as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said<'a> {
    /// It holds something.
    pub(super) any: bool,
    /// Its text.
    pub(super) text: Cow<'a, str>,
}

trait Look<'de>: Sized {
    fn text(text: &str) -> Self;
    fn borrowed(text: &'de str) -> Self;
    fn other(any: bool) -> Self;
}

impl Look<'_> for Filled {
    fn text(text: &str) -> Self {
        Self { any: !text.is_empty() }
    }
    fn borrowed(text: &str) -> Self {
        Self::text(text)
    }
    fn other(any: bool) -> Self {
        Self { any }
    }
}

impl<'de> Look<'de> for Said<'de> {
    fn text(text: &str) -> Self {
        Self { any: !text.is_empty(), text: Cow::Owned(text.to_owned()) }
    }
    fn borrowed(text: &'de str) -> Self {
        Self { any: !text.is_empty(), text: Cow::Borrowed(text) }
    }
    fn other(any: bool) -> Self {
        Self { any, text: Cow::Borrowed("") }
    }
}

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Looking(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Said<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Looking::<Said<'de>>(PhantomData))
    }
}

struct Looking<T>(PhantomData<T>);

impl<'de, T: Look<'de>> Visitor<'de> for Looking<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(text))
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::borrowed(text))
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::other(false))
    }
    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::other(false))
    }
    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::other(false))
    }
    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::other(false))
    }
    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::other(false))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        let mut any = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            any = true;
        }
        Ok(T::other(any))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut any = false;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            any = true;
        }
        Ok(T::other(any))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_something_is_filled() {
        let filled = |json: &str| serde_json::from_str::<Filled>(json).unwrap().any;
        for something in ["\"a\"", "[0]", "[[],[]]", "{\"a\":null}"] {
            assert!(filled(something), "{something}");
        }
        for nothing in ["\"\"", "[]", "{}", "null", "true", "false", "1", "-1", "0.5"] {
            assert!(!filled(nothing), "{nothing}");
        }
        let said = |json: &'static str| serde_json::from_str::<Said<'_>>(json).unwrap();
        assert_eq!(said("\"aé\"").text, "aé");
        assert!(matches!(said("\"plain\"").text, Cow::Borrowed(_)));
        assert_eq!(said("\"a\\n\"").text, "a\n");
        assert!(said("{\"a\":1}").any && said("{\"a\":1}").text.is_empty());
    }
}
