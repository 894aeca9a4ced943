//! A Messages answer, written: events of a stream, or a whole document.
//!
//! Blocks come one after the other; whoever calls has put them in a row.

use std::collections::HashSet;

use headgate_domain::Usage;
use serde_json::{Value, json};

use super::blocks::OWN_SEARCH;
use crate::{
    codec::{Out, freeform, usage},
    head::{Head, frame},
    neutral::{Answer, Block, CallHead, Carrier, Citation, Event, Finish, Piece, Search},
};

/// The first event of a stream: usage is not known yet, and corrected by `message_delta`.
pub(crate) fn opening(head: &Head, out: &mut Vec<u8>) {
    let message = json!({
        "id":head.id,"type":"message","role":"assistant","model":head.model,"content":[],
        "stop_reason":null,"stop_sequence":null,"usage":usage::claude(&Usage::default(), 0)
    });
    frame(out, Some("message_start"), &json!({"type":"message_start","message":message}));
}

/// A ping.
pub(crate) fn keep_alive(out: &mut Vec<u8>) {
    frame(out, Some("ping"), &json!({"type":"ping"}));
}

/// What the open block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
}

/// Writes a stream.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    index: u64,
    open: Option<(Block, Kind)>,
    seal: Option<Carrier>,
    refused: bool,
    searches: u64,
    /// A search whose pages are not known yet, and the pages cited since.
    pending: Option<(String, Vec<Citation>)>,
    /// Citations that had no search to belong to.
    uncited: bool,
    finish: Option<Finish>,
    usage: Usage,
}

impl Writer {
    /// Citations were dropped.
    pub(crate) fn dropped_citations(&self) -> bool {
        self.uncited
    }

    /// Writes what an event says.
    pub(crate) fn event(&mut self, head: &mut Head, event: Event, out: &mut Vec<u8>) {
        match event {
            Event::Text { block, text } => {
                self.begin(head, block, Kind::Text, || json!({"type":"text","text":""}), out);
                self.delta(&json!({"type":"text_delta","text":text}), out);
            }
            Event::Refusal { block, text } => {
                self.refused = true;
                self.begin(head, block, Kind::Text, || json!({"type":"text","text":""}), out);
                self.delta(&json!({"type":"text_delta","text":text}), out);
            }
            Event::Reasoning { block, text } => {
                self.think(head, block, out);
                self.delta(&json!({"type":"thinking_delta","thinking":text}), out);
            }
            Event::Seal { block, carrier } => {
                self.think(head, block, out);
                self.seal = Some(carrier);
            }
            Event::CallStart { block, call } => {
                let start = || json!({"type":"tool_use","id":call.call_id,"name":call.name,"input":{}});
                self.begin(head, block, Kind::Call, start, out);
            }
            Event::CallInput { text, .. } => self.delta(&json!({"type":"input_json_delta","partial_json":text}), out),
            Event::Citation { citation, .. } => match &mut self.pending {
                Some((_, cited)) => cited.push(citation),
                None => self.uncited = true,
            },
            Event::Search { search, .. } => self.search(head, search, out),
            Event::BlockEnd { block } if self.open.is_some_and(|(open, _)| open == block) => {
                self.end(out);
                if self.pending.as_ref().is_some_and(|(_, cited)| !cited.is_empty()) {
                    self.found(out);
                }
            }
            Event::Usage(usage) => self.usage.merge_max(&usage),
            Event::Finish(finish) => {
                self.found(out);
                self.finish = Some(finish);
            }
            Event::End => {
                head.open(out);
                let (reason, sequence) = stop(self.finish.take(), self.refused);
                let mut delta = Out::default();
                delta.put("stop_reason", reason);
                delta.put("stop_sequence", sequence);
                let event = json!({
                    "type":"message_delta","delta":Value::from(delta),"usage":usage::claude(&self.usage, self.searches)
                });
                frame(out, Some("message_delta"), &event);
                frame(out, Some("message_stop"), &json!({"type":"message_stop"}));
            }
            Event::BlockEnd { .. } | Event::Logprobs { .. } | Event::Work | Event::Failed(_) | Event::Cut => {}
        }
    }

    fn think(&mut self, head: &mut Head, block: Block, out: &mut Vec<u8>) {
        self.begin(head, block, Kind::Thinking, || json!({"type":"thinking","thinking":"","signature":""}), out);
    }

    fn begin(&mut self, head: &mut Head, block: Block, kind: Kind, start: impl FnOnce() -> Value, out: &mut Vec<u8>) {
        if self.open.is_some_and(|(open, _)| open == block) {
            return;
        }
        head.open(out);
        self.open = Some((block, kind));
        self.start(&start(), out);
    }

    fn start(&self, block: &Value, out: &mut Vec<u8>) {
        let event = json!({"type":"content_block_start","index":self.index,"content_block":block});
        frame(out, Some("content_block_start"), &event);
    }

    fn delta(&self, delta: &Value, out: &mut Vec<u8>) {
        let event = json!({"type":"content_block_delta","index":self.index,"delta":delta});
        frame(out, Some("content_block_delta"), &event);
    }

    fn stop_block(&mut self, out: &mut Vec<u8>) {
        let event = json!({"type":"content_block_stop","index":self.index});
        frame(out, Some("content_block_stop"), &event);
        self.index += 1;
    }

    /// Closes the open block; thinking by exactly one signature.
    fn end(&mut self, out: &mut Vec<u8>) {
        let Some((_, kind)) = self.open.take() else { return };
        if kind == Kind::Thinking {
            let seal = self.seal.take().unwrap_or(Carrier::Text).wrap();
            self.delta(&json!({"type":"signature_delta","signature":seal}), out);
        }
        self.stop_block(out);
    }

    /// A search is a block of its own; its result follows when pages are known: at once, or behind the text that
    /// cites them.
    fn search(&mut self, head: &mut Head, search: Search, out: &mut Vec<u8>) {
        head.open(out);
        self.found(out);
        self.searches += 1;
        let id = search_id(head, self.searches);
        self.start(&json!({"type":"server_tool_use","id":id,"name":"web_search","input":{}}), out);
        let input = json!({"query":search.query}).to_string();
        self.delta(&json!({"type":"input_json_delta","partial_json":input}), out);
        self.stop_block(out);
        let page = |(url, title)| Citation { url, title, span: None };
        let pages: Vec<Citation> = search.pages.into_iter().map(page).collect();
        let known = !pages.is_empty();
        self.pending = Some((id, pages));
        if known {
            self.found(out);
        }
    }

    /// Writes the result of the pending search.
    fn found(&mut self, out: &mut Vec<u8>) {
        let Some((id, pages)) = self.pending.take() else { return };
        self.start(&search_result(&id, &pages), out);
        self.stop_block(out);
    }
}

fn search_id(head: &Head, number: u64) -> String {
    head.seed.part(OWN_SEARCH, u32::try_from(number).unwrap_or(u32::MAX))
}

/// The result of a search: each page once.
fn search_result(id: &str, pages: &[Citation]) -> Value {
    let mut seen = HashSet::new();
    let mut results = Vec::new();
    for page in pages {
        if seen.insert(&page.url) {
            results.push(json!({
                "type":"web_search_result","url":page.url,"title":page.title,"encrypted_content":"","page_age":null
            }));
        }
    }
    json!({"type":"web_search_tool_result","tool_use_id":id,"content":results})
}

/// `stop_reason` and `stop_sequence`.
fn stop(finish: Option<Finish>, refused: bool) -> (&'static str, Option<String>) {
    match finish.unwrap_or(Finish::Natural) {
        Finish::Natural if refused => ("refusal", None),
        Finish::Natural => ("end_turn", None),
        Finish::Stop(sequence) => ("stop_sequence", sequence),
        Finish::Tools => ("tool_use", None),
        Finish::Length => ("max_tokens", None),
        Finish::Context => ("model_context_window_exceeded", None),
        Finish::Filter(_) => ("refusal", None),
        Finish::Paused => ("pause_turn", None),
    }
}

/// Writes a whole answer; whether citations were dropped.
pub(crate) fn document(answer: Answer, head: &Head) -> (Value, bool) {
    let mut blocks: Vec<Value> = Vec::new();
    let (mut searches, mut refused, mut dropped) = (0, false, false);
    // Pages cited by the texts behind a search are its result, which stands before them.
    let mut pending: Option<(usize, String, Vec<Citation>)> = None;
    let found = |pending: &mut Option<(usize, String, Vec<Citation>)>, blocks: &mut Vec<Value>| {
        if let Some((place, id, pages)) = pending.take() {
            blocks.insert(place, search_result(&id, &pages));
        }
    };
    for piece in answer.pieces {
        match piece {
            Piece::Text { text, citations, .. } => {
                match &mut pending {
                    Some((_, _, pages)) => pages.extend(citations),
                    None => dropped |= !citations.is_empty(),
                }
                if !text.is_empty() {
                    blocks.push(json!({"type":"text","text":text}));
                }
            }
            Piece::Refusal(text) => {
                refused = true;
                blocks.push(json!({"type":"text","text":text}));
            }
            Piece::Reasoning { text, carrier } => {
                let seal = carrier.unwrap_or(Carrier::Text).wrap();
                blocks.push(json!({"type":"thinking","thinking":text,"signature":seal}));
            }
            Piece::Call { head: CallHead { call_id, name, .. }, input } => {
                blocks.push(json!({"type":"tool_use","id":call_id,"name":name,"input":freeform::object(&input)}));
            }
            Piece::Search(search) => {
                found(&mut pending, &mut blocks);
                searches += 1;
                let id = search_id(head, searches);
                let input = json!({"query":search.query});
                blocks.push(json!({"type":"server_tool_use","id":id,"name":"web_search","input":input}));
                let pages = search.pages.into_iter().map(|(url, title)| Citation { url, title, span: None });
                pending = Some((blocks.len(), id, pages.collect()));
            }
        }
    }
    found(&mut pending, &mut blocks);
    let (reason, sequence) = stop(answer.finish, refused);
    let mut out = Out::default();
    out.put("id", head.id.as_str());
    out.put("type", "message");
    out.put("role", "assistant");
    out.put("model", head.model.as_str());
    out.put("content", blocks);
    out.put("stop_reason", reason);
    out.put("stop_sequence", sequence);
    out.put("usage", usage::claude(&answer.usage, searches));
    (out.into(), dropped)
}
