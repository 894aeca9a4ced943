//! Why each member of a pool was chosen or passed over.

use headgate_domain::{Class, UpstreamId, upstream::Capability};
use serde::{Deserialize, Serialize};

/// What became of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// The upstream or its membership is switched off.
    Disabled,
    /// A rule about region or labels excludes it.
    Policy,
    /// It may not be asked for the model, or is known not to have it.
    ModelMissing,
    /// It cannot do something the request uses or the group requires.
    Capability {
        /// The first such capability.
        missing: Capability,
    },
    /// The prompt is longer than its context.
    Context,
    /// The prompt is outside the member's `min_input` … `max_input`.
    Size,
    /// The request cannot be expressed in its protocol.
    Untranslatable,
    /// Its multiplier is above the cap, or unknown where that is refused.
    OverCap,
    /// Its balance, quota or plan is used up.
    Exhausted {
        /// Milliseconds until it is looked at again; absent when unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
    },
    /// It is cooling down.
    CoolingDown {
        /// Why.
        class: Class,
        /// For how many milliseconds; absent when without end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
    },
    /// It has no room.
    Saturated,
    /// This request has already tried it.
    Tried,
    /// It was chosen.
    Chosen,
    /// It is eligible, but a better tier is, too.
    LowerTier,
    /// It is eligible, but its answers are forecast to cost more than the chosen one's.
    Dearer {
        /// By so many percent.
        percent: u32,
    },
    /// It is eligible, but another member of its tier was taken.
    NotDrawn,
}

/// One member with its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MemberReason {
    /// The member.
    pub upstream: UpstreamId,
    /// What became of it.
    #[serde(flatten)]
    pub reason: Reason,
}

/// The reasons of a whole pool, in its order.
pub type Reasons = Vec<MemberReason>;
