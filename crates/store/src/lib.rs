//! PostgreSQL and the files beside it: the embedded cluster, migrations, queries, the journal of requests, state files.
//!
//! Every SQL statement of the program stands in this crate and is checked against `migrations/` at compile time.
//! Nothing here decides anything: routing and configuration rules live elsewhere.
//!
//! The order of a start: [`DataDir::open`] (one process per directory), [`Cluster::start`] unless a URL is configured,
//! [`Database::connect`] and [`Database::migrate`], [`Journal::open`]. Tasks are returned as futures for the caller to
//! spawn; only the cluster and the journal's writer own a thread of their own.

pub mod audit;
pub mod billing;
pub mod budgets;
pub mod by_hand;
pub mod charges;
pub mod cluster;
pub mod costs;
mod data_dir;
mod database;
pub mod journal;
pub mod news;
pub mod observed;
pub mod partitions;
pub mod prices;
pub mod probes;
pub mod requests;
pub mod revisions;
pub mod rollup;
pub mod state_file;

pub use cluster::{Binaries, Cluster, ClusterError, ClusterOptions, ClusterState};
pub use data_dir::{DataDir, DataDirError};
pub use database::{Database, DatabaseError, Instance, Target};
pub use journal::{Journal, JournalHandle, JournalStats, Shipper};
