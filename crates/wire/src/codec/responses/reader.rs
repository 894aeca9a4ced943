//! A Responses answer, read: events of a stream, or a whole document.
//!
//! What an event brings more than once (deltas, `…done`, the item, the whole response) is delivered once: every block
//! knows how much of its text has been delivered, and a fuller version only adds what is missing.

use std::collections::HashMap;

use headgate_domain::{Protocol, ServiceTier, UpstreamError, Usage};
use serde_json::Value;

use crate::{
    codec::read::Sink,
    neutral::{Block, CallKind, Carrier, Citation, Event, Finish, Search},
    usage::WireUsage,
};

/// A block and how many bytes of it were delivered.
#[derive(Debug, Clone, Copy)]
struct Part {
    block: Block,
    refusal: bool,
    sent: usize,
    cited: usize,
}

impl Part {
    fn new(sink: &mut Sink, refusal: bool) -> Self {
        Self { block: sink.block(), refusal, sent: 0, cited: 0 }
    }
}

/// An output item.
#[derive(Debug, Default)]
struct Item {
    kind: Kind,
    /// The parts of a message by `content_index`; otherwise one, at 0.
    parts: HashMap<u64, Part>,
    /// Reasoning: which part of the summary, or of the content, is being delivered.
    section: Option<(Section, u64)>,
    done: bool,
}

impl Item {
    /// Whether it is of this kind, which it becomes if it was not known.
    fn is(&mut self, kind: Kind) -> bool {
        if self.kind == Kind::Unknown {
            self.kind = kind;
        }
        self.kind == kind
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Unknown,
    Message,
    Reasoning,
    Call,
    Search,
}

/// Where readable reasoning stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Summary,
    Content,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// By `output_index`.
    items: HashMap<u64, Item>,
    /// The place of each item by its id.
    by_id: HashMap<String, u64>,
    /// The place behind the last one.
    next: u64,
    calls: bool,
}

impl Reader {
    /// An event.
    pub(crate) fn event(&mut self, event: &Value, sink: &mut Sink) {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some(name) = kind.strip_prefix("response.") else { return };
        match name {
            "completed" | "incomplete" | "cancelled" | "done" => {
                if let Some(response) = event.get("response") {
                    self.response(response, sink);
                }
            }
            "output_item.added" => {
                if let Some(item) = event.get("item") {
                    let place = self.place(event, item, sink);
                    sink.push(Event::Work);
                    self.announce(place, item, sink);
                }
            }
            "output_item.done" => {
                if let Some(item) = event.get("item") {
                    let place = self.place(event, item, sink);
                    self.complete(place, item, sink);
                }
            }
            _ => self.part_event(name, event, sink),
        }
    }

    /// A whole answer.
    pub(crate) fn document(&mut self, document: &Value, sink: &mut Sink) -> bool {
        if !document.get("output").is_some_and(Value::is_array) {
            return false;
        }
        self.response(document, sink);
        true
    }

    fn part_event(&mut self, name: &str, event: &Value, sink: &mut Sink) {
        let place = self.place(event, event, sink);
        let index = |member: &str| event.get(member).and_then(Value::as_u64).unwrap_or(0);
        let text = |member: &str| event.get(member).and_then(Value::as_str).unwrap_or_default();
        match name {
            "content_part.added" | "reasoning_summary_part.added" => sink.push(Event::Work),
            "output_text.delta" => {
                self.text(place, index("content_index"), Said::More(text("delta")), false, sink);
                if let Some(tokens) = event.get("logprobs").and_then(Value::as_array).filter(|t| !t.is_empty())
                    && let Some(part) = self.items.get(&place).and_then(|i| i.parts.get(&index("content_index")))
                {
                    sink.push(Event::Logprobs { block: part.block, tokens: tokens.clone() });
                }
            }
            "output_text.done" => self.text(place, index("content_index"), Said::All(text("text")), false, sink),
            "refusal.delta" => self.text(place, index("content_index"), Said::More(text("delta")), true, sink),
            "refusal.done" => self.text(place, index("content_index"), Said::All(text("refusal")), true, sink),
            "content_part.done" => {
                if let Some(part) = event.get("part") {
                    self.content(place, index("content_index"), part, sink);
                }
            }
            "output_text.annotation.added" => {
                if let Some(citation) = event.get("annotation").and_then(Citation::read)
                    && let Some(item) = self.items.get_mut(&place).filter(|item| !item.done)
                    && let Some(part) = item.parts.get_mut(&index("content_index"))
                {
                    part.cited += 1;
                    sink.cite(part.block, citation);
                }
            }
            "reasoning_summary_text.delta" => {
                self.reasoning(place, (Section::Summary, index("summary_index")), text("delta"), sink);
            }
            "reasoning_text.delta" => {
                self.reasoning(place, (Section::Content, index("content_index")), text("delta"), sink);
            }
            "function_call_arguments.delta" | "custom_tool_call_input.delta" => {
                self.input(place, Said::More(text("delta")), sink);
            }
            "function_call_arguments.done" => self.input(place, Said::All(text("arguments")), sink),
            "custom_tool_call_input.done" => self.input(place, Said::All(text("input")), sink),
            _ => {}
        }
    }

    /// The place of the item an event is about: its `output_index`, else where its id was seen.
    fn place(&mut self, event: &Value, item: &Value, sink: &mut Sink) -> u64 {
        let id = event.get("item_id").or_else(|| item.get("id")).and_then(Value::as_str);
        let place = event.get("output_index").and_then(Value::as_u64);
        let known = id.and_then(|id| self.by_id.get(id).copied());
        let place = place.or(known).unwrap_or(self.next);
        self.next = self.next.max(place.saturating_add(1));
        if let (Some(id), None) = (id, known) {
            sink.keep(64 + id.len());
            self.by_id.insert(id.to_owned(), place);
        }
        place
    }

    fn announce(&mut self, place: u64, item: &Value, sink: &mut Sink) {
        let entry = self.items.entry(place).or_default();
        if entry.kind != Kind::Unknown {
            return;
        }
        let text = |member: &str| item.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
        entry.kind = match text("type").as_str() {
            "message" => Kind::Message,
            "reasoning" => Kind::Reasoning,
            "web_search_call" => Kind::Search,
            kind @ ("function_call" | "custom_tool_call") if !text("name").is_empty() => {
                let block = sink.block();
                entry.parts.insert(0, Part { block, refusal: false, sent: 0, cited: 0 });
                self.calls = true;
                let kind = if kind == "function_call" { CallKind::Function } else { CallKind::Custom };
                let id = Some(text("call_id")).filter(|id| !id.is_empty()).unwrap_or_else(|| text("id"));
                sink.call(block, id, text("name"), kind);
                Kind::Call
            }
            _ => Kind::Unknown,
        };
    }

    /// A complete item: what deltas did not bring, then its end.
    fn complete(&mut self, place: u64, item: &Value, sink: &mut Sink) {
        self.announce(place, item, sink);
        let Some(entry) = self.items.get(&place).filter(|entry| !entry.done) else { return };
        let text = |member: &str| item.get(member).and_then(Value::as_str).unwrap_or_default();
        match entry.kind {
            Kind::Message => {
                for (index, part) in (0..).zip(item.get("content").and_then(Value::as_array).into_iter().flatten()) {
                    self.content(place, index, part, sink);
                }
            }
            Kind::Reasoning => self.sealed(place, item, sink),
            Kind::Call => {
                let member = if item.get("arguments").is_some() { "arguments" } else { "input" };
                self.input(place, Said::All(text(member)), sink);
            }
            Kind::Search => {
                let block = sink.block();
                sink.push(Event::Search { block, search: search(item) });
                sink.push(Event::BlockEnd { block });
            }
            Kind::Unknown => {}
        }
        self.end(place, sink);
    }

    fn end(&mut self, place: u64, sink: &mut Sink) {
        let Some(item) = self.items.get_mut(&place) else { return };
        item.done = true;
        let mut blocks: Vec<Block> = item.parts.values().map(|p| p.block).collect();
        blocks.sort_unstable();
        blocks.into_iter().for_each(|block| sink.push(Event::BlockEnd { block }));
    }

    /// A part of a message, complete.
    fn content(&mut self, place: u64, index: u64, part: &Value, sink: &mut Sink) {
        let text = |member: &str| part.get(member).and_then(Value::as_str);
        if let Some(refusal) = text("refusal") {
            self.text(place, index, Said::All(refusal), true, sink);
        } else if let Some(all) = text("text") {
            self.text(place, index, Said::All(all), false, sink);
        }
        let annotations = part.get("annotations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let Some(delivered) = self.items.get_mut(&place).and_then(|i| i.parts.get_mut(&index)) else { return };
        for citation in annotations.iter().skip(delivered.cited).filter_map(Citation::read) {
            sink.cite(delivered.block, citation);
        }
        delivered.cited = delivered.cited.max(annotations.len());
    }

    fn text(&mut self, place: u64, index: u64, said: Said<'_>, refusal: bool, sink: &mut Sink) {
        let item = self.items.entry(place).or_default();
        if item.done || said.is_empty() || !item.is(Kind::Message) {
            return;
        }
        let part = item.parts.entry(index).or_insert_with(|| Part::new(sink, refusal));
        if part.refusal != refusal {
            return;
        }
        let text = said.missing(&mut part.sent);
        let block = part.block;
        if refusal && !text.is_empty() {
            sink.push(Event::Refusal { block, text });
        } else if !refusal {
            sink.text(block, text);
        }
    }

    fn input(&mut self, place: u64, said: Said<'_>, sink: &mut Sink) {
        let Some(item) = self.items.get_mut(&place).filter(|i| i.kind == Kind::Call && !i.done) else { return };
        if let Some(part) = item.parts.get_mut(&0) {
            let text = said.missing(&mut part.sent);
            sink.input(part.block, text);
        }
    }

    /// More reasoning; sections are joined by a blank line, and what stands in the content as well as in the summary
    /// is taken from whichever came first.
    fn reasoning(&mut self, place: u64, section: (Section, u64), more: &str, sink: &mut Sink) {
        let item = self.items.entry(place).or_default();
        let other_section = item.section.is_some_and(|(s, _)| s != section.0);
        if item.done || more.is_empty() || other_section || !item.is(Kind::Reasoning) {
            return;
        }
        let part = item.parts.entry(0).or_insert_with(|| Part::new(sink, false));
        if item.section.is_some_and(|before| before != section) {
            sink.reasoning(part.block, "\n\n".to_owned());
        }
        item.section = Some(section);
        part.sent += more.len();
        sink.reasoning(part.block, more.to_owned());
    }

    /// A complete reasoning item: its text, if no delta brought any, and its seal.
    fn sealed(&mut self, place: u64, item: &Value, sink: &mut Sink) {
        if self.items.get(&place).is_none_or(|i| i.section.is_none()) {
            let texts = |member: &str| {
                let parts = item.get(member).and_then(Value::as_array).into_iter().flatten();
                parts.filter_map(|p| p.get("text")?.as_str().map(str::to_owned)).collect::<Vec<_>>()
            };
            let summary = texts("summary");
            let (section, texts) =
                if summary.is_empty() { (Section::Content, texts("content")) } else { (Section::Summary, summary) };
            for (index, text) in (0..).zip(texts) {
                self.reasoning(place, (section, index), &text, sink);
            }
        }
        let text = |member: &str| item.get(member).and_then(Value::as_str).filter(|t| !t.is_empty());
        let Some(encrypted) = text("encrypted_content") else { return };
        let carrier = Carrier::OpenAi { id: text("id").map(str::to_owned), encrypted: encrypted.to_owned() };
        let Some(entry) = self.items.get_mut(&place) else { return };
        let part = entry.parts.entry(0).or_insert_with(|| Part::new(sink, false));
        sink.push(Event::Seal { block: part.block, carrier });
    }

    /// The whole response: items nobody announced, usage, and how it ended.
    fn response(&mut self, response: &Value, sink: &mut Sink) {
        let status = response.get("status").and_then(Value::as_str).unwrap_or("completed");
        if matches!(status, "failed" | "cancelled") {
            let message = format!("the upstream's answer was {status}");
            let error = crate::error::inside_success(response);
            sink.push(Event::Failed(error.unwrap_or(UpstreamError { message, ..UpstreamError::default() })));
            return;
        }
        for (place, item) in (0..).zip(response.get("output").and_then(Value::as_array).into_iter().flatten()) {
            let id = item.get("id").and_then(Value::as_str);
            let place = id.and_then(|id| self.by_id.get(id).copied()).unwrap_or(place);
            self.complete(place, item, sink);
        }
        let mut open: Vec<u64> = self.items.iter().filter(|(_, i)| !i.done).map(|(place, _)| *place).collect();
        open.sort_unstable();
        open.into_iter().for_each(|place| self.end(place, sink));
        if let Some(usage) = response.get("usage").filter(|u| u.is_object())
            && let Ok(wire) = serde_json::from_value::<WireUsage>(usage.clone())
        {
            let tier = response.get("service_tier").and_then(Value::as_str).and_then(ServiceTier::of);
            sink.push(Event::Usage(Usage { tier, ..wire.canonical(Protocol::Responses) }));
        }
        let reason = response.get("incomplete_details").and_then(|d| d.get("reason")?.as_str());
        sink.push(Event::Finish(match (status, reason) {
            ("incomplete", Some("content_filter")) => Finish::Filter(None),
            ("incomplete", _) => Finish::Length,
            _ if self.calls => Finish::Tools,
            _ => Finish::Natural,
        }));
        sink.push(Event::End);
    }
}

/// A text as an event brings it: an addition, or all of it.
enum Said<'t> {
    More(&'t str),
    All(&'t str),
}

impl Said<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::More("") | Self::All(""))
    }

    /// What was not delivered yet, of which `sent` bytes were.
    fn missing(&self, sent: &mut usize) -> String {
        let text = match self {
            Self::More(text) => text,
            Self::All(text) => text.get(*sent..).unwrap_or_default(),
        };
        *sent += text.len();
        text.to_owned()
    }
}

fn search(item: &Value) -> Search {
    let action = item.get("action");
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let first = || action?.get("queries")?.as_array()?.first()?.as_str().map(str::to_owned);
    let query = text(action.and_then(|a| a.get("query"))).or_else(first).unwrap_or_default();
    let sources = action.and_then(|a| a.get("sources")).and_then(Value::as_array).into_iter().flatten();
    let page = |source: &Value| Some((text(source.get("url"))?, text(source.get("title")).unwrap_or_default()));
    Search { query, pages: sources.filter_map(page).collect() }
}
