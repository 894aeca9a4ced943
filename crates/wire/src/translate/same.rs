//! Client and upstream of one protocol: bytes stay as they are, apart from what another upstream has left in them.
//!
//! A conversation that went over another protocol before holds our carriers of sealed reasoning and our marks of
//! hosted searches. Only then is the body parsed: carriers of this protocol's origin are restored, others are removed.

use bytes::Bytes;
use headgate_domain::{Failure, Protocol, UpstreamError, Usage};
use serde_json::{Value, json};

use super::{continued, intake::Taken};
use crate::{
    codec::{claude, responses},
    envelope, exact,
    head::{Head, Progress},
    neutral::{Carrier, carrier},
    observe::{Document, End, Observer, Seen},
    splice,
};

/// Most bytes held back before the first output.
const MAX_HELD: usize = 1 << 20;

/// The body with carriers restored or removed and the model's name replaced; `None` when it holds none, so that its
/// bytes are to be relayed as they are.
pub fn restore(protocol: Protocol, body: &[u8], model: &str) -> Option<Vec<u8>> {
    let holds = |mark: &str| memchr::memmem::find(body, mark.as_bytes()).is_some();
    if !holds(carrier::PREFIX) && !holds(claude::OWN_SEARCH) && !holds(responses::OWN_SEARCH) {
        return None;
    }
    let mut value = exact::read(body).ok()?;
    if !restore_value(protocol, &mut value) {
        return None;
    }
    value.as_object_mut()?.insert("model".to_owned(), Value::from(model));
    Some(exact::text(&value).into_bytes())
}

/// Restores or removes carriers; whether there were any.
pub(super) fn restore_value(protocol: Protocol, body: &mut Value) -> bool {
    let mut changed = false;
    match protocol {
        Protocol::Responses => {
            if let Some(Value::Array(items)) = body.get_mut("input") {
                items.retain_mut(|item| keep_item(item, &mut changed));
            }
        }
        Protocol::Claude => {
            let Some(Value::Array(messages)) = body.get_mut("messages") else { return false };
            messages.retain_mut(|message| {
                let Some(Value::Array(blocks)) = message.get_mut("content") else { return true };
                let before = blocks.len();
                blocks.retain_mut(|block| keep_block(block, &mut changed));
                before == 0 || !blocks.is_empty()
            });
        }
        Protocol::Chat => {}
    }
    changed
}

fn starts(value: &Value, member: &str, prefix: &str) -> bool {
    value.get(member).and_then(Value::as_str).is_some_and(|text| text.starts_with(prefix))
}

fn keep_item(item: &mut Value, changed: &mut bool) -> bool {
    if item.get("type").is_some_and(|t| t == "web_search_call") && starts(item, "id", responses::OWN_SEARCH) {
        *changed = true;
        return false;
    }
    let Some(sealed) = item.get("encrypted_content").and_then(Value::as_str) else { return true };
    if !sealed.starts_with(carrier::PREFIX) {
        return true;
    }
    *changed = true;
    let Some(Carrier::OpenAi { id, encrypted }) = Carrier::unwrap(sealed) else { return false };
    if let Value::Object(item) = item {
        item.insert("encrypted_content".to_owned(), json!(encrypted));
        if let Some(id) = id {
            item.insert("id".to_owned(), json!(id));
        }
    }
    true
}

fn keep_block(block: &mut Value, changed: &mut bool) -> bool {
    if starts(block, "id", claude::OWN_SEARCH) || starts(block, "tool_use_id", claude::OWN_SEARCH) {
        *changed = true;
        return false;
    }
    let Some(seal) = block.get("signature").and_then(Value::as_str) else { return true };
    if !seal.starts_with(carrier::PREFIX) {
        return true;
    }
    *changed = true;
    let Some(Carrier::Claude(original)) = Carrier::unwrap(seal) else { return false };
    *block = original;
    true
}

/// The answer of an upstream that needed edits in the request but speaks the client's protocol: relayed, only the
/// model's name is the one asked for; collected, if the client wanted no stream.
#[derive(Debug)]
pub(super) struct Relayed {
    head: Head,
    observer: Observer,
    stream: bool,
    /// The client's stream was opened before this answer began.
    continues: bool,
    seen: Seen,
    end: Option<End>,
    /// Events before the first output.
    held: Vec<u8>,
    /// The complete items, and the response they belong to.
    items: Vec<Value>,
    response: Option<Value>,
}

impl Relayed {
    pub(super) fn new(protocol: Protocol, stream: bool, head: Head) -> Self {
        Self {
            continues: stream && head.is_open(),
            head,
            observer: Observer::new(protocol),
            stream,
            seen: Seen::default(),
            end: None,
            held: Vec::new(),
            items: Vec::new(),
            response: None,
        }
    }

    pub(super) fn take(&mut self, taken: Taken, out: &mut Vec<u8>) {
        if self.end.is_some() {
            return;
        }
        match taken {
            Taken::Event { raw, data } => {
                let seen = self.observer.event(&data);
                self.seen.work |= seen.work;
                self.seen.output |= seen.output;
                if self.observer.error().is_some() {
                    self.end = Some(self.observer.end());
                } else if self.stream {
                    self.relay(&raw, &data, out);
                } else {
                    self.collect(&data);
                }
                if self.observer.completed() {
                    self.close(out);
                }
            }
            Taken::Document(body) => self.document(&body, out),
        }
    }

    fn relay(&mut self, raw: &Bytes, data: &[u8], out: &mut Vec<u8>) {
        if self.continues {
            continued::event(&mut self.head, data, &mut self.held);
        } else {
            let renamed = splice::rename_answer(raw, &self.head.model);
            self.held.extend_from_slice(renamed.as_ref().unwrap_or(raw));
        }
        if self.seen.output || self.observer.completed() || self.held.len() > MAX_HELD {
            out.append(&mut self.held);
        }
    }

    fn collect(&mut self, data: &[u8]) {
        let interesting = |mark: &str| memchr::memmem::find(data, mark.as_bytes()).is_some();
        if !interesting("response.output_item.done") && !self.observer.completed() {
            return;
        }
        let Ok(mut event) = serde_json::from_slice::<Value>(data) else { return };
        if let Some(item) = event.get_mut("item").map(Value::take) {
            self.items.push(item);
        } else if let Some(response) = event.get_mut("response").map(Value::take) {
            self.response = Some(response);
        }
    }

    fn document(&mut self, body: &[u8], out: &mut Vec<u8>) {
        match self.observer.document(body) {
            Document::Answer if self.continues => self.unreadable("the upstream answered a stream with a document"),
            Document::Answer => {
                let renamed = splice::rename_answer(body, &self.head.model);
                out.extend_from_slice(renamed.as_deref().unwrap_or(body));
                self.seen = Seen { work: true, output: self.observer.has_output() };
                self.end = Some(self.observer.end());
            }
            Document::Failed(error) => self.end = Some(End::Failed(error)),
            Document::Unreadable => self.unreadable("the upstream's answer is not JSON"),
        }
    }

    fn unreadable(&mut self, message: &str) {
        self.end = Some(End::Failed(UpstreamError { message: message.to_owned(), ..UpstreamError::default() }));
    }

    pub(super) fn too_large(&mut self) {
        if self.end.is_none() {
            self.unreadable("one event or body of the upstream's answer is larger than the limit");
        }
    }

    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        if self.end.is_some() {
            return;
        }
        let end = self.observer.end();
        if matches!(end, End::Complete | End::Empty) {
            out.append(&mut self.held);
            if let Some(mut response) = self.response.take() {
                self.fill(&mut response);
                out.extend_from_slice(response.to_string().as_bytes());
            }
        }
        self.end = Some(end);
    }

    /// The final response may leave out the items that were streamed.
    fn fill(&mut self, response: &mut Value) {
        let Value::Object(response) = response else { return };
        response.insert("model".to_owned(), json!(self.head.model));
        if response.get("output").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            response.insert("output".to_owned(), Value::Array(std::mem::take(&mut self.items)));
        }
    }

    pub(super) fn fail(&mut self, failure: &Failure) -> Vec<u8> {
        if self.continues {
            return self.head.fail(failure);
        }
        let Head { protocol, model, request_id, .. } = &self.head;
        if self.stream {
            return envelope::stream_error(*protocol, failure, model, request_id, self.observer.next_sequence());
        }
        let words = envelope::failure_words(failure, *protocol);
        envelope::body(*protocol, &words, &envelope::failure_message(failure, *protocol), request_id)
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    pub(super) fn end(&self) -> Option<End> {
        self.end.clone()
    }

    pub(super) fn keep_text(&mut self) {
        self.observer.keep_text();
    }

    pub(super) fn heard(&self) -> Option<&str> {
        self.observer.heard()
    }

    pub(super) fn text(&self) -> u64 {
        self.observer.text()
    }

    pub(super) fn usage(&self) -> &Usage {
        self.observer.usage()
    }

    pub(super) fn last_event(&self) -> Option<&str> {
        self.observer.last_event()
    }

    /// What keeps a client waiting whose stream was opened before: in a stream of the upstream's own there is nothing
    /// of ours.
    pub(super) fn keep_alive(&mut self) -> Vec<u8> {
        let waits = self.continues && self.end.is_none() && !self.seen.output;
        if waits && self.held.is_empty() { self.head.keep_alive() } else { Vec::new() }
    }

    pub(super) fn progress(&self) -> Progress {
        self.head.progress()
    }
}
