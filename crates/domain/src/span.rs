//! Durations as people write them: `10s`, `5m`, `7d`, `300ms`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// A duration that is written and read as text (`10s`, `1h 30m`, `500ms`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(value_type = String, examples("10s"))]
pub struct Span(pub Duration);

impl Span {
    /// Whole milliseconds.
    pub const fn millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// Whole seconds.
    pub const fn secs(s: u64) -> Self {
        Self(Duration::from_secs(s))
    }
}

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "0" {
            return Ok(Self(Duration::ZERO));
        }
        humantime::parse_duration(text)
            .map(Self)
            .map_err(|_| format!("'{text}' is not a duration; write it like 10s, 5m, 2h, 7d or 300ms"))
    }
}

impl fmt::Display for Span {
    /// The largest unit that divides the duration without a rest, so that `7d` stays `7d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis();
        for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] {
            if ms >= size && ms.is_multiple_of(size) {
                return write!(f, "{}{unit}", ms / size);
            }
        }
        if ms == 0 { f.write_str("0s") } else { write!(f, "{ms}ms") }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Span;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as 10s, 5m or 7d")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Span, E> {
                if number == 0 {
                    Ok(Span(Duration::ZERO))
                } else {
                    Err(E::custom(format!("a duration needs its unit: {number}s, {number}m or {number}ms")))
                }
            }
        }
        deserializer.deserialize_any(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_they_are_written() {
        for text in ["10s", "5m", "2h", "7d", "300ms", "90s", "0s"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        assert_eq!("1h 30m".parse::<Span>().unwrap().to_string(), "90m");
    }

    #[test]
    fn a_number_without_unit_is_refused_with_the_remedy() {
        let error = serde_json::from_str::<Span>("10").unwrap_err().to_string();
        assert!(error.contains("10s"), "{error}");
    }
}
