//! The fake upstream itself: its grammar, its faults, its memory.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake, Point, Rule, answer},
    harness::{PATHS, question, raw},
};
use serde_json::{Value, json};

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn ask(fake: &Fake, path: &str, body: &Value) -> reqwest::Result<reqwest::Response> {
    client().post(format!("{}{path}", fake.url())).bearer_auth("key").json(body).send().await
}

#[tokio::test]
async fn it_thinks_before_it_speaks_when_told_to() {
    let fake = Fake::start().await;
    fake.always(Behaviour { reasoning: true, ..Behaviour::default() });
    for path in PATHS {
        for stream in [false, true] {
            let text = ask(&fake, path, &question(path, "m", stream)).await.unwrap().text().await.unwrap();
            assert!(text.contains(answer::THOUGHT) && text.contains("GATE-OK"), "{path}: {text}");
        }
    }
    let text = ask(&fake, PATHS[2], &question(PATHS[2], "m", true)).await.unwrap().text().await.unwrap();
    assert!(text.contains("signature_delta") && text.contains("\"index\":1"), "{text}");
}

#[tokio::test]
async fn it_calls_the_shell_tool_it_is_offered_and_answers_its_result() {
    let fake = Fake::start().await;
    fake.always(Behaviour { tool: true, ..Behaviour::default() });
    let exec = json!({"type":"function","name":"exec_command","parameters":{}});
    let lite = json!({"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]});
    let bash = json!({"name":"Bash","input_schema":{}});
    let offered = [
        (PATHS[1], json!({"tools":[exec]}), "\"name\":\"exec_command\""),
        (PATHS[1], json!({"input":[{"type":"additional_tools","tools":[lite]}]}), "custom_tool_call"),
        (PATHS[2], json!({"tools":[bash]}), "\"name\":\"Bash\""),
        (PATHS[0], json!({"tools":[{"type":"function","function":{"name":"bash"}}]}), "\"name\":\"bash\""),
    ];
    for (path, more, call) in offered {
        for stream in [false, true] {
            let mut body = question(path, "m", stream);
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let text = ask(&fake, path, &body).await.unwrap().text().await.unwrap();
            assert!(text.contains(call) && text.contains(answer::MARK), "{path} {stream}: {text}");
        }
    }
    let result = json!({"model":"m","tools":[bash],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]});
    let text = ask(&fake, PATHS[2], &result).await.unwrap().text().await.unwrap();
    assert!(text.contains(answer::TEXT) && !text.contains("tool_use"), "{text}");
}

#[tokio::test]
async fn it_refuses_connections_and_comes_back_at_the_same_address() {
    let fake = Fake::start().await;
    let body = question(PATHS[0], "m", false);
    let kept = client();
    let url = format!("{}{}", fake.url(), PATHS[0]);
    assert_eq!(kept.post(&url).json(&body).send().await.unwrap().status(), 200);
    fake.close().await;
    assert!(kept.post(&url).json(&body).send().await.unwrap_err().is_connect());
    fake.open().await;
    assert_eq!(kept.post(&url).json(&body).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn its_script_is_followed_in_order_by_path_model_and_key_and_used_up() {
    let fake = Fake::start().await;
    let rules = json!([
        {"path":"/v1/messages","times":1,"then":{"status":529}},
        {"model":"bad","then":{"status":400}},
        {"key":"other","then":{"status":401}},
    ]);
    let answer = client().post(format!("{}/__script", fake.url())).json(&rules).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    for (path, model, status) in
        [(PATHS[0], "m", 200), (PATHS[2], "bad", 529), (PATHS[2], "bad", 400), (PATHS[2], "m", 200)]
    {
        assert_eq!(ask(&fake, path, &question(path, model, false)).await.unwrap().status(), status, "{path} {model}");
    }
    let other = client().post(format!("{}{}", fake.url(), PATHS[0])).header("x-api-key", "other");
    assert_eq!(other.json(&question(PATHS[0], "m", false)).send().await.unwrap().status(), 401);
    assert_eq!(fake.seen().len(), 5);
}

#[tokio::test]
async fn it_breaks_off_resets_and_waits_where_it_is_told_to() {
    let fake = Fake::start().await;
    let stream = question(PATHS[2], "m", true);
    for point in [Point::BeforeHeaders, Point::AfterHeaders, Point::MidEvent(2), Point::AfterCompletion] {
        for reset in [false, true] {
            fake.always(Behaviour { cut: Some(point), reset, ..Behaviour::default() });
            let text = async { ask(&fake, PATHS[2], &stream).await?.text().await };
            assert!(text.await.is_err(), "{point:?} {reset}");
        }
    }
    fake.always(Behaviour { first_event_ms: 100, chunk: Some(1), ..Behaviour::default() });
    let response = ask(&fake, PATHS[2], &stream).await.unwrap();
    let headers = Instant::now();
    assert!(response.text().await.unwrap().contains("message_stop"));
    assert!(headers.elapsed() > Duration::from_millis(80));
    fake.script([Rule::always(Behaviour { stall: Some(Point::BeforeHeaders), ..Behaviour::default() })]);
    fake.forget();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!(raw(&fake.url(), head.as_bytes()).await.status, 0);
    fake.last().caller_left().await;
}
