//! The same protocol on both sides: the same bytes.

use std::io::Write as _;

use headgate_tests::{
    fake::{Behaviour, Fake, answer},
    harness::{Headgate, KEY, PATHS, header, question},
};

async fn over(fake: &Fake, upstream: &str) -> Headgate {
    at(&fake.url(), upstream).await
}

async fn at(url: &str, upstream: &str) -> Headgate {
    Headgate::start(&format!(
        "version: 1
upstreams: [ {{ name: a, base_url: '{url}', credentials: [ {{ value: upstream-secret }} ] {upstream} }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
"
    ))
    .await
}

fn odd_body(path: &str, stream: bool) -> String {
    let words = if path.ends_with("responses") { "input" } else { "messages" };
    let content = r#"[ {"role" : "user","content":"h\u0069 \/ ü" }]"#;
    format!(
        "\n {{ \"{words}\" :{content} ,\t\"model\" :\"m\" , \"max_tokens\":1.60e1,\r\n \"stream\" : {stream},\
         \"temperature\":0.10000000000000000001, \"unknown\" : {{\"model\": \"inner\", \"b\":1.0E+2, \"a\":-0}} }} \n"
    )
}

async fn send(headgate: &Headgate, path: &str, body: impl Into<reqwest::Body>) -> reqwest::Response {
    let request = headgate.client.post(format!("{}{path}", headgate.url)).bearer_auth(KEY);
    request.header("content-type", "application/json").body(body).send().await.unwrap()
}

/// What the fake upstream answers, as bytes.
fn expected(path: &str, model: &str, stream: bool, behaviour: &Behaviour) -> String {
    let kind = answer::kind(path).unwrap();
    let body = question(path, model, stream);
    if stream {
        answer::events(kind, &body, behaviour).concat()
    } else {
        answer::document(kind, &body, behaviour).to_string()
    }
}

#[tokio::test]
async fn requests_and_answers_keep_every_byte() {
    let fake = Fake::start().await;
    let headgate = over(&fake, "").await;
    for path in PATHS {
        for stream in [false, true] {
            let body = odd_body(path, stream);
            let response = send(&headgate, path, body.clone()).await;
            assert_eq!(response.status(), 200, "{path} {stream}");
            let text = response.text().await.unwrap();
            assert_eq!(text, expected(path, "m", stream, &Behaviour::default()), "{path} {stream}");
            assert_eq!(String::from_utf8(fake.last().body).unwrap(), body, "{path} {stream}");
            assert_eq!(fake.last().header("content-length"), Some(body.len().to_string().as_str()));
        }
    }
}

#[tokio::test]
async fn a_mapped_model_is_replaced_on_both_sides_and_nothing_else_is() {
    let fake = Fake::start().await;
    let headgate = over(&fake, ", models: { map: { m: sent-model } }").await;
    for path in PATHS {
        for stream in [false, true] {
            for chunk in [None, Some(1), Some(7)] {
                let behaviour = Behaviour { chunk, ..Behaviour::default() };
                fake.always(behaviour.clone());
                let body = odd_body(path, stream);
                let response = send(&headgate, path, body.clone()).await;
                assert_eq!(response.status(), 200, "{path} {stream} {chunk:?}");
                let record = headgate.record_of(&response).await;
                let text = response.text().await.unwrap();
                assert_eq!(text, expected(path, "m", stream, &behaviour), "{path} {stream} {chunk:?}");
                let sent = String::from_utf8(fake.last().body).unwrap();
                assert_eq!(sent, body.replace("\"m\"", "\"sent-model\""), "{path} {stream} {chunk:?}");
                assert_eq!(record.0["model"], "m");
                assert_eq!(record.1[0]["mapped_model"], "sent-model", "{}", record.1[0]);
            }
        }
    }
}

#[tokio::test]
async fn the_query_string_is_passed_on_and_other_spellings_of_a_route_are_accepted() {
    let fake = Fake::start().await;
    for base in [fake.url(), format!("{}/v1", fake.url()), format!("{}/v1//", fake.url())] {
        let headgate = at(&base, "").await;
        for path in PATHS {
            let short = path.strip_prefix("/v1").unwrap();
            for spelled in [path.to_owned(), short.to_owned(), format!("/v1{path}")] {
                let response = send(&headgate, &format!("{spelled}?beta=true&x=%20y"), odd_body(path, false)).await;
                assert_eq!(response.status(), 200, "{base} {spelled}");
                let seen = fake.last();
                assert_eq!((seen.path.as_str(), seen.query.as_deref()), (path, Some("beta=true&x=%20y")), "{base}");
                send(&headgate, &spelled, odd_body(path, false)).await;
                assert_eq!(fake.last().query, None);
            }
        }
    }
    let headgate = at(&format!("{}/paas/v4", fake.url()), "").await;
    send(&headgate, PATHS[0], odd_body(PATHS[0], false)).await;
    assert_eq!(fake.last().path, "/paas/v4/chat/completions");
}

#[tokio::test]
async fn only_listed_request_headers_reach_the_upstream() {
    let fake = Fake::start().await;
    let headgate = over(&fake, ", headers: { x-vendor: v }").await;
    let kept = ["anthropic-beta", "anthropic-version", "openai-beta", "x-stainless-lang", "session_id", "traceparent"];
    let dropped = ["cookie", "x-forwarded-for", "forwarded", "x-real-ip", "x-session-key", "openai-organization"];
    let more = ["openai-project", "x-job-id", "x-headgate-explain", "x-goog-api-key", "accept-encoding", "x-whatever"];
    for path in PATHS {
        let mut request = headgate.ask(path, "m", false).header("x-app", "cli").header("user-agent", "tester/1");
        for name in kept.iter().chain(&dropped).chain(&more) {
            request = request.header(*name, "1");
        }
        assert_eq!(request.send().await.unwrap().status(), 200);
        let seen = fake.last();
        for name in kept {
            assert_eq!(seen.header(name), Some("1"), "{path} {name}");
        }
        for name in dropped.iter().chain(&more) {
            assert_eq!(seen.header(name), None, "{path} {name}");
        }
        assert_eq!((seen.header("x-app"), seen.header("user-agent")), (Some("cli"), Some("tester/1")));
        assert_eq!(seen.header("x-vendor"), Some("v"));
        assert_eq!(seen.header("host"), Some(fake.address().to_string().as_str()));
        assert!(!seen.headers.iter().any(|(_, value)| value.contains(KEY)), "{:?}", seen.headers);
    }
}

#[tokio::test]
async fn an_upstream_gets_exactly_one_kind_of_authentication() {
    let fake = Fake::start().await;
    let auth = |fake: &Fake| {
        let seen = fake.last();
        let of =
            |name: &str| seen.headers.iter().filter(|(n, _)| n == name).map(|(_, v)| v.clone()).collect::<Vec<_>>();
        (of("authorization"), of("x-api-key"), of("x-token"))
    };
    let secret = || vec!["upstream-secret".to_owned()];
    let bearer = || vec!["Bearer upstream-secret".to_owned()];
    let headgate = over(&fake, "").await;
    for path in PATHS {
        // The client's own way of sending its key does not matter.
        for (name, value) in [("authorization", format!("Bearer {KEY}")), ("x-api-key", KEY.to_owned())] {
            let request = headgate.client.post(format!("{}{path}", headgate.url)).header(name, value);
            assert_eq!(request.json(&question(path, "m", false)).send().await.unwrap().status(), 200);
            let want = if path == PATHS[2] { (vec![], secret(), vec![]) } else { (bearer(), vec![], vec![]) };
            assert_eq!(auth(&fake), want, "{path} {name}");
        }
    }
    for (path, upstream, want) in [
        (PATHS[2], ", protocol: claude", (vec![], secret(), vec![])),
        (PATHS[2], ", protocol: claude, auth: bearer", (bearer(), vec![], vec![])),
        (PATHS[0], ", protocol: openai", (bearer(), vec![], vec![])),
        (PATHS[1], ", protocol: openai-response, auth: x-api-key", (vec![], secret(), vec![])),
        (PATHS[0], ", auth: { header: x-token }", (vec![], vec![], secret())),
    ] {
        let headgate = over(&fake, upstream).await;
        assert_eq!(headgate.ask(path, "m", false).send().await.unwrap().status(), 200, "{upstream}");
        assert_eq!(auth(&fake), want, "{upstream}");
    }
}

#[tokio::test]
async fn only_listed_answer_headers_come_back() {
    let fake = Fake::start().await;
    let headgate = over(&fake, "").await;
    let kept = ["x-ratelimit-remaining-requests", "anthropic-ratelimit-x", "x-codex-turn", "openai-processing-ms"];
    let dropped = ["set-cookie", "openai-model", "access-control-allow-origin", "server", "x-powered-by", "alt-svc"];
    let mut behaviour = Behaviour::default().header("request-id", "req_own");
    for name in kept.iter().chain(&dropped) {
        behaviour = behaviour.header(name, "1");
    }
    fake.always(behaviour);
    for path in PATHS {
        for stream in [false, true] {
            let response = headgate.ask(path, "m", stream).send().await.unwrap();
            for name in kept {
                assert_eq!(header(&response, name), Some("1"), "{path} {name}");
            }
            for name in dropped.iter().chain(&["x-request-id"]) {
                assert_eq!(header(&response, name), None, "{path} {name}");
            }
            assert_eq!(header(&response, "x-headgate-upstream-request-id"), Some("req_fake"));
            assert_eq!(header(&response, "request-id"), Some("req_own"));
            let kind = if stream { "text/event-stream" } else { "application/json" };
            assert_eq!(header(&response, "content-type"), Some(kind));
            assert_eq!(headgate.record_of(&response).await.0["upstream_request_id"], "req_fake");
        }
    }
}

#[tokio::test]
async fn compressed_and_large_bodies_are_decoded_once_and_sent_plain() {
    let fake = Fake::start().await;
    let headgate = over(&fake, "").await;
    let body = odd_body(PATHS[0], false);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(body.as_bytes()).unwrap();
    for (encoding, bytes) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd::encode_all(body.as_bytes(), 3).unwrap())]
    {
        let request = headgate.client.post(format!("{}{}", headgate.url, PATHS[0])).bearer_auth(KEY);
        let request = request.header("content-type", "application/json").header("content-encoding", encoding);
        assert_eq!(request.body(bytes).send().await.unwrap().status(), 200, "{encoding}");
        assert_eq!(fake.last().body, body.as_bytes(), "{encoding}");
        assert_eq!(fake.last().header("content-encoding"), None);
    }
    let large = body.replace("h\\u0069", &"0123456789abcdef ".repeat(9 << 20 >> 4));
    assert_eq!(send(&headgate, PATHS[0], large.clone()).await.status(), 200);
    assert!(fake.last().body == large.as_bytes());
}

#[tokio::test]
async fn an_answer_that_is_compressed_unasked_comes_back_plain() {
    let fake = Fake::start().await;
    let headgate = over(&fake, "").await;
    let behaviour = Behaviour { gzip: true, ..Behaviour::default() };
    fake.always(behaviour.clone());
    for path in PATHS {
        for stream in [false, true] {
            let response = headgate.ask(path, "m", stream).send().await.unwrap();
            assert_eq!(header(&response, "content-encoding"), None, "{path} {stream}");
            assert_eq!(response.text().await.unwrap(), expected(path, "m", stream, &behaviour), "{path} {stream}");
        }
    }
}
