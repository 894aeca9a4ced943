//! sub2api: `/v1/usage` for balance and counters, `/v1/sub2api/billing` for the multiplier. Versions differ: that of
//! 2025 knows the first alone and of it the balance alone; a key of several groups gets schema 2.

use chrono::NaiveTime;
use headgate_domain::UpstreamKind;
use headgate_pricing::{
    Currency,
    compare::Scope,
    schedule::{Multiplier, Peak},
};
use headgate_store::billing::{BillingStatus, Spoken};
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    ask::{Ask, AskError},
    collected::{Collected, Collector, figure, positive_figure, word},
};

const USAGE: &str = "/v1/usage";
const BILLING: &str = "/v1/sub2api/billing";

/// The collector.
pub struct Sub2api;

impl Collector for Sub2api {
    async fn collect(&self, ask: &Ask<'_>, _before: &BillingStatus) -> Result<Collected, AskError> {
        let body = ask.get(USAGE).await?;
        let mut found = usage(&body).map_err(|why| AskError::broken(USAGE, why))?;
        let told = match ask.get(BILLING).await {
            Ok(body) => multiplier(&body, ask.endpoint.kind),
            Err(AskError::Status { status: 404, .. }) => {
                Err("this version of sub2api states no multiplier; set one by hand".to_owned())
            }
            Err(why) => Err(why.to_string()),
        };
        match told {
            Ok(Told { multiplier, warning }) => (found.multiplier, found.warning) = (Some(multiplier), warning),
            Err(why) => found.warning = Some(why),
        }
        Ok(found)
    }
}

/// Balance and counters.
fn usage(body: &Value) -> Result<Collected, String> {
    let known = ["remaining", "balance", "quota", "usage", "isValid"];
    if !body.is_object() || known.iter().all(|field| body[field].is_null()) {
        return Err("it is not sub2api's usage".to_owned());
    }
    if body["isValid"] == Value::Bool(false) {
        return Err("the key is not valid there".to_owned());
    }
    let mut found = Collected::new(Spoken::Sub2api);
    let quota = &body["quota"];
    let limited_key = body["mode"] == "quota_limited" && !quota.is_null();
    let places = if limited_key {
        [&quota["remaining"], &body["remaining"], &body["balance"]]
    } else {
        [&body["remaining"], &body["balance"], &quota["remaining"]]
    };
    found.remaining = places.into_iter().find_map(figure);
    // A subscription without a limit says −1.
    found.unlimited = found.remaining == Some(Decimal::NEGATIVE_ONE);
    if found.unlimited {
        found.remaining = None;
    }
    found.balance = if limited_key { Scope::Key } else { Scope::Account };
    found.currency = word(&body["unit"]).and_then(|unit| unit.parse().ok()).unwrap_or(Currency::USD);
    found.list = body.pointer("/usage/total/cost").and_then(positive_figure);
    found.charged = body.pointer("/usage/total/actual_cost").and_then(positive_figure);
    found.requests = body.pointer("/usage/total/requests").and_then(Value::as_u64);
    Ok(found)
}

/// A multiplier, and what is doubtful about it.
#[derive(Debug, PartialEq)]
struct Told {
    multiplier: Multiplier,
    warning: Option<String>,
}

fn multiplier(body: &Value, kind: UpstreamKind) -> Result<Told, String> {
    if body["object"] != "sub2api.key_billing" {
        return Err("sub2api's statement of the multiplier has an unknown shape".to_owned());
    }
    if let Some(multiplier) = of_group(body) {
        return Ok(Told { multiplier, warning: None });
    }
    let groups = body["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
    let platform = match kind {
        UpstreamKind::Claude => Some("anthropic"),
        UpstreamKind::Openai | UpstreamKind::OpenaiResponse | UpstreamKind::Codex => Some("openai"),
        UpstreamKind::Passthrough => None,
    };
    let fitting = |group: &&Value| platform.is_none_or(|ours| word(&group["platform"]).is_none_or(|p| p == ours));
    let stated: Vec<Multiplier> = groups.iter().filter(fitting).filter_map(|g| of_group(&g["billing"])).collect();
    // Which group serves a request is not told: the dearest keeps a cap's promise.
    let highest = |m: &Multiplier| m.base * m.peak.as_ref().map_or(Decimal::ONE, |peak| peak.factor.max(Decimal::ONE));
    let dearest = stated.iter().max_by_key(|m| highest(m));
    let Some(dearest) = dearest else { return Err("sub2api states no multiplier for this key".to_owned()) };
    let differ = stated.iter().any(|m| m != dearest);
    let warning = differ.then(|| "the key has groups with different multipliers; the highest is used".to_owned());
    Ok(Told { multiplier: dearest.clone(), warning })
}

/// The multiplier of one group: that of the user before that of the group, with its peak. An absent field is unknown,
/// never 0.
fn of_group(billing: &Value) -> Option<Multiplier> {
    let fields = ["resolved_rate_multiplier", "user_rate_multiplier", "group_rate_multiplier"];
    let Some(base) = fields.into_iter().find_map(|field| positive_figure(&billing[field])) else {
        return positive_figure(&billing["effective_rate_multiplier"]).map(Multiplier::flat);
    };
    if billing["peak_rate_enabled"] != Value::Bool(true) {
        return Some(Multiplier::flat(base));
    }
    match peak(billing) {
        Some(peak) => Some(Multiplier { base, peak: Some(peak) }),
        // The schedule cannot be read; what is in force now can.
        None => positive_figure(&billing["effective_rate_multiplier"]).or(Some(base)).map(Multiplier::flat),
    }
}

fn peak(billing: &Value) -> Option<Peak> {
    let time = |field: &str| {
        let text = word(&billing[field])?;
        NaiveTime::parse_from_str(text, "%H:%M").or_else(|_| NaiveTime::parse_from_str(text, "%H:%M:%S")).ok()
    };
    let zone = match word(&billing["timezone"]) {
        // A server that never set one says "Local", which tells nothing.
        Some(zone) => zone.parse().ok()?,
        None => return None,
    };
    let factor = positive_figure(&billing["peak_rate_multiplier"])?;
    Some(Peak { start: time("peak_start")?, end: time("peak_end")?, factor, zone })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn the_version_of_2025_tells_the_balance_alone() {
        let body = json!({"isValid": true, "planName": "wallet", "remaining": 12.5, "unit": "USD"});
        let found = usage(&body).unwrap();
        assert_eq!((found.remaining, found.balance), (Some(d("12.5")), Scope::Account));
        assert_eq!((found.charged, found.list, found.requests), (None, None, None));
        assert!(!found.unlimited);
    }

    #[test]
    fn the_version_of_2026_tells_counters_of_the_key_too() {
        let body = json!({"mode": "unrestricted", "isValid": true, "balance": 7, "unit": "USD",
            "usage": {"today": {"cost": 1}, "total": {"requests": 41, "cost": 2.3799, "actual_cost": 0.118995}}});
        let found = usage(&body).unwrap();
        assert_eq!((found.remaining, found.list), (Some(d("7")), Some(d("2.3799"))));
        assert_eq!((found.charged, found.requests, found.counters), (Some(d("0.118995")), Some(41), Scope::Key));
    }

    #[test]
    fn a_key_with_a_quota_of_its_own_is_bounded_by_it() {
        let body = json!({"mode": "quota_limited", "balance": 100, "quota": {"limit": 5, "used": 5, "remaining": 0}});
        let found = usage(&body).unwrap();
        assert_eq!((found.remaining, found.balance), (Some(Decimal::ZERO), Scope::Key));
    }

    #[test]
    fn a_subscription_without_limits_has_no_end() {
        let found = usage(&json!({"isValid": true, "planName": "team", "remaining": -1})).unwrap();
        assert!(found.unlimited);
        assert_eq!(found.remaining, None);
    }

    #[test]
    fn what_is_not_its_usage_or_not_valid_is_an_error() {
        for body in [json!({}), json!([]), json!({"error": "no"}), json!({"isValid": false, "remaining": 3})] {
            assert!(usage(&body).is_err(), "{body}");
        }
    }

    #[test]
    fn the_resolved_multiplier_comes_with_its_peak() {
        let body = json!({"object": "sub2api.key_billing", "schema_version": 1, "billing_scope": "token",
            "group_rate_multiplier": 1, "user_rate_multiplier": 0.5, "resolved_rate_multiplier": 0.5,
            "peak_rate_enabled": true, "peak_start": "18:00", "peak_end": "22:00", "peak_rate_multiplier": 2,
            "applied_peak_multiplier": 1, "effective_rate_multiplier": 0.5, "timezone": "Asia/Shanghai"});
        let told = multiplier(&body, UpstreamKind::Claude).unwrap().multiplier;
        assert_eq!(told.base, d("0.5"));
        assert_eq!(told.at("2026-03-01T10:30:00Z".parse().unwrap()), d("1.0"));
        assert_eq!(told.at("2026-03-01T15:00:00Z".parse().unwrap()), d("0.5"));
    }

    #[test]
    fn a_peak_on_an_unknown_clock_counts_as_it_is_now() {
        let body = json!({"object": "sub2api.key_billing", "resolved_rate_multiplier": 1, "peak_rate_enabled": true,
            "peak_start": "18:00", "peak_end": "22:00", "peak_rate_multiplier": 3, "effective_rate_multiplier": 3,
            "timezone": "Local"});
        assert_eq!(multiplier(&body, UpstreamKind::Claude).unwrap().multiplier, Multiplier::flat(d("3")));
    }

    #[test]
    fn of_several_groups_the_dearest_of_the_platform_counts() {
        let group = |platform: &str, rate: f64| json!({"group_id": 1, "platform": platform, "billing": {"resolved_rate_multiplier": rate}});
        let body = json!({"object": "sub2api.key_billing", "schema_version": 2,
            "groups": [group("anthropic", 0.5), group("anthropic", 0.8), group("openai", 3.0)]});
        let told = multiplier(&body, UpstreamKind::Claude).unwrap();
        assert_eq!(told.multiplier, Multiplier::flat(d("0.8")));
        assert!(told.warning.is_some());
        let told = multiplier(&body, UpstreamKind::Openai).unwrap();
        assert_eq!((told.multiplier, told.warning), (Multiplier::flat(d("3")), None));
    }

    #[test]
    fn an_absent_multiplier_is_unknown_and_a_stated_zero_is_zero() {
        let statement = |rest: Value| {
            let mut body = json!({"object": "sub2api.key_billing"});
            body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            multiplier(&body, UpstreamKind::Passthrough)
        };
        assert!(statement(json!({})).is_err());
        assert!(statement(json!({"schema_version": 2, "groups": []})).is_err());
        assert!(statement(json!({"schema_version": 2, "groups": [{"group_id": 1, "billing": {}}]})).is_err());
        assert_eq!(statement(json!({"resolved_rate_multiplier": 0})).unwrap().multiplier.base, Decimal::ZERO);
        assert!(multiplier(&json!({"object": "list", "resolved_rate_multiplier": 1}), UpstreamKind::Claude).is_err());
    }
}
