//! `/upstreams/{id}/test` and `/groups/{id}/test`: a question of our own, its answer streamed as it comes.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{Sse, sse::Event as Frame},
};
use futures_util::{Stream, StreamExt as _};
use headgate_domain::{GroupId, KeyId, Name, Protocol, UpstreamId, key::KeySpec};
use headgate_wire::{
    observe::{End, Observer},
    sse::{self, Splitter},
};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{
    ApiError,
    extract::{Body, Path},
};
use crate::{
    ingress,
    question::{Question, own_protocol, text_of},
    shared::Shared,
    snapshot::{Group, Key},
};

/// The longest a test may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What to ask.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
struct TestBody {
    /// The model; absent: the first one of the upstream's rules or list.
    model: Option<String>,
    /// The prompt; absent: a greeting.
    message: Option<String>,
    /// Output limit; absent: 64.
    max_tokens: Option<u32>,
    /// The protocol, for an upstream that takes several; absent: its own.
    protocol: Option<Protocol>,
}

impl TestBody {
    fn question<'a>(&'a self, protocol: Protocol, model: &'a str) -> Question<'a> {
        Question {
            protocol: self.protocol.unwrap_or(protocol),
            model,
            message: self.message.as_deref().unwrap_or("Say hello in one short sentence."),
            max_tokens: self.max_tokens.unwrap_or(64),
            stream: true,
        }
    }
}

/// A step of a test.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Step {
    /// The request goes out.
    Started {
        /// The model asked for.
        model: String,
        /// The protocol spoken.
        protocol: Protocol,
        /// The URL called (upstreams only).
        url: Option<String>,
    },
    /// A piece of the answer.
    Content {
        /// The text.
        text: String,
    },
    /// It is over.
    Finished {
        /// A whole answer came.
        ok: bool,
        /// HTTP status.
        status: Option<u16>,
        /// Milliseconds to the first output.
        ttft_ms: Option<i64>,
        /// Milliseconds altogether.
        duration_ms: i64,
        /// Class and detail of a failure, or the gateway's own code.
        kind: Option<String>,
        /// A sentence about it.
        error: Option<String>,
        /// The request's id, for its record (groups only).
        request_id: Option<String>,
        /// The upstream that answered (groups only).
        upstream: Option<String>,
        /// Attempts made (groups only).
        attempts: Option<u32>,
    },
}

type Steps = Sse<std::pin::Pin<Box<dyn Stream<Item = Result<Frame, Infallible>> + Send>>>;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(test_upstream)).routes(routes!(test_group))
}

/// Runs `work`, whose steps are the answer; it ends when nobody listens any more.
fn streamed<W>(shared: &Shared, work: impl FnOnce(mpsc::UnboundedSender<Step>) -> W) -> Steps
where
    W: Future<Output = ()> + Send + 'static,
{
    let (steps, received) = mpsc::unbounded_channel();
    let work = work(steps.clone());
    shared.tasks.spawn(async move {
        tokio::select! {
            () = Box::pin(work) => {}
            () = steps.closed() => {}
        }
    });
    let frames = futures_util::stream::unfold(received, |mut received: mpsc::UnboundedReceiver<Step>| async move {
        let step = received.recv().await?;
        Some((Ok(Frame::default().json_data(&step).unwrap_or_default()), received))
    });
    Sse::new(frames.boxed())
}

/// Test an upstream with a streamed question; its health is not touched
#[utoipa::path(post, path = "/upstreams/{id}/test", tag = "upstreams", params(("id" = i64, Path)), request_body = TestBody, responses((status = 200, body = Step, content_type = "text/event-stream")))]
async fn test_upstream(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Body(body): Body<TestBody>,
) -> Result<Steps, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let endpoint = Arc::clone(snapshot.upstreams.get(&id).ok_or_else(|| ApiError::not_found("upstream"))?);
    let upstream = snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    let model = match body.model.clone().or_else(|| upstream.spec.models.literal_names().next().map(str::to_owned)) {
        Some(model) => model,
        None => {
            let listed = tokio::time::timeout(Duration::from_secs(10), ingress::models::fetch(&endpoint)).await;
            listed.ok().flatten().and_then(|l| l.into_iter().next()).ok_or_else(|| {
                ApiError::bad_request("the upstream lists no models; name the one to ask for").with_field("model")
            })?
        }
    };
    let model = upstream.spec.models.resolve(&model).map_or(model.clone(), |m| m.into_owned());
    Ok(streamed(&Arc::clone(&shared), |steps| async move {
        let question = body.question(own_protocol(endpoint.kind), &model);
        let url = endpoint.url(question.protocol.route(), None);
        let _ = steps.send(Step::Started { model: model.clone(), protocol: question.protocol, url: Some(url) });
        let credential = endpoint.credentials.iter().min_by_key(|(id, _)| **id).map(|(_, value)| value);
        let told = |text| drop(steps.send(Step::Content { text }));
        let reply = question.ask(&shared, &endpoint, credential, LIMIT, told).await;
        let _ = steps.send(Step::Finished {
            ok: reply.result.is_ok(),
            status: reply.status,
            ttft_ms: reply.ttft.map(crate::clock::millis),
            duration_ms: crate::clock::millis(reply.duration),
            kind: reply.result.as_ref().err().map(|f| f.kind()),
            error: reply.result.err().map(|f| f.message.into_owned()),
            request_id: None,
            upstream: None,
            attempts: None,
        });
    }))
}

/// Test a group with a streamed question that takes the way of every request, and is recorded as one
#[utoipa::path(post, path = "/groups/{id}/test", tag = "groups", params(("id" = i64, Path)), request_body = TestBody, responses((status = 200, body = Step, content_type = "text/event-stream")))]
async fn test_group(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<GroupId>,
    Body(body): Body<TestBody>,
) -> Result<Steps, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let group = Arc::clone(snapshot.groups.get(&id).ok_or_else(|| ApiError::not_found("group"))?);
    let model = match body.model.clone().or_else(|| group.literal_models(|_| true).into_iter().next()) {
        Some(model) => model,
        None => first_listed(&group).await.ok_or_else(|| {
            ApiError::bad_request("no member lists a model; name the one to ask for").with_field("model")
        })?,
    };
    let first = group.pool.members.iter().filter(|m| m.upstream_enabled && m.member_enabled).min_by_key(|m| m.priority);
    let protocol = first.and_then(|m| group.endpoint(m.upstream)).map_or(Protocol::Chat, |e| own_protocol(e.kind));
    let key = Arc::new(Key { id: KeyId(0), name: Name::ours(), spec: KeySpec::of(id), group });
    Ok(streamed(&Arc::clone(&shared), |steps| async move {
        let question = body.question(protocol, &model);
        let _ = steps.send(Step::Started { model: model.clone(), protocol: question.protocol, url: None });
        let started = shared.now();
        let answer = ingress::ask(&shared, snapshot, key, question.protocol, question.body().to_string());
        let response = match tokio::time::timeout(LIMIT, answer).await {
            Ok(response) => response,
            Err(_) => return,
        };
        let (parts, body) = response.into_parts();
        let header = |name: &str| parts.headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
        let mut splitter = Splitter::new(1 << 20);
        let mut frames = Vec::new();
        let mut ttft = None;
        let mut whole = Vec::new();
        let mut chunks = body.into_data_stream();
        let mut observer = Observer::new(question.protocol);
        let mut broken = None;
        while let Some(chunk) = chunks.next().await {
            let Ok(chunk) = chunk else {
                broken = Some("the answer broke off".to_owned());
                break;
            };
            if whole.len() < 64 * 1024 {
                whole.extend_from_slice(&chunk);
            }
            let _ = splitter.push(chunk, &mut frames);
            for frame in frames.drain(..) {
                let Some(data) = sse::data(&frame.raw) else { continue };
                if observer.event(&data).output {
                    ttft.get_or_insert(shared.now().since(started));
                }
                if let Some(text) = text_of(&data) {
                    let _ = steps.send(Step::Content { text });
                }
            }
        }
        if let (End::Failed(told), true) = (observer.end(), sse::looks_like_events(&whole)) {
            broken.get_or_insert(told.message);
        }
        let refused = (!parts.status.is_success()).then(|| message_of(&whole));
        let error = refused.or(broken);
        let _ = steps.send(Step::Finished {
            ok: error.is_none(),
            status: Some(parts.status.as_u16()),
            ttft_ms: ttft.map(crate::clock::millis),
            duration_ms: crate::clock::millis(shared.now().since(started)),
            kind: header("x-headgate-error"),
            error,
            request_id: header("x-headgate-request-id"),
            upstream: header("x-headgate-upstream"),
            attempts: header("x-headgate-attempts").and_then(|n| n.parse().ok()),
        });
    }))
}

/// The first model a member lists.
async fn first_listed(group: &Group) -> Option<String> {
    for endpoint in &group.endpoints {
        let listed = tokio::time::timeout(Duration::from_secs(5), ingress::models::fetch(endpoint)).await;
        if let Some(model) = listed.ok().flatten().and_then(|l| l.into_iter().next()) {
            return Some(model);
        }
    }
    None
}

/// The sentence of an error answer of any of the protocols.
fn message_of(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    value.pointer("/error/message").and_then(|m| m.as_str()).unwrap_or("the request was refused").to_owned()
}
