//! How a pool behaves under load and faults, in virtual time.
//!
//! A [`Simulation`] sends the requests of a [`Workload`] through the code that routes ([`headgate_routing`]) to
//! upstreams that behave as [`Faults`] say, and returns what happened as a [`Run`]. It does what the gateway does around
//! a decision: affinity of sessions, failover, the group's waiting line, recovery probes. Thousands of minutes pass in a
//! second, and the same seed gives the same run.
//!
//! [`replay`] sends recorded traffic through another configuration.
//!
//! The properties of routing are tested with it, and `cargo xtask simulate` prints a [`Report`] of a configuration under
//! a named [`Script`].

mod behaviour;
mod engine;
pub mod replay;
mod report;
mod request;
mod router;
mod run;
mod script;
mod workload;

pub use behaviour::{Behaviour, Faults, Phase};
pub use engine::Simulation;
pub use report::{Report, UpstreamFigures};
pub use router::{Plain, Router};
pub use run::{Attempt, End, Run, Turn};
pub use script::{Script, Stage};
pub use workload::Workload;
