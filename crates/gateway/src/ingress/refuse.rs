//! Telling a client no: always in its own protocol, with a machine code, a sentence and the request id.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use headgate_domain::{Class, Detail, ErrorSource, Failure, Outcome, Protocol};
use headgate_routing::{Refusal as Routed, Refused};
use headgate_wire::{
    envelope::{self, Refusal, RetryHint, Words},
    loss::{Losses, Why},
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use uuid::Uuid;

use crate::{
    budgets::Spent,
    exchange::{Exchange, outcome_of},
    forward::{Inbound, Inexpressible, LastFailure, whole_seconds},
    shared::Shared,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-headgate-request-id");
const UPSTREAM: HeaderName = HeaderName::from_static("x-headgate-upstream");
const ATTEMPTS: HeaderName = HeaderName::from_static("x-headgate-attempts");
const REASONS: HeaderName = HeaderName::from_static("x-headgate-reasons");
const WARNINGS: HeaderName = HeaderName::from_static("x-headgate-warnings");
const ERROR: HeaderName = HeaderName::from_static("x-headgate-error");
const RETRY_AT: HeaderName = HeaderName::from_static("x-headgate-retry-at");
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// The headers that name the request and the way it took.
pub fn trace(headers: &mut HeaderMap, exchange: &Exchange, upstream: Option<&str>, explain: bool) {
    let mut set = |name: HeaderName, text: &str| {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    };
    set(REQUEST_ID, &exchange.record.id.to_string());
    set(ATTEMPTS, &exchange.attempt_count().to_string());
    if let Some(upstream) = upstream {
        // Names may be of any script, header values may not.
        let ascii: String =
            upstream.bytes().map(|b| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '?' }).collect();
        set(UPSTREAM, if upstream.is_ascii() { upstream } else { &ascii });
    }
    if explain {
        let text = exchange.record.reasons.as_str();
        set(REASONS, &text.chars().filter(|c| c.is_ascii() && !c.is_control()).take(4096).collect::<String>());
    }
}

/// Puts what is known of the next try into headers; gives a sentence for the message if the wait is a long one.
fn retry(
    shared: &Shared,
    headers: &mut HeaderMap,
    hint: RetryHint,
    wait: Option<Duration>,
    max: Duration,
) -> Option<String> {
    let no = HeaderValue::from_static("false");
    match (hint, wait) {
        (RetryHint::After(seconds), _) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            None
        }
        (RetryHint::WhenKnown, Some(wait)) => {
            let at = (shared.clock.wall() + wait).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
            if let Ok(value) = HeaderValue::from_str(&at) {
                headers.insert(RETRY_AT, value);
            }
            if wait <= max {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(wait).max(1)));
                return None;
            }
            headers.insert(SHOULD_RETRY, no);
            Some(format!("; try again at {at}"))
        }
        (RetryHint::Never | RetryHint::WhenKnown, _) => {
            headers.insert(SHOULD_RETRY, no);
            None
        }
    }
}

fn respond(words: &Words, mut headers: HeaderMap, code: &str, body: Vec<u8>) -> Response<Body> {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(value) = HeaderValue::from_str(code) {
        headers.insert(ERROR, value);
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(words.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = headers;
    response
}

/// A refusal without an exchange: before it is known who asks for what. Nothing is recorded.
pub fn bare(protocol: Protocol, refusal: Refusal, message: &str) -> Response<Body> {
    let id = Uuid::now_v7().to_string();
    let words = refusal.words(protocol);
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    match refusal.retry() {
        RetryHint::After(seconds) => headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds)),
        _ => headers.insert(SHOULD_RETRY, HeaderValue::from_static("false")),
    };
    respond(&words, headers, refusal.code(), envelope::body(protocol, &words, message, &id))
}

/// A refusal of the gateway's own, recorded.
pub fn own(
    shared: &Shared,
    protocol: Protocol,
    mut exchange: Exchange,
    refusal: Refusal,
    message: &str,
    wait: Option<Duration>,
) -> Response<Body> {
    let words = refusal.words(protocol);
    let mut headers = HeaderMap::new();
    trace(&mut headers, &exchange, None, false);
    let max = shared.snapshot.load().settings.retry_after_max.0;
    let long = retry(shared, &mut headers, refusal.retry(), wait, max);
    let message = format!("{message}{}", long.unwrap_or_default());
    let (outcome, source) = match refusal {
        Refusal::NoUpstream
        | Refusal::PolicyNoRoute
        | Refusal::CapabilityNoRoute
        | Refusal::UpstreamsExhausted
        | Refusal::UpstreamAuth
        | Refusal::CoolingDown
        | Refusal::Saturated
        | Refusal::RateLimited => (Outcome::Unavailable, ErrorSource::Gateway),
        Refusal::UnsupportedParameter => (Outcome::Unsupported, ErrorSource::Gateway),
        Refusal::Stopping | Refusal::InternalError | Refusal::LoopDetected => (Outcome::Failed, ErrorSource::Gateway),
        Refusal::Deadline => (Outcome::Failed, ErrorSource::Client),
        _ => (Outcome::ClientError, ErrorSource::Client),
    };
    let body = envelope::body(protocol, &words, &message, &exchange.record.id.to_string());
    exchange.refuse(words.status, outcome, refusal.code(), source, &message, body.len() as u64);
    respond(&words, headers, refusal.code(), body)
}

/// The budget of the key or the group is spent.
pub fn spent(shared: &Shared, protocol: Protocol, exchange: Exchange, spent: &Spent) -> Response<Body> {
    let mut response = own(shared, protocol, exchange, Refusal::BudgetNoRoute, &spent.to_string(), None);
    let resets_at = spent.state.resets_at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
    if let Some(value) = resets_at.and_then(|at| HeaderValue::from_str(&at).ok()) {
        response.headers_mut().insert(RETRY_AT, value);
    }
    response
}

/// What a client is told of a fault of ours.
pub const FAULT: &str = "Headgate failed to serve this request; its log has the cause";

/// Our own fault.
pub fn internal(protocol: Protocol, exchange: Exchange) -> Response<Body> {
    let shared = Arc::clone(exchange.shared());
    own(&shared, protocol, exchange, Refusal::InternalError, FAULT, None)
}

/// The codes of what translating the request lost.
pub fn warn(headers: &mut HeaderMap, warnings: &Losses) {
    if let (false, Ok(value)) = (warnings.is_empty(), HeaderValue::from_str(&warnings.header())) {
        headers.insert(WARNINGS, value);
    }
}

/// No candidate can express the request.
pub fn untranslatable(shared: &Shared, inbound: &Inbound, exchange: Exchange, why: &Inexpressible) -> Response<Body> {
    match why {
        Inexpressible::Lossy(losses) => {
            let message = format!(
                "group '{}' is strict, and its upstreams could serve this request only with losses: {}",
                inbound.key.group.name,
                losses.header()
            );
            let mut response = own(shared, inbound.protocol, exchange, Refusal::TranslationLoss, &message, None);
            warn(response.headers_mut(), losses);
            response
        }
        Inexpressible::Rejected(rejection) => {
            let refusal = match rejection.why {
                Why::Illegal => Refusal::BadRequest,
                Why::Unsupported => Refusal::UnsupportedParameter,
            };
            let body = rejection.body(inbound.protocol, &exchange.record.id.to_string());
            let response = own(shared, inbound.protocol, exchange, refusal, &rejection.message, None);
            response.map(|_| Body::from(body))
        }
    }
}

/// No candidate could be tried.
pub fn no_route(
    shared: &Shared,
    inbound: &Inbound,
    exchange: Exchange,
    refused: &Refused,
    wait: Option<Duration>,
) -> Response<Body> {
    let group = &inbound.key.group.name;
    let model = &inbound.asked.model;
    let (refusal, message) = match refused.refusal {
        Routed::NoUpstream | Routed::TriedAll => {
            (Refusal::NoUpstream, format!("no upstream of group '{group}' is switched on; add or enable one"))
        }
        Routed::PolicyNoRoute => (
            Refusal::PolicyNoRoute,
            format!("no upstream of group '{group}' is allowed by the region and label rules of this request"),
        ),
        Routed::ModelNotFound => (
            Refusal::ModelNotFound,
            format!("no upstream of group '{group}' has the model '{model}'; GET /v1/models lists what there is"),
        ),
        Routed::ContextTooLong => {
            let tokens = inbound.asked.estimated_input;
            (
                Refusal::ContextTooLong,
                format!(
                    "prompt is too long: about {tokens} tokens are more than any upstream of group '{group}' takes"
                ),
            )
        }
        Routed::Untranslatable => {
            let speaks = inbound.protocol.as_str();
            (
                Refusal::UnsupportedParameter,
                format!("no upstream of group '{group}' speaks the protocol of this route ({speaks})"),
            )
        }
        Routed::CapabilityNoRoute { missing } if missing.is_empty() => {
            (Refusal::CapabilityNoRoute, format!("no upstream of group '{group}' takes a prompt of this size"))
        }
        Routed::CapabilityNoRoute { missing } => (
            Refusal::CapabilityNoRoute,
            format!("no upstream of group '{group}' can do what this request needs: {missing}"),
        ),
        Routed::BudgetNoRoute => {
            (Refusal::BudgetNoRoute, format!("every upstream of group '{group}' is above its cost cap"))
        }
        Routed::UpstreamsExhausted => (
            Refusal::UpstreamsExhausted,
            format!("the balance or quota of every upstream of group '{group}' is used up"),
        ),
        Routed::RateLimited => (Refusal::RateLimited, format!("every upstream of group '{group}' limits our rate")),
        Routed::UpstreamAuth => (
            Refusal::UpstreamAuth,
            format!(
                "every upstream of group '{group}' refused its credential, or it is missing; see its state in the admin API"
            ),
        ),
        Routed::CoolingDown => {
            (Refusal::CoolingDown, format!("every upstream of group '{group}' is cooling down after failures"))
        }
        Routed::Saturated => {
            (Refusal::Saturated, format!("every upstream of group '{group}' has all the requests it takes"))
        }
    };
    if inbound.wishes.explain {
        // The reasons go out with the refusal as well as into the record.
        let mut headers = HeaderMap::new();
        trace(&mut headers, &exchange, None, true);
        let reasons = headers.remove(REASONS);
        let mut response = own(shared, inbound.protocol, exchange, refusal, &message, wait);
        if let Some(reasons) = reasons {
            response.headers_mut().insert(REASONS, reasons);
        }
        return response;
    }
    own(shared, inbound.protocol, exchange, refusal, &message, wait)
}

/// How a request ends that its last attempt has failed.
pub fn outcome(failure: &Failure) -> Outcome {
    match failure.class {
        Class::Deadline => Outcome::Failed,
        class => outcome_of(class),
    }
}

/// The last failure of an upstream, when no candidate is left.
pub fn failed(shared: &Shared, inbound: &Inbound, mut exchange: Exchange, last: LastFailure) -> Response<Body> {
    let LastFailure { failure, body: upstream_body, headers: upstream_headers, upstream, .. } = last;
    let protocol = inbound.protocol;
    let mut words = envelope::failure_words(&failure, protocol);
    let mut headers = HeaderMap::new();
    trace(&mut headers, &exchange, Some(&upstream), inbound.wishes.explain);
    for name in ["retry-after", "retry-after-ms", "x-should-retry"] {
        if let Some(value) = upstream_headers.get(name) {
            headers.insert(name, value.clone());
        }
    }
    let max = inbound.snapshot.settings.retry_after_max.0;
    let mut message = envelope::failure_message(&failure, protocol);
    if let Some(wait) = failure.retry_after {
        if wait > max {
            headers.remove("retry-after");
            headers.remove("retry-after-ms");
        }
        let keep = headers.get(header::RETRY_AFTER).cloned();
        message.push_str(&retry(shared, &mut headers, RetryHint::WhenKnown, Some(wait), max).unwrap_or_default());
        if let Some(exact) = keep {
            headers.insert(header::RETRY_AFTER, exact);
        }
    }
    let kind = failure.kind();
    let outcome = outcome(&failure);
    // Same protocol: what the request itself is to blame for comes back as the upstream said it.
    let rewritten = failure.detail == Some(Detail::ContextLength)
        && protocol == Protocol::Claude
        && !failure.message.starts_with("prompt is too long");
    let relayed = matches!(failure.class, Class::ClientFault | Class::ContentPolicy) && !rewritten;
    if (relayed || inbound.wishes.first_only)
        && let (Some(body), Some(status)) = (&upstream_body, failure.status)
    {
        let mut response = Response::new(Body::from(body.clone()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        let content_type = upstream_headers.get(header::CONTENT_TYPE).cloned();
        for (name, value) in upstream_headers {
            if let Some(name) = name.filter(|n| !n.as_str().starts_with("retry-after")) {
                headers.entry(name).or_insert(value);
            }
        }
        headers.insert(header::CONTENT_TYPE, content_type.unwrap_or(HeaderValue::from_static("application/json")));
        if let Ok(value) = HeaderValue::from_str(&kind) {
            headers.insert(ERROR, value);
        }
        *response.headers_mut() = headers;
        exchange.finish(status, outcome, Some(&failure), body.len() as u64);
        return response;
    }
    if inbound.wishes.first_only
        && let Some(status) = failure.status
    {
        words.status = status;
    }
    let body = envelope::body(protocol, &words, &message, &exchange.record.id.to_string());
    exchange.finish(words.status, outcome, Some(&failure), body.len() as u64);
    respond(&words, headers, &kind, body)
}
