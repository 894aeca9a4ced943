//! Model names and the one wildcard, `*`.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Matches `name` against `pattern`, where `*` stands for any text, case-sensitive. Gives what the first `*` matched.
fn matched<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let Some((head, rest)) = pattern.split_once('*') else {
        return (pattern == name).then_some("");
    };
    let tail_of_name = name.strip_prefix(head)?;
    if !rest.contains('*') {
        return tail_of_name.strip_suffix(rest);
    }
    // Several wildcards: the first one takes as little as it can.
    (0..=tail_of_name.len())
        .filter(|&at| tail_of_name.is_char_boundary(at))
        .find(|&at| tail_of_name.get(at..).is_some_and(|left| matched(rest, left).is_some()))
        .and_then(|at| tail_of_name.get(..at))
}

/// Whether `name` fits `pattern` (`*` is the only wildcard).
pub fn matches(pattern: &str, name: &str) -> bool {
    matched(pattern, name).is_some()
}

/// Removes a trailing context mark such as `[1m]` or `[200k]`, which some clients append to a model name.
pub fn strip_context_mark(model: &str) -> &str {
    let Some(open) = model.strip_suffix(']').and_then(|m| m.rfind('[').map(|at| (m, at))) else {
        return model;
    };
    let (without, at) = open;
    let digits = without.get(at + 1..).and_then(|mark| mark.strip_suffix(['k', 'K', 'm', 'M']));
    match digits {
        Some(d) if !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()) => model.get(..at).unwrap_or(model),
        _ => model,
    }
}

/// Which models an upstream may be asked for, and under which names it knows them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelRules {
    /// Names or patterns; absent or empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Name asked → name sent. A `*` in the target stands for what the `*` of the pattern matched.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub map: IndexMap<String, String>,
}

impl ModelRules {
    /// Whether there are no rules at all.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.map.is_empty()
    }

    /// The name to send for `asked`, or `None` when this upstream may not be asked for it.
    ///
    /// A name that `map` matches is allowed. Exact entries come first, then the pattern with the longest literal part.
    pub fn resolve<'n>(&self, asked: &'n str) -> Option<Cow<'n, str>> {
        if let Some(target) = self.mapping(asked) {
            return Some(Cow::Owned(target));
        }
        (self.allow.is_empty() || self.allow.iter().any(|pattern| matches(pattern, asked)))
            .then_some(Cow::Borrowed(asked))
    }

    fn mapping(&self, asked: &str) -> Option<String> {
        if let Some(target) = self.map.get(asked) {
            return Some(target.replace('*', ""));
        }
        let literal = |pattern: &str| pattern.len() - pattern.matches('*').count();
        self.map
            .iter()
            .filter(|(pattern, _)| pattern.contains('*'))
            .filter_map(|(pattern, target)| matched(pattern, asked).map(|what| (literal(pattern), target, what)))
            .max_by_key(|(literal, ..)| *literal)
            .map(|(_, target, what)| target.replacen('*', what, 1))
    }

    /// The names this upstream certainly knows: literal `allow` entries and exact `map` keys.
    pub fn literal_names(&self) -> impl Iterator<Item = &str> {
        self.allow.iter().map(String::as_str).chain(self.map.keys().map(String::as_str)).filter(|n| !n.contains('*'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: &[&str], map: &[(&str, &str)]) -> ModelRules {
        ModelRules {
            allow: allow.iter().map(|s| (*s).to_owned()).collect(),
            map: map.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
        }
    }

    #[test]
    fn a_star_is_the_only_wildcard_and_case_counts() {
        assert!(matches("claude-*", "claude-sonnet"));
        assert!(matches("*", ""));
        assert!(matches("a*c*e", "abcde"));
        assert!(!matches("a*c*e", "abcdf"));
        assert!(!matches("Claude-*", "claude-sonnet"));
        assert!(!matches("a.c", "abc"));
        assert!(!matches("ab*ba", "aba"));
    }

    #[test]
    fn exact_mapping_comes_before_the_longest_pattern_and_the_star_is_carried_over() {
        let r = rules(&["x"], &[("claude-*", "v-*"), ("claude-sonnet-*", "s-*-x"), ("claude-opus", "exact")]);
        assert_eq!(r.resolve("claude-opus").as_deref(), Some("exact"));
        assert_eq!(r.resolve("claude-sonnet-5").as_deref(), Some("s-5-x"));
        assert_eq!(r.resolve("claude-haiku").as_deref(), Some("v-haiku"));
        assert_eq!(r.resolve("x").as_deref(), Some("x"));
        assert_eq!(r.resolve("gpt-5"), None);
        assert_eq!(rules(&[], &[]).resolve("anything").as_deref(), Some("anything"));
    }

    #[test]
    fn only_a_real_context_mark_is_stripped() {
        assert_eq!(strip_context_mark("claude-sonnet-5[1m]"), "claude-sonnet-5");
        assert_eq!(strip_context_mark("m[200K]"), "m");
        for kept in ["m[beta]", "m[]", "m[k]", "m]", "[1m", "m"] {
            assert_eq!(strip_context_mark(kept), kept);
        }
    }
}
