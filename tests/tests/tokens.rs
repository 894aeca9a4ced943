//! Tokens reported against tokens that passed through.

use headgate_tests::{
    fake::{Behaviour, Fake, Rule, relay},
    harness::{Headgate, KEY, PATHS, Setup, until},
};
use reqwest::Method;
use serde_json::{Value, json};

async fn upstream(headgate: &Headgate) -> Value {
    headgate.admin(Method::GET, "/upstreams", None).await["items"][0].clone()
}

async fn refresh(headgate: &Headgate) -> Value {
    let path = format!("/upstreams/{}/billing/refresh", upstream(headgate).await["id"]);
    headgate.admin(Method::POST, &path, None).await
}

async fn tokens(headgate: &Headgate) -> Value {
    let path = format!("/costs/{}/tokens?window=1h", upstream(headgate).await["id"]);
    headgate.admin(Method::GET, &path, None).await["items"].clone()
}

/// Two words, and as many tokens as it likes.
fn answer(tokens: u64) -> Rule {
    let body = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "hello world"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}});
    Rule { then: Behaviour::status(200).body(&body.to_string()), ..Rule::default() }
}

async fn start(relay: &Fake) -> Headgate {
    let file = format!(
        "version: 1
upstreams: [ {{ name: a, base_url: '{}', protocol: openai, credentials: [ {{ env: TOKENS_A }} ], billing: {{ kind: sub2api }} }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        relay.url()
    );
    let headgate = Setup::new(&file).env("TOKENS_A", "sk-a").start().await;
    until("the first collection", || async { upstream(&headgate).await["account"]["state"] == "ok" }).await;
    headgate
}

async fn ask(headgate: &Headgate, model: &str, times: usize) {
    for _ in 0..times {
        assert_eq!(headgate.ask(PATHS[0], model, false).send().await.unwrap().status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_tokens_reported_than_passed_through_are_noticed_and_shown_by_model() {
    let relay = Fake::start().await;
    relay.script(relay::sub2api(50.0, 1.0, 10.0, 10.0).into_iter().chain([answer(500)]));
    let headgate = start(&relay).await;
    ask(&headgate, "gpt-4o", 24).await;
    ask(&headgate, "some-other", 1).await;
    until("all to be counted", || async {
        tokens(&headgate).await[0]["counted_with"] == "o200k_base" && tokens(&headgate).await[0]["requests"] == 24
    })
    .await;
    let found = tokens(&headgate).await;
    let of = &found[0];
    assert_eq!((&of["model"], &of["reported"], &of["observed"]), (&"gpt-4o".into(), &12_000.into(), &48.into()));
    assert_eq!((&of["inflation"], &of["error"]), (&"250".into(), &"0.1".into()), "{found:#}");
    assert_eq!((&found[1]["counted_with"], &found[1]["error"]), (&Value::Null, &"0.33".into()), "{found:#}");
    relay.script(relay::sub2api(49.0, 1.0, 10.13, 10.13).into_iter().chain([answer(500)]));
    let account = refresh(&headgate).await;
    assert_eq!(
        (&account["verdict"], &account["reason"]),
        (&"warning".into(), &"tokens_exceeded".into()),
        "{account:#}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn honest_tokens_are_no_accusation() {
    let relay = Fake::start().await;
    relay.script(relay::sub2api(50.0, 1.0, 10.0, 10.0).into_iter().chain([answer(2)]));
    let headgate = start(&relay).await;
    ask(&headgate, "gpt-4o", 24).await;
    until("all to be counted", || async {
        tokens(&headgate).await[0]["counted_with"] == "o200k_base" && tokens(&headgate).await[0]["requests"] == 24
    })
    .await;
    assert_eq!(tokens(&headgate).await[0]["inflation"], "1");
    relay.script(relay::sub2api(49.0, 1.0, 10.002, 10.002).into_iter().chain([answer(2)]));
    assert_eq!(refresh(&headgate).await["verdict"], "ok");
    // Where no charges are listed the evidence has our own requests.
    let path = format!("/costs/{}/evidence?window=1h", upstream(&headgate).await["id"]);
    let evidence = headgate.admin(Method::GET, &path, None).await;
    let content = &evidence["content"];
    assert_eq!(content["requests"].as_array().map(Vec::len), Some(24), "{content:#}");
    assert_eq!((&content["pairs"], &content["requests"][0]["model"]), (&json!([]), &"gpt-4o".into()));
}
