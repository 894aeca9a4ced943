//! Where the gateway's borders are: keys, the two worlds of keys, destinations, and what a client may not hand through.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, header, question},
};
use reqwest::Method;
use serde_json::json;

async fn start(base_url: &str) -> Headgate {
    Headgate::start(&format!(
        "version: 1
upstreams: [ {{ name: a, base_url: '{base_url}', credentials: [ {{ value: secret }} ] }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
"
    ))
    .await
}

/// A client whose connections come from an address of its own.
fn from(last: u8) -> reqwest::Client {
    let address = std::net::IpAddr::from([127, 0, 1, last]);
    reqwest::Client::builder().no_proxy().local_address(address).build().unwrap()
}

#[tokio::test]
async fn every_route_but_health_needs_a_key_and_the_two_kinds_of_keys_do_not_mix() {
    let fake = Fake::start().await;
    let headgate = start(&fake.url()).await;
    let client = from(1);
    let health = client.get(format!("{}/healthz", headgate.url)).send().await.unwrap();
    assert_eq!(health.status(), 200);
    assert_eq!(health.json::<serde_json::Value>().await.unwrap()["status"], "ok");
    let document = headgate.admin(Method::GET, "/openapi.json", None).await;
    // Wrong keys are slowed, so all of them are shown at once.
    let mut asked = tokio::task::JoinSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let path = format!("/admin/v1{path}").replace("{id}", "1").replace("{member}", "1");
        for method in operations.as_object().unwrap().keys() {
            let Ok(method) = Method::from_bytes(method.to_uppercase().as_bytes()) else { continue };
            if path.ends_with("/session") || path.ends_with("/openapi.json") {
                continue;
            }
            for key in [None, Some(KEY), Some("hg-nonsense00000000000000"), Some("")] {
                let mut request = client.request(method.clone(), format!("{}{path}", headgate.url)).json(&json!({}));
                if let Some(key) = key {
                    request = request.bearer_auth(key).header("x-api-key", key);
                }
                let what = format!("{method} {path} {key:?}");
                asked.spawn(async move { (what, request.send().await.unwrap().status().as_u16()) });
            }
        }
    }
    let answers = asked.join_all().await;
    assert!(answers.len() > 100, "{}", answers.len());
    for (what, status) in answers {
        assert_eq!(status, 401, "{what}");
    }
    for (n, path) in (2..).zip(["/v1/models", "/v1/models/m"]) {
        for key in [None, Some(headgate.admin_token())] {
            let mut request = from(n).get(format!("{}{path}", headgate.url));
            if let Some(key) = key {
                request = request.bearer_auth(key);
            }
            assert_eq!(request.send().await.unwrap().status(), 401, "{path}");
        }
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn wrong_keys_are_slowed_and_a_right_one_is_not() {
    let fake = Fake::start().await;
    let headgate = start(&fake.url()).await;
    let post = |client: &reqwest::Client, key: &str| {
        let request = client.post(format!("{}{}", headgate.url, PATHS[0])).bearer_auth(key);
        request.json(&question(PATHS[0], "m", false)).send()
    };
    let guesser = from(10);
    let mut last = Duration::ZERO;
    for n in 0..4 {
        let begin = Instant::now();
        let guess = post(&guesser, &format!("hg-guess{n:0>20}")).await.unwrap();
        assert_eq!(guess.status(), 401);
        last = begin.elapsed();
    }
    assert!(last >= Duration::from_millis(150), "{last:?}");
    // A guess is under way, and the right key of the same address does not wait for it.
    let slow = tokio::spawn(post(&guesser, "hg-guess-number-five0000"));
    let begin = Instant::now();
    assert_eq!(post(&guesser, KEY).await.unwrap().status(), 200);
    assert!(begin.elapsed() < last.max(Duration::from_millis(300)), "{:?}", begin.elapsed());
    assert_eq!(slow.await.unwrap().unwrap().status(), 401);
}

#[tokio::test]
async fn only_decent_destinations_can_be_configured() {
    let fake = Fake::start().await;
    let headgate = start(&fake.url()).await;
    let own = headgate.url.clone();
    let revision = headgate.admin(Method::GET, "/export", None).await;
    for (what, url) in [
        ("plain http to elsewhere", "http://relay.example"),
        ("user information", "https://user:pass@relay.example"),
        ("another scheme", "ftp://relay.example"),
        ("a file", "file:///etc/passwd"),
        ("metadata", "http://169.254.169.254/latest"),
        ("metadata with TLS", "https://169.254.169.254"),
        ("link-local", "https://[fe80::1]"),
        ("metadata as mapped IPv6", "https://[::ffff:169.254.169.254]"),
        ("a query", "https://relay.example/?x=1"),
        ("nothing", ""),
        ("itself", own.as_str()),
        ("itself by name", &own.replace("127.0.0.1", "localhost")),
        ("itself by IPv6", &own.replace("127.0.0.1", "[::1]")),
    ] {
        let body = json!({"name":"new","base_url":url});
        let (status, answer) = headgate.admin_raw(Method::POST, "/upstreams", Some(body)).await;
        assert!((400..500).contains(&status), "{what}: {status} {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|m| m.len() > 10), "{what}: {answer}");
        assert!(!answer.to_string().contains("pass@"), "{what}: {answer}");
    }
    assert_eq!(headgate.admin(Method::GET, "/export", None).await, revision, "nothing was changed");
    let forbidden = ["authorization", "x-api-key", "host", "content-length", "connection", "x-headgate-x", "a b"];
    for name in forbidden {
        let body = json!({"name":"new","base_url":"https://relay.example","headers":{name:"v"}});
        let (status, answer) = headgate.admin_raw(Method::POST, "/upstreams", Some(body)).await;
        assert!((400..500).contains(&status), "{name}: {status} {answer}");
    }
    for value in ["a\r\nb: c", "a\nb", "a\u{0}b"] {
        let body = json!({"name":"new","base_url":"https://relay.example","headers":{"x-vendor":value}});
        let (status, answer) = headgate.admin_raw(Method::POST, "/upstreams", Some(body)).await;
        assert!((400..500).contains(&status), "{value:?}: {status} {answer}");
    }
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_nobody_follows_it() {
    let (fake, elsewhere) = (Fake::start().await, Fake::start().await);
    let headgate = start(&fake.url()).await;
    for (path, status) in PATHS.into_iter().zip([301, 307, 308]) {
        fake.always(Behaviour::status(status).header("location", &format!("{}{path}", elsewhere.url())));
        let response = headgate.ask(path, "m", false).send().await.unwrap();
        assert_eq!(response.status(), 502, "{status}");
        assert_eq!(header(&response, "location"), None);
        let attempts = headgate.record_of(&response).await.1;
        assert_eq!((attempts.len(), &attempts[0]["error_kind"]), (1, &json!("server.not_an_api")), "{attempts:?}");
        let id = attempts[0]["upstream_id"].to_string();
        headgate.admin(Method::POST, &format!("/upstreams/{id}/reset"), None).await;
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_client_can_choose_neither_destination_nor_credential_nor_hop_headers() {
    let (fake, elsewhere) = (Fake::start().await, Fake::start().await);
    let headgate = start(&fake.url()).await;
    let names = ["x-forwarded-host", "x-original-url", "x-upstream", "proxy-authorization", "x-base-url", "proxy"];
    let hop = ["te", "trailer", "keep-alive", "via", "forwarded", "expect-ct", "x-amz-security-token", "api-key"];
    for path in PATHS {
        let mut body = question(path, "m", false);
        for field in ["base_url", "api_base", "api_key", "proxy", "headers"] {
            body[field] = elsewhere.url().into();
        }
        let mut request = headgate.post(&format!("{path}?base_url={}", elsewhere.url()), &body);
        for name in names.iter().chain(&hop) {
            request = request.header(*name, elsewhere.url());
        }
        let request = request.header("connection", "keep-alive, x-app, anthropic-beta");
        let response = request.header("x-app", "1").header("anthropic-beta", "1").send().await.unwrap();
        assert_eq!(response.status(), 200);
        let seen = fake.last();
        for name in names.iter().chain(&hop).filter(|n| **n != "via").chain(&["x-app", "anthropic-beta"]) {
            assert_eq!(seen.header(name), None, "{path} {name}");
        }
        assert!(
            !seen.headers.iter().any(|(_, v)| v.contains(&elsewhere.url()) || v.contains(KEY)),
            "{:?}",
            seen.headers
        );
        assert_eq!(seen.path, path);
    }
    assert!(elsewhere.seen().is_empty());
}
