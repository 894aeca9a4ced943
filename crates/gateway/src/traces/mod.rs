//! Traces for OpenTelemetry, off unless an address is given: one trace of each request, sent to a collector by OTLP over
//! HTTP. They say who, where and how long, never what was asked or answered.
//!
//! The standard variables switch them on: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` (whole address) or
//! `OTEL_EXPORTER_OTLP_ENDPOINT` (to which `/v1/traces` is added), `OTEL_EXPORTER_OTLP_TRACES_HEADERS` or
//! `OTEL_EXPORTER_OTLP_HEADERS` (`name=value,name=value`) and `OTEL_SERVICE_NAME`. Switched off they cost a request one
//! comparison.

mod spans;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use headgate_domain::{AttemptRecord, RequestRecord};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::{BodyExt as _, Limited};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::sync::mpsc;
use url::Url;

pub use self::spans::{Parent, Step};
use crate::shared::Shared;

/// Traces that wait to be sent; more are dropped and counted.
const WAITING: usize = 2048;
/// Traces sent in one document.
const BATCH: usize = 256;
/// The longest a trace waits for others.
const LINGER: Duration = Duration::from_secs(2);
/// The longest a delivery takes.
const LIMIT: Duration = Duration::from_secs(5);
/// What is read of an answer.
const ANSWER: usize = 64 << 10;

/// Where traces go.
#[derive(Debug, Clone)]
pub struct Collector {
    url: Url,
    headers: HeaderMap,
    service: String,
}

impl Collector {
    /// What the environment says; none if it names no address.
    ///
    /// # Errors
    /// A sentence that says which variable cannot be used.
    pub fn from_env(of: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let given = |name: &str| of(name).filter(|value| !value.trim().is_empty());
        let (name, address) = if let Some(whole) = given("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", whole)
        } else if let Some(base) = given("OTEL_EXPORTER_OTLP_ENDPOINT") {
            ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("{}/v1/traces", base.trim_end_matches('/')))
        } else {
            return Ok(None);
        };
        let url = headgate_domain::alert::check_webhook_url(&address).map_err(|why| format!("{name} {why}"))?;
        let list = given("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or_else(|| given("OTEL_EXPORTER_OTLP_HEADERS"));
        let mut headers = HeaderMap::new();
        for pair in list.iter().flat_map(|list| list.split(',')) {
            let parsed = pair.split_once('=').and_then(|(name, value)| {
                let name = HeaderName::try_from(name.trim()).ok()?;
                Some((name, HeaderValue::try_from(value.trim()).ok()?))
            });
            let (name, mut value) =
                parsed.ok_or("OTEL_EXPORTER_OTLP_HEADERS must be written name=value,name=value".to_owned())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let service = given("OTEL_SERVICE_NAME").unwrap_or_else(|| "headgate".to_owned());
        Ok(Some(Self { url, headers, service }))
    }
}

/// Where the requests' traces are put.
#[derive(Default)]
pub struct Traces(Option<mpsc::Sender<Vec<Span>>>);

/// The other end, for [`run`].
pub struct Outbox {
    collector: Collector,
    take: mpsc::Receiver<Vec<Span>>,
}

impl Traces {
    /// Switched on if there is a collector.
    pub fn to(collector: Option<Collector>) -> (Self, Option<Outbox>) {
        let Some(collector) = collector else { return (Self(None), None) };
        let (put, take) = mpsc::channel(WAITING);
        (Self(Some(put)), Some(Outbox { collector, take }))
    }

    /// Whether steps are worth noting.
    pub fn are_on(&self) -> bool {
        self.0.is_some()
    }

    /// Puts the trace of a request that has ended.
    pub fn put(&self, request: &RequestRecord, attempts: &[AttemptRecord], steps: &[Step], parent: Option<Parent>) {
        if let Some(put) = &self.0
            && put.try_send(spans::of(request, attempts, steps, parent)).is_err()
        {
            tracing::debug!("a trace was dropped: too many wait to be sent");
        }
    }
}

/// Sends what is put, in batches. Never ends.
pub async fn run(shared: Arc<Shared>, mut outbox: Outbox) {
    let mut failures = 0_u32;
    loop {
        let mut batch = Vec::new();
        let Some(first) = outbox.take.recv().await else { return std::future::pending().await };
        batch.extend(first);
        let linger = tokio::time::sleep(LINGER);
        tokio::pin!(linger);
        for _ in 1..BATCH {
            tokio::select! {
                more = outbox.take.recv() => batch.extend(more.unwrap_or_default()),
                () = &mut linger => break,
            }
        }
        let count = batch.len();
        match send(&shared, &outbox.collector, batch).await {
            Ok(()) => failures = 0,
            Err(why) => {
                failures += 1;
                // Once is enough to be noticed.
                if failures == 1 {
                    tracing::warn!(error = %why, spans = count, "traces could not be delivered and are dropped");
                }
            }
        }
    }
}

async fn send(shared: &Shared, collector: &Collector, batch: Vec<Span>) -> Result<(), String> {
    let body = Bytes::from(spans::document(&collector.service, batch).encode_to_vec());
    let mut request = Request::builder().method(Method::POST).uri(collector.url.as_str());
    if let Some(headers) = request.headers_mut() {
        headers.extend(collector.headers.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
    }
    let request = request.body(body).map_err(|why| why.to_string())?;
    let client = shared.clients.fetching(collector.url.as_str(), None, LIMIT);
    let work = async {
        let answer = client.call(request).await.map_err(|why| why.to_string())?;
        let status = answer.status();
        let _ = Limited::new(answer.into_body(), ANSWER).collect().await;
        if status.is_success() { Ok(()) } else { Err(format!("the collector answered {status}")) }
    };
    tokio::time::timeout(LIMIT, work)
        .await
        .unwrap_or_else(|_| Err("the collector did not answer within 5 s".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn from(list: &[(&str, &str)]) -> Result<Option<Collector>, String> {
        let list: HashMap<&str, &str> = list.iter().copied().collect();
        Collector::from_env(|name| list.get(name).map(|value| (*value).to_owned()))
    }

    #[test]
    fn without_an_address_nothing_is_sent() {
        assert!(from(&[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap().is_none());
    }

    #[test]
    fn the_standard_variables_are_understood() {
        let base = from(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/")]).unwrap().unwrap();
        assert_eq!((base.url.as_str(), base.service.as_str()), ("http://127.0.0.1:4318/v1/traces", "headgate"));
        let whole = from(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://collector.example/t"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer x, x-team = a"),
            ("OTEL_SERVICE_NAME", "gate"),
        ])
        .unwrap()
        .unwrap();
        assert_eq!((whole.url.as_str(), whole.service.as_str()), ("https://collector.example/t", "gate"));
        assert_eq!(
            (&whole.headers["authorization"], &whole.headers["x-team"]),
            (&"Bearer x".parse().unwrap(), &"a".parse().unwrap())
        );
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://x"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://169.254.169.254/v1/traces"),
        ] {
            let why = from(&[(name, value)]).unwrap_err();
            assert!(why.starts_with(name), "{why}");
        }
        let headers = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"), ("OTEL_EXPORTER_OTLP_HEADERS", "x")];
        assert!(from(&headers).unwrap_err().contains("name=value"));
    }
}
