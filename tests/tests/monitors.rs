//! Active monitoring: what is probed, how it is judged, and what people see of it.

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, until},
};
use reqwest::Method;
use serde_json::{Value, json};

async fn start(fake: &Fake, more: &str) -> Headgate {
    Headgate::start(&format!("{}{more}", Headgate::configuration_before(fake))).await
}

async fn monitors(headgate: &Headgate) -> Vec<Value> {
    headgate.admin(Method::GET, "/monitors", None).await["items"].as_array().unwrap().clone()
}

async fn make(headgate: &Headgate, models: &[&str], fields: Value) -> Vec<i64> {
    let upstream = headgate.admin(Method::GET, "/upstreams", None).await["items"][0]["id"].clone();
    let body = json!({"upstream": upstream, "models": models, "fields": fields});
    let made = headgate.admin(Method::POST, "/monitors", Some(body)).await;
    made["ids"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

async fn probe(headgate: &Headgate, id: i64) -> Value {
    headgate.admin(Method::POST, &format!("/monitors/{id}/probe"), None).await
}

#[tokio::test]
async fn a_configured_monitor_asks_by_itself_and_its_answers_are_kept() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "monitors: [ { upstream: a, model: m, interval: 5s, message: ping } ]\n").await;
    until("the first probe to be stored", || async { !monitors(&headgate).await[0]["strip"].is_null() }).await;
    let monitor = &monitors(&headgate).await[0];
    assert_eq!((&monitor["strip"]["ok"], &monitor["strip"]["last"]["class"]), (&json!(1), &json!("ok")), "{monitor}");
    assert_eq!(monitor["strip"]["cells"].as_array().unwrap().len(), 1);
    assert!(monitor["strip"]["ttft_ms"].is_i64(), "{monitor}");
    let asked = fake.last().json();
    assert_eq!(
        (&asked["stream"], &asked["messages"][0]["content"], &asked["max_tokens"]),
        (&json!(true), &json!("ping"), &json!(16))
    );
}

#[tokio::test]
async fn only_a_whole_answer_is_well_in_whatever_protocol_and_form() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    for (endpoint, stream) in [
        ("auto", true),
        ("/v1/messages", true),
        ("/v1/responses", true),
        ("/v1/chat/completions", false),
        ("/v1/messages", false),
        ("/v1/responses", false),
    ] {
        let model = format!("{endpoint} {stream}");
        let id = make(&headgate, &[&model], json!({"endpoint": endpoint, "stream": stream, "enabled": false})).await[0];
        fake.behave();
        let well = probe(&headgate, id).await;
        assert_eq!((&well["class"], &well["status"]), (&json!("ok"), &json!(200)), "{model} {well}");
        let cut = if stream { Point::BeforeCompletion } else { Point::Event(0) };
        for (behaviour, class) in [
            (Behaviour::status(500), "server"),
            (Behaviour::status(401), "credential"),
            (Behaviour { cut: Some(cut), ..Behaviour::default() }, "cut"),
            (
                Behaviour {
                    body: Some("<html>".into()),
                    content_type: Some("text/html".into()),
                    ..Behaviour::default()
                },
                "broken",
            ),
        ] {
            fake.always(behaviour);
            let bad = probe(&headgate, id).await;
            assert_eq!(bad["class"], class, "{model} {bad}");
            assert!(bad["error_text"].as_str().unwrap().len() > 5);
        }
    }
}

#[tokio::test]
async fn a_monitor_opens_the_breaker_and_what_is_found_while_it_is_open_changes_nothing() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "settings: { breaker_open: 1h, breaker_open_max: 1h }\n").await;
    let id = make(&headgate, &["m"], json!({"enabled": false})).await[0];
    fake.always(Behaviour::status(500));
    for _ in 0..3 {
        probe(&headgate, id).await;
    }
    assert_eq!(headgate.health("a").await["state"], "open");
    fake.behave();
    for _ in 0..3 {
        assert_eq!(probe(&headgate, id).await["class"], "ok");
    }
    assert_eq!(headgate.health("a").await["state"], "open");
}

#[tokio::test]
async fn monitors_are_made_for_many_models_changed_and_removed_with_their_revision() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    let ids = make(&headgate, &["one", "two"], json!({"interval": "10m"})).await;
    assert_eq!(ids.len(), 2);
    assert_eq!(make(&headgate, &["two", "three"], json!({})).await.len(), 1, "one is monitored already");
    until("new ones to be probed at once", || async { fake.seen().len() >= 3 }).await;
    let path = format!("/monitors/{}", ids[0]);
    let (status, wrong) = headgate.admin_raw(Method::PATCH, &path, Some(json!({"interval": "1s"}))).await;
    assert_eq!(status, 422, "{wrong}");
    assert!(wrong.to_string().contains("shorter than 5s"), "{wrong}");
    let (status, wrong) = headgate.admin_raw(Method::PATCH, &path, Some(json!({"endpoint": "/v2"}))).await;
    assert_eq!(status, 422, "{wrong}");
    headgate.admin(Method::PATCH, &path, Some(json!({"message": "hello", "enabled": false}))).await;
    let list = monitors(&headgate).await;
    let changed = list.iter().find(|m| m["id"] == ids[0]).unwrap();
    assert_eq!(
        (&changed["message"], &changed["active"], &changed["interval"]),
        (&json!("hello"), &json!(false), &json!("10m"))
    );
    let stale = json!({"message": "x", "revision": 1});
    assert_eq!(headgate.admin_raw(Method::PATCH, &path, Some(stale)).await.0, 409);
    headgate.admin(Method::DELETE, &path, None).await;
    assert_eq!(monitors(&headgate).await.len(), 2);
    assert_eq!(headgate.admin_raw(Method::POST, &format!("{path}/probe"), None).await.0, 404);
    for _ in 0..2 {
        headgate.admin(Method::POST, &format!("{path}/restore"), None).await;
    }
    let list = monitors(&headgate).await;
    let restored = list.iter().find(|m| m["id"] == ids[0]).unwrap();
    assert_eq!((&restored["message"], list.len()), (&json!("hello"), 3));
    assert!(restored["strip"].is_object(), "its probes are found again");
    assert_eq!(headgate.admin_raw(Method::POST, "/monitors/999999/restore", None).await.0, 404);
}

#[tokio::test]
async fn real_traffic_stands_beside_the_probes_of_the_same_model() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    make(&headgate, &["m"], json!({"enabled": false})).await;
    for _ in 0..3 {
        headgate.ask("/v1/messages", "m", true).send().await.unwrap().bytes().await.unwrap();
    }
    until("the records to be stored", || async { monitors(&headgate).await[0]["traffic"]["total"] == 3 }).await;
    let monitor = &monitors(&headgate).await[0];
    assert_eq!((&monitor["traffic"]["ok"], &monitor["strip"]), (&json!(3), &Value::Null));
}
