//! Traces as a collector receives them: the tree of a request, and nothing of what was said.

use std::collections::BTreeMap;

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{KEY, PATHS, Setup, header, until},
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use prost::Message as _;

/// The spans that the collector, a fake like any other, was sent.
fn spans(collector: &Fake) -> Vec<Span> {
    let documents = collector.seen().into_iter().map(|seen| {
        assert_eq!((seen.path.as_str(), seen.header("content-type")), ("/v1/traces", Some("application/x-protobuf")));
        ExportTraceServiceRequest::decode(&seen.body[..]).unwrap()
    });
    documents.flat_map(|d| d.resource_spans).flat_map(|r| r.scope_spans).flat_map(|s| s.spans).collect()
}

fn words(attributes: &[KeyValue]) -> BTreeMap<&str, String> {
    let word = |pair: &KeyValue| match pair.value.as_ref().and_then(|v| v.value.clone()) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    };
    attributes.iter().map(|pair| (pair.key.as_str(), word(pair))).collect()
}

fn configuration(first: &Fake, second: &Fake) -> String {
    format!(
        "version: 1
upstreams:
  - {{ name: first, base_url: '{}', protocol: claude, credentials: [ {{ value: canary-credential }} ] }}
  - {{ name: second, base_url: '{}' }}
groups: [ {{ name: g, members: [ {{ upstream: first, priority: 1 }}, {{ upstream: second, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        first.url(),
        second.url()
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_receives_the_tree_of_a_request_inside_the_clients_own_trace() {
    let (first, second, collector) = (Fake::start().await, Fake::start().await, Fake::start().await);
    collector.always(Behaviour::status(200).body("{}"));
    let headgate = Setup::new(&configuration(&first, &second))
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=canary-header")
        .start()
        .await;
    first.script([Rule::times(1, Behaviour::status(500))]);
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let request = headgate.ask(PATHS[1], "m", true).header("traceparent", parent);
    let response = request.send().await.unwrap();
    assert_eq!(header(&response, "x-headgate-attempts"), Some("2"));
    let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
    response.bytes().await.unwrap();
    until("the trace to arrive", || async { spans(&collector).len() >= 7 }).await;

    let all = spans(&collector);
    let root = all.iter().find(|s| s.kind == 2).expect("a server's span");
    assert_eq!(root.name, "chat m");
    assert_eq!(root.trace_id[..2], [0x4b, 0xf9]);
    assert_eq!(root.parent_span_id[..2], [0x00, 0xf0]);
    let said = words(&root.attributes);
    for (name, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.request.model", "m"),
        ("gen_ai.provider.name", "openai"),
        ("http.response.status_code", "200"),
        ("headgate.upstream", "second"),
        ("headgate.attempts", "2"),
        ("headgate.request.id", &id),
    ] {
        assert_eq!(said.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert!(said.contains_key("gen_ai.usage.input_tokens") && said.contains_key("gen_ai.usage.output_tokens"));
    let under = |kind| all.iter().filter(move |s| s.kind == kind && s.parent_span_id == root.span_id);
    let steps: Vec<&str> = under(1).map(|s| s.name.as_str()).collect();
    assert_eq!(steps, ["auth", "route", "translate", "route"]);
    let attempts: Vec<_> = under(3).map(|s| words(&s.attributes)).collect();
    assert_eq!(attempts.len(), 2);
    assert_eq!(
        (attempts[0]["headgate.upstream"].as_str(), attempts[0]["gen_ai.provider.name"].as_str()),
        ("first", "anthropic")
    );
    assert_eq!(
        (attempts[0]["error.type"].as_str(), attempts[0]["http.response.status_code"].as_str()),
        ("server", "500")
    );
    assert_eq!(attempts[1]["headgate.selection"], "failover");
    assert!(
        all.iter()
            .all(|s| s.end_time_unix_nano >= s.start_time_unix_nano
                && s.start_time_unix_nano >= root.start_time_unix_nano)
    );

    let sent = collector.seen();
    assert_eq!(sent[0].header("x-team"), Some("canary-header"));
    for seen in &sent {
        let body = String::from_utf8_lossy(&seen.body);
        assert!(!body.contains("canary") && !body.contains(KEY) && !body.contains("hello"), "{body}");
    }
    assert!(!headgate.log().contains("canary"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_away_costs_no_request_and_none_is_asked_for_where_no_address_is_given() {
    let (first, second, collector) = (Fake::start().await, Fake::start().await, Fake::start().await);
    let address = collector.url();
    collector.close().await;
    let away = Setup::new(&configuration(&first, &second)).env("OTEL_EXPORTER_OTLP_ENDPOINT", &address).start().await;
    for path in PATHS {
        assert_eq!(away.ask(path, "m", false).send().await.unwrap().status(), 200);
    }
    until("it to be noticed once", || async { away.log().contains("traces could not be delivered") }).await;
    collector.open().await;
    let silent = Setup::new(&configuration(&first, &second)).start().await;
    assert_eq!(silent.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    assert!(collector.seen().is_empty());
}
