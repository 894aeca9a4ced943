//! What an answer says as it passes by: output, completion, usage, errors. Nothing is changed and nothing kept of the
//! content.
//!
//! *Output* is what a person or a tool can use; *work* is output, or an opened block or item. A Chat stream ends with
//! `[DONE]`, or with a finish reason and then closed; a Claude stream likewise with `message_stop` or a stop reason; a
//! Responses stream only with `response.completed` or `response.incomplete`.

mod chat;
mod claude;
mod presence;
mod responses;

use headgate_domain::{Protocol, UpstreamError, Usage, audit::clip};
use serde_json::Value;

/// Why an answer stopped, as far as the gateway must tell the cases apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// By itself; `empty` if there was no output.
    Natural,
    /// To call tools; `empty` if there is no usable call.
    Tools,
    /// A limit, a filter, a refusal, a full context, a pause: never `empty`.
    Cause,
}

/// What one event contained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Output, or an opened block or item.
    pub work: bool,
    /// Something a person or tool can use.
    pub output: bool,
}

impl Seen {
    const OUTPUT: Self = Self { work: true, output: true };
    const WORK: Self = Self { work: true, output: false };

    fn or(self, other: Self) -> Self {
        Self { work: self.work || other.work, output: self.output || other.output }
    }
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With its completion event (or all of a document).
    Complete,
    /// Complete, but without any output.
    Empty,
    /// Without its completion event.
    Cut,
    /// With an error inside.
    Failed(UpstreamError),
}

/// What a whole body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// An answer of the protocol, or at least JSON that is no error.
    Answer,
    /// An error in a successful status.
    Failed(UpstreamError),
    /// Not JSON at all.
    Unreadable,
}

/// The longest text that is kept to be counted.
pub const HEARD: usize = 256 << 10;

/// Adds to a text that is kept; what becomes too long is not kept any more.
pub(crate) fn hear(heard: &mut Option<String>, text: &str) {
    match heard {
        Some(kept) if kept.len() + text.len() <= HEARD => kept.push_str(text),
        _ => *heard = None,
    }
}

/// Watches one answer.
#[derive(Debug)]
pub struct Observer {
    protocol: Protocol,
    usage: Usage,
    text: u64,
    /// The text itself, for who counts its tokens; none where nobody does, or where it is not all of it.
    heard: Option<String>,
    last_event: String,
    finish: Option<Finish>,
    output: bool,
    terminal: bool,
    error: Option<UpstreamError>,
    next_sequence: u64,
}

impl Observer {
    /// Watches an answer that speaks `protocol`.
    pub fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            usage: Usage::default(),
            text: 0,
            heard: None,
            last_event: String::new(),
            finish: None,
            output: false,
            terminal: false,
            error: None,
            next_sequence: 0,
        }
    }

    /// Keeps the text that the model writes, up to [`HEARD`] bytes, until this is dropped.
    pub fn keep_text(&mut self) {
        self.heard = Some(String::new());
    }

    /// The text that the model wrote, if all of it was kept.
    pub fn heard(&self) -> Option<&str> {
        self.heard.as_deref()
    }

    fn hear(&mut self, text: &str) {
        self.text += text.len() as u64;
        hear(&mut self.heard, text);
    }

    /// Takes the payload of one event.
    pub fn event(&mut self, data: &[u8]) -> Seen {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            "[DONE]".clone_into(&mut self.last_event);
            self.terminal |= self.protocol == Protocol::Chat;
            return Seen::default();
        }
        let seen = match self.protocol {
            Protocol::Chat => chat::event(self, data),
            Protocol::Responses => responses::event(self, data),
            Protocol::Claude => claude::event(self, data),
        };
        // What cannot be read as an event of the protocol may still be an error of any shape.
        let seen = seen.unwrap_or_else(|| {
            if let Ok(value) = serde_json::from_slice::<Value>(data)
                && let Some(error) = crate::error::inside_success(&value)
            {
                self.fail(error);
            }
            Seen::default()
        });
        self.output |= seen.output;
        seen
    }

    /// Takes a whole body that is not an event stream.
    pub fn document(&mut self, body: &[u8]) -> Document {
        let seen = match self.protocol {
            Protocol::Chat => chat::document(self, body),
            Protocol::Responses => responses::document(self, body),
            Protocol::Claude => claude::document(self, body),
        };
        if let Some(seen) = seen {
            self.output |= seen.output;
        } else {
            // Not an answer of the protocol: an error of any shape, JSON that is not ours to judge, or no JSON.
            let Ok(value) = serde_json::from_slice::<Value>(body) else { return Document::Unreadable };
            if let Some(error) = crate::error::inside_success(&value) {
                self.fail(error.clone());
                return Document::Failed(error);
            }
            self.output = true;
        }
        self.terminal = true;
        Document::Answer
    }

    /// How the answer ended, once there are no more bytes.
    pub fn end(&self) -> End {
        if let Some(error) = &self.error {
            return End::Failed(error.clone());
        }
        let complete = self.terminal || (self.finish.is_some() && self.protocol != Protocol::Responses);
        match (complete, self.finish) {
            (false, _) => End::Cut,
            (true, Some(Finish::Cause)) => End::Complete,
            (true, _) if self.output => End::Complete,
            (true, _) => End::Empty,
        }
    }

    /// Whether the completion event was seen.
    pub fn completed(&self) -> bool {
        self.terminal
    }

    /// Whether there was any output.
    pub fn has_output(&self) -> bool {
        self.output
    }

    /// The error seen inside the answer.
    pub fn error(&self) -> Option<&UpstreamError> {
        self.error.as_ref()
    }

    /// The tokens reported so far.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Bytes of text that the model wrote so far, as it passed.
    pub fn text(&self) -> u64 {
        self.text
    }

    /// The last event's name, at most 80 bytes.
    pub fn last_event(&self) -> Option<&str> {
        Some(self.last_event.as_str()).filter(|e| !e.is_empty())
    }

    /// The `sequence_number` after the last one seen (Responses).
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    fn named(&mut self, event: &str) {
        if self.last_event != event {
            self.last_event = clip(event, 80);
        }
    }

    fn fail(&mut self, error: UpstreamError) {
        self.error.get_or_insert(error);
    }

    fn served(&mut self, tier: crate::usage::Tier) {
        self.usage.tier = tier.0.or(self.usage.tier);
    }

    fn used(&mut self, usage: Option<&crate::usage::WireUsage>) {
        if let Some(usage) = usage {
            self.usage.merge_max(&usage.canonical(self.protocol));
        }
    }
}

#[cfg(test)]
mod tests;
