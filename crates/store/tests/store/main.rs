//! The store against real PostgreSQL.

mod cluster;
mod journal;
mod partitions;
mod queries;
mod records;
mod requests;
mod revisions;
mod support;
