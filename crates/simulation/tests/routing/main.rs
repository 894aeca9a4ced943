//! The properties of routing, over random pools, histories, faults and loads.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test says what it expects")]

mod checked;
mod properties;
mod scripts;
mod strict_priority;
