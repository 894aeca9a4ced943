//! The limits of access keys: requests at the same time, requests and tokens a minute. Checked before the funnel.

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::{KeyId, upstream::Limits};

use crate::{time::Time, window::Window};

/// What each access key has under way and has used in the last minute. Limits are counted per process.
#[derive(Debug, Default)]
pub struct Allowances {
    keys: BTreeMap<KeyId, Use>,
}

#[derive(Debug)]
struct Use {
    in_flight: u32,
    /// Requests and tokens.
    minute: Window<12>,
}

/// A request that was admitted, to be given back when it ends.
#[derive(Debug)]
#[must_use = "a request that is not given back counts as under way for ever"]
pub struct Grant(KeyId);

/// Which limit of a key is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Requests at the same time.
    Concurrency(u32),
    /// Requests a minute.
    Requests(u32),
    /// Tokens a minute.
    Tokens(u64),
}

/// A request that its key's limits do not admit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// The limit.
    pub reached: Reached,
    /// When some of it is free again, where that is known.
    pub retry_at: Option<Time>,
}

impl Allowances {
    /// Counts a request of this estimated prompt, if the limits admit it.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn admit(&mut self, key: KeyId, limits: &Limits, estimated_input: u64, now: Time) -> Result<Grant, Exceeded> {
        let used =
            self.keys.entry(key).or_insert_with(|| Use { in_flight: 0, minute: Window::over(Duration::from_secs(60)) });
        if let Some(most) = limits.concurrency.filter(|most| used.in_flight >= *most) {
            return Err(Exceeded { reached: Reached::Concurrency(most), retry_at: None });
        }
        let (requests, tokens) = used.minute.sum(now);
        let reached = if let Some(most) = limits.rpm.filter(|most| requests >= u64::from(*most)) {
            Some(Reached::Requests(most))
        } else {
            // A prompt that alone exceeds the limit is let through when nothing else is counted, or it never would be.
            let over = |most: &u64| tokens > 0 && tokens.saturating_add(estimated_input) > *most;
            limits.tpm.filter(over).map(Reached::Tokens)
        };
        if let Some(reached) = reached {
            return Err(Exceeded { reached, retry_at: used.minute.next_relief(now) });
        }
        used.in_flight += 1;
        used.minute.add(now, 1, estimated_input);
        Ok(Grant(key))
    }

    /// Takes a request back, with the tokens it has produced.
    pub fn finish(&mut self, grant: Grant, output_tokens: u64, now: Time) {
        if let Some(used) = self.keys.get_mut(&grant.0) {
            used.in_flight = used.in_flight.saturating_sub(1);
            used.minute.add(now, 0, output_tokens);
        }
    }

    /// Requests under way.
    pub fn in_flight(&self, key: KeyId) -> u32 {
        self.keys.get(&key).map_or(0, |used| used.in_flight)
    }

    /// Forgets keys that were deleted, as soon as nothing of them is under way.
    pub fn retain(&mut self, exists: impl Fn(KeyId) -> bool) {
        self.keys.retain(|key, used| used.in_flight > 0 || exists(*key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: KeyId = KeyId(1);

    fn limits(concurrency: Option<u32>, rpm: Option<u32>, tpm: Option<u64>) -> Limits {
        Limits { concurrency, rpm, tpm }
    }

    #[test]
    fn a_key_without_limits_is_always_admitted() {
        let mut all = Allowances::default();
        for n in 0..1000 {
            drop(all.admit(KEY, &Limits::default(), u64::MAX, Time::secs(n)).unwrap());
        }
    }

    #[test]
    fn requests_at_the_same_time_are_counted_until_they_are_given_back() {
        let mut all = Allowances::default();
        let two = limits(Some(2), None, None);
        let first = all.admit(KEY, &two, 1, Time::secs(0)).unwrap();
        let _second = all.admit(KEY, &two, 1, Time::secs(0)).unwrap();
        let refused = all.admit(KEY, &two, 1, Time::secs(0)).unwrap_err();
        assert_eq!(refused, Exceeded { reached: Reached::Concurrency(2), retry_at: None });
        assert!(all.admit(KeyId(2), &two, 1, Time::secs(0)).is_ok());
        all.finish(first, 0, Time::secs(1));
        assert!(all.admit(KEY, &two, 1, Time::secs(1)).is_ok());
        assert_eq!(all.in_flight(KEY), 2);
    }

    #[test]
    fn a_minutes_requests_and_tokens_come_back_when_they_are_a_minute_old() {
        let mut all = Allowances::default();
        let one = limits(None, Some(1), None);
        let done = all.admit(KEY, &one, 1, Time::secs(0)).unwrap();
        all.finish(done, 0, Time::secs(0));
        let refused = all.admit(KEY, &one, 1, Time::secs(30)).unwrap_err();
        assert_eq!(refused, Exceeded { reached: Reached::Requests(1), retry_at: Some(Time::secs(60)) });
        assert!(all.admit(KEY, &one, 1, Time::secs(60)).is_ok());

        let mut all = Allowances::default();
        let tokens = limits(None, None, Some(100));
        // The first is let through whatever its size; what it produced counts, too.
        let done = all.admit(KEY, &tokens, 70, Time::secs(0)).unwrap();
        all.finish(done, 20, Time::secs(0));
        assert!(all.admit(KEY, &tokens, 10, Time::secs(1)).is_ok());
        let refused = all.admit(KEY, &tokens, 1, Time::secs(2)).unwrap_err();
        assert_eq!(refused.reached, Reached::Tokens(100));
    }

    #[test]
    fn a_deleted_key_is_forgotten_when_its_last_request_has_ended() {
        let mut all = Allowances::default();
        let open = all.admit(KEY, &Limits::default(), 1, Time::secs(0)).unwrap();
        all.retain(|_| false);
        assert_eq!(all.in_flight(KEY), 1);
        all.finish(open, 0, Time::secs(0));
        all.retain(|_| false);
        assert!(all.keys.is_empty());
    }
}
