//! What one model costs: rates by part, by the length of the request, and by the service asked for.

use std::{fmt, str::FromStr};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::currency::Currency;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word used in data and answers.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl FromStr for $name {
            type Err = ();
            fn from_str(word: &str) -> Result<Self, ()> {
                match word { $($word => Ok(Self::$variant),)* _ => Err(()) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

words! {
    /// What is paid for. Rates of tokens are per million, those of images and requests per piece.
    Part {
        /// Input tokens that no cache had to do with.
        Fresh = "input",
        /// Output tokens.
        Output = "output",
        /// Input tokens read from a cache.
        Read = "cache_read",
        /// Input tokens written to a cache for five minutes, or for a time not said.
        Write = "cache_write",
        /// Input tokens written to a cache for an hour.
        WriteHour = "cache_write_1h",
        /// Reasoning tokens, where they have a price of their own.
        Reasoning = "reasoning",
        /// Input tokens of pictures.
        ImageInput = "image_input",
        /// Output tokens of pictures.
        ImageOutput = "image_output",
        /// Input tokens of sound.
        AudioInput = "audio_input",
        /// Output tokens of sound.
        AudioOutput = "audio_output",
        /// A picture made.
        Image = "image",
        /// The request itself.
        Request = "request",
    }

    /// How urgently an answer was asked for.
    Service {
        /// As usual.
        Standard = "standard",
        /// Some time within a day.
        Batch = "batch",
        /// When there is room.
        Flex = "flex",
        /// Before others.
        Priority = "priority",
    }
}

impl Part {
    /// How many pieces its rate is for.
    pub fn per(self) -> Decimal {
        match self {
            Self::Image | Self::Request => Decimal::ONE,
            _ => Decimal::from(1_000_000),
        }
    }
}

/// One price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Of what.
    #[schema(value_type = String, example = "input")]
    pub part: Part,
    /// For which service.
    #[serde(default = "standard", skip_serializing_if = "is_standard")]
    #[schema(value_type = String, example = "standard")]
    pub service: Service,
    /// For requests with more input tokens than this.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub above: u32,
    /// Per million tokens, or per piece.
    #[schema(value_type = String, examples("3.75"))]
    pub price: Decimal,
}

fn standard() -> Service {
    Service::Standard
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_standard(service: &Service) -> bool {
    *service == Service::Standard
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What one model costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The currency of every rate.
    #[serde(default)]
    pub currency: Currency,
    /// In no order that matters; each (part, service, above) once.
    pub rates: Vec<Rate>,
}

/// What is wrong with an entry that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Nothing is priced.
    #[error("there is no rate")]
    Empty,
    /// A negative price.
    #[error("the price of {0} is negative")]
    Negative(Part),
    /// Larger than any price can be, so a sum could leave the range of decimals.
    #[error("the price of {0} is more than 1,000,000")]
    Huge(Part),
    /// Two prices for the same.
    #[error("{0} has two prices for the same length and service")]
    Double(Part),
}

impl Entry {
    /// An entry with plain rates of input and output per million tokens.
    pub fn plain(currency: Currency, input: Decimal, output: Decimal) -> Self {
        let rate = |part, price| Rate { part, service: Service::Standard, above: 0, price };
        Self { currency, rates: vec![rate(Part::Fresh, input), rate(Part::Output, output)] }
    }

    /// The same with one more standard rate.
    #[must_use]
    pub fn with(mut self, part: Part, price: Decimal) -> Self {
        self.rates.push(Rate { part, service: Service::Standard, above: 0, price });
        self
    }

    /// What is wrong with it.
    ///
    /// # Errors
    /// The first thing found.
    pub fn check(&self) -> Result<(), EntryError> {
        if self.rates.is_empty() {
            return Err(EntryError::Empty);
        }
        for (at, rate) in self.rates.iter().enumerate() {
            if rate.price.is_sign_negative() && !rate.price.is_zero() {
                return Err(EntryError::Negative(rate.part));
            }
            if rate.price > Decimal::from(1_000_000) {
                return Err(EntryError::Huge(rate.part));
            }
            let same = |r: &Rate| (r.part, r.service, r.above) == (rate.part, rate.service, rate.above);
            if self.rates.iter().skip(at + 1).any(same) {
                return Err(EntryError::Double(rate.part));
            }
        }
        Ok(())
    }

    /// The price of a part in a request of `input` tokens: of the longest length it exceeds, for the service asked
    /// for, or as usual where that service has no price of its own.
    pub fn rate(&self, part: Part, service: Service, input: u64) -> Option<Decimal> {
        let best = |service: Service| {
            self.rates
                .iter()
                .filter(|r| r.part == part && r.service == service && (r.above == 0 || input > u64::from(r.above)))
                .max_by_key(|r| r.above)
                .map(|r| r.price)
        };
        best(service).or_else(|| if service == Service::Standard { None } else { best(Service::Standard) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiered() -> Entry {
        let mut entry = Entry::plain(Currency::USD, Decimal::from(3), Decimal::from(15));
        for (part, service, above, price) in [
            (Part::Fresh, Service::Standard, 128_000, 5),
            (Part::Fresh, Service::Standard, 200_000, 6),
            (Part::Fresh, Service::Batch, 0, 1),
        ] {
            entry.rates.push(Rate { part, service, above, price: price.into() });
        }
        entry
    }

    #[test]
    fn a_length_is_exceeded_by_the_token_after_it() {
        let at = |input| tiered().rate(Part::Fresh, Service::Standard, input).unwrap();
        for (input, price) in [(0, 3), (128_000, 3), (128_001, 5), (200_000, 5), (200_001, 6), (u64::MAX, 6)] {
            assert_eq!(at(input), price.into(), "{input}");
        }
    }

    #[test]
    fn a_service_without_its_own_price_costs_the_usual_one() {
        let of = |part, service| tiered().rate(part, service, 10);
        assert_eq!(of(Part::Fresh, Service::Batch), Some(Decimal::ONE));
        assert_eq!(of(Part::Output, Service::Batch), Some(Decimal::from(15)));
        assert_eq!(of(Part::Read, Service::Batch), None);
    }

    #[test]
    fn what_somebody_wrote_is_checked() {
        let mut entry = tiered();
        assert_eq!(entry.check(), Ok(()));
        entry.rates.push(Rate { part: Part::Output, service: Service::Standard, above: 0, price: Decimal::ONE });
        assert_eq!(entry.check(), Err(EntryError::Double(Part::Output)));
        assert_eq!(Entry { currency: Currency::USD, rates: vec![] }.check(), Err(EntryError::Empty));
        let entry = Entry::plain(Currency::USD, Decimal::NEGATIVE_ONE, Decimal::ONE);
        assert_eq!(entry.check(), Err(EntryError::Negative(Part::Fresh)));
    }
}
