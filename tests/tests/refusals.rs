//! The gateway's own refusals: status, code and shape in the client's protocol, and what the record says.

use headgate_tests::{
    fake::Fake,
    harness::{Headgate, KEY, PATHS, header, question},
};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

/// Status and words of a code: Claude `type`, OpenAI `type`, OpenAI `code`.
fn words(code: &str) -> (u16, &'static str, &'static str, &str) {
    let request = "invalid_request_error";
    match code {
        "invalid_key" => (401, "authentication_error", request, "invalid_api_key"),
        "policy_no_route" => (403, "permission_error", request, code),
        "model_not_found" | "not_found" => (404, "not_found_error", request, code),
        "capability_no_route" => (422, request, request, code),
        "upstreams_exhausted" => (429, "rate_limit_error", "insufficient_quota", "insufficient_quota"),
        "rate_limited" | "saturated" => (429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded"),
        "cooling_down" => (503, "overloaded_error", "server_error", "overloaded"),
        "upstream_auth" => (502, "api_error", "server_error", code),
        "no_upstream" => (503, "api_error", "server_error", code),
        "bad_request" | "unsupported_parameter" | "context_length_exceeded" => (400, request, request, code),
        "method_not_allowed" => (405, request, request, code),
        "body_too_large" => (413, request, request, code),
        "wrong_content_type" => (415, request, request, code),
        "websocket_unsupported" => (426, request, request, code),
        "deadline" => (504, "timeout_error", "server_error", code),
        other => panic!("no words for {other}"),
    }
}

/// Checks a refusal from every side; `outcome` is that of its record, none when there is to be no record.
async fn refused(headgate: &Headgate, what: &str, path: &str, response: Response, code: &str, outcome: Option<&str>) {
    let (status, claude, openai, openai_code) = words(code);
    let told = response.status().as_u16();
    let id = header(&response, "x-headgate-request-id").expect("a refusal names its request").to_owned();
    let error = header(&response, "x-headgate-error").map(str::to_owned);
    let hint = header(&response, "x-should-retry").map(str::to_owned);
    let waits = matches!(code, "cooling_down" | "rate_limited" | "saturated" | "upstreams_exhausted");
    assert_eq!(header(&response, "content-type"), Some("application/json"), "{what} {path}");
    let body: Value = response.json().await.unwrap();
    assert_eq!((told, error.as_deref()), (status, Some(code)), "{what} {path}: {body}");
    assert_eq!(if waits { None } else { Some("false") }, hint.as_deref().filter(|_| !waits), "{what} {path}");
    let message = body["error"]["message"].as_str().unwrap_or_default();
    assert!(message.len() > 15 && !message.contains("hg-0"), "{what} {path}: {body}");
    if path.ends_with("/messages") {
        assert_eq!((body["type"].as_str(), body["error"]["type"].as_str()), (Some("error"), Some(claude)), "{what}");
        assert_eq!(body["request_id"], id.as_str(), "{what}: {body}");
    } else {
        assert_eq!(body["error"]["type"], openai, "{what} {path}: {body}");
        assert_eq!(body["error"]["code"], openai_code, "{what} {path}: {body}");
        assert!(body["error"].as_object().unwrap().contains_key("param"), "{what}: {body}");
    }
    if let Some(outcome) = outcome {
        let (row, attempts) = headgate.record(&id).await;
        let found = (row["outcome"].as_str(), row["error_kind"].as_str(), row["status"].as_u64(), attempts.len());
        assert_eq!(found, (Some(outcome), Some(code), Some(status.into()), 0), "{what} {path}: {row}");
    }
}

async fn start(fake: &Fake) -> Headgate {
    let url = fake.url();
    Headgate::start(&format!(
        "version: 1
settings: {{ body_limit: 1MiB, breaker_failures: 1, breaker_open: 50s }}
upstreams:
  - {{ name: plain, base_url: '{url}', region: cn }}
  - {{ name: limited, base_url: '{url}', models: {{ allow: ['only-*'] }}, max_context: 1000 }}
  - {{ name: switched-off, base_url: '{url}', enabled: false }}
  - {{ name: claude, base_url: '{url}', protocol: claude }}
  - {{ name: chat, base_url: '{url}', protocol: openai }}
groups:
  - {{ name: g, members: [ {{ upstream: plain }} ] }}
  - {{ name: limited, members: [ {{ upstream: limited }} ] }}
  - {{ name: switched-off, members: [ {{ upstream: switched-off }} ] }}
  - {{ name: member-off, members: [ {{ upstream: plain, enabled: false }} ] }}
  - {{ name: empty, members: [] }}
  - {{ name: elsewhere, regions: [eu], members: [ {{ upstream: plain }} ] }}
  - {{ name: claude, members: [ {{ upstream: claude }} ] }}
  - {{ name: chat, members: [ {{ upstream: chat }} ] }}
keys:
  - {{ name: k, group: g, secret: {KEY} }}
  - {{ name: disabled, group: g, secret: hg-disabled0000000000000, enabled: false }}
  - {{ name: expired, group: g, secret: hg-expired00000000000000, expires_at: '2020-01-01T00:00:00Z' }}
  - {{ name: models, group: g, secret: hg-models000000000000000, models: ['x-*'] }}
  - {{ name: region, group: g, secret: hg-region000000000000000, regions: [us] }}
  - {{ name: labels, group: g, secret: hg-labels000000000000000, labels: [cheap] }}
  - {{ name: limited, group: limited, secret: hg-limited00000000000000 }}
  - {{ name: switched-off, group: switched-off, secret: hg-switched-off000000000 }}
  - {{ name: member-off, group: member-off, secret: hg-member-off00000000000 }}
  - {{ name: empty, group: empty, secret: hg-empty0000000000000000 }}
  - {{ name: elsewhere, group: elsewhere, secret: hg-elsewhere000000000000 }}
  - {{ name: claude, group: claude, secret: hg-claude000000000000000 }}
  - {{ name: chat, group: chat, secret: hg-chat00000000000000000 }}
"
    ))
    .await
}

fn by(headgate: &Headgate, path: &str, key: &str) -> RequestBuilder {
    let key = format!("{key:0<24}");
    headgate.client.post(format!("{}{path}", headgate.url)).header("x-api-key", key)
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    // Wrong keys are slowed per address: each of these comes from one of its own.
    let mut address = 1;
    let mut post = |path: &str| {
        address += 1;
        let from = std::net::Ipv4Addr::new(127, 0, 0, address);
        let client = reqwest::Client::builder().no_proxy().local_address(std::net::IpAddr::from(from)).build().unwrap();
        client.post(format!("{}{path}", headgate.url)).json(&question(path, "m", true))
    };
    let wrong = Some("client_error");
    for path in PATHS {
        for key in ["hg-unknown", "nonsense", "hg-disabled", "hg-expired"] {
            let response = post(path).header("x-api-key", format!("{key:0<24}")).send().await.unwrap();
            refused(&headgate, key, path, response, "invalid_key", wrong).await;
        }
        refused(&headgate, "no key", path, post(path).send().await.unwrap(), "invalid_key", wrong).await;
        let response = post(path).bearer_auth(headgate.admin_token()).send().await.unwrap();
        refused(&headgate, "admin token", path, response, "invalid_key", wrong).await;
        let response = by(&headgate, path, "hg-models").json(&question(path, "m", true)).send().await.unwrap();
        refused(&headgate, "key models", path, response, "model_not_found", wrong).await;
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn a_route_that_is_none_is_refused_before_anything_else() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let at = |method: Method, path: &str| headgate.client.request(method, format!("{}{path}", headgate.url));
    for path in ["/v1/embeddings", "/v2/chat/completions", "/v1/chat/completions/x", "/v1/chat//completions", "/x"] {
        let response = at(Method::POST, path).bearer_auth(KEY).json(&question(path, "m", false)).send().await.unwrap();
        refused(&headgate, "unknown", path, response, "not_found", None).await;
    }
    for path in PATHS {
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS] {
            let response = at(method.clone(), path).bearer_auth(KEY).send().await.unwrap();
            assert_eq!(header(&response, "allow"), Some("POST"), "{method} {path}");
            refused(&headgate, "method", path, response, "method_not_allowed", None).await;
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
            let request = at(Method::POST, path).bearer_auth(KEY).header("content-type", kind).body("{}");
            refused(&headgate, kind, path, request.send().await.unwrap(), "wrong_content_type", None).await;
        }
    }
    let upgrade = at(Method::GET, "/v1/responses").bearer_auth(KEY).header("connection", "upgrade");
    let upgrade = upgrade.header("upgrade", "websocket").header("sec-websocket-version", "13").send().await.unwrap();
    refused(&headgate, "websocket", "/v1/responses", upgrade, "websocket_unsupported", None).await;
}

#[tokio::test]
async fn a_body_that_is_no_request_is_refused() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let deep = format!("{{\"model\":\"m\",\"messages\":[],\"x\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let invalid = b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}".to_vec();
    let large = format!("{{\"model\":\"m\",\"messages\":[],\"x\":\"{}\"}}", "x".repeat(1 << 20));
    let bodies: [(&str, Vec<u8>, &str); 9] = [
        ("malformed", b"{\"model\":\"m\",".to_vec(), "bad_request"),
        ("trailing", b"{\"model\":\"m\",\"messages\":[]} x".to_vec(), "bad_request"),
        ("empty", Vec::new(), "bad_request"),
        ("an array", b"[]".to_vec(), "bad_request"),
        ("no model", b"{\"messages\":[],\"input\":\"x\"}".to_vec(), "bad_request"),
        ("model is a number", b"{\"model\":1,\"messages\":[]}".to_vec(), "bad_request"),
        ("deep", deep.into_bytes(), "bad_request"),
        ("invalid UTF-8", invalid, "bad_request"),
        ("large", large.into_bytes(), "body_too_large"),
    ];
    for path in PATHS {
        for (what, body, code) in &bodies {
            let request = by(&headgate, path, KEY).header("content-type", "application/json").body(body.clone());
            refused(&headgate, what, path, request.send().await.unwrap(), code, Some("client_error")).await;
        }
        for (name, value) in [("x-headgate-timeout", "soon"), ("x-headgate-fallback", "some")] {
            let response = headgate.ask(path, "m", false).header(name, value).send().await.unwrap();
            refused(&headgate, name, path, response, "bad_request", Some("client_error")).await;
        }
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn a_request_that_nobody_may_or_can_serve_is_refused_with_the_reason() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    for path in PATHS {
        for (key, code, outcome) in [
            ("hg-limited", "model_not_found", "client_error"),
            ("hg-switched-off", "no_upstream", "unavailable"),
            ("hg-member-off", "no_upstream", "unavailable"),
            ("hg-empty", "no_upstream", "unavailable"),
            ("hg-region", "policy_no_route", "unavailable"),
            ("hg-labels", "policy_no_route", "unavailable"),
            ("hg-elsewhere", "policy_no_route", "unavailable"),
        ] {
            let response = by(&headgate, path, key).json(&question(path, "m", false)).send().await.unwrap();
            refused(&headgate, key, path, response, code, Some(outcome)).await;
        }
        for (region, status) in [("cn", 200), ("us", 403)] {
            let response = headgate.ask(path, "m", false).header("x-headgate-region", region).send().await.unwrap();
            assert_eq!(response.status(), status, "{region}");
            if status == 403 {
                refused(&headgate, region, path, response, "policy_no_route", Some("unavailable")).await;
            }
        }
        let mut long = question(path, "only-this", false);
        long["instructions"] = "words ".repeat(2000).into();
        long["system"] = "words ".repeat(2000).into();
        long["messages"] = serde_json::json!([{"role":"user","content":"words ".repeat(2000)}]);
        let response = by(&headgate, path, "hg-limited").json(&long).send().await.unwrap();
        refused(&headgate, "context", path, response, "context_length_exceeded", Some("client_error")).await;
    }
    fake.forget();
    // What only the client's own protocol can say.
    let user = serde_json::json!([{"role":"user","content":[{"type":"container_upload","file_id":"f"}]}]);
    for (path, key, member, value) in [
        (PATHS[0], "hg-claude", "n", serde_json::json!(2)),
        (PATHS[1], "hg-chat", "previous_response_id", serde_json::json!("resp_1")),
        (PATHS[2], "hg-chat", "messages", user),
    ] {
        let mut body = question(path, "m", false);
        body[member] = value;
        let response = by(&headgate, path, key).json(&body).send().await.unwrap();
        refused(&headgate, member, path, response, "unsupported_parameter", Some("unsupported")).await;
    }
    assert!(fake.seen().is_empty());
}
