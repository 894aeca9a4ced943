//! What upstreams multiplied their prices by, as they stated it and as persons set it.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::UpstreamId;
use headgate_pricing::compare::Snapshot;
use headgate_store::{
    Database, DatabaseError,
    by_hand::{SetBy, in_order},
};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use super::balances::moment;

/// A week in hours.
const STEP: TimeDelta = TimeDelta::hours(1);
const POINTS: i32 = 169;

/// A multiplier, from when it was seen or set.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(super) struct MultiplierStep {
    /// When it was first seen, or set.
    at: DateTime<Utc>,
    /// How much; absent: what was set by hand was taken back, and none was stated.
    #[schema(value_type = Option<String>)]
    multiplier: Option<Decimal>,
    /// A person set it.
    by_hand: bool,
    /// Who, as far as it is known; also of who took back what was set before.
    author: Option<String>,
}

/// Multipliers of the last week: a step for each change.
pub(super) async fn multipliers(
    database: &Database,
    of: &[UpstreamId],
    now: DateTime<Utc>,
) -> Result<HashMap<UpstreamId, Vec<MultiplierStep>>, DatabaseError> {
    let (figures, sets) =
        tokio::try_join!(database.figures_over(of, now, STEP, POINTS), database.multipliers_by_hand(of))?;
    let mut stated: HashMap<UpstreamId, Vec<(DateTime<Utc>, Decimal)>> = HashMap::new();
    for (id, n, snapshot) in figures {
        let at = moment(now, STEP, POINTS, n);
        stated.entry(id).or_default().extend(at_moment(&snapshot, at).map(|multiplier| (at, multiplier)));
    }
    let mut by_hand: HashMap<UpstreamId, Vec<SetBy>> = HashMap::new();
    for (id, set) in sets {
        by_hand.entry(id).or_default().push(set);
    }
    let begin = moment(now, STEP, POINTS, 0);
    let steps = of.iter().map(|id| {
        let stated = stated.get(id).map(Vec::as_slice).unwrap_or_default();
        (*id, steps(stated, by_hand.get(id).map(Vec::as_slice).unwrap_or_default(), begin))
    });
    Ok(steps.collect())
}

fn at_moment(snapshot: &Snapshot, at: DateTime<Utc>) -> Option<Decimal> {
    Some(snapshot.multiplier.as_ref()?.at(at).normalize())
}

/// The changes after a beginning, with what was in force then.
fn steps(stated: &[(DateTime<Utc>, Decimal)], sets: &[SetBy], begin: DateTime<Utc>) -> Vec<MultiplierStep> {
    let by_hand = in_order(sets);
    let mut moments: Vec<DateTime<Utc>> = stated.iter().map(|(at, _)| *at).collect();
    moments.extend(sets.iter().map(|one| one.set.at.max(begin)));
    moments.sort_unstable();
    moments.dedup();
    let mut steps: Vec<MultiplierStep> = Vec::new();
    for at in moments {
        let set = by_hand.at(at);
        let said = stated.iter().rfind(|(seen, _)| *seen <= at).map(|(_, multiplier)| *multiplier);
        let multiplier = set.map(|m| m.normalize()).or(said);
        let changed_by_hand = sets.iter().rfind(|one| one.set.at.max(begin) == at);
        let is_same = |last: &MultiplierStep| last.multiplier == multiplier && last.by_hand == set.is_some();
        if steps.last().map_or(multiplier.is_none(), is_same) {
            continue;
        }
        let author = changed_by_hand.and_then(|one| one.author.clone());
        steps.push(MultiplierStep { at, multiplier, by_hand: set.is_some(), author });
    }
    steps
}

#[cfg(test)]
mod tests {
    use headgate_pricing::by_hand::Set;

    use super::*;

    fn at(hour: i64) -> DateTime<Utc> {
        "2026-06-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::hours(hour)
    }

    fn set(hour: i64, multiplier: Option<i64>) -> SetBy {
        let set = Set { at: at(hour), multiplier: multiplier.map(Decimal::from) };
        SetBy { set, author: Some("somebody".to_owned()) }
    }

    fn told(stated: &[(i64, i64)], sets: &[SetBy]) -> Vec<(i64, Option<i64>, bool)> {
        let stated: Vec<_> = stated.iter().map(|(hour, m)| (at(*hour), Decimal::from(*m))).collect();
        let whole = |m: Decimal| i64::try_from(m).unwrap();
        let step = |s: MultiplierStep| ((s.at - at(0)).num_hours(), s.multiplier.map(whole), s.by_hand);
        steps(&stated, sets, at(0)).into_iter().map(step).collect()
    }

    #[test]
    fn what_was_set_by_hand_is_a_step_of_its_own_between_those_that_were_stated() {
        let stated = [(0, 1), (1, 1), (2, 3), (3, 3), (4, 3)];
        assert_eq!(told(&stated, &[]), [(0, Some(1), false), (2, Some(3), false)]);
        let steps = told(&stated, &[set(1, Some(2)), set(3, None)]);
        assert_eq!(steps, [(0, Some(1), false), (1, Some(2), true), (3, Some(3), false)]);
        let before = told(&stated, &[set(-50, Some(2)), set(2, Some(2))]);
        assert_eq!(before, [(0, Some(2), true)], "the same set again is no change");
    }

    #[test]
    fn where_nothing_is_stated_only_what_was_set_is_told_and_its_end() {
        assert_eq!(told(&[], &[set(1, Some(2)), set(3, None)]), [(1, Some(2), true), (3, None, false)]);
        assert_eq!(told(&[], &[set(-9, None)]), []);
    }
}
