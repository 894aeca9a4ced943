//! The admin API and the commands that speak to it.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use headgate_tests::{
    fake::Fake,
    harness::{Database, Headgate, KEY, PATHS, Setup, header, program, until},
};
use reqwest::Method;
use serde_json::{Value, json};

fn configuration(fake: &Fake) -> String {
    format!(
        "version: 1\nupstreams: [ {{ name: a, base_url: '{}' }} ]\ngroups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]\n\
         keys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        fake.url()
    )
}

fn command(headgate: &Headgate, words: &[&str]) -> (bool, String) {
    let output = Command::new(program()).args(words).arg("--data-dir").arg(headgate.data_dir()).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_checked_applied_and_exported_by_commands() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let (ok, export) = command(&headgate, &["export"]);
    assert!(ok && export.contains("name: a") && !export.contains(KEY), "{export}");
    let file = headgate.data_dir().join("new.yaml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, export.replace("priority: 50", "priority: 7")).unwrap();
    let (ok, text) = command(&headgate, &["apply", path, "--dry-run"]);
    assert!(ok && text.contains("members[0].priority: 50 -> 7") && text.contains("dry run"), "{text}");
    let (ok, text) = command(&headgate, &["apply", path, "--expect-revision", "99"]);
    assert!(!ok && text.contains("changed meanwhile"), "{text}");
    let (ok, text) = command(&headgate, &["apply", path]);
    assert!(ok && text.contains("applied as revision"), "{text}");
    let (ok, text) = command(&headgate, &["apply", path]);
    assert!(ok && text.contains("nothing to change"), "{text}");
    std::fs::write(&file, "version: 1\nupstreams: [ { name: z, base_url: 'http://169.254.169.254' } ]\n").unwrap();
    let (ok, text) = command(&headgate, &["apply", path]);
    assert!(!ok && text.contains("upstreams[z].base_url"), "{text}");
    let own = format!("version: 1\nupstreams: [ {{ name: me, base_url: '{}' }} ]\n", headgate.url);
    std::fs::write(&file, own).unwrap();
    let (ok, text) = command(&headgate, &["apply", path]);
    assert!(!ok && text.contains("leads back to this gateway"), "{text}");
    let checked = Command::new(program()).args(["check", path]).output().unwrap();
    assert!(checked.status.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_made_changed_removed_and_brought_back() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let made = headgate
        .admin(
            Method::POST,
            "/upstreams",
            Some(json!({"name":"b","base_url":fake.url(),"protocol":"claude","credentials":[{"value":"sk-one-secret-0001"}]})),
        )
        .await;
    let id = made["id"].as_i64().unwrap();
    let read = headgate.admin(Method::GET, &format!("/upstreams/{id}"), None).await;
    assert_eq!(
        (&read["credentials"][0]["hint"], &read["credentials"][0]["missing"]),
        (&"0001".into(), &false.into()),
        "{read}"
    );
    let revision = read["revision"].clone();
    // A change names the state it was made from.
    let path = format!("/upstreams/{id}");
    let (status, _) = headgate.admin_raw(Method::PATCH, &path, Some(json!({"region":"eu"}))).await;
    assert_eq!(status, 400);
    let changed =
        headgate.admin(Method::PATCH, &path, Some(json!({"revision":revision,"name":"bee","region":"eu"}))).await;
    let (status, conflict) =
        headgate.admin_raw(Method::PATCH, &path, Some(json!({"revision":revision,"region":"us"}))).await;
    assert_eq!((status, &conflict["error"]["code"]), (409, &"revision_conflict".into()), "{conflict}");
    assert_eq!(conflict["error"]["current"]["object"]["region"], "eu", "{conflict}");
    let read = headgate.admin(Method::GET, &path, None).await;
    assert_eq!((&read["name"], &read["credentials"][0]["missing"]), (&"bee".into(), &false.into()), "{read}");
    // Into the group, removed, and back with its membership.
    let groups = headgate.admin(Method::GET, "/groups", None).await;
    let group = groups["items"][0]["id"].as_i64().unwrap();
    headgate
        .admin(Method::PUT, &format!("/groups/{group}/members"), Some(json!({"upstream":"bee","priority":3})))
        .await;
    headgate.admin(Method::DELETE, &path, None).await;
    let members = |list: &Value| list["items"].as_array().unwrap().len();
    let list = headgate.admin(Method::GET, &format!("/groups/{group}/members"), None).await;
    assert_eq!(members(&list), 1);
    headgate.admin(Method::POST, &format!("{path}/restore"), None).await;
    let list = headgate.admin(Method::GET, &format!("/groups/{group}/members"), None).await;
    assert_eq!(members(&list), 2, "{list}");
    // A group that a key uses stays.
    let (status, refused) = headgate.admin_raw(Method::DELETE, &format!("/groups/{group}"), None).await;
    assert_eq!(status, 422, "{refused}");
    // Going back undoes all of it.
    let before = changed["revision"].as_i64().unwrap() - 2;
    let back = headgate.admin(Method::POST, &format!("/revisions/{before}/roll-back"), None).await;
    assert!(
        back["changes"].as_array().unwrap().iter().any(|c| c["name"] == "bee" && c["action"] == "delete"),
        "{back}"
    );
    let upstreams = headgate.admin(Method::GET, "/upstreams", None).await;
    assert_eq!(members(&upstreams), 1);
    let diff = headgate.admin(Method::GET, &format!("/revisions/{}/diff", back["revision"]), None).await;
    assert_eq!(diff["changes"], back["changes"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_group_or_key_comes_back_alone_and_later_changes_stay() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let keys = headgate.admin(Method::GET, "/keys", None).await;
    let groups = headgate.admin(Method::GET, "/groups", None).await;
    let key = format!("/keys/{}", keys["items"][0]["id"]);
    let group = format!("/groups/{}", groups["items"][0]["id"]);
    headgate.admin(Method::DELETE, &key, None).await;
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 401);
    headgate.admin(Method::DELETE, &group, None).await;
    // A key does not come back without its group.
    let (status, refused) = headgate.admin_raw(Method::POST, &format!("{key}/restore"), None).await;
    assert_eq!(status, 422, "{refused}");
    // What was changed since stays.
    headgate.admin(Method::POST, "/groups", Some(json!({"name": "later", "members": []}))).await;
    headgate.admin(Method::POST, &format!("{group}/restore"), None).await;
    headgate.admin(Method::POST, &format!("{key}/restore"), None).await;
    let now = headgate.admin(Method::GET, "/groups", None).await;
    let names: Vec<&str> = now["items"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2, "{now}");
    assert!(names.contains(&"later"));
    let back = headgate.admin(Method::GET, &group, None).await;
    assert_eq!(back["members"], groups["items"][0]["members"]);
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    // Its name may have been taken since.
    headgate.admin(Method::DELETE, &key, None).await;
    let name = keys["items"][0]["name"].as_str().unwrap();
    headgate.admin(Method::POST, "/keys", Some(json!({"name": name, "group": "later"}))).await;
    let (status, refused) = headgate.admin_raw(Method::POST, &format!("{key}/restore"), None).await;
    assert_eq!(status, 422, "{refused}");
    let (status, _) = headgate.admin_raw(Method::POST, "/keys/999999/restore", None).await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_key_works_at_once_and_the_old_one_no_more() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let keys = headgate.admin(Method::GET, "/keys", None).await;
    let id = keys["items"][0]["id"].as_i64().unwrap();
    let rotated = headgate.admin(Method::POST, &format!("/keys/{id}/rotate"), None).await;
    let secret = rotated["new_key"]["secret"].as_str().unwrap();
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 401);
    let url = format!("{}/v1/models", headgate.url);
    assert_eq!(headgate.client.get(url).bearer_auth(secret).send().await.unwrap().status(), 200);
    // An admin token opens no client route, an access key no admin route.
    let url = format!("{}/v1/models", headgate.url);
    assert_eq!(headgate.client.get(url).bearer_auth(headgate.admin_token()).send().await.unwrap().status(), 401);
    let url = format!("{}/admin/v1/status", headgate.url);
    assert_eq!(headgate.client.get(url).bearer_auth(secret).send().await.unwrap().status(), 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_reaches_another_process_on_the_same_database_within_a_tenth_of_a_second() {
    let fake = Fake::start().await;
    let database = Database::create().await;
    let one = Setup::new(&configuration(&fake)).start_on(database.clone()).await;
    let two = Setup::new(&configuration(&fake)).start_on(database).await;
    assert_eq!(two.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    let mut slowest = Duration::ZERO;
    for n in 0..5 {
        let saved = one
            .admin(Method::POST, "/upstreams", Some(json!({"name":format!("u{n}"),"base_url":"https://u.example"})))
            .await;
        let begin = Instant::now();
        until("the other process to hear of it", || async {
            two.admin(Method::GET, "/status", None).await["revision"].as_i64() >= saved["revision"].as_i64()
        })
        .await;
        slowest = slowest.max(begin.elapsed());
    }
    assert!(slowest < Duration::from_millis(500), "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_description_of_the_api_lists_its_routes_and_explains_a_route() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let document = headgate.admin(Method::GET, "/openapi.json", None).await;
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    for path in [
        "/status",
        "/upstreams",
        "/upstreams/{id}/test",
        "/groups/{id}/members",
        "/keys",
        "/requests/{id}",
        "/settings",
        "/revisions",
        "/apply",
        "/export",
        "/explain",
        "/events",
    ] {
        assert!(paths.iter().any(|p| *p == path), "{path} in {paths:?}");
    }
    let groups = headgate.admin(Method::GET, "/groups", None).await;
    let group = &groups["items"][0]["id"];
    let explained = headgate.admin(Method::GET, &format!("/explain?group={group}&model=m&protocol=claude"), None).await;
    assert_eq!(explained["candidates"][0]["reason"], "chosen", "{explained}");
    let settings = headgate.admin(Method::GET, "/settings", None).await;
    let patch = json!({"revision":settings["revision"],"values":{"max_attempts":5}});
    let changed = headgate.admin(Method::PATCH, "/settings", Some(patch)).await;
    assert_eq!(changed["values"]["max_attempts"], 5);
    let patch = json!({"revision":changed["revision"],"values":{"max_attempts":50}});
    let (status, refused) = headgate.admin_raw(Method::PATCH, "/settings", Some(patch)).await;
    assert_eq!((status, &refused["error"]["field"]), (422, &"settings.max_attempts".into()), "{refused}");
    let (status, missing) = headgate.admin_raw(Method::GET, "/nothing", None).await;
    assert_eq!((status, &missing["error"]["code"]), (404, &"not_found".into()), "{missing}");
}

#[tokio::test]
async fn figures_for_prometheus_count_what_was_asked_and_name_no_model_or_client() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    fake.script([headgate_tests::fake::Rule::model("wrong", headgate_tests::fake::Behaviour::status(400))]);
    for (model, stream) in [("secret-model", false), ("secret-model", true), ("wrong", false)] {
        headgate.ask("/v1/messages", model, stream).send().await.unwrap().bytes().await.unwrap();
    }
    let url = format!("{}/admin/v1/metrics", headgate.url);
    assert_eq!(headgate.client.get(&url).send().await.unwrap().status(), 401);
    let answer = headgate.client.get(&url).bearer_auth(headgate.admin_token()).send().await.unwrap();
    assert!(header(&answer, "content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = answer.text().await.unwrap();
    for line in [
        "headgate_requests_total{outcome=\"success\",protocol=\"claude\"} 2",
        "headgate_requests_total{outcome=\"client_error\",protocol=\"claude\"} 1",
        "headgate_attempts_total{upstream=\"a\",result=\"success\"} 2",
        "headgate_request_duration_seconds_count{outcome=\"success\",protocol=\"claude\"} 2",
        "headgate_attempt_ttft_seconds_count{upstream=\"a\"} 1",
        "headgate_requests_in_flight 0",
        "headgate_breaker_state{upstream=\"a\"} 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("headgate_tokens_total{upstream=\"a\",kind=\"output\"}"), "{text}");
    assert!(!text.contains("secret-model") && text.ends_with("# EOF\n"), "{text}");
}
