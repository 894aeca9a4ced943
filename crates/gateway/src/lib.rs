//! The engine: a gateway for AI APIs in one process.
//!
//! [`Gateway::start`] brings everything up in order and returns a [`GatewayHandle`] when requests are accepted. Nothing
//! here knows of a window or of a command line.
//!
//! The way of a request: [`ingress`] (who, what, may it) → [`forward`] (choose, send, judge, relay) → [`exchange`]
//! (the record); [`outbound`] are its connections to upstreams. Beside it: [`control`] changes the configuration and publishes snapshots, [`admin`] is the API for
//! people and programs, [`tasks`] runs in the background.

mod admin;
mod alerts;
mod billing;
mod budgets;
mod clock;
mod config;
mod connection;
mod control;
mod events;
mod exchange;
mod forward;
mod incidents;
mod ingress;
mod launch;
mod logs;
mod metrics;
mod monitors;
mod neighbours;
mod outbound;
mod prices;
mod question;
mod recovery;
mod serve;
mod shared;
mod snapshot;
mod start;
mod tasks;
mod traces;
mod ui;
mod verdicts;
mod whatif;

pub use admin::{Cause, Glance, Standing, TokenError, admin_token, openapi};
pub use config::{DatabaseChoice, GatewayConfig};
pub use control::{Applied, ControlError, NewKey};
pub use events::Event;
pub use launch::{File, Launch, LaunchError, LaunchProblem, SEALED_FILE, prepare_process};
pub use logs::LogLayer;
pub use start::{Gateway, GatewayHandle, StartError, Today};
