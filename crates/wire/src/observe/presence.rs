//! Whether a member holds anything, and how much text, without keeping it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A non-empty text, list or map is something; `null`, numbers and booleans are nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Filled {
    /// It holds something.
    pub(super) any: bool,
    /// Bytes of a text.
    pub(super) bytes: u64,
}

impl Filled {
    const fn unless(empty: bool) -> Self {
        Self { any: !empty, bytes: 0 }
    }
}

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Look;
        impl<'de> Visitor<'de> for Look {
            type Value = Filled;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E>(self, text: &str) -> Result<Filled, E> {
                Ok(Filled { any: !text.is_empty(), bytes: text.len() as u64 })
            }
            fn visit_unit<E>(self) -> Result<Filled, E> {
                Ok(Filled::default())
            }
            fn visit_bool<E>(self, _: bool) -> Result<Filled, E> {
                Ok(Filled::default())
            }
            fn visit_i64<E>(self, _: i64) -> Result<Filled, E> {
                Ok(Filled::default())
            }
            fn visit_u64<E>(self, _: u64) -> Result<Filled, E> {
                Ok(Filled::default())
            }
            fn visit_f64<E>(self, _: f64) -> Result<Filled, E> {
                Ok(Filled::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Filled, A::Error> {
                let mut any = false;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    any = true;
                }
                Ok(Filled::unless(!any))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Filled, A::Error> {
                let mut any = false;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    any = true;
                }
                Ok(Filled::unless(!any))
            }
        }
        deserializer.deserialize_any(Look)
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
        assert_eq!(serde_json::from_str::<Filled>("\"aé\"").unwrap().bytes, 3);
    }
}
