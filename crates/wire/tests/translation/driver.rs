//! Plays the gateway's part: sends a request through, feeds an answer in chunks, relays failures.

use bytes::Bytes;
use headgate_domain::{Class, Failure, Protocol, UpstreamKind, upstream::ProfileSpec};
use headgate_wire::{
    envelope, error,
    head::Head,
    loss::Rejection,
    observe::End,
    profile::Profile,
    translate::{Encoded, Plan},
};
use serde_json::{Value, json};

use super::produced;

pub const CREATED: u64 = 1_700_000_000;
pub const REQUEST_ID: &str = "0193b5c2-7c1e-7000-8000-000000000001";

/// A client, an upstream, and how it is configured.
#[derive(Debug, Clone)]
pub struct Route {
    pub client: Protocol,
    pub upstream: UpstreamKind,
    pub model: String,
    pub spec: ProfileSpec,
}

impl Route {
    pub fn new(client: Protocol, upstream: UpstreamKind) -> Self {
        let spec = ProfileSpec { auto_cache: Some(false), ..ProfileSpec::default() };
        Self { client, upstream, model: "sent-model".into(), spec }
    }

    /// The same with keys of a profile.
    pub fn with(mut self, keys: Value) -> Self {
        let mut all = serde_json::to_value(&self.spec).unwrap();
        all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        self.spec = serde_json::from_value(all).unwrap();
        self
    }

    pub fn request(&self, body: &Value) -> Result<Encoded, Rejection> {
        let encoded = self.request_bytes(body.to_string().as_bytes())?;
        // What is not translated is what the client said, legal or not.
        if self.spoken() != self.client {
            produced::note("request", self.spoken(), &serde_json::from_slice(&encoded.body).unwrap());
        }
        Ok(encoded)
    }

    pub fn request_bytes(&self, body: &[u8]) -> Result<Encoded, Rejection> {
        let profile = Profile::resolve(self.upstream, Some(&self.spec), &self.model);
        Plan::new(self.client, self.upstream, &profile).request(body, &self.model)
    }

    /// What the upstream speaks.
    fn spoken(&self) -> Protocol {
        match self.upstream {
            UpstreamKind::Openai => Protocol::Chat,
            UpstreamKind::OpenaiResponse | UpstreamKind::Codex => Protocol::Responses,
            UpstreamKind::Claude => Protocol::Claude,
            UpstreamKind::Passthrough => self.client,
        }
    }

    /// The body sent for a request, as JSON.
    pub fn sent(&self, body: &Value) -> Value {
        serde_json::from_slice(&self.request(body).expect("a request that can be sent").body).unwrap()
    }

    /// The codes recorded for a request.
    pub fn warnings(&self, body: &Value) -> Vec<String> {
        let warnings = self.request(body).expect("a request that can be sent").warnings;
        warnings.codes().iter().map(ToString::to_string).collect()
    }

    /// A head for an answer to `body`.
    pub fn head(&self, body: &Value) -> Head {
        let model = body["model"].as_str().unwrap_or("asked-model");
        Head::new(self.client, body.to_string().as_bytes(), model, REQUEST_ID, CREATED)
    }

    /// Feeds an answer in `chunks` and closes; what the client got, and how it ended.
    pub fn answer<'c>(&self, request: &Value, chunks: impl IntoIterator<Item = &'c [u8]>) -> Answered {
        let encoded = self.request(request).expect("a request that can be sent");
        let mut translator = encoded.answers.translator(self.head(request));
        let mut bytes = Vec::new();
        for chunk in chunks {
            let more = translator.push(Bytes::copy_from_slice(chunk));
            assert!(more.is_empty() || translator.seen().output || translator.end().is_some(), "held until output");
            bytes.extend(more);
        }
        bytes.extend(translator.finish());
        let end = translator.end().expect("a closed answer has ended");
        if self.spoken() != self.client {
            produced::note_answer(self.client, &bytes);
        }
        let committed = !bytes.is_empty();
        let failure = match &end {
            End::Complete | End::Empty => None,
            End::Cut => Some(Failure::new(Class::Cut, "the answer broke off")),
            End::Failed(error) => Some(headgate_routing::classify(error)),
        };
        let failed = failure.is_some();
        if let Some(failure) = &failure
            && committed
        {
            bytes.extend(translator.fail(failure));
        }
        let refused = failure.filter(|_| !committed).map(|failure| relayed(self.client, &failure));
        Answered { bytes, end, failed, refused, usage: *translator.usage(), warnings: translator.warnings() }
    }

    /// An answer in one piece.
    pub fn answer_whole(&self, request: &Value, body: &[u8]) -> Answered {
        self.answer(request, [body])
    }
}

/// What came of an answer.
#[derive(Debug)]
pub struct Answered {
    pub bytes: Vec<u8>,
    pub end: End,
    /// It did not end well.
    pub failed: bool,
    /// Nothing was sent before it failed: status and body.
    pub refused: Option<(u16, Value)>,
    pub usage: headgate_domain::Usage,
    pub warnings: headgate_wire::loss::Losses,
}

impl Answered {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).expect("a document")
    }
}

/// How a failure is told when nothing was sent.
pub fn relayed(client: Protocol, failure: &Failure) -> (u16, Value) {
    let words = envelope::failure_words(failure, client);
    let message = envelope::failure_message(failure, client);
    (words.status, serde_json::from_slice(&envelope::body(client, &words, &message, REQUEST_ID)).unwrap())
}

/// An HTTP error of the upstream, as the client gets it.
pub fn refusal(client: Protocol, status: u16, body: &[u8]) -> (u16, Value) {
    relayed(client, &headgate_routing::classify(&error::read(Some(status), body)))
}

/// The bytes of frames as cases write them.
pub fn wire(frames: &[Value]) -> Vec<u8> {
    let mut out = String::new();
    for frame in frames {
        if let Some(raw) = frame.get("raw") {
            out += raw.as_str().unwrap();
        } else if let Some(data) = frame.get("data") {
            if let Some(event) = frame.get("event") {
                out += &format!("event: {}\n", event.as_str().unwrap());
            }
            match data {
                Value::String(text) => out += &format!("data: {text}\n\n"),
                data => out += &format!("data: {data}\n\n"),
            }
        }
    }
    out.into_bytes()
}

/// Named events of a Claude or Responses stream.
pub fn events(list: &[Value]) -> Vec<u8> {
    wire(&list.iter().map(|data| json!({"event":data["type"],"data":data})).collect::<Vec<_>>())
}

/// Chunks of a Chat stream, `[DONE]` included.
pub fn chunks(list: &[Value]) -> Vec<u8> {
    let mut frames: Vec<Value> = list.iter().map(|data| json!({"data":data})).collect();
    frames.push(json!({"data":"[DONE]"}));
    wire(&frames)
}
