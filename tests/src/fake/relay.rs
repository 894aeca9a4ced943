//! The billing APIs of relays, as scripts for a [`Fake`](super::Fake): the shapes of sub2api and new-api.

use serde_json::{Value, json};

use super::{Behaviour, Rule};

fn at(path: &str, body: &Value) -> Rule {
    failing(path, Behaviour::status(200).body(&body.to_string()))
}

/// A path that is answered like this.
pub fn failing(path: &str, then: Behaviour) -> Rule {
    Rule { path: Some(path.to_owned()), then, ..Rule::default() }
}

/// sub2api of 2026, without a peak.
pub fn sub2api(balance: f64, multiplier: f64, list: f64, charged: f64) -> Vec<Rule> {
    let usage = json!({"mode": "unrestricted", "isValid": true, "balance": balance, "remaining": balance,
        "unit": "USD", "usage": {"today": {"requests": 1, "cost": list, "actual_cost": charged},
            "total": {"requests": 3, "cost": list, "actual_cost": charged}}});
    let billing = json!({"object": "sub2api.key_billing", "schema_version": 1, "billing_scope": "token",
        "group_rate_multiplier": multiplier, "resolved_rate_multiplier": multiplier, "peak_rate_enabled": false,
        "applied_peak_multiplier": 1, "effective_rate_multiplier": multiplier, "timezone": "Asia/Shanghai"});
    vec![at("/v1/usage", &usage), at("/v1/sub2api/billing", &billing)]
}

/// sub2api of 2025: the balance alone.
pub fn sub2api_of_2025(balance: f64) -> Vec<Rule> {
    let usage = json!({"isValid": true, "planName": "wallet", "remaining": balance, "unit": "USD"});
    vec![at("/v1/usage", &usage), failing("/v1/sub2api/billing", Behaviour::status(404).body("404 page not found"))]
}

/// new-api with amounts shown in yuan. `available` and `used` are quota, half a million of it a dollar.
pub fn newapi(available: i64, used: i64, ratio: f64) -> Vec<Rule> {
    let other = json!({"group_ratio": ratio, "user_group_ratio": -1}).to_string();
    newapi_log(available, used, ratio, &json!([{"type": 2, "group": "vip", "quota": 10, "other": other}]))
}

/// The same with these rows in its log, newest first: for the key, and for the account with its access token.
pub fn newapi_log(available: i64, used: i64, ratio: f64, rows: &Value) -> Vec<Rule> {
    let token = json!({"code": true, "message": "ok", "data": {"object": "token_usage", "name": "t",
        "total_granted": available + used, "total_used": used, "total_available": available,
        "unlimited_quota": false, "model_limits": {}, "expires_at": 0}});
    let status = json!({"success": true, "data": {"quota_per_unit": 500_000, "quota_display_type": "CNY",
        "usd_exchange_rate": 7.5, "price": 7.3}});
    let log = json!({"success": true, "data": rows});
    let account = json!({"success": true, "data": {"page": 1, "page_size": 100, "items": rows}});
    let groups = json!({"success": true, "data": {"vip": {"ratio": ratio, "desc": ""}, "auto": {"ratio": "auto"}}});
    vec![
        failing("/v1/usage", Behaviour::status(404)),
        at("/api/usage/token", &token),
        at("/api/status", &status),
        at("/api/log/token", &log),
        at("/api/log/self", &account),
        at("/api/user/groups", &groups),
    ]
}
