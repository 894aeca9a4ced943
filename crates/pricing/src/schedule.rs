//! What an upstream multiplies its list prices by, which may depend on the time of day.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeZone as _, Utc};
use chrono_tz::Tz;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Hours in which the multiplier is another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Its beginning on the clock of `zone`.
    pub start: NaiveTime,
    /// Its end; not after `start`: on the next day.
    pub end: NaiveTime,
    /// What the base is multiplied by meanwhile.
    pub factor: Decimal,
    /// Whose clock.
    pub zone: Tz,
}

/// A multiplier and its known schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Multiplier {
    /// Outside of the peak.
    pub base: Decimal,
    /// The peak, if there is one.
    pub peak: Option<Peak>,
}

/// A value and the bounds it lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounded {
    /// The best guess.
    pub value: Decimal,
    /// No less.
    pub low: Decimal,
    /// No more.
    pub high: Decimal,
}

impl Multiplier {
    /// The same at all times.
    pub fn flat(base: Decimal) -> Self {
        Self { base, peak: None }
    }

    /// The multiplier at a moment.
    pub fn at(&self, at: DateTime<Utc>) -> Decimal {
        let Some(peak) = &self.peak else { return self.base };
        let clock = at.with_timezone(&peak.zone).time();
        let inside = if peak.start < peak.end {
            peak.start <= clock && clock < peak.end
        } else {
            peak.start <= clock || clock < peak.end
        };
        if inside { self.base * peak.factor } else { self.base }
    }

    /// The mean over a span of time, by the known schedule, and the lowest and highest within it.
    pub fn over(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> Bounded {
        let Some(peak) = self.peak.as_ref().filter(|_| to > from) else {
            let value = self.at(from);
            return Bounded { value, low: value, high: value };
        };
        let whole = (to - from).num_milliseconds();
        let inside = peak.within(from, to).min(whole);
        let (off, on) = (self.base, self.base * peak.factor);
        let value =
            if whole == 0 { self.at(from) } else { off + (on - off) * Decimal::from(inside) / Decimal::from(whole) };
        let (mut low, mut high) = (off.min(on), off.max(on));
        if inside == 0 || inside == whole {
            (low, high) = (value, value);
        }
        Bounded { value, low, high }
    }
}

impl Peak {
    /// Milliseconds of the peak within a span.
    fn within(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> i64 {
        let day_of = |at: DateTime<Utc>| at.with_timezone(&self.zone).date_naive();
        // A peak that lasts over midnight may have begun the day before.
        let mut day = day_of(from).checked_sub_days(Days::new(1));
        let last = day_of(to);
        let mut sum = 0;
        while let Some(today) = day.filter(|d| *d <= last) {
            let tomorrow = today.checked_add_days(Days::new(1));
            let ends = if self.start < self.end { Some(today) } else { tomorrow };
            if let (Some(begin), Some(end)) =
                (self.moment(today, self.start), ends.and_then(|d| self.moment(d, self.end)))
            {
                sum += (end.min(to) - begin.max(from)).num_milliseconds().max(0);
            }
            day = tomorrow;
        }
        sum
    }

    /// A clock's time on a day; where the clock is put forward over it, an hour later.
    fn moment(&self, day: NaiveDate, time: NaiveTime) -> Option<DateTime<Utc>> {
        let local = day.and_time(time);
        let found = self.zone.from_local_datetime(&local).earliest();
        let later = || self.zone.from_local_datetime(&(local + chrono::TimeDelta::hours(1))).earliest();
        found.or_else(later).map(|at| at.with_timezone(&Utc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn evening(zone: &str) -> Multiplier {
        let time = |h| NaiveTime::from_hms_opt(h, 0, 0).unwrap();
        let peak = Peak { start: time(18), end: time(22), factor: Decimal::TWO, zone: zone.parse().unwrap() };
        Multiplier { base: Decimal::ONE, peak: Some(peak) }
    }

    #[test]
    fn a_peak_is_on_the_clock_of_its_zone() {
        let m = evening("Asia/Shanghai");
        assert_eq!(m.at(at("2026-03-01T10:00:00Z")), Decimal::TWO);
        assert_eq!(m.at(at("2026-03-01T14:00:00Z")), Decimal::ONE);
        assert_eq!(m.at(at("2026-03-01T09:59:59Z")), Decimal::ONE);
    }

    #[test]
    fn the_mean_over_a_span_is_by_the_share_of_the_peak() {
        let m = evening("UTC");
        let mean = |from, to| m.over(at(from), at(to));
        assert_eq!(mean("2026-03-01T17:00:00Z", "2026-03-01T19:00:00Z").value, Decimal::new(15, 1));
        assert_eq!(mean("2026-03-01T18:30:00Z", "2026-03-01T19:00:00Z").low, Decimal::TWO);
        assert_eq!(
            mean("2026-03-01T00:00:00Z", "2026-03-03T00:00:00Z").value,
            Decimal::ONE + Decimal::ONE / Decimal::from(6)
        );
        assert_eq!(mean("2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z").high, Decimal::ONE);
    }

    #[test]
    fn a_peak_may_last_over_midnight_and_a_change_of_the_clock() {
        let time = |h| NaiveTime::from_hms_opt(h, 0, 0).unwrap();
        let zone = "Europe/Berlin".parse().unwrap();
        let peak = Peak { start: time(22), end: time(4), factor: Decimal::TWO, zone };
        let m = Multiplier { base: Decimal::ONE, peak: Some(peak) };
        // The night of 29 March has an hour less.
        let night = m.over(at("2026-03-28T21:00:00Z"), at("2026-03-29T02:00:00Z"));
        assert_eq!((night.low, night.high), (Decimal::TWO, Decimal::TWO));
        let day = m.over(at("2026-03-28T11:00:00Z"), at("2026-03-29T11:00:00Z"));
        assert_eq!(day.value, Decimal::ONE + Decimal::from(5) / Decimal::from(24));
    }
}
