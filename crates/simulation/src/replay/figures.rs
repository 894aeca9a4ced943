//! A replay in figures.

use std::collections::BTreeMap;

use headgate_domain::UpstreamId;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

/// What an answer of a replay is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReplayBasis)]
pub enum Basis {
    /// Attempts at the same upstream within five minutes.
    Near,
    /// Attempts at the same upstream at other times.
    Overall,
    /// Nothing: the upstream was not asked in that time.
    Assumed,
}

/// Money in one currency.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ReplayAmount)]
pub struct Amount {
    /// At list prices.
    pub list: Decimal,
    /// Times multiplier ÷ credit ratio as they are now; an unknown one counts as 1.
    pub charged: Decimal,
}

/// What one upstream had of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = ReplayShare)]
pub struct Share {
    /// Attempts.
    pub attempts: u64,
    /// Those that failed or broke off.
    pub failed: u64,
    /// Requests that it answered.
    pub served: u64,
    /// What those cost, by currency.
    pub cost: BTreeMap<String, Amount>,
}

/// Times to the first output, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct FirstOutput {
    /// Half of the answers began by then.
    pub median: u64,
    /// Of a hundred, ninety-five.
    pub p95: u64,
}

/// What became of the requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = ReplayFigures)]
pub struct Figures {
    /// Requests.
    pub requests: u64,
    /// Answered by the first upstream asked.
    pub direct: u64,
    /// Answered by a later one.
    pub after_failover: u64,
    /// Failed, or broke off, before the client's eyes: by class or code.
    pub failed: BTreeMap<String, u64>,
    /// What the answers cost, by currency.
    pub cost: BTreeMap<String, Amount>,
    /// Answers that no price was found for.
    pub unpriced: u64,
    /// Answers at upstreams whose multiplier is not known.
    pub multiplier_unknown: u64,
    /// Median and 95th percentile of the time to the first output, in milliseconds.
    pub first_output_ms: Option<FirstOutput>,
    /// By upstream.
    #[schema(value_type = BTreeMap<i64, Share>)]
    pub upstreams: BTreeMap<UpstreamId, Share>,
    /// Attempts, by what their ends are known from.
    pub basis: BTreeMap<Basis, u64>,
    /// Requests that somebody else answered than the last time.
    pub moved: u64,
}

impl Figures {
    /// Requests that failed.
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Adds what an answer costs: at list price, and times multiplier ÷ credit ratio, where an unknown one counts as 1.
    pub fn add(&mut self, upstream: UpstreamId, currency: &str, list: Decimal, factor: Option<Decimal>) {
        self.multiplier_unknown += u64::from(factor.is_none());
        let charged = list.checked_mul(factor.unwrap_or(Decimal::ONE)).unwrap_or(Decimal::MAX);
        let share = self.upstreams.entry(upstream).or_default();
        for costs in [&mut share.cost, &mut self.cost] {
            let amount = costs.entry(currency.to_owned()).or_default();
            amount.list = amount.list.saturating_add(list);
            amount.charged = amount.charged.saturating_add(charged);
        }
    }

    /// Closes it with the times to the first outputs, in milliseconds.
    pub fn close(&mut self, mut first: Vec<u64>) {
        first.sort_unstable();
        let at = |percent: usize| first.get((first.len().checked_sub(1)?) * percent / 100).copied();
        self.first_output_ms = at(50).zip(at(95)).map(|(median, p95)| FirstOutput { median, p95 });
    }
}
