//! The spans of a request, by the names that OpenTelemetry gives to generative AI.

use chrono::{DateTime, Utc};
use headgate_domain::{AttemptRecord, Outcome, Protocol, RequestRecord, UpstreamKind, audit::UsageColumns};
use headgate_routing::Time;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value::Value},
    resource::v1::Resource,
    trace::v1::{ResourceSpans, ScopeSpans, Span, Status, span::SpanKind, status::StatusCode},
};

/// What the gateway does before it sends anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// `auth`, `queue`, `route` or `translate`.
    pub name: &'static str,
    /// From the arrival of the request.
    pub begin: std::time::Duration,
    /// From the arrival of the request.
    pub end: std::time::Duration,
}

impl Step {
    /// A step of a request that arrived at `arrival`.
    pub fn new(name: &'static str, arrival: Time, begin: Time, end: Time) -> Self {
        Self { name, begin: begin.since(arrival), end: end.since(arrival) }
    }
}

/// The client's own trace, of which the request is a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parent {
    trace: [u8; 16],
    span: [u8; 8],
}

impl Parent {
    /// From a `traceparent` header; none if that is not one.
    pub fn read(header: &str) -> Option<Self> {
        let parts: Vec<&str> = header.trim().split('-').collect();
        let [version, trace, span, _flags, ..] = parts.as_slice() else { return None };
        if *version == "ff" || version.len() != 2 {
            return None;
        }
        let (trace, span) = (bytes::<16>(trace)?, bytes::<8>(span)?);
        (trace != [0; 16] && span != [0; 8]).then_some(Self { trace, span })
    }
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    if hex.len() != 2 * N || !hex.is_ascii() {
        return None;
    }
    let mut all = [0; N];
    for (n, byte) in all.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    Some(all)
}

/// All spans of a request: itself, its steps, its attempts.
pub fn of(request: &RequestRecord, attempts: &[AttemptRecord], steps: &[Step], parent: Option<Parent>) -> Vec<Span> {
    let id = request.id.as_bytes();
    let trace = parent.map_or(*id, |parent| parent.trace);
    let own = |number: u8| {
        // The random half of the request's id, told apart by a number.
        let mut span: [u8; 8] = std::array::from_fn(|n| id.get(8 + n).copied().unwrap_or_default());
        span[7] = span[7].wrapping_add(number);
        span.to_vec()
    };
    let span = |number: u8, name: String, kind: SpanKind, begin: u64, end: u64| Span {
        trace_id: trace.to_vec(),
        span_id: own(number),
        parent_span_id: if number == 0 { parent.map_or_else(Vec::new, |p| p.span.to_vec()) } else { own(0) },
        name,
        kind: kind as i32,
        start_time_unix_nano: begin,
        end_time_unix_nano: end.max(begin),
        ..Span::default()
    };
    let began = nanos(request.started_at);
    let model = request.model.as_deref().unwrap_or_default();
    let mut root = span(0, format!("chat {model}"), SpanKind::Server, began, nanos(request.completed_at));
    let protocol = request.protocol.unwrap_or(Protocol::Chat);
    root.attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", model),
        text("gen_ai.provider.name", provider(protocol)),
        text("http.request.method", "POST"),
        text("url.path", &request.endpoint),
        number("http.response.status_code", i64::from(request.status)),
        text("headgate.request.id", &request.id.to_string()),
        text("headgate.outcome", request.outcome.as_str()),
        number("headgate.attempts", i64::from(request.attempt_count)),
    ];
    let named = [
        ("headgate.group", &request.group_name),
        ("headgate.key", &request.key_name),
        ("headgate.upstream", &request.upstream_name),
        ("headgate.client", &request.client),
        ("error.type", &request.error_kind),
    ];
    root.attributes.extend(named.into_iter().filter_map(|(name, value)| Some(text(name, value.as_deref()?))));
    root.attributes.extend(usage(&request.usage));
    root.status = status(request.outcome, request.error_text.as_deref());
    let mut all = vec![root];
    let mut next = 0_u8;
    for step in steps {
        next = next.wrapping_add(1);
        let at = |span: std::time::Duration| began.saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        all.push(span(next, step.name.to_owned(), SpanKind::Internal, at(step.begin), at(step.end)));
    }
    for attempt in attempts {
        next = next.wrapping_add(1);
        let model = attempt.mapped_model.as_deref().unwrap_or_default();
        let (begin, end) = (nanos(attempt.attempted_at), nanos(attempt.completed_at));
        let mut one = span(next, format!("chat {model}"), SpanKind::Client, begin, end);
        one.attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", model),
            text("gen_ai.provider.name", provider(spoken(attempt.protocol, protocol))),
            text("headgate.upstream", &attempt.upstream_name),
            number("headgate.attempt", i64::from(attempt.number)),
            text("headgate.selection", attempt.selection.as_str()),
        ];
        one.attributes.extend(attempt.status.map(|status| number("http.response.status_code", i64::from(status))));
        one.attributes.extend(attempt.error_kind.as_deref().map(|kind| text("error.type", kind)));
        one.attributes.extend(attempt.ttft_ms.map(|ms| number("headgate.first_output_ms", ms)));
        one.attributes.extend(usage(&attempt.usage));
        one.status = status(attempt.outcome, attempt.error_text.as_deref());
        all.push(one);
    }
    all
}

/// The document that is sent.
pub fn document(service: &str, spans: Vec<Span>) -> ExportTraceServiceRequest {
    let version = env!("CARGO_PKG_VERSION");
    let attributes = vec![text("service.name", service), text("service.version", version)];
    let scope = InstrumentationScope { name: "headgate".into(), version: version.into(), ..Default::default() };
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource { attributes, ..Default::default() }),
            scope_spans: vec![ScopeSpans { scope: Some(scope), spans, ..Default::default() }],
            ..Default::default()
        }],
    }
}

/// What the upstream was spoken to in.
fn spoken(kind: UpstreamKind, client: Protocol) -> Protocol {
    match kind {
        UpstreamKind::Passthrough => client,
        UpstreamKind::Openai => Protocol::Chat,
        UpstreamKind::OpenaiResponse | UpstreamKind::Codex => Protocol::Responses,
        UpstreamKind::Claude => Protocol::Claude,
    }
}

/// Whose format it is: the convention asks for that where the vendor behind a relay is not known.
fn provider(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat | Protocol::Responses => "openai",
        Protocol::Claude => "anthropic",
    }
}

fn usage(usage: &UsageColumns) -> Vec<KeyValue> {
    let parts =
        [usage.tokens_fresh, usage.tokens_read, usage.tokens_write_5m, usage.tokens_write_1h, usage.tokens_write_other];
    let input = parts.iter().any(Option::is_some).then(|| parts.iter().flatten().sum());
    let cached = usage.tokens_read.map(|n| number("gen_ai.usage.cache_read.input_tokens", n));
    let input = input.map(|n| number("gen_ai.usage.input_tokens", n));
    let output = usage.tokens_output.map(|n| number("gen_ai.usage.output_tokens", n));
    [input, cached, output].into_iter().flatten().collect()
}

/// What a client did itself is no error of the server.
fn status(outcome: Outcome, message: Option<&str>) -> Option<Status> {
    let fine = matches!(outcome, Outcome::Success | Outcome::Canceled | Outcome::ClientError);
    (!fine).then(|| Status { message: message.unwrap_or_default().to_owned(), code: StatusCode::Error as i32 })
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn number(key: &str, value: i64) -> KeyValue {
    attribute(key, Value::IntValue(value))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn nanos(at: DateTime<Utc>) -> u64 {
    at.timestamp_nanos_opt().and_then(|n| u64::try_from(n).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_parent_is_read_from_the_clients_header_and_nonsense_is_none() {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parent = Parent::read(header).unwrap();
        assert_eq!((parent.trace[0], parent.span[7]), (0x4b, 0xb7));
        for nonsense in [
            "",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf9-00f0-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Parent::read(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_request_is_a_tree_of_itself_its_steps_and_its_attempts() {
        let request = RequestRecord { id: uuid::Uuid::now_v7(), model: Some("m".into()), ..RequestRecord::default() };
        let attempt = AttemptRecord { number: 1, error_kind: Some("server".into()), ..AttemptRecord::default() };
        let step = Step { name: "auth", begin: Duration::ZERO, end: Duration::from_millis(1) };
        let spans = of(&request, &[attempt.clone(), AttemptRecord { number: 2, ..attempt }], &[step], None);
        assert_eq!(spans.len(), 4);
        let root = &spans[0];
        assert!(root.parent_span_id.is_empty() && root.trace_id == request.id.as_bytes());
        assert!(spans[1..].iter().all(|s| s.parent_span_id == root.span_id && s.trace_id == root.trace_id));
        let ids: std::collections::BTreeSet<_> = spans.iter().map(|s| s.span_id.clone()).collect();
        assert_eq!(ids.len(), 4);
        let parent = Parent { trace: [7; 16], span: [9; 8] };
        let inside = of(&request, &[], &[], Some(parent));
        assert_eq!((&inside[0].trace_id, &inside[0].parent_span_id), (&vec![7; 16], &vec![9; 8]));
    }
}
