//! What about an upstream's money may need a person.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{alert::AlertEvent, id::GroupId};

/// Something about an upstream's money that holds at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Concern {
    /// Little or nothing is left.
    BalanceLow,
    /// It states another multiplier than before.
    MultiplierChanged,
    /// It costs more than a group allows.
    OverCap {
        /// The group.
        group: GroupId,
    },
    /// Its billing could not be read for longer than half an hour.
    CollectionFailing,
    /// It charges, or states, more than is explained.
    BillingWarning,
}

impl Concern {
    /// What is told when it begins.
    pub fn event(self) -> AlertEvent {
        match self {
            Self::BalanceLow => AlertEvent::BalanceLow,
            Self::MultiplierChanged => AlertEvent::MultiplierChanged,
            Self::OverCap { .. } => AlertEvent::OverCap,
            Self::CollectionFailing => AlertEvent::CollectionFailing,
            Self::BillingWarning => AlertEvent::BillingWarning,
        }
    }

    /// Whether its end is told: that a multiplier has not changed any more is no news.
    pub fn has_end(self) -> bool {
        self != Self::MultiplierChanged
    }
}
