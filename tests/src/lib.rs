//! The whole from outside: a fake upstream with a fault script, and a harness around the real program.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "helpers of tests: a failure is a failed test, and their time is real"
)]

pub mod fake;
pub mod harness;
