//! Currencies, as codes: amounts of different ones are never added.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A currency's code: 2 to 8 capital letters or digits, such as `USD`, `CNY`, or a relay's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, examples("USD"))]
pub struct Currency([u8; 8]);

impl Currency {
    /// The dollar, in which price lists are kept.
    pub const USD: Self = Self(*b"USD\0\0\0\0\0");

    /// The code, filled up with zeros.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|b| *b == 0).unwrap_or(self.0.len());
        self.0.get(..end).and_then(|code| std::str::from_utf8(code).ok()).unwrap_or_default()
    }
}

impl Default for Currency {
    fn default() -> Self {
        Self::USD
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is no currency's code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a currency code such as USD or CNY")]
pub struct NotACurrency(String);

impl FromStr for Currency {
    type Err = NotACurrency;
    fn from_str(text: &str) -> Result<Self, NotACurrency> {
        let code = text.trim().to_ascii_uppercase();
        let fits = (2..=8).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphanumeric());
        if !fits {
            return Err(NotACurrency(text.chars().take(20).collect()));
        }
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(code.bytes()) {
            *to = from;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Currency {
    type Error = NotACurrency;
    fn try_from(text: String) -> Result<Self, NotACurrency> {
        text.parse()
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_in_either_case_and_nothing_else_is_one() {
        assert_eq!("usd".parse(), Ok(Currency::USD));
        assert_eq!("CNY".parse::<Currency>().unwrap().to_string(), "CNY");
        for text in ["", "$", "U", "US DOLLAR", "ABCDEFGHI"] {
            assert!(text.parse::<Currency>().is_err(), "{text}");
        }
    }
}
