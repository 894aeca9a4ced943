//! What the named courses of faults do to a pool of two tiers.

use std::time::Duration;

use headgate_domain::{Class, GroupId};
use headgate_routing::{Policy, Pool, Time};
use headgate_simulation::{Behaviour, Plain, Report, Script, Simulation, Stage, Workload};

use crate::checked::member;

const LENGTH: Duration = Duration::from_secs(600);

/// Ten minutes at twenty requests a second, two credentials at the first of two upstreams.
fn report(name: &str) -> Report {
    let script = Script::named(name).expect("a script");
    let pool = Pool { members: vec![member(1, 1, 2), member(2, 2, 1)], ..Pool::new(GroupId(1)) };
    let start = Time::secs(1);
    let healthy = Behaviour::Answers { first: Duration::from_millis(400), whole: Duration::from_secs(1) };
    let faults = script.play(&Stage { pool: &pool, healthy, start, length: LENGTH });
    let workload = Workload { probes: true, ..Workload::new(start, Duration::from_millis(50), 12_000) };
    let router = Plain::new(Policy::default(), 1);
    let (run, _) = Simulation::new(1, router, pool.clone(), faults.clone(), workload).run();
    Report::of(&run, &pool, &faults, (start, LENGTH), |id| format!("upstream {id}"))
}

#[test]
fn no_client_sees_a_failure_while_one_upstream_of_two_is_ill() {
    for script in Script::ALL.iter().filter(|s| !["unavailable", "cut", "leaving"].contains(&s.name)) {
        let report = report(script.name);
        assert_eq!((report.requests, report.partial), (12_000, 0), "{}", script.name);
        assert!(report.failed.is_empty(), "{}: {:?}", script.name, report.failed);
        let opened = report.upstreams[1].opened;
        assert_eq!(opened, 0, "{}: the healthy one's breaker never opens", script.name);
    }
}

#[test]
fn a_killed_upstream_is_back_as_soon_as_it_lives_and_never_takes_more_than_its_failures() {
    let report = report("killed");
    let top = &report.upstreams[0];
    let (_, longest) = top.back_after_ms.expect("it comes back");
    // Dead for 30 s: the probe at the end of the first cooldown finds it alive or the one after that does.
    assert!(longest <= 62_000, "{longest}");
    // Three strikes after the last answer that was about to begin (400 ms, twenty requests a second), and a trial.
    assert!(top.failed.values().sum::<usize>() <= top.opened * (8 + 3 + 1), "{:?}", top.failed);
    assert!(top.share > 0.3);
}

#[test]
fn a_flapping_upstream_costs_no_request_and_few_attempts() {
    let report = report("flapping");
    assert!(report.attempts_per_request < 1.02, "{}", report.attempts_per_request);
    assert!(report.upstreams[0].opened < 30);
}

#[test]
fn with_everything_unavailable_upstreams_are_left_alone_and_serve_again_afterwards() {
    let report = report("unavailable");
    let seen: usize = report.failed.values().sum();
    assert!(seen > 5_000 && report.failed.keys().all(|k| ["cooling_down", "overloaded"].contains(k)), "{report}");
    assert!(report.upstreams.iter().all(|u| u.failed.values().sum::<usize>() < 500), "{report}");
    assert_eq!(report.parts.last().map(|(_, _, failures, _)| *failures), Some(0));
}

#[test]
fn a_revoked_credential_leaves_the_upstream_to_its_other_one() {
    let report = report("revoked");
    assert_eq!(report.upstreams[1].attempts, 0, "{report}");
    let refused = report.upstreams[0].failed.get(Class::Credential.as_str()).copied().unwrap_or(0);
    assert!((1..10).contains(&refused), "{report}");
}

#[test]
fn clients_that_leave_hurt_nobody() {
    let report = report("leaving");
    assert!(report.left > 5_000);
    assert!(report.upstreams.iter().all(|u| u.opened == 0));
    assert_eq!(report.upstreams[1].attempts, 0);
}

#[test]
fn answers_that_break_off_are_seen_only_until_the_breaker_opens() {
    let report = report("cut");
    assert!(report.failed.is_empty());
    // Those under way when it opened, and the trials.
    assert!((3..120).contains(&report.partial), "{report}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    for name in ["killed", "leaving"] {
        assert_eq!(report(name), report(name));
    }
}
