//! What access keys and upstreams may take at a time, waiting for room, and repeats on the same upstream.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{Headgate, KEY, PATHS, header, question, until},
};
use reqwest::{Method, Response};
use serde_json::Value;

const CHAT: &str = PATHS[0];

/// One upstream, and as many as are given after it, each a tier of its own; then lines of the group, then keys.
async fn start(fakes: &[&Fake], limits: &str, group: &str, settings: &str) -> Headgate {
    let upstreams: String = fakes
        .iter()
        .enumerate()
        .map(|(n, fake)| {
            let limits = if n == 0 { limits } else { "{}" };
            format!("  - {{ name: u{n}, base_url: '{}', limits: {limits} }}\n", fake.url())
        })
        .collect();
    let members: String = (0..fakes.len()).map(|n| format!("{{ upstream: u{n}, priority: {n} }}, ")).collect();
    Headgate::start(&format!(
        "version: 1\nsettings: {{ {settings} }}\nupstreams:\n{upstreams}groups: [ {{ name: g, members: [ {members} ]{group} }} ]\n\
         keys:\n  - {{ name: k, group: g, secret: {KEY} }}\n  - {{ name: other, group: g, secret: {KEY}-o }}\n  \
         - {{ name: one, group: g, secret: {KEY}-1, limits: {{ concurrency: 1 }} }}\n  \
         - {{ name: two, group: g, secret: {KEY}-2, limits: {{ rpm: 2 }} }}\n  \
         - {{ name: tokens, group: g, secret: {KEY}-t, limits: {{ tpm: 8 }} }}\n"
    ))
    .await
}

/// Asks in the background.
fn ask(headgate: &Headgate, key: &str) -> tokio::task::JoinHandle<(Response, Instant)> {
    let request = headgate.client.post(format!("{}{CHAT}", headgate.url)).bearer_auth(key);
    let request = request.json(&question(CHAT, "m", false));
    tokio::spawn(async move { (request.send().await.unwrap(), Instant::now()) })
}

async fn status(headgate: &Headgate, path: &str, key: &str) -> Response {
    let request = headgate.client.post(format!("{}{path}", headgate.url)).bearer_auth(key);
    request.json(&question(path, "m", false)).send().await.unwrap()
}

async fn waiting(headgate: &Headgate) -> Value {
    headgate.admin(Method::GET, "/status", None).await["waiting"].clone()
}

fn slowly(ms: u64) -> Behaviour {
    Behaviour { delay_ms: ms, ..Behaviour::default() }
}

#[tokio::test]
async fn a_key_that_reaches_a_limit_of_its_own_is_told_which_in_its_own_protocol() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake], "{}", "", "").await;
    for path in PATHS {
        let key = format!("{KEY}-2");
        let refused = loop {
            let response = status(&headgate, path, &key).await;
            if response.status() != 200 {
                break response;
            }
        };
        assert_eq!(refused.status(), 429, "{path}");
        assert_eq!(header(&refused, "x-headgate-error"), Some("rate_limited"));
        let seconds: u64 = header(&refused, "retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
        let text = refused.text().await.unwrap();
        assert!(text.contains("this access key may send 2 requests a minute"), "{text}");
        serde_json::from_str::<Value>(&text).unwrap();
    }
    assert_eq!(fake.seen().len(), 2);
    // What an answer used counts, too.
    let key = format!("{KEY}-t");
    assert_eq!(status(&headgate, CHAT, &key).await.status(), 200);
    let mut last = status(&headgate, CHAT, &key).await;
    for _ in 0..10 {
        if last.status() == 200 {
            last = status(&headgate, CHAT, &key).await;
        }
    }
    assert_eq!(last.status(), 429);
    assert!(last.text().await.unwrap().contains("8 tokens a minute"));
}

#[tokio::test]
async fn one_request_of_a_key_at_a_time_leaves_the_other_keys_alone_and_ends_with_the_client() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake], "{}", "", "").await;
    fake.always(slowly(30_000));
    let key = format!("{KEY}-1");
    let held = ask(&headgate, &key);
    until("the first to arrive", || async { fake.seen().len() == 1 }).await;
    let refused = status(&headgate, CHAT, &key).await;
    assert_eq!((refused.status().as_u16(), header(&refused, "x-headgate-error")), (429, Some("rate_limited")));
    fake.behave();
    assert_eq!(status(&headgate, CHAT, KEY).await.status(), 200);
    held.abort();
    until("the key to be free", || async { status(&headgate, CHAT, &key).await.status() == 200 }).await;
}

#[tokio::test]
async fn a_request_waits_for_room_and_keys_take_turns() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake], "{ concurrency: 1 }", "", "").await;
    fake.always(slowly(150));
    let first = ask(&headgate, KEY);
    until("the first to arrive", || async { fake.seen().len() == 1 }).await;
    let mut greedy = Vec::new();
    for n in 1..4 {
        greedy.push(ask(&headgate, KEY));
        until("it to wait", || async { waiting(&headgate).await == n }).await;
    }
    let modest = ask(&headgate, &format!("{KEY}-o"));
    until("all to wait", || async { waiting(&headgate).await == 4 }).await;
    let (answer, modest) = modest.await.unwrap();
    assert_eq!(answer.status(), 200);
    first.await.unwrap();
    let mut later = Vec::new();
    for request in greedy {
        let (answer, at) = request.await.unwrap();
        assert_eq!(answer.status(), 200);
        later.push(at);
    }
    assert!(later[0] < modest && modest < later[1] && later[1] < later[2], "{modest:?} {later:?}");
    assert_eq!(waiting(&headgate).await, 0);
}

#[tokio::test]
async fn a_full_line_and_a_wait_that_is_over_are_told_as_saturated() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake], "{ concurrency: 1 }", ", queue: { size: 1, wait: 1s }", "").await;
    fake.always(slowly(30_000));
    let _held = ask(&headgate, KEY);
    until("the first to arrive", || async { fake.seen().len() == 1 }).await;
    let waits = ask(&headgate, KEY);
    until("it to wait", || async { waiting(&headgate).await == 1 }).await;
    let begin = Instant::now();
    let refused = status(&headgate, CHAT, KEY).await;
    assert_eq!((refused.status().as_u16(), header(&refused, "x-headgate-error")), (429, Some("saturated")));
    assert!(begin.elapsed() < Duration::from_millis(900));
    let (refused, _) = waits.await.unwrap();
    assert_eq!((refused.status().as_u16(), header(&refused, "x-headgate-error")), (429, Some("saturated")));
    assert_eq!(waiting(&headgate).await, 0);
}

#[tokio::test]
async fn a_full_tier_is_passed_over_unless_the_group_waits_for_it() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    for (group, upstream) in [("", "u1"), (", on_saturation: wait, wait: 20s", "u0")] {
        let headgate = start(&[&a, &b], "{ concurrency: 1 }", group, "").await;
        a.forget();
        a.always(slowly(300));
        let held = ask(&headgate, KEY);
        until("the first to arrive", || async { a.seen().len() == 1 }).await;
        let answer = status(&headgate, CHAT, KEY).await;
        let (record, _) = headgate.record_of(&answer).await;
        assert_eq!(header(&answer, "x-headgate-upstream"), Some(upstream), "{group} {record}");
        held.await.unwrap();
    }
    // Waiting has an end: then the next tier serves.
    let headgate = start(&[&a, &b], "{ concurrency: 1 }", ", on_saturation: wait, wait: 200ms", "").await;
    a.forget();
    a.always(slowly(30_000));
    let _held = ask(&headgate, KEY);
    until("the first to arrive", || async { a.seen().len() == 1 }).await;
    let answer = status(&headgate, CHAT, KEY).await;
    assert_eq!(header(&answer, "x-headgate-upstream"), Some("u1"));
}

#[tokio::test]
async fn a_client_that_leaves_the_line_makes_way_for_the_next() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake], "{ concurrency: 1 }", "", "").await;
    fake.always(slowly(400));
    let first = ask(&headgate, KEY);
    until("the first to arrive", || async { fake.seen().len() == 1 }).await;
    let gone = ask(&headgate, KEY);
    until("it to wait", || async { waiting(&headgate).await == 1 }).await;
    let next = ask(&headgate, KEY);
    until("both to wait", || async { waiting(&headgate).await == 2 }).await;
    gone.abort();
    until("one to have left", || async { waiting(&headgate).await == 1 }).await;
    assert_eq!(first.await.unwrap().0.status(), 200);
    assert_eq!(next.await.unwrap().0.status(), 200);
    assert_eq!(fake.seen().len(), 2);
}

#[tokio::test]
async fn the_same_upstream_is_asked_again_before_the_next_one_as_often_as_the_setting_says() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&[&a, &b], "{}", "", "retry_same: 2, retry_budget: 1.0, breaker_failures: 10").await;
    // Repeats are a share of the requests.
    for _ in 0..6 {
        assert_eq!(status(&headgate, CHAT, KEY).await.status(), 200);
    }
    for class in [500, 503, 429] {
        a.script([Rule::times(2, Behaviour::status(class))]);
        let answer = status(&headgate, CHAT, KEY).await;
        assert_eq!((answer.status().as_u16(), header(&answer, "x-headgate-upstream")), (200, Some("u0")), "{class}");
        let (_, attempts) = headgate.record_of(&answer).await;
        let selections: Vec<_> = attempts.iter().map(|a| a["selection"].as_str().unwrap()).collect();
        assert_eq!(selections, ["initial", "retry", "retry"], "{class}");
    }
    // An upstream that says how long it wants to be left alone is not asked again before that.
    a.script([Rule::times(1, Behaviour::status(503).header("retry-after", "20"))]);
    let answer = status(&headgate, CHAT, KEY).await;
    assert_eq!(header(&answer, "x-headgate-upstream"), Some("u1"));
    assert_eq!(header(&answer, "x-headgate-attempts"), Some("2"));
}

#[tokio::test]
async fn repeats_stay_a_small_share_of_the_requests() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&[&a, &b], "{}", "", "retry_same: 3, breaker_failures: 100, breaker_min_results: 10000").await;
    a.always(Behaviour::status(500));
    for _ in 0..20 {
        let answer = status(&headgate, CHAT, KEY).await;
        assert_eq!(header(&answer, "x-headgate-upstream"), Some("u1"));
    }
    // A fifth of twenty, or the three that are always free.
    let repeats = a.seen().len() - 20;
    assert!((3..=5).contains(&repeats), "{repeats}");
}
