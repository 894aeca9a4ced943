//! Two counters over a sliding window, in a fixed number of buckets.

use std::time::Duration;

use crate::time::Time;

/// Two counters over the last `N` buckets of `width` each. Memory and time do not grow with the traffic.
#[derive(Debug, Clone)]
pub(crate) struct Window<const N: usize> {
    width: Duration,
    /// The bucket, counted from the start of time, that was last written.
    head: u64,
    cells: [(u64, u64); N],
}

impl<const N: usize> Window<N> {
    /// A window that looks back over `span`.
    pub(crate) fn over(span: Duration) -> Self {
        let width = span / u32::try_from(N).unwrap_or(1).max(1);
        Self { width: width.max(Duration::from_millis(1)), head: 0, cells: [(0, 0); N] }
    }

    fn bucket(&self, now: Time) -> u64 {
        u64::try_from(now.0.as_nanos() / self.width.as_nanos().max(1)).unwrap_or(u64::MAX)
    }

    fn cell(bucket: u64) -> usize {
        usize::try_from(bucket % N as u64).unwrap_or(0)
    }

    /// Adds to both counters.
    pub(crate) fn add(&mut self, now: Time, first: u64, second: u64) {
        let at = self.bucket(now).max(self.head);
        if at - self.head >= N as u64 {
            self.cells = [(0, 0); N];
        } else {
            for stale in self.head + 1..=at {
                if let Some(cell) = self.cells.get_mut(Self::cell(stale)) {
                    *cell = (0, 0);
                }
            }
        }
        self.head = at;
        if let Some(cell) = self.cells.get_mut(Self::cell(at)) {
            cell.0 = cell.0.saturating_add(first);
            cell.1 = cell.1.saturating_add(second);
        }
    }

    /// Both counters over the window that ends now.
    pub(crate) fn sum(&self, now: Time) -> (u64, u64) {
        self.live(now)
            .fold((0, 0), |sum, (_, cell)| (u64::saturating_add(sum.0, cell.0), u64::saturating_add(sum.1, cell.1)))
    }

    /// When the oldest bucket that holds anything leaves the window.
    pub(crate) fn next_relief(&self, now: Time) -> Option<Time> {
        let oldest = self.live(now).filter(|(_, cell)| cell.0 > 0 || cell.1 > 0).map(|(bucket, _)| bucket).min()?;
        let nanos = self.width.as_nanos().saturating_mul(u128::from(oldest) + N as u128);
        Some(Time(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))))
    }

    fn live(&self, now: Time) -> impl Iterator<Item = (u64, (u64, u64))> {
        let at = self.bucket(now).max(self.head);
        (0..N as u64)
            .filter_map(move |back| self.head.checked_sub(back))
            .filter(move |bucket| bucket + N as u64 > at)
            .filter_map(|bucket| self.cells.get(Self::cell(bucket)).map(|cell| (bucket, *cell)))
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.cells = [(0, 0); N];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_window_no_longer_counts() {
        let mut w = Window::<10>::over(Duration::from_secs(100));
        w.add(Time::secs(5), 1, 0);
        w.add(Time::secs(55), 0, 2);
        assert_eq!(w.sum(Time::secs(55)), (1, 2));
        assert_eq!(w.sum(Time::secs(99)), (1, 2));
        assert_eq!(w.sum(Time::secs(100)), (0, 2));
        assert_eq!(w.next_relief(Time::secs(55)), Some(Time::secs(100)));
        w.add(Time::secs(100), 1, 0);
        assert_eq!(w.sum(Time::secs(100)), (1, 2));
        assert_eq!(w.sum(Time::secs(1000)), (0, 0));
        w.add(Time::secs(1000), 1, 1);
        assert_eq!(w.sum(Time::secs(1000)), (1, 1));
    }
}
