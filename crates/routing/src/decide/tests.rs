//! The funnel, the tiers, the choice and what a refusal says.

use std::collections::BTreeSet;

use headgate_domain::{
    CredentialId, KeyId, UpstreamKind,
    group::UnknownMultiplier,
    pattern::ModelRules,
    upstream::{Capability, Limits},
};
use rust_decimal::Decimal;

use super::*;
use crate::{Completion, Policy, PoolCredential, test_support::*};

const T0: Time = Time::secs(100);

fn health() -> Health {
    Health::new(Policy::default())
}

fn id(n: i64) -> UpstreamId {
    UpstreamId(n)
}

/// Claims and at once returns with this class.
fn fail(health: &mut Health, pool: &Pool, tried: &mut Tried, class: Class, now: Time) -> Candidate {
    let choice = health.decide(pool, &need(), tried, now, &mut rng(1)).unwrap();
    tried.after(choice.candidate, class, true);
    health.complete(choice.lease, &Completion::new(class), now, &mut rng(1));
    choice.candidate
}

/// Opens the breaker of upstream `n`.
fn open(health: &mut Health, n: i64, now: Time) {
    let pool = Pool { members: vec![member(n, 1)], ..pool(&[]) };
    for _ in 0..3 {
        fail(health, &pool, &mut Tried::new(), Class::Server, now);
    }
    assert_eq!(health.view(id(n), now).state, BreakerState::Open);
}

fn refusal_of(health: &mut Health, pool: &Pool, need: &Need<'_>) -> Refused {
    let explained = health.explain(pool, need, &Tried::new(), T0, &mut rng(1));
    let refused = health.decide(pool, need, &Tried::new(), T0, &mut rng(1)).unwrap_err();
    assert_eq!(explained.refusal, Some(refused.refusal));
    assert_eq!(explained.reasons, refused.reasons);
    refused
}

fn reason(refused: &Refused, at: usize) -> Reason {
    refused.reasons[at].reason
}

#[test]
fn the_smallest_priority_comes_first_and_failover_goes_down_the_tiers() {
    let (mut h, pool) = (health(), pool(&[20, 10, 30]));
    let mut tried = Tried::new();
    let choice = h.decide(&pool, &need(), &tried, T0, &mut rng(1)).unwrap();
    assert_eq!((choice.candidate.upstream, choice.selection), (id(2), Selection::Initial));
    let of = |n: usize| choice.reasons[n].reason;
    assert_eq!((of(0), of(1), of(2)), (Reason::LowerTier, Reason::Chosen, Reason::LowerTier));
    h.release(choice.lease, T0);
    assert_eq!(fail(&mut h, &pool, &mut tried, Class::Server, T0).upstream, id(2));
    let choice = h.decide(&pool, &need(), &tried, T0, &mut rng(1)).unwrap();
    assert_eq!((choice.candidate.upstream, choice.selection), (id(1), Selection::Failover));
    assert_eq!(choice.reasons[1].reason, Reason::Tried);
    h.release(choice.lease, T0);
}

#[test]
fn attempts_end_at_the_limit_and_unsent_connections_do_not_count() {
    let (mut h, pool) = (health(), pool(&[1, 2, 3, 4, 5]));
    let mut tried = Tried::new();
    for _ in 0..2 {
        let choice = h.decide(&pool, &need(), &tried, T0, &mut rng(1)).unwrap();
        tried.after(choice.candidate, Class::Connect, false);
        h.complete(choice.lease, &Completion::new(Class::Connect), T0, &mut rng(1));
    }
    for _ in 0..3 {
        fail(&mut h, &pool, &mut tried, Class::Server, T0);
    }
    assert_eq!(h.decide(&pool, &need(), &tried, T0, &mut rng(1)).unwrap_err().refusal, Refusal::TriedAll);
}

#[test]
fn each_gate_that_empties_the_pool_names_its_refusal() {
    let mut h = health();
    assert_eq!(refusal_of(&mut h, &pool(&[]), &need()).refusal, Refusal::NoUpstream);

    let with = |change: &dyn Fn(&mut crate::PoolMember)| {
        let mut p = pool(&[1]);
        change(&mut p.members[0]);
        p
    };
    let r = refusal_of(&mut h, &with(&|m| m.upstream_enabled = false), &need());
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::NoUpstream, Reason::Disabled));
    let r = refusal_of(&mut h, &with(&|m| m.member_enabled = false), &need());
    assert_eq!(r.refusal, Refusal::NoUpstream);

    let r = refusal_of(&mut h, &pool(&[1]), &Need { region: Some("eu"), ..need() });
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::PolicyNoRoute, Reason::Policy));

    let only_x = ModelRules { allow: vec!["x".to_owned()], ..ModelRules::default() };
    let r = refusal_of(&mut h, &with(&|m| m.models = only_x.clone()), &need());
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::ModelNotFound, Reason::ModelMissing));

    let able: BTreeSet<_> = [Capability::Stream].into();
    let p = with(&|m| m.capabilities = Some(able.clone()));
    let asked = Features::NONE.with(Capability::Tools).with(Capability::Images).with(Capability::Reasoning);
    let r = refusal_of(&mut h, &p, &Need { features: asked, ..need() });
    let missing = asked.without(Capability::Reasoning);
    assert_eq!(r.refusal, Refusal::CapabilityNoRoute { missing });
    assert_eq!(missing.to_string(), "tools, images");
    assert_eq!(reason(&r, 0), Reason::Capability { missing: Capability::Tools });

    let p = with(&|m| m.max_context = Some(1000));
    let r = refusal_of(&mut h, &p, &Need { estimated_input: 1201, ..need() });
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::ContextTooLong, Reason::Context));

    let p = with(&|m| m.max_input = Some(1000));
    let r = refusal_of(&mut h, &p, &Need { estimated_input: 1001, ..need() });
    assert_eq!(r.refusal, Refusal::CapabilityNoRoute { missing: Features::NONE });
    assert_eq!(reason(&r, 0), Reason::Size);

    let r =
        refusal_of(&mut h, &pool(&[1]), &Need { expressible: &|_, kind| kind != UpstreamKind::Passthrough, ..need() });
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::Untranslatable, Reason::Untranslatable));

    let mut p = with(&|m| m.multiplier = Some(Decimal::TWO));
    p.max_multiplier = Some(Decimal::ONE);
    let r = refusal_of(&mut h, &p, &need());
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::BudgetNoRoute, Reason::OverCap));

    let r = refusal_of(&mut h, &with(&|m| m.exhausted = true), &need());
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::UpstreamsExhausted, Reason::Exhausted { ms: None }));

    let r = refusal_of(&mut h, &with(&|m| m.credentials[0].missing = true), &need());
    let forever = Reason::CoolingDown { class: Class::Credential, ms: None };
    assert_eq!((r.refusal, reason(&r, 0), r.retry_at), (Refusal::UpstreamAuth, forever, None));

    let p = with(&|m| m.limits = Limits { concurrency: Some(1), ..Limits::default() });
    let held = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
    let r = refusal_of(&mut h, &p, &need());
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::Saturated, Reason::Saturated));
    h.release(held.lease, T0);
    let again = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
    h.release(again.lease, T0);
}

#[test]
fn what_stopped_the_last_members_decides() {
    let mut h = health();
    // One lacks the model, the other has a short context: the second one is what the client can do something about.
    let mut p = pool(&[1, 1]);
    p.members[0].models = ModelRules { allow: vec!["x".to_owned()], ..ModelRules::default() };
    p.members[1].max_context = Some(10);
    assert_eq!(refusal_of(&mut h, &p, &Need { estimated_input: 100, ..need() }).refusal, Refusal::ContextTooLong);
    p.members[1].max_context = None;
    p.members[1].exhausted = true;
    assert_eq!(refusal_of(&mut h, &p, &need()).refusal, Refusal::UpstreamsExhausted);
    p.members[0].upstream_enabled = false;
    assert_eq!(refusal_of(&mut h, &p, &need()).refusal, Refusal::UpstreamsExhausted);
}

#[test]
fn an_estimate_a_fifth_above_the_context_still_goes_through() {
    let mut h = health();
    let mut p = pool(&[1]);
    p.members[0].max_context = Some(1000);
    let choice = h.decide(&p, &Need { estimated_input: 1200, ..need() }, &Tried::new(), T0, &mut rng(1)).unwrap();
    h.release(choice.lease, T0);
}

#[test]
fn every_region_rule_must_be_met_and_no_region_meets_none() {
    let mut h = health();
    let mut p = pool(&[1, 2]);
    p.members[0].region = Some("eu".to_owned());
    let list = |items: &[&str]| items.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let (eu, us) = (list(&["eu"]), list(&["us"]));
    let need_eu = Need { key_regions: Some(&eu), ..need() };
    let choice = h.decide(&p, &need_eu, &Tried::new(), T0, &mut rng(1)).unwrap();
    assert_eq!(choice.candidate.upstream, id(1));
    assert_eq!(choice.reasons[1].reason, Reason::Policy);
    h.release(choice.lease, T0);
    // The intersection of what the client and the key want is empty.
    assert_eq!(refusal_of(&mut h, &p, &Need { region: Some("us"), ..need_eu }).refusal, Refusal::PolicyNoRoute);
    p.regions = Some(us);
    assert_eq!(refusal_of(&mut h, &p, &need_eu).refusal, Refusal::PolicyNoRoute);
}

#[test]
fn a_key_with_labels_only_reaches_upstreams_with_one_of_them() {
    let mut h = health();
    let mut p = pool(&[1, 2]);
    p.members[1].labels = vec!["work".to_owned(), "fast".to_owned()];
    let labels = vec!["fast".to_owned()];
    let choice = h.decide(&p, &Need { key_labels: Some(&labels), ..need() }, &Tried::new(), T0, &mut rng(1)).unwrap();
    assert_eq!(choice.candidate.upstream, id(2));
    h.release(choice.lease, T0);
}

#[test]
fn an_unknown_multiplier_follows_the_groups_rule_and_the_credit_ratio_divides() {
    let mut h = health();
    let mut p = pool(&[1]);
    p.max_multiplier = Some(Decimal::ONE);
    assert!(h.explain(&p, &need(), &Tried::new(), T0, &mut rng(1)).refusal.is_none());
    p.unknown_multiplier = UnknownMultiplier::Deny;
    assert_eq!(refusal_of(&mut h, &p, &need()).refusal, Refusal::BudgetNoRoute);
    p.members[0].multiplier = Some(Decimal::from(5));
    p.members[0].credit_ratio = Some(Decimal::from(5));
    assert!(h.explain(&p, &need(), &Tried::new(), T0, &mut rng(1)).refusal.is_none());
}

#[test]
fn cooling_credentials_decide_between_the_three_refusals() {
    let (mut h, p) = (health(), pool(&[1, 1]));
    let mut tried = Tried::new();
    fail(&mut h, &p, &mut tried, Class::RateLimited, T0);
    fail(&mut h, &p, &mut tried, Class::Exhausted, T0);
    let r = refusal_of(&mut h, &p, &need());
    assert_eq!((r.refusal, r.retry_at), (Refusal::RateLimited, Some(T0 + Duration::from_secs(5))));

    let mut h = health();
    let mut tried = Tried::new();
    fail(&mut h, &p, &mut tried, Class::Credential, T0);
    fail(&mut h, &p, &mut tried, Class::Credential, T0);
    assert_eq!(refusal_of(&mut h, &p, &need()).refusal, Refusal::UpstreamAuth);

    let mut h = health();
    let mut tried = Tried::new();
    fail(&mut h, &p, &mut tried, Class::Credential, T0);
    fail(&mut h, &p, &mut tried, Class::RateLimited, T0);
    assert_eq!(refusal_of(&mut h, &p, &need()).refusal, Refusal::CoolingDown);

    let mut h = health();
    let mut tried = Tried::new();
    fail(&mut h, &p, &mut tried, Class::Exhausted, T0);
    fail(&mut h, &p, &mut tried, Class::Exhausted, T0);
    let r = refusal_of(&mut h, &p, &need());
    assert_eq!((r.refusal, reason(&r, 0)), (Refusal::UpstreamsExhausted, Reason::Exhausted { ms: Some(300_000) }));
}

#[test]
fn the_same_upstreams_next_credential_comes_before_the_next_upstream() {
    let mut h = health();
    let mut p = pool(&[1, 1, 2]);
    for m in &mut p.members {
        m.credentials =
            (0..2).map(|n| PoolCredential { id: CredentialId(m.upstream.0 * 10 + n), missing: false }).collect();
    }
    for class in [Class::Credential, Class::Exhausted, Class::RateLimited] {
        for seed in 0..20 {
            let mut h = health();
            let mut tried = Tried::new();
            let first = h.decide(&p, &need(), &tried, T0, &mut rng(seed)).unwrap();
            tried.after(first.candidate, class, true);
            h.complete(first.lease, &Completion::new(class), T0, &mut rng(1));
            let second = h.decide(&p, &need(), &tried, T0, &mut rng(seed)).unwrap();
            assert_eq!(second.candidate.upstream, first.candidate.upstream);
            assert_ne!(second.candidate.credential, first.candidate.credential);
            assert_eq!(second.selection, Selection::Credential);
            h.release(second.lease, T0);
        }
    }
    let mut tried = Tried::new();
    let first = fail(&mut h, &p, &mut tried, Class::Server, T0);
    let second = fail(&mut h, &p, &mut tried, Class::Server, T0);
    assert_ne!(first.upstream, second.upstream);
    assert_eq!(
        h.decide(&p, &need(), &tried, T0, &mut rng(1)).map(|c| {
            let upstream = c.candidate.upstream;
            h.release(c.lease, T0);
            upstream
        }),
        Ok(id(3))
    );
}

#[test]
fn credentials_rotate_per_access_key() {
    let mut h = health();
    let mut p = pool(&[1]);
    p.members[0].credentials = (1..=3).map(|n| PoolCredential { id: CredentialId(n), missing: n == 2 }).collect();
    let mut used = |key: i64| {
        let n = Need { key: Some(KeyId(key)), ..need() };
        let choice = h.decide(&p, &n, &Tried::new(), T0, &mut rng(1)).unwrap();
        let credential = choice.candidate.credential.unwrap().0;
        h.release(choice.lease, T0);
        credential
    };
    assert_eq!([used(1), used(1), used(1), used(2), used(2)], [1, 3, 1, 1, 3]);
}

#[test]
fn an_upstream_cools_down_only_when_all_its_credentials_do() {
    let mut h = health();
    let mut p = pool(&[1]);
    p.members[0].credentials = (1..=2).map(|n| PoolCredential { id: CredentialId(n), missing: false }).collect();
    assert_eq!(fail(&mut h, &p, &mut Tried::new(), Class::Credential, T0).credential, Some(CredentialId(1)));
    assert_eq!(fail(&mut h, &p, &mut Tried::new(), Class::Credential, T0).credential, Some(CredentialId(2)));
    let r = refusal_of(&mut h, &p, &need());
    assert_eq!(reason(&r, 0), Reason::CoolingDown { class: Class::Credential, ms: Some(300_000) });
    assert_eq!(h.view(id(1), T0).credentials.len(), 2);
}

#[test]
fn the_sessions_upstream_is_taken_within_the_best_tier_only() {
    let (mut h, p) = (health(), pool(&[1, 1, 2]));
    for seed in 0..20 {
        let n = Need { affinity: Some(id(2)), ..need() };
        let choice = h.decide(&p, &n, &Tried::new(), T0, &mut rng(seed)).unwrap();
        assert_eq!((choice.candidate.upstream, choice.selection), (id(2), Selection::Affinity));
        assert_eq!(choice.reasons[0].reason, Reason::NotDrawn);
        h.release(choice.lease, T0);
        let n = Need { affinity: Some(id(3)), ..need() };
        let choice = h.decide(&p, &n, &Tried::new(), T0, &mut rng(seed)).unwrap();
        assert_ne!(choice.candidate.upstream, id(3));
        assert_eq!(choice.selection, Selection::Initial);
        h.release(choice.lease, T0);
    }
}

#[test]
fn a_sessions_full_upstream_is_waited_for_only_as_long_as_the_caller_says() {
    let mut h = health();
    let mut p = pool(&[1, 1]);
    p.members[0].limits.concurrency = Some(1);
    let held = h.decide(&p, &Need { affinity: Some(UpstreamId(1)), ..need() }, &Tried::new(), T0, &mut rng(1)).unwrap();
    assert_eq!(held.candidate.upstream, UpstreamId(1));
    let n = Need { affinity: Some(UpstreamId(1)), may_wait_for_favourite: true, ..need() };
    let refused = h.decide(&p, &n, &Tried::new(), T0, &mut rng(1)).unwrap_err();
    assert_eq!((refused.refusal, refused.wait), (Refusal::Saturated, Some(Wait::Favourite(Duration::from_secs(2)))));
    let n = Need { may_wait_for_favourite: false, ..n };
    let other = h.decide(&p, &n, &Tried::new(), T0, &mut rng(1)).unwrap();
    assert_eq!(other.candidate.upstream, UpstreamId(2));
}

#[test]
fn a_repeat_claims_the_same_candidate_unless_its_breaker_is_open_or_it_is_full() {
    let mut h = health();
    let mut p = pool(&[1, 2]);
    p.members[0].limits.concurrency = Some(1);
    for _ in 0..2 {
        let choice = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
        assert_eq!(h.decide_again(&p, &need(), choice.candidate, "m", T0), None, "it is full");
        h.complete(choice.lease, &Completion::new(Class::Server), T0, &mut rng(1));
    }
    let failed = Candidate { member: 0, upstream: UpstreamId(1), credential: None, last_resort: false };
    let again = h.decide_again(&p, &need(), failed, "m", T0).unwrap();
    assert_eq!((again.candidate, again.selection), (failed, Selection::Retry));
    h.complete(again.lease, &Completion::new(Class::Server), T0, &mut rng(1));
    assert_eq!(h.decide_again(&p, &need(), failed, "m", T0), None, "three failures have opened it");
    let gone = Candidate { upstream: UpstreamId(9), ..failed };
    assert_eq!(h.decide_again(&p, &need(), gone, "m", T0), None);
}

#[test]
fn a_full_tier_overflows_unless_the_group_and_the_caller_wait() {
    let mut h = health();
    let mut p = pool(&[1, 2]);
    p.members[0].limits.concurrency = Some(1);
    p.wait = Some(Duration::from_secs(10));
    let held = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
    let next = h.explain(&p, &Need { may_wait: true, ..need() }, &Tried::new(), T0, &mut rng(1));
    assert_eq!(next.candidate.map(|c| c.upstream), Some(id(2)));
    p.on_saturation = OnSaturation::Wait;
    let n = Need { may_wait: true, ..need() };
    let refused = h.decide(&p, &n, &Tried::new(), T0, &mut rng(1)).unwrap_err();
    assert_eq!((refused.refusal, refused.wait), (Refusal::Saturated, Some(Wait::Tier(Duration::from_secs(10)))));
    let next = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
    assert_eq!(next.candidate.upstream, id(2));
    h.release(next.lease, T0);
    h.release(held.lease, T0);
}

#[test]
fn requests_and_tokens_a_minute_fill_a_member_until_the_minute_has_passed() {
    let mut h = health();
    let mut p = pool(&[1]);
    p.members[0].limits.rpm = Some(2);
    for _ in 0..2 {
        fail(&mut h, &p, &mut Tried::new(), Class::Ok, T0);
    }
    let r = refusal_of(&mut h, &p, &need());
    assert_eq!((r.refusal, r.retry_at), (Refusal::Saturated, Some(Time::secs(160))));
    assert!(h.explain(&p, &need(), &Tried::new(), Time::secs(160), &mut rng(1)).refusal.is_none());

    p.members[0].limits = Limits { tpm: Some(1000), ..Limits::default() };
    let n = Need { estimated_input: 600, ..need() };
    let t = Time::secs(1000);
    let choice = h.decide(&p, &n, &Tried::new(), t, &mut rng(1)).unwrap();
    h.complete(choice.lease, &Completion { output_tokens: Some(100), ..Completion::ok(None) }, t, &mut rng(1));
    assert_eq!(h.decide(&p, &n, &Tried::new(), t, &mut rng(1)).unwrap_err().refusal, Refusal::Saturated);
    let small = Need { estimated_input: 300, ..need() };
    assert!(h.explain(&p, &small, &Tried::new(), t, &mut rng(1)).refusal.is_none());
    // What alone is above the limit goes through when nothing else has been counted.
    let large = Need { estimated_input: 5000, ..need() };
    assert!(h.explain(&p, &large, &Tried::new(), t, &mut rng(1)).refusal.is_some());
    assert!(h.explain(&p, &large, &Tried::new(), Time::secs(1060), &mut rng(1)).refusal.is_none());
}

#[test]
fn a_half_open_upstream_takes_one_trial_at_a_time() {
    let (mut h, p) = (health(), pool(&[1, 2]));
    open(&mut h, 1, T0);
    let later = T0 + Duration::from_secs(30);
    let trial = h.decide(&p, &need(), &Tried::new(), later, &mut rng(1)).unwrap();
    assert_eq!((trial.candidate.upstream, trial.selection), (id(1), Selection::RecoveryTrial));
    assert_eq!(trial.breaker_before, BreakerState::HalfOpen);
    let other = h.decide(&p, &need(), &Tried::new(), later, &mut rng(1)).unwrap();
    assert_eq!(other.candidate.upstream, id(2));
    assert!(matches!(other.reasons[0].reason, Reason::CoolingDown { class: Class::Server, .. }));
    h.release(other.lease, later);
    // A lease that outlived its deadline may be replaced.
    let deadline = later + h.policy().lease;
    let second = h.decide(&p, &need(), &Tried::new(), deadline, &mut rng(1)).unwrap();
    assert_eq!(second.candidate.upstream, id(1));
    h.complete(trial.lease, &Completion::ok(None), deadline, &mut rng(1));
    let closed = h.complete(second.lease, &Completion::ok(None), deadline, &mut rng(1));
    assert_eq!(closed.transition, Some(crate::Transition::Closed));
    assert_eq!(h.in_flight(id(1)), 0);
}

#[test]
fn with_everything_open_one_last_resort_at_a_time_is_tried() {
    let (mut h, p) = (health(), pool(&[1, 2]));
    open(&mut h, 1, T0);
    open(&mut h, 2, T0);
    let trial = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
    assert_eq!((trial.candidate.upstream, trial.selection), (id(1), Selection::LastResort));
    assert_eq!(trial.breaker_before, BreakerState::Open);
    let refused = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap_err();
    assert_eq!((refused.refusal, refused.retry_at), (Refusal::CoolingDown, Some(T0 + Duration::from_secs(30))));
    // The same request does not go on to the next one that is open.
    let mut tried = Tried::new();
    tried.after(trial.candidate, Class::Server, true);
    h.complete(trial.lease, &Completion::new(Class::Server), T0, &mut rng(1));
    let later = T0 + Duration::from_secs(5);
    assert!(h.decide(&p, &need(), &tried, later, &mut rng(1)).is_err());
    let trial = h.decide(&p, &need(), &Tried::new(), later, &mut rng(1)).unwrap();
    let effect = h.complete(trial.lease, &Completion::ok(None), later, &mut rng(1));
    assert_eq!(effect.breaker_after, BreakerState::HalfOpen);
}

#[test]
fn a_last_resort_does_not_disturb_a_trial_nor_a_wait_that_was_asked_for() {
    let (mut h, p) = (health(), pool(&[1, 2]));
    open(&mut h, 1, T0);
    let later = T0 + Duration::from_secs(30);
    open(&mut h, 2, later);
    let trial = h.decide(&p, &need(), &Tried::new(), later, &mut rng(1)).unwrap();
    assert_eq!(trial.selection, Selection::RecoveryTrial);
    assert_eq!(h.decide(&p, &need(), &Tried::new(), later, &mut rng(1)).unwrap_err().refusal, Refusal::CoolingDown);
    h.release(trial.lease, later);

    let (mut h, p) = (health(), pool(&[1]));
    let choice = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
    let asked = Some(Duration::from_secs(60));
    let done = Completion { tripped: true, retry_after: asked, ..Completion::new(Class::Overloaded) };
    h.complete(choice.lease, &done, T0, &mut rng(1));
    let t = T0 + Duration::from_millis(2);
    let refused = h.decide(&p, &need(), &Tried::new(), t, &mut rng(1)).unwrap_err();
    assert_eq!(refused.refusal, Refusal::CoolingDown);
    assert_eq!(refused.retry_at, Some(T0 + Duration::from_secs(60)));
}

#[test]
fn a_last_resort_never_spends_money_nor_crosses_a_policy() {
    let (mut h, mut p) = (health(), pool(&[1, 2]));
    open(&mut h, 1, T0);
    open(&mut h, 2, T0);
    p.members[0].exhausted = true;
    p.members[1].upstream_enabled = false;
    assert_eq!(refusal_of(&mut h, &p, &need()).refusal, Refusal::UpstreamsExhausted);
}

#[test]
fn a_missing_model_is_excluded_re_tested_once_and_comes_back() {
    let (mut h, p) = (health(), pool(&[1]));
    fail(&mut h, &p, &mut Tried::new(), Class::ModelMissing, T0);
    assert_eq!(refusal_of(&mut h, &p, &need()).refusal, Refusal::ModelNotFound);
    assert!(h.explain(&p, &Need { model: "other", ..need() }, &Tried::new(), T0, &mut rng(1)).refusal.is_none());
    let t = T0 + Duration::from_secs(300);
    let retest = h.decide(&p, &need(), &Tried::new(), t, &mut rng(1)).unwrap();
    assert_eq!(h.decide(&p, &need(), &Tried::new(), t, &mut rng(1)).unwrap_err().refusal, Refusal::ModelNotFound);
    h.complete(retest.lease, &Completion::new(Class::ModelMissing), t, &mut rng(1));
    assert_eq!(h.view(id(1), t).models[0].excluded_ms, Some(600_000));
    assert_eq!(h.view(id(1), t).state, BreakerState::Closed);
    let t = t + Duration::from_secs(600);
    let retest = h.decide(&p, &need(), &Tried::new(), t, &mut rng(1)).unwrap();
    h.complete(retest.lease, &Completion::ok(None), t, &mut rng(1));
    assert!(h.view(id(1), t).models.is_empty());
}

#[test]
fn the_mapped_name_is_what_is_sent_and_what_health_is_kept_under() {
    let mut h = health();
    let mut p = pool(&[1]);
    p.members[0].models.map.insert("m".to_owned(), "vendor-m".to_owned());
    let choice = h.decide(&p, &need(), &Tried::new(), T0, &mut rng(1)).unwrap();
    assert_eq!((choice.sent_model.as_str(), choice.lease.model()), ("vendor-m", "vendor-m"));
    h.complete(choice.lease, &Completion::ok(Some(Duration::from_millis(70))), T0, &mut rng(1));
    assert_eq!(h.view(id(1), T0).models[0].model, "vendor-m");
}

#[test]
fn reasons_are_stored_compactly() {
    let list = [
        MemberReason { upstream: id(1), reason: Reason::CoolingDown { class: Class::Server, ms: Some(29_000) } },
        MemberReason { upstream: id(2), reason: Reason::Chosen },
        MemberReason { upstream: id(3), reason: Reason::Capability { missing: Capability::Tools } },
    ];
    let text = serde_json::to_string(&list).unwrap();
    assert_eq!(
        text,
        r#"[{"upstream":1,"reason":"cooling_down","class":"server","ms":29000},{"upstream":2,"reason":"chosen"},{"upstream":3,"reason":"capability","missing":"tools"}]"#
    );
    assert_eq!(serde_json::from_str::<Reasons>(&text).unwrap(), list);
}

#[test]
fn explaining_changes_nothing() {
    let (mut h, p) = (health(), pool(&[1, 1]));
    open(&mut h, 1, T0);
    let before = (h.save(T0), format!("{h:?}"));
    let explained = h.explain(&p, &need(), &Tried::new(), T0 + Duration::from_secs(30), &mut rng(1));
    assert!(explained.candidate.is_some());
    assert_eq!((h.save(T0), format!("{h:?}")), before);
}

#[test]
fn a_virtual_model_is_a_pool_of_its_own() {
    use headgate_domain::group::{Alias, AliasTarget};
    let target = |n, model: &str| AliasTarget { upstream: id(n), model: model.to_owned(), weight: 1 };
    let p = pool(&[5, 1, 1]);
    let alias = Alias { candidates: vec![target(1, "fast-1")], fallback: vec![target(3, "slow"), target(9, "gone")] };
    let derived = p.of_alias(&alias);
    let mut h = health();
    let mut tried = Tried::new();
    let choice = h.decide(&derived, &Need { model: "chat-fast", ..need() }, &tried, T0, &mut rng(1)).unwrap();
    assert_eq!((choice.candidate.upstream, choice.sent_model.as_str()), (id(1), "fast-1"));
    tried.after(choice.candidate, Class::Server, true);
    h.release(choice.lease, T0);
    let choice = h.decide(&derived, &Need { model: "chat-fast", ..need() }, &tried, T0, &mut rng(1)).unwrap();
    assert_eq!((choice.candidate.upstream, choice.sent_model.as_str()), (id(3), "slow"));
    h.release(choice.lease, T0);
}
