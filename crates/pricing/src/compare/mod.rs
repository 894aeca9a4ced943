//! Whether an upstream charged what it said it would: two tracks of evidence over a span of time.
//!
//! *List track*: our own estimate of the list price against the list price the upstream states. *Billing track*: what
//! was charged against list price × multiplier. Both are added up over pairs of neighbouring snapshots, so that a reset
//! counter, a top-up or a changed key spoils its own pair only. Nothing is concluded from what is missing: the
//! tolerance grows with it, and where it is too much the verdict is that one cannot tell.

pub mod charges;
mod pair;
#[cfg(test)]
mod tests;
mod verdict;

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::{
    pair::Counted,
    verdict::{compare, counted, spent},
};
use crate::{by_hand::MOST_MULTIPLIER, currency::Currency, schedule::Multiplier};

/// Whose traffic a figure covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostScope)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This key's alone.
    Key,
    /// The whole account's: other keys' too.
    #[default]
    Account,
}

/// What an upstream said of itself at a moment. Absent figures were not said; a zero was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When.
    pub at: DateTime<Utc>,
    /// Something that differs between two keys or accounts, such as the credential's id.
    pub key: u64,
    /// The currency of all amounts.
    pub currency: Currency,
    /// List price of all so far.
    pub list: Option<Decimal>,
    /// What was charged for all so far.
    pub charged: Option<Decimal>,
    /// How many requests so far.
    pub requests: Option<u64>,
    /// What is left.
    pub remaining: Option<Decimal>,
    /// The multiplier it states from now on, with its schedule.
    pub multiplier: Option<Multiplier>,
    /// Whose the counters are.
    pub counters: Scope,
    /// Whose the balance is.
    pub balance: Scope,
}

/// Amounts beyond this are no money: a thousand billion.
const MOST: Decimal = Decimal::from_parts(3_567_587_328, 232, 0, false, 0);

impl Snapshot {
    /// The same without figures that cannot be: an upstream may say anything, and products of what it says must stay
    /// within the range of decimals.
    fn within_reason(&self) -> Self {
        let amount = |said: Option<Decimal>| said.filter(|n| n.abs() <= MOST).map(|n| n.round_dp(12));
        let factor = |n: Decimal| (!n.is_sign_negative() || n.is_zero()) && n <= MOST_MULTIPLIER;
        let multiplier = self.multiplier.clone().filter(|m| {
            factor(m.base) && m.peak.as_ref().is_none_or(|p| factor(p.factor) && factor(m.base * p.factor))
        });
        Self {
            list: amount(self.list),
            charged: amount(self.charged),
            remaining: amount(self.remaining),
            multiplier,
            ..self.clone()
        }
    }
}

/// One attempt of ours that the upstream may have charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// When it ended.
    pub at: DateTime<Utc>,
    /// Its list price by the tokens the upstream reported, in the snapshots' currency; none: cannot be told.
    pub list: Option<Decimal>,
    /// Whether that has all parts; otherwise it is a lower bound.
    pub complete: bool,
    /// The most its list price can be by what we counted ourselves, where that was done.
    pub observed_at_most: Option<Decimal>,
}

/// A span of time: later than `from`, up to and with `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostWindow)]
#[expect(missing_docs, reason = "see above")]
pub struct Window {
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
}

/// Why a pair of snapshots, or a part of it, was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[schema(as = CostSkip)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// Another key or account.
    KeyChanged,
    /// Another currency.
    CurrencyChanged,
    /// A counter went backwards.
    CounterReset,
    /// The balance rose.
    TopUp,
    /// Two snapshots of the same moment.
    NoTime,
}

/// The figure a track rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostBasis)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The upstream's own counters.
    Reported,
    /// Our own estimate of the list price.
    Local,
    /// Falls of the balance.
    Balance,
}

/// How it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostStatus)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing speaks against the bill.
    Ok,
    /// More was charged, or stated, than explained.
    Warning,
    /// Too little is known.
    CannotTell,
}

/// Why it looks so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostReason)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Charged as said.
    AsExpected,
    /// Nothing was charged and nothing used.
    Idle,
    /// More was charged than list price × multiplier.
    ChargedExceeded,
    /// The list price stated is above that of the tokens reported.
    ListExceeded,
    /// The tokens reported are more than passed through.
    TokensExceeded,
    /// More was charged than our own estimate × multiplier; the upstream states no list price, so this is no proof.
    ChargedExceededLocalBasis,
    /// More was charged than expected, and the multiplier changed at an unknown time in between.
    MultiplierChanged,
    /// There are no two snapshots.
    NoSnapshots,
    /// No pair of snapshots can be compared.
    NoUsablePair,
    /// The upstream says no multiplier.
    MultiplierUnknown,
    /// The upstream says neither what was charged nor what is left.
    ChargedUnknown,
    /// There is neither a stated list price nor enough of our own estimate.
    ListUnknown,
    /// The excess may be that of other traffic on the same key or account.
    TrafficElsewhere,
}

/// How much of our own traffic could be priced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostCoverage)]
pub struct Coverage {
    /// Attempts in the pairs compared.
    pub requests: u64,
    /// Those of them with a price for every part.
    pub priced: u64,
    /// `priced / requests`; 1 without requests.
    #[schema(value_type = String)]
    pub share: Decimal,
    /// Part of the window that the pairs compared cover.
    #[schema(value_type = String)]
    pub time: Decimal,
}

/// Our estimate of the list price against the stated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListTrack {
    /// Our estimate, extended to what could not be priced.
    #[schema(value_type = String)]
    pub local: Decimal,
    /// Of it, what could be priced.
    #[schema(value_type = String)]
    pub local_priced: Decimal,
    /// What the upstream states.
    #[schema(value_type = String)]
    pub reported: Decimal,
    /// Stated − estimated.
    #[schema(value_type = String)]
    pub deviation: Decimal,
    /// Deviation ÷ the larger of both.
    #[schema(value_type = String)]
    pub rate: Decimal,
    /// What the deviation may be.
    #[schema(value_type = String)]
    pub tolerance: Decimal,
}

/// What was charged against list price × multiplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BillingTrack {
    /// What the list price is from.
    pub basis: Basis,
    /// The list price.
    #[schema(value_type = String)]
    pub list: Decimal,
    /// What the charged amount is from.
    pub charged_from: Basis,
    /// The charged amount.
    #[schema(value_type = String)]
    pub charged: Decimal,
    /// List price × multiplier, pair by pair.
    #[schema(value_type = String)]
    pub expected: Decimal,
    /// Charged ÷ list price; none without one.
    #[schema(value_type = Option<String>)]
    pub observed_multiplier: Option<Decimal>,
    /// Charged − expected.
    #[schema(value_type = String)]
    pub deviation: Decimal,
    /// Deviation ÷ expected; none if nothing was expected.
    #[schema(value_type = Option<String>)]
    pub rate: Option<Decimal>,
    /// What the deviation may be.
    #[schema(value_type = String)]
    pub tolerance: Decimal,
}

/// The evidence and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CostComparison)]
pub struct Comparison {
    /// How it looks.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// What was asked about.
    pub window: Window,
    /// The currency of all amounts.
    pub currency: Currency,
    /// Snapshots used, that before the window included.
    pub snapshots: usize,
    /// Pairs compared.
    pub pairs: usize,
    /// What was left out, and how often.
    pub skipped: Vec<(Skip, usize)>,
    /// How much of our own traffic could be priced.
    pub coverage: Coverage,
    /// Whose the counters are.
    pub counters: Scope,
    /// Whose the balance is.
    pub balance: Scope,
    /// The newest multiplier known, at the end of the window.
    #[schema(value_type = Option<String>)]
    pub multiplier: Option<Decimal>,
    /// The stated one changed within the window, at a time that nobody knows.
    pub multiplier_changed: bool,
    /// The list track, if both sides are there.
    pub list: Option<ListTrack>,
    /// The billing track, if both sides are there.
    pub billing: Option<BillingTrack>,
    /// Stated list price that our own traffic does not explain and that need not be ours.
    #[schema(value_type = Option<String>)]
    pub elsewhere: Option<Decimal>,
}
