//! Models that an upstream does not have: another name of the same one, a second look, and a person who is told.

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{Headgate, KEY, PATHS, header},
};
use reqwest::Method;
use serde_json::{Value, json};

const DATED: &str = "claude-x-20250929";

fn missing(model: &str) -> Rule {
    let body = json!({"error": {"message": format!("model {model} not found"), "code": "model_not_found"}});
    Rule::model(model, Behaviour::status(404).body(&body.to_string()))
}

/// `first` is a better upstream with these keys more, `second` a worse one.
async fn world(first_more: &str) -> (Fake, Fake, Headgate) {
    let (first, second) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&format!(
        "version: 1
upstreams: [ {{ name: first, base_url: '{}' {first_more} }}, {{ name: second, base_url: '{}' }} ]
groups: [ {{ name: g, members: [ {{ upstream: first, priority: 1 }}, {{ upstream: second, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        first.url(),
        second.url()
    ))
    .await;
    (first, second, headgate)
}

async fn serves(headgate: &Headgate, model: &str) -> String {
    let response = headgate.ask(PATHS[0], model, false).send().await.unwrap();
    assert_eq!(response.status(), 200);
    header(&response, "x-headgate-upstream").unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dated_name_that_an_upstream_does_not_know_is_tried_without_its_date_by_the_same_request() {
    let (first, second, headgate) = world("").await;
    first.script([missing(DATED)]);
    let response = headgate.ask(PATHS[0], DATED, false).send().await.unwrap();
    assert_eq!(
        (header(&response, "x-headgate-upstream"), header(&response, "x-headgate-attempts")),
        (Some("first"), Some("2"))
    );
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["model"], DATED, "the client sees the name it asked for");
    assert_eq!(first.last().json()["model"], "claude-x");
    // From now on it is asked by that name at once.
    let response = headgate.ask(PATHS[0], DATED, false).send().await.unwrap();
    assert_eq!(header(&response, "x-headgate-attempts"), Some("1"));
    assert_eq!(second.seen().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_is_missing_at_the_second_look_too_is_told_to_a_person_who_can_end_the_exclusion() {
    let (first, _second, headgate) = world("").await;
    first.script([missing("m")]);
    let upstreams = headgate.admin(Method::GET, "/upstreams", None).await;
    let id = upstreams["items"].as_array().unwrap().iter().find(|u| u["name"] == "first").unwrap()["id"].clone();
    let gone = async || {
        let overview = headgate.admin(Method::GET, "/overview", None).await;
        let findings = overview["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|f| f["kind"] == "model_gone")
    };
    assert_eq!(serves(&headgate, "m").await, "second");
    assert_eq!(gone().await, None, "once may be a mistake of the upstream");
    assert_eq!(serves(&headgate, "m").await, "second");
    assert_eq!(first.seen().len(), 1, "it is left out");

    headgate.admin(Method::POST, &format!("/upstreams/{id}/retry"), None).await;
    assert_eq!(serves(&headgate, "m").await, "second");
    assert_eq!(first.seen().len(), 2, "the second look");
    let finding = gone().await.expect("a finding");
    assert_eq!((&finding["model"], &finding["upstream"], &finding["severity"]), (&json!("m"), &id, &json!("degraded")));

    first.behave();
    let path = format!("/upstreams/{id}/models/reset");
    headgate.admin(Method::POST, &path, Some(json!({"model": "m"}))).await;
    assert_eq!(gone().await, None);
    assert_eq!(serves(&headgate, "m").await, "first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_the_configuration_gives_is_not_changed() {
    let (first, _second, headgate) = world(", models: { map: { m: dated-20250929 } }").await;
    first.script([missing("dated-20250929")]);
    assert_eq!(serves(&headgate, "m").await, "second");
    assert_eq!(first.seen().len(), 1);
}
