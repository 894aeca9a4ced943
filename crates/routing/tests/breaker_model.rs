//! The breaker against a reference model that is written as the rules read. `PROPTEST_CASES` sets the size.

use std::time::Duration;

use headgate_domain::{Class, GroupId, Protocol, UpstreamId, UpstreamKind, audit::BreakerState, audit::Selection};
use headgate_routing::{Completion, Health, Lease, Need, Policy, Pool, PoolMember, Time, Transition, Tried};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

const U: UpstreamId = UpstreamId(1);

#[derive(Debug, Clone)]
enum Step {
    Claim,
    /// Which of the claims under way (modulo), and how it ends.
    Return(usize, Class),
    Wait(u64),
}

#[derive(Debug, PartialEq)]
enum State {
    Closed,
    Open { until: Time },
    HalfOpen { trial: Option<(usize, Time)>, successes: u32 },
}

/// The rules, without regard to speed.
struct Model {
    state: State,
    generation: u32,
    in_a_row: u32,
    openings: u32,
    /// Bucket of 30 s and whether it was a success.
    results: Vec<(u64, bool)>,
}

#[derive(Debug, PartialEq)]
enum Expected {
    Nothing,
    Opens,
    Closes,
}

impl Model {
    fn state(&self, now: Time) -> BreakerState {
        match self.state {
            State::Closed => BreakerState::Closed,
            State::Open { until } if now < until => BreakerState::Open,
            _ => BreakerState::HalfOpen,
        }
    }

    fn trial_runs(&self, now: Time) -> bool {
        matches!(self.state, State::HalfOpen { trial: Some((_, deadline)), .. } if now < deadline)
    }

    fn result(&mut self, number: usize, generation: u32, class: Class, now: Time) -> Expected {
        if let State::HalfOpen { trial, .. } = &mut self.state
            && trial.is_some_and(|(of, _)| of == number)
        {
            *trial = None;
        }
        if generation != self.generation {
            return Expected::Nothing;
        }
        match class {
            Class::Ok => self.success(now),
            Class::Server => self.failure(now),
            _ => Expected::Nothing,
        }
    }

    fn success(&mut self, now: Time) -> Expected {
        self.in_a_row = 0;
        let successes = match &mut self.state {
            State::Closed => {
                self.results.push((now.0.as_secs() / 30, true));
                return Expected::Nothing;
            }
            State::HalfOpen { successes, .. } => {
                *successes += 1;
                *successes
            }
            State::Open { .. } => {
                self.state = State::HalfOpen { trial: None, successes: 1 };
                1
            }
        };
        if successes < 2 {
            return Expected::Nothing;
        }
        self.state = State::Closed;
        self.openings = 0;
        self.results.clear();
        Expected::Closes
    }

    fn failure(&mut self, now: Time) -> Expected {
        let bucket = now.0.as_secs() / 30;
        match self.state {
            State::Closed => {
                self.in_a_row += 1;
                self.results.push((bucket, false));
                self.results.retain(|(at, _)| at + 10 > bucket);
                let bad = self.results.iter().filter(|(_, ok)| !ok).count();
                let rate = self.results.len() >= 10 && bad * 2 >= self.results.len();
                if self.in_a_row >= 3 || rate { Expected::Opens } else { Expected::Nothing }
            }
            State::HalfOpen { .. } => Expected::Opens,
            State::Open { until } if until <= now => Expected::Opens,
            State::Open { .. } => Expected::Nothing,
        }
    }

    fn opened(&mut self, until: Time) {
        self.state = State::Open { until };
        self.generation += 1;
        self.openings += 1;
        self.in_a_row = 0;
        self.results.clear();
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let class = prop_oneof![4 => Just(Class::Ok), 5 => Just(Class::Server), 1 => Just(Class::ClientGone)];
    let step = prop_oneof![
        5 => Just(Step::Claim),
        5 => (any::<usize>(), class).prop_map(|(at, class)| Step::Return(at, class)),
        2 => (0..40_000_u64).prop_map(Step::Wait),
        1 => (0..400_000_u64).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 1..120)
}

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn the_breaker_does_what_the_rules_say(steps in steps(), seed in any::<u64>()) {
        let mut rng = StdRng::seed_from_u64(seed);
        let policy = Policy::default();
        let mut health = Health::new(policy.clone());
        let pool = Pool { members: vec![PoolMember::new(U, UpstreamKind::Passthrough)], ..Pool::new(GroupId(1)) };
        let need = Need::new(Protocol::Chat, "m");
        let mut model = Model { state: State::Closed, generation: 0, in_a_row: 0, openings: 0, results: Vec::new() };
        let mut now = Time::secs(0);
        let mut under_way: Vec<(usize, u32, Lease)> = Vec::new();
        let mut number = 0;
        for step in steps {
            match step {
                Step::Wait(ms) => now = now + Duration::from_millis(ms),
                Step::Claim => {
                    let before = model.state(now);
                    let trial_ran = model.trial_runs(now);
                    let decision = health.decide(&pool, &need, &Tried::new(), now, &mut rng);
                    let Ok(choice) = decision else {
                        prop_assert!(before == BreakerState::Open || trial_ran, "refused while {before:?}");
                        continue;
                    };
                    number += 1;
                    prop_assert_eq!(choice.breaker_before, before);
                    match before {
                        BreakerState::Closed => prop_assert_eq!(choice.selection, Selection::Initial),
                        BreakerState::Open => prop_assert_eq!(choice.selection, Selection::LastResort),
                        BreakerState::HalfOpen => {
                            prop_assert_eq!(choice.selection, Selection::RecoveryTrial);
                            prop_assert!(!trial_ran, "two half-open leases");
                            let successes = match model.state {
                                State::HalfOpen { successes, .. } => successes,
                                _ => 0,
                            };
                            model.state = State::HalfOpen { trial: Some((number, now + policy.lease)), successes };
                        }
                    }
                    under_way.push((number, model.generation, choice.lease));
                }
                Step::Return(at, class) => {
                    if under_way.is_empty() {
                        continue;
                    }
                    let (number, generation, lease) = under_way.swap_remove(at % under_way.len());
                    let expected = model.result(number, generation, class, now);
                    let effect = health.complete(lease, &Completion::new(class), now, &mut rng);
                    match effect.transition {
                        None => prop_assert_eq!(expected, Expected::Nothing),
                        Some(Transition::Closed) => prop_assert_eq!(expected, Expected::Closes),
                        Some(Transition::Opened { until }) => {
                            prop_assert_eq!(expected, Expected::Opens);
                            let doubled = 30.0 * f64::from(1_u32 << model.openings.min(20));
                            let lasting = until.since(now).as_secs_f64();
                            let shortest = if model.openings == 0 { 30.0 } else { (doubled * 0.9).min(270.0) };
                            prop_assert!(lasting >= shortest - 1e-6 && lasting <= (doubled * 1.1).min(300.0) + 1e-6);
                            model.opened(until);
                        }
                    }
                }
            }
            prop_assert_eq!(health.view(U, now).state, model.state(now));
            prop_assert_eq!(health.in_flight(U), u32::try_from(under_way.len()).expect("few"));
        }
    }
}
