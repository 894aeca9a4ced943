//! How often a site may be asked. new-api allows 20 questions about tokens in 20 minutes from one address, whichever
//! key asks; a site that answers 429 is left alone.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use headgate_routing::Time;

const SPAN: Duration = Duration::from_secs(20 * 60);
const QUESTIONS: usize = 20;
const REST: Duration = Duration::from_secs(30 * 60);

/// What was asked of each site.
#[derive(Debug, Default)]
pub struct Budgets {
    sites: HashMap<String, Site>,
}

#[derive(Debug, Default)]
struct Site {
    asked: VecDeque<Time>,
    rests_until: Option<Time>,
}

impl Budgets {
    /// When the site may be asked at all.
    ///
    /// # Errors
    /// It rests, until then.
    pub fn awake(&self, site: &str, now: Time) -> Result<(), Time> {
        match self.sites.get(site).and_then(|s| s.rests_until).filter(|until| *until > now) {
            Some(until) => Err(until),
            None => Ok(()),
        }
    }

    /// Takes a question that the site counts.
    ///
    /// # Errors
    /// There is none left, until then.
    pub fn take(&mut self, site: &str, now: Time) -> Result<(), Time> {
        let site = self.sites.entry(site.to_owned()).or_default();
        while site.asked.front().is_some_and(|at| *at + SPAN <= now) {
            site.asked.pop_front();
        }
        match site.asked.front() {
            Some(first) if site.asked.len() >= QUESTIONS => Err(*first + SPAN),
            _ => {
                site.asked.push_back(now);
                Ok(())
            }
        }
    }

    /// The site said that it was asked too often: until when it rests.
    pub fn rest(&mut self, site: &str, now: Time) -> Time {
        let until = now + REST;
        self.sites.entry(site.to_owned()).or_default().rests_until = Some(until);
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(n: u64) -> Time {
        Time(Duration::from_secs(60 * n))
    }

    #[test]
    fn twenty_questions_in_twenty_minutes_and_no_more() {
        let mut budgets = Budgets::default();
        for n in 0..20 {
            assert_eq!(budgets.take("a", minute(n / 2)), Ok(()));
        }
        assert_eq!(budgets.take("a", minute(10)), Err(minute(20)));
        assert_eq!(budgets.take("b", minute(10)), Ok(()));
        assert_eq!(budgets.take("a", minute(20)), Ok(()));
    }

    #[test]
    fn a_site_that_was_asked_too_often_rests_half_an_hour() {
        let mut budgets = Budgets::default();
        budgets.rest("a", minute(0));
        assert_eq!(budgets.awake("a", minute(29)), Err(minute(30)));
        assert_eq!(budgets.awake("a", minute(30)), Ok(()));
        assert_eq!(budgets.awake("b", minute(1)), Ok(()));
    }
}
