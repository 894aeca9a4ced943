//! How an answer may end, and what may be odd about it without being wrong: what the client gets, and who is blamed.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake, Point, Rule, answer},
    harness::{Headgate, KEY, PATHS, header, question},
};

async fn start(a: &Fake, b: &Fake) -> Headgate {
    let limits = "timeouts: { connect: 1s, first_response: 400ms, idle: 400ms, non_stream: 400ms }";
    Headgate::start(&format!(
        "version: 1
settings: {{ breaker_failures: 100, breaker_min_results: 10000, adaptive_timeout: false }}
upstreams:
  - {{ name: a, base_url: '{}', {limits} }}
  - {{ name: b, base_url: '{}', {limits} }}
groups:
  - {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }}
  - {{ name: one, members: [ {{ upstream: a }} ] }}
keys:
  - {{ name: k, group: g, secret: {KEY} }}
  - {{ name: one, group: one, secret: {KEY}-one }}
",
        a.url(),
        b.url()
    ))
    .await
}

fn expected(path: &str, stream: bool, behaviour: &Behaviour) -> Vec<u8> {
    let (kind, body) = (answer::kind(path).unwrap(), question(path, "m", stream));
    if stream {
        answer::events(kind, &body, behaviour).concat().into_bytes()
    } else {
        answer::document(kind, &body, behaviour).to_string().into_bytes()
    }
}

/// The upstream does this after its completion event: the answer is whole all the same, and nobody is blamed.
async fn whole_whatever_follows(behaviour: Behaviour) {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    a.always(behaviour.clone());
    for path in PATHS {
        let response = headgate.ask(path, "m", true).send().await.unwrap();
        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
        let begin = Instant::now();
        let body = response.bytes().await.unwrap_or_else(|why| panic!("{path}: {why}"));
        let text = String::from_utf8_lossy(&body);
        assert_eq!(text, String::from_utf8_lossy(&expected(path, true, &behaviour)), "{path}");
        assert!(begin.elapsed() < Duration::from_secs(2), "{path}: {:?}", begin.elapsed());
        let (request, attempts) = headgate.record(&id).await;
        assert_eq!((&request["outcome"], attempts.len()), (&"success".into(), 1), "{path}: {request}");
        assert_eq!(request["stream_completed"], true, "{path}: {request}");
        assert_eq!(headgate.health("a").await["failures"], 0, "{path}");
    }
    assert!(b.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_closed_after_the_completion_event_is_a_normal_end() {
    whole_whatever_follows(Behaviour { cut: Some(Point::AfterCompletion), ..Behaviour::default() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_reset_after_the_completion_event_is_a_normal_end() {
    whole_whatever_follows(Behaviour { cut: Some(Point::AfterCompletion), reset: true, ..Behaviour::default() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_kept_open_after_the_completion_event_is_a_normal_end() {
    whole_whatever_follows(Behaviour { stall: Some(Point::AfterCompletion), ..Behaviour::default() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_or_missing_content_type_is_seen_through() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    for path in PATHS {
        for (stream, kind) in [
            (true, "application/json"),
            (true, "text/plain; charset=utf-8"),
            (true, "application/octet-stream"),
            (false, "text/plain"),
            (false, "application/octet-stream"),
            (false, "application/vnd.api+json"),
        ] {
            let behaviour = Behaviour { content_type: Some(kind.to_owned()), ..Behaviour::default() };
            a.always(behaviour.clone());
            let response = headgate.ask(path, "m", stream).send().await.unwrap();
            assert_eq!(header(&response, "x-headgate-upstream"), Some("a"), "{path} {kind}");
            let (request, _) = {
                let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
                assert_eq!(response.bytes().await.unwrap(), expected(path, stream, &behaviour), "{path} {kind}");
                headgate.record(&id).await
            };
            assert_eq!(request["outcome"], "success", "{path} {kind}: {request}");
            assert_eq!(request["tokens_output"].as_i64().is_some(), path != PATHS[0] || !stream, "{path}: {request}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_for_a_stream_and_a_stream_for_a_document_pass_as_they_are() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    for path in PATHS {
        let document = String::from_utf8(expected(path, false, &Behaviour::default())).unwrap();
        a.always(Behaviour::default().body(&document));
        let response = headgate.ask(path, "m", true).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("a")), "{path}");
        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
        assert_eq!(response.text().await.unwrap(), document, "{path}");
        assert_eq!(headgate.record(&id).await.0["outcome"], "success", "{path}");
        let events = String::from_utf8(expected(path, true, &Behaviour::default())).unwrap();
        a.always(
            Behaviour { content_type: Some("text/event-stream".to_owned()), ..Behaviour::default() }.body(&events),
        );
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
        assert_eq!(response.text().await.unwrap(), events, "{path}");
        assert_eq!(headgate.record(&id).await.0["outcome"], "success", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_text_pass_in_a_stream_and_fail_over_in_a_document() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    a.always(Behaviour { invalid_utf8: true, ..Behaviour::default() });
    for path in PATHS {
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("b")), "{path}");
        let (_, attempts) = headgate.record_of(&response).await;
        assert_eq!(attempts[0]["error_kind"].as_str().unwrap().split('.').next(), Some("broken"), "{path}");
        // The stream's first output was fine; from then on its bytes are passed on. (The fake's completion event of
        // Responses repeats the text: damaged, it completes nothing.)
        if path == PATHS[1] {
            continue;
        }
        let response = headgate.ask(path, "m", true).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("a")), "{path}");
        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
        let bytes = response.bytes().await.unwrap();
        let mut want = expected(path, true, &Behaviour::default());
        let at = want.windows(4).position(|w| w == b"GATE").unwrap();
        want[at] = 0xff;
        assert!(bytes == want, "{path}");
        assert_eq!(headgate.record(&id).await.0["outcome"], "success", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_answer_is_tried_elsewhere_once_and_then_delivered_as_it_is() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    let empty = Behaviour { empty: true, ..Behaviour::default() };
    for path in PATHS {
        for stream in [false, true] {
            let cell = format!("{path} {stream}");
            a.always(empty.clone());
            b.behave();
            let response = headgate.ask(path, "m", stream).send().await.unwrap();
            assert_eq!(header(&response, "x-headgate-upstream"), Some("b"), "{cell}");
            let (_, attempts) = headgate.record_of(&response).await;
            assert_eq!(attempts[0]["error_kind"], "empty", "{cell}");
            assert_eq!(response.bytes().await.unwrap(), expected(path, stream, &Behaviour::default()), "{cell}");
            b.always(empty.clone());
            let response = headgate.ask(path, "m", stream).send().await.unwrap();
            assert_eq!(response.status(), 200, "{cell}");
            let kind = if stream { "text/event-stream" } else { "application/json" };
            assert_eq!(header(&response, "content-type"), Some(kind), "{cell}");
            let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
            assert_eq!(response.bytes().await.unwrap(), expected(path, stream, &empty), "{cell}");
            assert_eq!(headgate.record(&id).await.1.len(), 2, "{cell}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_document_passes_whole_and_is_judged() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    for path in PATHS {
        let behaviour = Behaviour { pieces: 60_000, ..Behaviour::default() };
        a.always(behaviour.clone());
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
        assert!(response.bytes().await.unwrap() == expected(path, false, &behaviour), "{path}");
        let (request, _) = headgate.record(&id).await;
        assert_eq!((&request["outcome"], &request["tokens_output"]), (&"success".into(), &7.into()), "{request}");
        // Cut in its middle, after the commit: the connection breaks off, too, so that nobody takes it for whole.
        a.always(Behaviour { cut: Some(Point::Event(1)), ..behaviour });
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
        assert!(response.bytes().await.is_err(), "{path}");
        let (request, attempts) = headgate.record(&id).await;
        assert_eq!((&request["outcome"], &attempts[0]["error_kind"]), (&"partial".into(), &"cut".into()), "{request}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_error_in_a_success_goes_to_the_next_upstream() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    let words = format!("{{\"error\":{{\"message\":\"{}\",\"code\":\"server_error\"}}}}", "sorry ".repeat(15_000));
    for path in PATHS {
        a.script([Rule::times(1, Behaviour::default().body(&words))]);
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("b")), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_are_no_sign_of_life_and_pings_are_no_work() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    for path in PATHS {
        // Nothing but the headers: the first-response limit of a stream.
        a.always(Behaviour { first_event_ms: 60_000, ..Behaviour::default() });
        let begin = Instant::now();
        let response = headgate.ask(path, "m", true).send().await.unwrap();
        assert_eq!(header(&response, "x-headgate-upstream"), Some("b"), "{path}");
        assert!(begin.elapsed() < Duration::from_secs(2), "{path} {:?}", begin.elapsed());
        let (_, attempts) = headgate.record_of(&response).await;
        assert_eq!(attempts[0]["error_kind"].as_str().unwrap().split('.').next(), Some("slow_first"), "{path}");
        let list = headgate.admin(reqwest::Method::GET, "/upstreams", None).await;
        let id = &list["items"].as_array().unwrap().iter().find(|u| u["name"] == "a").unwrap()["id"];
        headgate.admin(reqwest::Method::POST, &format!("/upstreams/{id}/reset"), None).await;
    }
}
