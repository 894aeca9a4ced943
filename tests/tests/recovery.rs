//! What a failing upstream must not cost: a border crossed, a client's request, its place once it is well again.

use std::time::Duration;

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, header, question, until},
};
struct World {
    primary: Fake,
    fallback: Fake,
    abroad: Fake,
    headgate: Headgate,
}

/// Primary and fallback in one region, and one abroad that nobody asked for by a region may reach.
async fn world(settings: &str) -> World {
    let (primary, fallback, abroad) = (Fake::start().await, Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&format!(
        "version: 1
settings: {{ {settings} }}
upstreams:
  - {{ name: primary, base_url: '{}', region: cn, credentials: [ {{ value: one }} ] }}
  - {{ name: fallback, base_url: '{}', region: cn, credentials: [ {{ value: two }} ] }}
  - {{ name: abroad, base_url: '{}', region: us }}
groups:
  - name: g
    members: [ {{ upstream: primary, priority: 1 }}, {{ upstream: fallback, priority: 2 }}, {{ upstream: abroad, priority: 3 }} ]
  - {{ name: home, members: [ {{ upstream: primary }} ] }}
keys:
  - {{ name: k, group: g, secret: {KEY} }}
  - {{ name: local, group: g, secret: {KEY}-local, regions: [cn] }}
",
        primary.url(),
        fallback.url(),
        abroad.url()
    ))
    .await;
    World { primary, fallback, abroad, headgate }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_failure_carries_a_request_over_the_border_of_its_region() {
    let world = world("breaker_failures: 1, max_attempts: 5").await;
    world.primary.always(Behaviour::status(500));
    world.fallback.always(Behaviour::status(429));
    for n in 0..12 {
        let path = PATHS[n % 3];
        let request = if n % 2 == 0 {
            let url = format!("{}{path}", world.headgate.url);
            world.headgate.client.post(url).bearer_auth(format!("{KEY}-local")).json(&question(path, "m", n % 4 == 0))
        } else {
            world.headgate.ask(path, "m", true).header("x-headgate-region", "cn")
        };
        let response = request.send().await.unwrap();
        assert!(response.status().as_u16() >= 429, "{}", response.status());
    }
    assert_eq!(world.abroad.seen().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_request_after_a_recovery_goes_to_the_better_upstream() {
    let settings = "breaker_failures: 1, breaker_open: 200ms, breaker_open_max: 200ms, breaker_recovery_successes: 1";
    let world = world(settings).await;
    for round in 0..5 {
        match round % 3 {
            0 => world.primary.close().await,
            1 => world.primary.always(Behaviour::status(500)),
            _ => world.primary.always(Behaviour::status(503)),
        }
        let response = world.headgate.ask(PATHS[round % 3], "m", false).send().await.unwrap();
        assert_eq!(header(&response, "x-headgate-upstream"), Some("fallback"), "round {round}");
        // As long as it is away, nobody notices.
        for _ in 0..5 {
            let response = world.headgate.ask(PATHS[0], "m", true).send().await.unwrap();
            assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("fallback")));
            response.bytes().await.unwrap();
        }
        world.primary.forget();
        if round % 3 == 0 {
            world.primary.open().await;
        }
        world.primary.behave();
        // No traffic: the gateway's own probe finds out.
        until("the breaker to close", || async { world.headgate.health("primary").await["state"] == "closed" }).await;
        let probes = world.primary.seen();
        assert!(!probes.is_empty(), "round {round}: closed without a probe");
        assert!(probes.iter().all(|p| p.header("authorization") == Some("Bearer one")), "{probes:?}");
        let response = world.headgate.ask(PATHS[round % 3], "m", false).send().await.unwrap();
        assert_eq!(header(&response, "x-headgate-upstream"), Some("primary"), "round {round}");
        assert_eq!(header(&response, "x-headgate-attempts"), Some("1"), "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_one_of_three_dead_no_client_sees_a_failure() {
    let world = world("breaker_failures: 3").await;
    world.primary.close().await;
    let mut tasks = Vec::new();
    for worker in 0..8 {
        let requests: Vec<_> = (0..25).map(|n| world.headgate.ask(PATHS[(n + worker) % 3], "m", n % 2 == 0)).collect();
        tasks.push(tokio::spawn(async move {
            for request in requests {
                let response = request.send().await.unwrap();
                assert_eq!(response.status(), 200);
                assert!(response.text().await.unwrap().contains("GATE-OK"));
            }
        }));
    }
    for task in tasks {
        tokio::time::timeout(Duration::from_secs(30), task).await.unwrap().unwrap();
    }
    assert_eq!(world.fallback.seen().len(), 200);
}
