//! Cooldowns and exclusions: how long, and how they grow.

use std::time::Duration;

use headgate_domain::Class;

use crate::time::Time;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// How long a class cools: first, doubling up to, and the longest wait an upstream may ask for.
struct Span {
    first: Duration,
    most: Duration,
    asked: Option<Duration>,
}

fn span(class: Class) -> Span {
    match class {
        Class::Exhausted => Span { first: 5 * MINUTE, most: 4 * HOUR, asked: Some(32 * DAY) },
        Class::RateLimited => Span { first: Duration::from_secs(5), most: 5 * MINUTE, asked: Some(HOUR) },
        Class::ModelMissing => Span { first: 5 * MINUTE, most: 6 * HOUR, asked: None },
        Class::Overloaded => Span { first: Duration::ZERO, most: Duration::ZERO, asked: Some(5 * MINUTE) },
        _ => Span { first: 5 * MINUTE, most: 4 * HOUR, asked: None },
    }
}

/// `first` doubled `times` times, at most `most`.
pub(crate) fn doubled(first: Duration, times: u32, most: Duration) -> Duration {
    first.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX)).min(most)
}

/// A time during which something is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cooldown {
    pub(crate) class: Class,
    pub(crate) since: Time,
    pub(crate) until: Time,
    /// How often it has been confirmed after it had ended.
    pub(crate) step: u32,
}

impl Cooldown {
    /// The cooldown after another failure. It grows only when the last one of this class had run out: failures of
    /// requests that were under way together are one event.
    pub(crate) fn after(
        previous: Option<Self>,
        class: Class,
        retry_after: Option<Duration>,
        now: Time,
    ) -> Option<Self> {
        let Span { first, most, asked } = span(class);
        let previous_same = previous.filter(|p| p.class == class);
        let step = match previous_same {
            Some(p) if p.until <= now => p.step.saturating_add(1),
            Some(p) => p.step,
            None => 0,
        };
        let lasting = match (asked, retry_after) {
            (Some(most_asked), Some(wait)) => wait.min(most_asked),
            _ => doubled(first, step, most),
        };
        let mut next = Self { class, since: now, until: now + lasting, step };
        if let Some(active) = previous.filter(|p| p.until > now)
            && active.until >= next.until
        {
            // The longer of two keeps its class: it says what has to pass.
            next = Self { since: now, ..active };
        }
        (next.until > now).then_some(next)
    }

    /// Whether it still lasts.
    pub(crate) fn lasts(&self, now: Time) -> bool {
        now < self.until
    }
}

/// A model an upstream does not have, until a re-test says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub(crate) cooldown: Cooldown,
    /// The one request that looks again after the end, and until when others stay away.
    pub(crate) retest: Option<(u64, Time)>,
}

impl Exclusion {
    /// Until when the model is not asked for.
    pub(crate) fn until(&self, now: Time) -> Option<Time> {
        if self.cooldown.lasts(now) {
            return Some(self.cooldown.until);
        }
        self.retest.map(|(_, deadline)| deadline).filter(|deadline| now < *deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(previous: Option<Cooldown>, class: Class, asked: Option<u64>, now: u64) -> Option<Cooldown> {
        Cooldown::after(previous, class, asked.map(Duration::from_secs), Time::secs(now))
    }

    fn growth(class: Class, times: usize) -> Vec<u64> {
        let (mut last, mut now, mut seen) = (None, 0, Vec::new());
        for _ in 0..times {
            let c = next(last, class, None, now).unwrap();
            seen.push(c.until.since(c.since).as_secs());
            now = c.until.0.as_secs();
            last = Some(c);
        }
        seen
    }

    #[test]
    fn cooldowns_double_up_to_their_most() {
        assert_eq!(growth(Class::Credential, 7), [300, 600, 1200, 2400, 4800, 9600, 14400]);
        assert_eq!(growth(Class::Exhausted, 8), [300, 600, 1200, 2400, 4800, 9600, 14400, 14400]);
        assert_eq!(growth(Class::RateLimited, 8), [5, 10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(growth(Class::ModelMissing, 9), [300, 600, 1200, 2400, 4800, 9600, 19200, 21600, 21600]);
    }

    #[test]
    fn what_an_upstream_asks_for_is_honoured_within_its_limit() {
        let lasting = |class, asked| next(None, class, Some(asked), 0).unwrap().until.0.as_secs();
        assert_eq!(lasting(Class::RateLimited, 42), 42);
        assert_eq!(lasting(Class::RateLimited, 7200), 3600);
        assert_eq!(lasting(Class::Overloaded, 7200), 300);
        assert_eq!(lasting(Class::Exhausted, 10 * 86_400), 10 * 86_400);
        assert_eq!(lasting(Class::Exhausted, 90 * 86_400), 32 * 86_400);
        assert_eq!(lasting(Class::Credential, 10), 300);
        assert_eq!(next(None, Class::Overloaded, None, 0), None);
    }

    #[test]
    fn failures_under_way_together_are_one_event() {
        let first = next(None, Class::Credential, None, 0);
        let second = next(first, Class::Credential, None, 10).unwrap();
        assert_eq!((second.step, second.until), (0, Time::secs(310)));
        let third = next(Some(second), Class::Credential, None, 310).unwrap();
        assert_eq!((third.step, third.until), (1, Time::secs(910)));
    }

    #[test]
    fn a_shorter_cooldown_does_not_shorten_a_longer_one() {
        let long = next(None, Class::Credential, None, 0);
        let after = next(long, Class::RateLimited, None, 10).unwrap();
        assert_eq!((after.class, after.until), (Class::Credential, Time::secs(300)));
    }
}
