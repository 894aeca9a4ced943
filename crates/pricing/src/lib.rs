//! The arithmetic of money: what a model's tokens are priced at, what a usage costs, and whether an upstream charged
//! what it said it would.
//!
//! Decimals only, no I/O and no clock: tables, rules, times and counters are arguments. [`table`] holds list prices,
//! [`names`] finds a model's entry under the names people and relays give it, [`rules`] lays own prices over the
//! table, [`cost`] prices one usage, [`budget`] sets what was spent against what may be, [`compare`] two tracks of
//! evidence side by side.

pub mod budget;
pub mod by_hand;
pub mod compare;
pub mod cost;
pub mod currency;
pub mod names;
mod package;
pub mod rates;
pub mod rules;

pub mod schedule;
pub mod table;

pub use cost::{Cost, Gap, cost};
pub use currency::Currency;
pub use rates::{Entry, Part, Rate, Service};
pub use rules::{Rule, Rules};
pub use table::{Table, Version};
