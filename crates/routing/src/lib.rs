//! Who gets a request, and what a result means.
//!
//! The crate is pure. A [`Pool`] (from the configuration), a [`Need`] (from the request), the [`Health`] of the
//! upstreams, the [`Time`] and a random source go in; a [`Choice`] with its reasons, or a changed health, comes out.
//! It performs no I/O, reads no clock and has no randomness of its own: the same seed gives the same decisions.
//!
//! - [`Health::decide`] runs the funnel and claims the chosen candidate; [`Health::complete`] returns the claim.
//! - [`classify`](classify()) judges an upstream's answer, [`meaning`](meaning()) says what a class hurts.
//! - [`Allowances`] are the limits of access keys, asked before the funnel; a [`Line`] is who waits for room, in order.
//! - [`Wrongs`] says which turns of health are news to people, [`Debounce`] how often they are told.
//! - [`Tried`] is what one request has already used up; [`Affinity`] remembers the upstream of a session.

mod affinity;
mod alert;
mod allowance;
mod breaker;
mod caching;
mod classify;
mod complete;
mod cooldown;
mod debounce;
mod decide;
mod funnel;
mod health;
mod latency;
mod lease;
mod line;
mod meaning;
mod names;
mod need;
mod phrases;
mod policy;
mod pool;
mod probe;
mod reasons;
mod refusal;
mod retry;
mod saved;
mod strategy;
mod time;
mod tried;
mod view;
mod window;

pub use affinity::Affinity;
pub use alert::{Subject, Turn, Wrongs};
pub use allowance::{Allowances, Exceeded, Grant, Reached};
pub use caching::Tokens;
pub use classify::classify;
pub use complete::{Completion, Effect, Transition};
pub use debounce::{Debounce, Told};
pub use decide::{Candidate, Choice, Decision, Explained};
pub use health::Health;
pub use lease::Lease;
pub use line::{Line, Ticket};
pub use meaning::{Again, Meaning, Scope, meaning};
pub use names::other_name;
pub use need::{Features, Need};
pub use policy::Policy;
pub use pool::{Pool, PoolCredential, PoolMember, Withheld, price};
pub use probe::{DueProbe, MonitorClaim, ProbeClaim};
pub use reasons::{MemberReason, Reason, Reasons};
pub use refusal::{Refusal, Refused, Wait};
pub use retry::{RetryBudget, may_repeat, repeat_delay};
pub use saved::SavedHealth;
pub use strategy::{Forecast, Rates};
pub use time::Time;
pub use tried::Tried;
pub use view::{CoolingView, CredentialHealth, ModelHealth, UpstreamHealth};

#[cfg(test)]
mod test_support;
