//! The six contract cases: what a caller may rely on, with every attempt recorded.

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, header},
};

async fn start(a: &Fake, b: &Fake) -> Headgate {
    Headgate::start(&format!(
        "version: 1
settings: {{ breaker_failures: 100 }}
upstreams:
  - {{ name: a, base_url: '{}', region: eu }}
  - {{ name: b, base_url: '{}', region: eu }}
groups: [ {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY}, regions: [eu] }} ]
",
        a.url(),
        b.url()
    ))
    .await
}

/// The upstream that served, the attempts, and whether as many are recorded as were made.
async fn check(
    headgate: &Headgate,
    response: &reqwest::Response,
    fakes: [&Fake; 2],
    upstream: Option<&str>,
    attempts: usize,
) {
    assert_eq!(header(response, "x-headgate-upstream"), upstream);
    let (request, recorded) = headgate.record_of(response).await;
    assert_eq!((recorded.len(), request["attempt_count"].as_u64()), (attempts, Some(attempts as u64)), "{request}");
    assert_eq!(fakes.iter().map(|f| f.seen().len()).sum::<usize>(), attempts);
    assert!(recorded.iter().all(|a| a["upstream_name"] == "a" || a["upstream_name"] == "b"));
}

#[tokio::test]
async fn the_six_cases_hold_in_every_protocol() {
    for path in PATHS {
        let (a, b) = (Fake::start().await, Fake::start().await);
        let headgate = start(&a, &b).await;
        let forget = || {
            a.forget();
            b.forget();
        };
        // 1: the first answers.
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        check(&headgate, &response, [&a, &b], Some("a"), 1).await;
        // 2: a stream is no different.
        forget();
        let response = headgate.ask(path, "m", true).send().await.unwrap();
        check(&headgate, &response, [&a, &b], Some("a"), 1).await;
        assert!(response.text().await.unwrap().contains("GATE-OK"));
        // 3: a fault of the server goes to the second.
        forget();
        a.always(Behaviour::status(502));
        let response = headgate.ask(path, "m", true).send().await.unwrap();
        check(&headgate, &response, [&a, &b], Some("b"), 2).await;
        // 4: a region outside the policy stops everyone, and nobody is asked.
        forget();
        let response = headgate.ask(path, "m", false).header("x-headgate-region", "cn").send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-error")), (403, Some("policy_no_route")));
        check(&headgate, &response, [&a, &b], None, 0).await;
        // 5: a caller that forbids fallback gets the first one's 429 as it is.
        forget();
        a.always(Behaviour::status(429).header("retry-after", "2").body("{\"error\":{\"message\":\"slow\"}}"));
        let response = headgate.ask(path, "m", false).header("x-headgate-fallback", "none").send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (429, Some("2")));
        check(&headgate, &response, [&a, &b], Some("a"), 1).await;
        assert_eq!(response.text().await.unwrap(), "{\"error\":{\"message\":\"slow\"}}");
        // 6: otherwise a 429 goes to the second.
        forget();
        let upstreams = headgate.admin(reqwest::Method::GET, "/upstreams", None).await;
        headgate.admin(reqwest::Method::POST, &format!("/upstreams/{}/reset", upstreams["items"][0]["id"]), None).await;
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        check(&headgate, &response, [&a, &b], Some("b"), 2).await;
    }
}
