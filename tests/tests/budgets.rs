//! Budgets of access keys and groups: counted when attempts end, enforced before the next request, shared by processes.

use chrono::{Timelike as _, Utc};
use headgate_tests::{
    fake::Fake,
    harness::{Database, Headgate, KEY, PATHS, Setup, header, until},
};
use reqwest::{Method, Response};
use serde_json::{Value, json};

/// A request for it costs 0.0001299 USD.
const MODEL: &str = "claude-sonnet-4-5-20250929";

fn configuration(fake: &Fake, settings: &str, key: &str, group: &str) -> String {
    format!(
        "version: 1
settings: {{ {settings} }}
upstreams: [ {{ name: a, base_url: '{}' }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ]{group} }} ]
keys: [ {{ name: k, group: g, secret: {KEY}{key} }} ]
",
        fake.url()
    )
}

async fn ask(headgate: &Headgate, path: &str) -> Response {
    headgate.ask(path, MODEL, false).send().await.unwrap()
}

/// The first budget of the first key or group.
async fn state(headgate: &Headgate, what: &str) -> Value {
    headgate.admin(Method::GET, what, None).await["items"][0]["budget_state"][0].clone()
}

/// A zone in which it is another day than in UTC.
fn elsewhere() -> &'static str {
    if Utc::now().hour() < 11 { "Etc/GMT+12" } else { "Pacific/Kiritimati" }
}

async fn set_zone(headgate: &Headgate, zone: &str) {
    let revision = headgate.admin(Method::GET, "/settings", None).await["revision"].clone();
    headgate
        .admin(Method::PATCH, "/settings", Some(json!({"revision": revision, "values": {"time_zone": zone}})))
        .await;
}

#[tokio::test]
async fn a_key_is_refused_in_its_own_protocol_once_its_day_is_spent_and_served_again_the_next_day() {
    let fake = Fake::start().await;
    let file = configuration(&fake, "time_zone: UTC", ", budget: { day: 0.0002, month: 1 }", "");
    let headgate = Headgate::start(&file).await;
    for _ in 0..2 {
        assert_eq!(ask(&headgate, PATHS[2]).await.status(), 200);
    }
    let spent = state(&headgate, "/keys").await;
    assert_eq!(
        (&spent["span"], &spent["spent"], &spent["limit"]),
        (&"day".into(), &"0.0002598".into(), &"0.0002".into())
    );
    assert_eq!((&spent["share"], &spent["in_flight"], &spent["currency"]), (&1.299.into(), &0.into(), &"USD".into()));
    let resets_at = spent["resets_at"].as_str().unwrap().to_owned();
    assert!(resets_at.ends_with("T00:00:00Z"), "{spent}");
    let seen = fake.seen().len();
    for (path, kind) in PATHS.into_iter().zip(["insufficient_quota", "insufficient_quota", "billing_error"]) {
        let refused = ask(&headgate, path).await;
        assert_eq!((refused.status().as_u16(), header(&refused, "x-headgate-error")), (402, Some("budget_no_route")));
        assert_eq!(header(&refused, "x-headgate-retry-at"), Some(resets_at.as_str()));
        assert_eq!((header(&refused, "x-should-retry"), header(&refused, "retry-after")), (Some("false"), None));
        let id = header(&refused, "x-headgate-request-id").unwrap().to_owned();
        let body: Value = refused.json().await.unwrap();
        let message = body["error"]["message"].as_str().unwrap();
        let sentence = "access key 'k' has spent 0.00026 of its budget of 0.0002 USD for the day; it begins anew at ";
        assert!(message.contains(sentence) && message.contains(&resets_at), "{message}");
        assert_eq!(body["error"]["type"], kind, "{body}");
        let (record, attempts) = headgate.record(&id).await;
        assert_eq!((&record["error_kind"], attempts.len()), (&"budget_no_route".into(), 0), "{record:#}");
    }
    assert_eq!(fake.seen().len(), seen, "a refused request costs nothing");
    set_zone(&headgate, elsewhere()).await;
    assert_eq!(ask(&headgate, PATHS[2]).await.status(), 200, "another day has begun");
    assert_eq!(state(&headgate, "/keys").await["spent"], "0.0001299");
    set_zone(&headgate, "UTC").await;
    assert_eq!(ask(&headgate, PATHS[2]).await.status(), 402, "the first day is as it was");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_on_one_database_spend_one_budget_and_tell_of_each_share_once() {
    let (fake, hook) = (Fake::start().await, Fake::start().await);
    let mut file = configuration(&fake, "", "", ", budget: { total: 0.0005 }");
    file.push_str(&format!("alerts: [ {{ kind: webhook, url: '{}/hook', events: [budget] }} ]\n", hook.url()));
    let database = Database::create().await;
    let one = Setup::new(&file).start_on(database.clone()).await;
    let two = Setup::new(&file).start_on(database).await;
    for headgate in [&one, &two, &one, &two] {
        assert_eq!(ask(headgate, PATHS[0]).await.status(), 200);
    }
    for headgate in [&one, &two] {
        until("a process to know what both have spent", || async {
            state(headgate, "/groups").await["spent"] == "0.0005196"
        })
        .await;
        let refused = ask(headgate, PATHS[0]).await;
        assert_eq!((refused.status().as_u16(), header(&refused, "x-headgate-retry-at")), (402, None));
        let text = refused.text().await.unwrap();
        assert!(text.contains("group 'g' has spent 0.00052 of its budget of 0.0005 USD in total"), "{text}");
    }
    until("the alert", || async { hook.seen().iter().any(|seen| percent(&seen.body) == 100) }).await;
    // Everything has settled when both know that it was told.
    let told = "select count(*) from headgate.budget_counters where told = 100";
    assert_eq!(one.database.count(told).await, 1);
    let mut percents: Vec<i64> = hook.seen().iter().map(|seen| percent(&seen.body)).collect();
    percents.sort_unstable();
    percents.dedup();
    assert_eq!(percents.len(), hook.seen().len(), "each share once");
    let overview = one.admin(Method::GET, "/overview", None).await;
    let finding = &overview["findings"].as_array().unwrap().iter().find(|f| f["kind"] == "budget_spent").cloned();
    let finding = finding.as_ref().unwrap_or_else(|| panic!("{overview:#}"));
    assert_eq!(
        (&finding["name"], &finding["span"], &finding["owner"]),
        (&"g".into(), &"total".into(), &"group".into())
    );
}

fn percent(body: &[u8]) -> i64 {
    let document: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(document["kind"], "budget", "{document}");
    document["budget"]["percent"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_spent_outlives_the_process_and_is_enforced_while_the_database_is_away() {
    let fake = Fake::start().await;
    let file = configuration(&fake, "", ", budget: { total: 0.0003 }", "");
    let database = Database::create().await;
    let mut headgate = Setup::new(&file).start_on(database).await;
    assert_eq!(ask(&headgate, PATHS[0]).await.status(), 200);
    headgate.terminate().await;
    headgate.restart().await;
    assert_eq!(state(&headgate, "/keys").await["spent"], "0.0001299");
    // From here on it cannot count there.
    let lock = "alter table headgate.budget_counters rename to budget_counters_away";
    sqlx::query(lock).execute(&mut headgate.database.connect().await).await.unwrap();
    for status in [200, 200, 402] {
        assert_eq!(ask(&headgate, PATHS[0]).await.status(), status);
    }
    headgate.terminate().await;
    headgate.restart().await;
    assert_eq!(ask(&headgate, PATHS[0]).await.status(), 402, "the file knows what the database does not");
    let back = "alter table headgate.budget_counters_away rename to budget_counters";
    sqlx::query(back).execute(&mut headgate.database.connect().await).await.unwrap();
    let counted =
        "select to_jsonb(trim_scale(spent)) from headgate.budget_counters where owner = 'key' and span = 'total'";
    until("the counts to arrive", || async { headgate.database.rows(counted).await == [json!(0.0003897)] }).await;
    headgate.kill9().await;
    headgate.restart().await;
    assert_eq!(state(&headgate, "/keys").await["spent"], "0.0003897", "nothing is counted twice");
}
