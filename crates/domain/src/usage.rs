//! Token usage in canonical counters.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::protocol::Protocol;

/// How urgently an answer was given, as the upstream says; prices depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceTier {
    /// As usual.
    Standard,
    /// Some time within a day.
    Batch,
    /// When there is room.
    Flex,
    /// Before others.
    Priority,
}

impl ServiceTier {
    /// By the word in an answer; none for words that say nothing of the price.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "standard" | "default" => Some(Self::Standard),
            "batch" => Some(Self::Batch),
            "flex" => Some(Self::Flex),
            "priority" | "fast" => Some(Self::Priority),
            _ => None,
        }
    }
}

/// Tokens of one answer, in counters that mean the same for every protocol.
///
/// Total input is `fresh + read + write_5m + write_1h + write_other`. A counter that was not reported is `None`,
/// a reported zero is `Some(0)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// Input tokens neither read from nor written to a cache.
    pub fresh: Option<u64>,
    /// Input tokens read from a cache.
    pub read: Option<u64>,
    /// Input tokens written to a cache that lives five minutes.
    pub write_5m: Option<u64>,
    /// Input tokens written to a cache that lives an hour.
    pub write_1h: Option<u64>,
    /// Input tokens written to a cache of unknown life.
    pub write_other: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// Reasoning tokens, a part of `output`.
    pub reasoning: Option<u64>,
    /// The protocol the numbers were read from.
    pub wire: Option<Protocol>,
    /// How urgently it was answered, if that was said.
    pub tier: Option<ServiceTier>,
}

impl Usage {
    /// Whether any counter was reported.
    pub fn is_reported(&self) -> bool {
        [self.fresh, self.read, self.write_5m, self.write_1h, self.write_other, self.output].iter().any(Option::is_some)
    }

    /// All input tokens.
    pub fn input(&self) -> u64 {
        [self.fresh, self.read, self.write_5m, self.write_1h, self.write_other].iter().flatten().sum()
    }

    /// Streams report cumulative values, some vendors repeat zeros later: per counter the largest seen counts.
    pub fn merge_max(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.fresh, other.fresh),
            (&mut self.read, other.read),
            (&mut self.write_5m, other.write_5m),
            (&mut self.write_1h, other.write_1h),
            (&mut self.write_other, other.write_other),
            (&mut self.output, other.output),
            (&mut self.reasoning, other.reasoning),
        ] {
            *mine = (*mine).max(theirs);
        }
        self.wire = other.wire.or(self.wire);
        self.tier = other.tier.or(self.tier);
    }
}
