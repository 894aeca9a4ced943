//! Sending one request to one upstream, and reading a refusal.

use bytes::{Bytes, BytesMut};
use headgate_domain::{Class, Detail, Failure, UpstreamError};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use tokio::time::timeout_at;

use super::{
    receive::{Terms, late},
    source::Source,
};
use crate::{
    clock::Clock,
    outbound::{Answer, CallError, Step},
    snapshot::Endpoint,
};

/// Largest part of an error body that is read.
const MAX_REFUSAL: usize = 64 * 1024;

/// The head of an upstream's answer, and its body to come.
pub struct Head {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Answer,
}

/// A request that got no answer.
pub struct Unsent {
    /// Why.
    pub failure: Failure,
    /// Whether anything of it may have gone out.
    pub sent: bool,
}

/// Sends a request and waits for the answer's head.
pub async fn send(
    endpoint: &Endpoint,
    url: &str,
    headers: HeaderMap,
    body: Bytes,
    terms: &Terms<'_>,
    clock: Clock,
) -> Result<Head, Unsent> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.headers_mut() = headers;
    *request.uri_mut() = url.parse::<Uri>().map_err(|why| {
        let failure = Failure::new(Class::Gateway, format!("the upstream's address cannot be called: {why}"));
        Unsent { failure, sent: false }
    })?;
    let limit = if terms.stream { terms.first_work } else { terms.whole };
    let until = terms.deadline.map_or(limit, |d| d.min(limit));
    match timeout_at(clock.instant(until), endpoint.client.call(request)).await {
        Ok(Ok(response)) => {
            let (parts, body) = response.into_parts();
            Ok(Head { status: parts.status, headers: parts.headers, body })
        }
        Ok(Err(why)) => Err(unsent(&why)),
        Err(_) => Err(Unsent { failure: late(terms, until), sent: true }),
    }
}

fn unsent(why: &CallError) -> Unsent {
    let connect = |what: &str, detail| {
        let message = format!("the upstream cannot be reached: {what} ({why})");
        Unsent { failure: Failure { detail, ..Failure::new(Class::Connect, message) }, sent: false }
    };
    match why.step {
        Step::Request => {
            let message = format!("the request could not be made: {why}");
            Unsent { failure: Failure::new(Class::Gateway, message), sent: false }
        }
        Step::Client => connect("there is no client for it", Some(Detail::Proxy)),
        Step::Resolve => connect("its name could not be resolved", Some(Detail::Dns)),
        Step::Handshake => connect("the TLS handshake failed", Some(Detail::Tls)),
        Step::Proxy => connect("the proxy failed", Some(Detail::Proxy)),
        Step::Connect if why.timed_out => connect("the connect limit passed", None),
        Step::Connect => connect("the connection failed", None),
        Step::Exchange => {
            let message = format!("the upstream closed the connection before it answered ({why})");
            Unsent { failure: Failure::new(Class::Cut, message), sent: true }
        }
    }
}

/// An upstream's refusal, read.
pub struct Refusal {
    /// What it says.
    pub error: UpstreamError,
    /// Its body, at most 64 KiB, decompressed.
    pub body: Bytes,
}

/// Reads the body of an answer that is no success.
pub async fn read_refusal(head: Head, clock: Clock, terms: &Terms<'_>) -> Refusal {
    let status = head.status.as_u16();
    let header = |name: &str| head.headers.get(name).and_then(|v| v.to_str().ok());
    // Reset headers stand on every answer of some vendors: they only count where the rate is what was refused.
    let precise = |name: &str| {
        if status == 429 || name.starts_with("retry-after") { header(name) } else { None }
    };
    let retry_after = headgate_wire::retry_after::retry_after(precise, clock.wall());
    let mut source = Source::new(&head.headers, head.body);
    let mut body = BytesMut::new();
    let until = clock.now() + std::time::Duration::from_secs(10);
    let until = terms.deadline.map_or(until, |d| d.min(until));
    while let Ok(Some(Ok(chunk))) = timeout_at(clock.instant(until), source.next()).await {
        let room = MAX_REFUSAL.saturating_sub(body.len());
        body.extend_from_slice(chunk.get(..chunk.len().min(room)).unwrap_or_default());
        if chunk.len() >= room {
            break;
        }
    }
    let body = body.freeze();
    let mut error = headgate_wire::error::read(Some(status), &body);
    error.retry_after = retry_after;
    Refusal { error, body }
}
