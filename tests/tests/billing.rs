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

/// What the timeline says of money, the oldest first.
async fn turns(headgate: &Headgate) -> Vec<Value> {
    let overview = headgate.admin(Method::GET, "/overview", None).await;
    let mut turns: Vec<Value> =
        overview["incidents"].as_array().unwrap().iter().filter(|i| i["group"].is_number()).cloned().collect();
    turns.reverse();
    turns
}

async fn turned(headgate: &Headgate, expected: &[&str]) {
    let kinds = async || turns(headgate).await.iter().map(|t| t["kind"].clone()).collect::<Vec<_>>() == expected;
    until(&format!("the timeline to say {expected:?}"), kinds).await;
}

async fn findings(headgate: &Headgate) -> Vec<Value> {
    let overview = headgate.admin(Method::GET, "/overview", None).await;
    overview["findings"].as_array().unwrap().iter().map(|f| f["kind"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_timeline_says_when_a_member_went_over_its_cap_and_when_it_came_back_and_keeps_it_over_a_restart() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::sub2api(5.0, 1.0, 1.0, 1.0));
    b.script(relay::sub2api(5.0, 1.0, 1.0, 1.0));
    let file = file(&a, &b, "sub2api", "max_multiplier: 2, unknown_multiplier: deny,");
    let database = Database::create().await;
    let mut one = setup(&file).start_on(database.clone()).await;
    let two = setup(&file).start_on(database).await;
    collected(&one, "a").await;
    collected(&one, "b").await;
    until("the other to know both", || async {
        account(&two, "a").await["state"] == "ok" && account(&two, "b").await["state"] == "ok"
    })
    .await;
    assert_eq!(turns(&one).await, Vec::<Value>::new(), "what was not asked yet is no news");

    a.script(relay::sub2api(5.0, 2.4, 1.0, 1.0));
    refresh(&one, "a").await;
    assert_eq!(served_by(&one).await.as_deref(), Some("b"));
    for process in [&one, &two] {
        turned(process, &["withheld"]).await;
    }
    let turn = turns(&one).await[0].clone();
    assert_eq!(turn["withheld"], json!({"kind": "over_cap", "price": "2.4", "cap": "2"}), "{turn:#}");
    assert!(findings(&one).await.contains(&"over_cap".into()));
    one.terminate().await;
    one.restart().await;
    collected(&one, "a").await;
    refresh(&one, "a").await;
    turned(&one, &["withheld"]).await;

    a.script(relay::sub2api(5.0, 1.5, 1.0, 1.0));
    refresh(&two, "a").await;
    for process in [&one, &two] {
        turned(process, &["withheld", "returned"]).await;
        until("the finding to be gone", async || !findings(process).await.contains(&"over_cap".into())).await;
    }
    until("it to serve again", || async { served_by(&one).await.as_deref() == Some("a") }).await;
}

#[tokio::test]
async fn an_unknown_multiplier_and_an_empty_balance_are_in_the_timeline_and_shown_while_they_last() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::sub2api_of_2025(3.0));
    b.script(relay::sub2api(5.0, 1.0, 1.0, 1.0));
    let headgate = setup(&file(&a, &b, "sub2api", "max_multiplier: 2, unknown_multiplier: deny,")).start().await;
    collected(&headgate, "a").await;
    collected(&headgate, "b").await;
    turned(&headgate, &["withheld"]).await;
    assert_eq!(turns(&headgate).await[0]["withheld"], json!({"kind": "multiplier_unknown"}));
    assert_eq!(findings(&headgate).await, ["multiplier_unknown"]);
    let path = format!("/upstreams/{}/billing/multiplier", id(&headgate, "a").await);
    headgate.admin(Method::PUT, &path, Some(json!({"multiplier": "1"}))).await;
    turned(&headgate, &["withheld", "returned"]).await;
    assert_eq!(findings(&headgate).await, Vec::<Value>::new());

    b.script(relay::sub2api(0.0, 1.0, 1.0, 1.0));
    refresh(&headgate, "b").await;
    turned(&headgate, &["withheld", "returned", "withheld"]).await;
    assert_eq!(turns(&headgate).await[2]["withheld"], json!({"kind": "balance_empty"}));
    let overview = headgate.admin(Method::GET, "/overview", None).await;
    assert_eq!((&overview["status"], &overview["findings"][0]["empty"]), (&"degraded".into(), &true.into()));
    let member = overview["groups"][0]["members"][1].clone();
    assert_eq!((&member["condition"]["state"], &member["condition"]["class"]), (&"down".into(), &"exhausted".into()));
}

#[tokio::test]
async fn a_multiplier_by_hand_has_a_history_and_each_reading_the_one_that_was_in_force() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.script(relay::sub2api(50.0, 1.0, 10.0, 10.0));
    b.always(Behaviour::status(500));
    let headgate = setup(&file(&a, &b, "sub2api", "")).start().await;
    collected(&headgate, "a").await;
    let id = id(&headgate, "a").await;
    let path = format!("/upstreams/{id}/billing/multiplier");
    // As stated at first, then twice that, as a person says.
    a.script(relay::sub2api(48.0, 1.0, 12.0, 12.0));
    refresh(&headgate, "a").await;
    headgate.admin(Method::PUT, &path, Some(json!({"multiplier": "2"}))).await;
    refresh(&headgate, "a").await;
    a.script(relay::sub2api(42.0, 1.0, 15.0, 18.0));
    refresh(&headgate, "a").await;
    let costs = headgate.admin(Method::GET, &format!("/costs/{id}"), None).await;
    let day = &costs["windows"][1]["comparison"];
    let due: f64 = day["billing"]["expected"].as_str().unwrap().parse().unwrap();
    assert!((due - 8.0).abs() < 0.01, "2 at ×1 and 3 at ×2: {day:#}");
    assert_eq!((&day["reason"], &day["multiplier"]), (&"as_expected".into(), &"2".into()), "{day:#}");
    let figures = headgate.admin(Method::GET, &format!("/costs/{id}/figures?window=24h"), None).await;
    let number = |text: &Value| text.as_str().unwrap().parse::<f64>().unwrap();
    assert!((number(&figures["sums"]["due"]) - due).abs() < 1e-9, "{figures:#}");
    assert!((number(&figures["sums"]["charged"]) - number(&day["billing"]["charged"])).abs() < 1e-9, "{figures:#}");
    assert_eq!((&figures["pairs"][0]["by_hand"], &figures["pairs"][0]["multiplier"]), (&true.into(), &"2".into()));

    headgate.admin(Method::DELETE, &path, None).await;
    let all = headgate.admin(Method::GET, "/costs", None).await;
    let of_a = all["upstreams"].as_array().unwrap().iter().find(|u| u["name"] == "a").unwrap().clone();
    let steps = of_a["multipliers"].as_array().unwrap();
    let by_hand: Vec<_> = steps.iter().filter(|s| s["by_hand"] == true).collect();
    assert_eq!((by_hand.len(), &by_hand[0]["multiplier"]), (1, &"2".into()), "{steps:#?}");
    assert_eq!(by_hand[0]["author"], "admin api");
    let (status, _) = headgate.admin_raw(Method::PUT, &path, Some(json!({"multiplier": "100000000"}))).await;
    assert_eq!(status, 400);
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
