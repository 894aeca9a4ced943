//! Multipliers that persons set, and when: each goes before what the upstream states until it is taken back.

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Multipliers beyond this are none, and products with amounts of money must stay within the range of decimals.
pub(crate) const MOST_MULTIPLIER: Decimal = Decimal::from_parts(1_000_000, 0, 0, false, 0);

/// From a moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    /// When.
    pub at: DateTime<Utc>,
    /// How much; none: taken back, so that what the upstream states counts again.
    pub multiplier: Option<Decimal>,
}

/// All that persons set for an upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByHand(Vec<Set>);

impl ByHand {
    /// In any order.
    pub fn new(sets: impl IntoIterator<Item = Set>) -> Self {
        let possible = |m: &Decimal| *m > Decimal::ZERO && *m <= MOST_MULTIPLIER;
        let mut sets: Vec<Set> =
            sets.into_iter().map(|set| Set { multiplier: set.multiplier.filter(possible), ..set }).collect();
        sets.sort_by_key(|set| set.at);
        Self(sets)
    }

    /// Every change, the oldest first.
    pub fn sets(&self) -> &[Set] {
        &self.0
    }

    /// What is in force at a moment; none: what the upstream states.
    pub fn at(&self, at: DateTime<Utc>) -> Option<Decimal> {
        self.0.iter().rfind(|set| set.at <= at)?.multiplier
    }

    /// What a person said first. It is the best guess for the time before where the upstream states nothing.
    pub fn first(&self) -> Option<Decimal> {
        self.0.iter().find_map(|set| set.multiplier)
    }

    /// A span of time cut at the changes within it, each part with what is in force.
    pub fn over(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> Vec<(DateTime<Utc>, DateTime<Utc>, Option<Decimal>)> {
        let inner = self.0.iter().map(|set| set.at).filter(|at| *at > from && *at < to);
        let mut edges: Vec<DateTime<Utc>> = std::iter::once(from).chain(inner).collect();
        edges.dedup();
        let ends = edges.iter().skip(1).copied().chain([to]);
        edges.iter().copied().zip(ends).map(|(from, to)| (from, to, self.at(from))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_780_000_000 + minute * 60, 0).unwrap()
    }

    fn set(minute: i64, multiplier: Option<i64>) -> Set {
        Set { at: at(minute), multiplier: multiplier.map(Decimal::from) }
    }

    #[test]
    fn what_was_set_holds_from_its_moment_until_the_next() {
        let hand = ByHand::new([set(30, None), set(10, Some(2)), set(20, Some(3))]);
        let in_force = [9, 10, 19, 20, 29, 30, 99].map(|minute| hand.at(at(minute)).map(|m| m.to_string()));
        let expected = [None, Some("2"), Some("2"), Some("3"), Some("3"), None, None];
        assert_eq!(in_force, expected.map(|m| m.map(str::to_owned)));
        assert_eq!(hand.first(), Some(Decimal::TWO));
        assert_eq!((ByHand::default().at(at(0)), ByHand::default().first()), (None, None));
    }

    #[test]
    fn a_span_is_cut_at_each_change_within_it() {
        let hand = ByHand::new([set(10, Some(2)), set(20, None)]);
        let parts = |from, to| {
            let minutes = |t: DateTime<Utc>| (t - at(0)).num_minutes();
            let parts = hand.over(at(from), at(to)).into_iter();
            parts.map(|(from, to, m)| (minutes(from), minutes(to), m.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(parts(0, 30), [(0, 10, false), (10, 20, true), (20, 30, false)]);
        assert_eq!(parts(10, 20), [(10, 20, true)]);
        assert_eq!(parts(12, 15), [(12, 15, true)]);
        assert_eq!(ByHand::default().over(at(0), at(1)).len(), 1);
    }

    #[test]
    fn a_multiplier_that_cannot_be_is_none() {
        let odd = [Decimal::MAX, Decimal::ZERO, Decimal::NEGATIVE_ONE];
        let hand = ByHand::new(odd.map(|m| Set { at: at(0), multiplier: Some(m) }));
        assert_eq!((hand.at(at(1)), hand.first()), (None, None));
    }
}
