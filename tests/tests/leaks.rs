//! Credentials and keys in places where only a misbehaving upstream, a client's mistake or a crash would put them.

use headgate_tests::{
    fake::{Behaviour, Fake, Point, answer},
    harness::{Headgate, KEY, PATHS, Setup, header},
};
use reqwest::Method;

/// Looks like no vendor's key: nothing but its value says that it is one.
const PLAIN: &str = "blue horse staple";
const CANARY: &str = "sk-canary-1f0e2d3c4b5a69788796";

async fn start(fake: &Fake, credential: &str) -> Headgate {
    Setup::new(&format!(
        "version: 1
settings: {{ breaker_failures: 100 }}
upstreams: [ {{ name: a, base_url: '{}', credentials: [ {{ env: UPSTREAM_KEY }} ] }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        fake.url()
    ))
    .env("UPSTREAM_KEY", credential)
    .env("HEADGATE_LOG", "trace")
    .start()
    .await
}

async fn reset(headgate: &Headgate) {
    let list = headgate.admin(Method::GET, "/upstreams", None).await;
    headgate.admin(Method::POST, &format!("/upstreams/{}/reset", list["items"][0]["id"]), None).await;
}

/// An upstream that repeats the credential in an error: what the client is told, and what is kept.
async fn repeated(credential: &str, statuses: &[u16]) {
    let fake = Fake::start().await;
    let headgate = start(&fake, credential).await;
    let mut leaks = Vec::new();
    for status in statuses {
        for message in [
            format!("wrong key {credential}"),
            format!("wrong key '{credential}'."),
            format!("key={credential}"),
            format!("Bearer:{credential}!"),
        ] {
            for path in PATHS {
                reset(&headgate).await;
                let body = serde_json::json!({"type":"error","error":{"type":"some_error","message":message}});
                fake.always(Behaviour::status(*status).body(&body.to_string()));
                let response = headgate.ask(path, "m", false).send().await.unwrap();
                let (request, attempts) = headgate.record_of(&response).await;
                let text = response.text().await.unwrap();
                for (place, text) in
                    [("answer", text), ("record", request.to_string()), ("attempts", format!("{attempts:?}"))]
                {
                    if text.contains(credential) {
                        leaks.push(format!("{status} {path} in the {place}: {message}"));
                    }
                }
            }
        }
    }
    if headgate.log().contains(credential) {
        leaks.push("in the log".to_owned());
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_an_upstream_repeats_in_its_refusal_is_masked() {
    repeated(CANARY, &[401, 403, 429, 500]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_that_looks_like_none_is_masked_all_the_same() {
    repeated(PLAIN, &[401, 500]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_in_an_error_that_is_relayed_as_it_is_does_not_reach_the_client() {
    repeated(CANARY, &[400, 422]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_log_level_shows_a_key_a_credential_or_what_was_said() {
    let fake = Fake::start().await;
    let mut headgate = start(&fake, CANARY).await;
    const SAID: &str = "what-only-the-client-may-know";
    for path in PATHS {
        for stream in [false, true] {
            for behaviour in [
                Behaviour::default(),
                Behaviour::status(500),
                Behaviour { cut: Some(Point::MidEvent(4)), ..Behaviour::default() },
            ] {
                fake.always(behaviour);
                let body = serde_json::json!({"model":"m","stream":stream,"max_tokens":1,"input":SAID,
                    "messages":[{"role":"user","content":SAID}]});
                let response = headgate.post(path, &body).header("x-session-key", SAID).send().await.unwrap();
                let _ = response.bytes().await;
            }
        }
    }
    let wrong = headgate.client.post(format!("{}{}", headgate.url, PATHS[0])).bearer_auth("hg-wrongwrongwrongwrong1");
    assert_eq!(wrong.json(&serde_json::json!({"model":"m","messages":[]})).send().await.unwrap().status(), 401);
    let token = headgate.admin_token();
    headgate.admin(Method::GET, "/export", None).await;
    headgate.terminate().await;
    let log = headgate.log();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "the level was not raised: {log}");
    for secret in [KEY, CANARY, SAID, token.as_str(), "hg-wrongwrongwrongwrong1", answer::TEXT] {
        let line = log.lines().find(|l| l.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_knows_a_key_only_by_its_hash_and_prefix() {
    let fake = Fake::start().await;
    let headgate = start(&fake, CANARY).await;
    let response = headgate.ask(PATHS[0], "m", false).header("x-session-key", "session-of-mine").send().await.unwrap();
    headgate.record_of(&response).await;
    let tables = headgate
        .database
        .rows(
            "select to_jsonb(table_name::text) from information_schema.tables \
             where table_schema = 'headgate' and table_type = 'BASE TABLE'",
        )
        .await;
    assert!(tables.len() >= 4, "{tables:?}");
    // Everything, whatever tables there are.
    let dump = headgate.database.rows("select to_jsonb(schema_to_xml('headgate', true, false, '')::text)").await;
    let dump = dump[0].as_str().unwrap();
    assert!(dump.contains("<requests") || dump.contains("requests_"), "the dump is not empty");
    for secret in [KEY, CANARY, &headgate.admin_token(), "session-of-mine", answer::TEXT] {
        assert!(!dump.contains(secret), "{secret}");
    }
    let again = headgate.database.rows("select revisions.document->'keys'->0 from headgate.revisions").await;
    let key = again.last().unwrap().to_string();
    assert!(key.contains(&KEY[..6]) && !key.contains(&KEY[..16]), "{key}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_cannot_choose_where_its_request_goes_or_what_goes_with_it() {
    let (fake, other) = (Fake::start().await, Fake::start().await);
    let headgate = start(&fake, CANARY).await;
    let there = other.address().to_string();
    for path in PATHS {
        for spelled in [format!("{path}?base_url={}", other.url()), format!("{path}?@{there}/"), path.to_owned()] {
            let request = headgate
                .ask(&spelled, "m", false)
                .header("x-forwarded-host", &there)
                .header("forwarded", format!("host={there}"))
                .header("x-headgate-upstream", "b")
                .header("proxy-authorization", "Basic eDp5")
                .header("x-base-url", other.url())
                .header("proxy-connection", "keep-alive")
                .header("te", "trailers")
                .header("connection", "keep-alive, x-app, user-agent")
                .header("x-app", "hop")
                .header("user-agent", "hop/1");
            assert_eq!(request.send().await.unwrap().status(), 200, "{spelled}");
            let seen = fake.last();
            assert_eq!(seen.header("host"), Some(fake.address().to_string().as_str()));
            let passed: Vec<&str> = seen.headers.iter().map(|(n, _)| n.as_str()).collect();
            for name in [
                "x-forwarded-host",
                "forwarded",
                "x-headgate-upstream",
                "proxy-authorization",
                "x-base-url",
                "proxy-connection",
                "te",
                "x-app",
                "user-agent",
            ] {
                assert_eq!(seen.header(name), None, "{name}: {passed:?}");
            }
        }
    }
    assert!(other.seen().is_empty());
    // An upstream that sends us elsewhere is not followed.
    fake.always(Behaviour::status(307).header("location", &format!("{}/v1/messages", other.url())));
    for stream in [false, true] {
        let response = headgate.ask(PATHS[2], "m", stream).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "location")), (502, None));
    }
    assert!(other.seen().is_empty());
}
