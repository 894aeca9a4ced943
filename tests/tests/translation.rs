//! Clients of each protocol on upstreams of every other: through the whole gateway, with faults.

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, KEY, PATHS},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

/// Kinds of upstreams that are translated to, and the route each is called at.
const KINDS: [(&str, &str); 4] = [
    ("openai", "/v1/chat/completions"),
    ("openai-response", "/v1/responses"),
    ("claude", "/v1/messages"),
    ("codex", "/v1/responses"),
];

async fn start(upstreams: &[(&Fake, &str)], group: &str) -> Headgate {
    let list: Vec<String> = upstreams
        .iter()
        .enumerate()
        .map(|(n, (fake, kind))| format!("{{ name: u{n}, base_url: '{}', protocol: {kind} }}", fake.url()))
        .collect();
    let members: Vec<String> =
        (0..upstreams.len()).map(|n| format!("{{ upstream: u{n}, priority: {} }}", n + 1)).collect();
    Headgate::start(&format!(
        "version: 1\nupstreams: [ {} ]\ngroups: [ {{ name: g, {group} members: [ {} ] }} ]\n\
         keys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        list.join(", "),
        members.join(", ")
    ))
    .await
}

/// The text of a whole answer in the shape of its protocol.
fn text_of(path: &str, answer: &Value) -> String {
    let text = match path {
        "/v1/chat/completions" => answer.pointer("/choices/0/message/content"),
        "/v1/responses" => answer["output"]
            .as_array()
            .and_then(|items| items.iter().find(|i| i["type"] == "message"))
            .and_then(|m| m.pointer("/content/0/text")),
        _ => answer["content"].as_array().and_then(|c| c.iter().find(|b| b["type"] == "text")).map(|b| &b["text"]),
    };
    text.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Whether a stream ended as its protocol wants.
fn is_whole(path: &str, stream: &str) -> bool {
    let end = match path {
        "/v1/chat/completions" => "data: [DONE]",
        "/v1/responses" => "event: response.completed",
        _ => "event: message_stop",
    };
    stream.matches(end).count() == 1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_client_is_served_by_every_kind_of_upstream_whole_and_streamed() {
    for (kind, route) in KINDS {
        let fake = Fake::start().await;
        let headgate = start(&[(&fake, kind)], "").await;
        for path in PATHS {
            let whole = headgate.ask(path, "m", false).send().await.unwrap();
            assert_eq!(whole.status(), 200, "{kind} {path}: {}", whole.text().await.unwrap());
            let id = whole.headers()["x-headgate-request-id"].to_str().unwrap().to_owned();
            assert_eq!(whole.headers()["content-type"], "application/json", "{kind} {path}");
            let answer: Value = whole.json().await.unwrap();
            assert!(text_of(path, &answer).contains("GATE-OK"), "{kind} {path}: {answer}");
            assert_eq!(answer["model"], "m");
            assert_eq!(fake.last().path.split('?').next(), Some(route), "{kind} {path}");
            let (request, attempts) = headgate.database.record(&id).await;
            assert_eq!((&request["outcome"], &attempts[0]["protocol"]), (&json!("success"), &json!(kind)), "{request}");
            assert!(request["tokens_output"].as_i64().is_some_and(|n| n > 0), "{kind} {path}: {request}");
            let stream = headgate.ask(path, "m", true).send().await.unwrap();
            assert!(stream.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
            let text = stream.text().await.unwrap();
            assert!(text.contains("GATE") && is_whole(path, &text), "{kind} {path}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_translated_candidate_that_fails_before_its_first_output_is_never_noticed() {
    for (kind, _) in KINDS {
        let (first, second) = (Fake::start().await, Fake::start().await);
        let headgate = start(&[(&first, kind), (&second, "passthrough")], "").await;
        for behaviour in [
            Behaviour::status(503),
            Behaviour { cut: Some(Point::AfterHeaders), ..Behaviour::default() },
            Behaviour { body: Some("{no json".to_owned()), ..Behaviour::default() },
        ] {
            first.always(behaviour.clone());
            for path in PATHS {
                for stream in [false, true] {
                    let answer = headgate.ask(path, "m", stream).send().await.unwrap();
                    let status = answer.status();
                    let text = answer.text().await.unwrap();
                    assert!(status == 200 && text.contains("GATE"), "{kind} {path} {stream} {behaviour:?}: {text}");
                }
            }
            headgate.admin_raw(reqwest::Method::POST, "/upstreams/1/reset", Some(json!({}))).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_translated_stream_that_breaks_ends_with_the_clients_own_error_event() {
    for (kind, _) in KINDS {
        let fake = Fake::start().await;
        let headgate = start(&[(&fake, kind)], "").await;
        fake.always(Behaviour { pieces: 20, cut: Some(Point::MidEvent(8)), ..Behaviour::default() });
        for path in PATHS {
            let answer = headgate.ask(path, "m", true).send().await.unwrap();
            let id = answer.headers()["x-headgate-request-id"].to_str().unwrap().to_owned();
            let text = answer.text().await.unwrap();
            let told = match path {
                "/v1/chat/completions" => text.contains("data: {\"error\":"),
                "/v1/responses" => text.contains("event: response.failed"),
                _ => text.contains("event: error"),
            };
            assert!(told && !is_whole(path, &text), "{kind} {path}: {text}");
            let (request, _) = headgate.database.record(&id).await;
            assert_eq!(request["outcome"], "partial", "{kind} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_of_the_upstream_is_told_in_the_clients_words() {
    for (kind, route) in KINDS {
        let fake = Fake::start().await;
        let headgate = start(&[(&fake, kind)], "").await;
        for path in PATHS.into_iter().filter(|path| *path != route) {
            fake.always(Behaviour::status(400));
            let answer = headgate.ask(path, "m", false).send().await.unwrap();
            assert_eq!(answer.status(), 400, "{kind} {path}");
            let error: Value = answer.json().await.unwrap();
            assert!(error["error"]["message"].is_string(), "{kind} {path}: {error}");
            assert_eq!(error["type"] == "error", path == "/v1/messages", "{kind} {path}: {error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_carried_is_told_and_a_strict_group_refuses_it_before_anything_is_sent() {
    let (chat, strict) = (Fake::start().await, Fake::start().await);
    let body = json!({"model":"m","max_tokens":16,"top_k":5,"messages":[{"role":"user","content":"hi"}]});
    let headgate = start(&[(&chat, "openai")], "").await;
    let lossy = headgate.post("/v1/messages", &body).send().await.unwrap();
    assert_eq!(lossy.status(), 200);
    let warnings = lossy.headers()["x-headgate-warnings"].to_str().unwrap().to_owned();
    assert!(warnings.contains("top_k"), "{warnings}");
    let id = lossy.headers()["x-headgate-request-id"].to_str().unwrap().to_owned();
    let (_, attempts) = headgate.database.record(&id).await;
    assert!(attempts[0]["warnings"].to_string().contains("top_k"), "{attempts:?}");
    let headgate = start(&[(&strict, "openai")], "strict: true,").await;
    let refused = headgate.post("/v1/messages", &body).send().await.unwrap();
    assert_eq!(refused.status(), 422);
    assert_eq!(refused.headers()["x-headgate-error"], "translation_loss");
    assert!(strict.seen().is_empty());
    assert_eq!(headgate.ask("/v1/messages", "m", false).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_only_its_own_protocol_can_say_goes_to_the_next_candidate_without_an_attempt() {
    let (chat, claude) = (Fake::start().await, Fake::start().await);
    let headgate = start(&[(&chat, "openai"), (&claude, "claude")], "").await;
    let body = json!({"model":"m","max_tokens":16,"messages":[{"role":"user","content":[{"type":"container_upload","file_id":"f"}]}]});
    let answer = headgate.post("/v1/messages", &body).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    assert_eq!(
        (&answer.headers()["x-headgate-upstream"], &answer.headers()["x-headgate-attempts"]),
        (&"u1".parse().unwrap(), &"1".parse().unwrap())
    );
    assert!(chat.seen().is_empty());
    let headgate = start(&[(&chat, "openai")], "").await;
    let refused = headgate.post("/v1/messages", &body).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    let error: Value = refused.json().await.unwrap();
    assert_eq!((&error["type"], &error["error"]["type"]), (&json!("error"), &json!("invalid_request_error")));
    assert!(chat.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_a_translated_stream_hears_from_us_while_the_upstream_is_silent() {
    for (kind, route) in KINDS {
        let fake = Fake::start().await;
        let headgate = start(&[(&fake, kind)], "").await;
        let settings = headgate.admin(reqwest::Method::GET, "/settings", None).await;
        let patch = json!({"revision": settings["revision"], "values": {"keep_alive": "1s"}});
        headgate.admin(reqwest::Method::PATCH, "/settings", Some(patch)).await;
        // Long enough for one keep-alive between two events.
        fake.always(Behaviour { pieces: 2, gap_ms: 1300, ..Behaviour::default() });
        let mut asked = tokio::task::JoinSet::new();
        for path in PATHS.into_iter().filter(|path| *path != route) {
            let request = headgate.ask(path, "m", true);
            asked.spawn(async move { (path, request.send().await.unwrap().text().await.unwrap()) });
        }
        while let Some(answered) = asked.join_next().await {
            let (path, text) = answered.unwrap();
            let heard = match path {
                "/v1/chat/completions" => text.matches("\"delta\":{").count() > 4,
                "/v1/responses" => text.contains("keepalive") || text.contains("in_progress"),
                _ => text.contains("event: ping"),
            };
            assert!(heard && is_whole(path, &text), "{kind} {path}: {text}");
        }
    }
}

/// A question with this picture in it, in the protocol of a path.
fn with_picture(path: &str, data: &str) -> Value {
    let url = format!("data:image/png;base64,{data}");
    let (part, list) = match path {
        "/v1/chat/completions" => (json!({"type":"image_url","image_url":{"url":url}}), "messages"),
        "/v1/responses" => (json!({"type":"input_image","detail":"auto","image_url":url}), "input"),
        _ => (json!({"type":"image","source":{"type":"base64","media_type":"image/png","data":data}}), "messages"),
    };
    let mut body = json!({"model":"m"});
    body[list] = json!([{"role":"user","content":[part]}]);
    if path == "/v1/messages" {
        body["max_tokens"] = json!(16);
    }
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_of_nine_megabytes_in_a_compressed_body_arrives_whole_in_every_dialect() {
    let mut random = StdRng::seed_from_u64(1);
    let data: String = (0..9 << 20).map(|_| char::from(b'A' + random.random_range(0..26))).collect();
    for (kind, _) in KINDS {
        let fake = Fake::start().await;
        let headgate = start(&[(&fake, kind)], "").await;
        for path in PATHS {
            let body = with_picture(path, &data).to_string();
            let request = headgate
                .client
                .post(format!("{}{path}", headgate.url))
                .bearer_auth(KEY)
                .header("content-type", "application/json");
            let answer = match path {
                "/v1/messages" => request.body(body),
                _ => request.header("content-encoding", "zstd").body(zstd::encode_all(body.as_bytes(), 3).unwrap()),
            };
            let answer = answer.send().await.unwrap();
            assert_eq!(answer.status(), 200, "{kind} {path}");
            let sent = fake.last().body;
            assert!(sent.windows(data.len()).any(|w| w == data.as_bytes()), "{kind} {path}: {} bytes", sent.len());
        }
    }
}

/// A question in the protocol of a path with members changed, or left out where they are `null`.
fn changed(path: &str, members: Value) -> Value {
    let mut body = headgate_tests::harness::question(path, "m", false);
    for (name, value) in members.as_object().unwrap() {
        if value.is_null() {
            body.as_object_mut().unwrap().remove(name);
        } else {
            body[name] = value.clone();
        }
    }
    body
}

/// Bodies that contradict the protocol of a path, or themselves.
fn illegal(path: &str) -> Vec<Value> {
    let list = if path == "/v1/responses" { "input" } else { "messages" };
    let turn = |turn: Value| changed(path, json!({list:[turn]}));
    let mut all = vec![
        json!([]),
        json!({}),
        changed(path, json!({"model":null})),
        changed(path, json!({"model":7})),
        changed(path, json!({list:7})),
        changed(path, json!({list:[7]})),
        changed(path, json!({"stream":"yes"})),
        changed(path, json!({"temperature":"warm"})),
        changed(path, json!({"tools":7})),
        changed(path, json!({"tools":[7]})),
        changed(path, json!({"tool_choice":7})),
        turn(json!({"role":"ghost","content":"x"})),
        turn(json!({"role":"user","content":7})),
        turn(json!({"role":"user","content":[7]})),
    ];
    let ghost = |choice: Value, tool: Value| changed(path, json!({"tools":[tool],"tool_choice":choice}));
    all.extend(match path {
        "/v1/chat/completions" => vec![
            changed(path, json!({"messages":null})),
            changed(path, json!({"max_tokens":-1})),
            changed(path, json!({"max_tokens":0})),
            changed(path, json!({"max_completion_tokens":1.5})),
            changed(path, json!({"tools":[{"type":"function","function":{}}]})),
            changed(path, json!({"tool_choice":"perhaps"})),
            changed(path, json!({"tool_choice":"required"})),
            ghost(
                json!({"type":"function","function":{"name":"ghost"}}),
                json!({"type":"function","function":{"name":"f"}}),
            ),
            turn(json!({"role":"user","content":[{"type":"text"}]})),
            turn(json!({"role":"user","content":[{"type":"image_url"}]})),
            turn(json!({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png"}}]})),
            turn(json!({"role":"tool","content":"x"})),
            turn(json!({"role":"assistant","tool_calls":[{"id":"c"}]})),
        ],
        "/v1/responses" => vec![
            changed(path, json!({"input":null})),
            changed(path, json!({"max_output_tokens":"many"})),
            changed(path, json!({"tools":[{"type":"function"}]})),
            changed(path, json!({"tool_choice":"perhaps"})),
            changed(path, json!({"tool_choice":"required"})),
            ghost(json!({"type":"function","name":"ghost"}), json!({"type":"function","name":"f"})),
            turn(json!({"type":"function_call","name":"f","arguments":"{}"})),
            turn(json!({"type":"function_call_output","output":"x"})),
            turn(json!({"role":"user","content":[{"type":"input_image"}]})),
        ],
        _ => vec![
            changed(path, json!({"messages":null})),
            changed(path, json!({"max_tokens":null})),
            changed(path, json!({"max_tokens":"many"})),
            changed(path, json!({"tools":[{}]})),
            changed(path, json!({"tool_choice":{"type":"perhaps"}})),
            changed(path, json!({"tool_choice":{"type":"any"}})),
            changed(path, json!({"thinking":{"type":"perhaps"}})),
            ghost(json!({"type":"tool","name":"ghost"}), json!({"name":"f","input_schema":{"type":"object"}})),
            turn(json!({"role":"user"})),
            turn(json!({"role":"user","content":[{"type":"text"}]})),
            turn(json!({"role":"user","content":[{"type":"image"}]})),
            turn(json!({"role":"user","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]})),
            turn(json!({"role":"assistant","content":[{"type":"tool_result","tool_use_id":"c"}]})),
            turn(json!({"role":"user","content":[{"type":"tool_result","content":"x"}]})),
        ],
    });
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_contradicts_its_protocol_is_refused_before_any_upstream_is_called() {
    let fake = Fake::start().await;
    let mut served = Vec::new();
    for (kind, route) in KINDS {
        let headgate = start(&[(&fake, kind)], "").await;
        for path in PATHS.into_iter().filter(|path| *path != route) {
            for body in illegal(path) {
                let answer = headgate.post(path, &body).send().await.unwrap();
                let status = answer.status();
                let error: Value = answer.json().await.unwrap();
                let shape = if path == "/v1/messages" {
                    error["type"] == "error" && error["error"]["type"] == "invalid_request_error"
                } else {
                    error["error"]["type"] == "invalid_request_error" && error["error"].get("code").is_some()
                };
                if status != 400 || !shape || !fake.seen().is_empty() {
                    served.push(format!("{kind} {path} {status}: {body} {error}"));
                }
                fake.forget();
            }
            // Half a document, and one that is nested too deeply.
            for raw in [
                "{\"model\":\"m\",".to_owned(),
                format!("{{\"model\":\"m\",\"x\":{}1{}}}", "[".repeat(200), "]".repeat(200)),
            ] {
                let request = headgate.client.post(format!("{}{path}", headgate.url)).bearer_auth(KEY);
                let answer = request.header("content-type", "application/json").body(raw).send().await.unwrap();
                assert_eq!(answer.status(), 400, "{kind} {path}");
                assert!(fake.seen().is_empty());
            }
        }
    }
    assert!(served.is_empty(), "{} {served:#?}", served.len());
}
