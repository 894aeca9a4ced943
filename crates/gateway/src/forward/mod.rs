//! The way of a request to an upstream and back: choose, send, judge, and, before the commit boundary, choose again.

mod attempt;
mod choose;
pub mod headers;
pub mod line;
mod opening;
mod prepare;
pub mod receive;
pub mod relay;
pub mod send;
pub mod source;
mod translated;
pub mod watch;

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use headgate_domain::{Class, Failure, Outcome, Protocol};
use headgate_routing::{Choice, Features, Need, Refusal as Routed, Refused, Time, may_repeat};
use headgate_wire::{envelope::Refusal, request::Asked};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use self::{
    attempt::{Answered, attempt},
    choose::Unchosen,
    opening::Waiting,
    prepare::Excluded,
    receive::Failed,
    relay::{Facts, Relay},
};
use crate::{
    clock::millis,
    exchange::{Answer, Exchange, outcome_of},
    ingress::refuse,
    shared::Shared,
    snapshot::{Endpoint, Group, Key, Snapshot},
};

pub use self::prepare::Inexpressible;

/// A request that has passed the ingress.
pub struct Inbound {
    /// The configuration it started with, for its retries too.
    pub snapshot: Arc<Snapshot>,
    /// Who asks.
    pub key: Arc<Key>,
    /// What the client speaks.
    pub protocol: Protocol,
    /// The route called, canonical.
    pub route: &'static str,
    /// The client's query string.
    pub query: Option<String>,
    /// The client's headers.
    pub headers: HeaderMap,
    /// The body, decoded.
    pub body: Bytes,
    /// What it asks for.
    pub asked: Asked,
    /// The session as text, for the upstream's `session_header`.
    pub session: Option<String>,
    /// `x-headgate-*` wishes.
    pub wishes: Wishes,
    /// A question of our own: its key and its group are of nobody's configuration.
    pub is_ours: bool,
}

/// What the client asks of the gateway itself.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// `x-headgate-fallback: none`.
    pub first_only: bool,
    /// `x-headgate-region`.
    pub region: Option<String>,
    /// The client's deadline.
    pub deadline: Option<Time>,
    /// `x-headgate-explain: 1`.
    pub explain: bool,
}

/// An upstream's answer that was a failure, as far as a client may be told of it.
pub struct LastFailure {
    /// What went wrong.
    pub failure: Failure,
    /// The upstream's body, for answers that are relayed as they are.
    pub body: Option<Bytes>,
    /// Its headers that may be passed on.
    pub headers: HeaderMap,
    /// The upstream.
    pub upstream: String,
    /// An empty answer that is delivered if nobody has a better one.
    pub empty: Option<Box<(Failed, StatusCode)>>,
}

impl Inbound {
    /// The model's name without its context mark.
    fn model(&self) -> &str {
        headgate_domain::pattern::strip_context_mark(&self.asked.model)
    }

    /// Runs `with` on what a decision must know.
    fn with_need<T>(
        &self,
        affinity: Option<headgate_domain::UpstreamId>,
        excluded: &Excluded,
        with: impl FnOnce(&Need<'_>) -> T,
    ) -> T {
        let expressible = |upstream, kind| prepare::may_try(self, excluded, upstream, kind);
        let mut need = Need::new(self.protocol, self.model());
        need.stream = self.asked.stream;
        need.features = Features::from(&self.asked.features);
        need.estimated_input = self.asked.estimated_input;
        need.affinity = affinity;
        need.key = Some(self.key.id);
        need.key_regions = self.key.spec.regions.as_deref();
        need.key_labels = self.key.spec.labels.as_deref();
        need.region = self.wishes.region.as_deref();
        need.expressible = &expressible;
        with(&need)
    }

    fn group(&self) -> &Group {
        &self.key.group
    }
}

/// Serves a request: tries candidates until one answers. A stream that may be translated does not keep its client
/// waiting in silence.
pub async fn forward(shared: &Arc<Shared>, inbound: Inbound, exchange: Exchange) -> Response<Body> {
    let translates = |endpoint: &Arc<Endpoint>| !endpoint.kind.speaks(inbound.protocol);
    if !inbound.asked.stream || !inbound.group().endpoints.iter().any(translates) {
        return course(Arc::clone(shared), inbound, exchange, None).await;
    }
    let keep_alive = inbound.snapshot.settings.keep_alive.0;
    let own = Arc::clone(shared);
    opening::serve(shared.clock, keep_alive, |waiting| Box::pin(course(own, inbound, exchange, Some(waiting)))).await
}

/// The candidates, one after the other.
async fn course(
    shared: Arc<Shared>,
    mut inbound: Inbound,
    mut exchange: Exchange,
    mut waiting: Option<Waiting>,
) -> Response<Body> {
    let shared = &shared;
    if inbound.snapshot.settings.retry_same > 0 {
        shared.routing.lock().repeats.request(shared.now());
    }
    let mut last: Option<LastFailure> = None;
    let mut excluded = Excluded::new();
    let mut repeats = 0;
    let mut repeat: Option<Choice> = None;
    loop {
        let choice = match repeat.take() {
            Some(choice) => choice,
            None => {
                repeats = 0;
                match choose::choose(shared, &mut inbound, &mut exchange, &excluded).await {
                    Ok(choice) => choice,
                    Err(Unchosen::Refused(refused)) => {
                        exchange.record.reasons.push(&refused.reasons);
                        return nobody(shared, &inbound, exchange, last, &refused, &excluded, waiting);
                    }
                    Err(Unchosen::KeyGone) => {
                        let message = "this access key was removed while the request waited for room";
                        return refuse::own(shared, inbound.protocol, exchange, Refusal::InvalidKey, message, None);
                    }
                    Err(Unchosen::Stopping) => return stopping(shared, &inbound, exchange, waiting),
                }
            }
        };
        exchange.record.reasons.push(&choice.reasons);
        let Some(endpoint) = inbound.group().endpoint(choice.candidate.upstream).map(Arc::clone) else {
            let id = shared.release(choice.lease);
            tracing::error!(breaker = ?id.breaker_after, "a chosen upstream is not in its group");
            return fault(&inbound, exchange, waiting);
        };
        let begin = shared.now();
        let prepared = match prepare::prepare(&inbound, &endpoint, &choice.sent_model) {
            Ok(prepared) => {
                if prepared.translation.is_some() {
                    exchange.step("translate", begin);
                }
                prepared
            }
            Err(why) => {
                // Found out only now, and without an attempt: the next candidate is asked for.
                excluded.insert(endpoint.id, why);
                shared.release(choice.lease);
                continue;
            }
        };
        let (candidate, sent_model) = (choice.candidate, choice.sent_model.clone());
        let answered = tokio::select! {
            answered = attempt(shared, &inbound, &mut exchange, choice, &endpoint, prepared, &mut waiting) => answered,
            () = shared.deadline.cancelled() => return stopping(shared, &inbound, exchange, waiting),
        };
        let failed = match answered {
            Ok(answered) => return commit(&inbound, exchange, &endpoint, answered, waiting),
            Err(failed) => failed,
        };
        let failure = &failed.last.failure;
        if failed.again && failure.class == Class::ModelMissing {
            choose::rename(shared, &inbound, &mut exchange, candidate.upstream, &sent_model);
        }
        if failed.again && !inbound.wishes.first_only && may_repeat(failure.class) {
            let wait = failure.retry_after;
            repeat = choose::again(shared, &inbound, &excluded, candidate, &sent_model, repeats, wait).await;
            if repeat.is_some() {
                repeats += 1;
                exchange.tried.repeat();
            }
        }
        last = Some(failed.last);
        if !failed.again || inbound.wishes.first_only {
            return conclude(shared, &inbound, exchange, last, waiting);
        }
    }
}

/// The response to the client of a candidate that answered.
fn commit(
    inbound: &Inbound,
    exchange: Exchange,
    endpoint: &Endpoint,
    answered: Answered,
    waiting: Option<Waiting>,
) -> Response<Body> {
    let Answered { ready, status, mut headers, asked, warnings, until } = answered;
    if let Some(warnings) = &warnings {
        refuse::warn(&mut headers, warnings);
    }
    refuse::trace(&mut headers, &exchange, Some(endpoint.name.as_str()), inbound.wishes.explain);
    if ready.events {
        headers.entry(http::header::CONTENT_TYPE).or_insert(HeaderValue::from_static("text/event-stream"));
        headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    let facts = Facts {
        protocol: inbound.protocol,
        status: status.as_u16(),
        asked,
        model: inbound.asked.model.clone(),
        idle: endpoint.limits.idle,
        keep_alive: inbound.snapshot.settings.keep_alive.0,
        until,
        deadline: inbound.wishes.deadline,
        sent: waiting.map_or(0, |waiting| waiting.bytes()),
        upstream_request_id: headers
            .get(headers::UPSTREAM_REQUEST_ID)
            .or_else(|| headers.get("request-id"))
            .and_then(|v| v.to_str().ok())
            .map(str::to_owned),
    };
    let mut response = Response::new(Body::new(Relay::new(exchange, ready, facts)));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The gateway ends before the upstream answered.
fn stopping(
    shared: &Arc<Shared>,
    inbound: &Inbound,
    mut exchange: Exchange,
    waiting: Option<Waiting>,
) -> Response<Body> {
    let failure = Failure::new(Class::Gateway, "Headgate is stopping");
    exchange.end_attempt(&Answer::default(), Some(&failure), outcome_of(failure.class));
    if let Some(open) = waiting.filter(Waiting::is_open) {
        return inside(inbound, exchange, &failure, &open);
    }
    refuse::own(shared, inbound.protocol, exchange, Refusal::Stopping, &failure.message, None)
}

/// Nobody is left to choose: the last failure, or, without an attempt, the refusal.
fn nobody(
    shared: &Arc<Shared>,
    inbound: &Inbound,
    exchange: Exchange,
    last: Option<LastFailure>,
    refused: &Refused,
    excluded: &Excluded,
    waiting: Option<Waiting>,
) -> Response<Body> {
    if last.is_some() {
        return conclude(shared, inbound, exchange, last, waiting);
    }
    let retry = refused.retry_at.map(|at| shared.now().until(at));
    if refused.refusal == Routed::Untranslatable
        && let Some(why) = excluded.values().next()
    {
        return refuse::untranslatable(shared, inbound, exchange, why);
    }
    refuse::no_route(shared, inbound, exchange, refused, retry)
}

/// Tells the client the last failure, or delivers the empty answer nobody had a better one for.
fn conclude(
    shared: &Arc<Shared>,
    inbound: &Inbound,
    mut exchange: Exchange,
    last: Option<LastFailure>,
    waiting: Option<Waiting>,
) -> Response<Body> {
    let Some(last) = last else { return fault(inbound, exchange, waiting) };
    let open = waiting.filter(Waiting::is_open);
    if let Some(empty) = last.empty {
        let (failed, status) = *empty;
        let body = failed.empty.unwrap_or_default();
        let mut headers = last.headers;
        refuse::trace(&mut headers, &exchange, Some(&last.upstream), inbound.wishes.explain);
        let bytes = open.map_or(0, |open| open.bytes()) + body.len() as u64;
        exchange.finish(status.as_u16(), Outcome::Success, Some(&failed.failure), bytes);
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        return response;
    }
    match open {
        Some(open) => inside(inbound, exchange, &last.failure, &open),
        None => refuse::failed(shared, inbound, exchange, last),
    }
}

/// Our own fault.
fn fault(inbound: &Inbound, exchange: Exchange, waiting: Option<Waiting>) -> Response<Body> {
    match waiting.filter(Waiting::is_open) {
        Some(open) => inside(inbound, exchange, &Failure::new(Class::Gateway, refuse::FAULT), &open),
        None => refuse::internal(inbound.protocol, exchange),
    }
}

/// Tells a failure inside a stream that was opened already.
fn inside(inbound: &Inbound, mut exchange: Exchange, failure: &Failure, open: &Waiting) -> Response<Body> {
    let body = open.resume(attempt::head(inbound, &exchange)).fail(failure);
    let bytes = open.bytes() + body.len() as u64;
    exchange.finish(StatusCode::OK.as_u16(), refuse::outcome(failure), Some(failure), bytes);
    Response::new(Body::from(body))
}

/// Seconds for `Retry-After`: whole, rounded up.
pub fn whole_seconds(wait: Duration) -> i64 {
    millis(wait).saturating_add(999) / 1000
}
