//! `/v1/models` and `count_tokens`.

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{Headgate, KEY, question},
};
use serde_json::Value;

async fn start(a: &Fake, b: &Fake) -> Headgate {
    Headgate::start(&format!(
        "version: 1
upstreams:
  - {{ name: a, base_url: '{}', models: {{ allow: ['claude-*', 'literal'], map: {{ mapped: sent }} }} }}
  - {{ name: b, base_url: '{}', limits: {{ concurrency: 1 }} }}
  - {{ name: idle, base_url: '{}', enabled: false, models: {{ allow: [hidden] }} }}
groups:
  - {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }}, {{ upstream: idle }} ] }}
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        a.url(),
        b.url(),
        b.url()
    ))
    .await
}

async fn ids(headgate: &Headgate, anthropic: bool) -> Vec<String> {
    let mut request = headgate.client.get(format!("{}/v1/models?limit=1000", headgate.url)).header("x-api-key", KEY);
    if anthropic {
        request = request.header("anthropic-version", "2023-06-01");
    }
    let list: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(list.get("object").is_none(), anthropic, "{list}");
    list["data"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_list_is_the_union_of_what_members_allow_whatever_their_health() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    a.models(&["claude-x", "gpt-y", "sent"]);
    b.models(&["gpt-y", "other"]);
    let headgate = start(&a, &b).await;
    let expected = ["claude-x", "gpt-y", "literal", "mapped", "other"];
    assert_eq!(ids(&headgate, false).await, expected);
    assert_eq!(ids(&headgate, true).await, expected);
    // Asked once for both, and one model can be asked for by itself.
    assert_eq!((a.seen().len(), b.seen().len()), (1, 1));
    for (id, status) in [("other", 200), ("hidden", 404)] {
        let url = format!("{}/v1/models/{id}", headgate.url);
        assert_eq!(headgate.client.get(url).bearer_auth(KEY).send().await.unwrap().status(), status, "{id}");
    }
}

#[tokio::test]
async fn an_upstream_without_a_list_leaves_the_others() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    b.models(&["other"]);
    a.always(Behaviour::status(500));
    let headgate = start(&a, &b).await;
    assert_eq!(ids(&headgate, false).await, ["literal", "mapped", "other"]);
}

#[tokio::test]
async fn tokens_are_counted_by_the_first_upstream_that_can_without_a_trace_in_health_or_limits() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b).await;
    let path = "/v1/messages/count_tokens";
    let count =
        |model: &str| headgate.post(&format!("{path}?beta=true"), &question("/v1/messages", model, false)).send();
    let response = count("claude-x").await.unwrap();
    assert_eq!(response.headers()["x-headgate-upstream"], "a");
    let (request, attempts) = headgate.record_of(&response).await;
    assert_eq!(
        (request["endpoint"].as_str(), request["outcome"].as_str(), attempts.len()),
        (Some(path), Some("success"), 0)
    );
    assert_eq!(response.json::<Value>().await.unwrap()["input_tokens"], 42);
    // b has room for one request, and that is taken: counting needs no room.
    let delay = Behaviour { delay_ms: 2000, ..Behaviour::default() };
    b.script([Rule { times: Some(1), ..Rule::model("slow", delay) }]);
    let slow = tokio::spawn(headgate.ask("/v1/messages", "slow", false).send());
    b.asked(1).await;
    assert_eq!(count("gpt-y").await.unwrap().headers()["x-headgate-upstream"], "b");
    let slow = slow.await.unwrap().unwrap();
    assert_eq!(slow.status(), 200);
    headgate.record_of(&slow).await;
    // One that does not know the route is passed over; when nobody does, that is said.
    a.always(Behaviour::status(404));
    assert_eq!(count("claude-x").await.unwrap().headers()["x-headgate-upstream"], "b");
    b.always(Behaviour::status(405));
    let response = count("claude-x").await.unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["type"], "not_found_error");
    for upstream in ["a", "b"] {
        let health = headgate.health(upstream).await;
        assert_eq!((&health["failures"], &health["state"]), (&0.into(), &"closed".into()), "{health}");
    }
    let stats = headgate.admin(reqwest::Method::GET, "/requests/stats", None).await;
    assert_eq!(stats["total"], 1, "{stats}");
}
