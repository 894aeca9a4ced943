//! `count_tokens`: passed through to a Claude upstream; it counts nowhere and touches nobody's health.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use headgate_domain::{Class, Failure, Outcome, Protocol, UpstreamKind};
use headgate_routing::{Need, Reason, Tried};
use headgate_wire::{envelope::Refusal, splice};
use http::{Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;

use super::{Admitted, Peer, admit, record, refuse};
use crate::{
    exchange::Exchange,
    forward::{headers, source::Source},
    shared::Shared,
    snapshot::{Endpoint, Key, Snapshot},
};

const ROUTE: &str = "/v1/messages/count_tokens";
/// The limit of one upstream.
const LIMIT: Duration = Duration::from_secs(30);
/// Largest answer.
const MAX_ANSWER: usize = 1 << 20;

/// Serves a `count_tokens` request.
pub async fn serve(
    shared: Arc<Shared>,
    snapshot: Arc<Snapshot>,
    peer: Peer,
    request: Request<Incoming>,
) -> Response<Body> {
    let protocol = Protocol::Claude;
    let started = shared.now();
    let (parts, incoming) = request.into_parts();
    let mut exchange = Exchange::begin(&shared, record(&shared, peer, protocol, ROUTE, &parts.headers), started);
    exchange.silent = true;
    let Admitted { mut exchange, key, body, asked } =
        match admit(&shared, &snapshot, protocol, &parts.headers, incoming, peer, exchange).await {
            Ok(admitted) => admitted,
            Err(refused) => return *refused,
        };
    let model = headgate_domain::pattern::strip_context_mark(&asked.model);
    let query = parts.uri.query();
    for (endpoint, sent_model) in candidates(&shared, &key, model) {
        let body = if sent_model == asked.model {
            body.clone()
        } else {
            splice::replace(&body, &asked.model_span, &sent_model)
        };
        let credential = endpoint.credentials.iter().min_by_key(|(id, _)| **id).map(|(_, value)| value);
        let headers = headers::to_upstream(&parts.headers, &endpoint, protocol, credential, None, &shared.pseudonym);
        let Some((status, headers, answer)) = ask(&endpoint, endpoint.url(ROUTE, query), headers, body).await else {
            continue;
        };
        if matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) || status.is_server_error() {
            continue;
        }
        exchange.record.upstream_id = Some(endpoint.id);
        exchange.record.upstream_name = Some(endpoint.name.to_string());
        let mut back = headers::to_client(&headers);
        refuse::trace(&mut back, &exchange, Some(endpoint.name.as_str()), false);
        back.entry(header::CONTENT_TYPE).or_insert(http::HeaderValue::from_static("application/json"));
        let failure = (!status.is_success()).then(|| Failure::new(Class::ClientFault, "the upstream refused to count"));
        let outcome = if status.is_success() { Outcome::Success } else { Outcome::ClientError };
        exchange.finish(status.as_u16(), outcome, failure.as_ref(), answer.len() as u64);
        let mut response = Response::new(Body::from(answer));
        *response.status_mut() = status;
        *response.headers_mut() = back;
        return response;
    }
    let message = format!("no upstream of group '{}' counts tokens for '{model}'", key.group.name);
    refuse::own(&shared, protocol, exchange, Refusal::NotFound, &message, None)
}

/// Members that may be asked, best tier first, whatever room they have.
fn candidates(shared: &Shared, key: &Key, model: &str) -> Vec<(Arc<Endpoint>, String)> {
    let group = &key.group;
    let pool = group.pool_for(model);
    let reasons = {
        let claude = |_, kind: UpstreamKind| kind.speaks(Protocol::Claude);
        let mut need = Need::new(Protocol::Claude, model);
        need.key_regions = key.spec.regions.as_deref();
        need.key_labels = key.spec.labels.as_deref();
        need.expressible = &claude;
        let routing = &mut *shared.routing.lock();
        routing.health.explain(pool, &need, &Tried::new(), shared.now(), &mut routing.rng).reasons
    };
    let stopped = |reason: Reason| {
        matches!(
            reason,
            Reason::Disabled
                | Reason::Policy
                | Reason::ModelMissing
                | Reason::Untranslatable
                | Reason::CoolingDown { .. }
        )
    };
    let mut members: Vec<_> = pool
        .members
        .iter()
        .filter(|m| reasons.iter().any(|r| r.upstream == m.upstream && !stopped(r.reason)))
        .collect();
    members.sort_by_key(|m| m.priority);
    members
        .into_iter()
        .filter_map(|m| Some((Arc::clone(group.endpoint(m.upstream)?), m.models.resolve(model)?.into_owned())))
        .collect()
}

async fn ask(
    endpoint: &Endpoint,
    url: String,
    headers: http::HeaderMap,
    body: Bytes,
) -> Option<(StatusCode, http::HeaderMap, Bytes)> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = url.parse().ok()?;
    *request.headers_mut() = headers;
    let work = async {
        let (parts, body) = endpoint.client.call(request).await.ok()?.into_parts();
        let mut source = Source::new(&parts.headers, body);
        let mut whole = BytesMut::new();
        while let Some(chunk) = source.next().await {
            whole.extend_from_slice(&chunk.ok()?);
            if whole.len() > MAX_ANSWER {
                return None;
            }
        }
        Some((parts.status, parts.headers, whole.freeze()))
    };
    tokio::time::timeout(LIMIT, work).await.ok().flatten()
}
