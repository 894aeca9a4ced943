//! A request of one protocol made into a request of another, and the answer made back.
//!
//! How the gateway uses it, for a client whose protocol the candidate does not speak:
//!
//! 1. Gate: [`Plan::check`] says without sending whether the candidate can express the request; a [`Rejection`] means
//!    `untranslatable` and uses up no attempt. In a strict group, warnings are refused here as well.
//! 2. Attempt: [`Plan::request`], always from the client's own bytes, gives the body to send and the [`Answers`].
//! 3. Answer: [`Answers::translator`] takes every chunk of the upstream's 2xx body, be it an event stream or one JSON
//!    document, whatever the client asked for, and gives back what the client gets.
//!    - Before the first output nothing is given back: the attempt is committed when the first bytes are sent.
//!    - [`Translator::end`] tells how it ended. After [`End::Empty`](crate::observe::End) the bytes just given back are
//!      a whole, empty answer: they are sent only if no other candidate is tried. After `Cut` and `Failed` nothing was
//!      given back; a committed stream is ended by [`Translator::fail`], otherwise another candidate is tried.
//!    - [`Translator::keep_alive`] is sent to a client that waits, and opens its stream. The next attempt's [`Head`] then
//!      goes on from the [`Translator::progress`] of the one before; a candidate of the client's own protocol is read
//!      with [`Answers::relayed`].
//!    - When [`Translator::is_finishing`] has been true for 5 seconds, [`Translator::conclude`] ends the answer without
//!      the usage that did not come.

mod continued;
mod cross;
mod intake;
mod restore;
pub mod same;
mod serial;
mod translator;
mod unwrap;

use std::sync::Arc;

use headgate_domain::{Protocol, UpstreamKind};
use serde_json::Value;

pub use self::translator::Translator;
use crate::{
    codec::{chat, claude, responses},
    exact,
    head::Head,
    loss::{Losses, Rejection},
    neutral::Conversation,
    prepare::Names,
    profile::Profile,
};

/// How requests of one protocol reach one upstream.
#[derive(Debug)]
pub struct Plan<'p> {
    client: Protocol,
    upstream: UpstreamKind,
    profile: &'p Profile,
}

/// A request ready to be sent.
#[derive(Debug)]
pub struct Encoded {
    /// The body.
    pub body: Vec<u8>,
    /// What was dropped, clamped or repaired.
    pub warnings: Losses,
    /// Whether the upstream is asked for a stream.
    pub stream: bool,
    /// The value of the header `anthropic-version`, for an upstream that wants it.
    pub anthropic_version: Option<String>,
    /// What is needed to translate the answer.
    pub answers: Answers,
}

/// What the answer direction needs to know of the request. One request may be answered once.
#[derive(Debug, Clone)]
pub struct Answers {
    client: Protocol,
    upstream: UpstreamKind,
    /// The client wants a stream.
    stream: bool,
    wants_usage: bool,
    /// The client asked for token probabilities.
    logprobs: bool,
    think_tags: bool,
    names: Arc<Names>,
    /// Client and upstream speak the same: the model's name is all that changes.
    same: bool,
}

impl<'p> Plan<'p> {
    /// A plan for clients of `client` at an upstream that speaks `upstream`, for the model of the profile.
    pub fn new(client: Protocol, upstream: UpstreamKind, profile: &'p Profile) -> Self {
        Self { client, upstream, profile }
    }

    /// Whether the upstream can express the request at all, and what it would lose. Nothing is sent.
    pub fn check(&self, body: &[u8]) -> Result<Losses, Rejection> {
        if self.upstream.speaks(self.client) {
            return Ok(Losses::default());
        }
        self.request(body, "").map(|encoded| encoded.warnings)
    }

    /// The request for `model`, from the client's own bytes.
    ///
    /// A same-protocol upstream is not what this is for (its bytes are relayed, see [`same`]); it is served all the
    /// same, by the least that has to change.
    pub fn request(&self, body: &[u8], model: &str) -> Result<Encoded, Rejection> {
        let parsed = exact::read(body)
            .map_err(|why| Rejection::illegal("body", &format!("is not JSON that can be read: {why}")))?;
        let codex = self.upstream == UpstreamKind::Codex;
        if self.upstream.speaks(self.client) || (codex && self.client == Protocol::Responses) {
            return self.same(parsed, model, codex);
        }
        let mut warnings = Losses::default();
        let conversation = decode(self.client, parsed, &mut warnings)?;
        let asked = Asked {
            stream: conversation.stream,
            usage: conversation.wants_usage_chunk,
            logprobs: conversation.logprobs.is_some(),
        };
        let (body, names) = match self.upstream {
            UpstreamKind::Openai => chat::encode(conversation, model, self.profile, &mut warnings)?,
            UpstreamKind::OpenaiResponse | UpstreamKind::Codex => {
                responses::encode(conversation, model, self.profile, codex, &mut warnings)?
            }
            UpstreamKind::Claude => claude::encode(conversation, model, self.profile, &mut warnings)?,
            UpstreamKind::Passthrough => {
                return Err(Rejection::unsupported("model", "a passthrough is not translated"));
            }
        };
        let anthropic_version = (self.upstream == UpstreamKind::Claude).then(|| self.profile.anthropic_version.clone());
        Ok(Encoded {
            body: exact::text(&body).into_bytes(),
            warnings,
            stream: asked.stream || codex,
            anthropic_version,
            answers: self.answers(asked, Arc::new(names), false),
        })
    }

    fn same(&self, mut body: Value, model: &str, codex: bool) -> Result<Encoded, Rejection> {
        let stream = body.get("stream") == Some(&Value::Bool(true));
        same::restore_value(self.client, &mut body);
        if codex {
            responses::codex::restrict(&mut body, None)?;
        }
        match &mut body {
            Value::Object(members) if members.contains_key("model") => {
                members.insert("model".to_owned(), Value::from(model));
            }
            _ => return Err(Rejection::illegal("model", "is missing")),
        }
        Ok(Encoded {
            body: exact::text(&body).into_bytes(),
            warnings: Losses::default(),
            stream: stream || codex,
            anthropic_version: None,
            answers: self.answers(Asked { stream, usage: false, logprobs: false }, Arc::new(Names::default()), true),
        })
    }

    fn answers(&self, asked: Asked, names: Arc<Names>, same: bool) -> Answers {
        Answers {
            client: self.client,
            upstream: self.upstream,
            stream: asked.stream,
            wants_usage: asked.usage,
            logprobs: asked.logprobs,
            think_tags: self.profile.think_tags,
            names,
            same,
        }
    }
}

/// What the client asked for that its answer depends on.
struct Asked {
    stream: bool,
    usage: bool,
    logprobs: bool,
}

/// Reads a request body of `protocol`.
pub fn decode(protocol: Protocol, body: Value, losses: &mut Losses) -> Result<Conversation, Rejection> {
    match protocol {
        Protocol::Chat => chat::decode(body, losses),
        Protocol::Responses => responses::decode(body, losses),
        Protocol::Claude => claude::decode(body, losses),
    }
}

impl Answers {
    /// The answer to a streaming request that was relayed as it is, for a client whose stream was opened before.
    pub fn relayed(client: Protocol) -> Self {
        Self {
            client,
            upstream: UpstreamKind::Passthrough,
            stream: true,
            wants_usage: false,
            logprobs: false,
            think_tags: false,
            names: Arc::default(),
            same: true,
        }
    }

    /// Whether the client's stream may be kept alive by events of ours. A relayed one may not.
    pub fn keeps_alive(&self) -> bool {
        self.stream && !self.same
    }

    /// A translator for one attempt's answer.
    pub fn translator(&self, head: Head) -> Translator {
        Translator::new(self, head)
    }
}
