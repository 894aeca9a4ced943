//! Sending one request to one upstream, and reading a refusal.

use bytes::{Bytes, BytesMut};
use headgate_domain::{Class, Detail, Failure, UpstreamError};
use http::{HeaderMap, StatusCode};
use tokio::time::timeout_at;

use super::{
    clients::Refused,
    receive::{Terms, late},
    source::{Source, root},
};
use crate::{clock::Clock, snapshot::Endpoint};

/// Largest part of an error body that is read.
const MAX_REFUSAL: usize = 64 * 1024;

/// The head of an upstream's answer, and its body to come.
pub struct Head {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: reqwest::Body,
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
    let ours = |why: String| Unsent { failure: Failure::new(Class::Gateway, why), sent: false };
    let client = endpoint.client.client().map_err(|why| Unsent {
        failure: Failure::new(Class::Connect, why.to_owned()).with_detail(Detail::Proxy),
        sent: false,
    })?;
    let request = client.post(url).headers(headers).body(body).build().map_err(|why| ours(root(&why)))?;
    let limit = if terms.stream { terms.first_work } else { terms.whole };
    let until = terms.deadline.map_or(limit, |d| d.min(limit));
    match timeout_at(clock.instant(until), client.execute(request)).await {
        Ok(Ok(response)) => {
            let (parts, body) = http::Response::from(response).into_parts();
            Ok(Head { status: parts.status, headers: parts.headers, body })
        }
        Ok(Err(why)) => Err(unsent(&why)),
        Err(_) => Err(Unsent { failure: late(terms, until), sent: true }),
    }
}

fn unsent(why: &reqwest::Error) -> Unsent {
    let cause = root(why);
    if why.is_builder() {
        return Unsent {
            failure: Failure::new(Class::Gateway, format!("the request could not be made: {cause}")),
            sent: false,
        };
    }
    if !why.is_connect() {
        let message = format!("the upstream closed the connection before it answered ({cause})");
        return Unsent { failure: Failure::new(Class::Cut, message), sent: true };
    }
    let detail = connect_detail(why);
    let what = match detail {
        Some(Detail::Dns) => "its name could not be resolved",
        Some(Detail::Tls) => "the TLS handshake failed",
        Some(Detail::Proxy) => "the proxy failed",
        _ if why.is_timeout() => "the connect limit passed",
        _ => "the connection failed",
    };
    let failure =
        Failure { detail, ..Failure::new(Class::Connect, format!("the upstream cannot be reached: {what} ({cause})")) };
    Unsent { failure, sent: false }
}

/// What part of connecting failed, as far as the chain of causes tells.
fn connect_detail(why: &reqwest::Error) -> Option<Detail> {
    let mut cause: Option<&dyn std::error::Error> = Some(why);
    while let Some(error) = cause {
        if error.is::<Refused>() {
            return Some(Detail::Dns);
        }
        let text = error.to_string().to_ascii_lowercase();
        if text.contains("dns error") || text.contains("failed to lookup") {
            return Some(Detail::Dns);
        }
        if text.contains("socks") || text.contains("proxy") || text.contains("tunnel") {
            return Some(Detail::Proxy);
        }
        if text.contains("certificate")
            || text.contains("tls")
            || text.contains("handshake")
            || text.contains("corrupt message")
        {
            return Some(Detail::Tls);
        }
        cause = error.source();
    }
    None
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
