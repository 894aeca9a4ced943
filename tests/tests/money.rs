//! What upstreams' money needs people for: told once, shown with its fix, and over when it is over.

use headgate_tests::{
    fake::{Behaviour, Fake, Rule, relay},
    harness::{Database, Headgate, KEY, Setup, until},
};
use reqwest::Method;
use serde_json::{Value, json};

fn setup(relay: &Fake, hook: &Fake) -> Setup {
    let file = format!(
        "version: 1
settings: {{ alert_debounce: 0s }}
upstreams:
  - {{ name: a, base_url: '{}', credentials: [ {{ env: MONEY_A }} ], billing: {{ kind: sub2api, low_balance: 3 }} }}
groups: [ {{ name: g, max_multiplier: 1.5, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
alerts: [ {{ kind: webhook, url: '{}/x' }} ]
",
        relay.url(),
        hook.url()
    );
    Setup::new(&file).env("MONEY_A", "sk-a")
}

async fn upstream(headgate: &Headgate) -> Value {
    headgate.admin(Method::GET, "/upstreams", None).await["items"][0].clone()
}

async fn refresh(headgate: &Headgate) -> Value {
    let id = upstream(headgate).await["id"].clone();
    headgate.admin(Method::POST, &format!("/upstreams/{id}/billing/refresh"), None).await
}

async fn findings(headgate: &Headgate) -> Vec<Value> {
    headgate.admin(Method::GET, "/overview", None).await["findings"].as_array().unwrap().clone()
}

/// What was told, in the order of names.
fn kinds(hook: &Fake) -> Vec<String> {
    let mut kinds: Vec<String> =
        hook.seen().iter().map(|seen| seen.json()["kind"].as_str().unwrap_or_default().to_owned()).collect();
    kinds.sort();
    kinds
}

async fn told(hook: &Fake, expected: &[&str]) {
    until(&format!("{expected:?} to be told"), || async { kinds(hook) == expected }).await;
}

async fn hook() -> Fake {
    let hook = Fake::start().await;
    hook.always(Behaviour::status(200).body("{}"));
    hook
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_that_needs_a_person_is_told_by_one_process_and_shown_until_it_is_over() {
    let (relay, hook) = (Fake::start().await, hook().await);
    relay.script(relay::sub2api(5.0, 1.0, 1.0, 1.0));
    let database = Database::create().await;
    let one = setup(&relay, &hook).start_on(database.clone()).await;
    let two = setup(&relay, &hook).start_on(database).await;
    until("the first collection", || async { upstream(&two).await["account"]["state"] == "ok" }).await;
    assert_eq!(findings(&one).await, Vec::<Value>::new());

    relay.script(relay::sub2api(2.0, 2.0, 1.0, 1.0));
    refresh(&one).await;
    told(&hook, &["balance_low", "multiplier_changed", "over_cap"]).await;
    let of = |kind: &str| hook.seen().iter().map(|seen| seen.json()).find(|told| told["kind"] == kind).unwrap();
    let low = of("balance_low");
    assert_eq!((&low["money"]["remaining"], &low["money"]["currency"]), (&"2".into(), &"USD".into()), "{low:#}");
    assert_eq!(low["sentence"]["en"], "2 USD is left at upstream a; top it up.");
    let over = of("over_cap");
    assert_eq!((&over["group"]["name"], &over["money"]["cap"]), (&"g".into(), &"1.5".into()), "{over:#}");
    assert_eq!(of("multiplier_changed")["money"]["multiplier_before"], "1");
    for process in [&one, &two] {
        until("both processes to show it", || async {
            let kinds: Vec<Value> = findings(process).await.iter().map(|f| f["kind"].clone()).collect();
            ["balance_low", "multiplier_changed", "over_cap"].iter().all(|kind| kinds.contains(&json!(kind)))
        })
        .await;
    }
    refresh(&two).await;

    hook.forget();
    relay.script(relay::sub2api(20.0, 1.0, 1.0, 1.0));
    refresh(&two).await;
    told(&hook, &["billing_cleared", "billing_cleared", "multiplier_changed"]).await;
    let account = upstream(&two).await["account"].clone();
    assert_eq!(account["concerns"], json!([{"kind": "multiplier_changed"}]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bill_in_doubt_is_judged_when_it_is_collected_and_told_once() {
    let (relay, hook) = (Fake::start().await, hook().await);
    relay.script(relay::sub2api(50.0, 0.15, 10.0, 1.0));
    let headgate = setup(&relay, &hook).start().await;
    until("the first collection", || async { upstream(&headgate).await["account"]["state"] == "ok" }).await;
    relay.script(relay::sub2api(49.0, 0.15, 12.02, 1.35).into_iter().chain([Rule::default()]));
    let account = refresh(&headgate).await;
    assert_eq!((&account["verdict"], &account["reason"]), (&"warning".into(), &"charged_exceeded".into()));
    assert_eq!((&account["excess"], &account["spent_day"]), (&"0.047".into(), &"0.35".into()), "{account:#}");
    told(&hook, &["billing_warning"]).await;
    let shown = findings(&headgate).await;
    assert_eq!((&shown[0]["kind"], &shown[0]["severity"]), (&"billing_warning".into(), &"info".into()), "{shown:#?}");
    refresh(&headgate).await;
    // What comes later is told after it.
    let path = format!("/upstreams/{}/billing/multiplier", upstream(&headgate).await["id"]);
    headgate.admin(Method::PUT, &path, Some(json!({"multiplier": "9"}))).await;
    told(&hook, &["billing_warning", "over_cap"]).await;
}
