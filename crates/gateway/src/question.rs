//! Questions of our own to an upstream: for tests, for the detection of what it speaks, for recovery probes.

use std::time::Duration;

use headgate_domain::{Class, Failure, Protocol, UpstreamKind};
use headgate_routing::{Completion, classify};
use headgate_wire::{
    observe::{Document, End, Observer},
    sse::{self, Splitter},
};
use http::HeaderValue;
use serde_json::{Value, json};

use crate::{
    forward::{
        headers,
        receive::{self, Terms},
        send,
        source::Source,
    },
    shared::Shared,
    snapshot::Endpoint,
};

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// In this protocol.
    pub protocol: Protocol,
    /// Of this model.
    pub model: &'a str,
    /// This.
    pub message: &'a str,
    /// With so many output tokens at most.
    pub max_tokens: u32,
    /// As a stream.
    pub stream: bool,
}

/// How it was answered.
pub struct Reply {
    /// HTTP status.
    pub status: Option<u16>,
    /// Time to the first output.
    pub ttft: Option<Duration>,
    /// Time altogether.
    pub duration: Duration,
    /// Whether a whole answer came.
    pub result: Result<(), Failure>,
}

impl Reply {
    /// What it says about the upstream. An answer without content is an answer, and the time of so short a question
    /// says nothing about others.
    pub fn completion(&self) -> Completion {
        match &self.result {
            Ok(()) => Completion::ok(None),
            Err(failure) if failure.class == Class::Empty => Completion::ok(None),
            Err(failure) => Completion::from(failure),
        }
    }
}

impl Question<'_> {
    /// The request's body.
    pub fn body(&self) -> Value {
        let Self { model, message, max_tokens, .. } = self;
        let mut body = match self.protocol {
            Protocol::Chat | Protocol::Claude => {
                json!({"model":model,"max_tokens":max_tokens,"messages":[{"role":"user","content":message}]})
            }
            Protocol::Responses => {
                json!({"model":model,"max_output_tokens":(*max_tokens).max(16),"input":message,"store":false})
            }
        };
        if let (true, Value::Object(map)) = (self.stream, &mut body) {
            map.insert("stream".to_owned(), json!(true));
        }
        body
    }

    /// Asks; `text` gets the pieces of a streamed answer as they come. The whole answer is read. Nobody's health is
    /// touched.
    pub async fn ask(
        &self,
        shared: &Shared,
        endpoint: &Endpoint,
        credential: Option<&HeaderValue>,
        limit: Duration,
        mut text: impl FnMut(String) + Send,
    ) -> Reply {
        let started = shared.now();
        let mut reply = Reply { status: None, ttft: None, duration: Duration::ZERO, result: Ok(()) };
        let until = started + limit;
        let terms = Terms {
            protocol: self.protocol,
            stream: self.stream,
            asked: None,
            started,
            first_work: until,
            unadapted: false,
            whole: until,
            deadline: None,
            idle: endpoint.limits.idle,
            hold: limit,
            event_limit: 16 << 20,
            counts: false,
        };
        let work = async {
            let url = endpoint.url(self.protocol.route(), None);
            let out = own_headers(shared, endpoint, self.protocol, credential);
            let head = send::send(endpoint, &url, out, self.body().to_string().into(), &terms, shared.clock)
                .await
                .map_err(|u| u.failure)?;
            reply.status = Some(head.status.as_u16());
            if !head.status.is_success() {
                return Err(classify(&send::read_refusal(head, shared.clock, &terms).await.error));
            }
            let mut source = Source::new(&head.headers, head.body);
            let mut splitter = Splitter::new(terms.event_limit);
            let mut observer = Observer::new(self.protocol);
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
                        reply.ttft.get_or_insert(shared.now().since(started));
                    }
                    text_of(&data).into_iter().for_each(&mut text);
                }
            }
            if !sse::looks_like_events(&whole) && matches!(observer.document(&whole), Document::Unreadable) {
                return Err(Failure::new(
                    Class::Broken,
                    "the answer is neither a stream nor a document of its protocol",
                ));
            }
            match observer.end() {
                End::Complete => Ok(()),
                End::Empty => Err(Failure::new(Class::Empty, "the answer is complete but has no content")),
                End::Cut => Err(Failure::new(Class::Cut, "the answer ended without its completion event")),
                End::Failed(error) => Err(receive::as_broken(classify(&error))),
            }
        };
        reply.result = work.await;
        reply.duration = shared.now().since(started);
        reply
    }
}

/// The headers of a question of our own.
pub fn own_headers(
    shared: &Shared,
    endpoint: &Endpoint,
    protocol: Protocol,
    credential: Option<&HeaderValue>,
) -> http::HeaderMap {
    let mut out =
        headers::to_upstream(&http::HeaderMap::new(), endpoint, protocol, credential, None, &shared.pseudonym);
    if protocol == Protocol::Claude {
        out.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    out
}

/// The protocol in which an upstream is asked a question of our own.
pub fn own_protocol(kind: UpstreamKind) -> Protocol {
    match kind {
        UpstreamKind::Claude => Protocol::Claude,
        UpstreamKind::OpenaiResponse | UpstreamKind::Codex => Protocol::Responses,
        UpstreamKind::Openai | UpstreamKind::Passthrough => Protocol::Chat,
    }
}

/// The text in an event of any of the protocols.
pub fn text_of(data: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(data).ok()?;
    let text = value.pointer("/choices/0/delta/content").or_else(|| value.pointer("/delta/text")).or_else(|| {
        value.get("delta").filter(|_| value.get("type").is_some_and(|t| t == "response.output_text.delta"))
    })?;
    text.as_str().filter(|t| !t.is_empty()).map(str::to_owned)
}
