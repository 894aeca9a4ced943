//! `/requests/export`: the requests that pass a filter, as a file.

use std::{io, sync::Arc};

use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use futures_util::stream;
use headgate_store::requests::{Cursor, Filter, Item, Paging};
use http::{HeaderValue, header};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    error::{ApiError, extract::Query},
    requests::FilterQuery,
};
use crate::shared::Shared;

/// Rows read at a time.
const PAGE: i64 = 500;
/// Rows of a file at most.
const MAX: usize = 200_000;

/// How it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    /// With a head line; one row a request.
    #[default]
    Csv,
    /// One JSON object a line, with its route.
    Json,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct FormatQuery {
    /// `csv` or `json` (one object a line).
    #[param(inline)]
    format: Format,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(export))
}

/// Requests that pass a filter as a file, newest first, at most 200,000
#[utoipa::path(get, path = "/requests/export", tag = "requests", params(FilterQuery, FormatQuery), responses((status = 200, content_type = "text/csv", body = String)))]
async fn export(
    State(shared): State<Arc<Shared>>,
    Query(filter): Query<FilterQuery>,
    Query(FormatQuery { format }): Query<FormatQuery>,
) -> Result<Response, ApiError> {
    // What is wrong with the filter is told before the file begins.
    let filter: Filter = filter.try_into()?;
    shared.control.database()?.requests(&filter, Paging::After(None), 1).await?;
    let reader = Reader { shared, filter, format, next: Next::First, rows: 0 };
    let pages = stream::try_unfold(reader, Reader::page);
    let mut response = Response::new(Body::from_stream(pages));
    let (kind, file) = match format {
        Format::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"requests.csv\""),
        Format::Json => ("application/x-ndjson", "attachment; filename=\"requests.jsonl\""),
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(file));
    Ok(response)
}

enum Next {
    First,
    After(Cursor),
    End,
}

struct Reader {
    shared: Arc<Shared>,
    filter: Filter,
    format: Format,
    next: Next,
    rows: usize,
}

impl Reader {
    async fn page(mut self) -> io::Result<Option<(Bytes, Self)>> {
        let first = matches!(self.next, Next::First);
        let cursor = match self.next {
            Next::First => None,
            Next::After(cursor) => Some(cursor),
            Next::End => return Ok(None),
        };
        let database = self.shared.control.database().map_err(io::Error::other)?;
        let page = database.requests(&self.filter, Paging::After(cursor), PAGE).await.map_err(io::Error::other)?;
        self.rows += page.items.len();
        self.next = match page.next {
            Some(cursor) if self.rows < MAX => Next::After(cursor),
            _ => Next::End,
        };
        let bytes = match self.format {
            Format::Csv => csv(&page.items, first)?,
            Format::Json => lines(&page.items)?,
        };
        Ok(Some((bytes.into(), self)))
    }
}

fn lines(items: &[Item]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    for item in items {
        serde_json::to_writer(&mut out, item)?;
        out.push(b'\n');
    }
    Ok(out)
}

const COLUMNS: [&str; 27] = [
    "started_at",
    "id",
    "group",
    "key",
    "client",
    "protocol",
    "endpoint",
    "model",
    "stream",
    "outcome",
    "status",
    "error_kind",
    "error_source",
    "error_text",
    "upstream",
    "route",
    "attempts",
    "ttft_ms",
    "duration_ms",
    "overhead_us",
    "tokens_fresh",
    "tokens_cache_read",
    "tokens_output",
    "cost",
    "cost_currency",
    "cost_complete",
    "request_bytes",
];

fn csv(items: &[Item], head: bool) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if head {
        writer.write_record(COLUMNS)?;
    }
    for Item { request: r, route } in items {
        let word = |value: serde_json::Result<serde_json::Value>| match value {
            Ok(serde_json::Value::String(text)) => text,
            _ => String::new(),
        };
        let number = |n: Option<i64>| n.map(|n| n.to_string()).unwrap_or_default();
        let route: Vec<&str> = route.iter().map(|step| step.upstream_name.as_str()).collect();
        let row = [
            r.started_at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
            r.id.to_string(),
            safe(r.group_name.as_deref()),
            safe(r.key_name.as_deref()),
            safe(r.client.as_deref()),
            r.protocol.map(|p| p.as_str().to_owned()).unwrap_or_default(),
            r.endpoint.clone(),
            safe(r.model.as_deref()),
            r.stream.to_string(),
            word(serde_json::to_value(r.outcome)),
            r.status.to_string(),
            safe(r.error_kind.as_deref()),
            word(serde_json::to_value(r.error_source)),
            safe(r.error_text.as_deref()),
            safe(r.upstream_name.as_deref()),
            safe(Some(&route.join(" > "))),
            r.attempt_count.to_string(),
            number(r.ttft_ms),
            r.duration_ms.to_string(),
            number(r.overhead_us),
            number(r.usage.tokens_fresh),
            number(r.usage.tokens_read),
            number(r.usage.tokens_output),
            r.cost.cost.map(|cost| cost.to_string()).unwrap_or_default(),
            r.cost.cost_currency.clone().unwrap_or_default(),
            r.cost.cost_complete.map(|complete| complete.to_string()).unwrap_or_default(),
            r.request_bytes.to_string(),
        ];
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|why| io::Error::other(why.to_string()))
}

/// A text that a spreadsheet does not take for a formula.
pub(super) fn safe(text: Option<&str>) -> String {
    let text = text.unwrap_or_default();
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_no_formulas() {
        assert_eq!(safe(Some("=1+1")), "'=1+1");
        assert_eq!(safe(Some("claude-sonnet")), "claude-sonnet");
        assert_eq!(safe(None), "");
    }
}
