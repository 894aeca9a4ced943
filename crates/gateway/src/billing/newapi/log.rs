//! new-api's log of charges, row by row: what was charged, for which tokens, and at which list price.
//!
//! A site multiplies its list price by the ratio of a group; so the list price of a row is what it charged by the ratio
//! it applied. Forks leave the ratio out: then the site's published prices tell it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use headgate_domain::Usage;
use headgate_pricing::compare::charges::Charge;
use headgate_store::billing::Listed;
use rust_decimal::Decimal;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::billing::collected::{positive_figure, word};

/// Log type of a charge.
pub const CONSUME: u64 = 2;
/// The log of a token is cut at about so many rows.
const CUT: usize = 950;
/// Longest name taken from a row.
const NAME: usize = 200;

/// Rows of a log, newest first.
#[derive(Debug, Default)]
pub struct Log {
    /// The rows.
    pub rows: Vec<Value>,
    /// There may be older ones that were not told.
    pub is_cut: bool,
}

impl Log {
    /// The answer of the log of a token.
    pub fn of_token(body: &Value) -> Self {
        let rows = body["data"].as_array().cloned().unwrap_or_default();
        Self { is_cut: rows.len() >= CUT, rows }
    }

    /// The charges of these rows, newest first. `prices` is the site's own list, asked for where a row needs it.
    pub fn charges(&self, per_dollar: Decimal, prices: Option<&Prices>) -> Vec<Charge> {
        let mut seen = HashMap::new();
        let rows = self.rows.iter().filter(|row| row["type"].as_u64() == Some(CONSUME));
        rows.filter_map(|row| charge(row, per_dollar, prices, &mut seen)).collect()
    }
}

/// The further facts of a row, which some versions write as a text.
pub fn other(row: &Value) -> Value {
    match &row["other"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        other => other.clone(),
    }
}

/// The ratio that a row was charged with: the user's own before that of the group; −1 stands for none.
fn applied(other: &Value) -> Option<Decimal> {
    let of = |field: &str| other.get(field).and_then(positive_figure);
    of("user_group_ratio").or_else(|| of("group_ratio"))
}

fn charge(
    row: &Value,
    per_dollar: Decimal,
    prices: Option<&Prices>,
    seen: &mut HashMap<String, u32>,
) -> Option<Charge> {
    let at = DateTime::from_timestamp(row["created_at"].as_i64()?, 0)?;
    let clipped = |value: &Value| word(value).map(|text| headgate_domain::audit::clip(text, NAME));
    let model = clipped(&row["model_name"])?;
    let charged = positive_figure(&row["quota"])?.checked_div(per_dollar)?;
    let other = other(row);
    let usage = usage(row, &other);
    let ratio = applied(&other);
    // A ratio of nothing gives everything away, and tells no list price.
    let by_ratio = ratio.filter(|ratio| !ratio.is_zero()).and_then(|ratio| charged.checked_div(ratio));
    let list = by_ratio.or_else(|| prices?.list(&model, &usage, per_dollar)).map(|list| list.round_dp(12).normalize());
    let request_id = clipped(&row["request_id"]).or_else(|| other.get("request_id").and_then(clipped));
    let key = clipped(&row["token_name"]);
    // Rows have no id that stays the same.
    let facts = format!(
        "{}|{model}|{}|{}|{}|{}|{}|{}",
        at.timestamp(),
        row["quota"],
        row["prompt_tokens"],
        row["completion_tokens"],
        row["use_time"],
        key.as_deref().unwrap_or_default(),
        request_id.as_deref().unwrap_or_default()
    );
    let same_before = seen.entry(facts.clone()).or_default();
    let digest = Sha256::digest(format!("{facts}|{same_before}"));
    *same_before += 1;
    let id = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    let charged = charged.round_dp(12).normalize();
    Some(Charge { id, at, model, request_id, key, usage, list, charged, multiplier: ratio })
}

/// The tokens of a row. Rows of Claude's protocol leave cached tokens out of the prompt's, others have them in it.
fn usage(row: &Value, other: &Value) -> Usage {
    let count = |value: &Value| value.as_u64();
    let of = |field: &str| other.get(field).and_then(Value::as_u64);
    let read = of("cache_tokens");
    let (five, hour) = (of("cache_creation_tokens_5m"), of("cache_creation_tokens_1h"));
    let all_writes = of("cache_creation_tokens");
    let split = five.unwrap_or(0) + hour.unwrap_or(0);
    let rest = all_writes.map(|all| all.saturating_sub(split));
    let is_apart = other.get("claude") == Some(&Value::Bool(true));
    let prompt = count(&row["prompt_tokens"]);
    let inside = read.unwrap_or(0) + all_writes.unwrap_or(split);
    Usage {
        fresh: if is_apart { prompt } else { prompt.map(|all| all.saturating_sub(inside)) },
        read,
        write_5m: five,
        write_1h: hour,
        write_other: rest,
        output: count(&row["completion_tokens"]),
        ..Usage::default()
    }
}

/// A site's published prices.
#[derive(Debug, Default)]
pub struct Prices(HashMap<String, Published>);

/// How one model is priced there.
#[derive(Debug)]
enum Published {
    /// By tokens: ratios of its base, one of which is a unit of quota for a token.
    Tokens { base: Decimal, output: Decimal, read: Option<Decimal>, write: Option<Decimal> },
    /// For each request, in dollars.
    Request(Decimal),
}

impl Prices {
    /// Reads the answer of `/api/pricing`. What is priced by an expression is left out.
    pub fn of(body: &Value) -> Self {
        let rows = body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        let price = |row: &Value| {
            let name = word(&row["model_name"])?.to_owned();
            if word(&row["billing_expr"]).is_some() {
                return None;
            }
            let published = match row["quota_type"].as_u64() {
                Some(1) => Published::Request(positive_figure(&row["model_price"])?),
                _ => Published::Tokens {
                    base: positive_figure(&row["model_ratio"])?,
                    output: positive_figure(&row["completion_ratio"]).unwrap_or(Decimal::ONE),
                    read: positive_figure(&row["cache_ratio"]),
                    write: positive_figure(&row["create_cache_ratio"]),
                },
            };
            Some((name, published))
        };
        Self(rows.iter().filter_map(price).collect())
    }

    /// The list price of a usage, in dollars. `None`: the model, or a part that was used, has no price.
    fn list(&self, model: &str, usage: &Usage, per_dollar: Decimal) -> Option<Decimal> {
        match self.0.get(model)? {
            Published::Request(price) => Some(*price),
            Published::Tokens { base, output, read, write } => {
                let part = |tokens: Option<u64>, ratio: Option<Decimal>| match tokens.unwrap_or(0) {
                    0 => Some(Decimal::ZERO),
                    tokens => ratio?.checked_mul(tokens.into()),
                };
                let writes = [usage.write_5m, usage.write_1h, usage.write_other].into_iter().flatten().sum();
                let weighted = part(usage.fresh, Some(Decimal::ONE))?
                    .checked_add(part(usage.read, *read)?)?
                    .checked_add(part(Some(writes), *write)?)?
                    .checked_add(part(usage.output, Some(*output))?)?;
                weighted.checked_mul(*base)?.checked_div(per_dollar)
            }
        }
    }
}

/// Adds the list prices of the charges that are new to those counted before. `None`: some are missing, or have no list
/// price, so that counting begins anew.
pub fn listed(before: &Listed, charges: &[&Charge], is_cut: bool) -> Option<Listed> {
    let newest = charges.iter().map(|charge| charge.at).max();
    let oldest = charges.iter().map(|charge| charge.at).min();
    if is_cut && oldest.is_some_and(|oldest| oldest > before.at) {
        return None;
    }
    let is_new =
        |charge: &Charge| charge.at > before.at || (charge.at == before.at && !before.ids.contains(&charge.id));
    let mut total = before.total;
    for charge in charges.iter().filter(|charge| is_new(charge)) {
        total = total.checked_add(charge.list?)?;
    }
    let at = newest.map_or(before.at, |newest| newest.max(before.at));
    Some(Listed { total, at, ids: ids_at(at, charges, before) })
}

/// Where counting begins: after everything that is listed now.
pub fn begun(charges: &[&Charge]) -> Listed {
    let at = charges.iter().map(|charge| charge.at).max().unwrap_or(DateTime::<Utc>::UNIX_EPOCH);
    let nothing = Listed { total: Decimal::ZERO, at, ids: Vec::new() };
    Listed { ids: ids_at(at, charges, &nothing), ..nothing }
}

/// The charges of the newest second: more of it may follow.
fn ids_at(at: DateTime<Utc>, charges: &[&Charge], before: &Listed) -> Vec<String> {
    let mut ids: Vec<String> =
        charges.iter().filter(|charge| charge.at == at).map(|charge| charge.id.clone()).collect();
    if before.at == at {
        ids.extend(before.ids.iter().cloned());
    }
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// What the newest charge tells.
#[derive(Debug, Default, PartialEq)]
pub struct Newest {
    /// The key's group.
    pub group: Option<String>,
    /// The group's ratio then.
    pub ratio: Option<Decimal>,
    /// The user's own ratio in that group.
    pub own: Option<Decimal>,
}

/// Reads rows, newest first: the group of the first that has one, and the ratios of the newest charge in it. Some
/// versions leave the group out.
pub fn newest(rows: &[Value]) -> Newest {
    let mut found =
        Newest { group: rows.iter().find_map(|row| word(&row["group"])).map(str::to_owned), ..Newest::default() };
    for row in rows {
        if let (Some(ours), Some(theirs)) = (&found.group, word(&row["group"]))
            && ours != theirs
        {
            break;
        }
        let other = other(row);
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

    fn log(rows: Value) -> Log {
        Log::of_token(&json!({"data": rows}))
    }

    fn row(at: i64, quota: u64, other: Value) -> Value {
        json!({"type": 2, "created_at": at, "model_name": "m", "quota": quota, "prompt_tokens": 1000,
            "completion_tokens": 100, "use_time": 3, "group": "vip", "token_name": "t", "other": other})
    }

    const UNIT: Decimal = Decimal::from_parts(500_000, 0, 0, false, 0);

    #[test]
    fn the_list_price_of_a_row_is_what_it_charged_by_the_ratio_it_applied() {
        let rows = log(json!([
            row(30, 500, json!("{\"group_ratio\": 0.5, \"user_group_ratio\": -1}")),
            row(20, 500, json!({"group_ratio": 0.5, "user_group_ratio": 0.25})),
            row(10, 500, json!({"group_ratio": 0})),
            {"type": 5, "created_at": 9, "model_name": "m", "quota": 0},
        ]));
        let charges = rows.charges(UNIT, None);
        let told: Vec<_> = charges.iter().map(|c| (c.charged, c.list, c.multiplier)).collect();
        assert_eq!(
            told,
            [
                (d("0.001"), Some(d("0.002")), Some(d("0.5"))),
                (d("0.001"), Some(d("0.004")), Some(d("0.25"))),
                (d("0.001"), None, Some(d("0"))),
            ]
        );
    }

    #[test]
    fn a_fork_without_ratios_is_priced_by_the_sites_own_list() {
        let prices = Prices::of(&json!({"data": [
            {"model_name": "m", "quota_type": 0, "model_ratio": 1.5, "completion_ratio": 5, "cache_ratio": 0.1},
            {"model_name": "picture", "quota_type": 1, "model_price": 0.04},
            {"model_name": "odd", "quota_type": 0, "model_ratio": 1, "billing_expr": "a*b"}]}));
        let of = |model: &str, other: Value| {
            let mut row = row(1, 1, other);
            row["model_name"] = model.into();
            log(json!([row])).charges(UNIT, Some(&prices)).remove(0).list
        };
        // (600 + 400 × 0.1 + 100 × 5) × 1.5 units.
        assert_eq!(of("m", json!({"cache_tokens": 400})), Some(d("0.00342")));
        assert_eq!(of("m", json!({"cache_creation_tokens": 400})), None, "writes have no price there");
        assert_eq!(of("picture", json!("")), Some(d("0.04")));
        assert_eq!((of("odd", json!({})), of("unknown", json!({}))), (None, None));
    }

    #[test]
    fn cached_tokens_are_inside_of_the_prompt_but_for_claude() {
        let other = json!({"cache_tokens": 300, "cache_creation_tokens": 200, "cache_creation_tokens_1h": 50});
        let openai = log(json!([row(1, 1, other.clone())])).charges(UNIT, None).remove(0).usage;
        assert_eq!(
            (openai.fresh, openai.read, openai.write_1h, openai.write_other),
            (Some(500), Some(300), Some(50), Some(150))
        );
        let mut apart = other;
        apart["claude"] = true.into();
        let claude = log(json!([row(1, 1, apart)])).charges(UNIT, None).remove(0).usage;
        assert_eq!((claude.fresh, claude.input()), (Some(1000), 1500));
    }

    #[test]
    fn equal_rows_are_different_charges_and_the_same_ones_the_next_time() {
        let rows = json!([row(5, 10, json!({})), row(5, 10, json!({})), row(4, 10, json!({}))]);
        let (first, again) = (log(rows.clone()).charges(UNIT, None), log(rows).charges(UNIT, None));
        assert_eq!(first, again);
        assert_ne!(first[0].id, first[1].id);
        assert_ne!(first[1].id, first[2].id);
    }

    #[test]
    fn list_prices_are_added_up_once_each_and_anew_where_some_are_missing() {
        let rows = |seconds: &[i64]| -> Vec<Charge> {
            let rows: Vec<Value> = seconds.iter().map(|at| row(*at, 500, json!({"group_ratio": 1}))).collect();
            log(Value::from(rows)).charges(UNIT, None)
        };
        let count =
            |before: &Listed, charges: &[Charge], is_cut| listed(before, &charges.iter().collect::<Vec<_>>(), is_cut);
        let start = begun(&rows(&[10, 9]).iter().collect::<Vec<_>>());
        assert_eq!(start.total, Decimal::ZERO);
        let next = count(&start, &rows(&[12, 11, 10, 9]), false).unwrap();
        assert_eq!(next.total, d("0.002"));
        assert_eq!(count(&next, &rows(&[12, 11, 10]), false).unwrap().total, next.total);
        // One more of the same second.
        assert_eq!(count(&next, &rows(&[12, 12, 11]), false).unwrap().total, d("0.003"));
        assert_eq!(count(&next, &rows(&[20, 19]), true), None, "rows between are missing");
        assert_eq!(count(&next, &rows(&[20, 12]), true).unwrap().total, d("0.003"));
        let nothing = begun(&[]);
        assert_eq!(count(&nothing, &rows(&[3]), false).unwrap().total, d("0.001"));
    }

    #[test]
    fn the_newest_charge_tells_group_and_ratio() {
        let body = json!([
            {"type": 1, "group": "vip", "other": ""},
            {"type": 2, "group": "vip", "other": "{\"group_ratio\": 0.8, \"user_group_ratio\": -1}"},
            {"type": 2, "group": "default", "other": {"group_ratio": 3}}]);
        let expected = Newest { group: Some("vip".to_owned()), ratio: Some(d("0.8")), own: None };
        assert_eq!(newest(&log(body).rows), expected);
        let own = json!([{"type": 2, "group": "vip", "other": {"group_ratio": 0.8, "user_group_ratio": 0.6}}]);
        assert_eq!(newest(&log(own).rows).own, Some(d("0.6")));
    }

    #[test]
    fn ratios_of_another_group_or_behind_the_newest_charge_are_not_taken() {
        let other_group = json!([{"type": 1, "group": "a"}, {"type": 2, "group": "b", "other": {"group_ratio": 3}}]);
        assert_eq!(newest(&log(other_group).rows), Newest { group: Some("a".to_owned()), ..Newest::default() });
        let older =
            json!([{"type": 2, "group": "a", "other": "{}"}, {"type": 2, "group": "a", "other": {"group_ratio": 3}}]);
        assert_eq!(newest(&log(older).rows).ratio, None);
    }

    #[test]
    fn a_log_without_groups_still_tells_the_ratio() {
        let rows = log(json!([{"type": 2, "other": "{\"group_ratio\": 1.5}"}])).rows;
        assert_eq!(newest(&rows), Newest { group: None, ratio: Some(d("1.5")), own: None });
        assert_eq!(newest(&[]), Newest::default());
        assert!(Log::of_token(&json!({})).rows.is_empty());
    }
}
