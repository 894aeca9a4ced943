//! Repeats on the same candidate: after which classes, after how long, and how many altogether.

use std::time::Duration;

use headgate_domain::Class;
use rand::{Rng, RngExt};

use crate::{cooldown::doubled, time::Time, window::Window};

/// Repeats that are always allowed within the window.
const FREE: u64 = 3;
const FIRST: Duration = Duration::from_millis(200);
const MOST: Duration = Duration::from_secs(2);

/// Whether a failure of this class may be repeated on the same candidate.
pub fn may_repeat(class: Class) -> bool {
    matches!(class, Class::RateLimited | Class::Overloaded | Class::Server | Class::Connect)
}

/// How long to wait before the repeat with this number (0 is the first): anything up to 200 ms, doubling up to 2 s.
pub fn repeat_delay(number: u32, rng: &mut (impl Rng + ?Sized)) -> Duration {
    doubled(FIRST, number, MOST).mul_f64(rng.random_range(0.0..=1.0))
}

/// Keeps repeats a small share of the requests of the last 10 s.
#[derive(Debug, Clone)]
pub struct RetryBudget {
    share: f64,
    /// Requests and repeats.
    window: Window<10>,
}

impl RetryBudget {
    /// Repeats may be this share of requests.
    pub fn new(share: f64) -> Self {
        Self { share, window: Window::over(Duration::from_secs(10)) }
    }

    /// Takes over a changed setting.
    pub fn set_share(&mut self, share: f64) {
        self.share = share;
    }

    /// Counts a client request.
    pub fn request(&mut self, now: Time) {
        self.window.add(now, 1, 0);
    }

    /// Takes one repeat, if the budget has it.
    pub fn take(&mut self, now: Time) -> bool {
        let (requests, repeats) = self.window.sum(now);
        #[expect(clippy::cast_precision_loss, reason = "counts of ten seconds")]
        let within = (repeats + 1) as f64 <= self.share * requests as f64;
        let allowed = repeats < FREE || within;
        if allowed {
            self.window.add(now, 0, 1);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::rng;

    #[test]
    fn three_repeats_are_free_and_then_a_fifth_of_the_requests() {
        let mut budget = RetryBudget::new(0.2);
        let now = Time::secs(5);
        assert_eq!([0; 5].map(|_| budget.take(now)), [true, true, true, false, false]);
        for _ in 0..25 {
            budget.request(now);
        }
        assert_eq!([0; 3].map(|_| budget.take(now)), [true, true, false]);
        assert!(budget.take(Time::secs(15)));
    }

    #[test]
    fn delays_are_jittered_and_double_up_to_two_seconds() {
        let mut rng = rng(1);
        for (number, most) in [(0, 200), (1, 400), (3, 1600), (4, 2000), (40, 2000)] {
            let longest = (0..500).map(|_| repeat_delay(number, &mut rng).as_millis()).max().unwrap();
            assert!(longest <= most && longest > most * 9 / 10, "{longest} of {most}");
        }
    }

    #[test]
    fn only_what_may_pass_by_itself_is_repeated() {
        assert!([Class::RateLimited, Class::Overloaded, Class::Server, Class::Connect].into_iter().all(may_repeat));
        assert!(
            ![Class::Ok, Class::Credential, Class::Exhausted, Class::ClientFault, Class::Cut]
                .into_iter()
                .any(may_repeat)
        );
    }
}
