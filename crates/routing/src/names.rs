//! The same model under another name: vendors list `claude-sonnet-4-5` where others say `claude-sonnet-4-5-20250929`.

use std::{collections::BTreeSet, time::Duration};

use headgate_domain::UpstreamId;

use crate::{health::Health, time::Time};

/// How long a name that worked is used before the one asked for is tried again.
const KEPT: Duration = Duration::from_secs(24 * 3600);
/// Names remembered for one upstream.
const NAMES: usize = 64;

/// A name the upstream knows a model by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherName {
    pub(crate) name: Box<str>,
    pub(crate) until: Time,
}

/// Another name of the very same model: without its date or `-latest`, or with the newest date that is listed. Never a
/// different model: `gpt-5` is not `gpt-5-mini`. With `listed` only names in it are given.
pub fn other_name(model: &str, listed: Option<&BTreeSet<String>>) -> Option<String> {
    let stem = undated(model);
    let Some(listed) = listed else {
        return stem.map(str::to_owned);
    };
    if let Some(stem) = stem.filter(|stem| listed.contains(*stem)) {
        return Some(stem.to_owned());
    }
    let base = stem.unwrap_or(model);
    listed.iter().rfind(|name| name.as_str() != model && undated(name) == Some(base)).cloned()
}

/// The name without a date or `-latest` at its end, if it has one.
fn undated(name: &str) -> Option<&str> {
    if let Some(stem) = name.strip_suffix("-latest") {
        return Some(stem);
    }
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_date = |text: &str| match *text.split('-').collect::<Vec<_>>().as_slice() {
        [whole] => whole.len() == 8 && digits(whole),
        [year, month, day] => {
            [year, month, day].map(str::len) == [4, 2, 2] && [year, month, day].into_iter().all(digits)
        }
        _ => false,
    };
    // `-20250929`, `@20250929` or `-2025-04-14`.
    [9, 11].into_iter().find_map(|length| {
        let (stem, tail) = name.split_at_checked(name.len().checked_sub(length)?)?;
        let date = tail.strip_prefix(['-', '@'])?;
        (!stem.is_empty() && is_date(date)).then_some(stem)
    })
}

impl Health {
    /// The upstream does not have `model`: it is asked for `other` instead from now on, unless it is known not to have
    /// that either. Gives whether it is.
    pub fn rename(&mut self, upstream: UpstreamId, model: &str, other: &str, now: Time) -> bool {
        let u = self.state(upstream);
        let is_missing = u.models.get(other).and_then(|m| m.exclusion).is_some_and(|e| e.until(now).is_some());
        if is_missing || model == other {
            return false;
        }
        u.names.retain(|_, known| now < known.until);
        if u.names.len() >= NAMES {
            return false;
        }
        u.names.insert(model.into(), OtherName { name: other.into(), until: now + KEPT });
        true
    }
}

#[cfg(test)]
mod tests {
    use headgate_domain::Class;

    use super::*;
    use crate::{Completion, Policy, Tried, test_support::*};

    fn listed(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn another_name_is_the_same_model_with_another_date_or_none() {
        let list =
            listed(&["claude-sonnet-4-5", "gpt-5-mini", "gpt-4o-2024-05-13", "gpt-4o-2024-11-20", "haiku@20250101"]);
        for (asked, other) in [
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("claude-sonnet-4-5-latest", Some("claude-sonnet-4-5")),
            ("gpt-4o", Some("gpt-4o-2024-11-20")),
            ("gpt-4o-latest", Some("gpt-4o-2024-11-20")),
            ("gpt-4o-2024-11-20", Some("gpt-4o-2024-05-13")),
            ("haiku", Some("haiku@20250101")),
            ("gpt-5", None),
            ("gpt-5-mini-high", None),
            ("12345678", None),
            ("-20250929", None),
            ("ключ-20250929", None),
        ] {
            assert_eq!(other_name(asked, Some(&list)).as_deref(), other, "{asked}");
        }
        assert_eq!(other_name("m-20250929", None).as_deref(), Some("m"));
        assert_eq!(other_name("m", None), None);
    }

    #[test]
    fn a_model_is_asked_for_by_the_name_that_works_as_long_as_it_works() {
        let (mut h, pool, mut r) = (Health::new(Policy::default()), pool(&[1]), rng(1));
        let (u, t0) = (UpstreamId(1), Time::secs(1));
        let mut ask = |h: &mut Health, class, now| {
            let choice = h.decide(&pool, &need(), &Tried::new(), now, &mut r).ok()?;
            h.complete(choice.lease, &Completion::new(class), now, &mut r);
            Some(choice.sent_model)
        };
        assert_eq!(ask(&mut h, Class::ModelMissing, t0).as_deref(), Some("m"));
        assert!(h.rename(u, "m", "n", t0));
        assert_eq!(ask(&mut h, Class::Ok, t0).as_deref(), Some("n"));
        let later = t0 + KEPT;
        assert_eq!(ask(&mut h, Class::ModelMissing, later).as_deref(), Some("m"), "it is looked at again once a day");
        assert!(h.rename(u, "m", "n", later));
        assert_eq!(ask(&mut h, Class::ModelMissing, later).as_deref(), Some("n"));
        assert!(!h.rename(u, "m", "n", later), "it does not have that one either");
        assert_eq!(ask(&mut h, Class::Ok, later), None, "both are excluded");
    }
}
