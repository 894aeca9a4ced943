//! A Chat Completions answer, read: chunks of a stream, or a whole document.

use std::collections::HashMap;

use headgate_domain::{Protocol, ServiceTier, Usage};
use serde_json::{Map, Value};

use super::think::{Piece, ThinkTags};
use crate::{
    codec::read::Sink,
    exact,
    neutral::{Block, CallKind, Citation, Event, Finish},
    usage::WireUsage,
};

/// Most calls of one answer.
const MAX_CALLS: usize = 1024;

/// What a running block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Running {
    Text,
    Reasoning,
    Refusal,
}

/// A call being put together.
#[derive(Debug, Default)]
struct Call {
    id: Option<String>,
    block: Option<Block>,
    custom: bool,
    /// Arguments that came before the name.
    early: String,
}

/// How urgently it was answered.
fn tier(answer: &Value) -> Option<ServiceTier> {
    answer.get("service_tier").and_then(Value::as_str).and_then(ServiceTier::of)
}

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Reader {
    think: Option<ThinkTags>,
    running: Option<(Running, Block)>,
    calls: Vec<Call>,
    /// The latest call at each index of the wire.
    at_index: HashMap<u64, usize>,
    finish: Option<Finish>,
}

impl Reader {
    /// `think_tags`: whether `<think>` at the beginning of the content is reasoning.
    pub(crate) fn new(think_tags: bool) -> Self {
        let think = think_tags.then(ThinkTags::default);
        Self { think, running: None, calls: Vec::new(), at_index: HashMap::new(), finish: None }
    }

    /// The reason why it stopped is known, only usage may follow.
    pub(crate) fn is_finishing(&self) -> bool {
        self.finish.is_some()
    }

    /// A chunk.
    pub(crate) fn event(&mut self, mut chunk: Value, sink: &mut Sink) {
        let tier = tier(&chunk);
        self.usage(chunk.get_mut("usage"), tier, sink);
        let Some(Value::Array(choices)) = chunk.get_mut("choices").map(Value::take) else { return };
        for choice in choices {
            if let Value::Object(choice) = choice
                && choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0
            {
                self.choice(choice, false, sink);
            }
        }
    }

    /// A whole answer.
    pub(crate) fn document(&mut self, mut document: Value, sink: &mut Sink) -> bool {
        let tier = tier(&document);
        self.usage(document.get_mut("usage"), tier, sink);
        let Some(Value::Array(choices)) = document.get_mut("choices").map(Value::take) else { return false };
        let first = |choice: &Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        if let Some(Value::Object(choice)) = choices.into_iter().find(first) {
            self.choice(choice, true, sink);
        }
        self.done(sink);
        true
    }

    /// `[DONE]`: the answer is complete, whether or not a reason was given.
    pub(crate) fn done(&mut self, sink: &mut Sink) {
        if let Some(rest) = self.think.take().and_then(ThinkTags::finish) {
            self.piece(rest, sink);
        }
        self.end_running(sink);
        for call in std::mem::take(&mut self.calls) {
            if let Some(block) = call.block {
                sink.push(Event::BlockEnd { block });
            }
        }
        sink.push(Event::Finish(self.finish.take().unwrap_or(Finish::Natural)));
        sink.push(Event::End);
    }

    /// The connection is closed.
    pub(crate) fn close(&mut self, sink: &mut Sink) {
        if self.finish.is_some() { self.done(sink) } else { sink.push(Event::Cut) }
    }

    fn usage(&mut self, usage: Option<&mut Value>, tier: Option<ServiceTier>, sink: &mut Sink) {
        let Some(usage) = usage.filter(|u| u.is_object()) else { return };
        if let Ok(wire) = serde_json::from_value::<WireUsage>(usage.take()) {
            let usage = wire.canonical(Protocol::Chat);
            sink.push(Event::Usage(Usage { tier: tier.or(usage.tier), ..usage }));
        }
    }

    fn choice(&mut self, mut choice: Map<String, Value>, whole: bool, sink: &mut Sink) {
        self.usage(choice.get_mut("usage"), None, sink);
        let delta = [choice.swap_remove("delta"), choice.swap_remove("message")];
        if let Some(Value::Object(delta)) = delta.into_iter().flatten().find(Value::is_object) {
            self.delta(delta, whole, sink);
        }
        if let Some(Value::Array(tokens)) =
            choice.get_mut("logprobs").and_then(|l| l.get_mut("content")).map(Value::take)
            && let Some((Running::Text, block)) = self.running
            && !tokens.is_empty()
        {
            sink.push(Event::Logprobs { block, tokens });
        }
        let reason = choice.get("finish_reason").and_then(Value::as_str).filter(|r| !r.is_empty());
        if let Some(reason) = reason.filter(|_| self.finish.is_none()) {
            self.finish = Some(match reason {
                "length" => Finish::Length,
                "content_filter" => Finish::Filter(None),
                "tool_calls" | "function_call" => Finish::Tools,
                _ => Finish::Natural,
            });
        }
    }

    fn delta(&mut self, mut delta: Map<String, Value>, whole: bool, sink: &mut Sink) {
        let mut text = |member: &str| match delta.swap_remove(member) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        let reasoning = text("reasoning_content");
        let reasoning = reasoning.or_else(|| text("reasoning"));
        let (content, refusal) = (text("content"), text("refusal"));
        let details = delta.swap_remove("reasoning_details");
        if let Some(text) = reasoning.or_else(|| details.as_ref().and_then(detail_text)) {
            let block = self.run(Running::Reasoning, sink);
            sink.reasoning(block, text);
        }
        if let Some(text) = content {
            match &mut self.think {
                Some(tags) => {
                    let pieces = tags.push(&text);
                    pieces.into_iter().for_each(|piece| self.piece(piece, sink));
                }
                None => self.piece(Piece::Text(text), sink),
            }
        }
        if let Some(text) = refusal {
            let block = self.run(Running::Refusal, sink);
            sink.push(Event::Refusal { block, text });
        }
        if let Some(Value::Array(annotations)) = delta.swap_remove("annotations") {
            self.annotations(&annotations, sink);
        }
        if let Some(Value::Array(calls)) = delta.swap_remove("tool_calls") {
            for call in calls {
                if let Value::Object(call) = call {
                    self.call(call, whole, sink);
                }
            }
        }
        if let Some(function @ Value::Object(_)) = delta.swap_remove("function_call") {
            let mut call = Map::new();
            call.insert("index".to_owned(), Value::from(0));
            call.insert("function".to_owned(), function);
            self.call(call, whole, sink);
        }
    }

    fn piece(&mut self, piece: Piece, sink: &mut Sink) {
        match piece {
            Piece::Text(text) => {
                let block = self.run(Running::Text, sink);
                sink.text(block, text);
            }
            Piece::Reasoning(text) => {
                let block = self.run(Running::Reasoning, sink);
                sink.reasoning(block, text);
            }
        }
    }

    /// The block of the running text, a new one if something else was running.
    fn run(&mut self, what: Running, sink: &mut Sink) -> Block {
        if let Some((running, block)) = self.running
            && running == what
        {
            return block;
        }
        self.end_running(sink);
        let block = sink.block();
        self.running = Some((what, block));
        block
    }

    fn end_running(&mut self, sink: &mut Sink) {
        if let Some((_, block)) = self.running.take() {
            sink.push(Event::BlockEnd { block });
        }
    }

    fn annotations(&mut self, annotations: &[Value], sink: &mut Sink) {
        let Some((Running::Text, block)) = self.running else { return };
        for annotation in annotations {
            if let Some(citation) = annotation.get("url_citation").and_then(Citation::read) {
                sink.cite(block, citation);
            }
        }
    }

    /// A part of a call: of the one it names, or a new one.
    fn call(&mut self, mut part: Map<String, Value>, whole: bool, sink: &mut Sink) {
        self.end_running(sink);
        let index = part.get("index").and_then(Value::as_u64).filter(|_| !whole);
        let text = |value: Option<Value>| if let Some(Value::String(text)) = value { text } else { String::new() };
        let id = text(part.swap_remove("id"));
        let (custom, mut function) = match (part.swap_remove("function"), part.swap_remove("custom")) {
            (Some(Value::Object(function)), _) => (false, function),
            (_, Some(Value::Object(custom))) => (true, custom),
            _ => (false, Map::new()),
        };
        let name = text(function.swap_remove("name"));
        let input = match function.swap_remove(if custom { "input" } else { "arguments" }) {
            Some(Value::Object(object)) => exact::text(&Value::Object(object)),
            other => text(other),
        };
        let known = match index {
            _ if whole => None,
            Some(index) => self.at_index.get(&index).copied(),
            None => {
                let same = self.calls.iter().rposition(|c| !id.is_empty() && c.id.as_deref() == Some(&id));
                same.or_else(|| self.calls.len().checked_sub(1))
            }
        };
        let known = known.filter(|at| {
            // A new id with a name, where the open call has its name: another call at the same index.
            let new_id = self.calls.get(*at).is_some_and(|c| c.block.is_some() && c.id.as_deref() != Some(&id));
            !(new_id && !id.is_empty() && !name.is_empty())
        });
        let at = match known {
            Some(at) => at,
            None if self.calls.len() >= MAX_CALLS => return,
            None => {
                self.calls.push(Call { custom, ..Call::default() });
                sink.push(Event::Work);
                self.calls.len() - 1
            }
        };
        if let Some(index) = index {
            self.at_index.insert(index, at);
        }
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_none() && !id.is_empty() && call.block.is_none() {
            call.id = Some(id);
        }
        if call.block.is_none() && !name.is_empty() {
            let block = sink.block();
            call.block = Some(block);
            let id = call.id.get_or_insert_default().clone();
            sink.call(block, id, name, if call.custom { CallKind::Custom } else { CallKind::Function });
            sink.input(block, std::mem::take(&mut call.early));
        }
        match call.block {
            Some(block) => sink.input(block, input),
            None => {
                sink.keep(input.len());
                call.early.push_str(&input);
            }
        }
    }
}

/// The texts of `reasoning_details`.
fn detail_text(details: &Value) -> Option<String> {
    let texts = details.as_array()?.iter().filter_map(|d| d.get("text").or_else(|| d.get("summary"))?.as_str());
    Some(texts.collect::<String>()).filter(|t| !t.is_empty())
}

impl Citation {
    /// Reads `url_citation`, in the shape both OpenAI protocols share.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let text = |member: &str| value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
        let index = |member: &str| value.get(member).and_then(Value::as_u64);
        Some(Self {
            url: value.get("url")?.as_str()?.to_owned(),
            title: text("title"),
            span: index("start_index").zip(index("end_index")),
        })
    }
}
