//! The way of a request to an upstream and back: choose, send, judge, and, before the commit boundary, choose again.

mod choose;
pub mod headers;
mod prepare;
pub mod receive;
pub mod relay;
pub mod send;
pub mod source;
mod translated;
pub mod waiting;
pub mod watch;

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use headgate_domain::{Class, Failure, Outcome, Protocol, audit::BreakerState};
use headgate_routing::{Choice, Features, Need, Refusal as Routed, Refused, Time, may_repeat};
use headgate_wire::{envelope::Refusal, head::Head, loss::Losses, request::Asked};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use self::{
    choose::Unchosen,
    prepare::{Excluded, Prepared},
    receive::{Failed, Ready, Terms},
    relay::{Facts, Relay},
};
use crate::{
    clock::millis,
    exchange::{self, Answer, Exchange, outcome_of},
    ingress::refuse,
    question::own_protocol,
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

/// Serves a request: tries candidates until one answers.
pub async fn forward(shared: &Arc<Shared>, mut inbound: Inbound, mut exchange: Exchange) -> Response<Body> {
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
                match choose::choose(shared, &mut inbound, &exchange, &excluded).await {
                    Ok(choice) => choice,
                    Err(Unchosen::Refused(refused)) => {
                        exchange.record.reasons.push(&refused.reasons);
                        return nobody(shared, &inbound, exchange, last, &refused, &excluded);
                    }
                    Err(Unchosen::KeyGone) => {
                        let message = "this access key was removed while the request waited for room";
                        return refuse::own(shared, inbound.protocol, exchange, Refusal::InvalidKey, message, None);
                    }
                    Err(Unchosen::Stopping) => return stopping(shared, &inbound, exchange),
                }
            }
        };
        exchange.record.reasons.push(&choice.reasons);
        let Some(endpoint) = inbound.group().endpoint(choice.candidate.upstream).map(Arc::clone) else {
            let id = shared.release(choice.lease);
            tracing::error!(breaker = ?id.breaker_after, "a chosen upstream is not in its group");
            return refuse::internal(inbound.protocol, exchange);
        };
        let prepared = match prepare::prepare(&inbound, &endpoint, &choice.sent_model) {
            Ok(prepared) => prepared,
            Err(why) => {
                // Found out only now, and without an attempt: the next candidate is asked for.
                excluded.insert(endpoint.id, why);
                shared.release(choice.lease);
                continue;
            }
        };
        let (candidate, sent_model) = (choice.candidate, choice.sent_model.clone());
        let answered = tokio::select! {
            answered = attempt(shared, &inbound, &mut exchange, choice, &endpoint, prepared) => answered,
            () = shared.deadline.cancelled() => return stopping(shared, &inbound, exchange),
        };
        let failed = match answered {
            Ok(answered) => return commit(&inbound, exchange, &endpoint, answered),
            Err(failed) => failed,
        };
        let failure = &failed.last.failure;
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
            return conclude(shared, &inbound, exchange, last);
        }
    }
}

/// A candidate that answered.
struct Answered {
    ready: Ready,
    status: StatusCode,
    headers: HeaderMap,
    /// The name to put in the place of the model's.
    asked: Option<String>,
    /// What translating the request lost; absent where it was not translated.
    warnings: Option<Losses>,
    until: Option<Time>,
}

/// A candidate that did not.
struct AttemptFailed {
    last: LastFailure,
    again: bool,
}

/// One attempt: sends the request to the chosen candidate and reads the answer up to the commit boundary.
async fn attempt(
    shared: &Arc<Shared>,
    inbound: &Inbound,
    exchange: &mut Exchange,
    choice: Choice,
    endpoint: &Arc<Endpoint>,
    prepared: Prepared,
) -> Result<Answered, AttemptFailed> {
    let settings = &inbound.snapshot.settings;
    let Choice { candidate, sent_model, selection, breaker_before, lease, .. } = choice;
    let mut record = exchange::draft(&exchange.record, breaker_before, shared.clock.wall());
    record.upstream_id = endpoint.id;
    record.upstream_name = endpoint.name.to_string();
    record.credential_id = candidate.credential;
    record.protocol = endpoint.kind;
    record.proxy.clone_from(&endpoint.proxy);
    record.mapped_model = Some(sent_model.clone());
    record.priority = inbound.group().pool_for(inbound.model()).members.get(candidate.member).map_or(0, |m| m.priority);
    record.selection = selection;
    let Prepared { body, translation } = prepared;
    if let Some(translation) = &translation {
        record.warnings = translation.warnings.codes().iter().map(ToString::to_string).collect();
    }
    if breaker_before == BreakerState::HalfOpen {
        tracing::debug!(upstream.name = %endpoint.name, "trial of a half-open upstream");
    }
    exchange.attempt(lease, candidate, record);

    let started = shared.now();
    let limits = endpoint.limits;
    let first = {
        let routing = shared.routing.lock();
        routing.health.first_response_limit(
            endpoint.id,
            &sent_model,
            inbound.asked.estimated_input,
            limits.first_response,
        )
    };
    let mapped = sent_model != inbound.asked.model;
    let terms = Terms {
        protocol: inbound.protocol,
        stream: inbound.asked.stream,
        asked: mapped.then_some(inbound.asked.model.as_str()),
        started,
        first_work: started + first,
        unadapted: first >= limits.first_response,
        whole: started + limits.non_stream,
        deadline: inbound.wishes.deadline,
        idle: limits.idle,
        hold: settings.keep_alive.0,
        event_limit: usize::try_from(settings.event_limit.0).unwrap_or(usize::MAX),
    };
    let credential = candidate.credential.and_then(|id| endpoint.credentials.get(&id));
    // A translated request carries what its encoder says, and nothing the client's program says of its own protocol.
    let none = HeaderMap::new();
    let (spoken, own, route, query) = match &translation {
        None => (inbound.protocol, &inbound.headers, inbound.route, inbound.query.as_deref()),
        Some(_) => {
            let spoken = own_protocol(endpoint.kind);
            (spoken, &none, spoken.route(), None)
        }
    };
    let session = inbound.session.as_deref();
    let mut headers = headers::to_upstream(own, endpoint, spoken, credential, session, &shared.pseudonym);
    if let Some(version) = translation.as_ref().and_then(|t| t.anthropic_version.as_deref())
        && let Ok(version) = HeaderValue::from_str(version)
    {
        headers.insert("anthropic-version", version);
    }
    let url = endpoint.url(route, query);
    let sent = send::send(endpoint, &url, headers, body, &terms, shared.clock).await;

    let mut answer = Answer::default();
    let (failed, status, returned) = match sent {
        Err(unsent) => {
            if let Some(attempt) = &mut exchange.current {
                attempt.sent = unsent.sent;
                attempt.tripped = unsent.failure.class == Class::SlowFirst && terms.stream && terms.unadapted;
            }
            (
                Failed { failure: unsent.failure, watch: None, empty: None, events: terms.stream, bytes: 0 },
                None,
                HeaderMap::new(),
            )
        }
        Ok(response) => {
            answer.status = Some(response.status.as_u16());
            answer.request_id = headers::request_id(&response.headers);
            let mut returned = headers::to_client(&response.headers);
            if translation.is_some() {
                headers::keep_neutral(&mut returned);
                let kind = if terms.stream { "text/event-stream" } else { "application/json" };
                returned.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            let status = response.status;
            if let Some(attempt) = &mut exchange.current {
                attempt.sent = true;
            }
            if status.is_success() {
                let source = source::Source::new(&response.headers, response.body);
                let received = match (&mut exchange.current, &translation) {
                    (Some(attempt), Some(translation)) => {
                        let id = exchange.record.id.to_string();
                        let created = u64::try_from(exchange.record.started_at.timestamp()).unwrap_or(0);
                        let (protocol, body) = (inbound.protocol, &inbound.body);
                        let head = Head::new(protocol, body, &inbound.asked.model, &id, created);
                        let translator = Box::new(translation.answers.translator(head));
                        translated::receive(source, translator, &terms, shared.clock, attempt).await
                    }
                    (Some(attempt), None) if status != StatusCode::NO_CONTENT => {
                        receive::receive(&response.headers, source, &terms, shared.clock, attempt).await
                    }
                    _ => Ok(receive::nothing(inbound.protocol)),
                };
                match received {
                    Ok(ready) => {
                        return Ok(Answered {
                            ready,
                            status,
                            headers: returned,
                            asked: terms.asked.map(str::to_owned),
                            warnings: translation.map(|t| t.warnings),
                            until: (!inbound.asked.stream).then_some(terms.whole),
                        });
                    }
                    Err(failed) => (failed, Some(status), returned),
                }
            } else {
                let refused = send::read_refusal(response, shared.clock, &terms).await;
                answer.bytes = refused.body.len() as u64;
                answer.model_scoped = refused.error.model_scoped;
                let failure = hide(headgate_routing::classify(&refused.error), credential);
                let last = LastFailure {
                    // Only who speaks its protocol is told in its words.
                    body: translation.is_none().then(|| hide_bytes(refused.body, credential)),
                    headers: returned,
                    upstream: endpoint.name.to_string(),
                    empty: None,
                    failure,
                };
                let again = exchange.end_attempt(&answer, Some(&last.failure), outcome_of(last.failure.class));
                note(endpoint, &last.failure);
                return Err(AttemptFailed { last, again });
            }
        }
    };
    let failed = Failed { failure: hide(failed.failure, credential), ..failed };
    answer.watch = failed.watch.as_deref();
    answer.bytes = failed.bytes;
    answer.stream = failed.events;
    let again = exchange.end_attempt(&answer, Some(&failed.failure), outcome_of(failed.failure.class));
    note(endpoint, &failed.failure);
    let last = LastFailure {
        failure: failed.failure.clone(),
        body: None,
        headers: returned,
        upstream: endpoint.name.to_string(),
        empty: (failed.empty.is_some()).then(|| Box::new((failed, status.unwrap_or(StatusCode::OK)))),
    };
    Err(AttemptFailed { last, again })
}

/// What an upstream says of our own credential is not repeated, whatever the credential looks like.
fn hide(failure: Failure, credential: Option<&HeaderValue>) -> Failure {
    match credential.and_then(|c| c.to_str().ok()).filter(|c| !c.is_empty() && failure.message.contains(*c)) {
        Some(credential) => Failure { message: failure.message.replace(credential, "[masked]").into(), ..failure },
        None => failure,
    }
}

/// The same in a body that is relayed otherwise byte for byte: keeping the secret comes first.
fn hide_bytes(body: Bytes, credential: Option<&HeaderValue>) -> Bytes {
    let Some(secret) = credential.map(HeaderValue::as_bytes).filter(|c| !c.is_empty()) else { return body };
    let mut out = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(&body, secret) {
        out.extend_from_slice(body.get(from..at).unwrap_or_default());
        out.extend_from_slice(b"[masked]");
        from = at + secret.len();
    }
    if from == 0 {
        return body;
    }
    out.extend_from_slice(body.get(from..).unwrap_or_default());
    out.into()
}

fn note(endpoint: &Endpoint, failure: &Failure) {
    tracing::info!(
        upstream.name = %endpoint.name,
        attempt.kind = %failure.kind(),
        attempt.status = failure.status,
        "an attempt failed"
    );
}

/// The response to the client of a candidate that answered.
fn commit(inbound: &Inbound, exchange: Exchange, endpoint: &Endpoint, answered: Answered) -> Response<Body> {
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
fn stopping(shared: &Arc<Shared>, inbound: &Inbound, mut exchange: Exchange) -> Response<Body> {
    let failure = Failure::new(Class::Gateway, "Headgate is stopping");
    exchange.end_attempt(&Answer::default(), Some(&failure), outcome_of(failure.class));
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
) -> Response<Body> {
    if last.is_some() {
        return conclude(shared, inbound, exchange, last);
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
) -> Response<Body> {
    let Some(last) = last else { return refuse::internal(inbound.protocol, exchange) };
    if let Some(empty) = last.empty {
        let (failed, status) = *empty;
        let body = failed.empty.unwrap_or_default();
        let mut headers = last.headers;
        refuse::trace(&mut headers, &exchange, Some(&last.upstream), inbound.wishes.explain);
        exchange.finish(status.as_u16(), Outcome::Success, Some(&failed.failure), body.len() as u64);
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        return response;
    }
    refuse::failed(shared, inbound, exchange, last)
}

/// Seconds for `Retry-After`: whole, rounded up.
pub fn whole_seconds(wait: Duration) -> i64 {
    millis(wait).saturating_add(999) / 1000
}
