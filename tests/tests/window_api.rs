//! What the window asks for beyond single objects: sessions, the overview, batches, detection, tests, files, the log.

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, until},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn start(fakes: &[&Fake]) -> Headgate {
    let names: Vec<(usize, &&Fake)> = fakes.iter().enumerate().collect();
    let upstreams: Vec<String> =
        names.iter().map(|(n, f)| format!("{{ name: u{n}, base_url: '{}' }}", f.url())).collect();
    let members: Vec<String> =
        names.iter().map(|(n, _)| format!("{{ upstream: u{n}, priority: {} }}", n + 1)).collect();
    Headgate::start(&format!(
        "version: 1\nsettings: {{ breaker_failures: 1, breaker_open: 1h, breaker_open_max: 2h }}\nupstreams: [ {} ]\n\
         groups: [ {{ name: g, members: [ {} ] }} ]\nkeys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        upstreams.join(", "),
        members.join(", ")
    ))
    .await
}

/// The steps of a streamed test.
fn steps(text: &str) -> Vec<Value> {
    text.lines().filter_map(|l| l.strip_prefix("data: ")).map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_signs_in_with_the_admin_token_and_works_with_a_session() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake]).await;
    let sign_in = |token: String| {
        headgate.client.post(format!("{}/admin/v1/session", headgate.url)).json(&json!({"token": token})).send()
    };
    let wrong = sign_in("no".to_owned()).await.unwrap();
    assert_eq!(wrong.status(), 401);
    assert_eq!(wrong.json::<Value>().await.unwrap()["error"]["field"], "token");
    let session: Value = sign_in(headgate.admin_token()).await.unwrap().json().await.unwrap();
    let token = session["token"].as_str().unwrap();
    assert!(token.starts_with("hs-") && session["expires_at"].is_string());
    let status = headgate.client.get(format!("{}/admin/v1/status", headgate.url));
    assert_eq!(status.bearer_auth(token).send().await.unwrap().status(), 200);
    let other = headgate.client.get(format!("{}/admin/v1/status", headgate.url)).bearer_auth("hs-no");
    assert_eq!(other.send().await.unwrap().status(), 401);
    // What changes is kept under the name of who changed it.
    let body = json!({"name": "made", "base_url": fake.url()});
    let change = headgate.client.post(format!("{}/admin/v1/upstreams", headgate.url)).bearer_auth(token).json(&body);
    assert_eq!(change.send().await.unwrap().status(), 200);
    headgate.admin(Method::POST, "/upstreams", Some(json!({"name": "also made", "base_url": fake.url()}))).await;
    let revisions = headgate.admin(Method::GET, "/revisions", None).await;
    let authors: Vec<&Value> = revisions["items"].as_array().unwrap().iter().map(|r| &r["author"]).collect();
    assert_eq!(authors[..3], ["admin api", "browser", "first start"]);
    // The pages themselves need none, and no other site may frame or reach them.
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let root = client.get(&headgate.url).send().await.unwrap();
    assert_eq!((root.status(), root.headers()["location"].as_bytes()), (StatusCode::FOUND, &b"/ui/"[..]));
    let foreign = client.get(format!("{}/ui/", headgate.url)).header("origin", "https://evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_overview_says_what_is_wrong_and_who_carries_the_load() {
    let (first, second) = (Fake::start().await, Fake::start().await);
    let mut headgate = start(&[&first, &second]).await;
    let (_, healthy) = headgate.admin_raw(Method::GET, "/overview", None).await;
    assert_eq!(
        (&healthy["status"], healthy["findings"].as_array().unwrap().len()),
        (&json!("healthy"), 0),
        "{healthy}"
    );
    first.always(Behaviour { status: Some(500), ..Behaviour::default() });
    for path in PATHS {
        assert_eq!(headgate.ask(path, "m", false).send().await.unwrap().status(), 200);
    }
    until("the records to be stored", || async {
        headgate.database.count("select count(*) from headgate.requests").await == 3
    })
    .await;
    let (_, degraded) = headgate.admin_raw(Method::GET, "/overview", None).await;
    assert_eq!(degraded["status"], "degraded");
    let finding = &degraded["findings"][0];
    assert_eq!((&finding["kind"], &finding["out"], &finding["of"]), (&json!("group_degraded"), &json!(1), &json!(2)));
    assert!(finding["remaining_ms"].as_u64().unwrap() > 1_000_000);
    let members = degraded["groups"][0]["members"].as_array().unwrap();
    assert_eq!((&members[0]["condition"]["state"], &members[0]["share"]), (&json!("cooling"), &json!(0.0)));
    assert_eq!((&members[1]["condition"]["state"], &members[1]["share"]), (&json!("healthy"), &json!(1.0)));
    assert_eq!((&degraded["day"]["total"], &degraded["requests_per_minute"]), (&json!(3), &json!(3)));
    assert_eq!(degraded["incidents"][0]["kind"], "opened");
    let (_, usage) = headgate.admin_raw(Method::GET, "/keys/usage", None).await;
    let used = usage["items"].as_array().unwrap();
    assert_eq!(used.len(), 1, "{usage}");
    assert!(used[0]["at"].is_string() && used[0]["key"].is_i64());
    let (_, series) = headgate.admin_raw(Method::GET, "/overview/series", None).await;
    let points = series["points"].as_array().unwrap();
    assert_eq!((points.len(), &series["step_ms"]), (96, &json!(900_000)));
    // Near the end of a quarter of an hour they may be in the last two.
    let sum = |name: &str| points.iter().rev().take(2).map(|p| p[name].as_i64().unwrap()).sum::<i64>();
    assert_eq!((sum("requests"), sum("failed")), (3, 0), "{series}");
    second.always(Behaviour { status: Some(500), ..Behaviour::default() });
    headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    let (_, down) = headgate.admin_raw(Method::GET, "/overview", None).await;
    assert_eq!((&down["status"], &down["findings"][0]["kind"]), (&json!("down"), &json!("group_down")), "{down}");
    // What has happened is still told after a restart.
    headgate.terminate().await;
    let told = down["incidents"].as_array().unwrap().len();
    headgate.restart().await;
    let (_, after) = headgate.admin_raw(Method::GET, "/overview", None).await;
    assert_eq!(after["incidents"].as_array().unwrap().len(), told, "{after}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_upstreams_are_changed_in_one_revision_or_not_at_all() {
    let (first, second) = (Fake::start().await, Fake::start().await);
    let headgate = start(&[&first, &second]).await;
    let (_, list) = headgate.admin_raw(Method::GET, "/upstreams", None).await;
    let ids: Vec<i64> = list["items"].as_array().unwrap().iter().map(|u| u["id"].as_i64().unwrap()).collect();
    let batch = async |body: Value| headgate.admin_raw(Method::POST, "/upstreams/batch", Some(body)).await;
    let (status, before) = batch(json!({"ids": ids, "action": "tag", "main": "relay", "labels": ["cheap"]})).await;
    assert_eq!(status, 200, "{before}");
    let (_, tags) = headgate.admin_raw(Method::GET, "/tags", None).await;
    assert_eq!(tags["items"], json!([{"name":"cheap","main":0,"label":2},{"name":"relay","main":2,"label":0}]));
    let (status, _) = batch(json!({"ids": [ids[0], 99], "action": "disable"})).await;
    assert_eq!(status, 404);
    let (_, untouched) = headgate.admin_raw(Method::GET, "/upstreams?enabled=false", None).await;
    assert_eq!(untouched["items"].as_array().unwrap().len(), 0);
    let (_, done) = batch(json!({"ids": ids, "action": "disable"})).await;
    assert_eq!(done["revision"].as_i64().unwrap(), before["revision"].as_i64().unwrap() + 1);
    let (_, off) = headgate.admin_raw(Method::GET, "/upstreams?enabled=false", None).await;
    assert_eq!(off["items"][1]["condition"]["state"], "off");
    batch(json!({"ids": ids, "action": "untag", "labels": ["cheap"]})).await;
    batch(json!({"ids": ids, "action": "delete"})).await;
    let (_, none) = headgate.admin_raw(Method::GET, "/upstreams", None).await;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_upstream_speaks_is_found_out_before_it_is_saved() {
    let fake = Fake::start().await;
    let headgate = start(&[]).await;
    let detect = async |body: Value| headgate.admin_raw(Method::POST, "/upstreams/detect", Some(body)).await;
    let (_, found) = detect(json!({"base_url": fake.url(), "credential": "secret-credential"})).await;
    assert_eq!(
        (&found["reachable"], &found["suggestion"]["protocol"]),
        (&json!(true), &json!("passthrough")),
        "{found}"
    );
    assert!(!found["models"].as_array().unwrap().is_empty() && found["error"].is_null());
    assert!(found["protocols"].as_array().unwrap().iter().all(|p| p["ok"] == true && p["ttft_ms"].is_number()));
    fake.always(Behaviour { status: Some(401), ..Behaviour::default() });
    let (_, refused) = detect(json!({"base_url": fake.url(), "credential": "secret-credential"})).await;
    assert!(refused["suggestion"].is_null() && refused["error"].is_string(), "{refused}");
    assert!(!refused.to_string().contains("secret-credential"));
    let (_, nobody) = detect(json!({"base_url": "http://127.0.0.1:9"})).await;
    assert_eq!(
        (&nobody["reachable"], &nobody["protocols"][0]["class"]),
        (&json!(false), &json!("connect")),
        "{nobody}"
    );
    for (body, field) in [
        (json!({"base_url": "http://169.254.169.254"}), "base_url"),
        (json!({"base_url": "http://example.com"}), "base_url"),
        (json!({"base_url": "https://example.com", "proxy": "ftp://x"}), "proxy"),
        (json!({"base_url": "https://example.com", "credential": "a\nb"}), "credential"),
    ] {
        let (status, error) = detect(body.clone()).await;
        assert_eq!((status, &error["error"]["field"]), (400, &json!(field)), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_is_tested_by_the_way_every_request_takes() {
    let (first, second) = (Fake::start().await, Fake::start().await);
    let headgate = start(&[&first, &second]).await;
    first.always(Behaviour { status: Some(500), ..Behaviour::default() });
    let (_, groups) = headgate.admin_raw(Method::GET, "/groups", None).await;
    let group = groups["items"][0]["id"].as_i64().unwrap();
    let test = async |body: Value| {
        let url = format!("{}/admin/v1/groups/{group}/test", headgate.url);
        let request = headgate.client.post(url).bearer_auth(headgate.admin_token()).json(&body);
        steps(&request.send().await.unwrap().text().await.unwrap())
    };
    let told = test(json!({"model": "m", "protocol": "claude"})).await;
    assert_eq!((&told[0]["type"], &told[0]["protocol"]), (&json!("started"), &json!("claude")), "{told:?}");
    assert!(told.iter().any(|s| s["type"] == "content"));
    let last = told.last().unwrap();
    assert_eq!((&last["ok"], &last["upstream"], &last["attempts"]), (&json!(true), &json!("u1"), &json!(2)), "{last}");
    let (request, attempts) = headgate.database.record(last["request_id"].as_str().unwrap()).await;
    assert_eq!((&request["client"], &request["key_name"], attempts.len()), (&json!("headgate"), &json!("Headgate"), 2));
    second.always(Behaviour { status: Some(500), ..Behaviour::default() });
    let failed = test(json!({"model": "m"})).await;
    let last = failed.last().unwrap();
    assert_eq!(last["ok"], false);
    assert!(last["error"].as_str().is_some_and(|e| !e.is_empty()) && last["kind"].is_string(), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_exported_as_a_table_and_as_lines_and_the_log_can_be_read() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake]).await;
    for (n, path) in PATHS.into_iter().enumerate() {
        assert_eq!(headgate.ask(path, &format!("=m{n}"), false).send().await.unwrap().status(), 200);
    }
    until("the records to be stored", || async {
        headgate.database.count("select count(*) from headgate.requests").await == 3
    })
    .await;
    let get = async |query: &str| {
        let url = format!("{}/admin/v1/requests/export{query}", headgate.url);
        headgate.client.get(url).bearer_auth(headgate.admin_token()).send().await.unwrap()
    };
    let table = get("?format=csv&protocol=chat").await;
    assert!(table.headers()["content-disposition"].to_str().unwrap().contains("requests.csv"));
    let table = table.text().await.unwrap();
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.starts_with("started_at,id,") && table.contains(",'=m0,"), "{table}");
    let lines = get("?format=json").await.text().await.unwrap();
    assert_eq!(lines.lines().filter(|l| serde_json::from_str::<Value>(l).unwrap()["route"].is_array()).count(), 3);
    assert_eq!(get("?status=nonsense").await.status(), 400);
    let (_, log) = headgate.admin_raw(Method::GET, "/logs", None).await;
    let number = log["items"].as_array().unwrap().last().unwrap()["number"].as_u64().unwrap();
    let (_, rest) = headgate.admin_raw(Method::GET, &format!("/logs?after={number}"), None).await;
    assert_eq!(rest["items"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_gateway_says_so_and_goes_on_when_resumed() {
    let fake = Fake::start().await;
    let headgate = start(&[&fake]).await;
    headgate.admin(Method::PUT, "/paused", Some(json!({"paused": true}))).await;
    for path in PATHS {
        let refused = headgate.ask(path, "m", false).send().await.unwrap();
        assert_eq!(refused.status(), 503);
        assert!(refused.text().await.unwrap().contains("paused"));
    }
    assert_eq!(headgate.admin(Method::GET, "/status", None).await["paused"], true);
    assert_eq!(headgate.admin(Method::GET, "/overview", None).await["status"], "stopped");
    headgate.admin(Method::PUT, "/paused", Some(json!({"paused": false}))).await;
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
}
