//! `/upstreams/{id}/test`: a question of our own through the upstream's own proxy and protocol, streamed as it comes.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{Sse, sse::Event as Frame},
};
use futures_util::Stream;
use headgate_domain::{Protocol, UpstreamId};
use headgate_routing::classify;
use headgate_wire::{
    observe::{End, Observer},
    sse::{self, Splitter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{
    ApiError,
    extract::{Body, Path},
};
use crate::{
    forward::{
        headers,
        receive::{self, Terms},
        send,
        source::Source,
    },
    shared::Shared,
    snapshot::Endpoint,
    tasks::{own_protocol, question},
};

/// The longest a test may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What to ask.
#[derive(Debug, Default, Deserialize, ToSchema, IntoParams)]
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

/// A step of a test.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Step {
    /// The request goes out.
    Started {
        /// The URL called.
        url: String,
        /// The model asked for.
        model: String,
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
        ttft_ms: Option<u64>,
        /// Milliseconds altogether.
        duration_ms: u64,
        /// Class and detail of a failure.
        kind: Option<String>,
        /// A sentence about it.
        error: Option<String>,
    },
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(test))
}

/// Test an upstream with a streamed question; its health is not touched
#[utoipa::path(post, path = "/upstreams/{id}/test", tag = "upstreams", params(("id" = i64, Path)), request_body = TestBody, responses((status = 200, body = Step, content_type = "text/event-stream")))]
async fn test(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<UpstreamId>,
    Body(body): Body<TestBody>,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, ApiError> {
    let snapshot = shared.snapshot.load_full();
    let endpoint = Arc::clone(snapshot.upstreams.get(&id).ok_or_else(|| ApiError::not_found("upstream"))?);
    let upstream = snapshot.configuration.upstream(id).ok_or_else(|| ApiError::not_found("upstream"))?;
    let model = match body.model.clone().or_else(|| upstream.spec.models.literal_names().next().map(str::to_owned)) {
        Some(model) => model,
        None => {
            let listed = tokio::time::timeout(Duration::from_secs(10), crate::ingress::models::fetch(&endpoint)).await;
            listed.ok().flatten().and_then(|l| l.into_iter().next()).ok_or_else(|| {
                ApiError::bad_request("the upstream lists no models; name the one to ask for").with_field("model")
            })?
        }
    };
    let model = upstream.spec.models.resolve(&model).map_or(model.clone(), |m| m.into_owned());
    let (steps, received) = mpsc::channel(64);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        let work = run(&shared, &endpoint, &body, model, &steps);
        tokio::select! {
            () = Box::pin(work) => {}
            () = steps.closed() => {}
        }
    });
    let stream = futures_util::stream::unfold(received, |mut received: mpsc::Receiver<Step>| async move {
        let step = received.recv().await?;
        Some((Ok(Frame::default().json_data(&step).unwrap_or_default()), received))
    });
    Ok(Sse::new(stream))
}

async fn run(shared: &Shared, endpoint: &Endpoint, body: &TestBody, model: String, steps: &mpsc::Sender<Step>) {
    let protocol = body.protocol.unwrap_or_else(|| own_protocol(endpoint.kind));
    let url = endpoint.url(protocol.route(), None);
    let _ = steps.send(Step::Started { url: url.clone(), model: model.clone() }).await;
    let mut ask = question(
        protocol,
        &model,
        body.message.as_deref().unwrap_or("Say hello in one short sentence."),
        body.max_tokens.unwrap_or(64),
    );
    if let Value::Object(map) = &mut ask {
        map.insert("stream".to_owned(), json!(true));
    }
    let started = shared.now();
    let until = started + LIMIT;
    let terms = Terms {
        protocol,
        stream: true,
        asked: None,
        started,
        first_work: until,
        unadapted: false,
        whole: until,
        deadline: None,
        idle: endpoint.limits.idle,
        hold: LIMIT,
        event_limit: 16 << 20,
    };
    let credential = endpoint.credentials.iter().min_by_key(|(id, _)| **id).map(|(_, value)| value);
    let mut out =
        headers::to_upstream(&http::HeaderMap::new(), endpoint, protocol, credential, None, &shared.pseudonym);
    if protocol == Protocol::Claude {
        out.insert("anthropic-version", http::HeaderValue::from_static("2023-06-01"));
    }
    let mut ttft = None;
    let mut status = None;
    let result = async {
        let head = send::send(endpoint, &url, out, ask.to_string().into(), &terms, shared.clock)
            .await
            .map_err(|u| u.failure)?;
        status = Some(head.status.as_u16());
        if !head.status.is_success() {
            return Err(classify(&send::read_refusal(head, shared.clock, &terms).await.error));
        }
        let mut source = Source::new(&head.headers, head.body);
        let mut splitter = Splitter::new(terms.event_limit);
        let mut observer = Observer::new(protocol);
        let (mut frames, mut whole) = (Vec::new(), Vec::new());
        loop {
            let next = tokio::time::timeout_at(shared.clock.instant(until), source.next())
                .await
                .map_err(|_| receive::late(&terms, until))?;
            let Some(chunk) = next.transpose()? else { break };
            if whole.len() < receive::HOLD {
                whole.extend_from_slice(&chunk);
            }
            let _ = splitter.push(chunk, &mut frames);
            for frame in frames.drain(..) {
                let Some(data) = sse::data(&frame.raw) else { continue };
                if observer.event(&data).output {
                    ttft.get_or_insert(shared.now().since(started));
                }
                if let Some(text) = text_of(&data) {
                    let _ = steps.send(Step::Content { text }).await;
                }
            }
        }
        if !sse::looks_like_events(&whole) {
            observer.document(&whole);
        }
        match observer.end() {
            End::Complete => Ok(()),
            End::Empty => Err(headgate_domain::Failure::new(
                headgate_domain::Class::Empty,
                "the answer is complete but has no content",
            )),
            End::Cut => Err(headgate_domain::Failure::new(
                headgate_domain::Class::Cut,
                "the answer ended without its completion event",
            )),
            End::Failed(error) => Err(receive::as_broken(classify(&error))),
        }
    }
    .await;
    let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
    let finished = Step::Finished {
        ok: result.is_ok(),
        status,
        ttft_ms: ttft.map(ms),
        duration_ms: ms(shared.now().since(started)),
        kind: result.as_ref().err().map(|f| f.kind()),
        error: result.err().map(|f| f.message.into_owned()),
    };
    let _ = steps.send(finished).await;
}

/// The text in an event of any of the protocols.
fn text_of(data: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(data).ok()?;
    let text = value.pointer("/choices/0/delta/content").or_else(|| value.pointer("/delta/text")).or_else(|| {
        value.get("delta").filter(|_| value.get("type").is_some_and(|t| t == "response.output_text.delta"))
    })?;
    text.as_str().filter(|t| !t.is_empty()).map(str::to_owned)
}
