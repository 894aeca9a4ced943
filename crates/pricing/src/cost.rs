//! What one usage costs. Each request is priced by itself, because prices depend on its length; sums are made of
//! costs, never of tokens.

use headgate_domain::Usage;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use utoipa::ToSchema;

use crate::{
    currency::Currency,
    rates::{Entry, Part, Service},
};

/// What of a usage could not be priced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "why", content = "part", rename_all = "snake_case")]
pub enum Gap {
    /// There were such tokens, and the entry has no price for them.
    NoPrice(Part),
    /// The answer did not say how many there were.
    NotReported(Part),
}

/// A priced usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// The currency of all amounts.
    pub currency: Currency,
    /// Input tokens that no cache had to do with.
    pub fresh: Decimal,
    /// Read from a cache.
    pub read: Decimal,
    /// Written to a cache for five minutes, or for a time not said.
    pub write: Decimal,
    /// Written to a cache for an hour.
    pub write_hour: Decimal,
    /// Output, without reasoning that has a price of its own.
    pub output: Decimal,
    /// Reasoning that has a price of its own.
    pub reasoning: Decimal,
    /// The request itself.
    pub request: Decimal,
    /// What is not in these amounts.
    pub gaps: SmallVec<[Gap; 2]>,
}

impl Cost {
    /// All amounts together.
    pub fn total(&self) -> Decimal {
        self.fresh + self.read + self.write + self.write_hour + self.output + self.reasoning + self.request
    }

    /// Whether everything is in it; otherwise the total is a lower bound.
    pub fn is_complete(&self) -> bool {
        self.gaps.is_empty()
    }
}

/// The cost of a usage by the rates of a model; `None` where nothing was reported, which says nothing about the cost.
///
/// Cache reads and writes that were not reported count as none: most protocols leave out what did not happen. Input
/// and output that were not reported are gaps.
pub fn cost(entry: &Entry, usage: &Usage, service: Service) -> Option<Cost> {
    if !usage.is_reported() {
        return None;
    }
    let input = usage.input();
    let mut gaps = SmallVec::new();
    let mut amount = |part: Part, count: u64| -> Decimal {
        if count == 0 {
            return Decimal::ZERO;
        }
        match entry.rate(part, service, input) {
            Some(price) => price.checked_mul(count.into()).map_or(Decimal::MAX, |sum| (sum / part.per()).normalize()),
            None => {
                gaps.push(Gap::NoPrice(part));
                Decimal::ZERO
            }
        }
    };
    let output = usage.output.unwrap_or(0);
    // Reasoning is part of the output; only where it has its own price is it counted apart.
    let apart = match entry.rate(Part::Reasoning, service, input) {
        Some(_) => usage.reasoning.unwrap_or(0).min(output),
        None => 0,
    };
    let cost = Cost {
        currency: entry.currency,
        fresh: amount(Part::Fresh, usage.fresh.unwrap_or(0)),
        read: amount(Part::Read, usage.read.unwrap_or(0)),
        // A cache whose life was not said is the usual one of five minutes.
        write: amount(Part::Write, usage.write_5m.unwrap_or(0).saturating_add(usage.write_other.unwrap_or(0))),
        write_hour: amount(Part::WriteHour, usage.write_1h.unwrap_or(0)),
        output: amount(Part::Output, output - apart),
        reasoning: amount(Part::Reasoning, apart),
        request: entry.rate(Part::Request, service, input).unwrap_or_default(),
        gaps: SmallVec::new(),
    };
    if usage.input() == 0 && usage.fresh.is_none() {
        gaps.push(Gap::NotReported(Part::Fresh));
    }
    if usage.output.is_none() {
        gaps.push(Gap::NotReported(Part::Output));
    }
    Some(Cost { gaps, ..cost })
}
