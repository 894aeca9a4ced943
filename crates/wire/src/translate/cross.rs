//! The answer of one protocol made into the answer of another.

use headgate_domain::{Failure, Protocol, UpstreamError, UpstreamKind, Usage};
use serde_json::Value;

use super::{Answers, intake::Taken, restore::Restore, serial::Serial};
use crate::{
    codec::{chat, claude, read::Sink, responses},
    envelope, error, exact,
    head::Head,
    loss::Losses,
    neutral::{Answer, Event, Finish},
    observe::{End, Seen, hear},
};

/// Most bytes of text of an answer that has to be kept: collected, or repeated in the last event.
const MAX_ANSWER: usize = 64 << 20;

#[derive(Debug)]
enum Reader {
    Chat(chat::Reader),
    Responses(responses::Reader),
    Claude(claude::Reader),
}

/// What becomes of the events.
#[derive(Debug)]
enum Writer {
    Chat(chat::Writer),
    Responses(responses::Writer),
    Claude(claude::Writer),
    /// The client wants one document.
    Document(Answer),
}

/// Translates one answer.
#[derive(Debug)]
pub(super) struct Cross {
    pub(super) head: Head,
    pub(super) seen: Seen,
    pub(super) end: Option<End>,
    pub(super) usage: Usage,
    pub(super) losses: Losses,
    pub(super) last_event: String,
    /// Token probabilities were asked for.
    logprobs: bool,
    /// Bytes of text so far.
    pub(super) said: usize,
    /// The text itself, for who counts its tokens.
    pub(super) heard: Option<String>,
    reader: Reader,
    sink: Sink,
    restore: Restore,
    /// For clients whose blocks must not overlap.
    serial: Option<Serial>,
    writer: Writer,
}

impl Cross {
    pub(super) fn new(answers: &Answers, head: Head) -> Self {
        let reader = match answers.upstream {
            UpstreamKind::Claude => Reader::Claude(claude::Reader::default()),
            UpstreamKind::OpenaiResponse | UpstreamKind::Codex => Reader::Responses(responses::Reader::default()),
            UpstreamKind::Openai | UpstreamKind::Passthrough => Reader::Chat(chat::Reader::new(answers.think_tags)),
        };
        let writer = match answers.client {
            _ if !answers.stream => Writer::Document(Answer::default()),
            Protocol::Chat => Writer::Chat(chat::Writer::new(answers.wants_usage)),
            Protocol::Responses => Writer::Responses(responses::Writer::default()),
            Protocol::Claude => Writer::Claude(claude::Writer::default()),
        };
        let serial = matches!(writer, Writer::Responses(_) | Writer::Claude(_)).then(Serial::default);
        Self {
            seen: Seen::default(),
            end: None,
            usage: Usage::default(),
            losses: Losses::default(),
            last_event: String::new(),
            logprobs: answers.logprobs,
            said: 0,
            heard: None,
            reader,
            sink: Sink::default(),
            restore: Restore::new(answers.names.clone(), head.seed.clone()),
            serial,
            writer,
            head,
        }
    }

    /// Takes an event or a document.
    pub(super) fn take(&mut self, taken: Taken, out: &mut Vec<u8>) {
        if self.end.is_some() {
            return;
        }
        match taken {
            Taken::Event { data, .. } => self.event(data.trim_ascii()),
            Taken::Document(body) => self.document(&body),
        }
        self.drain(out);
    }

    fn event(&mut self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        if data == b"[DONE]" {
            "[DONE]".clone_into(&mut self.last_event);
            if let Reader::Chat(reader) = &mut self.reader {
                reader.done(&mut self.sink);
            }
            return;
        }
        // What is no JSON, or the half of an event at the end of the stream, says nothing.
        let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
        let name = value.get("type").and_then(Value::as_str).unwrap_or("chunk");
        if name != self.last_event {
            self.last_event = headgate_domain::audit::clip(name, 80);
        }
        if let Some(error) = error::inside_success(&value) {
            self.sink.push(Event::Failed(error));
            return;
        }
        match &mut self.reader {
            Reader::Chat(reader) => reader.event(value, &mut self.sink),
            Reader::Responses(reader) => reader.event(&value, &mut self.sink),
            Reader::Claude(reader) => reader.event(value, &mut self.sink),
        }
    }

    fn document(&mut self, body: &[u8]) {
        let unreadable = |message: &str| UpstreamError { message: message.to_owned(), ..UpstreamError::default() };
        let Ok(value) = exact::read(body) else {
            self.sink.push(Event::Failed(unreadable("the upstream's answer is not JSON")));
            return;
        };
        if let Some(error) = error::inside_success(&value) {
            self.sink.push(Event::Failed(error));
            return;
        }
        let read = match &mut self.reader {
            Reader::Chat(reader) => reader.document(value, &mut self.sink),
            Reader::Responses(reader) => reader.document(&value, &mut self.sink),
            Reader::Claude(reader) => reader.document(value, &mut self.sink),
        };
        if !read {
            self.sink.push(Event::Failed(unreadable("the upstream's answer is no answer of its protocol")));
        }
    }

    /// The body is complete.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        if self.end.is_none() && !self.sink.is_closed() {
            match &mut self.reader {
                Reader::Chat(reader) => reader.close(&mut self.sink),
                // Only its own last event completes a response.
                Reader::Responses(_) => self.sink.push(Event::Cut),
                Reader::Claude(reader) => reader.close(&mut self.sink),
            }
        }
        self.drain(out);
    }

    /// The upstream, or what it keeps us holding, is too large.
    pub(super) fn too_large(&mut self) {
        if self.end.is_none() {
            let message = "one event or body of the upstream's answer is larger than the limit".to_owned();
            self.end = Some(End::Failed(UpstreamError { message, ..UpstreamError::default() }));
        }
    }

    /// Whether the client gets a stream.
    pub(super) fn is_stream(&self) -> bool {
        !matches!(self.writer, Writer::Document(_))
    }

    pub(super) fn is_finishing(&self) -> bool {
        self.end.is_none()
            && match &self.reader {
                Reader::Chat(reader) => reader.is_finishing(),
                Reader::Responses(_) => false,
                Reader::Claude(reader) => reader.is_finishing(),
            }
    }

    /// Carries what the reader said through the stages.
    fn drain(&mut self, out: &mut Vec<u8>) {
        let (mut restored, mut ready) = (Vec::new(), Vec::new());
        for event in std::mem::take(&mut self.sink.events) {
            self.restore.event(event, &mut restored);
        }
        for event in restored {
            if matches!(event, Event::Logprobs { .. }) && !self.logprobs {
                continue;
            }
            self.watch(&event);
            match &mut self.serial {
                Some(serial) => serial.event(event, &mut ready),
                None => ready.push(event),
            }
        }
        for event in ready {
            self.write(event, out);
        }
        let keeps = matches!(self.writer, Writer::Document(_) | Writer::Responses(_));
        if (keeps && self.said > MAX_ANSWER) || self.serial.as_ref().is_some_and(Serial::is_full) {
            self.too_large();
        }
    }

    /// Notes what an event means for the attempt.
    fn watch(&mut self, event: &Event) {
        let output = match event {
            Event::Text { text, .. } | Event::Refusal { text, .. } | Event::Reasoning { text, .. } => !text.is_empty(),
            Event::Seal { .. } | Event::CallStart { .. } | Event::Search { .. } => true,
            Event::Finish(finish) => {
                let empty = finish.may_be_empty() && !self.seen.output;
                self.end = Some(if empty { End::Empty } else { End::Complete });
                !empty
            }
            Event::Usage(usage) => {
                self.usage.merge_max(usage);
                false
            }
            Event::Failed(error) => {
                self.end = Some(End::Failed(error.clone()));
                false
            }
            Event::Cut => {
                self.end = Some(End::Cut);
                false
            }
            _ => false,
        };
        if let Some(text) = event.text() {
            self.said += text.len();
            hear(&mut self.heard, text);
        }
        if let Event::CallStart { call, .. } = event {
            hear(&mut self.heard, &call.name);
        }
        self.seen.output |= output;
        self.seen.work |= output || matches!(event, Event::Work | Event::CallInput { .. });
    }

    fn write(&mut self, event: Event, out: &mut Vec<u8>) {
        let ends = matches!(event, Event::End);
        match &mut self.writer {
            Writer::Chat(writer) => writer.event(&mut self.head, event, out),
            Writer::Responses(writer) => writer.event(&mut self.head, event, out),
            Writer::Claude(writer) => {
                writer.event(&mut self.head, event, out);
                if ends && writer.dropped_citations() {
                    self.losses.note("dropped:citations");
                }
            }
            Writer::Document(answer) if ends => {
                let answer = std::mem::take(answer);
                self.collected(answer, out);
            }
            Writer::Document(answer) => answer.take(event),
        }
    }

    /// Writes the document of a client that wants no stream.
    fn collected(&mut self, mut answer: Answer, out: &mut Vec<u8>) {
        answer.finish.get_or_insert(Finish::Natural);
        let document = match self.head.protocol {
            Protocol::Chat => exact::text(&chat::document(answer, &self.head)),
            Protocol::Responses => responses::document(answer, &self.head),
            Protocol::Claude => {
                let (document, dropped) = claude::document(answer, &self.head);
                if dropped {
                    self.losses.note("dropped:citations");
                }
                exact::text(&document)
            }
        };
        out.extend_from_slice(document.as_bytes());
    }

    /// Ends a stream that cannot be finished.
    pub(super) fn fail(&mut self, failure: &Failure) -> Vec<u8> {
        match &self.writer {
            Writer::Responses(writer) => responses::failed(&mut self.head, failure, writer.done()),
            Writer::Document(_) => {
                let words = envelope::failure_words(failure, self.head.protocol);
                let message = envelope::failure_message(failure, self.head.protocol);
                envelope::body(self.head.protocol, &words, &message, &self.head.request_id)
            }
            Writer::Chat(_) | Writer::Claude(_) => self.head.fail(failure),
        }
    }
}
