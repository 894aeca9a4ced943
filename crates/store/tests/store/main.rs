//! The store against real PostgreSQL.

#[cfg(test)]
mod billing;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod large;
#[cfg(test)]
mod partitions;
#[cfg(test)]
mod prices;
#[cfg(test)]
mod queries;
#[cfg(test)]
mod records;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod revisions;
#[cfg(test)]
mod rollup;
#[cfg(test)]
mod support;
