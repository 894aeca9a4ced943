//! Why nobody gets a request.

use std::time::Duration;

use crate::{need::Features, reasons::Reasons, time::Time};

/// What the client is told when no candidate is left. After an attempt the last failure is told instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No member is switched on: 503 `no_upstream`.
    NoUpstream,
    /// A hard rule excludes everyone: 403 `policy_no_route`.
    PolicyNoRoute,
    /// No member has the model: 404 `model_not_found`.
    ModelNotFound,
    /// The prompt is too long for everyone: 400, *context too long*.
    ContextTooLong,
    /// Nobody's protocol can express the request: 400.
    Untranslatable,
    /// What the request needs is found nowhere: 422 `capability_no_route`.
    CapabilityNoRoute {
        /// What is missing; empty when only the sizes do not fit.
        missing: Features,
    },
    /// Everyone is above the cap: 402 `budget_no_route`.
    BudgetNoRoute,
    /// Everyone's balance or quota is used up: 429 `upstreams_exhausted`.
    UpstreamsExhausted,
    /// Everyone limits our rate: 429 `rate_limited`.
    RateLimited,
    /// Everyone refused our credentials: 502 `upstream_auth`.
    UpstreamAuth,
    /// Everyone is cooling down: 503 `cooling_down`.
    CoolingDown,
    /// Everyone is full: 429 `saturated`.
    Saturated,
    /// Everyone left has been tried, or the attempts are used up: the last failure is what the client gets.
    TriedAll,
}

impl Refusal {
    /// The machine code a client sees.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoUpstream => "no_upstream",
            Self::PolicyNoRoute => "policy_no_route",
            Self::ModelNotFound => "model_not_found",
            Self::ContextTooLong => "context_length_exceeded",
            Self::Untranslatable => "unsupported_parameter",
            Self::CapabilityNoRoute { .. } => "capability_no_route",
            Self::BudgetNoRoute => "budget_no_route",
            Self::UpstreamsExhausted => "upstreams_exhausted",
            Self::RateLimited => "rate_limited",
            Self::UpstreamAuth => "upstream_auth",
            Self::CoolingDown => "cooling_down",
            Self::Saturated => "saturated",
            Self::TriedAll => "tried_all",
        }
    }
}

/// What is full and worth waiting for, and for how long from the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The upstream this session was served by.
    Favourite(Duration),
    /// A tier of a group that says `wait`.
    Tier(Duration),
}

/// A refusal with everything the client must be told.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// What stopped the last members.
    pub refusal: Refusal,
    /// The soonest moment at which a member can be asked again, where one is known.
    pub retry_at: Option<Time>,
    /// Set when what is full is waited for before something else is used, as far as the caller said it can wait.
    pub wait: Option<Wait>,
    /// What stopped each member.
    pub reasons: Reasons,
}
