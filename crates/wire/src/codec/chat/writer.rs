//! A Chat Completions answer, written: chunks of a stream, or a whole document.

use std::collections::HashMap;

use headgate_domain::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    codec::{Out, openai::url_citation, usage},
    head::{Head, frame},
    neutral::{Answer, Block, CallHead, CallKind, Citation, Event, Finish, Piece},
};

#[derive(Serialize)]
struct Chunk<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [Choice<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u8,
    delta: Delta<'a>,
    finish_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<Value>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[Value; 1]>,
}

fn chunk(
    head: &Head,
    delta: Delta<'_>,
    finish_reason: Option<&'static str>,
    logprobs: Option<Value>,
    out: &mut Vec<u8>,
) {
    let choices = [Choice { index: 0, delta, finish_reason, logprobs }];
    write(head, &choices, None, out);
}

fn write(head: &Head, choices: &[Choice<'_>], usage: Option<Value>, out: &mut Vec<u8>) {
    let Head { id, model, created, .. } = head;
    frame(out, None, &Chunk { id, object: "chat.completion.chunk", created: *created, model, choices, usage });
}

/// The first chunk of a stream.
pub(crate) fn opening(head: &Head, out: &mut Vec<u8>) {
    chunk(head, Delta { role: Some("assistant"), content: Some(""), ..Delta::default() }, None, None, out);
}

/// A chunk that says nothing.
pub(crate) fn keep_alive(head: &Head, out: &mut Vec<u8>) {
    chunk(head, Delta::default(), None, None, out);
}

/// A text block being streamed: where it began in the whole content, and what it cites.
#[derive(Debug, Default)]
struct Text {
    began: u64,
    chars: u64,
    citations: Vec<Citation>,
}

/// Writes a stream.
#[derive(Debug)]
pub(crate) struct Writer {
    wants_usage: bool,
    calls: HashMap<Block, (usize, CallKind)>,
    texts: HashMap<Block, Text>,
    /// Characters of content so far.
    chars: u64,
    /// The last reasoning block.
    reasoned: Option<Block>,
    refused: bool,
    usage: Usage,
}

impl Writer {
    /// `wants_usage`: the client asked for a usage chunk.
    pub(crate) fn new(wants_usage: bool) -> Self {
        Self {
            wants_usage,
            calls: HashMap::new(),
            texts: HashMap::new(),
            chars: 0,
            reasoned: None,
            refused: false,
            usage: Usage::default(),
        }
    }

    /// Writes what an event says.
    pub(crate) fn event(&mut self, head: &mut Head, event: Event, out: &mut Vec<u8>) {
        match event {
            Event::Text { block, text } => {
                let chars = text.chars().count() as u64;
                let began = self.chars;
                self.texts.entry(block).or_insert(Text { began, ..Text::default() }).chars += chars;
                self.chars += chars;
                self.delta(head, Delta { content: Some(&text), ..Delta::default() }, out);
            }
            Event::Logprobs { tokens, .. } => {
                head.open(out);
                chunk(head, Delta::default(), None, Some(json!({"content":tokens,"refusal":null})), out);
            }
            Event::Refusal { text, .. } => {
                self.refused = true;
                self.delta(head, Delta { refusal: Some(&text), ..Delta::default() }, out);
            }
            Event::Citation { block, citation } => {
                let began = self.chars;
                self.texts.entry(block).or_insert(Text { began, ..Text::default() }).citations.push(citation);
            }
            Event::Reasoning { block, text } => {
                let apart = self.reasoned.is_some_and(|before| before != block);
                self.reasoned = Some(block);
                let text = if apart { format!("\n\n{text}") } else { text };
                self.delta(head, Delta { reasoning_content: Some(&text), ..Delta::default() }, out);
            }
            Event::CallStart { block, call } => {
                let index = self.calls.len();
                self.calls.insert(block, (index, call.kind));
                let mut started = call_value(&call, "");
                if let Value::Object(started) = &mut started {
                    started.insert("index".to_owned(), json!(index));
                }
                self.delta(head, Delta { tool_calls: Some([started]), ..Delta::default() }, out);
            }
            Event::CallInput { block, text } => {
                let Some((index, kind)) = self.calls.get(&block) else { return };
                let more = match kind {
                    CallKind::Custom => json!({"index":index,"custom":{"input":text}}),
                    _ => json!({"index":index,"function":{"arguments":text}}),
                };
                self.delta(head, Delta { tool_calls: Some([more]), ..Delta::default() }, out);
            }
            Event::BlockEnd { block } => {
                let Some(text) = self.texts.remove(&block).filter(|t| !t.citations.is_empty()) else { return };
                let cite = |c: &Citation| annotation(c, text.began, text.chars);
                let annotations = text.citations.iter().map(cite).collect();
                self.delta(head, Delta { annotations: Some(annotations), ..Delta::default() }, out);
            }
            Event::Usage(usage) => self.usage.merge_max(&usage),
            Event::Finish(finish) => {
                if let Finish::Filter(Some(explanation)) = &finish
                    && !self.refused
                {
                    self.delta(head, Delta { refusal: Some(explanation), ..Delta::default() }, out);
                }
                head.open(out);
                chunk(head, Delta::default(), Some(reason(&finish)), None, out);
            }
            Event::End => {
                if let Some(usage) = usage::chat(&self.usage).filter(|_| self.wants_usage) {
                    write(head, &[], Some(usage), out);
                }
                out.extend_from_slice(b"data: [DONE]\n\n");
            }
            Event::Seal { .. } | Event::Search { .. } | Event::Work | Event::Failed(_) | Event::Cut => {}
        }
    }

    fn delta(&self, head: &mut Head, delta: Delta<'_>, out: &mut Vec<u8>) {
        head.open(out);
        chunk(head, delta, None, None, out);
    }
}

fn reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Natural | Finish::Stop(_) | Finish::Paused => "stop",
        Finish::Tools => "tool_calls",
        Finish::Length | Finish::Context => "length",
        Finish::Filter(_) => "content_filter",
    }
}

fn annotation(citation: &Citation, offset: u64, length: u64) -> Value {
    let mut flat = url_citation(citation, offset, length);
    if let Value::Object(flat) = &mut flat {
        flat.shift_remove("type");
    }
    json!({"type":"url_citation","url_citation":flat})
}

fn call_value(head: &CallHead, input: &str) -> Value {
    match head.kind {
        CallKind::Custom => {
            json!({"id":head.call_id,"type":"custom","custom":{"name":head.name,"input":input}})
        }
        _ => json!({"id":head.call_id,"type":"function","function":{"name":head.name,"arguments":input}}),
    }
}

/// Writes a whole answer.
pub(crate) fn document(answer: Answer, head: &Head) -> Value {
    let (mut content, mut reasoning, mut refusal) = (None::<String>, None::<String>, None::<String>);
    let (mut calls, mut annotations, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
    for piece in answer.pieces {
        match piece {
            Piece::Text { text, citations, logprobs } => {
                let offset = content.as_ref().map_or(0, |c| c.chars().count() as u64);
                let length = text.chars().count() as u64;
                annotations.extend(citations.iter().map(|c| annotation(c, offset, length)));
                tokens.extend(logprobs);
                if !text.is_empty() {
                    content.get_or_insert_default().push_str(&text);
                }
            }
            Piece::Refusal(text) => refusal.get_or_insert_default().push_str(&text),
            Piece::Reasoning { text, .. } if text.is_empty() => {}
            Piece::Reasoning { text, .. } => match &mut reasoning {
                Some(before) => *before = format!("{before}\n\n{text}"),
                none => *none = Some(text),
            },
            Piece::Call { head, input } => calls.push(call_value(&head, &input)),
            Piece::Search(_) => {}
        }
    }
    let finish = answer.finish.unwrap_or(Finish::Natural);
    if let Finish::Filter(explanation) = &finish {
        refusal = refusal.or_else(|| explanation.clone());
    }
    let mut message = Out::default();
    message.put("role", "assistant");
    message.put("content", content);
    message.put("refusal", refusal);
    message.put_some("reasoning_content", reasoning);
    message.put_some("annotations", Some(annotations).filter(|a| !a.is_empty()));
    message.put_some("tool_calls", Some(calls).filter(|c| !c.is_empty()));
    let logprobs = if tokens.is_empty() { Value::Null } else { json!({"content":tokens,"refusal":null}) };
    let mut out = Out::default();
    out.put("id", head.id.as_str());
    out.put("object", "chat.completion");
    out.put("created", head.created);
    out.put("model", head.model.as_str());
    let choice = json!({"index":0,"message":Value::from(message),"finish_reason":reason(&finish),"logprobs":logprobs});
    out.put("choices", vec![choice]);
    out.put_some("usage", usage::chat(&answer.usage));
    out.into()
}
