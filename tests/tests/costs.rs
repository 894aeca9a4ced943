//! What requests cost: stamped when they end, by prices that can be looked up, set, fetched and applied anew.

use std::fmt::Write as _;

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, header},
};
use reqwest::Method;
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-4-5-20250929-thinking";

async fn start(fake: &Fake, settings: &str) -> Headgate {
    Headgate::start(&format!(
        "version: 1
settings: {{ {settings} }}
upstreams: [ {{ name: a, base_url: '{}' }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        fake.url()
    ))
    .await
}

/// Asks, waits until the record is stored, and reads it through the admin API.
async fn recorded(headgate: &Headgate, path: &str, model: &str, stream: bool) -> Value {
    let response = headgate.ask(path, model, stream).send().await.unwrap();
    let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
    response.bytes().await.unwrap();
    headgate.record(&id).await;
    headgate.admin(Method::GET, &format!("/requests/{id}"), None).await
}

#[tokio::test]
async fn an_attempt_carries_its_cost_with_the_price_it_came_about_by() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    for path in PATHS {
        // Eight fresh tokens, three from the cache, seven of output: 8 × 3 + 3 × 0.3 + 7 × 15 millionths of a dollar.
        let request = recorded(&headgate, path, MODEL, false).await;
        let attempt = &request["attempts"][0];
        assert_eq!((&request["cost"], &request["cost_currency"]), (&"0.0001299".into(), &"USD".into()), "{request:#}");
        assert_eq!(request["cost_complete"], true, "{request:#}");
        assert_eq!(attempt["cost"], request["cost"], "{request:#}");
        assert_eq!(attempt["usage_source"], "reported");
        assert_eq!(attempt["price_entry"], "claude-sonnet-4-5-20250929");
        assert_eq!(attempt["price_steps"], json!(["thinking"]));
        assert_eq!(attempt["price_version"].as_str().unwrap().len(), 12);
        assert!(attempt["cost_gaps"].is_null() && attempt["observed_output"].as_i64().unwrap() > 0, "{request:#}");
    }
    let stats = headgate.admin(Method::GET, "/requests/stats", None).await;
    assert_eq!(stats["costs"], json!([{"currency": "USD", "amount": "0.0003897"}]), "{stats}");
    assert_eq!((&stats["charged"], &stats["priced"]), (&3.into(), &3.into()));
    let overview = headgate.admin(Method::GET, "/overview", None).await;
    assert_eq!(overview["spent_today"]["priced"], 3, "{overview:#}");
}

#[tokio::test]
async fn without_a_usage_the_cost_is_an_estimate_and_without_a_price_there_is_none() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    // A stream of Chat whose client did not ask for usage.
    let estimated = recorded(&headgate, PATHS[0], MODEL, true).await;
    let attempt = &estimated["attempts"][0];
    assert_eq!((&attempt["usage_source"], &attempt["cost_gaps"]), (&"observed".into(), &json!(["estimated"])));
    assert!(attempt["cost"].is_string() && attempt["tokens_output"].is_null(), "{estimated:#}");
    assert_eq!(estimated["cost_complete"], false);
    let unknown = recorded(&headgate, PATHS[0], "no-such-model", false).await;
    assert!(unknown["cost"].is_null() && unknown["attempts"][0]["price_version"].is_string(), "{unknown:#}");
    assert_eq!(unknown["cost_complete"], false);
    fake.always(Behaviour::status(500));
    let failed = recorded(&headgate, PATHS[0], MODEL, false).await;
    assert!(failed["cost"].is_null() && failed["cost_complete"].is_null(), "{failed:#}");
}

#[tokio::test]
async fn own_prices_win_and_records_keep_their_cost_until_they_are_priced_anew() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    let before = recorded(&headgate, PATHS[2], "mine", false).await;
    assert!(before["cost"].is_null());
    let price = json!({"model": "min*", "currency": "CNY", "from": "2020-01-01T00:00:00Z", "rates": [
        {"part": "input", "price": "10"}, {"part": "cache_read", "price": "1"}, {"part": "output", "price": "100"}]});
    let made = headgate.admin(Method::POST, "/prices/overrides", Some(price.clone())).await;
    let after = recorded(&headgate, PATHS[2], "mine", false).await;
    assert_eq!((&after["cost"], &after["cost_currency"]), (&"0.000783".into(), &"CNY".into()), "{after:#}");
    assert_eq!(after["attempts"][0]["price_rule"], made["id"]);
    let again = |id: &Value| format!("/requests/{}", id.as_str().unwrap());
    let still = headgate.admin(Method::GET, &again(&before["id"]), None).await;
    assert!(still["cost"].is_null());
    let range = json!({"since": "2020-01-01T00:00:00Z"});
    let done = headgate.admin(Method::POST, "/prices/reprice", Some(range)).await;
    assert_eq!((&done["attempts"], &done["changed"]), (&2.into(), &1.into()), "{done}");
    let anew = headgate.admin(Method::GET, &again(&before["id"]), None).await;
    assert_eq!((&anew["cost"], &anew["cost_complete"]), (&"0.000783".into(), &true.into()), "{anew:#}");
    assert_eq!(headgate.database.count("select count(*) from headgate.repricings where changed = 1").await, 1);

    let found = headgate.admin(Method::GET, "/prices?model=vendor/mine", None).await;
    assert_eq!((&found["matched"]["rule"], &found["matched"]["currency"]), (&made["id"], &"CNY".into()), "{found:#}");
    let wrong = json!({"model": "x", "rates": [{"part": "input", "price": "-1"}]});
    let (status, answer) = headgate.admin_raw(Method::POST, "/prices/overrides", Some(wrong)).await;
    assert_eq!(status, 400, "{answer}");
    let path = format!("/prices/overrides/{}", made["id"]);
    let mut changed = price;
    changed["model"] = "mine".into();
    headgate.admin(Method::PUT, &path, Some(changed)).await;
    headgate.admin(Method::DELETE, &path, None).await;
    let (status, _) = headgate.admin_raw(Method::DELETE, &path, None).await;
    assert_eq!(status, 404);
    assert!(recorded(&headgate, PATHS[2], "mine", false).await["cost"].is_null());
}

#[tokio::test]
async fn a_fetched_list_comes_into_force_and_one_that_cannot_be_fetched_changes_nothing() {
    let (fake, publisher) = (Fake::start().await, Fake::start().await);
    let headgate = start(&fake, &format!("prices_url: '{}/list.json'", publisher.url())).await;
    let mut list = String::from("{");
    for n in 0..60 {
        let _ = write!(list, "\"made-up-{n}\":{{\"input_cost_per_token\":1e-06,\"output_cost_per_token\":2e-06}},");
    }
    list += "\"last\":{\"input_cost_per_token\":0.5,\"cache_read_input_token_cost\":0,\"output_cost_per_token\":1}}";
    publisher.always(Behaviour { status: Some(200), body: Some(list), ..Behaviour::default() });
    let view = headgate.admin(Method::POST, "/prices/refresh", None).await;
    assert_eq!(
        (&view["models"], &view["embedded"], &view["state"]["error"]),
        (&61.into(), &false.into(), &Value::Null),
        "{view:#}"
    );
    let request = recorded(&headgate, PATHS[2], "last", false).await;
    assert_eq!(
        (&request["cost"], &request["attempts"][0]["price_version"]),
        (&"11".into(), &view["version"]["id"]),
        "{request:#}"
    );

    for (behaviour, why) in [
        (Behaviour::status(302).header("location", "http://127.0.0.1:1/"), "302"),
        (Behaviour { status: Some(200), body: Some("<html>".to_owned()), ..Behaviour::default() }, "not an object"),
        (Behaviour { status: Some(200), body: Some("{}".to_owned()), ..Behaviour::default() }, "only 0"),
    ] {
        publisher.always(behaviour);
        let view = headgate.admin(Method::POST, "/prices/refresh", None).await;
        assert!(view["state"]["error"].as_str().unwrap().contains(why), "{view:#}");
        assert_eq!((&view["models"], view["state"]["succeeded_at"].is_string()), (&61.into(), true), "{view:#}");
    }
    let search = headgate.admin(Method::GET, "/prices?q=MADE-UP", None).await;
    assert_eq!(search["items"].as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn prices_are_not_fetched_from_where_nobody_may_be_called() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    let (status, answer) = headgate.admin_raw(Method::POST, "/prices/refresh", None).await;
    assert_eq!((status, &answer["error"]["field"]), (400, &"prices_url".into()), "{answer}");
    let revision = headgate.admin(Method::GET, "/settings", None).await["revision"].clone();
    for url in [
        "http://169.254.169.254/list",
        "file:///etc/passwd",
        "http://prices.example/list",
        "https://u:p@prices.example/",
    ] {
        let change = json!({"revision": revision, "values": {"prices_url": url}});
        let (status, answer) = headgate.admin_raw(Method::PATCH, "/settings", Some(change)).await;
        assert_eq!(status, 422, "{url}: {answer}");
    }
}

#[tokio::test]
async fn spending_adds_up_the_same_however_it_is_divided_and_names_what_has_no_price() {
    let fake = Fake::start().await;
    let headgate = start(&fake, "").await;
    let before = headgate.admin(Method::GET, "/costs", None).await;
    assert_eq!((&before["totals"], &before["attempts"]), (&json!([]), &0.into()), "{before:#}");
    for path in PATHS {
        recorded(&headgate, path, MODEL, false).await;
        recorded(&headgate, path, "claude-haiku-4-5", false).await;
    }
    recorded(&headgate, PATHS[2], "no-such-model", false).await;
    let stats = headgate.admin(Method::GET, "/requests/stats", None).await;
    for (by, rows) in [("model", 3), ("key", 1), ("group", 1), ("upstream", 1)] {
        let costs = headgate.admin(Method::GET, &format!("/costs?window=1h&by={by}"), None).await;
        assert_eq!(costs["rows"].as_array().unwrap().len(), rows, "{costs:#}");
        let decimal = |text: &Value| text.as_str().unwrap().parse::<rust_decimal::Decimal>().unwrap();
        let parts = costs["rows"].as_array().unwrap().iter().flat_map(|row| row["costs"].as_array().unwrap());
        let of_rows: rust_decimal::Decimal = parts.map(|part| decimal(&part["amount"])).sum();
        let lines = costs["lines"].as_array().unwrap().iter().flat_map(|line| line["amounts"].as_array().unwrap());
        let of_lines: rust_decimal::Decimal = lines.map(decimal).sum();
        let total = decimal(&costs["totals"][0]["amount"]);
        assert_eq!((of_rows, of_lines, total), (total, total, decimal(&stats["costs"][0]["amount"])), "{by}");
        assert_eq!((&costs["attempts"], &costs["charged"], &costs["priced"]), (&7.into(), &7.into(), &6.into()));
        assert_eq!(
            costs["unpriced"],
            json!([{"upstream_id": costs["unpriced"][0]["upstream_id"], "upstream": "a",
            "model": "no-such-model", "sent": null, "attempts": 1}])
        );
        // What the page links to shows the same.
        let time = format!("since={}&until={}", costs["from"].as_str().unwrap(), costs["to"].as_str().unwrap());
        let linked = headgate.admin(Method::GET, &format!("/requests/stats?{time}"), None).await;
        assert_eq!(linked["costs"], stats["costs"]);
        let calls = async |filter: &str| {
            let stats = headgate.admin(Method::GET, &format!("/requests/stats?{time}{filter}"), None).await;
            let listed = headgate.admin(Method::GET, &format!("/requests?{time}{filter}&page=1"), None).await;
            assert_eq!(stats["total"], listed["total"], "{filter}");
            stats["calls"].clone()
        };
        let upstream = format!("&upstream={}", costs["unpriced"][0]["upstream_id"]);
        let all = json!({"made": 7, "charged": 7, "priced": 6, "with_amount": 6});
        let missing = json!({"made": 1, "charged": 1, "priced": 0, "with_amount": 0});
        assert_eq!(calls("").await, all);
        for of in ["", &upstream] {
            assert_eq!(calls(&format!("{of}&priced=false")).await, missing, "{of}");
            assert_eq!(calls(&format!("{of}&priced=true")).await["made"], 6, "{of}");
            assert_eq!(calls(&format!("{of}&tokens=unknown")).await["made"], 0, "{of}");
        }
        let counted = &costs["tokens"][0];
        let model = counted["model"].as_str().unwrap();
        let filter = format!("/requests/stats?{time}{upstream}&model={model}&tokens=compared");
        let compared = headgate.admin(Method::GET, &filter, None).await["compared"].clone();
        assert_eq!((&compared["reported"], &compared["observed"]), (&counted["reported"], &counted["observed"]));
    }
    let (status, answer) =
        headgate.admin_raw(Method::GET, "/costs?from=2026-06-02T00:00:00Z&to=2026-06-01T00:00:00Z", None).await;
    assert_eq!(status, 400, "{answer}");
    let (status, _) = headgate.admin_raw(Method::GET, "/costs?by=weather", None).await;
    assert_eq!(status, 400);
    let (status, _) = headgate.admin_raw(Method::GET, "/costs/999/figures", None).await;
    assert_eq!(status, 404);
}
