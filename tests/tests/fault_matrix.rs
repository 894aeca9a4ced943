//! Every fault of an upstream × stream or not × first, middle or last candidate (same protocol): the client's answer,
//! the attempts, what became of the upstream's health, and the record.

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, KEY, PATHS, header},
};
use serde_json::Value;

/// What a fault is recorded as, and what the client sees when nobody else is left (Chat).
struct Fault {
    name: &'static str,
    /// The upstream that has it: `broken` by the fake's script, or one with an address that cannot work.
    upstream: &'static str,
    behaviour: Behaviour,
    /// Class in the record, for streams and for documents.
    class: [&'static str; 2],
    /// Status for a Chat client when it is the last failure.
    status: u16,
    /// Another candidate is tried.
    again: bool,
    /// What is hurt: `breaker`, `credential`, `model`, `nothing`.
    hurts: &'static str,
}

fn fault(
    name: &'static str,
    behaviour: Behaviour,
    class: &'static str,
    status: u16,
    again: bool,
    hurts: &'static str,
) -> Fault {
    Fault { name, upstream: "broken", behaviour, class: [class, class], status, again, hurts }
}

fn faults() -> Vec<Fault> {
    let b = Behaviour::default;
    let status = Behaviour::status;
    let cut = |point| Behaviour { cut: Some(point), ..b() };
    let reset = |point| Behaviour { cut: Some(point), reset: true, ..b() };
    let stall = |point| Behaviour { stall: Some(point), ..b() };
    let html = Behaviour { content_type: Some("text/html".to_owned()), ..b() }.body("<html><body>hello</body></html>");
    let error_in_200 =
        b().body(r#"{"error":{"message":"quota gone","type":"insufficient_quota","code":"insufficient_quota"}}"#);
    let mut all = vec![
        Fault { upstream: "refused", ..fault("connection refused", b(), "connect", 502, true, "breaker") },
        Fault { upstream: "tls", ..fault("TLS handshake fails", b(), "connect", 502, true, "breaker") },
        Fault { upstream: "dns", ..fault("name does not resolve", b(), "connect", 502, true, "breaker") },
        fault("reset before headers", reset(Point::BeforeHeaders), "cut", 502, true, "breaker"),
        fault("closed before headers", cut(Point::BeforeHeaders), "cut", 502, true, "breaker"),
        fault("reset after headers", reset(Point::AfterHeaders), "cut", 502, true, "breaker"),
        fault("slow headers", stall(Point::BeforeHeaders), "slow_first", 504, true, "breaker"),
        fault("stall before the first output", stall(Point::MidEvent(1)), "slow_first", 504, true, "breaker"),
        fault("cut before the first output", cut(Point::MidEvent(1)), "cut", 502, true, "breaker"),
        fault("400", status(400), "client_fault", 400, false, "nothing"),
        fault("401", status(401), "credential", 502, true, "credential"),
        fault("402", status(402), "exhausted", 429, true, "credential"),
        fault("403", status(403), "credential", 502, true, "credential"),
        fault("404", status(404), "model_missing", 404, true, "model"),
        fault("408", status(408), "server", 504, true, "breaker"),
        fault("413", status(413), "client_fault", 413, false, "nothing"),
        fault("422", status(422), "client_fault", 422, false, "nothing"),
        fault("429", status(429), "rate_limited", 429, true, "credential"),
        fault("429 with Retry-After", status(429).header("retry-after", "3"), "rate_limited", 429, true, "credential"),
        fault("500", status(500), "server", 502, true, "breaker"),
        fault("502 without JSON", status(502).body("bad gateway"), "server", 502, true, "breaker"),
        fault("503", status(503), "overloaded", 503, true, "breaker"),
        fault("504", status(504), "server", 504, true, "breaker"),
        fault("529", status(529), "overloaded", 503, true, "breaker"),
        fault("redirect", status(302).header("location", "http://127.0.0.1:1/"), "server", 502, true, "breaker"),
        fault("HTML in 200", html, "broken", 502, true, "breaker"),
        fault(
            "no bytes in 200",
            Behaviour { content_type: Some("application/json".to_owned()), ..b().body("") },
            "empty",
            502,
            true,
            "breaker",
        ),
        fault("error JSON in 200", error_in_200, "exhausted", 429, true, "credential"),
        fault("no JSON in 200", b().body("not json"), "broken", 502, true, "breaker"),
        fault("gzip bomb", Behaviour { bomb: true, ..b() }, "broken", 502, true, "breaker"),
    ];
    // A document that breaks off in its middle is cut, one that never ends is slow.
    for fault in &mut all {
        if fault.name == "stall before the first output" {
            fault.class[1] = "slow_first";
        }
    }
    all
}

async fn gateway(broken: &Fake, good: &Fake) -> Headgate {
    let limits = "timeouts: { connect: 1s, first_response: 300ms, idle: 300ms, non_stream: 300ms }";
    let mut upstreams = String::new();
    let mut groups = String::new();
    let mut keys = String::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (name, url) in [
        ("broken", broken.url()),
        ("refused", format!("http://{closed}")),
        ("tls", broken.url().replace("http:", "https:")),
        ("dns", "https://nowhere.invalid".to_owned()),
        ("good-1", good.url()),
        ("good-2", good.url()),
    ] {
        upstreams +=
            &format!("  - {{ name: {name}, base_url: '{url}', {limits}, credentials: [ {{ env: UPSTREAM_KEY }} ] }}\n");
    }
    let good_first = |n: u32| format!("{{ upstream: good-{n}, priority: {n} }}");
    for bad in ["broken", "refused", "tls", "dns"] {
        // first: bad, then good; middle: between two; last: the only one that is left.
        let member = format!("{{ upstream: {bad}, priority: 0 }}");
        groups +=
            &format!("  - {{ name: {bad}-first, members: [ {member}, {}, {} ] }}\n", good_first(1), good_first(2));
        groups += &format!("  - {{ name: {bad}-last, members: [ {member} ] }}\n");
        for place in ["first", "last"] {
            keys += &format!("  - {{ name: {bad}-{place}, group: {bad}-{place}, secret: {KEY}-{bad}-{place} }}\n");
        }
    }
    groups += &format!(
        "  - {{ name: middle, members: [ {}, {{ upstream: broken, priority: 2 }}, {{ upstream: good-2, priority: 3 }} ] }}\n",
        good_first(1)
    );
    keys += &format!("  - {{ name: middle, group: middle, secret: {KEY}-middle }}\n");
    let settings =
        "settings: { breaker_failures: 100, breaker_min_results: 10000, max_attempts: 4, adaptive_timeout: false }";
    let text = format!("version: 1\n{settings}\nupstreams:\n{upstreams}groups:\n{groups}keys:\n{keys}");
    headgate_tests::harness::Setup::new(&text).env("UPSTREAM_KEY", "sk-upstream").start().await
}

async fn reset_all(headgate: &Headgate) {
    let list = headgate.admin(reqwest::Method::GET, "/upstreams", None).await;
    for upstream in list["items"].as_array().unwrap() {
        headgate.admin(reqwest::Method::POST, &format!("/upstreams/{}/reset", upstream["id"]), None).await;
    }
}

fn check_health(health: &Value, hurts: &str, cell: &str) {
    // A stream that passes the first-response limit opens the breaker at once.
    let hurt = health["failures"].as_u64().unwrap() > 0 || health["state"] == "open";
    let cooling = health["credentials"].as_array().unwrap().len();
    let excluded = health["models"].as_array().unwrap().iter().filter(|m| !m["excluded_ms"].is_null()).count();
    let expected = match hurts {
        "breaker" => (true, 0, 0),
        "credential" => (false, 1, 0),
        "model" => (false, 0, 1),
        _ => (false, 0, 0),
    };
    assert_eq!((hurt, cooling, excluded), expected, "{cell}: {health}");
}

#[tokio::test]
async fn every_fault_in_every_place_is_told_recorded_and_judged_as_it_should_be() {
    let (broken, good) = (Fake::start().await, Fake::start().await);
    let headgate = gateway(&broken, &good).await;
    let mut cells = 0;
    for fault in faults() {
        for stream in [true, false] {
            for place in ["first", "last", "middle"] {
                if place == "middle" && fault.upstream != "broken" {
                    continue;
                }
                let cell = format!("{} / stream {stream} / {place}", fault.name);
                reset_all(&headgate).await;
                broken.always(fault.behaviour.clone());
                good.behave();
                if place == "middle" {
                    // The one before it fails, too.
                    good.script([headgate_tests::fake::Rule::times(1, Behaviour::status(500))]);
                }
                let key = if place == "middle" {
                    format!("{KEY}-middle")
                } else {
                    format!("{KEY}-{}-{place}", fault.upstream)
                };
                let body = headgate_tests::harness::question(PATHS[0], "m", stream);
                let url = format!("{}{}", headgate.url, PATHS[0]);
                let response = headgate.client.post(url).bearer_auth(key).json(&body).send().await.unwrap();
                let status = response.status().as_u16();
                let served = header(&response, "x-headgate-upstream").unwrap_or_default().to_owned();
                let (request, attempts) = headgate.record_of(&response).await;
                let text = response.text().await.unwrap();
                let rescued = fault.again && place != "last";
                if rescued {
                    assert_eq!((status, served.starts_with("good")), (200, true), "{cell}: {text}");
                    assert!(text.contains("GATE-OK"), "{cell}: {text}");
                    assert_eq!(request["outcome"], "success", "{cell}");
                } else {
                    assert_eq!(status, fault.status, "{cell}: {text}");
                    let error: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{cell}: {text}"));
                    assert!(error["error"]["message"].is_string(), "{cell}: {text}");
                    let expected = if fault.class[0] == "client_fault" { "client_error" } else { "failed" };
                    assert_eq!(request["outcome"], expected, "{cell}: {request}");
                }
                let before = usize::from(place == "middle");
                assert_eq!(attempts.len(), before + 1 + usize::from(rescued), "{cell}: {attempts:#?}");
                let kind = attempts[before]["error_kind"].as_str().unwrap_or_default();
                let class = fault.class[usize::from(!stream)];
                assert_eq!(kind.split('.').next(), Some(class), "{cell}: {kind} {}", attempts[before]["error_text"]);
                assert_eq!(request["attempt_count"].as_u64(), Some(attempts.len() as u64), "{cell}");
                let bad = if fault.upstream == "broken" { "broken" } else { fault.upstream };
                check_health(&headgate.health(bad).await, fault.hurts, &cell);
                cells += 1;
            }
        }
    }
    assert!(cells >= 130, "{cells} cells");
}

#[tokio::test]
async fn a_stream_that_breaks_after_its_first_output_ends_with_the_protocols_own_error() {
    let (broken, good) = (Fake::start().await, Fake::start().await);
    let headgate = gateway(&broken, &good).await;
    let faults = [
        ("cut mid-event", Behaviour { cut: Some(Point::MidEvent(6)), ..Behaviour::default() }, "cut"),
        ("cut before completion", Behaviour { cut: Some(Point::BeforeCompletion), ..Behaviour::default() }, "cut"),
        ("stall", Behaviour { stall: Some(Point::Event(6)), ..Behaviour::default() }, "stalled"),
        ("stall mid-event", Behaviour { stall: Some(Point::MidEvent(6)), ..Behaviour::default() }, "stalled"),
        ("reset", Behaviour { cut: Some(Point::Event(6)), reset: true, ..Behaviour::default() }, "cut"),
        ("error event", Behaviour { error_event: Some(Point::Event(6)), ..Behaviour::default() }, "cut"),
    ];
    for path in PATHS {
        for (name, behaviour, class) in &faults {
            let cell = format!("{name} / {path}");
            reset_all(&headgate).await;
            broken.always(Behaviour { pieces: 10, ..behaviour.clone() });
            let body = headgate_tests::harness::question(path, "m", true);
            let url = format!("{}{path}", headgate.url);
            let key = format!("{KEY}-broken-first");
            let response = headgate.client.post(url).bearer_auth(key).json(&body).send().await.unwrap();
            let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
            let text = response.text().await.unwrap_or_else(|why| panic!("{cell}: {why}"));
            let (request, attempts) = headgate.record(&id).await;
            // A chunk of Chat that says why it stopped is a normal end even without [DONE].
            if path == PATHS[0] && *name == "cut before completion" {
                continue;
            }
            let told = match path {
                "/v1/messages" => text.contains("event: error"),
                "/v1/responses" => text.contains("response.failed"),
                _ => text.contains("data: {\"error\":"),
            };
            assert!(told, "{cell}: {text}");
            assert!(text.contains("HEAD"), "{cell}: {text}");
            assert!(text.ends_with("\n\n"), "{cell}: {text}");
            for done in ["[DONE]", "message_stop", "response.completed"] {
                assert!(!text.contains(done), "{cell}: {text}");
            }
            assert_eq!(request["outcome"], "partial", "{cell}: {request}");
            assert_eq!(attempts.len(), 1, "{cell}");
            assert_eq!(attempts[0]["error_kind"].as_str(), Some(*class), "{cell}: {}", attempts[0]["error_text"]);
            assert_eq!(headgate.health("broken").await["failures"], 1, "{cell}");
        }
    }
}
