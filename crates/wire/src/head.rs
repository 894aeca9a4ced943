//! The client's side of an answer: what stays the same whichever upstream gives it.
//!
//! Keep-alives may open the client's stream before any upstream has said a word; the head of the next attempt then goes
//! on from the [`Progress`] of the one before, with the same id and the next sequence number.

use std::sync::Arc;

use headgate_domain::{Failure, Protocol};
use serde::Serialize;

use crate::{codec, ids::Seed};

/// How far a client's stream has come before any upstream's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    opened: bool,
    sequence: u64,
}

impl Progress {
    /// Whether the client's stream was opened: from then on a failure has to be told inside it.
    pub fn is_open(self) -> bool {
        self.opened
    }
}

/// Id, model, time and progress of one answer to a client.
#[derive(Debug)]
pub struct Head {
    pub(crate) protocol: Protocol,
    /// The answer's id, in the client's protocol.
    pub(crate) id: String,
    /// The model the client asked for.
    pub(crate) model: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
    /// Members of a Responses object that repeat the request, as JSON text without braces.
    pub(crate) echo: Arc<str>,
    pub(crate) seed: Seed,
    pub(crate) request_id: String,
    /// The opening was written.
    pub(crate) opened: bool,
    /// The next `sequence_number` of a Responses stream.
    pub(crate) sequence: u64,
}

impl Head {
    /// The head of an answer to `body`, a request of `protocol` for `model`. `created`: seconds since 1970.
    pub fn new(protocol: Protocol, body: &[u8], model: &str, request_id: &str, created: u64) -> Self {
        let seed = Seed::new(request_id);
        let (prefix, echo) = match protocol {
            Protocol::Chat => ("chatcmpl-", Arc::from("")),
            Protocol::Claude => ("msg_", Arc::from("")),
            Protocol::Responses => ("resp_", codec::responses::echo(body)),
        };
        Self {
            protocol,
            id: seed.whole(prefix),
            model: model.to_owned(),
            created,
            echo,
            seed,
            request_id: request_id.to_owned(),
            opened: false,
            sequence: 0,
        }
    }

    /// The same, in a stream that has come so far.
    #[must_use]
    pub fn resumed(mut self, progress: Progress) -> Self {
        Progress { opened: self.opened, sequence: self.sequence } = progress;
        self
    }

    /// How far the client's stream has come.
    pub fn progress(&self) -> Progress {
        Progress { opened: self.opened, sequence: self.sequence }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.opened
    }

    /// What keeps an idle client waiting: the opening of its stream, later an event of its own protocol.
    ///
    /// The opening carries nothing of an upstream, so that another candidate may still be tried.
    pub fn keep_alive(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.opened {
            match self.protocol {
                Protocol::Chat => codec::chat::keep_alive(self, &mut out),
                Protocol::Responses => codec::responses::keep_alive(self, &mut out),
                Protocol::Claude => codec::claude::keep_alive(&mut out),
            }
        } else {
            self.open(&mut out);
        }
        out
    }

    /// The failure of the last candidate, told inside a stream that keep-alives have opened.
    pub fn fail(&mut self, failure: &Failure) -> Vec<u8> {
        match self.protocol {
            Protocol::Chat | Protocol::Claude => {
                crate::envelope::stream_error(self.protocol, failure, &self.model, &self.request_id, self.sequence)
            }
            Protocol::Responses => codec::responses::failed(self, failure, &[]),
        }
    }

    /// Writes the opening, once.
    pub(crate) fn open(&mut self, out: &mut Vec<u8>) {
        if self.opened {
            return;
        }
        self.opened = true;
        match self.protocol {
            Protocol::Chat => codec::chat::opening(self, out),
            Protocol::Responses => codec::responses::opening(self, out),
            Protocol::Claude => codec::claude::opening(self, out),
        }
    }
}

/// Writes one event of a stream.
pub(crate) fn frame(out: &mut Vec<u8>, name: Option<&str>, data: &impl Serialize) {
    let begin = out.len();
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    if serde_json::to_writer(&mut *out, data).is_err() {
        // Nothing we write can fail to be JSON; half an event would be worse than none.
        out.truncate(begin);
        return;
    }
    out.extend_from_slice(b"\n\n");
}
