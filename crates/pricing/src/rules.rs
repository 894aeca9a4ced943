//! Own prices, laid over the table.

use chrono::{DateTime, Utc};
use headgate_domain::{UpstreamId, pattern};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    names::candidates,
    rates::{Entry, EntryError},
};

/// A price that somebody set. It stands alone: what it leaves out has no price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rule {
    /// Identity.
    pub id: i64,
    /// A model's name, or a pattern with `*`.
    pub model: String,
    /// For this upstream only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub upstream: Option<UpstreamId>,
    /// From when on.
    pub from: DateTime<Utc>,
    /// Currency and rates.
    #[serde(flatten)]
    pub entry: Entry,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The name.
    #[error("the model is empty or longer than 200 characters")]
    Model,
    /// The rates.
    #[error(transparent)]
    Entry(#[from] EntryError),
}

impl Rule {
    /// What is wrong with it.
    ///
    /// # Errors
    /// The first thing found.
    pub fn check(&self) -> Result<(), RuleError> {
        if self.model.trim().is_empty() || self.model.chars().count() > 200 {
            return Err(RuleError::Model);
        }
        Ok(self.entry.check()?)
    }
}

/// All own prices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// These.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self(rules)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn all(&self) -> &[Rule] {
        &self.0
    }

    /// The rule for a model sent to an upstream at a time. One for the upstream goes before one for all, a name before
    /// a pattern, a pattern with more literal text before one with less, a later one before an earlier one.
    pub fn find(&self, upstream: Option<UpstreamId>, model: &str, at: DateTime<Utc>) -> Option<&Rule> {
        if self.0.is_empty() {
            return None;
        }
        let names = candidates(model);
        let literal = |pattern: &str| pattern.len() - pattern.matches('*').count();
        self.0
            .iter()
            .filter(|rule| rule.from <= at && rule.upstream.is_none_or(|own| Some(own) == upstream))
            .filter(|rule| names.iter().any(|name| pattern::matches(&rule.model, &name.name)))
            .max_by_key(|rule| {
                (rule.upstream.is_some(), !rule.model.contains('*'), literal(&rule.model), rule.from, rule.id)
            })
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;
    use crate::currency::Currency;

    fn rule(id: i64, model: &str, upstream: Option<i64>, from: &str) -> Rule {
        Rule {
            id,
            model: model.to_owned(),
            upstream: upstream.map(UpstreamId),
            from: from.parse().unwrap(),
            entry: Entry::plain(Currency::USD, Decimal::ONE, Decimal::TWO),
        }
    }

    #[test]
    fn the_most_particular_rule_in_effect_wins() {
        let (old, new, later) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-09-01T00:00:00Z");
        let rules = Rules::new(vec![
            rule(1, "*", None, old),
            rule(2, "claude-*", None, old),
            rule(3, "claude-sonnet-4-5", None, old),
            rule(4, "claude-sonnet-4-5", None, new),
            rule(5, "claude-sonnet-4-5", None, later),
            rule(6, "*", Some(7), old),
        ]);
        let find = |upstream, model: &str, at: &str| {
            rules.find(Some(UpstreamId(upstream)), model, at.parse().unwrap()).map(|r| r.id)
        };
        assert_eq!(find(1, "gpt-5", "2026-03-01T00:00:00Z"), Some(1));
        assert_eq!(find(1, "claude-opus-4-6", "2026-03-01T00:00:00Z"), Some(2));
        assert_eq!(find(1, "claude-sonnet-4-5", "2026-01-15T00:00:00Z"), Some(3));
        assert_eq!(find(1, "vendor/claude-sonnet-4-5-20250929", "2026-03-01T00:00:00Z"), Some(4));
        assert_eq!(find(7, "claude-sonnet-4-5", "2026-03-01T00:00:00Z"), Some(6));
        assert_eq!(find(1, "gpt-5", "2025-03-01T00:00:00Z"), None);
    }
}
