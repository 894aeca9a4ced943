//! A Responses answer, written: events of a stream, or a whole document.
//!
//! One item is finished before the next is added; whoever calls has put the blocks in a row. An item's end is written
//! when the next thing happens, because only then is it known whether the token limit cut it off.

use headgate_domain::{Failure, Usage};
use serde_json::{Value, json};

use super::{
    items::{self, Status},
    object::{Object, event},
};
use crate::{
    codec::usage,
    envelope, exact,
    head::Head,
    neutral::{Answer, Block, CallKind, Event, Finish, Piece},
};

/// The first two events of a stream.
pub(crate) fn opening(head: &mut Head, out: &mut Vec<u8>) {
    for name in ["response.created", "response.in_progress"] {
        let response = Object::new(head, "in_progress").finish(&[], Value::Null);
        event(head, name, &[("response", response)], out);
    }
}

/// The event that clients count as a sign of life.
pub(crate) fn keep_alive(head: &mut Head, out: &mut Vec<u8>) {
    let response = Object::new(head, "in_progress").finish(&[], Value::Null);
    event(head, "response.in_progress", &[("response", response)], out);
}

/// The event that ends a stream which cannot be finished, with the items that are complete.
pub(crate) fn failed(head: &mut Head, failure: &Failure, done: &[String]) -> Vec<u8> {
    let (code, message) = envelope::failed_response(failure);
    let mut response = Object::new(head, "failed");
    response.error = json!({"code":code,"message":message});
    let response = response.finish(done, Value::Null);
    let mut out = Vec::new();
    event(head, "response.failed", &[("response", response)], &mut out);
    out
}

/// The item being streamed.
#[derive(Debug)]
struct Current {
    block: Block,
    piece: Piece,
    id: String,
    announced: bool,
}

/// Writes a stream.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    index: u32,
    current: Option<Current>,
    done: Vec<String>,
    finish: Option<Finish>,
    usage: Usage,
}

impl Writer {
    /// The items finished so far.
    pub(crate) fn done(&self) -> &[String] {
        &self.done
    }

    /// Writes what an event says.
    pub(crate) fn event(&mut self, head: &mut Head, said: Event, out: &mut Vec<u8>) {
        match said {
            Event::Usage(usage) => self.usage.merge_max(&usage),
            Event::Finish(finish) => {
                self.close(head, if is_cut(&finish) { Status::Incomplete } else { Status::Completed }, out);
                self.finish = Some(finish);
            }
            Event::End => self.end(head, out),
            // An item ends when something else begins.
            Event::BlockEnd { .. } | Event::Work | Event::Failed(_) | Event::Cut => {}
            said => self.said(head, said, out),
        }
    }

    fn said(&mut self, head: &mut Head, said: Event, out: &mut Vec<u8>) {
        let Some(block) = said.block() else { return };
        if self.current.as_ref().is_none_or(|c| c.block != block) {
            let Some((_, piece)) = Piece::begun_by(&said) else { return };
            self.close(head, Status::Completed, out);
            let id = items::id(&piece, head, self.index);
            self.current = Some(Current { block, piece, id, announced: false });
        }
        let Some(current) = &mut self.current else { return };
        if announces(&said) {
            current.announce(head, self.index, out);
        }
        current.delta(head, self.index, &said, out);
        current.piece.absorb(said);
    }

    /// Finishes the current item; one that was never announced is nothing.
    fn close(&mut self, head: &mut Head, status: Status, out: &mut Vec<u8>) {
        let Some(mut current) = self.current.take() else { return };
        if matches!(&current.piece, Piece::Call { head, .. } if is_late(head.kind)) {
            current.announce(head, self.index, out);
        }
        if !current.announced {
            return;
        }
        current.finish(head, self.index, out);
        let item = exact::text(&items::item(&current.piece, &current.id, status));
        self.done.push(item.clone());
        event(
            head,
            "response.output_item.done",
            &[("output_index", json!(self.index).to_string()), ("item", item)],
            out,
        );
        self.index += 1;
    }

    fn end(&mut self, head: &mut Head, out: &mut Vec<u8>) {
        head.open(out);
        let (status, details) = status(self.finish.as_ref());
        let mut response = Object::new(head, status);
        response.incomplete_details = details;
        let response = response.finish(&self.done, usage::responses(&self.usage));
        event(head, &format!("response.{status}"), &[("response", response)], out);
    }
}

/// Tools whose item shows their whole input are announced when it is complete.
fn is_late(kind: CallKind) -> bool {
    matches!(kind, CallKind::LocalShell | CallKind::ToolSearch)
}

/// Whether an event makes its item visible: empty text produces nothing.
fn announces(said: &Event) -> bool {
    match said {
        Event::Citation { .. } | Event::Logprobs { .. } | Event::CallInput { .. } => false,
        Event::CallStart { call, .. } => !is_late(call.kind),
        _ => true,
    }
}

impl Current {
    fn place(&self, index: u32) -> [(&'static str, String); 2] {
        [("item_id", json!(self.id).to_string()), ("output_index", index.to_string())]
    }

    fn send(&self, head: &mut Head, index: u32, name: &str, more: &[(&'static str, String)], out: &mut Vec<u8>) {
        let mut members = self.place(index).to_vec();
        members.extend_from_slice(more);
        event(head, &format!("response.{name}"), &members, out);
    }

    fn announce(&mut self, head: &mut Head, index: u32, out: &mut Vec<u8>) {
        if self.announced {
            return;
        }
        self.announced = true;
        head.open(out);
        let item = items::announced(&self.piece, &self.id);
        let members = [("output_index", index.to_string()), ("item", exact::text(&item))];
        event(head, "response.output_item.added", &members, out);
        if let Some(part) = items::content_part(&empty(&self.piece)) {
            let members = [("content_index", "0".to_owned()), ("part", part.to_string())];
            self.send(head, index, "content_part.added", &members, out);
        }
    }

    fn delta(&self, head: &mut Head, index: u32, said: &Event, out: &mut Vec<u8>) {
        let delta = |text: &str| ("delta", json!(text).to_string());
        let first = ("content_index", "0".to_owned());
        match (said, &self.piece) {
            (Event::Text { text, .. }, _) => {
                let members = [first, delta(text), ("logprobs", "[]".to_owned())];
                self.send(head, index, "output_text.delta", &members, out);
            }
            (Event::Refusal { text, .. }, _) => self.send(head, index, "refusal.delta", &[first, delta(text)], out),
            (Event::Reasoning { text, .. }, Piece::Reasoning { text: before, .. }) => {
                let summary = ("summary_index", "0".to_owned());
                if before.is_empty() {
                    let part = ("part", json!({"type":"summary_text","text":""}).to_string());
                    self.send(head, index, "reasoning_summary_part.added", &[summary.clone(), part], out);
                }
                self.send(head, index, "reasoning_summary_text.delta", &[summary, delta(text)], out);
            }
            (Event::CallInput { text, .. }, Piece::Call { head: call, .. }) => {
                let name = match call.kind {
                    CallKind::Function => "function_call_arguments.delta",
                    CallKind::Custom => "custom_tool_call_input.delta",
                    CallKind::LocalShell | CallKind::ToolSearch => return,
                };
                self.send(head, index, name, &[delta(text)], out);
            }
            _ => {}
        }
    }

    /// The events that say what the deltas have added up to.
    fn finish(&self, head: &mut Head, index: u32, out: &mut Vec<u8>) {
        let first = ("content_index", "0".to_owned());
        let whole = |name: &'static str, text: &str| (name, json!(text).to_string());
        let part = items::content_part(&self.piece).map(|part| ("part", part.to_string()));
        match &self.piece {
            Piece::Text { text, logprobs, .. } => {
                let members = [first.clone(), whole("text", text), ("logprobs", json!(logprobs).to_string())];
                self.send(head, index, "output_text.done", &members, out);
            }
            Piece::Refusal(text) => {
                self.send(head, index, "refusal.done", &[first.clone(), whole("refusal", text)], out);
            }
            Piece::Reasoning { text, .. } if !text.is_empty() => {
                let summary = ("summary_index", "0".to_owned());
                let members = [summary.clone(), whole("text", text)];
                self.send(head, index, "reasoning_summary_text.done", &members, out);
                let part = ("part", json!({"type":"summary_text","text":text}).to_string());
                self.send(head, index, "reasoning_summary_part.done", &[summary, part], out);
            }
            Piece::Call { head: call, input } if call.kind == CallKind::Function => {
                let members = [whole("name", &call.name), whole("arguments", input)];
                self.send(head, index, "function_call_arguments.done", &members, out);
            }
            Piece::Call { head: call, input } if call.kind == CallKind::Custom => {
                self.send(head, index, "custom_tool_call_input.done", &[whole("input", input)], out);
            }
            Piece::Reasoning { .. } | Piece::Call { .. } | Piece::Search(_) => {}
        }
        if let Some(part) = part {
            self.send(head, index, "content_part.done", &[first, part], out);
        }
    }
}

/// The same kind of piece without content.
fn empty(piece: &Piece) -> Piece {
    match piece {
        Piece::Text { .. } => Piece::Text { text: String::new(), citations: Vec::new(), logprobs: Vec::new() },
        Piece::Refusal(_) => Piece::Refusal(String::new()),
        other => other.clone(),
    }
}

fn is_cut(finish: &Finish) -> bool {
    matches!(finish, Finish::Length | Finish::Context | Finish::Filter(_))
}

/// `status` and `incomplete_details`.
fn status(finish: Option<&Finish>) -> (&'static str, Value) {
    match finish {
        Some(Finish::Length | Finish::Context) => ("incomplete", json!({"reason":"max_output_tokens"})),
        Some(Finish::Filter(_)) => ("incomplete", json!({"reason":"content_filter"})),
        _ => ("completed", Value::Null),
    }
}

/// Writes a whole answer, as JSON text.
pub(crate) fn document(answer: Answer, head: &Head) -> String {
    let cut = answer.finish.as_ref().is_some_and(is_cut);
    let shown = |piece: &Piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty());
    let pieces: Vec<Piece> = answer.pieces.into_iter().filter(shown).collect();
    let last = pieces.len();
    let item = |(index, piece): (u32, &Piece)| {
        let status = if cut && index as usize + 1 == last { Status::Incomplete } else { Status::Completed };
        exact::text(&items::item(piece, &items::id(piece, head, index), status))
    };
    let output: Vec<String> = (0..).zip(&pieces).map(item).collect();
    let (status, details) = status(answer.finish.as_ref());
    let mut response = Object::new(head, status);
    response.incomplete_details = details;
    response.finish(&output, usage::responses(&answer.usage))
}
