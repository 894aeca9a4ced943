//! Who gets which request when several could: sessions stay, credentials rotate, what cools is left out.

use std::collections::HashMap;

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{Headgate, KEY, PATHS, header, question},
};
use serde_json::json;

/// Three equals in one tier, one below.
async fn equals() -> (Vec<Fake>, Headgate) {
    let mut fakes = Vec::new();
    let mut upstreams = String::new();
    for name in ["a", "b", "c", "below"] {
        let fake = Fake::start().await;
        upstreams += &format!("  - {{ name: {name}, base_url: '{}', session_header: x-vendor-session }}\n", fake.url());
        fakes.push(fake);
    }
    let headgate = Headgate::start(&format!(
        "version: 1
settings: {{ breaker_failures: 1 }}
upstreams:
{upstreams}groups:
  - name: g
    members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 1 }}, {{ upstream: c, priority: 1 }}, {{ upstream: below, priority: 2 }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }}, {{ name: l, group: g, secret: {KEY}-l }} ]
"
    ))
    .await;
    (fakes, headgate)
}

fn served_by(response: &reqwest::Response) -> String {
    header(response, "x-headgate-upstream").unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_stays_where_it_was_while_that_is_well_and_moves_when_it_is_not() {
    let (fakes, headgate) = equals().await;
    let session =
        |n: usize, path: &str| headgate.ask(path, "m", n.is_multiple_of(2)).header("x-session-key", format!("s{n}"));
    let mut home = HashMap::new();
    for n in 0..12 {
        let response = session(n, PATHS[n % 3]).send().await.unwrap();
        home.insert(n, served_by(&response));
        response.bytes().await.unwrap();
    }
    let used: std::collections::HashSet<_> = home.values().collect();
    assert!(!used.contains(&"below".to_owned()), "{used:?}");
    for _ in 0..5 {
        for n in 0..12 {
            // Whatever route the session uses next.
            let response = session(n, PATHS[(n + 1) % 3]).send().await.unwrap();
            assert_eq!(served_by(&response), home[&n], "session {n}");
            response.bytes().await.unwrap();
        }
    }
    let index = |name: &str| ["a", "b", "c"].iter().position(|n| *n == name).unwrap();
    assert_eq!(fakes[index(&home[&0])].last().header("x-session-key"), None);
    assert!(fakes[index(&home[&0])].seen().iter().any(|s| s.header("x-vendor-session") == Some("s0")));
    // Its home fails: it moves, and stays where it has moved to.
    fakes[index(&home[&0])].always(Behaviour::status(500));
    let response = session(0, PATHS[0]).send().await.unwrap();
    let moved = served_by(&response);
    assert_eq!(response.status(), 200);
    assert!(moved != home[&0] && moved != "below", "{moved}");
    response.bytes().await.unwrap();
    for n in 0..4 {
        let response = session(0, PATHS[n % 3]).send().await.unwrap();
        assert_eq!(served_by(&response), moved);
        response.bytes().await.unwrap();
    }
    // Another key's session of the same name is another session: over many it must not always be the same place.
    let mut others = std::collections::HashSet::new();
    for _ in 0..30 {
        let url = format!("{}{}", headgate.url, PATHS[0]);
        let request = headgate.client.post(url).bearer_auth(format!("{KEY}-l")).json(&question(PATHS[0], "m", false));
        others.insert(served_by(&request.send().await.unwrap()));
    }
    assert!(!others.contains("below"), "{others:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_credential_comes_before_the_next_upstream_and_a_cooling_one_is_left_out() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&format!(
        "version: 1
settings: {{ max_attempts: 5 }}
upstreams:
  - {{ name: a, base_url: '{}', credentials: [ {{ value: key-1 }}, {{ value: key-2 }}, {{ value: key-3 }} ] }}
  - {{ name: b, base_url: '{}' }}
groups: [ {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        a.url(),
        b.url()
    ))
    .await;
    let used = |fake: &Fake| {
        fake.seen()
            .iter()
            .map(|s| s.header("authorization").unwrap_or("-").trim_start_matches("Bearer ").to_owned())
            .collect::<Vec<_>>()
    };
    // All of them take turns.
    for _ in 0..9 {
        assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    }
    for key in ["key-1", "key-2", "key-3"] {
        assert_eq!(used(&a).iter().filter(|k| *k == key).count(), 3, "{:?}", used(&a));
    }
    a.forget();
    a.script([Rule::key("key-1", Behaviour::status(401)), Rule::key("key-2", Behaviour::status(429))]);
    for n in 0..6_usize {
        let response = headgate.ask(PATHS[0], "m", n.is_multiple_of(2)).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("a")), "{n}");
        let (_, attempts) = headgate.record_of(&response).await;
        let credentials: std::collections::HashSet<_> =
            attempts.iter().map(|x| x["credential_id"].to_string()).collect();
        assert_eq!(credentials.len(), attempts.len(), "{attempts:?}");
        response.bytes().await.unwrap();
    }
    // Each bad one was tried once and then left alone; the upstream itself is as well as ever.
    let bad = used(&a).iter().filter(|k| *k != "key-3").count();
    assert_eq!((bad, a.seen().len()), (2, 8), "{:?}", used(&a));
    assert_eq!(headgate.health("a").await["state"], "closed");
    assert!(b.seen().is_empty());
    // The last one goes, too: now, and only now, the next upstream.
    a.always(Behaviour::status(402));
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("b")));
    a.forget();
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    assert!(a.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_is_missing_is_missed_for_that_model_alone() {
    let (fakes, headgate) = equals().await;
    for fake in &fakes[..3] {
        let words = json!({"error":{"message":"The model `gone` does not exist","type":"invalid_request_error","code":"model_not_found"}});
        fake.script([Rule::model("gone", Behaviour::status(404).body(&words.to_string()))]);
    }
    for n in 0..4 {
        let response = headgate.ask(PATHS[n % 3], "gone", false).send().await.unwrap();
        // Three attempts are allowed: the first request uses them up, later ones go to the only one that has it.
        let expected = if n == 0 { 404 } else { 200 };
        assert_eq!(response.status(), expected, "{n}: {}", response.text().await.unwrap());
        let response = headgate.ask(PATHS[n % 3], "there", false).send().await.unwrap();
        assert_ne!(served_by(&response), "below");
    }
    let asked: usize = fakes[..3].iter().flat_map(Fake::seen).filter(|s| s.json()["model"] == "gone").count();
    assert_eq!(asked, 3);
    for name in ["a", "b", "c"] {
        assert_eq!(headgate.health(name).await["state"], "closed", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alias_is_drawn_by_weight_falls_back_in_order_and_is_seen_by_its_name() {
    let (a, b, c) = (Fake::start().await, Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&format!(
        "version: 1
settings: {{ breaker_failures: 100 }}
upstreams: [ {{ name: a, base_url: '{}' }}, {{ name: b, base_url: '{}' }}, {{ name: c, base_url: '{}' }} ]
groups:
  - name: g
    strategy: smooth_weighted
    members: [ {{ upstream: a, priority: 3 }}, {{ upstream: b, priority: 2 }}, {{ upstream: c, priority: 1 }} ]
    aliases:
      fast:
        candidates: [ {{ upstream: a, model: a-small, weight: 3 }}, {{ upstream: b, model: b-small, weight: 1 }} ]
        fallback: [ {{ upstream: c, model: c-small }} ]
keys: [ {{ name: k, group: g, secret: {KEY}, models: [fast] }} ]
",
        a.url(),
        b.url(),
        c.url()
    ))
    .await;
    for n in 0..40 {
        let (path, stream) = (PATHS[n % 3], n % 2 == 0);
        let response = headgate.ask(path, "fast", stream).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let text = response.text().await.unwrap();
        assert!(text.contains("\"model\":\"fast\"") && !text.contains("-small"), "{text}");
    }
    assert_eq!((a.seen().len(), b.seen().len(), c.seen().len()), (30, 10, 0));
    assert!(a.seen().iter().all(|s| s.json()["model"] == "a-small"));
    a.always(Behaviour::status(500));
    b.always(Behaviour::status(500));
    let response = headgate.ask(PATHS[0], "fast", true).send().await.unwrap();
    assert_eq!((response.status().as_u16(), served_by(&response).as_str()), (200, "c"));
    assert_eq!(c.last().json()["model"], "c-small");
    // The names behind it are not for this key.
    assert_eq!(headgate.ask(PATHS[0], "a-small", false).send().await.unwrap().status(), 404);
}
