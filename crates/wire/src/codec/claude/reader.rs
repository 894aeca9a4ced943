//! A Messages answer, read: events of a stream, or a whole document.

use std::collections::HashMap;

use headgate_domain::Protocol;
use serde_json::{Map, Value, json};

use crate::{
    codec::read::Sink,
    exact,
    neutral::{Block, CallKind, Carrier, Citation, Event, Finish, Search},
    usage::WireUsage,
};

/// A block that has begun.
#[derive(Debug)]
enum Open {
    Text(Block),
    /// Redacted thinking: complete as it begins.
    Sealed(Block),
    Thinking {
        block: Block,
        /// The block as it will be sealed: its members, the text, the signature.
        members: Map<String, Value>,
        text: String,
        signature: String,
    },
    Call {
        block: Block,
        /// Input that stood in the first event, used if no other comes.
        input: Option<String>,
    },
    Search {
        block: Block,
        input: String,
    },
    Unknown,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    open: HashMap<u64, Open>,
    finish: Option<Finish>,
}

impl Reader {
    /// The reason why it stopped is known, only usage may follow.
    pub(crate) fn is_finishing(&self) -> bool {
        self.finish.is_some()
    }

    /// An event.
    pub(crate) fn event(&mut self, mut event: Value, sink: &mut Sink) {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind.as_str() {
            "message_start" => usage(event.get_mut("message").and_then(|m| m.get_mut("usage")), sink),
            "content_block_start" => {
                if let Some(Value::Object(block)) = event.get_mut("content_block").map(Value::take) {
                    // A vendor that never ends its blocks.
                    self.stop(index, sink);
                    self.start(index, block, sink);
                }
            }
            "content_block_delta" => {
                if let Some(Value::Object(delta)) = event.get_mut("delta").map(Value::take) {
                    self.delta(index, delta, sink);
                }
            }
            "content_block_stop" => self.stop(index, sink),
            "message_delta" => {
                usage(event.get_mut("usage"), sink);
                if let Some(delta) = event.get("delta") {
                    self.stopped(delta);
                }
            }
            "message_stop" => self.done(sink),
            _ => {}
        }
    }

    /// A whole answer.
    pub(crate) fn document(&mut self, mut document: Value, sink: &mut Sink) -> bool {
        let Some(Value::Array(blocks)) = document.get_mut("content").map(Value::take) else { return false };
        usage(document.get_mut("usage"), sink);
        for block in blocks {
            if let Value::Object(block) = block {
                self.start(0, block, sink);
                self.stop(0, sink);
            }
        }
        self.stopped(&document);
        self.done(sink);
        true
    }

    /// The connection is closed.
    pub(crate) fn close(&mut self, sink: &mut Sink) {
        if self.finish.is_some() { self.done(sink) } else { sink.push(Event::Cut) }
    }

    fn done(&mut self, sink: &mut Sink) {
        let mut open: Vec<u64> = self.open.keys().copied().collect();
        open.sort_unstable();
        open.into_iter().for_each(|index| self.stop(index, sink));
        sink.push(Event::Finish(self.finish.take().unwrap_or(Finish::Natural)));
        sink.push(Event::End);
    }

    fn stopped(&mut self, from: &Value) {
        let Some(reason) = from.get("stop_reason").and_then(Value::as_str) else { return };
        self.finish = Some(match reason {
            "stop_sequence" => Finish::Stop(from.get("stop_sequence").and_then(Value::as_str).map(str::to_owned)),
            "tool_use" => Finish::Tools,
            "max_tokens" => Finish::Length,
            "model_context_window_exceeded" => Finish::Context,
            "refusal" => {
                let explanation = from.get("stop_details").and_then(|d| d.get("explanation")?.as_str());
                Finish::Filter(explanation.map(str::to_owned))
            }
            "pause_turn" => Finish::Paused,
            _ => Finish::Natural,
        });
    }

    fn start(&mut self, index: u64, mut block: Map<String, Value>, sink: &mut Sink) {
        sink.push(Event::Work);
        let number = sink.block();
        let text = |block: &mut Map<String, Value>, member: &str| match block.get_mut(member).map(Value::take) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let kind = text(&mut block, "type");
        let open = match kind.as_str() {
            "text" => {
                sink.text(number, text(&mut block, "text"));
                for citation in block.get("citations").and_then(Value::as_array).into_iter().flatten() {
                    cite(number, citation, sink);
                }
                Open::Text(number)
            }
            "thinking" => {
                let (said, signature) = (text(&mut block, "thinking"), text(&mut block, "signature"));
                sink.reasoning(number, said.clone());
                block.insert("type".to_owned(), json!(kind));
                Open::Thinking { block: number, members: block, text: said, signature }
            }
            "redacted_thinking" => {
                block.insert("type".to_owned(), json!(kind));
                sink.push(Event::Seal { block: number, carrier: Carrier::Claude(Value::Object(block)) });
                Open::Sealed(number)
            }
            "tool_use" => {
                let (id, name) = (text(&mut block, "id"), text(&mut block, "name"));
                if name.is_empty() {
                    Open::Unknown
                } else {
                    sink.call(number, id, name, CallKind::Function);
                    let input = block.get("input").filter(|i| i.as_object().is_some_and(|o| !o.is_empty()));
                    Open::Call { block: number, input: input.map(exact::text) }
                }
            }
            "server_tool_use" if block.get("name").is_some_and(|n| n == "web_search") => {
                let input = block.get("input").filter(|i| i.as_object().is_some_and(|o| !o.is_empty()));
                Open::Search { block: number, input: input.map(exact::text).unwrap_or_default() }
            }
            _ => Open::Unknown,
        };
        self.open.insert(index, open);
    }

    fn delta(&mut self, index: u64, mut delta: Map<String, Value>, sink: &mut Sink) {
        let mut text = |member: &str| match delta.get_mut(member).map(Value::take) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        match self.open.get_mut(&index) {
            Some(Open::Text(block)) => {
                sink.text(*block, text("text"));
                if let Some(citation) = delta.get("citation") {
                    cite(*block, citation, sink);
                }
            }
            Some(Open::Thinking { block, text: said, signature, .. }) => {
                let (more, seal) = (text("thinking"), text("signature"));
                sink.keep(more.len() + seal.len());
                said.push_str(&more);
                signature.push_str(&seal);
                sink.reasoning(*block, more);
            }
            Some(Open::Call { block, input }) => {
                let more = text("partial_json");
                if !more.is_empty() {
                    *input = None;
                    sink.input(*block, more);
                }
            }
            Some(Open::Search { input, .. }) => {
                let more = text("partial_json");
                sink.keep(more.len());
                input.push_str(&more);
            }
            Some(Open::Sealed(_) | Open::Unknown) | None => {}
        }
    }

    fn stop(&mut self, index: u64, sink: &mut Sink) {
        let block = match self.open.remove(&index) {
            Some(Open::Text(block) | Open::Sealed(block)) => block,
            Some(Open::Thinking { block, mut members, text, signature }) => {
                if !signature.is_empty() {
                    members.insert("thinking".to_owned(), Value::String(text));
                    members.insert("signature".to_owned(), Value::String(signature));
                    sink.push(Event::Seal { block, carrier: Carrier::Claude(Value::Object(members)) });
                }
                block
            }
            Some(Open::Call { block, input }) => {
                sink.input(block, input.unwrap_or_default());
                block
            }
            Some(Open::Search { block, input }) => {
                let input: Value = serde_json::from_str(&input).unwrap_or_default();
                let query = input.get("query").and_then(Value::as_str).unwrap_or_default().to_owned();
                sink.push(Event::Search { block, search: Search { query, pages: Vec::new() } });
                block
            }
            Some(Open::Unknown) | None => return,
        };
        sink.push(Event::BlockEnd { block });
    }
}

fn usage(usage: Option<&mut Value>, sink: &mut Sink) {
    let Some(usage) = usage.filter(|u| u.is_object()) else { return };
    if let Ok(wire) = serde_json::from_value::<WireUsage>(usage.take()) {
        sink.push(Event::Usage(wire.canonical(Protocol::Claude)));
    }
}

/// A page found by a hosted search; other citations point into the request.
fn cite(block: Block, citation: &Value, sink: &mut Sink) {
    if citation.get("type").is_some_and(|t| t == "web_search_result_location")
        && let Some(url) = citation.get("url").and_then(Value::as_str)
    {
        let title = citation.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
        sink.cite(block, Citation { url: url.to_owned(), title, span: None });
    }
}
