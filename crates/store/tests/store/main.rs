//! The store against real PostgreSQL.

mod cluster;
mod revisions;
mod support;
