//! new-api: the token's counters, the site's unit, the ratio of the group that the newest charge names, and the log of
//! charges, from which list prices follow. What the site keeps in quota is told in dollars; how it shows them is told
//! beside. A relay key is enough; with an access token of the account the log reaches further back.

mod log;

use std::{collections::HashSet, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_pricing::{
    Currency,
    compare::{Scope, charges::Charge},
    schedule::Multiplier,
};
use headgate_store::billing::{BillingStatus, Shown, Spoken};
use rust_decimal::Decimal;
use serde_json::Value;

use self::log::{Log, Newest, Prices};
use super::{
    ask::{Ask, AskError},
    collected::{Collected, Collector, figure, positive_figure, word},
};

const TOKEN: &str = "/api/usage/token/";
const STATUS: &str = "/api/status";
const LOG: &str = "/api/log/token";
const OWN_LOG: &str = "/api/log/self";
const GROUPS: &str = "/api/user/groups";
const PRICING: &str = "/api/pricing";
/// Quota units of a dollar where the site does not say.
const PER_DOLLAR: Decimal = Decimal::from_parts(500_000, 0, 0, false, 0);
/// Pages of an account's log read at once, and their size.
const PAGES: usize = 10;
const PAGE: usize = 100;
/// How far back the log of an account is read for the first time.
const FIRST: Duration = Duration::from_secs(24 * 3600);
/// Rows may be noted that much later than what they are about.
const LATE: Duration = Duration::from_secs(180);

/// The collector.
pub struct Newapi;

impl Collector for Newapi {
    async fn collect(&self, ask: &Ask<'_>, before: &BillingStatus) -> Result<Collected, AskError> {
        let body = ask.get_limited(TOKEN).await?;
        let token = token(&body).map_err(|why| AskError::broken(TOKEN, why))?;
        let key = body.pointer("/data/name").and_then(word).map(str::to_owned);
        let body = ask.get_open(STATUS).await?;
        let site = site(&body).map_err(|why| AskError::broken(STATUS, why))?;
        let per_dollar = site.per_dollar;
        let mut found = collected(token, site);
        let log = read_log(ask, before).await;
        match ratio(ask, before, &log, key.as_deref()).await {
            Ok(Ratio { group, multiplier, warning }) => {
                (found.group, found.multiplier, found.warning) = (group, Some(Multiplier::flat(multiplier)), warning);
            }
            Err(why) => {
                found.group.clone_from(&before.group);
                found.warning = Some(why);
            }
        }
        // Without the log nothing is known of what was added meanwhile; the next one tells it.
        found.listed.clone_from(&before.listed);
        if let Ok(log) = &log {
            found.charges = charges(ask, log, per_dollar).await;
            let ours: Vec<&Charge> = found.charges.iter().filter(|charge| is_ours(charge, key.as_deref())).collect();
            let listed = match &before.listed {
                None => Some(log::begun(&ours)),
                Some(before) => log::listed(before, &ours, log.is_cut),
            };
            found.list = listed.as_ref().map(|listed| listed.total);
            // Where rows are missing this snapshot has no list price, and counting begins anew for the next.
            found.listed = Some(listed.unwrap_or_else(|| log::begun(&ours)));
        }
        Ok(found)
    }
}

/// A charge of another key of the account says nothing of this one. Where keys have no names all are taken for it.
fn is_ours(charge: &Charge, key: Option<&str>) -> bool {
    key.zip(charge.key.as_deref()).is_none_or(|(ours, theirs)| ours == theirs)
}

/// The log: of the account with its access token, else of the key.
async fn read_log(ask: &Ask<'_>, before: &BillingStatus) -> Result<Log, AskError> {
    if ask.access.is_none() {
        return ask.get_limited(LOG).await.map(|body| Log::of_token(&body));
    }
    match own_log(ask, before).await {
        Err(why @ (AskError::Status { .. } | AskError::Broken { .. })) => {
            tracing::warn!(upstream.name = %ask.endpoint.name, error = %why, "the account's log was not read with its access token; the key's is read");
            ask.get_limited(LOG).await.map(|body| Log::of_token(&body))
        }
        other => other,
    }
}

async fn own_log(ask: &Ask<'_>, before: &BillingStatus) -> Result<Log, AskError> {
    let now = ask.shared.clock.wall();
    let back = |span: Duration| TimeDelta::from_std(span).unwrap_or_default();
    let known = before.listed.as_ref().map(|listed| listed.at).filter(|at| *at > DateTime::<Utc>::UNIX_EPOCH);
    // The second that is not over may get more rows while the pages are read.
    let until = now.timestamp() - 1;
    let since = known.map_or(now - back(FIRST), |at| at - back(LATE)).timestamp();
    let mut log = Log::default();
    let mut seen = HashSet::new();
    // Older versions count pages from 0, newer ones from 1 and take 0 for it.
    for page in 0..=PAGES {
        let query =
            format!("?p={page}&page_size={PAGE}&type={}&start_timestamp={since}&end_timestamp={until}", log::CONSUME);
        let body = ask.get_as_user(OWN_LOG, &query).await?;
        if body.get("success") == Some(&Value::Bool(false)) {
            return Err(AskError::broken(OWN_LOG, body.get("message").and_then(word).unwrap_or("it was refused")));
        }
        let rows = body.pointer("/data/items").or_else(|| body.get("data")).and_then(Value::as_array);
        let rows = rows.ok_or_else(|| AskError::broken(OWN_LOG, "it has no rows"))?;
        // Page 1 may be page 0 again.
        let is_new = seen.insert(rows.first().map(Value::to_string));
        if is_new {
            log.rows.extend(rows.iter().cloned());
        }
        if rows.len() < PAGE {
            return Ok(log);
        }
    }
    log.is_cut = true;
    Ok(log)
}

/// The charges of a log; the site's own prices are asked for only if a row needs them.
async fn charges(ask: &Ask<'_>, log: &Log, per_dollar: Decimal) -> Vec<Charge> {
    let charges = log.charges(per_dollar, None);
    if charges.iter().all(|charge| charge.list.is_some()) {
        return charges;
    }
    match ask.get_open(PRICING).await {
        Ok(body) => log.charges(per_dollar, Some(&Prices::of(&body))),
        Err(why) => {
            tracing::debug!(error = %why, "the site's own prices were not read; some charges have no list price");
            charges
        }
    }
}

/// The multiplier, and where it is from.
#[derive(Debug, PartialEq)]
struct Ratio {
    group: Option<String>,
    multiplier: Decimal,
    warning: Option<String>,
}

async fn ratio(
    ask: &Ask<'_>,
    before: &BillingStatus,
    log: &Result<Log, AskError>,
    key: Option<&str>,
) -> Result<Ratio, String> {
    let charge = match log {
        Ok(log) => {
            let is_ours = |row: &&Value| key.zip(word(&row["token_name"])).is_none_or(|(a, b)| a == b);
            let found = log::newest(&log.rows.iter().filter(is_ours).cloned().collect::<Vec<_>>());
            // Nothing was charged since the log was last read: the group is as it was.
            let group = found.group.clone().or_else(|| before.group.clone().filter(|_| found.ratio.is_none()));
            Newest { group, ..found }
        }
        // The group seldom changes, and its ratio can be asked for without the log.
        Err(why) if before.group.is_some() => {
            tracing::debug!(error = %why, "the log of charges was not read; the key's group is taken as known");
            Newest { group: before.group.clone(), ..Newest::default() }
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
    // Older versions say only whether it is a currency.
    let old = if data["display_in_currency"] == Value::Bool(false) { "TOKENS" } else { "USD" };
    let kind = word(&data["quota_display_type"]).unwrap_or(old).to_ascii_uppercase();
    let shown = match kind.as_str() {
        "CNY" => shown("CNY", above_zero(&data["usd_exchange_rate"]).or_else(|| above_zero(&data["price"]))),
        "TOKENS" => shown("TOKENS", Some(per_dollar)),
        "CUSTOM" => {
            let rate = above_zero(&data["custom_currency_exchange_rate"]);
            let symbol = word(&data["custom_currency_symbol"]).unwrap_or("CUSTOM");
            shown(code_of(symbol), rate).or_else(|| shown("CUSTOM", rate))
        }
        _ => None,
    };
    Ok(Site { per_dollar, shown })
}

/// The code of a currency that a site names by its sign; what is no such sign may be a code itself.
fn code_of(symbol: &str) -> &str {
    match symbol {
        "$" | "US$" => "USD",
        "¥" | "￥" | "元" => "CNY",
        "€" => "EUR",
        "£" => "GBP",
        "HK$" => "HKD",
        "NT$" => "TWD",
        "₩" => "KRW",
        "₹" => "INR",
        "₽" => "RUB",
        other => other,
    }
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
        assert_eq!(shown(custom("€")), Some(("EUR".to_owned(), d("0.5"))));
        assert_eq!(shown(custom("¤")), Some(("CUSTOM".to_owned(), d("0.5"))));
        assert_eq!(shown(json!({"quota_display_type": "CNY"})), None);
        assert_eq!(shown(json!({"display_in_currency": true})), None);
        let old = json!({"display_in_currency": false, "quota_per_unit": 1000});
        assert_eq!(shown(old), Some(("TOKENS".to_owned(), d("1000"))));
    }

    #[test]
    fn balance_use_and_list_prices_are_the_same_money_however_a_site_shows_it() {
        let used = json!({"object": "token_usage", "name": "t", "total_used": 1_000_000, "total_available": 4_000_000,
            "unlimited_quota": false});
        let row = json!({"type": 2, "created_at": 1_780_000_000, "model_name": "m", "quota": 30_000, "prompt_tokens": 10,
            "completion_tokens": 5, "other": {"group_ratio": 0.6, "user_group_ratio": -1}});
        let log = Log::of_token(&json!({"data": [row]}));
        // How it is shown, its unit, and then what is left, used, charged and due at list price, as it is shown.
        let cases = [
            (json!({"quota_display_type": "USD"}), "USD", ["8", "2", "0.06", "0.1"]),
            (json!({"quota_display_type": "CNY", "usd_exchange_rate": 7.5}), "CNY", ["60", "15", "0.45", "0.75"]),
            (json!({"quota_display_type": "CNY", "price": "7"}), "CNY", ["56", "14", "0.42", "0.7"]),
            (json!({"quota_display_type": "TOKENS"}), "TOKENS", ["4000000", "1000000", "30000", "50000"]),
            (
                json!({"quota_display_type": "CUSTOM", "custom_currency_symbol": "€", "custom_currency_exchange_rate": 0.9}),
                "EUR",
                ["7.2", "1.8", "0.054", "0.09"],
            ),
        ];
        for (said, unit, expected) in cases {
            let site = site(&json!({"data": said})).unwrap();
            let charge = log.charges(site.per_dollar, None).remove(0);
            let found = collected(of_token(used.clone()), site);
            let rate = found.shown.map_or(Decimal::ONE, |shown| shown.rate);
            let currency = found.shown.map_or(found.currency, |shown| shown.currency);
            let shown = |amount: Option<Decimal>| (amount.unwrap() * rate).normalize().to_string();
            let amounts = [found.remaining, found.charged, Some(charge.charged), charge.list].map(shown);
            assert_eq!((currency.as_str(), amounts.each_ref().map(String::as_str)), (unit, expected), "{said}");
        }
    }
}
