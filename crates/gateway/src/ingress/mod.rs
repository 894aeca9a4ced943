//! The way in: who asks, for what, and may it. Everything is refused in the client's own protocol.

pub mod auth;
pub mod body;
pub mod count_tokens;
pub mod detect;
pub mod guard;
pub mod models;
pub mod refuse;
mod wishes;

use std::{net::SocketAddr, sync::Arc};

use axum::body::Body;
use bytes::Bytes;
use headgate_domain::{Protocol, RequestRecord};
use headgate_routing::Reached;
use headgate_wire::{
    envelope::Refusal,
    request::{self, Asked},
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use uuid::Uuid;

use self::detect::Route;
use crate::{
    events::Event,
    exchange::Exchange,
    forward::{self, Inbound},
    shared::Shared,
    snapshot::{Key, Snapshot},
    traces::Parent,
};

/// Both ends of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// The client's address.
    pub remote: SocketAddr,
    /// The address it called.
    pub local: SocketAddr,
}

/// Serves one HTTP request of a connection; one whose end or host is in doubt is refused.
pub async fn serve(
    shared: Arc<Shared>,
    admin: axum::Router,
    peer: Peer,
    request: Request<Incoming>,
    ambiguous: bool,
) -> Response<Body> {
    let route = detect::route(request.uri().path());
    let protocol = detect::error_protocol(route, request.headers());
    let snapshot = shared.snapshot.load_full();
    if ambiguous {
        let message = "the head says twice how long the body is, or for which host it is meant";
        let mut response = refuse::bare(protocol, Refusal::BadRequest, message);
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    if let Err((refusal, message)) = guard::check(&request, peer, &snapshot.settings, &shared.pseudonym) {
        return refuse::bare(protocol, refusal, &message);
    }
    match (route, request.method()) {
        (Route::Health, &Method::GET | &Method::HEAD) => health(),
        (Route::Admin, _) => Box::pin(crate::admin::serve(&shared, admin, peer, request)).await,
        (Route::Pages, &Method::GET | &Method::HEAD) if crate::admin::is_open_to(&shared, peer) => {
            crate::ui::serve(request.uri().path(), request.headers())
        }
        (Route::Generate(protocol), &Method::POST) => {
            Box::pin(generate(shared, snapshot, protocol, peer, request)).await
        }
        (Route::CountTokens, &Method::POST) => Box::pin(count_tokens::serve(shared, snapshot, peer, request)).await,
        (Route::Generate(Protocol::Responses), &Method::GET) if guard::is_websocket(request.headers()) => refuse::bare(
            protocol,
            Refusal::WebsocketUnsupported,
            "websockets are not spoken here; send the request by POST",
        ),
        (Route::Models(id), &Method::GET | &Method::HEAD) => {
            let id = id.map(str::to_owned);
            Box::pin(models::serve(&shared, &snapshot, protocol, peer, &request, id.as_deref())).await
        }
        (Route::Unknown | Route::Pages, _) => refuse::bare(protocol, Refusal::NotFound, "there is no such route"),
        (known, _) => {
            let allow = match known {
                Route::Health | Route::Models(_) => "GET, HEAD",
                _ => "POST",
            };
            let mut response = refuse::bare(protocol, Refusal::MethodNotAllowed, &format!("this route takes {allow}"));
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
            response
        }
    }
}

fn health() -> Response<Body> {
    let body = serde_json::json!({"status":"ok","version":env!("CARGO_PKG_VERSION")}).to_string();
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The record of a request of which only the head is known.
fn record(shared: &Shared, peer: Peer, protocol: Protocol, endpoint: &str, headers: &HeaderMap) -> RequestRecord {
    let now = shared.clock.wall();
    let user_agent = headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok());
    RequestRecord {
        id: Uuid::now_v7(),
        started_at: now,
        completed_at: now,
        protocol: Some(protocol),
        client: detect::client(headers).map(str::to_owned),
        endpoint: endpoint.to_owned(),
        client_ip: Some(peer.remote.ip().to_canonical().to_string()),
        user_agent: user_agent.map(|ua| ua.chars().take(512).collect()),
        revision: shared.snapshot.load().revision,
        ..RequestRecord::default()
    }
}

/// A request that may be served: who asks, and for what.
struct Admitted {
    exchange: Exchange,
    key: Arc<Key>,
    body: Bytes,
    asked: Asked,
}

/// Checks the key, reads the body and what it asks for, and notes both in the record. A refusal is ready to be sent.
async fn admit(
    shared: &Shared,
    snapshot: &Snapshot,
    protocol: Protocol,
    headers: &HeaderMap,
    incoming: Incoming,
    peer: Peer,
    mut exchange: Exchange,
) -> Result<Admitted, Box<Response<Body>>> {
    let refuse = |exchange, refusal, message: &str| {
        Err(Box::new(refuse::own(shared, protocol, exchange, refusal, message, None)))
    };
    if let Some(why) = not_now(shared) {
        return refuse(exchange, Refusal::Stopping, why);
    }
    let key = match auth::authenticate(shared, snapshot, headers, peer).await {
        Ok(key) => key,
        Err(message) => return refuse(exchange, Refusal::InvalidKey, message),
    };
    exchange.step("auth", exchange.started);
    exchange.record.key_id = Some(key.id);
    exchange.record.key_name = Some(key.name.to_string());
    exchange.record.group_id = Some(key.group.id);
    exchange.record.group_name = Some(key.group.name.to_string());
    let limit = usize::try_from(snapshot.settings.body_limit.0).unwrap_or(usize::MAX);
    let body = match body::read(headers, incoming, limit).await {
        Ok(body) => body,
        Err((refusal, message)) => return refuse(exchange, refusal, &message),
    };
    exchange.record.request_bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
    let asked = match request::read(protocol, &body) {
        Ok(asked) => asked,
        Err(why) => return refuse(exchange, Refusal::BadRequest, &why.0),
    };
    exchange.record.model = Some(asked.model.clone());
    exchange.record.stream = asked.stream;
    exchange.record.features = (!asked.features.is_empty()).then(|| asked.features.iter().copied().collect());
    exchange.record.estimated_input = i64::try_from(asked.estimated_input).ok();
    let model = headgate_domain::pattern::strip_context_mark(&asked.model);
    if !key.spec.allows_model(model) {
        return refuse(exchange, Refusal::ModelNotFound, &format!("this key may not use the model '{model}'"));
    }
    Ok(Admitted { exchange, key, body, asked })
}

/// A request for an answer of a model.
async fn generate(
    shared: Arc<Shared>,
    snapshot: Arc<Snapshot>,
    protocol: Protocol,
    peer: Peer,
    request: Request<Incoming>,
) -> Response<Body> {
    let started = shared.now();
    let (parts, incoming) = request.into_parts();
    let route = protocol.route();
    let mut exchange = Exchange::begin(&shared, record(&shared, peer, protocol, route, &parts.headers), started);
    if shared.traces.are_on() {
        let own = parts.headers.get("traceparent").and_then(|v| v.to_str().ok());
        exchange.parent = own.and_then(Parent::read);
    }
    let Admitted { mut exchange, key, body, asked } =
        match admit(&shared, &snapshot, protocol, &parts.headers, incoming, peer, exchange).await {
            Ok(admitted) => admitted,
            Err(refused) => return *refused,
        };
    let wishes = match wishes::read(&parts.headers, started) {
        Ok(wishes) => wishes,
        Err(message) => return refuse::own(&shared, protocol, exchange, Refusal::BadRequest, &message, None),
    };
    exchange.record.region.clone_from(&wishes.region);
    if let Err(exceeded) = exchange.claim_allowance(&key, asked.estimated_input) {
        let wait = exceeded.retry_at.map(|at| at.since(shared.now()));
        return refuse::own(&shared, protocol, exchange, Refusal::RateLimited, &too_much(&exceeded.reached), wait);
    }
    if let Err(spent) = exchange.claim_budget(&key, &snapshot.settings) {
        return refuse::spent(&shared, protocol, exchange, &spent);
    }
    let session = detect::session(&parts.headers, asked.session.as_deref());
    if let Some(session) = &session {
        let (number, text) = auth::session_hash(&shared.pepper, key.id, session);
        exchange.session = Some(number);
        exchange.record.affinity_key = Some(text);
    }
    if shared.events.is_watched() {
        shared.events.send(Event::RequestStarted {
            id: exchange.record.id,
            group: key.group.name.to_string(),
            model: asked.model.clone(),
        });
    }
    let query = parts.uri.query().map(str::to_owned);
    let inbound = Inbound {
        snapshot,
        key,
        protocol,
        route,
        query,
        headers: parts.headers,
        body,
        asked,
        session,
        wishes,
        is_ours: false,
    };
    Box::pin(forward::forward(&shared, inbound, exchange)).await
}

/// Which of a key's own limits is reached.
fn too_much(reached: &Reached) -> String {
    match reached {
        Reached::Concurrency(most) => format!("this access key may have {most} requests under way at the same time"),
        Reached::Requests(most) => format!("this access key may send {most} requests a minute"),
        Reached::Tokens(most) => format!("this access key may use {most} tokens a minute"),
    }
}

/// Why no request is taken at the moment.
fn not_now(shared: &Shared) -> Option<&'static str> {
    if shared.stopping.is_cancelled() {
        return Some("Headgate is stopping");
    }
    let paused = shared.paused.load(std::sync::atomic::Ordering::Relaxed);
    paused.then_some("Headgate is paused; resume it in its window or tray menu")
}

/// A question of our own to a group: it takes the way of every request, and is recorded as one.
pub async fn ask(
    shared: &Arc<Shared>,
    snapshot: Arc<Snapshot>,
    key: Arc<Key>,
    protocol: Protocol,
    body: String,
) -> Response<Body> {
    let started = shared.now();
    let here = Peer { remote: shared.bootstrap.address, local: shared.bootstrap.address };
    let mut headers = HeaderMap::new();
    if protocol == Protocol::Claude {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let route = protocol.route();
    let mut exchange = Exchange::begin(shared, record(shared, here, protocol, route, &headers), started);
    let asked = match request::read(protocol, body.as_bytes()) {
        Ok(asked) => asked,
        Err(why) => return refuse::own(shared, protocol, exchange, Refusal::BadRequest, &why.0, None),
    };
    let record = &mut exchange.record;
    record.client = Some("headgate".to_owned());
    record.client_ip = None;
    record.key_name = Some(key.name.to_string());
    record.group_id = Some(key.group.id);
    record.group_name = Some(key.group.name.to_string());
    record.model = Some(asked.model.clone());
    record.stream = asked.stream;
    let inbound = Inbound {
        snapshot,
        key,
        protocol,
        route,
        query: None,
        headers,
        body: body.into(),
        asked,
        session: None,
        wishes: forward::Wishes::default(),
        is_ours: true,
    };
    Box::pin(forward::forward(shared, inbound, exchange)).await
}

/// A JSON answer.
fn json(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
