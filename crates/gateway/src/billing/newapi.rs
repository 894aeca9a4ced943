//! new-api with a relay key alone: the token's counters, the site's unit, and the ratio of the group that the newest
//! charge names. What the site keeps in quota is told in dollars; how it shows them is told beside.

use headgate_pricing::{Currency, compare::Scope, schedule::Multiplier};
use headgate_store::billing::{BillingStatus, Shown, Spoken};
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    ask::{Ask, AskError},
    collected::{Collected, Collector, figure, positive_figure, word},
};

const TOKEN: &str = "/api/usage/token/";
const STATUS: &str = "/api/status";
const LOG: &str = "/api/log/token";
const GROUPS: &str = "/api/user/groups";
const PRICING: &str = "/api/pricing";
/// Quota units of a dollar where the site does not say.
const PER_DOLLAR: Decimal = Decimal::from_parts(500_000, 0, 0, false, 0);
/// Log type of a charge.
const CONSUME: u64 = 2;

/// The collector.
pub struct Newapi;

impl Collector for Newapi {
    async fn collect(&self, ask: &Ask<'_>, before: &BillingStatus) -> Result<Collected, AskError> {
        let body = ask.get_limited(TOKEN).await?;
        let token = token(&body).map_err(|why| AskError::broken(TOKEN, why))?;
        let body = ask.get_open(STATUS).await?;
        let site = site(&body).map_err(|why| AskError::broken(STATUS, why))?;
        let mut found = collected(token, site);
        match ratio(ask, before).await {
            Ok(Ratio { group, multiplier, warning }) => {
                (found.group, found.multiplier, found.warning) = (group, Some(Multiplier::flat(multiplier)), warning);
            }
            Err(why) => {
                found.group.clone_from(&before.group);
                found.warning = Some(why);
            }
        }
        Ok(found)
    }
}

/// The multiplier, and where it is from.
#[derive(Debug, PartialEq)]
struct Ratio {
    group: Option<String>,
    multiplier: Decimal,
    warning: Option<String>,
}

async fn ratio(ask: &Ask<'_>, before: &BillingStatus) -> Result<Ratio, String> {
    let charge = match ask.get_limited(LOG).await {
        Ok(body) => charge(&body),
        // The group seldom changes, and its ratio can be asked for without the log.
        Err(why) if before.group.is_some() => {
            tracing::debug!(error = %why, "the log of charges was not read; the key's group is taken as known");
            Charge { group: before.group.clone(), ..Charge::default() }
        }
        Err(why) => return Err(why.to_string()),
    };
    if let Some(own) = charge.own {
        return Ok(Ratio { group: charge.group, multiplier: own, warning: None });
    }
    if let Some(group) = &charge.group {
        if let Ok(body) = ask.get_open(GROUPS).await
            && let Some(multiplier) =
                body.get("data").and_then(|all| all.get(group)?.get("ratio")).and_then(positive_figure)
        {
            return Ok(Ratio { group: charge.group, multiplier, warning: None });
        }
        if let Ok(body) = ask.get_open(PRICING).await
            && let Some(multiplier) = body.get("group_ratio").and_then(|all| all.get(group)).and_then(positive_figure)
        {
            return Ok(Ratio { group: charge.group, multiplier, warning: None });
        }
    }
    match charge.ratio {
        Some(multiplier) => {
            let warning = "the group's ratio is not public; that of the newest charge is used".to_owned();
            Ok(Ratio { group: charge.group, multiplier, warning: Some(warning) })
        }
        None if charge.group.is_some() => Err("the ratio of the key's group is not public".to_owned()),
        None => Err("nothing was charged yet, so the key's group is not known".to_owned()),
    }
}

/// A token's counters, in quota.
#[derive(Debug, PartialEq)]
struct Token {
    used: Option<Decimal>,
    available: Option<Decimal>,
    unlimited: bool,
}

fn token(body: &Value) -> Result<Token, String> {
    let data = &body["data"];
    if data["object"] != "token_usage" {
        return Err(match word(&body["message"]) {
            Some(message) => message.to_owned(),
            None => "it is not new-api's usage of a token".to_owned(),
        });
    }
    Ok(Token {
        used: positive_figure(&data["total_used"]),
        available: figure(&data["total_available"]),
        unlimited: data["unlimited_quota"] == Value::Bool(true),
    })
}

/// The site's unit, and how it shows amounts.
#[derive(Debug, PartialEq)]
struct Site {
    per_dollar: Decimal,
    shown: Option<Shown>,
}

fn site(body: &Value) -> Result<Site, String> {
    let data = &body["data"];
    if !data.is_object() {
        return Err("it is not new-api's status".to_owned());
    }
    let above_zero = |value: &Value| figure(value).filter(|rate| *rate > Decimal::ZERO);
    let per_dollar = above_zero(&data["quota_per_unit"]).unwrap_or(PER_DOLLAR);
    let shown = |currency: &str, rate: Option<Decimal>| Some(Shown { currency: currency.parse().ok()?, rate: rate? });
    let kind = word(&data["quota_display_type"]).unwrap_or("USD").to_ascii_uppercase();
    let shown = match kind.as_str() {
        "CNY" => shown("CNY", above_zero(&data["usd_exchange_rate"]).or_else(|| above_zero(&data["price"]))),
        "TOKENS" => shown("TOKENS", Some(per_dollar)),
        "CUSTOM" => {
            let rate = above_zero(&data["custom_currency_exchange_rate"]);
            let symbol = word(&data["custom_currency_symbol"]).unwrap_or("CUSTOM");
            shown(symbol, rate).or_else(|| shown("CUSTOM", rate))
        }
        _ => None,
    };
    Ok(Site { per_dollar, shown })
}

fn collected(token: Token, site: Site) -> Collected {
    let dollars = |quota: Decimal| quota.checked_div(site.per_dollar);
    let mut found = Collected::new(Spoken::Newapi);
    found.currency = Currency::USD;
    found.unlimited = token.unlimited;
    // A token without an end counts its uses below zero.
    found.remaining = token.available.filter(|_| !token.unlimited).and_then(dollars).map(|d| d.max(Decimal::ZERO));
    found.balance = Scope::Key;
    found.charged = token.used.and_then(dollars);
    found.shown = site.shown;
    found
}

/// What the newest charge tells.
#[derive(Debug, Default, PartialEq)]
struct Charge {
    group: Option<String>,
    /// The group's ratio then.
    ratio: Option<Decimal>,
    /// The user's own ratio in that group.
    own: Option<Decimal>,
}

/// Reads the log, newest first: the group of the first row that has one, and the ratios of the newest charge in it.
/// Some versions leave the group out.
fn charge(body: &Value) -> Charge {
    let rows = body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut found =
        Charge { group: rows.iter().find_map(|row| word(&row["group"])).map(str::to_owned), ..Charge::default() };
    for row in rows {
        if let (Some(ours), Some(theirs)) = (&found.group, word(&row["group"]))
            && ours != theirs
        {
            break;
        }
        let other = match &row["other"] {
            Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
            other => other.clone(),
        };
        found.ratio = other.get("group_ratio").and_then(positive_figure);
        // −1 stands for none.
        found.own = other.get("user_group_ratio").and_then(positive_figure);
        if found.ratio.is_some() || found.own.is_some() || row["type"].as_u64() == Some(CONSUME) {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn of_token(data: Value) -> Token {
        token(&json!({"code": true, "data": data})).unwrap()
    }

    #[test]
    fn quota_is_told_in_dollars() {
        let token = of_token(json!({"object": "token_usage", "name": "t", "total_granted": 5_000_000,
            "total_used": 250_000, "total_available": 4_750_000, "unlimited_quota": false, "expires_at": 0}));
        let found = collected(token, site(&json!({"data": {"quota_per_unit": 500_000}})).unwrap());
        assert_eq!((found.remaining, found.charged), (Some(d("9.5")), Some(d("0.5"))));
        assert_eq!((found.currency, found.balance, found.counters), (Currency::USD, Scope::Key, Scope::Key));
    }

    #[test]
    fn a_token_without_an_end_has_no_remainder_and_one_overdrawn_has_zero() {
        let unit = || site(&json!({"data": {}})).unwrap();
        let token = of_token(json!({"object": "token_usage", "total_available": -77, "unlimited_quota": true}));
        let found = collected(token, unit());
        assert!(found.unlimited);
        assert_eq!((found.remaining, found.charged), (None, None));
        let token = of_token(json!({"object": "token_usage", "total_available": -77, "unlimited_quota": false}));
        assert_eq!(collected(token, unit()).remaining, Some(Decimal::ZERO));
    }

    #[test]
    fn an_answer_of_another_shape_is_an_error_in_the_sites_words() {
        assert_eq!(token(&json!({"success": false, "message": "no such token"})), Err("no such token".to_owned()));
        assert!(token(&json!({"data": {"object": "list"}})).is_err());
        assert!(site(&json!({"success": true})).is_err());
    }

    #[test]
    fn how_the_site_shows_amounts_is_told_with_its_rate() {
        let shown = |data: Value| site(&json!({"data": data})).unwrap().shown.map(|s| (s.currency.to_string(), s.rate));
        assert_eq!(shown(json!({"quota_display_type": "USD", "usd_exchange_rate": 7.3})), None);
        let cny = json!({"quota_display_type": "CNY", "usd_exchange_rate": 7.3, "price": 1});
        assert_eq!(shown(cny), Some(("CNY".to_owned(), d("7.3"))));
        let tokens = json!({"quota_display_type": "TOKENS", "quota_per_unit": 1000});
        assert_eq!(shown(tokens), Some(("TOKENS".to_owned(), d("1000"))));
        let custom = |symbol: &str| {
            json!({"quota_display_type": "CUSTOM", "custom_currency_symbol": symbol,
                "custom_currency_exchange_rate": 0.5})
        };
        assert_eq!(shown(custom("EUR")), Some(("EUR".to_owned(), d("0.5"))));
        assert_eq!(shown(custom("¤")), Some(("CUSTOM".to_owned(), d("0.5"))));
        assert_eq!(shown(json!({"quota_display_type": "CNY"})), None);
    }

    #[test]
    fn the_newest_charge_tells_group_and_ratio() {
        let body = json!({"data": [
            {"type": 1, "group": "vip", "other": ""},
            {"type": 2, "group": "vip", "other": "{\"group_ratio\": 0.8, \"user_group_ratio\": -1}"},
            {"type": 2, "group": "default", "other": {"group_ratio": 3}}]});
        let expected = Charge { group: Some("vip".to_owned()), ratio: Some(d("0.8")), own: None };
        assert_eq!(charge(&body), expected);
        let own =
            json!({"data": [{"type": 2, "group": "vip", "other": {"group_ratio": 0.8, "user_group_ratio": 0.6}}]});
        assert_eq!(charge(&own).own, Some(d("0.6")));
    }

    #[test]
    fn ratios_of_another_group_or_behind_the_newest_charge_are_not_taken() {
        let other_group =
            json!({"data": [{"type": 1, "group": "a"}, {"type": 2, "group": "b", "other": {"group_ratio": 3}}]});
        assert_eq!(charge(&other_group), Charge { group: Some("a".to_owned()), ..Charge::default() });
        let older = json!({"data": [{"type": 2, "group": "a", "other": "{}"}, {"type": 2, "group": "a", "other": {"group_ratio": 3}}]});
        assert_eq!(charge(&older).ratio, None);
    }

    #[test]
    fn a_log_without_groups_still_tells_the_ratio() {
        let body = json!({"data": [{"type": 2, "other": "{\"group_ratio\": 1.5}"}]});
        assert_eq!(charge(&body), Charge { group: None, ratio: Some(d("1.5")), own: None });
        assert_eq!(charge(&json!({"data": []})), Charge::default());
        assert_eq!(charge(&json!({})), Charge::default());
    }
}
