//! `/costs/{upstream}/evidence`: all that a verdict rests on as one file, with a checksum by which a change is noticed.

use std::sync::Arc;

use axum::{body::Body, extract::State, response::Response};
use chrono::{DateTime, SecondsFormat, Utc};
use headgate_domain::{UpstreamId, Usage};
use headgate_pricing::{
    by_hand::Set,
    compare::{Comparison, Snapshot, Use, charges::Request},
};
use http::{HeaderValue, header};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    charges::{Span, reconciled},
    error::{
        ApiError,
        extract::{Path, Query},
    },
    export::safe,
};
use crate::{
    billing::{Evidence, Pair, Reconciled, Sums},
    control::ControlError,
    shared::Shared,
};

/// Says the checksum beside the file.
const CHECKSUM: &str = "x-headgate-checksum";

/// How it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    /// One JSON document.
    #[default]
    Json,
    /// A table.
    Csv,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct EvidenceQuery {
    /// `1h`, `24h` or `7d`, until now.
    #[param(inline)]
    window: Span,
    /// `json` or `csv`.
    #[param(inline)]
    format: Format,
}

/// What a file is about.
#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    version: &'static str,
    generated_at: DateTime<Utc>,
    upstream: &'a str,
    base_url: &'a str,
    window: &'static str,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// The verdict with its figures.
    comparison: &'a Comparison,
    /// What the upstream said of itself.
    snapshots: Vec<Value>,
    /// Multipliers set by hand, which go before those it states: from when on, and how much; null: taken back.
    multipliers_by_hand: Vec<Value>,
    /// Single charges and requests, with the ids of both sides and the prices used.
    pairs: &'a [Pair],
    /// Sums of the pairs.
    sums: &'a Sums,
    /// Older pairs were left out: there were too many.
    pairs_cut: bool,
    /// Our own requests, where the upstream lists no charges to pair them with.
    requests: &'a [Request],
    /// Our own requests, as the comparison counts them.
    uses: Vec<Value>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(evidence))
}

/// All that a verdict rests on, as a file
///
/// Snapshots, single charges and requests with the ids of both sides, the prices used, and the verdict. Its checksum
/// stands in the file and in the header `x-headgate-checksum`.
#[utoipa::path(get, path = "/costs/{upstream}/evidence", tag = "prices", params(("upstream" = i64, Path), EvidenceQuery), responses((status = 200, content_type = "application/json", body = String)))]
async fn evidence(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Query(EvidenceQuery { window: span, format }): Query<EvidenceQuery>,
) -> Result<Response, ApiError> {
    let window = span.window(&shared);
    let (evidence, reconciled) = reconciled(&shared, id, window).await?;
    let comparison = evidence.compare(window);
    let alone = match reconciled.window {
        Some(_) => Vec::new(),
        None => {
            let database = shared.control.database()?;
            database.billed_requests(id, window.from, window.to).await.map_err(ControlError::from)?
        }
    };
    let snapshot = shared.snapshot.load_full();
    let upstream = snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    let head = Head {
        format: "headgate-evidence/1",
        version: env!("CARGO_PKG_VERSION"),
        generated_at: window.to,
        upstream: upstream.name.as_str(),
        base_url: &upstream.spec.base_url,
        window: span.as_str(),
    };
    let name = format!("evidence-{}-{}", id, window.to.format("%Y%m%d-%H%M%S"));
    let (text, sum, kind, ending) = match format {
        Format::Json => {
            let (text, sum) = document(head, &comparison, &evidence, &reconciled, &alone)?;
            (text, sum, "application/json", "json")
        }
        Format::Csv => {
            let (text, sum) = table(&head, &comparison, &evidence, &reconciled, &alone)?;
            (text, sum, "text/csv; charset=utf-8", "csv")
        }
    };
    let mut response = Response::new(Body::from(text));
    let value = |text: String| HeaderValue::try_from(text).map_err(|_| ApiError::bad_request("it has no file name"));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_DISPOSITION, value(format!("attachment; filename=\"{name}.{ending}\""))?);
    headers.insert(CHECKSUM, value(format!("sha256:{sum}"))?);
    Ok(response)
}

/// `{ "content": …, "sha256": … }`; the checksum is of the content as [`canonical`] writes it.
fn document(
    head: Head<'_>,
    comparison: &Comparison,
    evidence: &Evidence,
    reconciled: &Reconciled,
    requests: &[Request],
) -> Result<(String, String), ApiError> {
    let content = Content {
        head,
        comparison,
        snapshots: evidence.snapshots.iter().map(snapshot).collect(),
        multipliers_by_hand: evidence.by_hand.sets().iter().map(set_by_hand).collect(),
        pairs: &reconciled.pairs,
        sums: &reconciled.sums,
        pairs_cut: reconciled.is_cut,
        requests,
        uses: evidence.uses.iter().map(one_use).collect(),
    };
    let content = serde_json::to_value(content).map_err(unwritable)?;
    let mut text = String::new();
    canonical(&content, &mut text);
    let sum = checksum(text.as_bytes());
    let whole = serde_json::to_string_pretty(&json!({"content": content, "sha256": sum})).map_err(unwritable)?;
    Ok((whole + "\n", sum))
}

fn unwritable(why: impl std::fmt::Display) -> ApiError {
    ApiError::bad_request(format!("the evidence could not be written: {why}"))
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Without white space, keys in the order of their bytes: what `jq -cS` writes.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, item)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                canonical(item, text);
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// A snapshot with amounts as texts, and whose it is as one, since not every program reads so large a number.
fn snapshot(snapshot: &Snapshot) -> Value {
    json!({
        "at": snapshot.at,
        "key": format!("{:016x}", snapshot.key),
        "currency": snapshot.currency,
        "list": snapshot.list.map(amount),
        "charged": snapshot.charged.map(amount),
        "requests": snapshot.requests,
        "remaining": snapshot.remaining.map(amount),
        "multiplier": snapshot.multiplier.as_ref().map(|multiplier| amount(multiplier.at(snapshot.at))),
        "counters": snapshot.counters,
        "balance": snapshot.balance,
    })
}

fn set_by_hand(set: &Set) -> Value {
    json!({"at": set.at, "multiplier": set.multiplier.map(amount)})
}

fn one_use(one: &Use) -> Value {
    json!({"at": one.at, "list": one.list.map(amount), "complete": one.complete})
}

fn amount(amount: Decimal) -> String {
    amount.normalize().to_string()
}

const COLUMNS: [&str; 25] = [
    "row",
    "at",
    "model",
    "currency",
    "list",
    "charged",
    "remaining",
    "multiplier",
    "charge_id",
    "charge_request_id",
    "charge_model",
    "charge_input",
    "charge_cache_read",
    "charge_output",
    "request_id",
    "attempt",
    "upstream_request_id",
    "request_input",
    "request_cache_read",
    "request_output",
    "request_list",
    "price_entry",
    "price_version",
    "matched_by",
    "differences",
];

/// Lines of `#` with the verdict, a table of everything, and last the checksum of all lines before it.
fn table(
    head: &Head<'_>,
    comparison: &Comparison,
    evidence: &Evidence,
    reconciled: &Reconciled,
    requests: &[Request],
) -> Result<(String, String), ApiError> {
    let word = |value: serde_json::Result<Value>| match value {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    };
    let verdict = word(serde_json::to_value(comparison.status));
    let reason = word(serde_json::to_value(comparison.reason));
    let one_line = |text: &str| text.replace(char::is_control, " ");
    let mut text = format!(
        "# {} of {} ({}), {} until {}, Headgate {}\n# verdict: {verdict}, {reason}\n",
        head.format,
        one_line(head.upstream),
        one_line(head.base_url),
        head.window,
        moment(head.generated_at),
        head.version
    );
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).map_err(unwritable)?;
    for snapshot in &evidence.snapshots {
        writer.write_record(snapshot_row(snapshot)).map_err(unwritable)?;
    }
    for set in evidence.by_hand.sets() {
        writer.write_record(by_hand_row(set)).map_err(unwritable)?;
    }
    for pair in &reconciled.pairs {
        let kind = match (&pair.charge, &pair.request) {
            (Some(_), Some(_)) => "pair",
            (Some(_), None) => "charge without a request",
            (None, _) => "request without a charge",
        };
        writer.write_record(pair_row(kind, pair, &word)).map_err(unwritable)?;
    }
    for request in requests {
        let pair = Pair { charge: None, request: Some(request.clone()), by: None, differences: Vec::new() };
        writer.write_record(pair_row("request", &pair, &word)).map_err(unwritable)?;
    }
    let rows = writer.into_inner().map_err(unwritable)?;
    text.push_str(&String::from_utf8(rows).map_err(unwritable)?);
    let sum = checksum(text.as_bytes());
    text.push_str(&format!("# sha256 of the lines before: {sum}\n"));
    Ok((text, sum))
}

fn moment(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn snapshot_row(snapshot: &Snapshot) -> [String; 25] {
    let or_nothing = |of: Option<Decimal>| of.map(amount).unwrap_or_default();
    let mut row: [String; 25] = Default::default();
    let [kind, at, _, currency, list, charged, remaining, multiplier, ..] = &mut row;
    *kind = "snapshot".to_owned();
    *at = moment(snapshot.at);
    *currency = snapshot.currency.to_string();
    *list = or_nothing(snapshot.list);
    *charged = or_nothing(snapshot.charged);
    *remaining = or_nothing(snapshot.remaining);
    *multiplier = or_nothing(snapshot.multiplier.as_ref().map(|multiplier| multiplier.at(snapshot.at)));
    row
}

fn by_hand_row(set: &Set) -> [String; 25] {
    let mut row: [String; 25] = Default::default();
    let [kind, at, _, _, _, _, _, multiplier, ..] = &mut row;
    *kind = if set.multiplier.is_some() { "multiplier set by hand" } else { "multiplier taken back" }.to_owned();
    *at = moment(set.at);
    *multiplier = set.multiplier.map(amount).unwrap_or_default();
    row
}

fn pair_row(kind: &str, pair: &Pair, word: &impl Fn(serde_json::Result<Value>) -> String) -> [String; 25] {
    let or_nothing = |of: Option<Decimal>| of.map(amount).unwrap_or_default();
    let (charge, request) = (pair.charge.as_ref(), pair.request.as_ref());
    let tokens = |usage: Option<&Usage>| {
        let usage = usage.filter(|usage| usage.is_reported());
        let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        [number(usage.map(Usage::input)), number(usage.and_then(|u| u.read)), number(usage.and_then(|u| u.output))]
    };
    let [charge_input, charge_read, charge_output] = tokens(charge.map(|charge| &charge.usage));
    let [request_input, request_read, request_output] = tokens(request.map(|request| &request.usage));
    let differences: Vec<String> = pair.differences.iter().map(|one| word(serde_json::to_value(one))).collect();
    [
        kind.to_owned(),
        moment(pair.at()),
        safe(request.map(|request| request.model.as_str()).or(charge.map(|charge| charge.model.as_str()))),
        "USD".to_owned(),
        or_nothing(charge.and_then(|charge| charge.list)),
        or_nothing(charge.map(|charge| charge.charged)),
        String::new(),
        or_nothing(charge.and_then(|charge| charge.multiplier)),
        charge.map(|charge| charge.id.clone()).unwrap_or_default(),
        safe(charge.and_then(|charge| charge.request_id.as_deref())),
        safe(charge.map(|charge| charge.model.as_str())),
        charge_input,
        charge_read,
        charge_output,
        request.map(|request| request.id.clone()).unwrap_or_default(),
        request.map(|request| request.attempt.to_string()).unwrap_or_default(),
        safe(request.and_then(|request| request.upstream_request_id.as_deref())),
        request_input,
        request_read,
        request_output,
        or_nothing(request.and_then(|request| request.list)),
        safe(request.and_then(|request| request.price_entry.as_deref())),
        safe(request.and_then(|request| request.price_version.as_deref())),
        pair.by.map(|by| word(serde_json::to_value(by))).unwrap_or_default(),
        differences.join(" "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_has_sorted_keys_and_no_white_space() {
        let value = json!({"b": [1, {"z": null, "a": "ü \"x\""}], "a": {"c": true}, "A": -1.5});
        let mut text = String::new();
        canonical(&value, &mut text);
        assert_eq!(text, r#"{"A":-1.5,"a":{"c":true},"b":[1,{"a":"ü \"x\"","z":null}]}"#);
    }

    #[test]
    fn a_checksum_is_that_of_sha256() {
        assert_eq!(checksum(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
