//! What one collection found, whichever API it was, and how figures are read from JSON.

use headgate_pricing::{
    Currency,
    compare::{Scope, charges::Charge},
    schedule::Multiplier,
};
use headgate_store::billing::{BillingStatus, Listed, Shown, Spoken};
use rust_decimal::Decimal;
use serde_json::Value;

use super::ask::{Ask, AskError};

/// A billing API.
pub trait Collector {
    /// Asks for everything it tells. `before` is what is known already, which may spare a question.
    async fn collect(&self, ask: &Ask<'_>, before: &BillingStatus) -> Result<Collected, AskError>;
}

/// What an upstream told. Absent figures were not told; a zero was.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// The API.
    pub spoken: Spoken,
    /// The currency of all amounts.
    pub currency: Currency,
    /// What is left.
    pub remaining: Option<Decimal>,
    /// There is no end to what is left.
    pub unlimited: bool,
    /// Whose what is left is.
    pub balance: Scope,
    /// List price of all so far.
    pub list: Option<Decimal>,
    /// What was charged for all so far.
    pub charged: Option<Decimal>,
    /// How many requests so far.
    pub requests: Option<u64>,
    /// Whose the counters are.
    pub counters: Scope,
    /// The multiplier with its schedule.
    pub multiplier: Option<Multiplier>,
    /// The upstream's own group that the key belongs to.
    pub group: Option<String>,
    /// How the site shows amounts, where it keeps them in another unit.
    pub shown: Option<Shown>,
    /// Single charges, newest first.
    pub charges: Vec<Charge>,
    /// Up to where list prices of single charges are in `list`.
    pub listed: Option<Listed>,
    /// What is missing and why.
    pub warning: Option<String>,
}

impl Collected {
    /// Nothing told yet.
    pub fn new(spoken: Spoken) -> Self {
        Self {
            spoken,
            currency: Currency::USD,
            remaining: None,
            unlimited: false,
            balance: Scope::Account,
            list: None,
            charged: None,
            requests: None,
            counters: Scope::Key,
            multiplier: None,
            group: None,
            shown: None,
            charges: Vec::new(),
            listed: None,
            warning: None,
        }
    }
}

/// A figure, written as a number or as a text.
pub fn figure(value: &Value) -> Option<Decimal> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    text.parse().ok().or_else(|| Decimal::from_scientific(&text).ok())
}

/// A figure that cannot be below zero, such as a multiplier.
pub fn positive_figure(value: &Value) -> Option<Decimal> {
    figure(value).filter(|figure| !figure.is_sign_negative())
}

/// A text with something in it.
pub fn word(value: &Value) -> Option<&str> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty())
}
