//! Costs decide: the cheapest upstream is asked, and recorded traffic tells what another configuration would have cost.

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{Headgate, KEY, PATHS, header, program, until},
};
use reqwest::Method;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use tokio::process::Command;

const MODEL: &str = "claude-sonnet-4-5";

fn file(first: &Fake, second: &Fake, rules: &str, priority: i32) -> String {
    format!(
        "version: 1
upstreams: [ {{ name: dear, base_url: '{}' }}, {{ name: cheap, base_url: '{}' }} ]
groups: [ {{ name: g, {rules} members: [ {{ upstream: dear, priority: 1 }}, {{ upstream: cheap, priority: {priority} }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        first.url(),
        second.url()
    )
}

async fn id(headgate: &Headgate, name: &str) -> Value {
    let upstreams = headgate.admin(Method::GET, "/upstreams", None).await;
    upstreams["items"].as_array().unwrap().iter().find(|u| u["name"] == name).unwrap()["id"].clone()
}

async fn multiplier(headgate: &Headgate, name: &str, multiplier: &str) {
    let path = format!("/upstreams/{}/billing/multiplier", id(headgate, name).await);
    headgate.admin(Method::PUT, &path, Some(json!({"multiplier": multiplier}))).await;
}

async fn asks(headgate: &Headgate) -> String {
    let response = headgate.ask(PATHS[0], MODEL, false).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let upstream = header(&response, "x-headgate-upstream").unwrap().to_owned();
    let record = headgate.record_of(&response).await;
    assert_eq!(record.0["status"], 200);
    upstream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cheapest_member_is_asked_and_follows_its_multiplier() {
    let (dear, cheap) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&file(&dear, &cheap, "strategy: cheapest,", 1)).await;
    multiplier(&headgate, "dear", "1.2").await;
    multiplier(&headgate, "cheap", "0.8").await;
    for _ in 0..4 {
        assert_eq!(asks(&headgate).await, "cheap");
    }
    let response = headgate.ask(PATHS[0], MODEL, false).send().await.unwrap();
    let (request, _) = headgate.record_of(&response).await;
    let dearer = request["reasons"][0].as_array().unwrap().iter().find(|r| r["reason"] == "dearer").unwrap().clone();
    assert_eq!(dearer["percent"], 50, "the record says why: {request:#}");
    let group = headgate.admin(Method::GET, "/groups", None).await["items"][0]["id"].clone();
    let path = format!("/explain?group={group}&model={MODEL}&protocol=chat&input=1000");
    let explained = headgate.admin(Method::GET, &path, None).await;
    let forecasts: Vec<_> =
        explained["candidates"].as_array().unwrap().iter().map(|c| c["forecast"]["multiplier"].clone()).collect();
    assert_eq!(forecasts, [json!(1.2), json!(0.8)]);
    multiplier(&headgate, "cheap", "2").await;
    until("the other becomes the cheapest", async || asks(&headgate).await == "dear").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_traffic_tells_what_another_file_would_have_done() {
    let (dear, cheap) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&file(&dear, &cheap, "", 2)).await;
    multiplier(&headgate, "dear", "2").await;
    multiplier(&headgate, "cheap", "0.5").await;
    dear.script([Rule::times(1, Behaviour::status(500))]);
    for n in 0..10 {
        assert_eq!(asks(&headgate).await, if n == 0 { "cheap" } else { "dear" });
    }
    let (dear_id, cheap_id) = (id(&headgate, "dear").await.to_string(), id(&headgate, "cheap").await.to_string());
    let before = headgate.admin(Method::GET, "/export", None).await;

    let text = file(&dear, &cheap, "strategy: cheapest, across_tiers: true,", 2);
    let path = headgate.data_dir().join("draft.yaml");
    std::fs::write(&path, &text).unwrap();
    let whatif = async |more: &[&str]| {
        let output = Command::new(program())
            .args(["whatif", path.to_str().unwrap(), "--data-dir", headgate.data_dir().to_str().unwrap()])
            .args(more)
            .output()
            .await
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let answer: Value = serde_json::from_str(&whatif(&["--json"]).await).unwrap();
    let served = |which: &str, upstream: &str| answer[which]["upstreams"][upstream]["served"].as_u64().unwrap_or(0);
    assert_eq!((answer["recorded"].as_i64(), answer["draft"]["requests"].as_i64()), (Some(10), Some(10)));
    assert_eq!((served("happened", &dear_id), served("happened", &cheap_id)), (9, 1));
    assert_eq!(served("current", &dear_id) + served("current", &cheap_id), 10);
    assert_eq!((served("draft", &dear_id), served("draft", &cheap_id)), (0, 10), "{answer:#}");
    assert_eq!(answer["draft"]["moved"], 9);
    let cost =
        |which: &str, what: &str| -> Decimal { answer[which]["cost"]["USD"][what].as_str().unwrap().parse().unwrap() };
    assert_eq!(cost("draft", "list"), cost("happened", "list"));
    assert_eq!(cost("draft", "charged"), cost("draft", "list") / Decimal::TWO);
    assert!(cost("happened", "charged") > cost("draft", "charged") * Decimal::from(3));

    assert_eq!(answer["unreplayed"], json!([]));
    let limited = text.replace("secret:", "limits: { rpm: 5 }, budget: { day: 1 }, secret:");
    assert_ne!(limited, text);
    std::fs::write(&path, limited).unwrap();
    let answer: Value = serde_json::from_str(&whatif(&["--json"]).await).unwrap();
    assert_eq!(answer["unreplayed"], json!([{"of": "key", "name": "k", "settings": ["limits", "budget"]}]));
    assert!(whatif(&[]).await.contains("limits and budget of key k"));
    std::fs::write(&path, &text).unwrap();
    let printed = whatif(&[]).await;
    assert!(printed.contains("10 requests recorded, 10 replayed") && printed.contains("cheap"), "{printed}");
    // One group, as the window asks.
    let group = headgate.admin(Method::GET, "/groups", None).await["items"][0]["id"].clone();
    let patch = json!({"strategy": "cheapest", "across_tiers": true});
    let same = headgate.admin(Method::POST, &format!("/groups/{group}/whatif"), Some(patch)).await;
    assert_eq!(same["draft"]["upstreams"], answer["draft"]["upstreams"]);
    // Nothing has changed.
    assert_eq!(headgate.admin(Method::GET, "/export", None).await, before);
    let bad =
        headgate.admin_raw(Method::POST, "/whatif?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", None).await;
    assert_eq!(bad.0, 400);
}
