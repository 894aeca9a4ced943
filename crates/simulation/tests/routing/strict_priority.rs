//! Strict priority under random pools and histories: a request goes to the best tier that has an eligible member, is
//! refused only when nobody is eligible, and never crosses a hard policy. `PROPTEST_CASES` sets the size.
use std::time::Duration;

use headgate_domain::{Class, Protocol, UpstreamId, audit::Selection};
use headgate_routing::{Completion, Need};
use proptest::prelude::*;
use rand::{RngExt, rngs::StdRng};

use crate::checked::{Books, Held, World, random_pool};

/// Every class that an attempt can end with.
const CLASSES: [Class; 19] = [
    Class::Ok,
    Class::ClientGone,
    Class::ClientFault,
    Class::ContentPolicy,
    Class::Credential,
    Class::Exhausted,
    Class::RateLimited,
    Class::Overloaded,
    Class::ModelMissing,
    Class::Server,
    Class::Connect,
    Class::SlowFirst,
    Class::Stalled,
    Class::Cut,
    Class::Broken,
    Class::Empty,
    Class::Deadline,
    Class::Untranslatable,
    Class::Gateway,
];

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() }
}

/// A random result.
fn random_completion(rng: &mut StdRng) -> Completion {
    let class = if rng.random_bool(0.4) {
        Class::Ok
    } else {
        *CLASSES.get(rng.random_range(0..CLASSES.len())).unwrap_or(&Class::Ok)
    };
    Completion {
        ttft: rng.random_bool(0.5).then(|| Duration::from_millis(rng.random_range(50..5000))),
        retry_after: rng.random_bool(0.2).then(|| Duration::from_secs(rng.random_range(1..1000))),
        model_scoped: rng.random_bool(0.3),
        output_tokens: rng.random_bool(0.5).then(|| rng.random_range(0..100)),
        tripped: class == Class::SlowFirst && rng.random_bool(0.3),
        ..Completion::new(class)
    }
}

fn history(seed: u64, steps: usize) {
    let mut world = World::new(seed);
    let pool = random_pool(&mut world.rng);
    let eu = ["eu".to_owned()];
    let mut held: Vec<Held> = Vec::new();
    let mut books = Books::default();
    for _ in 0..steps {
        match world.rng.random_range(0..10) {
            0..5 => {
                let need = Need {
                    key_regions: world.rng.random_bool(0.1).then_some(&eu[..]),
                    region: world.rng.random_bool(0.1).then_some("us"),
                    affinity: world.rng.random_bool(0.3).then(|| UpstreamId(world.rng.random_range(1..7))),
                    ..Need::new(Protocol::Chat, "m")
                };
                if world.rng.random_bool(0.5) {
                    books = Books::default();
                }
                if let Ok(claim) = world.decide(&pool, &need, &books) {
                    assert_eq!(claim.candidate.last_resort, claim.selection == Selection::LastResort);
                    held.push(claim);
                }
            }
            5..9 if !held.is_empty() => {
                let claim = held.swap_remove(world.rng.random_range(0..held.len()));
                let done = random_completion(&mut world.rng);
                books.after(claim.candidate, done.class, world.rng.random_bool(0.8));
                world.complete(claim, &done);
            }
            _ => {
                let most = [100, 5_000, 60_000, 600_000].get(world.rng.random_range(0..4)).copied().unwrap_or(100);
                let span = Duration::from_millis(world.rng.random_range(0..most));
                world.pass(span);
            }
        }
    }
    for claim in held {
        let done = random_completion(&mut world.rng);
        world.complete(claim, &done);
    }
    for member in &pool.members {
        assert_eq!(world.health.in_flight(member.upstream), 0);
    }
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    fn nobody_of_a_lower_tier_is_asked_while_a_better_one_is_eligible(seed in any::<u64>()) {
        history(seed, 40);
    }
}
