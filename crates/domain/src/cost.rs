//! What an attempt used and cost, as it stands in its record: tokens, the amount, and by which price it came about.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::{
    protocol::Protocol,
    usage::{ServiceTier, Usage},
};

/// Where the numbers of tokens are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The upstream reported them.
    Reported,
    /// The upstream reported none; they are estimated by what passed through (a token for every four bytes of text).
    Observed,
}

/// [`Usage`] under the names of its columns; absent counters were not reported. The `observed_…` are estimates
/// by what passed through, whatever was reported.
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[expect(missing_docs, reason = "see Usage")]
pub struct UsageColumns {
    pub tokens_fresh: Option<i64>,
    pub tokens_read: Option<i64>,
    pub tokens_write_5m: Option<i64>,
    pub tokens_write_1h: Option<i64>,
    pub tokens_write_other: Option<i64>,
    pub tokens_output: Option<i64>,
    pub tokens_reasoning: Option<i64>,
    pub usage_wire: Option<Protocol>,
    pub usage_source: Option<UsageSource>,
    pub service_tier: Option<ServiceTier>,
    pub observed_input: Option<i64>,
    pub observed_output: Option<i64>,
}

impl UsageColumns {
    /// Notes what passed through: the estimated tokens of the prompt, and the bytes of text that came back.
    pub fn observe(&mut self, input: Option<i64>, output_bytes: u64) {
        // The rule of thumb that the prompt is estimated by, too.
        self.observed_output = i64::try_from(output_bytes.div_ceil(4)).ok();
        self.observed_input = input;
        if self.usage_source.is_none() && output_bytes > 0 {
            self.usage_source = Some(UsageSource::Observed);
        }
    }

    /// The tokens to price: those reported, else those observed.
    pub fn to_price(&self) -> Usage {
        let count = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        if self.usage_source == Some(UsageSource::Observed) {
            let (fresh, output) = (count(self.observed_input), count(self.observed_output));
            return Usage { fresh, output, ..Usage::default() };
        }
        Usage {
            fresh: count(self.tokens_fresh),
            read: count(self.tokens_read),
            write_5m: count(self.tokens_write_5m),
            write_1h: count(self.tokens_write_1h),
            write_other: count(self.tokens_write_other),
            output: count(self.tokens_output),
            reasoning: count(self.tokens_reasoning),
            wire: self.usage_wire,
            tier: self.service_tier,
        }
    }
}

impl From<&Usage> for UsageColumns {
    fn from(usage: &Usage) -> Self {
        let column = |n: Option<u64>| n.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        Self {
            tokens_fresh: column(usage.fresh),
            tokens_read: column(usage.read),
            tokens_write_5m: column(usage.write_5m),
            tokens_write_1h: column(usage.write_1h),
            tokens_write_other: column(usage.write_other),
            tokens_output: column(usage.output),
            tokens_reasoning: column(usage.reasoning),
            usage_wire: usage.wire,
            usage_source: usage.is_reported().then_some(UsageSource::Reported),
            service_tier: usage.tier,
            observed_input: None,
            observed_output: None,
        }
    }
}

/// The cost of an attempt under the names of its columns. Without an amount nobody can tell.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CostColumns {
    /// The amount; a lower bound where there are gaps.
    #[schema(value_type = Option<String>, examples("0.0105"))]
    pub cost: Option<Decimal>,
    /// Its currency.
    pub cost_currency: Option<String>,
    /// What is not in it, or makes it an estimate: `no_price.cache_read`, `not_reported.output`, `cut` (the
    /// answer broke off), `estimated`; absent: nothing.
    pub cost_gaps: Option<Vec<String>>,
    /// Version of the price list in force.
    pub price_version: Option<String>,
    /// The list's name for the model, or the own rule's pattern.
    pub price_entry: Option<String>,
    /// What had to be done to the model's name to find it; absent: nothing.
    pub price_steps: Option<Vec<String>>,
    /// The own rule that set the price.
    pub price_rule: Option<i64>,
}

impl CostColumns {
    /// Whether the amount is all of it.
    pub fn is_complete(&self) -> bool {
        self.cost.is_some() && self.cost_gaps.is_none()
    }
}

/// What a request cost: the sum of its attempts.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestCost {
    /// The amount; a lower bound or an estimate unless it is complete.
    #[schema(value_type = Option<String>, examples("0.0105"))]
    pub cost: Option<Decimal>,
    /// Its currency.
    pub cost_currency: Option<String>,
    /// Whether every attempt that may have been charged for is priced in full; absent where there was none.
    pub cost_complete: Option<bool>,
}

impl RequestCost {
    /// Adds up attempts, given with whether they may have been charged for. Amounts of two currencies have no sum.
    pub fn of<'a>(attempts: impl IntoIterator<Item = (&'a CostColumns, bool)>) -> Self {
        let mut sum = Self::default();
        let mut mixed = false;
        for (one, charged) in attempts {
            if charged {
                sum.cost_complete = Some(sum.cost_complete.unwrap_or(true) && one.is_complete());
            }
            let Some(amount) = one.cost else { continue };
            mixed |= sum.cost_currency.is_some() && sum.cost_currency != one.cost_currency;
            sum.cost_currency.clone_from(&one.cost_currency);
            sum.cost = Some(sum.cost.unwrap_or_default().saturating_add(amount));
        }
        if mixed {
            return Self { cost: None, cost_currency: None, cost_complete: Some(false) };
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(amount: i64, currency: &str, gaps: Option<&str>) -> CostColumns {
        CostColumns {
            cost: Some(Decimal::new(amount, 2)),
            cost_currency: Some(currency.to_owned()),
            cost_gaps: gaps.map(|gap| vec![gap.to_owned()]),
            ..CostColumns::default()
        }
    }

    #[test]
    fn a_request_costs_what_its_attempts_cost() {
        let (a, b, none) = (one(150, "USD", None), one(25, "USD", None), CostColumns::default());
        let sum = RequestCost::of([(&none, false), (&a, true), (&b, true)]);
        assert_eq!((sum.cost, sum.cost_complete), (Some(Decimal::new(175, 2)), Some(true)));
        assert_eq!(RequestCost::of([(&a, true), (&none, true)]).cost_complete, Some(false));
        assert_eq!(RequestCost::of([(&one(1, "USD", Some("estimated")), true)]).cost_complete, Some(false));
        assert_eq!(RequestCost::of([(&none, false)]), RequestCost::default());
    }

    #[test]
    fn two_currencies_have_no_sum() {
        let sum = RequestCost::of([(&one(1, "USD", None), true), (&one(1, "CNY", None), true)]);
        assert_eq!((sum.cost, sum.cost_complete), (None, Some(false)));
    }
}
