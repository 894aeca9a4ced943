//! Single charges of a relay against our own requests, and the file that proves what was found.

use headgate_tests::{
    fake::{Fake, Rule, Seen, relay},
    harness::{Headgate, KEY, PATHS, Setup, until},
};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const MODEL: &str = "gpt-4o";

async fn start(relay: &Fake, billing: &str) -> Headgate {
    let file = format!(
        "version: 1
upstreams:
  - {{ name: a, base_url: '{}', protocol: openai, credentials: [ {{ env: CHARGES_A }} ], billing: {{ kind: newapi{billing} }} }}
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        relay.url()
    );
    let headgate = Setup::new(&file).env("CHARGES_A", "sk-a").start().await;
    until("the first collection", || async { account(&headgate).await["collected_at"].is_string() }).await;
    headgate
}

async fn account(headgate: &Headgate) -> Value {
    headgate.admin(Method::GET, "/upstreams", None).await["items"][0]["account"].clone()
}

async fn id(headgate: &Headgate) -> Value {
    headgate.admin(Method::GET, "/upstreams", None).await["items"][0]["id"].clone()
}

fn script(relay: &Fake, used: f64, rows: &[Value]) {
    #[expect(clippy::cast_possible_truncation, reason = "a few units")]
    let used = used as i64;
    relay.script(relay::newapi_log(5_000_000, used, 0.5, &json!(rows)).into_iter().chain([Rule::default()]));
}

/// Asks once; gives the attempt as it was recorded.
async fn ask(headgate: &Headgate) -> Value {
    let response = headgate.ask(PATHS[0], MODEL, false).send().await.unwrap();
    let (_, mut attempts) = headgate.record_of(&response).await;
    attempts.remove(0)
}

/// The row of a request at `times` our list price and the ratio 0.5.
fn row(attempt: &Value, times: f64) -> Value {
    let ended: chrono::DateTime<chrono::Utc> = attempt["completed_at"].as_str().unwrap().parse().unwrap();
    let number = |field: &str| attempt[field].as_f64().unwrap();
    let count = |field: &str| attempt[field].as_u64().unwrap();
    let list = (number("tokens_fresh") * 2.5 + number("tokens_read") * 1.25 + number("tokens_output") * 10.0) / 1e6;
    let other = json!({"group_ratio": 0.5, "cache_tokens": attempt["tokens_read"]}).to_string();
    json!({"type": 2, "created_at": ended.timestamp(), "model_name": MODEL, "quota": list * times * 250_000.0,
        "prompt_tokens": count("tokens_fresh") + count("tokens_read"), "completion_tokens": attempt["tokens_output"],
        "use_time": 1, "group": "vip", "token_name": "t", "other": other})
}

fn elsewhere(attempt: &Value) -> Value {
    let mut row = row(attempt, 1.0);
    row["model_name"] = "another-model".into();
    row["token_name"] = "somebody-else".into();
    row
}

async fn refresh(headgate: &Headgate) -> Value {
    let path = format!("/upstreams/{}/billing/refresh", id(headgate).await);
    headgate.admin(Method::POST, &path, None).await
}

async fn charges(headgate: &Headgate, query: &str) -> Value {
    let path = format!("/costs/{}/charges?window=1h{query}", id(headgate).await);
    headgate.admin(Method::GET, &path, None).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_charge_finds_its_request_and_what_is_left_over_is_named() {
    let relay = Fake::start().await;
    script(&relay, 0.0, &[]);
    let headgate = start(&relay, "").await;
    let empty = charges(&headgate, "").await;
    assert_eq!((&empty["compared"], &empty["total"]), (&Value::Null, &0.into()));
    let (one, two, three) = (ask(&headgate).await, ask(&headgate).await, ask(&headgate).await);
    // The third is not charged, and somebody else has used the account.
    let rows = [elsewhere(&two), row(&two, 10.0), row(&one, 1.0)];
    script(&relay, rows[1]["quota"].as_f64().unwrap() + rows[2]["quota"].as_f64().unwrap(), &rows);
    let told = refresh(&headgate).await;
    assert_eq!(told["state"], "ok", "{told:#}");
    let found = charges(&headgate, "").await;
    let sums = &found["sums"];
    let counts = [&sums["matched"], &sums["differing"], &sums["ours"], &sums["theirs"]];
    assert_eq!(counts, [&json!(2), &json!(1), &json!(1), &json!(1)], "{found:#}");
    assert_eq!(sums["differences"], json!([["list_exceeded", 1]]));
    let differing = charges(&headgate, "&which=differing").await;
    // Of equal requests in one second it cannot be told which is which.
    let charged = [&one["request_id"], &two["request_id"]];
    assert!(charged.contains(&&differing["items"][0]["request"]["id"]), "{differing:#}");
    assert_eq!(differing["items"][0]["by"], "tokens");
    let ours = charges(&headgate, "&which=ours").await;
    assert_eq!(ours["items"][0]["request"]["id"], three["request_id"]);
    let theirs = charges(&headgate, "&which=theirs&per_page=1&page=1").await;
    assert_eq!((&theirs["items"][0]["charge"]["key"], &theirs["total"]), (&"somebody-else".into(), &1.into()));

    // List prices follow from the rows of the key alone, so that the bill is compared with what is stated.
    let costs = headgate.admin(Method::GET, &format!("/costs/{}", id(&headgate).await), None).await;
    let hour = &costs["windows"][0]["comparison"];
    assert_eq!(hour["billing"]["basis"], "reported", "{hour:#}");
    // Told again, a charge is the same charge.
    refresh(&headgate).await;
    assert_eq!(charges(&headgate, "").await["sums"], found["sums"]);
    let tokens = |seen: &Seen| seen.path.starts_with("/api/usage/token") || seen.path.starts_with("/api/log/token");
    assert!(relay.seen().iter().filter(|seen| tokens(seen)).count() <= 6);
}

#[tokio::test]
async fn an_access_token_reads_the_accounts_own_log_and_is_shown_to_nobody() {
    let relay = Fake::start().await;
    script(&relay, 0.0, &[]);
    let headgate = start(&relay, ", access_token: canary-token-77, user_id: 7").await;
    let one = ask(&headgate).await;
    script(&relay, 100.0, &[row(&one, 1.0)]);
    refresh(&headgate).await;
    assert_eq!(charges(&headgate, "").await["sums"]["matched"], 1);
    let asked = relay.seen();
    let own = asked.iter().find(|seen| seen.path == "/api/log/self").expect("the account's log");
    assert_eq!((own.header("authorization"), own.header("new-api-user")), (Some("canary-token-77"), Some("7")));
    assert!(own.query.as_deref().is_some_and(|query| query.contains("start_timestamp=")));
    assert!(asked.iter().all(|seen| seen.path != "/api/log/token"));
    let shown = headgate.admin(Method::GET, "/upstreams", None).await;
    assert_eq!(shown["items"][0]["billing"]["access_token"], "***");
    assert!(!shown.to_string().contains("canary-token-77") && !headgate.log().contains("canary-token-77"));
}

/// Keys in order, without white space.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| key.as_str());
            let fields: Vec<String> =
                fields.into_iter().map(|(key, value)| format!("{}:{}", json!(key), canonical(value))).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn evidence_has_the_ids_of_both_sides_and_a_checksum_that_can_be_verified() {
    let relay = Fake::start().await;
    script(&relay, 0.0, &[]);
    let headgate = start(&relay, "").await;
    let one = ask(&headgate).await;
    let mut charged = row(&one, 1.0);
    charged["request_id"] = "=theirs-1".into();
    script(&relay, 100.0, &[charged]);
    refresh(&headgate).await;
    let file = |format: &str, id: &Value| {
        let url = format!("{}/admin/v1/costs/{id}/evidence?window=24h&format={format}", headgate.url);
        let request = reqwest::Client::new().get(url).bearer_auth(headgate.admin_token());
        async move {
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let sum = answer.headers()["x-headgate-checksum"].to_str().unwrap().to_owned();
            (sum, answer.text().await.unwrap())
        }
    };
    let id = id(&headgate).await;
    let (sum, text) = file("json", &id).await;
    let document: Value = serde_json::from_str(&text).unwrap();
    let content = &document["content"];
    assert_eq!(document["sha256"], sha256(canonical(content).as_bytes()), "{content:#}");
    assert_eq!(sum, format!("sha256:{}", document["sha256"].as_str().unwrap()));
    assert_eq!((&content["upstream"], &content["window"]), (&"a".into(), &"24h".into()));
    assert_eq!(content["snapshots"].as_array().unwrap().len(), 2);
    let pair = &content["pairs"][0];
    assert_eq!((&pair["request"]["id"], &pair["charge"]["request_id"]), (&one["request_id"], &"=theirs-1".into()));
    assert_eq!(pair["request"]["price_entry"], MODEL);
    assert!(content["comparison"]["status"].is_string());

    let (sum, text) = file("csv", &id).await;
    let (lines, last) = text.trim_end().rsplit_once('\n').unwrap();
    let told = last.rsplit_once(' ').unwrap().1;
    assert_eq!(told, sha256(format!("{lines}\n").as_bytes()));
    assert_eq!(sum, format!("sha256:{told}"));
    assert!(lines.contains(one["request_id"].as_str().unwrap()) && lines.contains("'=theirs-1"), "{lines}");
    let (status, _) = headgate.admin_raw(Method::GET, "/costs/999/evidence", None).await;
    assert_eq!(status, 404);
    let (status, _) = headgate.admin_raw(Method::GET, &format!("/costs/{id}/evidence?window=2y"), None).await;
    assert_eq!(status, 400);
}
