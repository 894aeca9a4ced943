//! Strict priority, failover and fail-back: the promise of the product.

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{Headgate, PATHS, header, until},
};

/// Two upstreams, the first preferred.
async fn two() -> (Fake, Fake, Headgate) {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&format!(
        "version: 1
settings: {{ breaker_open: 200ms, breaker_open_max: 200ms, breaker_failures: 2 }}
upstreams:
  - {{ name: a, base_url: '{}' }}
  - {{ name: b, base_url: '{}' }}
groups: [ {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {} }} ]
",
        a.url(),
        b.url(),
        headgate_tests::harness::KEY
    ))
    .await;
    (a, b, headgate)
}

#[tokio::test]
async fn the_first_upstream_serves_while_it_is_well() {
    let (a, b, headgate) = two().await;
    for path in PATHS {
        for stream in [false, true] {
            let response = headgate.ask(path, "m", stream).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            assert_eq!(header(&response, "x-headgate-upstream"), Some("a"));
            assert_eq!(header(&response, "x-headgate-attempts"), Some("1"));
            let (request, attempts) = headgate.record_of(&response).await;
            assert_eq!((request["outcome"].as_str(), attempts.len()), (Some("success"), 1), "{request}");
            assert!(response.text().await.unwrap().contains("HEAD"));
        }
    }
    assert_eq!((a.seen().len(), b.seen().len()), (6, 0));
}

#[tokio::test]
async fn nobody_notices_that_the_first_upstream_fails_and_it_is_used_again_when_it_is_back() {
    let (a, b, headgate) = two().await;
    a.always(Behaviour::status(500));
    for n in 0..6 {
        let response = headgate.ask(PATHS[n % 3], "m", n % 2 == 0).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(header(&response, "x-headgate-upstream"), Some("b"));
        response.bytes().await.unwrap();
    }
    // Two failures opened the breaker; after that only trials go there.
    assert!(a.seen().len() <= 4, "{}", a.seen().len());
    assert_eq!(b.seen().len(), 6);
    a.behave();
    // Without any traffic: the recovery probes find out.
    until("the breaker of a to close", || async { headgate.health("a").await["state"] == "closed" }).await;
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!(header(&response, "x-headgate-upstream"), Some("a"));
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_output_goes_to_the_next_upstream() {
    let (a, _b, headgate) = two().await;
    for path in PATHS {
        a.script([Rule::times(
            1,
            Behaviour { error_event: Some(headgate_tests::fake::Point::Event(1)), ..Behaviour::default() },
        )]);
        let response = headgate.ask(path, "m", true).send().await.unwrap();
        assert_eq!(header(&response, "x-headgate-upstream"), Some("b"), "{path}");
        let text = response.text().await.unwrap();
        assert!(text.contains("GATE-OK") && !text.contains("it broke"), "{path}: {text}");
    }
}
