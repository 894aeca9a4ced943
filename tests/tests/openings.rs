//! Clients that wait: a stream that may be translated is opened before any candidate has given output, and other
//! candidates are still tried behind the opening.

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, KEY, PATHS, header, until},
};
use serde_json::{Value, json};

/// How long a candidate keeps silent: longer than the keep-alive of one second, twice.
const SILENCE: u64 = 2500;

/// A kind that a client of this path is translated for.
fn foreign(path: &str) -> &'static str {
    if path == "/v1/messages" { "openai" } else { "claude" }
}

/// Two candidates of these kinds, and a keep-alive of one second.
async fn start(first: (&Fake, &str), second: (&Fake, &str)) -> Headgate {
    Headgate::start(&format!(
        "version: 1\nsettings: {{ keep_alive: 1s }}\nupstreams: [ {{ name: a, base_url: '{}', protocol: {} }}, {{ name: b, base_url: '{}', protocol: {} }} ]\n\
         groups: [ {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }} ]\n\
         keys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        first.0.url(),
        first.1,
        second.0.url(),
        second.1
    ))
    .await
}

/// The events of a stream: their data.
fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap_or(json!(data))).collect()
}

/// What a stream of this path begins with, how often it may, and the events that keep it alive before its output.
fn check_opening(path: &str, stream: &str) {
    let events = events(stream);
    let count = |kind: &str| events.iter().filter(|e| e["type"] == kind).count();
    match path {
        "/v1/chat/completions" => {
            let roles = events.iter().filter(|e| e["choices"][0]["delta"]["role"] == "assistant");
            assert_eq!(roles.count(), 1, "{stream}");
            assert_eq!(events[1]["choices"][0]["delta"], json!({}), "a keep-alive says nothing: {stream}");
            let ids = events.iter().filter_map(|e| e["id"].as_str()).collect::<std::collections::HashSet<_>>();
            assert_eq!(ids.len(), 1, "{stream}");
        }
        "/v1/responses" => {
            assert_eq!(count("response.created"), 1, "{stream}");
            assert!(count("response.in_progress") >= 2, "{stream}");
            let numbers: Vec<u64> = events.iter().filter_map(|e| e["sequence_number"].as_u64()).collect();
            assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{stream}");
        }
        _ => {
            assert_eq!(count("message_start"), 1, "{stream}");
            assert!(count("ping") >= 1, "{stream}");
        }
    }
}

fn is_whole(path: &str, stream: &str) -> bool {
    let end = match path {
        "/v1/chat/completions" => "data: [DONE]",
        "/v1/responses" => "event: response.completed",
        _ => "event: message_stop",
    };
    stream.contains("GATE") && stream.matches(end).count() == 1
}

/// Asks all of them at once; gives the number, headers of the answer and stream of each.
async fn ask_all(cases: &[(&'static str, Headgate)]) -> Vec<(usize, reqwest::header::HeaderMap, String)> {
    let mut asked = tokio::task::JoinSet::new();
    for (number, (path, headgate)) in cases.iter().enumerate() {
        let request = headgate.ask(path, "m", true);
        asked.spawn(async move {
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 200);
            (number, answer.headers().clone(), answer.text().await.unwrap())
        });
    }
    asked.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_waits_is_answered_at_once_and_the_next_candidate_still_serves_it() {
    let (first, second) = (Fake::start().await, Fake::start().await);
    let mut cases = Vec::new();
    for path in PATHS {
        // Behind the opening the client's own protocol, and a third one.
        for kind in ["passthrough", "openai-response"] {
            cases.push((path, start((&first, foreign(path)), (&second, kind)).await));
        }
    }
    // Each way in which a candidate can turn out to have nothing, long after the client's stream was opened.
    for late in [
        Behaviour { status: Some(503), delay_ms: SILENCE, ..Behaviour::default() },
        Behaviour { first_event_ms: SILENCE, cut: Some(Point::Event(1)), ..Behaviour::default() },
        Behaviour { first_event_ms: SILENCE, error_event: Some(Point::Event(1)), ..Behaviour::default() },
        Behaviour { first_event_ms: SILENCE, empty: true, ..Behaviour::default() },
    ] {
        first.always(late.clone());
        for (_, headgate) in &cases {
            headgate.admin_raw(reqwest::Method::POST, "/upstreams/1/reset", Some(json!({}))).await;
        }
        for (number, headers, stream) in ask_all(&cases).await {
            let (path, headgate) = &cases[number];
            check_opening(path, &stream);
            assert!(is_whole(path, &stream), "{path} {late:?}: {stream}");
            // The head was sent when nothing was known of the second.
            let said = |name: &str| headers[name].to_str().unwrap();
            assert_eq!((said("x-headgate-upstream"), said("x-headgate-attempts")), ("a", "1"));
            assert_eq!((said("content-type"), said("cache-control")), ("text/event-stream", "no-cache"));
            let (request, attempts) = headgate.record(said("x-headgate-request-id")).await;
            assert_eq!((&request["outcome"], &request["upstream_name"]), (&json!("success"), &json!("b")), "{request}");
            assert_eq!((&request["response_bytes"], attempts.len()), (&json!(stream.len()), 2), "{request}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_nobody_is_left_behind_an_opening_the_failure_is_told_inside_the_stream() {
    let (first, second) = (Fake::start().await, Fake::start().await);
    first.always(Behaviour { status: Some(503), delay_ms: SILENCE, ..Behaviour::default() });
    second.always(Behaviour::status(429).header("retry-after", "7"));
    for path in PATHS {
        let headgate = start((&first, foreign(path)), (&second, "passthrough")).await;
        let answer = headgate.ask(path, "m", true).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let id = header(&answer, "x-headgate-request-id").unwrap().to_owned();
        let stream = answer.text().await.unwrap();
        check_opening(path, &stream);
        let last = events(&stream).pop().unwrap();
        let kind = match path {
            "/v1/chat/completions" => &last["error"]["code"],
            "/v1/responses" => &last["response"]["error"]["code"],
            _ => &last["error"]["type"],
        };
        assert!(kind.as_str().is_some_and(|k| k.starts_with("rate_limit")), "{path}: {stream}");
        assert!(!stream.contains("[DONE]"), "{stream}");
        let (request, attempts) = headgate.record(&id).await;
        assert_eq!((&request["outcome"], &request["status"], attempts.len()), (&json!("failed"), &json!(200), 2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_answer_behind_an_opening_is_delivered_if_nobody_has_a_better_one() {
    let fake = Fake::start().await;
    fake.always(Behaviour { first_event_ms: SILENCE, empty: true, ..Behaviour::default() });
    for path in PATHS {
        let headgate = start((&fake, foreign(path)), (&fake, foreign(path))).await;
        let stream = headgate.ask(path, "m", true).send().await.unwrap().text().await.unwrap();
        check_opening(path, &stream);
        let last = events(&stream).pop().unwrap();
        let ended = last == "[DONE]" || last["type"] == "response.completed" || last["type"] == "message_stop";
        assert!(ended, "{path}: {stream}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_behind_an_opening_hurts_nobody() {
    let (first, second) = (Fake::start().await, Fake::start().await);
    first.always(Behaviour { stall: Some(Point::BeforeHeaders), ..Behaviour::default() });
    let headgate = start((&first, "claude"), (&second, "claude")).await;
    let mut answer = headgate.ask(PATHS[0], "m", true).send().await.unwrap();
    assert!(answer.chunk().await.unwrap().is_some_and(|chunk| chunk.starts_with(b"data: ")));
    let id = header(&answer, "x-headgate-request-id").unwrap().to_owned();
    drop(answer);
    first.last().caller_left().await;
    let (request, attempts) = headgate.record(&id).await;
    assert_eq!((&request["outcome"], attempts.len()), (&json!("canceled"), 1));
    assert_eq!(headgate.health("a").await["state"], "closed");
    assert!(second.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_stops_behind_an_opening_says_so_inside_the_stream() {
    let fake = Fake::start().await;
    fake.always(Behaviour { stall: Some(Point::BeforeHeaders), ..Behaviour::default() });
    let mut headgate = start((&fake, "claude"), (&fake, "claude")).await;
    let answer = headgate.ask(PATHS[1], "m", true).send().await.unwrap();
    let stream = tokio::spawn(answer.text());
    assert_eq!(headgate.terminate().await, Some(0));
    let stream = stream.await.unwrap().unwrap();
    check_opening(PATHS[1], &stream);
    assert!(stream.contains("response.failed") && stream.contains("stopping"), "{stream}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_the_clients_own_protocol_is_not_opened_by_us() {
    let (first, second) = (Fake::start().await, Fake::start().await);
    first.always(Behaviour { status: Some(503), delay_ms: SILENCE, ..Behaviour::default() });
    let headgate = start((&first, "passthrough"), (&second, "claude")).await;
    for path in PATHS {
        let answer = headgate.ask(path, "m", true).send().await.unwrap();
        assert_eq!(header(&answer, "x-headgate-attempts"), Some("2"), "nothing was sent before the second candidate");
        assert!(is_whole(path, &answer.text().await.unwrap()), "{path}");
        headgate.admin_raw(reqwest::Method::POST, "/upstreams/1/reset", Some(json!({}))).await;
        until("the reset", || async { headgate.health("a").await["state"] == "closed" }).await;
    }
}
