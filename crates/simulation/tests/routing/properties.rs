//! The properties of routing under simulated load: a virtual clock, random pools, random faults, random clients.
//! `SIMULATION_SEEDS` sets the number of random worlds.
use std::time::Duration;

use headgate_domain::{Class, GroupId, Protocol, UpstreamId, audit::BreakerState, audit::Selection};
use headgate_routing::{Need, Pool, Refusal, Time, Tried};
use headgate_simulation::{Behaviour, Faults, Run, Simulation, Workload};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::checked::{World as Checked, member, random_pool};

/// A simulation to be set up, with every decision and every return checked.
struct World {
    seed: u64,
    pool: Pool,
    faults: Faults,
    workload: Workload,
}

impl World {
    fn new(seed: u64, pool: Pool, workload: Workload) -> Self {
        Self { seed, pool, faults: Faults::none(Behaviour::answers(50)), workload }
    }

    /// From `from` on every attempt at `upstream` ends so.
    fn fault(&mut self, upstream: i64, from: Time, class: Class, after: u64) {
        let behaviour = match class {
            Class::Ok => Behaviour::answers(after),
            class => Behaviour::fails(class, after),
        };
        self.faults.set(UpstreamId(upstream), from, behaviour);
    }

    fn run(self) -> (Run, Checked) {
        let pool = self.pool.clone();
        let router = Checked::new(self.seed);
        let (run, router) = Simulation::new(self.seed, router, self.pool, self.faults, self.workload).run();
        for m in &pool.members {
            assert_eq!(router.health.in_flight(m.upstream), 0, "every lease is returned");
        }
        (run, router)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a test")]
fn count(n: usize) -> f64 {
    n as f64
}

fn pool(priorities: &[i32]) -> Pool {
    let members = (1..).zip(priorities).map(|(id, priority)| member(id, *priority, 1)).collect();
    Pool { members, ..Pool::new(GroupId(1)) }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn seeds(default: u64) -> std::ops::Range<u64> {
    0..std::env::var("SIMULATION_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A random pool under random faults and load.
fn random_world(seed: u64) -> (Run, Checked) {
    let mut rng = StdRng::seed_from_u64(seed);
    let pool = random_pool(&mut rng);
    let mut workload = Workload::new(Time::secs(1), ms(rng.random_range(20..700)), 400);
    workload.restricted = rng.random_range(0.0..0.5);
    workload.regions = vec!["eu".to_owned()];
    workload.keys = rng.random_range(1..4);
    workload.probes = rng.random_bool(0.5);
    if rng.random_bool(0.5) {
        workload.sessions = rng.random_range(1..20);
    }
    if rng.random_bool(0.5) {
        workload.line = (rng.random_range(1..20), ms(rng.random_range(1..5000)));
    }
    let mut sim = World::new(seed, pool, workload);
    sim.faults.leaving = rng.random_range(0.0..0.3);
    let classes = [
        Class::Server,
        Class::Connect,
        Class::RateLimited,
        Class::Credential,
        Class::Exhausted,
        Class::Overloaded,
        Class::ModelMissing,
        Class::SlowFirst,
        Class::Cut,
        Class::Empty,
        Class::ClientFault,
        Class::ContentPolicy,
    ];
    for id in 1..=6 {
        let mut from = Time::secs(rng.random_range(0..20));
        while from < Time::secs(300) {
            let class = if rng.random_bool(0.5) { Class::Ok } else { classes[rng.random_range(0..classes.len())] };
            sim.fault(id, from, class, rng.random_range(1..3000));
            from = from + Duration::from_secs(rng.random_range(1..120));
        }
    }
    sim.run()
}

// Properties 1, 2 and 5: the world checks every decision and every return.
#[test]
fn random_worlds_keep_the_tiers_the_policies_and_the_leases() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let (run, _) = random_world(seed);
        assert_eq!(run.ends.len(), 400);
        let attempts = run.attempts.iter().filter(|a| a.request.is_some()).count();
        assert_eq!(run.ends.iter().map(|e| e.attempts).sum::<u32>() as usize, attempts);
        assert!(run.ends.iter().all(|e| e.attempts <= 3));
    }
}

// Property 8.
#[test]
fn the_same_seed_decides_the_same() {
    for seed in seeds(40).take(10) {
        println!("seed {seed}");
        let ((one, first), (two, second)) = (random_world(seed), random_world(seed));
        assert_eq!(one, two);
        assert_eq!(first.health.save(first.now), second.health.save(second.now));
    }
}

// Property 1, second half: an upstream that is healthy again gets the very next request.
#[test]
fn fail_back_needs_no_more_than_the_next_request() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let mut sim = World::new(seed, pool(&[1, 2]), Workload::new(Time::secs(1), ms(100), 600));
        sim.fault(1, Time::secs(0), Class::Ok, 50);
        sim.fault(1, Time::secs(10), Class::Server, 5);
        sim.fault(1, Time::secs(25), Class::Ok, 50);
        let (run, _) = sim.run();
        let opened = Time::secs(10);
        let back: Vec<_> =
            run.attempts.iter().filter(|a| a.at > opened + ms(1000) && a.upstream == UpstreamId(1)).collect();
        // The breaker opened by the third failure at about 10.2 s; the first request after 30 s is the trial.
        assert_eq!(
            (back[0].selection, back[1].selection, back[2].selection),
            (Selection::RecoveryTrial, Selection::RecoveryTrial, Selection::Initial)
        );
        assert!(back[0].at <= Time::millis(40_500) && back[2].at.since(back[0].at) <= ms(200), "{:?}", &back[..3]);
        let later = run.attempts.iter().filter(|a| a.at > back[2].at);
        assert!(later.clone().all(|a| a.upstream == UpstreamId(1)) && later.count() > 100);
    }
}

// Property 3.
#[test]
fn a_storm_of_two_thousand_disconnects_excludes_nobody() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let mut sim = World::new(seed, pool(&[1, 1, 2]), Workload::new(Time::secs(1), ms(1), 2_000));
        sim.faults.leaving = 1.0;
        let (run, world) = sim.run();
        for id in [1, 2, 3].map(UpstreamId) {
            let fresh = headgate_routing::Health::new(headgate_routing::Policy::default()).view(id, world.now);
            assert_eq!(world.health.view(id, world.now), fresh);
        }
        assert!(run.ends.iter().all(|e| e.class == Some(Class::ClientGone) && e.attempts == 1));
    }
}

// Property 4.
#[test]
fn draws_follow_the_weights_when_scores_are_equal() {
    let mut world = Checked::new(4);
    let mut p = pool(&[1, 1, 1]);
    for (m, weight) in p.members.iter_mut().zip([1, 2, 5]) {
        m.weight = weight;
    }
    let mut drawn = [0_usize; 3];
    let need = Need::new(Protocol::Chat, "m");
    for _ in 0..100_000 {
        let choice = world.health.decide(&p, &need, &Tried::new(), world.now, &mut world.rng).expect("a choice");
        drawn[choice.candidate.member] += 1;
        world.health.release(choice.lease, world.now);
    }
    for (drawn, weight) in drawn.into_iter().zip([1.0, 2.0, 5.0]) {
        let share = count(drawn) / 100_000.0;
        assert!((share - weight / 8.0).abs() < 0.02, "{share} for {weight}/8");
    }
}

#[test]
fn the_slower_of_two_equals_gets_the_smaller_share() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let mut sim = World::new(seed, pool(&[1, 1]), Workload::new(Time::secs(1), ms(100), 500));
        sim.fault(1, Time::secs(0), Class::Ok, 900);
        sim.fault(2, Time::secs(0), Class::Ok, 300);
        let (run, _) = sim.run();
        let share = run.share_of(UpstreamId(1), Time::secs(5));
        assert!(share > 0.05 && share < 0.45, "{share}");
    }
}

#[test]
fn an_upstream_that_fails_fast_does_not_attract_traffic() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let mut sim = World::new(seed, pool(&[1, 1, 1]), Workload::new(Time::secs(1), ms(20), 2_000));
        sim.fault(1, Time::secs(0), Class::Server, 1);
        sim.fault(2, Time::secs(0), Class::Ok, 400);
        sim.fault(3, Time::secs(0), Class::Ok, 400);
        let (run, _) = sim.run();
        assert!(run.share_of(UpstreamId(1), Time::secs(1)) < 0.05);
        assert!(run.ends.iter().all(|e| e.class == Some(Class::Ok)));
    }
}

// Property 6, first half.
#[test]
fn with_one_of_three_dead_clients_see_no_failure_and_wait_for_one_detection_at_most() {
    for seed in seeds(40) {
        for (class, detection) in [(Class::Connect, 10), (Class::Server, 200), (Class::SlowFirst, 10_000)] {
            for tiers in [[1, 1, 1], [1, 2, 3]] {
                println!("seed {seed} {class:?} {tiers:?}");
                let mut sim = World::new(seed, pool(&tiers), Workload::new(Time::secs(1), ms(50), 800));
                sim.fault(1, Time::secs(5), class, detection);
                let (run, _) = sim.run();
                let late: Vec<_> = run.ends.iter().filter(|e| e.at.since(e.arrived) > ms(50)).collect();
                assert!(run.ends.iter().all(|e| e.class == Some(Class::Ok)));
                assert!(late.iter().all(|e| e.at.since(e.arrived) <= ms(50 + detection)));
                // Those under way when the breaker opened, three more, and one trial per cooldown.
                let under_way = usize::try_from(detection / 50).expect("few");
                assert!(late.len() <= under_way + 3 + 2, "{}", late.len());
            }
        }
    }
}

// Property 6, second half, and 7.
#[test]
fn with_all_dead_the_answer_comes_at_once_names_the_soonest_retry_and_load_stays_bounded() {
    for seed in seeds(40).take(8) {
        for (class, after) in [(Class::Server, 1), (Class::Overloaded, 30)] {
            println!("seed {seed} {class:?}");
            let offered = 500 * 20;
            let mut sim = World::new(seed, pool(&[1, 1, 2]), Workload::new(Time::secs(1), ms(2), offered));
            for id in 1..=3 {
                sim.fault(id, Time::secs(0), class, after);
            }
            let (run, world) = sim.run();
            let after_first = run.attempts.iter().filter(|a| a.at >= Time::secs(2)).count();
            assert!(count(after_first) <= 1.25 * f64::from(offered - 500), "{after_first}");
            // Once everything is open there are only trials.
            let all_open = Time::secs(2);
            assert!(
                run.attempts
                    .iter()
                    .filter(|a| a.at >= all_open)
                    .all(|a| matches!(a.selection, Selection::RecoveryTrial | Selection::LastResort))
            );
            for end in run.ends.iter().filter(|e| e.arrived >= all_open && e.attempts == 0) {
                assert_eq!(end.at, end.arrived);
                let refused = end.refused.as_ref().expect("a refusal");
                assert_eq!(refused.refusal, Refusal::CoolingDown);
                assert!(refused.retry_at.is_some_and(|at| at > end.at && at.since(end.at) <= Duration::from_secs(300)));
            }
            let refused = run.ends.iter().filter(|e| e.attempts == 0).count();
            assert!(refused > 9_000, "{refused}");
            let views = [1, 2, 3].map(|id| world.health.view(UpstreamId(id), world.now));
            assert!(views.into_iter().all(|v| v.state == BreakerState::Open));
        }
    }
}
