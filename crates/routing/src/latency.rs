//! How fast an upstream begins to answer.

use std::{collections::VecDeque, time::Duration};

use crate::time::{Time, millis};

/// Weight of a new sample.
const ALPHA: f64 = 0.3;
/// After so long without a sample a value counts half against what is assumed of the unknown.
const HALF_LIFE: Duration = Duration::from_secs(600);
/// Samples kept for percentiles.
const KEPT: usize = 32;
/// Samples before a percentile is used for a limit.
const ENOUGH: usize = 5;
/// What a failure that counts adds, so that failing fast does not look like being fast.
pub(crate) const FAILURE_MS: f64 = 5000.0;

/// An average and how much it counted when it was last changed (0 … 1).
#[derive(Debug, Clone, Copy)]
struct Average {
    ms: f64,
    at: Time,
    weight: f64,
}

/// Time to first token: an average that decays with time toward unknown, and the last samples.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latency {
    average: Option<Average>,
    samples: VecDeque<(Time, u64)>,
}

impl Latency {
    /// An average as it was saved, `age` ago.
    pub(crate) fn restored(ms: f64, weight: f64, age: Duration, now: Time) -> Self {
        Self { average: Some(Average { ms, at: now, weight: weight * faded(age) }), samples: VecDeque::new() }
    }

    /// Takes a measured time to first token.
    pub(crate) fn measured(&mut self, ttft: Duration, now: Time) {
        let ms = millis(ttft);
        self.blend(ttft.as_secs_f64() * 1000.0, now);
        if self.samples.len() >= KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back((now, ms));
    }

    /// Takes a failure that counts.
    pub(crate) fn failed(&mut self, now: Time) {
        self.blend(FAILURE_MS, now);
    }

    fn blend(&mut self, sample: f64, now: Time) {
        let (ms, weight) = self.known(now).unwrap_or((sample, 0.0));
        // A stale average has lost its weight: the sample counts the more.
        let kept = (1.0 - ALPHA) * weight;
        self.average = Some(Average { ms: ms * kept + sample * (1.0 - kept), at: now, weight: 1.0 });
    }

    /// The average in milliseconds and how much it still counts (0 … 1).
    pub(crate) fn known(&self, now: Time) -> Option<(f64, f64)> {
        self.average.map(|a| (a.ms, a.weight * faded(now.since(a.at))))
    }

    /// The 95th percentile of the samples of the last `span`.
    pub(crate) fn p95(&self, span: Duration, now: Time) -> Option<u64> {
        percentile(95, self.samples.iter().filter(|(at, _)| now.since(*at) <= span).map(|(_, ms)| *ms))
    }

    /// The median of the kept samples. Unlike the average it knows nothing of failures: it is what a person is shown.
    pub(crate) fn median(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds are far below 2^53")]
        percentile(50, self.samples.iter().map(|(_, ms)| *ms)).map(|ms| ms as f64)
    }

    /// The 95th percentile of all kept samples, once there are enough.
    pub(crate) fn settled_p95(&self) -> Option<u64> {
        (self.samples.len() >= ENOUGH).then(|| percentile(95, self.samples.iter().map(|(_, ms)| *ms))).flatten()
    }
}

/// What is left of a weight after so long.
fn faded(age: Duration) -> f64 {
    0.5_f64.powf(age.as_secs_f64() / HALF_LIFE.as_secs_f64())
}

fn percentile(percent: usize, samples: impl Iterator<Item = u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = samples.collect();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_seeds_the_average_and_later_ones_move_it_by_three_tenths() {
        let mut l = Latency::default();
        l.measured(Duration::from_millis(1000), Time::secs(1));
        assert_eq!(l.known(Time::secs(1)), Some((1000.0, 1.0)));
        l.measured(Duration::from_millis(2000), Time::secs(1));
        assert!((l.known(Time::secs(1)).unwrap().0 - 1300.0).abs() < 1e-6);
    }

    #[test]
    fn an_average_loses_its_weight_with_time() {
        let mut l = Latency::default();
        l.failed(Time::secs(0));
        assert!((l.known(Time::secs(600)).unwrap().1 - 0.5).abs() < 1e-9);
        l.measured(Duration::from_millis(100), Time::secs(60_000));
        assert!((l.known(Time::secs(60_000)).unwrap().0 - 100.0).abs() < 1.0);
    }

    #[test]
    fn a_restored_average_has_aged_meanwhile() {
        let l = Latency::restored(300.0, 1.0, Duration::from_secs(1200), Time::secs(0));
        assert_eq!(l.known(Time::secs(0)), Some((300.0, 0.25)));
        assert_eq!(l.known(Time::secs(600)), Some((300.0, 0.125)));
    }

    #[test]
    fn a_failure_slows_the_average_and_leaves_the_median_alone() {
        let mut l = Latency::default();
        l.failed(Time::secs(1));
        assert_eq!(l.median(), None);
        for ms in [300, 100, 200] {
            l.measured(Duration::from_millis(ms), Time::secs(2));
        }
        l.failed(Time::secs(3));
        assert_eq!(l.median(), Some(200.0));
    }

    #[test]
    fn a_percentile_needs_five_samples_before_it_sets_a_limit() {
        let mut l = Latency::default();
        for ms in [100, 200, 300, 400] {
            l.measured(Duration::from_millis(ms), Time::secs(1));
        }
        assert_eq!(l.settled_p95(), None);
        assert_eq!(l.p95(Duration::from_secs(300), Time::secs(2)), Some(400));
        assert_eq!(l.p95(Duration::from_secs(300), Time::secs(400)), None);
        l.measured(Duration::from_millis(500), Time::secs(1));
        assert_eq!(l.settled_p95(), Some(500));
    }
}
