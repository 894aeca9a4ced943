//! Billing: what relays say of multiplier and balance reaches routing, the admin API and the other processes.

use headgate_tests::{
    fake::{Behaviour, Fake, Rule, relay},
    harness::{Database, Headgate, KEY, PATHS, Setup, header, until},
};
use reqwest::Method;
use serde_json::{Value, json};

fn file(a: &Fake, b: &Fake, kind: &str, group: &str) -> String {
    format!(
        "version: 1
upstreams:
  - {{ name: a, base_url: '{}/v1', credentials: [ {{ env: BILLING_A }} ], billing: {{ kind: {kind} }} }}
  - {{ name: b, base_url: '{}', credentials: [ {{ env: BILLING_B }} ], billing: {{ kind: {kind} }} }}
groups: [ {{ name: g, {group} members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        a.url(),
        b.url()
    )
}

fn setup(file: &str) -> Setup {
    Setup::new(file).env("BILLING_A", "sk-a").env("BILLING_B", "sk-b")
}

async fn id(headgate: &Headgate, name: &str) -> i64 {
    upstream(headgate, name).await["id"].as_i64().unwrap()
}

async fn upstream(headgate: &Headgate, name: &str) -> Value {
    let list = headgate.admin(Method::GET, "/upstreams", None).await;
    list["items"].as_array().unwrap().iter().find(|u| u["name"] == name).unwrap().clone()
}

async fn account(headgate: &Headgate, name: &str) -> Value {
    upstream(headgate, name).await["account"].clone()
}

async fn collected(headgate: &Headgate, name: &str) -> Value {
    until("the first collection", || async { account(headgate, name).await["state"] != "pending" }).await;
    account(headgate, name).await
}

async fn refresh(headgate: &Headgate, name: &str) -> Value {
    let id = id(headgate, name).await;
    headgate.admin(Method::POST, &format!("/upstreams/{id}/billing/refresh"), None).await
}

async fn served_by(headgate: &Headgate) -> Option<String> {
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    header(&response, "x-headgate-upstream").map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_raised_over_its_cap_is_left_by_all_processes_and_comes_back_by_itself() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::sub2api(5.0, 1.0, 1.0, 1.0));
    b.script(relay::sub2api(5.0, 1.2, 1.0, 1.0));
    let file = file(&a, &b, "sub2api", "max_multiplier: 1.5, unknown_multiplier: deny,");
    let database = Database::create().await;
    let one = setup(&file).start_on(database.clone()).await;
    let two = setup(&file).start_on(database).await;
    assert_eq!(collected(&one, "a").await["multiplier"], "1");
    collected(&two, "a").await;
    collected(&one, "b").await;
    until("the first to serve", || async { served_by(&one).await.as_deref() == Some("a") }).await;
    until("the other to serve", || async { served_by(&two).await.as_deref() == Some("a") }).await;
    let asked = a.seen().iter().filter(|s| s.path == "/v1/sub2api/billing").count();
    assert_eq!(asked, 1, "one of the two processes asks");

    a.script(relay::sub2api(5.0, 2.0, 1.0, 1.0));
    assert_eq!(refresh(&one, "a").await["multiplier"], "2");
    assert_eq!(served_by(&one).await.as_deref(), Some("b"));
    until("the other process to hear of it", || async { served_by(&two).await.as_deref() == Some("b") }).await;

    b.script(relay::sub2api(5.0, 3.0, 1.0, 1.0));
    refresh(&one, "b").await;
    let refused = one.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!(refused.status(), 402);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "budget_no_route");

    a.script(relay::sub2api(5.0, 1.5, 1.0, 1.0));
    refresh(&one, "a").await;
    assert_eq!(served_by(&one).await.as_deref(), Some("a"));
    until("the other process to hear of it", || async { served_by(&two).await.as_deref() == Some("a") }).await;
}

#[tokio::test]
async fn an_empty_balance_takes_an_upstream_out_until_it_is_filled() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::newapi(0, 500_000, 1.0));
    b.script(relay::newapi(5_000_000, 0, 1.0));
    let headgate = setup(&file(&a, &b, "auto", "")).start().await;
    let told = collected(&headgate, "a").await;
    assert_eq!((&told["spoken"], &told["exhausted"]), (&"newapi".into(), &true.into()), "{told:#}");
    assert_eq!(served_by(&headgate).await.as_deref(), Some("b"));
    let told = collected(&headgate, "b").await;
    // Ten dollars, as the site shows them.
    assert_eq!((&told["remaining"], &told["currency"]), (&"75".into(), &"CNY".into()), "{told:#}");
    assert_eq!((&told["group"], &told["state"]), (&"vip".into(), &"ok".into()), "{told:#}");
    a.script(relay::newapi(500_000, 500_000, 1.0));
    assert_eq!(refresh(&headgate, "a").await["exhausted"], false);
    assert_eq!(served_by(&headgate).await.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_failing_or_limited_site_keeps_its_last_figures_and_is_left_alone() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::sub2api(5.0, 2.0, 1.0, 1.0));
    b.script(relay::newapi(500_000, 0, 2.0));
    let headgate = setup(&file(&a, &b, "auto", "")).start().await;
    let good = collected(&headgate, "a").await;
    a.script([relay::failing("/v1/usage", Behaviour::status(200).body("<html>"))]);
    let bad = refresh(&headgate, "a").await;
    assert_eq!(bad["state"], "error", "{bad:#}");
    for kept in ["multiplier", "remaining", "collected_at"] {
        assert_eq!(bad[kept], good[kept], "{kept}");
    }
    collected(&headgate, "b").await;
    let mut limited = vec![relay::failing("/api/usage/token", Behaviour::status(429))];
    limited.extend(relay::newapi(500_000, 0, 2.0));
    b.script(limited);
    assert!(refresh(&headgate, "b").await["error"].as_str().unwrap().contains("30 min"));
    let asked = b.seen().len();
    assert_eq!(refresh(&headgate, "b").await["state"], "error");
    assert_eq!(b.seen().len(), asked, "a site that said 429 is not asked for half an hour");
}

#[tokio::test]
async fn a_multiplier_by_hand_stands_where_none_is_stated_and_goes_before_one_that_is() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::sub2api_of_2025(3.0));
    b.script(relay::sub2api(5.0, 1.0, 1.0, 1.0));
    let headgate = setup(&file(&a, &b, "sub2api", "max_multiplier: 1.5,")).start().await;
    let told = collected(&headgate, "a").await;
    assert_eq!((&told["state"], &told["multiplier"]), (&"partial".into(), &Value::Null), "{told:#}");
    assert_eq!(served_by(&headgate).await.as_deref(), Some("a"), "unknown multipliers are allowed here");
    let path = format!("/upstreams/{}/billing/multiplier", id(&headgate, "a").await);
    let set = headgate.admin(Method::PUT, &path, Some(json!({"multiplier": "1.8"}))).await;
    assert_eq!((&set["manual"], &set["price"]), (&true.into(), &"1.8".into()));
    assert_eq!(served_by(&headgate).await.as_deref(), Some("b"));
    let overview = headgate.admin(Method::GET, "/overview", None).await;
    let lane = overview["groups"][0]["members"].as_array().unwrap().clone();
    let state = |name: &str| lane.iter().find(|m| m["name"] == name).unwrap()["condition"]["state"].clone();
    assert_eq!((state("a"), state("b")), ("over_cap".into(), "healthy".into()));
    let kinds: Vec<_> = overview["findings"].as_array().unwrap().iter().map(|f| f["kind"].clone()).collect();
    assert_eq!(kinds, ["over_cap"], "told once");
    refresh(&headgate, "a").await;
    assert_eq!(account(&headgate, "a").await["multiplier"], "1.8", "a collection leaves it alone");
    headgate.admin(Method::DELETE, &path, None).await;
    assert_eq!(served_by(&headgate).await.as_deref(), Some("a"));
    let (status, _) = headgate.admin_raw(Method::PUT, &path, Some(json!({"multiplier": "0"}))).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn more_charged_than_said_shows_in_the_comparison() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::sub2api(50.0, 0.15, 10.0, 1.0));
    b.always(Behaviour::status(500));
    let headgate = setup(&file(&a, &b, "sub2api", "")).start().await;
    collected(&headgate, "a").await;
    a.script(relay::sub2api(49.0, 0.15, 12.02, 1.35).into_iter().chain([Rule::default()]));
    refresh(&headgate, "a").await;
    let costs = headgate.admin(Method::GET, &format!("/costs/{}", id(&headgate, "a").await), None).await;
    let windows = costs["windows"].as_array().unwrap();
    assert_eq!(windows.iter().map(|w| &w["window"]).collect::<Vec<_>>(), ["1h", "24h", "7d"]);
    let day = &windows[1]["comparison"];
    assert_eq!((&day["pairs"], &day["reason"]), (&1.into(), &"charged_exceeded".into()), "{costs:#}");
    assert_eq!(day["billing"]["charged"], "0.35", "{costs:#}");
    assert_eq!(day["billing"]["expected"], "0.3030", "{costs:#}");
}
