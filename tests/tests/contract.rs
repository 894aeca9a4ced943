//! The six contract cases, and that the better upstream is used again as soon as it is well.

use std::time::Duration;

use headgate_tests::{
    fake::{Behaviour, Fake, Rule, answer},
    harness::{Headgate, KEY, PATHS, header, question, until},
};
use reqwest::{Method, Response};

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

impl World {
    fn counts(&self) -> [usize; 3] {
        [self.primary.seen().len(), self.fallback.seen().len(), self.abroad.seen().len()]
    }

    /// Makes everybody well and forgets what was.
    async fn again(&self) {
        for fake in [&self.primary, &self.fallback, &self.abroad] {
            fake.behave();
            fake.forget();
        }
        let list = self.headgate.admin(Method::GET, "/upstreams", None).await;
        for upstream in list["items"].as_array().unwrap() {
            self.headgate.admin(Method::POST, &format!("/upstreams/{}/reset", upstream["id"]), None).await;
        }
    }

    /// What was recorded is what was made, in the order it was made.
    async fn check(&self, response: &Response, upstreams: &[&str]) {
        let (request, attempts) = self.headgate.record_of(response).await;
        let names: Vec<_> = attempts.iter().map(|a| a["upstream_name"].as_str().unwrap()).collect();
        assert_eq!(names, upstreams, "{request}");
        assert_eq!(self.counts().iter().sum::<usize>(), upstreams.len());
        assert_eq!(header(response, "x-headgate-attempts"), Some(upstreams.len().to_string().as_str()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_six_cases_of_the_contract_hold_in_every_protocol() {
    let world = world("breaker_failures: 100").await;
    for path in PATHS {
        // 1. The primary answers.
        world.again().await;
        let response = world.headgate.ask(path, "m", false).send().await.unwrap();
        assert_eq!(response.status(), 200);
        world.check(&response, &["primary"]).await;
        // 2. It is limited: the fallback answers.
        world.again().await;
        world.primary.always(Behaviour::status(429).header("retry-after", "7"));
        let response = world.headgate.ask(path, "m", false).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("fallback")));
        assert_eq!(header(&response, "retry-after"), None);
        world.check(&response, &["primary", "fallback"]).await;
        // 3. It breaks: the fallback answers, and the one after it.
        world.again().await;
        world.primary.always(Behaviour::status(500));
        world.fallback.always(Behaviour::status(503));
        let response = world.headgate.ask(path, "m", false).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("abroad")));
        world.check(&response, &["primary", "fallback", "abroad"]).await;
        // 4. The caller forbids it: the 429 as it is, with its bytes.
        world.again().await;
        let words = "{ \"error\":{\"message\":\"slow d\\u006fwn\",\"code\":\"rate_limit_exceeded\"} }\n";
        world.primary.always(Behaviour::status(429).header("retry-after", "7").body(words));
        let request = world.headgate.ask(path, "m", false).header("x-headgate-fallback", "none");
        let response = request.send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (429, Some("7")));
        world.check(&response, &["primary"]).await;
        assert_eq!(response.text().await.unwrap(), words);
        // 5. No region that would be allowed: refused before anybody is asked, whatever the failures.
        world.again().await;
        let request = world.headgate.ask(path, "m", false).header("x-headgate-region", "eu");
        let response = request.send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), header(&response, "x-headgate-error")),
            (403, Some("policy_no_route")),
            "{path}"
        );
        assert_eq!(world.counts(), [0, 0, 0]);
        // 6. A stream goes the same way.
        world.again().await;
        world.primary.always(Behaviour::status(529));
        let response = world.headgate.ask(path, "m", true).send().await.unwrap();
        assert_eq!(header(&response, "content-type"), Some("text/event-stream"));
        world.check(&response, &["primary", "fallback"]).await;
        let kind = answer::kind(path).unwrap();
        let expected = answer::events(kind, &question(path, "m", true), &Behaviour::default()).concat();
        assert_eq!(response.text().await.unwrap(), expected, "{path}");
    }
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
            _ => world.primary.always(Behaviour { delay_ms: 0, ..Behaviour::status(503) }),
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
    world.fallback.script([Rule::times(0, Behaviour::default())]);
}
