//! What results do to breakers, cooldowns and counts.

use headgate_domain::UpstreamId;

use super::*;
use crate::{Need, Pool, Tried, UpstreamHealth, test_support::*};

const U: UpstreamId = UpstreamId(1);
const T0: Time = Time::secs(100);

struct Bench {
    health: Health,
    pool: Pool,
    now: Time,
    rng: rand::rngs::StdRng,
}

impl Bench {
    fn new() -> Self {
        Self { health: Health::new(Policy::default()), pool: pool(&[1]), now: T0, rng: rng(7) }
    }

    fn claim(&mut self) -> Lease {
        self.health.decide(&self.pool, &need(), &Tried::new(), self.now, &mut self.rng).unwrap().lease
    }

    fn done(&mut self, lease: Lease, done: &Completion) -> Effect {
        self.health.complete(lease, done, self.now, &mut self.rng)
    }

    fn attempt(&mut self, class: Class) -> Effect {
        let lease = self.claim();
        self.done(lease, &Completion::new(class))
    }

    fn pass(&mut self, seconds: u64) {
        self.now = self.now + Duration::from_secs(seconds);
    }

    fn view(&self) -> UpstreamHealth {
        self.health.view(U, self.now)
    }
}

#[test]
fn three_failures_in_a_row_open_and_two_successes_in_a_row_close() {
    let mut b = Bench::new();
    b.attempt(Class::Server);
    b.attempt(Class::Server);
    b.attempt(Class::Ok);
    assert_eq!(b.view().failures, 0);
    b.attempt(Class::Server);
    b.attempt(Class::Connect);
    let effect = b.attempt(Class::Broken);
    assert_eq!(effect.transition, Some(Transition::Opened { until: T0 + Duration::from_secs(30) }));
    assert_eq!(
        (b.view().state, b.view().last_failure, b.view().open_ms),
        (BreakerState::Open, Some(Class::Broken), Some(30_000))
    );
    b.pass(30);
    assert_eq!(b.attempt(Class::Ok).breaker_after, BreakerState::HalfOpen);
    let effect = b.attempt(Class::Ok);
    assert_eq!((effect.breaker_after, effect.transition), (BreakerState::Closed, Some(Transition::Closed)));
    assert_eq!(b.view().openings, 0);
}

#[test]
fn a_failed_trial_opens_for_twice_as_long_up_to_five_minutes() {
    let mut b = Bench::new();
    for _ in 0..3 {
        b.attempt(Class::Server);
    }
    let mut expected: f64 = 30_000.0;
    for _ in 0..6 {
        b.now = b.now + Duration::from_millis(b.view().open_ms.unwrap());
        b.attempt(Class::Server);
        expected = (expected * 2.0).min(300_000.0);
        #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
        let open = b.view().open_ms.unwrap() as f64;
        assert!((expected * 0.89..=expected * 1.11).contains(&open) && open <= 300_000.0, "{open} for {expected}");
    }
}

#[test]
fn half_of_ten_results_in_five_minutes_open_it() {
    let mut b = Bench::new();
    for class in [Class::Ok, Class::Server].into_iter().cycle().take(9) {
        assert_eq!(b.attempt(class).transition, None);
    }
    assert!(matches!(b.attempt(Class::Server).transition, Some(Transition::Opened { .. })));
    // The same spread over longer than the window does not.
    let mut b = Bench::new();
    for class in [Class::Ok, Class::Server].into_iter().cycle().take(40) {
        assert_eq!(b.attempt(class).transition, None);
        b.pass(40);
    }
}

#[test]
fn late_results_of_an_older_generation_change_nothing_but_the_count_in_flight() {
    let mut b = Bench::new();
    let late: Vec<_> = (0..5).map(|_| b.claim()).collect();
    for _ in 0..3 {
        b.attempt(Class::Server);
    }
    assert_eq!(b.view().in_flight, 5);
    b.pass(30);
    let before = b.view();
    for (lease, class) in
        late.into_iter().zip([Class::Ok, Class::Server, Class::Credential, Class::ModelMissing, Class::Ok])
    {
        assert_eq!(b.done(lease, &Completion::new(class)).transition, None);
    }
    assert_eq!(b.view(), UpstreamHealth { in_flight: 0, ..before });
}

#[test]
fn a_stream_that_passes_the_unadapted_limit_trips_at_once() {
    let mut b = Bench::new();
    let lease = b.claim();
    let effect = b.done(lease, &Completion { tripped: true, ..Completion::new(Class::SlowFirst) });
    assert_eq!(effect.breaker_after, BreakerState::Open);
}

#[test]
fn classes_without_scope_never_change_health() {
    let mut b = Bench::new();
    b.attempt(Class::Server);
    let before = b.view();
    for class in [
        Class::ClientGone,
        Class::ClientFault,
        Class::ContentPolicy,
        Class::Deadline,
        Class::Untranslatable,
        Class::Gateway,
    ] {
        for _ in 0..50 {
            let effect = b.attempt(class);
            assert_eq!((effect.transition, effect.needs_attention), (None, false), "{class:?}");
        }
        assert_eq!(b.view(), before, "{class:?}");
    }
}

#[test]
fn an_empty_answer_counts_only_without_reported_output() {
    let mut b = Bench::new();
    for tokens in [Some(5), Some(0), None] {
        let lease = b.claim();
        b.done(lease, &Completion { output_tokens: tokens, ..Completion::new(Class::Empty) });
    }
    assert_eq!(b.view().failures, 2);
}

#[test]
fn credentials_need_attention_and_rate_limits_do_not() {
    let mut b = Bench::new();
    assert!(b.attempt(Class::Credential).needs_attention);
    b.pass(300);
    assert!(b.attempt(Class::Exhausted).needs_attention);
    b.pass(4 * 3600);
    assert!(!b.attempt(Class::RateLimited).needs_attention);
    assert_eq!(b.view().state, BreakerState::Closed);
}

#[test]
fn a_rate_limit_of_one_model_leaves_the_others() {
    let mut b = Bench::new();
    let lease = b.claim();
    let limited = Completion {
        model_scoped: true,
        retry_after: Some(Duration::from_secs(9)),
        ..Completion::new(Class::RateLimited)
    };
    b.done(lease, &limited);
    let at = |b: &Bench, model| {
        b.health.explain(&b.pool, &Need { model, ..need() }, &Tried::new(), b.now, &mut rng(1)).retry_at
    };
    assert_eq!((at(&b, "m"), at(&b, "n")), (Some(T0 + Duration::from_secs(9)), None));
    assert_eq!(b.view().credentials[0].cooling[0].model.as_deref(), Some("m"));
}

#[test]
fn a_success_clears_strikes_only_when_it_began_after_the_cooldown() {
    let mut b = Bench::new();
    let early = b.claim();
    b.attempt(Class::RateLimited);
    b.pass(1);
    b.done(early, &Completion::ok(None));
    assert_eq!(b.view().credentials.len(), 1);
    b.pass(4);
    b.attempt(Class::RateLimited);
    assert_eq!(b.view().credentials[0].cooling[0].remaining_ms, 10_000);
    b.pass(10);
    b.attempt(Class::Ok);
    b.attempt(Class::RateLimited);
    assert_eq!(b.view().credentials[0].cooling[0].remaining_ms, 5_000);
}

#[test]
fn an_overloaded_upstream_is_left_alone_for_as_long_as_it_asks() {
    let mut b = Bench::new();
    let lease = b.claim();
    b.done(lease, &Completion { retry_after: Some(Duration::from_secs(20)), ..Completion::new(Class::Overloaded) });
    let refused = b.health.decide(&b.pool, &need(), &Tried::new(), b.now, &mut b.rng).unwrap_err();
    assert_eq!(refused.retry_at, Some(T0 + Duration::from_secs(20)));
    assert_eq!(b.view().failures, 1);
    b.pass(20);
    b.attempt(Class::Ok);
    assert_eq!(b.view().cooling, None);
}

#[test]
fn a_forgotten_upstream_takes_its_late_results_with_it() {
    let mut b = Bench::new();
    let late = b.claim();
    b.health.forget(U);
    let fresh = b.claim();
    b.done(late, &Completion::new(Class::Server));
    assert_eq!((b.view().in_flight, b.view().failures), (1, 0));
    b.done(fresh, &Completion::ok(None));
    assert_eq!(b.view().in_flight, 0);
}

#[test]
fn a_reset_closes_and_clears_and_late_results_no_longer_count() {
    let mut b = Bench::new();
    let late = b.claim();
    b.attempt(Class::ModelMissing);
    b.health.reset(U);
    b.attempt(Class::Credential);
    b.health.reset(U);
    for _ in 0..3 {
        b.attempt(Class::Server);
    }
    b.health.reset(U);
    let view = b.view();
    assert_eq!((view.state, view.credentials.len(), view.results), (BreakerState::Closed, 0, 3));
    b.done(late, &Completion::new(Class::Credential));
    assert!(b.view().credentials.is_empty());
    assert_eq!(b.attempt(Class::Ok).breaker_after, BreakerState::Closed);
}

#[test]
fn failures_look_slow_and_only_streams_measure() {
    let mut b = Bench::new();
    b.attempt(Class::Ok);
    let looks = |b: &Bench| b.health.upstreams.get(&U).and_then(|u| u.latency.known(b.now)).map(|(ms, _)| ms);
    assert_eq!(looks(&b), None);
    b.attempt(Class::Server);
    assert_eq!((looks(&b), b.view().ttft_ms), (Some(5000.0), None));
}

#[test]
fn the_first_response_limit_follows_what_was_observed() {
    let mut b = Bench::new();
    let limit = Duration::from_secs(120);
    let of = |b: &Bench, input, limit| b.health.first_response_limit(U, "m", input, limit);
    for _ in 0..5 {
        assert_eq!(of(&b, 0, limit), limit);
        let lease = b.claim();
        b.done(lease, &Completion::ok(Some(Duration::from_secs(8))));
    }
    assert_eq!(of(&b, 0, limit), Duration::from_secs(16));
    assert_eq!(of(&b, 100_000, limit), Duration::from_secs(26));
    assert_eq!(of(&b, 10_000_000, limit), limit);
    assert_eq!(of(&b, 0, Duration::from_secs(5)), Duration::from_secs(5));
    b.health.set_policy(Policy { adaptive_timeout: false, ..Policy::default() });
    assert_eq!(of(&b, 0, limit), limit);
}

#[test]
fn probes_fall_due_at_the_end_of_a_cooldown_and_close_the_breaker() {
    let mut b = Bench::new();
    for _ in 0..3 {
        b.attempt(Class::Server);
    }
    assert_eq!(b.health.due_probes(b.now), vec![]);
    assert_eq!(b.health.next_probe_at(b.now), Some(T0 + Duration::from_secs(30)));
    let member = b.pool.members[0].clone();
    assert!(b.health.claim_probe(&member, b.now).is_none());
    b.pass(30);
    for after in [BreakerState::HalfOpen, BreakerState::Closed] {
        let due = b.health.due_probes(b.now);
        assert_eq!(due.iter().map(|d| (d.upstream, d.model.as_str())).collect::<Vec<_>>(), [(U, "m")]);
        let probe = b.health.claim_probe(&member, b.now).unwrap();
        assert_eq!((probe.model.as_str(), probe.credential), ("m", Some(headgate_domain::CredentialId(1))));
        assert!(b.health.claim_probe(&member, b.now).is_none());
        assert!(b.health.due_probes(b.now).is_empty());
        assert_eq!(b.done(probe.lease, &Completion::ok(None)).breaker_after, after);
    }
    assert_eq!(b.view().in_flight, 0);
}

#[test]
fn an_upstream_nobody_asked_for_in_a_day_is_not_probed() {
    let mut b = Bench::new();
    for _ in 0..3 {
        b.attempt(Class::Server);
    }
    b.pass(86_399);
    assert_eq!(b.health.due_probes(b.now).len(), 1);
    b.pass(1);
    assert_eq!(b.health.due_probes(b.now).len(), 0);
    // A request of its group, even one that another member serves, brings it back.
    b.pool = pool(&[2, 1]);
    b.attempt(Class::Ok);
    assert_eq!(b.health.due_probes(b.now).len(), 1);
}

#[test]
fn health_outlives_a_restart() {
    let mut b = Bench::new();
    let lease = b.claim();
    b.done(lease, &Completion::ok(Some(Duration::from_millis(400))));
    b.attempt(Class::RateLimited);
    b.pass(5);
    for _ in 0..3 {
        b.attempt(Class::Server);
    }
    let text = serde_json::to_string(&b.health.save(b.now)).unwrap();
    let saved: crate::SavedHealth = serde_json::from_str(&text).unwrap();
    let before = b.view();
    let mut after = Health::new(Policy::default());
    after.restore(&saved, Duration::from_secs(10), Time::secs(1));
    let view = after.view(U, Time::secs(1));
    assert_eq!((view.state, view.open_ms, view.openings), (BreakerState::Open, Some(20_000), 1));
    assert_eq!(view.last_failure, before.last_failure);
    let looks = |health: &Health, at| health.upstreams.get(&U).and_then(|u| u.latency.known(at)).map(|(ms, _)| ms);
    assert_eq!(looks(&after, Time::secs(1)), looks(&b.health, b.now));
    assert_eq!(after.due_probes(Time::secs(21)).len(), 1);
    // What had run out meanwhile has run out, but its step is kept.
    assert!(view.credentials.is_empty());
}

#[test]
fn ends_of_answers_that_began_before_do_not_clear_the_strikes_of_those_that_came_after() {
    let mut b = Bench::new();
    let mut long: Vec<_> = (0..3).map(|_| b.claim()).collect();
    long.iter_mut().for_each(|lease| b.health.answered(lease));
    for n in 1..=3 {
        assert_eq!(b.attempt(Class::Server).transition.is_some(), n == 3);
        let lease = long.pop().unwrap();
        b.done(lease, &Completion::ok(Some(Duration::from_millis(5))));
    }
}

#[test]
fn an_answer_that_begins_clears_failures_before_output_and_not_those_of_answers_that_broke_off() {
    for (class, opens) in [(Class::Server, false), (Class::Cut, true)] {
        let mut b = Bench::new();
        let opened = (0..5).any(|_| {
            let (mut failing, mut beginning) = (b.claim(), b.claim());
            if class == Class::Cut {
                b.health.answered(&mut failing);
            }
            let opened = b.done(failing, &Completion::new(class)).transition.is_some();
            b.health.answered(&mut beginning);
            b.health.release(beginning, b.now);
            opened
        });
        assert_eq!(opened, opens, "{class:?}");
    }
}

#[test]
fn another_process_opens_and_closes_what_our_own_results_do_not_contradict() {
    let lasting = Duration::from_secs(30);
    let mut b = Bench::new();
    assert!(b.health.opened_elsewhere(U, Class::Server, lasting, Some("m"), b.now));
    assert_eq!((b.view().state, b.view().open_ms), (BreakerState::Open, Some(30_000)));
    assert!(!b.health.opened_elsewhere(U, Class::Server, lasting, None, b.now), "no news");
    b.health.closed_elsewhere(U, b.now);
    assert_eq!(b.view().state, BreakerState::HalfOpen, "a trial shows it");
    b.attempt(Class::Ok);
    b.attempt(Class::Ok);
    assert_eq!(b.view().state, BreakerState::Closed);
    assert!(!b.health.opened_elsewhere(U, Class::Server, lasting, None, b.now), "we know better");
    b.pass(10);
    assert!(b.health.opened_elsewhere(U, Class::Server, lasting, None, b.now));
}

#[test]
fn what_was_under_way_when_another_process_opened_the_breaker_changes_nothing() {
    let mut b = Bench::new();
    let lease = b.claim();
    b.health.opened_elsewhere(U, Class::Server, Duration::from_secs(30), None, b.now);
    b.done(lease, &Completion::new(Class::Ok));
    assert_eq!((b.view().state, b.view().in_flight), (BreakerState::Open, 0));
}

#[test]
fn a_refused_credential_and_its_acceptance_are_turns_and_a_rate_limit_is_none() {
    let mut b = Bench::new();
    let events = |effect: Effect| effect.turns.into_iter().map(|turn| turn.event).collect::<Vec<_>>();
    assert!(events(b.attempt(Class::RateLimited)).is_empty());
    b.pass(3600);
    assert!(events(b.attempt(Class::Ok)).is_empty());
    assert_eq!(events(b.attempt(Class::Exhausted)), [AlertEvent::CredentialExhausted]);
    b.pass(5 * 3600);
    assert_eq!(events(b.attempt(Class::Credential)), [AlertEvent::CredentialRejected]);
    b.pass(5 * 3600);
    assert_eq!(events(b.attempt(Class::Ok)), [AlertEvent::CredentialAccepted]);
    assert!(events(b.attempt(Class::Ok)).is_empty());
}

#[test]
fn a_model_is_gone_when_its_absence_is_confirmed_and_back_when_it_answers() {
    let mut b = Bench::new();
    assert!(b.attempt(Class::ModelMissing).turns.is_empty(), "once may be a slip");
    b.pass(301);
    let gone = b.attempt(Class::ModelMissing).turns;
    assert!(
        matches!(&gone[..], [Turn { event: AlertEvent::ModelGone, subject: Subject::Model(U, _), .. }]),
        "{gone:?}"
    );
    b.pass(601);
    let back = b.attempt(Class::Ok).turns;
    assert!(matches!(&back[..], [Turn { event: AlertEvent::ModelBack, .. }]), "{back:?}");
}

#[test]
fn a_breaker_turns_in_both_directions() {
    let mut b = Bench::new();
    b.attempt(Class::Server);
    b.attempt(Class::Server);
    let opened = b.attempt(Class::Server).turns;
    assert_eq!(opened, [Turn::new(Subject::Upstream(U), AlertEvent::UpstreamOpened, Class::Server)]);
    b.pass(60);
    assert!(b.attempt(Class::Ok).turns.is_empty());
    assert_eq!(b.attempt(Class::Ok).turns[0].event, AlertEvent::UpstreamClosed);
}
