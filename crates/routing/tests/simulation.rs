//! The properties of routing under simulated load: a virtual clock, random pools, random faults, random clients.
//! `SIMULATION_SEEDS` sets the number of random worlds.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test says what it expects")]

mod common;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    time::Duration,
};

use common::{Books, Held, World, member, random_pool};
use headgate_domain::{Class, GroupId, Protocol, UpstreamId, audit::BreakerState, audit::Selection};
use headgate_routing::{Completion, Need, Pool, Refusal, Refused, Time, Tried};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const EU: &[&str] = &["eu"];

/// What an upstream does from a moment on.
#[derive(Debug, Clone, Copy)]
struct Phase {
    from: Time,
    /// `Ok`, or the class of every attempt.
    class: Class,
    /// How long an attempt takes until its result is known.
    after: Duration,
}

/// A client request under way.
struct Request {
    arrived: Time,
    books: Books,
    held: Option<Held>,
    /// The upstream's result, and whether the client left before it.
    done: Completion,
    restricted: bool,
    attempts: u32,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq)]
struct End {
    arrived: Time,
    at: Time,
    attempts: u32,
    class: Option<Class>,
    refused: Option<Refused>,
    upstream: Option<UpstreamId>,
}

struct Simulation {
    world: World,
    pool: Pool,
    faults: BTreeMap<UpstreamId, Vec<Phase>>,
    /// Share of clients that leave before the answer.
    leaving: f64,
    /// Share of requests whose key allows only `eu`.
    restricted: f64,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    requests: BTreeMap<u64, Request>,
    next: u64,
    ends: Vec<End>,
    /// Attempts by time, upstream and reason.
    attempts: Vec<(Time, UpstreamId, Selection)>,
}

impl Simulation {
    fn new(seed: u64, pool: Pool) -> Self {
        Self {
            world: World::new(seed),
            pool,
            faults: BTreeMap::new(),
            leaving: 0.0,
            restricted: 0.0,
            queue: BinaryHeap::new(),
            requests: BTreeMap::new(),
            next: 0,
            ends: Vec::new(),
            attempts: Vec::new(),
        }
    }

    /// From `from` on every attempt at `upstream` ends so.
    fn fault(&mut self, upstream: i64, from: Time, class: Class, after: u64) {
        let phase = Phase { from, class, after: Duration::from_millis(after) };
        self.faults.entry(UpstreamId(upstream)).or_default().push(phase);
    }

    /// `count` requests, one every `every`, from `start` on.
    fn offer(&mut self, start: Time, every: Duration, count: u32) {
        for n in 0..count {
            self.arrive(start + every * n);
        }
    }

    fn arrive(&mut self, at: Time) {
        self.next += 1;
        let request = Request {
            arrived: at,
            books: Books::default(),
            held: None,
            done: Completion::new(Class::Ok),
            restricted: self.world.rng.random_bool(self.restricted),
            attempts: 0,
        };
        self.requests.insert(self.next, request);
        self.queue.push(Reverse((at, self.next)));
    }

    fn run(&mut self) {
        while let Some(Reverse((at, id))) = self.queue.pop() {
            self.world.pass(at.since(self.world.now));
            let mut request = self.requests.remove(&id).expect("a request that waits");
            let mut again = true;
            let mut class = None;
            if let Some(held) = request.held.take() {
                let candidate = held.candidate;
                class = Some(request.done.class);
                self.world.complete(held, &request.done);
                again = request.books.after(candidate, request.done.class, true);
            }
            if again {
                match self.begin(&mut request) {
                    Ok(ready) => {
                        self.queue.push(Reverse((ready, id)));
                        self.requests.insert(id, request);
                    }
                    Err(refused) => self.end(&request, class, Some(refused)),
                }
            } else {
                self.end(&request, class, None);
            }
        }
        for m in &self.pool.members {
            assert_eq!(self.world.health.in_flight(m.upstream), 0, "every lease is returned");
        }
    }

    fn begin(&mut self, request: &mut Request) -> Result<Time, Refused> {
        let eu: Vec<String> = EU.iter().map(|s| (*s).to_owned()).collect();
        let regions = request.restricted.then_some(eu.as_slice());
        let need = Need { stream: true, key_regions: regions, ..Need::new(Protocol::Claude, "m") };
        let held = self.world.decide(&self.pool, &need, &request.books)?;
        let now = self.world.now;
        let upstream = held.candidate.upstream;
        self.attempts.push((now, upstream, held.selection));
        let healthy = Phase { from: Time::default(), class: Class::Ok, after: Duration::from_millis(50) };
        let phases = self.faults.get(&upstream);
        let phase = phases.and_then(|p| p.iter().rfind(|p| p.from <= now)).copied().unwrap_or(healthy);
        let ttft = (phase.class == Class::Ok).then_some(phase.after);
        request.done = Completion { ttft, ..Completion::new(phase.class) };
        let mut ready = now + phase.after;
        if self.world.rng.random_bool(self.leaving) {
            request.done = Completion::new(Class::ClientGone);
            ready = now + phase.after.mul_f64(self.world.rng.random_range(0.0..1.0));
        }
        request.held = Some(held);
        request.attempts += 1;
        Ok(ready)
    }

    fn end(&mut self, request: &Request, class: Option<Class>, refused: Option<Refused>) {
        let upstream = self.attempts.last().map(|(_, upstream, _)| *upstream).filter(|_| request.attempts > 0);
        self.ends.push(End {
            arrived: request.arrived,
            at: self.world.now,
            attempts: request.attempts,
            class,
            refused,
            upstream,
        });
    }

    fn share_of(&self, upstream: i64, from: Time) -> f64 {
        let since: Vec<_> = self.attempts.iter().filter(|(at, ..)| *at >= from).collect();
        let of = since.iter().filter(|(_, u, _)| *u == UpstreamId(upstream)).count();
        count(of) / count(since.len().max(1))
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
fn random_world(seed: u64) -> Simulation {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut sim = Simulation::new(seed, random_pool(&mut rng));
    sim.leaving = rng.random_range(0.0..0.3);
    sim.restricted = rng.random_range(0.0..0.5);
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
    let every = ms(rng.random_range(20..700));
    sim.offer(Time::secs(1), every, 400);
    sim.run();
    sim
}

// Properties 1, 2 and 5: the world checks every decision and every return.
#[test]
fn random_worlds_keep_the_tiers_the_policies_and_the_leases() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let sim = random_world(seed);
        assert_eq!(sim.ends.len(), 400);
        assert_eq!(sim.ends.iter().map(|e| e.attempts).sum::<u32>() as usize, sim.attempts.len());
        assert!(sim.ends.iter().all(|e| e.attempts <= 3));
    }
}

// Property 8.
#[test]
fn the_same_seed_decides_the_same() {
    for seed in seeds(40).take(10) {
        println!("seed {seed}");
        let (one, two) = (random_world(seed), random_world(seed));
        assert_eq!(one.attempts, two.attempts);
        assert_eq!(one.ends, two.ends);
        assert_eq!(one.world.health.save(one.world.now), two.world.health.save(two.world.now));
    }
}

// Property 1, second half: an upstream that is healthy again gets the very next request.
#[test]
fn fail_back_needs_no_more_than_the_next_request() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let mut sim = Simulation::new(seed, pool(&[1, 2]));
        sim.fault(1, Time::secs(0), Class::Ok, 50);
        sim.fault(1, Time::secs(10), Class::Server, 5);
        sim.fault(1, Time::secs(25), Class::Ok, 50);
        sim.offer(Time::secs(1), ms(100), 600);
        sim.run();
        let opened = Time::secs(10);
        let back: Vec<_> =
            sim.attempts.iter().filter(|(at, u, _)| *at > opened + ms(1000) && *u == UpstreamId(1)).collect();
        // The breaker opened by the third failure at about 10.2 s; the first request after 30 s is the trial.
        assert_eq!(
            (back[0].2, back[1].2, back[2].2),
            (Selection::RecoveryTrial, Selection::RecoveryTrial, Selection::Initial)
        );
        assert!(back[0].0 <= Time::millis(40_500) && back[2].0.since(back[0].0) <= ms(200), "{:?}", &back[..3]);
        let later = sim.attempts.iter().filter(|(at, ..)| *at > back[2].0);
        assert!(later.clone().all(|(_, u, _)| *u == UpstreamId(1)) && later.count() > 100);
    }
}

// Property 3.
#[test]
fn a_storm_of_two_thousand_disconnects_excludes_nobody() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let mut sim = Simulation::new(seed, pool(&[1, 1, 2]));
        sim.leaving = 1.0;
        sim.offer(Time::secs(1), ms(1), 2_000);
        sim.run();
        for m in &sim.pool.members {
            let fresh =
                headgate_routing::Health::new(headgate_routing::Policy::default()).view(m.upstream, sim.world.now);
            assert_eq!(sim.world.health.view(m.upstream, sim.world.now), fresh);
        }
        assert!(sim.ends.iter().all(|e| e.class == Some(Class::ClientGone) && e.attempts == 1));
    }
}

// Property 4.
#[test]
fn draws_follow_the_weights_when_scores_are_equal() {
    let mut world = World::new(4);
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
        let mut sim = Simulation::new(seed, pool(&[1, 1]));
        sim.fault(1, Time::secs(0), Class::Ok, 900);
        sim.fault(2, Time::secs(0), Class::Ok, 300);
        sim.offer(Time::secs(1), ms(100), 500);
        sim.run();
        let share = sim.share_of(1, Time::secs(5));
        assert!(share > 0.05 && share < 0.45, "{share}");
    }
}

#[test]
fn an_upstream_that_fails_fast_does_not_attract_traffic() {
    for seed in seeds(40) {
        println!("seed {seed}");
        let mut sim = Simulation::new(seed, pool(&[1, 1, 1]));
        sim.fault(1, Time::secs(0), Class::Server, 1);
        sim.fault(2, Time::secs(0), Class::Ok, 400);
        sim.fault(3, Time::secs(0), Class::Ok, 400);
        sim.offer(Time::secs(1), ms(20), 2_000);
        sim.run();
        assert!(sim.share_of(1, Time::secs(1)) < 0.05);
        assert!(sim.ends.iter().all(|e| e.class == Some(Class::Ok)));
    }
}

// Property 6, first half.
#[test]
fn with_one_of_three_dead_clients_see_no_failure_and_wait_for_one_detection_at_most() {
    for seed in seeds(40) {
        for (class, detection) in [(Class::Connect, 10), (Class::Server, 200), (Class::SlowFirst, 10_000)] {
            for tiers in [[1, 1, 1], [1, 2, 3]] {
                println!("seed {seed} {class:?} {tiers:?}");
                let mut sim = Simulation::new(seed, pool(&tiers));
                sim.fault(1, Time::secs(5), class, detection);
                sim.offer(Time::secs(1), ms(50), 800);
                sim.run();
                let late: Vec<_> = sim.ends.iter().filter(|e| e.at.since(e.arrived) > ms(50)).collect();
                assert!(sim.ends.iter().all(|e| e.class == Some(Class::Ok)));
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
            let mut sim = Simulation::new(seed, pool(&[1, 1, 2]));
            for id in 1..=3 {
                sim.fault(id, Time::secs(0), class, after);
            }
            let offered = 500 * 20;
            sim.offer(Time::secs(1), ms(2), offered);
            sim.run();
            let after_first = sim.attempts.iter().filter(|(at, ..)| *at >= Time::secs(2)).count();
            assert!(count(after_first) <= 1.25 * f64::from(offered - 500), "{after_first}");
            // Once everything is open there are only trials.
            let all_open = Time::secs(2);
            assert!(
                sim.attempts
                    .iter()
                    .filter(|(at, ..)| *at >= all_open)
                    .all(|(.., s)| matches!(s, Selection::RecoveryTrial | Selection::LastResort))
            );
            for end in sim.ends.iter().filter(|e| e.arrived >= all_open && e.attempts == 0) {
                assert_eq!(end.at, end.arrived);
                let refused = end.refused.as_ref().expect("a refusal");
                assert_eq!(refused.refusal, Refusal::CoolingDown);
                assert!(refused.retry_at.is_some_and(|at| at > end.at && at.since(end.at) <= Duration::from_secs(300)));
            }
            let refused = sim.ends.iter().filter(|e| e.attempts == 0).count();
            assert!(refused > 9_000, "{refused}");
            let soonest = sim.pool.members.iter().map(|m| sim.world.health.view(m.upstream, sim.world.now));
            assert!(soonest.into_iter().all(|v| v.state == BreakerState::Open));
        }
    }
}
