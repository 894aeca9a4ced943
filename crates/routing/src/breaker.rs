//! The breaker of one upstream: closed, open, half-open.

use std::time::Duration;

use headgate_domain::{Class, audit::BreakerState};
use rand::{Rng, RngExt};

use crate::{complete::Transition, cooldown::doubled, policy::Policy, time::Time, window::Window};

/// What is told of a trial that is under way: look again after so long.
const TRIAL_HINT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Open {
        until: Time,
    },
    /// At most one trial at a time: its serial number and until when it keeps others away.
    HalfOpen {
        trial: Option<(u64, Time)>,
        successes: u32,
    },
}

/// Whether a request may go to the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Like any other.
    Free,
    /// As the one trial.
    Trial,
    /// Not before then.
    Shut { until: Time },
    /// A trial is under way; then is when it is worth asking again.
    TrialUnderWay { until: Time },
}

/// Failures in a row. An answer that begins shows that the upstream takes requests now, whenever it will be whole: the
/// ends of long answers must not clear the strikes of requests that came after their beginning. But that one begins says
/// nothing of whether answers are finished.
#[derive(Debug, Clone, Copy, Default)]
struct Strikes {
    /// Before any output.
    early: u32,
    /// Of answers that had begun.
    late: u32,
}

/// The state of one breaker. Results carry the generation they began in; those of an older one change nothing.
#[derive(Debug, Clone)]
pub(crate) struct Breaker {
    phase: Phase,
    generation: u64,
    strikes: Strikes,
    /// Openings in a row without a closing between.
    openings: u32,
    /// Successes and failures.
    window: Window<10>,
    class: Class,
}

impl Breaker {
    pub(crate) fn new(generation: u64, policy: &Policy) -> Self {
        Self {
            phase: Phase::Closed,
            generation,
            strikes: Strikes::default(),
            openings: 0,
            window: Window::over(policy.breaker_window),
            class: Class::Ok,
        }
    }

    /// An open breaker as it was saved.
    pub(crate) fn restored(generation: u64, policy: &Policy, until: Time, openings: u32, class: Class) -> Self {
        Self { phase: Phase::Open { until }, openings, class, ..Self::new(generation, policy) }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn failures(&self) -> u32 {
        self.strikes.early.saturating_add(self.strikes.late)
    }

    pub(crate) fn openings(&self) -> u32 {
        self.openings
    }

    /// The class of the last failure that counted.
    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// Until when it is open.
    pub(crate) fn open_until(&self, now: Time) -> Option<Time> {
        match self.phase {
            Phase::Open { until } if now < until => Some(until),
            _ => None,
        }
    }

    pub(crate) fn state(&self, now: Time) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { until } if now < until => BreakerState::Open,
            Phase::Open { .. } | Phase::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    pub(crate) fn admission(&self, now: Time) -> Admission {
        match self.phase {
            Phase::Closed => Admission::Free,
            Phase::Open { until } if now < until => Admission::Shut { until },
            Phase::Open { .. } | Phase::HalfOpen { trial: None, .. } => Admission::Trial,
            Phase::HalfOpen { trial: Some((_, deadline)), .. } if now < deadline => {
                Admission::TrialUnderWay { until: deadline.min(now + TRIAL_HINT) }
            }
            Phase::HalfOpen { .. } => Admission::Trial,
        }
    }

    /// Takes the trial of a half-open breaker; to be called when [`Self::admission`] said [`Admission::Trial`].
    pub(crate) fn take_trial(&mut self, serial: u64, deadline: Time, now: Time) {
        match &mut self.phase {
            Phase::HalfOpen { trial, .. } => *trial = Some((serial, deadline)),
            Phase::Open { until } if *until <= now => {
                self.phase = Phase::HalfOpen { trial: Some((serial, deadline)), successes: 0 };
            }
            Phase::Open { .. } | Phase::Closed => {}
        }
    }

    /// Gives the trial back; results that say nothing about the upstream end here.
    pub(crate) fn settle(&mut self, serial: u64) {
        if let Phase::HalfOpen { trial, .. } = &mut self.phase
            && trial.is_some_and(|(of, _)| of == serial)
        {
            *trial = None;
        }
    }

    /// Takes the beginning of an answer of this generation.
    pub(crate) fn begun(&mut self) {
        self.strikes.early = 0;
    }

    /// Takes a success of this generation; `begun`: its beginning was taken before.
    pub(crate) fn succeed(&mut self, begun: bool, now: Time, policy: &Policy) -> Option<Transition> {
        self.strikes = Strikes { early: if begun { self.strikes.early } else { 0 }, late: 0 };
        self.window.add(now, 1, 0);
        let successes = match &mut self.phase {
            Phase::Closed => return None,
            Phase::HalfOpen { successes, .. } => {
                *successes += 1;
                *successes
            }
            // Only a last resort trial succeeds while open.
            Phase::Open { .. } => {
                self.phase = Phase::HalfOpen { trial: None, successes: 1 };
                1
            }
        };
        if successes < policy.breaker_recovery_successes {
            return None;
        }
        self.phase = Phase::Closed;
        self.openings = 0;
        self.strikes = Strikes::default();
        self.window.clear();
        Some(Transition::Closed)
    }

    /// Takes a failure of this generation; `begun`: the beginning of its answer was taken before, `trip` opens at once.
    pub(crate) fn fail(
        &mut self,
        class: Class,
        begun: bool,
        trip: bool,
        now: Time,
        policy: &Policy,
        rng: &mut (impl Rng + ?Sized),
    ) -> Option<Transition> {
        self.class = class;
        match self.phase {
            Phase::Closed => {
                let strikes = if begun { &mut self.strikes.late } else { &mut self.strikes.early };
                *strikes = strikes.saturating_add(1);
                self.window.add(now, 0, 1);
                (trip || self.failures() >= policy.breaker_failures || self.rate_is_bad(now, policy))
                    .then(|| self.open(now, policy, rng))
            }
            Phase::HalfOpen { .. } => Some(self.open(now, policy, rng)),
            // A last resort trial that failed changes nothing; one that outlasted the cooldown counts as the trial.
            Phase::Open { until } => (until <= now).then(|| self.open(now, policy, rng)),
        }
    }

    fn rate_is_bad(&self, now: Time, policy: &Policy) -> bool {
        let (ok, bad) = self.window.sum(now);
        let all = ok + bad;
        #[expect(clippy::cast_precision_loss, reason = "counts of results in minutes")]
        let share = bad as f64 / all.max(1) as f64;
        all >= u64::from(policy.breaker_min_results) && share >= policy.breaker_error_rate
    }

    fn open(&mut self, now: Time, policy: &Policy, rng: &mut (impl Rng + ?Sized)) -> Transition {
        let mut lasting = doubled(policy.breaker_open, self.openings, policy.breaker_open_max);
        if self.openings > 0 {
            // Upstreams that failed together are not all tried again at one moment.
            lasting = lasting.mul_f64(rng.random_range(0.9..1.1)).min(policy.breaker_open_max);
        }
        let until = now + lasting;
        self.phase = Phase::Open { until };
        self.generation += 1;
        self.openings = self.openings.saturating_add(1);
        self.strikes = Strikes::default();
        self.window.clear();
        Transition::Opened { until }
    }

    /// Opens it on another's word, until then at least; what is still under way no longer counts.
    pub(crate) fn open_until_at_least(&mut self, until: Time, class: Class) {
        let until = match self.phase {
            Phase::Open { until: own } => own.max(until),
            Phase::Closed | Phase::HalfOpen { .. } => {
                self.generation += 1;
                self.openings = self.openings.saturating_add(1);
                until
            }
        };
        self.phase = Phase::Open { until };
        self.class = class;
        self.strikes = Strikes::default();
        self.window.clear();
    }

    /// Ends the wait of an open breaker: a trial may show whether it is well.
    pub(crate) fn look_again(&mut self, now: Time) {
        if let Phase::Open { until } = &mut self.phase {
            *until = now.min(*until);
        }
    }

    /// Closes it by hand; what is still under way no longer counts.
    pub(crate) fn reset(&mut self) {
        self.phase = Phase::Closed;
        self.generation += 1;
        self.openings = 0;
        self.strikes = Strikes::default();
        self.window.clear();
    }

    /// Takes over a changed window length.
    pub(crate) fn adopt(&mut self, policy: &Policy) {
        self.window = Window::over(policy.breaker_window);
    }
}
