//! The arithmetic of rounds: differences, quartiles, verdicts.

use serde::Serialize;

/// One quantity over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// A quarter of the rounds is below.
    pub lower: f64,
    /// Half of the rounds is below.
    pub median: f64,
    /// A quarter of the rounds is above.
    pub upper: f64,
    /// Every round, in order of time.
    pub rounds: Vec<f64>,
}

impl Spread {
    /// Of these rounds; none if there are none or one is no number.
    pub fn of(rounds: Vec<f64>) -> Option<Self> {
        let mut sorted = rounds.clone();
        sorted.sort_by(f64::total_cmp);
        if sorted.iter().any(|value| !value.is_finite()) {
            return None;
        }
        Some(Self {
            lower: quantile(&sorted, 0.25)?,
            median: quantile(&sorted, 0.5)?,
            upper: quantile(&sorted, 0.75)?,
            rounds,
        })
    }
}

/// The quantile of sorted values, between two of them in proportion.
pub fn quantile(sorted: &[f64], quantile: f64) -> Option<f64> {
    let position = quantile * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(position.floor() as usize)?;
    let above = *sorted.get(position.ceil() as usize)?;
    Some(below + (above - below) * position.fract())
}

/// What lies between two series of the same rounds, round by round.
pub fn difference(through: &[f64], direct: &[f64]) -> Vec<f64> {
    through.iter().zip(direct).map(|(through, direct)| through - direct).collect()
}

/// One series as a multiple of another, round by round. A divisor of nothing gives no number.
pub fn ratio(of: &[f64], to: &[f64]) -> Vec<f64> {
    of.iter().zip(to).map(|(of, to)| if *to > 0.0 { of / to } else { f64::NAN }).collect()
}

/// How a figure stands to what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The target is reached.
    Met,
    /// Not reached, within the bound.
    Missed,
    /// Beyond what may be shipped.
    Over,
    /// Nothing was asked for.
    None,
}

/// A target and the bound never to ship beyond.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Small is good.
    AtMost(f64, f64),
    /// Much is good.
    AtLeast(f64, f64),
    /// For orientation only.
    Nothing,
}

impl Wanted {
    /// How this value stands.
    pub fn verdict(self, value: f64) -> Verdict {
        match self {
            Self::AtMost(target, _) if value <= target => Verdict::Met,
            Self::AtMost(_, bound) if value <= bound => Verdict::Missed,
            Self::AtLeast(target, _) if value >= target => Verdict::Met,
            Self::AtLeast(_, bound) if value >= bound => Verdict::Missed,
            Self::AtMost(..) | Self::AtLeast(..) => Verdict::Over,
            Self::Nothing => Verdict::None,
        }
    }
}

/// Most of the starts in one measurement that may be more than a millisecond late.
pub const LATE_SHARE: f64 = 0.02;

/// Whether starts were so late that the figures say more about the machine than about the gateway: in more than a
/// quarter of the open-loop measurements more than [`LATE_SHARE`] of the starts were late.
pub fn is_discarded(late_shares: &[f64]) -> bool {
    let bad = late_shares.iter().filter(|share| **share > LATE_SHARE).count();
    bad * 4 > late_shares.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_quartiles_lie_between_values_in_proportion() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((spread.lower, spread.median, spread.upper), (1.75, 2.5, 3.25));
        assert_eq!(spread.rounds, [4.0, 1.0, 3.0, 2.0]);
        let seven = Spread::of((1..=7).map(f64::from).collect()).unwrap();
        assert_eq!((seven.lower, seven.median, seven.upper), (2.5, 4.0, 5.5));
        let one = Spread::of(vec![5.0]).unwrap();
        assert_eq!((one.lower, one.median, one.upper), (5.0, 5.0, 5.0));
    }

    #[test]
    fn there_is_no_spread_of_nothing_or_of_no_number() {
        assert_eq!(Spread::of(Vec::new()), None);
        assert_eq!(Spread::of(vec![1.0, f64::NAN]), None);
    }

    #[test]
    fn differences_and_ratios_go_round_by_round() {
        assert_eq!(difference(&[3.0, 5.0], &[1.0, 1.5]), [2.0, 3.5]);
        assert_eq!(ratio(&[3.0, 6.0], &[1.5, 2.0]), [2.0, 3.0]);
        assert!(ratio(&[1.0], &[0.0])[0].is_nan());
    }

    #[test]
    fn verdicts_know_both_directions_and_their_borders() {
        let small = Wanted::AtMost(0.3, 0.6);
        assert_eq!(
            [0.3, 0.31, 0.6, 0.61].map(|v| small.verdict(v)),
            [Verdict::Met, Verdict::Missed, Verdict::Missed, Verdict::Over]
        );
        let much = Wanted::AtLeast(60.0, 40.0);
        assert_eq!(
            [60.0, 59.9, 40.0, 39.9].map(|v| much.verdict(v)),
            [Verdict::Met, Verdict::Missed, Verdict::Missed, Verdict::Over]
        );
        assert_eq!(Wanted::Nothing.verdict(1.0), Verdict::None);
    }

    #[test]
    fn a_run_is_discarded_when_more_than_a_quarter_of_it_started_late() {
        let on_time = LATE_SHARE;
        let late = LATE_SHARE + 0.001;
        assert!(!is_discarded(&[on_time, on_time, on_time, late]));
        assert!(is_discarded(&[on_time, on_time, late, late]));
        assert!(is_discarded(&[late]));
        assert!(!is_discarded(&[]));
    }
}
