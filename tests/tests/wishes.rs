//! Trouble that a request meets before or instead of an upstream's answer, and what a client may ask for in headers.

use std::time::Duration;

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, KEY, PATHS, header, question, until},
};
use serde_json::Value;

/// One upstream.
async fn one(fake: &Fake, settings: &str, upstream: &str, group: &str) -> Headgate {
    Headgate::start(&format!(
        "version: 1
settings: {{ breaker_failures: 1, {settings} }}
upstreams: [ {{ name: a, base_url: '{}', {upstream} }} ]
groups: [ {{ name: g, {group} members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        fake.url()
    ))
    .await
}

fn stalled() -> Behaviour {
    Behaviour { stall: Some(Point::BeforeHeaders), ..Behaviour::default() }
}

/// Asks, and leaves the answer open until this is dropped.
fn in_background(headgate: &Headgate) -> tokio::task::JoinHandle<reqwest::Response> {
    let request = headgate.ask(PATHS[0], "m", false);
    tokio::spawn(async move { request.send().await.unwrap() })
}

/// Status, our code, retry-after, x-should-retry, the record's outcome, and the body.
async fn told(headgate: &Headgate, path: &str) -> (u16, String, Option<u64>, bool, String, Value) {
    let response = headgate.ask(path, "m", false).send().await.unwrap();
    let status = response.status().as_u16();
    let code = header(&response, "x-headgate-error").unwrap_or_default().to_owned();
    let after = header(&response, "retry-after").and_then(|v| v.parse().ok());
    let never = header(&response, "x-should-retry") == Some("false");
    let (row, _) = headgate.record_of(&response).await;
    let body = response.json().await.unwrap();
    (status, code, after, never, row["outcome"].as_str().unwrap().to_owned(), body)
}

#[tokio::test]
async fn a_full_upstream_takes_no_more_until_one_has_left() {
    let fake = Fake::start().await;
    let headgate = one(&fake, "", "limits: { concurrency: 1 },", "queue: { size: 8, wait: 100ms },").await;
    fake.always(stalled());
    let first = in_background(&headgate);
    fake.asked(1).await;
    for (path, kind) in PATHS.into_iter().zip(["rate_limit_error"; 3]) {
        let (status, code, _, _, outcome, body) = told(&headgate, path).await;
        assert_eq!((status, code.as_str(), outcome.as_str()), (429, "saturated", "unavailable"), "{path}: {body}");
        assert_eq!(body["error"]["type"], kind, "{body}");
    }
    assert_eq!(fake.seen().len(), 1);
    // The place is free when the first client has left.
    fake.behave();
    first.abort();
    fake.last().caller_left().await;
    until("the place to be free", || async { headgate.health("a").await["in_flight"] == 0 }).await;
    assert_eq!(told(&headgate, PATHS[0]).await.0, 200);
}

#[tokio::test]
async fn while_the_last_resort_is_tried_others_are_told_when_to_come_back() {
    for (open, known) in [("40s", true), ("200s", false)] {
        let fake = Fake::start().await;
        let headgate = one(&fake, &format!("breaker_open: {open}, breaker_open_max: 300s"), "", "").await;
        fake.always(Behaviour::status(500));
        let (status, code, ..) = told(&headgate, PATHS[0]).await;
        assert_eq!((status, code.as_str()), (502, "server"));
        fake.always(stalled());
        let last_resort = in_background(&headgate);
        fake.asked(2).await;
        for path in PATHS {
            let (status, code, after, never, outcome, body) = told(&headgate, path).await;
            assert_eq!((status, code.as_str(), outcome.as_str()), (503, "cooling_down", "unavailable"), "{body}");
            let word = if path == PATHS[2] { "overloaded_error" } else { "server_error" };
            assert_eq!(body["error"]["type"], word);
            assert_eq!(after.is_some_and(|s| (1..=60).contains(&s)), known, "{open}: {after:?}");
            assert_eq!(never, !known);
        }
        let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
        assert!(header(&response, "x-headgate-retry-at").is_some_and(|at| at.starts_with("20")));
        assert_eq!(fake.seen().len(), 2);
        last_resort.abort();
    }
}

#[tokio::test]
async fn a_cooling_credential_is_not_tried_again_and_the_client_learns_why() {
    for (behaviour, first, then) in [
        (Behaviour::status(401), (502, "credential"), (502, "upstream_auth")),
        (Behaviour::status(402), (429, "exhausted"), (429, "upstreams_exhausted")),
        (Behaviour::status(429).header("retry-after", "30"), (429, "rate_limited"), (429, "rate_limited")),
        (Behaviour::status(429).header("retry-after", "1800"), (429, "rate_limited"), (429, "rate_limited")),
    ] {
        let fake = Fake::start().await;
        let headgate = one(&fake, "", "credentials: [ { value: secret } ],", "").await;
        fake.always(behaviour.clone());
        let short = behaviour.headers.first().is_some_and(|(_, v)| v == "30");
        for (asked, (status, code)) in [first, then].into_iter().enumerate() {
            let (got, kind, after, never, ..) = told(&headgate, PATHS[0]).await;
            assert_eq!((got, kind.split([':', '/', ' ']).next().unwrap()), (status, code), "{behaviour:?}");
            assert_eq!(after.is_some_and(|s| (28..=30).contains(&s)), short, "{behaviour:?} {after:?}");
            assert!(short || never || asked == 0, "{behaviour:?}");
        }
        assert_eq!(fake.seen().len(), 1, "{behaviour:?}");
        assert_eq!(headgate.health("a").await["state"], "closed");
    }
}

#[tokio::test]
async fn without_fallback_the_first_candidate_is_told_with_its_own_status_and_bytes() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&format!(
        "version: 1
settings: {{ breaker_failures: 100, breaker_min_results: 10000 }}
upstreams: [ {{ name: a, base_url: '{}' }}, {{ name: b, base_url: '{}' }} ]
groups: [ {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        a.url(),
        b.url()
    ))
    .await;
    let body = " {\"error\" : {\"message\":\"its own w\\u006frds\", \"n\":1.0e0}} \n";
    for path in PATHS {
        for stream in [false, true] {
            for status in [400, 404, 408, 418, 500, 503, 529] {
                a.always(Behaviour::status(status).body(body).header("x-ratelimit-limit-requests", "7"));
                // A model of its own: one that is missing is not asked for again.
                let model = format!("m-{status}-{stream}-{}", path.len());
                let request = headgate.ask(path, &model, stream).header("x-headgate-fallback", "none");
                let response = request.send().await.unwrap();
                assert_eq!(response.status(), status, "{path} {stream}");
                assert_eq!(header(&response, "x-headgate-upstream"), Some("a"));
                assert_eq!(header(&response, "x-headgate-attempts"), Some("1"));
                assert_eq!(header(&response, "x-ratelimit-limit-requests"), Some("7"));
                assert!(header(&response, "x-headgate-error").is_some());
                assert_eq!(headgate.record_of(&response).await.1.len(), 1);
                assert_eq!(response.text().await.unwrap(), body, "{path} {status}");
            }
        }
    }
    assert!(b.seen().is_empty());
}

#[tokio::test]
async fn the_clients_deadline_ends_the_request_and_hurts_nobody() {
    let fake = Fake::start().await;
    let headgate = one(&fake, "", "", "").await;
    fake.always(stalled());
    for path in PATHS {
        for stream in [false, true] {
            let request = headgate.ask(path, "m", stream).header("x-headgate-timeout", "150ms");
            let begin = std::time::Instant::now();
            let response = request.send().await.unwrap();
            assert!(begin.elapsed() < Duration::from_secs(2));
            assert_eq!((response.status().as_u16(), header(&response, "x-headgate-error")), (504, Some("deadline")));
            let (row, attempts) = headgate.record_of(&response).await;
            assert_eq!((&row["outcome"], &row["error_kind"]), (&"failed".into(), &"deadline".into()), "{row}");
            assert_eq!((attempts.len(), &attempts[0]["error_kind"]), (1, &"deadline".into()));
            let body: Value = response.json().await.unwrap();
            let kind = if path == PATHS[2] { "timeout_error" } else { "server_error" };
            assert_eq!(body["error"]["type"], kind, "{body}");
            fake.last().caller_left().await;
        }
    }
    let health = headgate.health("a").await;
    assert_eq!(health["state"], "closed", "{health}");
}

#[tokio::test]
async fn the_reasons_of_a_decision_are_told_on_request() {
    let fake = Fake::start().await;
    let headgate = one(&fake, "", "region: cn,", "").await;
    for (region, status, word) in [("cn", 200, "a"), ("us", 403, "policy")] {
        let plain = headgate.post(PATHS[0], &question(PATHS[0], "m", false)).header("x-headgate-region", region);
        let asked = plain.try_clone().unwrap().header("x-headgate-explain", "1");
        assert_eq!(header(&plain.send().await.unwrap(), "x-headgate-reasons"), None);
        let response = asked.send().await.unwrap();
        assert_eq!(response.status(), status);
        let reasons: Value = serde_json::from_str(header(&response, "x-headgate-reasons").unwrap()).unwrap();
        assert!(reasons.to_string().contains(word), "{reasons}");
        assert_eq!(headgate.record_of(&response).await.0["reasons"], reasons);
    }
}
