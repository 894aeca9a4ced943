//! Alerts: what people are told of, how it reaches them, and what happens when it does not.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake, Point, Rule, Seen},
    harness::{Database, Headgate, KEY, PATHS, Setup, until},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

const CANARY_PATH: &str = "canary-hook-5d1c7a90";
const CANARY_SECRET: &str = "canary-sign-0b7e6f21";

/// A place that takes alerts.
async fn hook() -> Fake {
    let hook = Fake::start().await;
    hook.always(Behaviour::status(200).body("{}"));
    hook
}

fn configuration(fake: &Fake, settings: &str, alerts: &str) -> String {
    format!(
        "version: 1
settings: {{ breaker_open: 200ms, breaker_open_max: 200ms, breaker_recovery_successes: 1{settings} }}
upstreams: [ {{ name: a, base_url: '{}', credentials: [ {{ value: sk-of-the-upstream }} ] }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
monitors: [ {{ upstream: a, model: m, enabled: false }} ]
alerts: {alerts}
",
        fake.url()
    )
}

async fn start(fake: &Fake, settings: &str, alerts: &str) -> Headgate {
    Headgate::start(&configuration(fake, settings, alerts)).await
}

async fn ask(headgate: &Headgate) -> u16 {
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    let status = response.status().as_u16();
    response.bytes().await.unwrap();
    status
}

async fn probe(headgate: &Headgate) {
    let id = headgate.admin(Method::GET, "/monitors", None).await["items"][0]["id"].clone();
    headgate.admin(Method::POST, &format!("/monitors/{id}/probe"), None).await;
}

async fn open(fake: &Fake, headgate: &Headgate) {
    fake.always(Behaviour::status(500));
    for _ in 0..3 {
        ask(headgate).await;
    }
}

async fn targets(headgate: &Headgate) -> Vec<Value> {
    headgate.admin(Method::GET, "/alerts", None).await["items"].as_array().unwrap().clone()
}

async fn log(headgate: &Headgate) -> Vec<Value> {
    headgate.admin(Method::GET, "/alerts/log", None).await["items"].as_array().unwrap().clone()
}

fn kinds(hook: &Fake) -> Vec<String> {
    hook.seen().iter().map(|seen| seen.json()["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn told(hook: &Fake, expected: &[&str]) {
    until(&format!("{expected:?} to be told"), || async { kinds(hook) == expected }).await;
}

fn is_signed(seen: &Seen, secret: &str) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(&seen.body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    seen.header("x-headgate-signature") == Some(&format!("sha256={hex}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_is_told_once_and_signed() {
    let (fake, hook) = (Fake::start().await, hook().await);
    let alerts = format!("[ {{ kind: webhook, url: '{}/x', secret: s3cret }} ]", hook.url());
    let mut headgate = start(&fake, ", alert_debounce: 0s", &alerts).await;

    open(&fake, &headgate).await;
    told(&hook, &["upstream_opened", "group_down"]).await;
    // It is tried again by itself and fails; that is no news.
    let before = fake.seen().len();
    fake.asked(before + 2).await;
    fake.behave();
    told(&hook, &["upstream_opened", "group_down", "upstream_closed", "group_back"]).await;

    hook.forget();
    fake.always(Behaviour::status(401));
    ask(&headgate).await;
    probe(&headgate).await;
    told(&hook, &["credential_rejected", "group_down"]).await;
    fake.behave();
    probe(&headgate).await;
    told(&hook, &["credential_rejected", "group_down", "credential_accepted", "group_back"]).await;

    hook.forget();
    fake.always(Behaviour::status(402));
    ask(&headgate).await;
    told(&hook, &["credential_exhausted", "group_down"]).await;
    // What a person clears is no longer held against it.
    let id = headgate.admin(Method::GET, "/upstreams", None).await["items"][0]["id"].clone();
    headgate.admin(Method::POST, &format!("/upstreams/{id}/reset"), None).await;
    told(&hook, &["credential_exhausted", "group_down", "group_back"]).await;

    hook.forget();
    let gone =
        json!({"error":{"message":"The model does not exist","type":"invalid_request_error","code":"model_not_found"}});
    fake.always(Behaviour::status(404).body(&gone.to_string()));
    ask(&headgate).await;
    // Long afterwards the upstream still says so.
    headgate.terminate().await;
    let file = headgate.data_dir().join("health.json");
    let mut health: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    health["saved_at"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&file, health.to_string()).unwrap();
    headgate.restart().await;
    ask(&headgate).await;
    told(&hook, &["model_gone"]).await;
    fake.behave();
    probe(&headgate).await;
    told(&hook, &["model_gone", "model_back"]).await;

    assert!(hook.seen().iter().all(|seen| is_signed(seen, "s3cret") && !is_signed(seen, "other")));
    let first = hook.seen()[0].json();
    assert_eq!((&first["upstream"]["name"], &first["model"], &first["to"]), (&"a".into(), &"m".into(), &"gone".into()));
    assert_eq!(hook.seen()[0].header("x-headgate-delivery"), first["id"].as_str());
    // Those of before the restart too.
    until("thirteen deliveries to be in the log", || async { log(&headgate).await.len() == 13 }).await;
    let log = log(&headgate).await;
    assert!(log.iter().all(|d| d["outcome"] == "delivered" && d["attempts"] == 1), "{log:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_that_flaps_is_told_once_in_each_direction_and_in_the_end_as_it_is() {
    let (fake, hook) = (Fake::start().await, hook().await);
    let events = "events: [upstream_opened, upstream_closed]";
    let alerts = format!("[ {{ kind: webhook, url: '{}/x', {events}, debounce: 10s }} ]", hook.url());
    let headgate = start(&fake, "", &alerts).await;
    let closed = || async { until("it to close", || async { headgate.health("a").await["state"] == "closed" }).await };
    for _ in 0..3 {
        open(&fake, &headgate).await;
        fake.behave();
        closed().await;
    }
    open(&fake, &headgate).await;
    told(&hook, &["upstream_opened", "upstream_closed", "upstream_opened"]).await;
    let late = hook.seen()[2].json();
    assert_eq!(late["suppressed"], 4, "{late}");
    assert!(late["sentence"]["en"].as_str().unwrap().contains("4 more times"), "{late}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_for_a_while_is_repeated_and_what_is_refused_is_not() {
    let (fake, hook) = (Fake::start().await, hook().await);
    let one = format!("{{ kind: webhook, url: '{}/busy', events: [upstream_opened] }}", hook.url());
    let two = format!("{{ kind: webhook, url: '{}/wrong', events: [upstream_opened] }}", hook.url());
    let three = format!("{{ kind: webhook, url: '{}/moved', events: [upstream_opened] }}", hook.url());
    let headgate = start(&fake, "", &format!("[ {one}, {two}, {three} ]")).await;
    let on = |path: &str, rule: Rule| Rule { path: Some(path.to_owned()), ..rule };
    hook.script([
        on("/busy", Rule::times(2, Behaviour::status(503))),
        on("/busy", Rule::always(Behaviour::status(204).body(""))),
        on("/wrong", Rule::always(Behaviour::status(404))),
        on("/moved", Rule::always(Behaviour::status(302).header("location", &format!("{}/busy", hook.url())))),
    ]);
    open(&fake, &headgate).await;
    until("three deliveries to end", || async { log(&headgate).await.len() == 3 }).await;
    let seen = hook.seen();
    let on = |path: &str| seen.iter().filter(|seen| seen.path == path).collect::<Vec<_>>();
    assert_eq!((on("/busy").len(), on("/wrong").len(), on("/moved").len()), (3, 1, 1));
    assert!(on("/busy").iter().all(|seen| seen.json()["id"] == on("/busy")[0].json()["id"]), "it is one alert");
    let log = log(&headgate).await;
    let of = |status: u16| log.iter().find(|d| d["status"] == status).unwrap();
    assert_eq!((&of(204)["outcome"], &of(204)["attempts"]), (&"delivered".into(), &3.into()));
    assert_eq!((&of(404)["outcome"], &of(404)["attempts"]), (&"failed".into(), &1.into()));
    assert!(of(302)["error"].as_str().unwrap().contains("redirects are not followed"), "{log:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_is_slow_or_away_delays_neither_the_others_nor_requests() {
    let (fake, slow, well) = (Fake::start().await, hook().await, hook().await);
    slow.always(Behaviour { stall: Some(Point::BeforeHeaders), ..Behaviour::default() });
    let away = Fake::start().await;
    away.close().await;
    let of = |hook: &Fake| format!("{{ kind: webhook, url: '{}/x', debounce: 0s }}", hook.url());
    let alerts = format!("[ {}, {}, {} ]", of(&slow), of(&away), of(&well));
    let headgate = start(&fake, "", &alerts).await;
    for n in 1..=3 {
        open(&fake, &headgate).await;
        fake.behave();
        // One message alone takes the slow one more than half a minute.
        until("all of it to be told", || async { well.seen().len() == 4 * n }).await;
        let asked = Instant::now();
        assert_eq!(ask(&headgate).await, 200);
        assert!(asked.elapsed() < Duration::from_secs(2));
    }
    assert!(kinds(&slow).iter().all(|kind| kind == "upstream_opened"), "it is still with the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_is_made_tried_changed_removed_and_brought_back() {
    let (fake, hook) = (Fake::start().await, hook().await);
    let headgate = start(&fake, "", "[]").await;
    let (status, wrong) =
        headgate.admin_raw(Method::POST, "/alerts", Some(json!({"url": "http://169.254.169.254/x"}))).await;
    assert_eq!((status, &wrong["error"]["field"]), (422, &json!("url")), "{wrong}");
    let (status, wrong) =
        headgate.admin_raw(Method::POST, "/alerts", Some(json!({"url": hook.url(), "what": 1}))).await;
    assert_eq!(status, 422, "{wrong}");

    let body = json!({"name": "duty", "url": format!("{}/robot?key=k1", hook.url()), "template": "dingtalk", "secret": "SEC1"});
    let made = headgate.admin(Method::POST, "/alerts", Some(body)).await;
    let path = format!("/alerts/{}", made["id"]);
    let target = &targets(&headgate).await[0];
    assert_eq!((&target["name"], &target["signed"], &target["last"]), (&json!("duty"), &json!(true), &Value::Null));
    assert_eq!(target["address"], format!("{}/***", hook.url()));

    hook.always(Behaviour::status(200).body(r#"{"errcode":0,"errmsg":"ok"}"#));
    let done = headgate.admin(Method::POST, &format!("{path}/test"), None).await;
    assert_eq!((&done["outcome"], &done["status"]), (&json!("delivered"), &json!(200)), "{done}");
    let seen = hook.last();
    assert!(seen.json()["text"]["content"].as_str().unwrap().starts_with("Headgate: "), "{:?}", seen.json());
    let query = seen.query.unwrap();
    assert!(query.starts_with("key=k1&timestamp=") && query.contains("&sign="), "{query}");
    hook.always(Behaviour::status(200).body(r#"{"errcode":310000,"errmsg":"sign not match"}"#));
    let done = headgate.admin(Method::POST, &format!("{path}/test"), None).await;
    assert_eq!(done["outcome"], "failed", "{done}");
    assert!(done["error"].as_str().unwrap().contains("sign not match"), "{done}");
    assert_eq!(targets(&headgate).await[0]["last"]["outcome"], "failed");

    headgate.admin(Method::PATCH, &path, Some(json!({"template": "slack", "secret": null, "enabled": false}))).await;
    assert_eq!(headgate.admin_raw(Method::PATCH, &path, Some(json!({"name": "x", "revision": 1}))).await.0, 409);
    hook.always(Behaviour::status(200).body("ok"));
    headgate.admin(Method::POST, &format!("{path}/test"), None).await;
    let seen = hook.last();
    assert_eq!((seen.query.as_deref(), seen.header("x-headgate-signature")), (Some("key=k1"), None));
    assert!(seen.json()["text"].is_string());

    headgate.admin(Method::DELETE, &path, None).await;
    assert!(targets(&headgate).await.is_empty());
    assert_eq!(headgate.admin_raw(Method::POST, &format!("{path}/test"), None).await.0, 404);
    headgate.admin(Method::POST, &format!("{path}/restore"), None).await;
    let done = headgate.admin(Method::POST, &format!("{path}/test"), None).await;
    assert_eq!(done["outcome"], "delivered", "its address has come back with it: {done}");
    assert_eq!(log(&headgate).await[0]["target_name"], "duty");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_and_a_secret_are_in_no_log_table_file_or_answer() {
    let (fake, hook) = (Fake::start().await, hook().await);
    // A robot that repeats what it was called with.
    let said = format!(r#"{{"errcode":1,"errmsg":"no /{CANARY_PATH}?key={CANARY_PATH} {CANARY_SECRET}"}}"#);
    hook.always(Behaviour::status(200).body(&said));
    let of = |template: &str| {
        let url = format!("{}/{CANARY_PATH}?key={CANARY_PATH}", hook.url());
        format!("{{ kind: webhook, url: '{url}', secret: {CANARY_SECRET}, template: {template} }}")
    };
    let alerts = format!("[ {}, {}, {} ]", of("json"), of("dingtalk"), of("feishu"));
    let mut headgate = Setup::new(&configuration(&fake, "", &alerts)).env("HEADGATE_LOG", "trace").start().await;
    open(&fake, &headgate).await;
    until("six deliveries to end", || async { log(&headgate).await.len() == 6 }).await;
    let mut places = vec![];
    for path in ["/alerts", "/alerts/log", "/export", "/revisions", "/revisions/1/diff", "/status", "/overview"] {
        places.push((path.to_owned(), headgate.admin(Method::GET, path, None).await.to_string()));
    }
    places.push((
        "table".to_owned(),
        json!(headgate.database.rows("select to_jsonb(t) from headgate.revisions t").await).to_string(),
    ));
    headgate.terminate().await;
    places.push(("log".to_owned(), headgate.log()));
    for entry in std::fs::read_dir(headgate.data_dir()).unwrap().flatten().filter(|e| e.path().is_file()) {
        places.push((
            format!("{:?}", entry.path()),
            String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into(),
        ));
    }
    for (place, text) in places {
        for canary in [CANARY_PATH, CANARY_SECRET] {
            let found = text.lines().find(|line| line.contains(canary));
            assert!(found.is_none(), "{canary} in {place}: {found:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_processes_the_one_that_had_it_turn_tells() {
    let (fake, hook) = (Fake::start().await, hook().await);
    let alerts = format!("[ {{ kind: webhook, url: '{}/x', debounce: 0s }} ]", hook.url());
    // Each has a vault of its own, in memory: the other's credential would be missing.
    let file = configuration(&fake, "", &alerts).replace("200ms", "2s");
    let file = file.replace(", credentials: [ { value: sk-of-the-upstream } ]", "");
    let database = Database::create().await;
    let one = Setup::new(&file).start_on(database.clone()).await;
    let two = Setup::new(&file).start_on(database).await;
    open(&fake, &one).await;
    until("the other process to hear of it", || async { two.health("a").await["state"] == "open" }).await;
    // An upstream that nobody wants is not looked at again.
    ask(&two).await;
    fake.behave();
    until("both to use it again", || async {
        one.health("a").await["state"] == "closed" && two.health("a").await["state"] == "closed"
    })
    .await;
    until("its recovery to be told", || async { kinds(&hook).contains(&"group_back".to_owned()) }).await;
    // Both may find out at the same moment that it is well; that it is out only the first one can.
    let seen = kinds(&hook);
    assert_eq!(seen[..2], ["upstream_opened", "group_down"]);
    assert_eq!(seen.iter().filter(|kind| ["upstream_opened", "group_down"].contains(&kind.as_str())).count(), 2);
    assert!(log(&two).await.iter().all(|d| d["kind"] != "upstream_opened"), "the other process did not tell it");
}
