//! The whole from outside: a fake upstream with a fault script, and a harness around the real program.

pub mod desktop;
pub mod fake;
pub mod harness;
