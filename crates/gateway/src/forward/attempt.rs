//! One attempt: the request to one candidate, and its answer up to the commit boundary.

use std::sync::Arc;

use bytes::Bytes;
use headgate_domain::{Class, Failure, audit::BreakerState};
use headgate_routing::{Choice, Time};
use headgate_wire::{
    head::Head,
    loss::Losses,
    translate::{Answers, Translator},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::{
    Inbound, LastFailure, headers,
    opening::Waiting,
    prepare::{Prepared, Translation},
    receive::{self, Failed, Ready, Terms},
    send, source, translated,
};
use crate::{
    counting::Encoding,
    exchange::{self, Answer, Exchange, outcome_of},
    ingress::refuse,
    question::own_protocol,
    shared::Shared,
    snapshot::Endpoint,
};

/// A candidate that answered.
pub struct Answered {
    /// The answer at the commit boundary.
    pub ready: Ready,
    /// HTTP status.
    pub status: StatusCode,
    /// The upstream's headers that the client gets.
    pub headers: HeaderMap,
    /// The name to put in the place of the model's.
    pub asked: Option<String>,
    /// What translating the request lost; absent where it was not translated.
    pub warnings: Option<Losses>,
    /// The answer as a whole, by then.
    pub until: Option<Time>,
}

/// A candidate that did not.
pub struct AttemptFailed {
    /// What the client can be told.
    pub last: LastFailure,
    /// Whether another candidate may be tried, as far as the class goes.
    pub again: bool,
}

/// The head of an answer in the client's protocol.
pub fn head(inbound: &Inbound, exchange: &Exchange) -> Head {
    let id = exchange.record.id.to_string();
    let created = u64::try_from(exchange.record.started_at.timestamp()).unwrap_or(0);
    Head::new(inbound.protocol, &inbound.body, &inbound.asked.model, &id, created)
}

/// The headers of a stream that is opened early: they name the candidate and the attempts of that moment.
fn early_headers(inbound: &Inbound, exchange: &Exchange, endpoint: &Endpoint, warnings: &Losses) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    refuse::warn(&mut headers, warnings);
    refuse::trace(&mut headers, exchange, Some(endpoint.name.as_str()), inbound.wishes.explain);
    headers
}

/// Waits for a part of an attempt; a client whose stream is, or may be, opened hears from us meanwhile.
async fn patiently<T>(
    waiting: &mut Option<Waiting>,
    translator: &mut Option<Box<Translator>>,
    work: impl Future<Output = T>,
) -> T {
    match (waiting, translator) {
        (Some(waiting), Some(translator)) => waiting.during(translator, work).await,
        _ => work.await,
    }
}

/// Writes down that an attempt begins.
fn begin(
    shared: &Shared,
    inbound: &Inbound,
    exchange: &mut Exchange,
    choice: Choice,
    endpoint: &Endpoint,
    warnings: Option<&Losses>,
) {
    let Choice { candidate, sent_model, selection, breaker_before, lease, .. } = choice;
    let mut record = exchange::draft(&exchange.record, breaker_before, shared.clock.wall());
    record.upstream_id = endpoint.id;
    record.upstream_name = endpoint.name.to_string();
    record.credential_id = candidate.credential;
    record.protocol = endpoint.kind;
    record.proxy.clone_from(&endpoint.proxy);
    record.mapped_model = Some(sent_model);
    record.priority = inbound.group().pool_for(inbound.model()).members.get(candidate.member).map_or(0, |m| m.priority);
    record.selection = selection;
    if let Some(warnings) = warnings {
        record.warnings = warnings.codes().iter().map(ToString::to_string).collect();
    }
    if breaker_before == BreakerState::HalfOpen {
        tracing::debug!(upstream.name = %endpoint.name, "trial of a half-open upstream");
    }
    exchange.attempt(lease, candidate, record);
}

/// The limits and facts of an attempt that begins now.
fn terms<'a>(shared: &Shared, inbound: &'a Inbound, endpoint: &Endpoint, sent_model: &str) -> Terms<'a> {
    let settings = &inbound.snapshot.settings;
    let started = shared.now();
    let limits = endpoint.limits;
    let first = {
        let routing = shared.routing.lock();
        let input = inbound.asked.estimated_input;
        routing.health.first_response_limit(endpoint.id, sent_model, input, limits.first_response)
    };
    Terms {
        protocol: inbound.protocol,
        stream: inbound.asked.stream,
        asked: (sent_model != inbound.asked.model).then_some(inbound.asked.model.as_str()),
        started,
        first_work: started + first,
        unadapted: first >= limits.first_response,
        whole: started + limits.non_stream,
        deadline: inbound.wishes.deadline,
        idle: limits.idle,
        hold: settings.keep_alive.0,
        event_limit: usize::try_from(settings.event_limit.0).unwrap_or(usize::MAX),
        // The vocabulary takes some 70 MiB of memory: it is for those who want to know.
        counts: endpoint.is_audited && Encoding::of(sent_model).is_some(),
    }
}

/// Where the request goes, and its headers.
fn request_head(
    shared: &Shared,
    inbound: &Inbound,
    endpoint: &Endpoint,
    translation: Option<&Translation>,
    credential: Option<&HeaderValue>,
) -> (String, HeaderMap) {
    // A translated request carries what its encoder says, and nothing the client's program says of its own protocol.
    let none = HeaderMap::new();
    let (spoken, own, route, query) = match translation {
        None => (inbound.protocol, &inbound.headers, inbound.route, inbound.query.as_deref()),
        Some(_) => {
            let spoken = own_protocol(endpoint.kind);
            (spoken, &none, spoken.route(), None)
        }
    };
    let session = inbound.session.as_deref();
    let mut headers = headers::to_upstream(own, endpoint, spoken, credential, session, &shared.pseudonym);
    if let Some(version) = translation.and_then(|t| t.anthropic_version.as_deref())
        && let Ok(version) = HeaderValue::from_str(version)
    {
        headers.insert("anthropic-version", version);
    }
    (endpoint.url(route, query), headers)
}

/// One attempt: sends the request to the chosen candidate and reads the answer up to the commit boundary.
pub async fn attempt(
    shared: &Arc<Shared>,
    inbound: &Inbound,
    exchange: &mut Exchange,
    choice: Choice,
    endpoint: &Arc<Endpoint>,
    prepared: Prepared,
    waiting: &mut Option<Waiting>,
) -> Result<Answered, AttemptFailed> {
    let Prepared { body, translation } = prepared;
    let (sent_model, credential) = (choice.sent_model.clone(), choice.candidate.credential);
    begin(shared, inbound, exchange, choice, endpoint, translation.as_ref().map(|t| &t.warnings));
    let terms = terms(shared, inbound, endpoint, &sent_model);
    let credential = credential.and_then(|id| endpoint.credentials.get(&id));
    // Behind an opening of ours even a stream of the client's own protocol cannot pass as it is.
    let is_open = waiting.as_ref().is_some_and(Waiting::is_open);
    let answers = match &translation {
        Some(translation) => Some(translation.answers.clone()),
        None => is_open.then(|| Answers::relayed(inbound.protocol)),
    };
    let mut translator = answers.map(|answers| {
        let head = head(inbound, exchange);
        Box::new(answers.translator(match waiting {
            Some(waiting) => waiting.resume(head),
            None => head,
        }))
    });
    if let Some(waiting) = waiting {
        let opens = translation.as_ref().filter(|t| !is_open && t.answers.keeps_alive());
        waiting.offer(opens.map(|t| early_headers(inbound, exchange, endpoint, &t.warnings)));
    }
    let (url, headers) = request_head(shared, inbound, endpoint, translation.as_ref(), credential);
    let sending = send::send(endpoint, &url, headers, body, &terms, shared.clock);
    let sent = patiently(waiting, &mut translator, sending).await;

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
                returned.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            let status = response.status;
            if let Some(attempt) = &mut exchange.current {
                attempt.sent = true;
            }
            if status.is_success() {
                let source = source::Source::new(&response.headers, response.body);
                let received = match (&mut exchange.current, translator) {
                    (Some(attempt), Some(translator)) => {
                        translated::receive(source, translator, &terms, shared.clock, attempt, waiting).await
                    }
                    (Some(attempt), None) if status != StatusCode::NO_CONTENT => {
                        receive::receive(&response.headers, source, &terms, shared.clock, attempt).await
                    }
                    _ => Ok(receive::nothing(inbound.protocol)),
                };
                match received {
                    Ok(ready) => {
                        if ready.events {
                            exchange.begun();
                        }
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
                let reading = send::read_refusal(response, shared.clock, &terms);
                let refusal = patiently(waiting, &mut translator, reading).await;
                // Only who speaks its protocol is told in its words.
                let relayed = translation.is_none();
                return Err(refused(exchange, endpoint, credential, answer, refusal, returned, relayed));
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

/// The candidate answered that it will not.
fn refused(
    exchange: &mut Exchange,
    endpoint: &Endpoint,
    credential: Option<&HeaderValue>,
    mut answer: Answer<'_>,
    refusal: send::Refusal,
    headers: HeaderMap,
    relayed: bool,
) -> AttemptFailed {
    answer.bytes = refusal.body.len() as u64;
    answer.model_scoped = refusal.error.model_scoped;
    let last = LastFailure {
        failure: hide(headgate_routing::classify(&refusal.error), credential),
        body: relayed.then(|| hide_bytes(refusal.body, credential)),
        headers,
        upstream: endpoint.name.to_string(),
        empty: None,
    };
    let again = exchange.end_attempt(&answer, Some(&last.failure), outcome_of(last.failure.class));
    note(endpoint, &last.failure);
    AttemptFailed { last, again }
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
