//! What must never happen: secrets that leak, other pages and hosts that are served, requests that are smuggled.

use std::{fs, path::Path};

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, raw},
};
use reqwest::Method;

const CANARY: &str = "sk-canary-7f3a9c1e5b";
const CANARY_HEADER: &str = "canary-header-44d1";

async fn start(fake: &Fake) -> Headgate {
    Headgate::start(&format!(
        "version: 1
upstreams:
  - {{ name: a, base_url: '{}', credentials: [ {{ value: {CANARY} }} ], headers: {{ x-vendor: {CANARY_HEADER} }} }}
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        fake.url()
    ))
    .await
}

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[tokio::test]
async fn a_credential_is_in_no_table_file_log_export_or_answer() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    assert_eq!(fake.last().header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    assert_eq!(fake.last().header("x-vendor"), Some(CANARY_HEADER));
    // An upstream that repeats the key it refused.
    fake.always(
        Behaviour::status(401)
            .body(&format!(r#"{{"error":{{"message":"wrong key {CANARY}","code":"invalid_api_key"}}}}"#)),
    );
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    headgate.record_of(&response).await;
    let mut told = vec![response.text().await.unwrap(), headgate.log()];
    for path in
        ["/export", "/upstreams", "/requests", "/revisions", "/status", "/settings", "/keys", "/revisions/1/diff"]
    {
        told.push(headgate.admin(Method::GET, path, None).await.to_string());
    }
    for table in ["requests", "attempts", "revisions", "instance"] {
        let sql = match table {
            "requests" => "select to_jsonb(t) from headgate.requests t",
            "attempts" => "select to_jsonb(t) from headgate.attempts t",
            "revisions" => "select to_jsonb(t) from headgate.revisions t",
            _ => "select to_jsonb(t) - 'pepper' from headgate.instance t",
        };
        told.push(serde_json::to_string(&headgate.database.rows(sql).await).unwrap());
    }
    let mut all = Vec::new();
    files(&headgate.data_dir(), &mut all);
    for file in &all {
        told.push(String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned());
    }
    for text in &told {
        assert!(!text.contains(CANARY) && !text.contains(CANARY_HEADER) && !text.contains(KEY), "{text}");
    }
    for file in all {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn smuggled_requests_and_odd_bytes_are_refused_and_the_gateway_stays_up() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let host = headgate.url.strip_prefix("http://").unwrap().to_owned();
    let post = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nx-api-key: {KEY}\r\ncontent-type: application/json\r\n"
    );
    let body = r#"{"model":"m","messages":[]}"#;
    let smuggled = "GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n";
    let flood: String = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect();
    let requests = [
        ("two lengths", format!("{post}content-length: 5\r\ncontent-length: {}\r\n\r\n{body}", body.len())),
        ("a length that is no number", format!("{post}content-length: +5\r\n\r\n{body}")),
        ("a chunk that is no number", format!("{post}transfer-encoding: chunked\r\n\r\nzz\r\n{body}\r\n0\r\n\r\n")),
        ("an unknown coding", format!("{post}transfer-encoding: identity, x\r\n\r\n{body}{smuggled}")),
        ("a space before the colon", format!("{post}content-length : 5\r\n\r\n{body}")),
        ("a NUL in a header", format!("{post}x-a: a\0b\r\ncontent-length: {}\r\n\r\n{body}", body.len())),
        ("too many headers", format!("{post}{flood}content-length: {}\r\n\r\n{body}", body.len())),
        ("a header too large", format!("{post}x-a: {}\r\n\r\n", "a".repeat(100_000))),
        ("no HTTP", "hello\r\n\r\n".to_owned()),
    ];
    for (name, bytes) in requests {
        let answer = raw(&headgate.url, bytes.as_bytes()).await;
        assert!(answer.status == 0 || (400..500).contains(&answer.status), "{name}: {}", answer.text);
        assert_eq!(answer.text.matches("HTTP/1.1").count().max(1), 1, "{name}: {}", answer.text);
    }
    assert!(fake.seen().is_empty(), "{:?}", fake.seen());
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn other_hosts_and_pages_get_nothing_and_no_answer_invites_them() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let get = |path: &str| headgate.client.get(format!("{}{path}", headgate.url)).bearer_auth(KEY);
    for path in ["/v1/models", "/healthz", "/admin/v1/status"] {
        assert_eq!(get(path).header("host", "evil.example").send().await.unwrap().status(), 421, "{path}");
        assert_eq!(get(path).header("origin", "https://evil.example").send().await.unwrap().status(), 403, "{path}");
        assert_eq!(get(path).header("sec-fetch-site", "cross-site").send().await.unwrap().status(), 403, "{path}");
    }
    fake.always(Behaviour::default().header("access-control-allow-origin", "*").header("set-cookie", "a=b"));
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    for name in ["access-control-allow-origin", "set-cookie"] {
        assert!(response.headers().get(name).is_none(), "{name}");
    }
    // Everything but the health check needs a key.
    for path in ["/v1/models", "/v1/models/m", "/admin/v1/status", "/admin/v1/openapi.json"] {
        assert_eq!(
            headgate.client.get(format!("{}{path}", headgate.url)).send().await.unwrap().status(),
            401,
            "{path}"
        );
    }
    assert_eq!(headgate.client.get(format!("{}/healthz", headgate.url)).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_round_in_a_circle_is_answered_508() {
    let fake = Fake::start().await;
    let one = start(&fake).await;
    let two = Headgate::start(&format!(
        "version: 1\nupstreams: [ {{ name: one, base_url: '{}', credentials: [ {{ value: {KEY} }} ] }} ]\n\
         groups: [ {{ name: g, members: [ {{ upstream: one }} ] }} ]\nkeys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        one.url
    ))
    .await;
    let upstreams = one.admin(Method::GET, "/upstreams", None).await;
    let (id, revision) = (&upstreams["items"][0]["id"], &upstreams["items"][0]["revision"]);
    let patch = serde_json::json!({"revision":revision,"base_url":two.url,"credentials":[{"value":KEY}]});
    one.admin(Method::PATCH, &format!("/upstreams/{id}"), Some(patch)).await;
    let response = one.ask(PATHS[0], "m", false).send().await.unwrap();
    // The innermost refusal is 508; on its way out it is an upstream's failure like any other.
    assert_eq!(response.status(), 502);
    let text = response.text().await.unwrap();
    assert!(text.contains("leads back to this gateway"), "{text}");
}
