//! Chat Completions: chunks and whole answers.

use std::borrow::Cow;

use serde::Deserialize;

use super::{Finish, Observer, Seen, presence::Filled};
use crate::usage::WireUsage;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Filled,
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<u32>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    message: Option<Delta>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta {
    content: Filled,
    reasoning_content: Filled,
    reasoning: Filled,
    reasoning_details: Filled,
    refusal: Filled,
    audio: Filled,
    tool_calls: Option<Vec<Call>>,
    function_call: Option<Function>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call {
    function: Option<Function>,
    custom: Option<Function>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Function {
    name: Filled,
    arguments: Filled,
    input: Filled,
}

impl Delta {
    fn seen(&self) -> Seen {
        let named = |f: &Option<Function>| f.as_ref().is_some_and(|f| f.name.any);
        let calls = self.tool_calls.iter().flatten().any(|c| named(&c.function) || named(&c.custom));
        let texts =
            [self.content, self.reasoning_content, self.reasoning, self.reasoning_details, self.refusal, self.audio];
        if calls || named(&self.function_call) || texts.iter().any(|t| t.any) {
            Seen::OUTPUT
        } else if self.tool_calls.as_ref().is_some_and(|c| !c.is_empty()) {
            Seen::WORK
        } else {
            Seen::default()
        }
    }
}

impl Delta {
    /// Bytes of text that the model wrote.
    fn text(&self) -> u64 {
        let written = |f: &Function| f.name.bytes + f.arguments.bytes + f.input.bytes;
        let calls = self.tool_calls.iter().flatten().flat_map(|c| c.function.iter().chain(&c.custom));
        // Some vendors send the same reasoning under both names.
        let reasoning = self.reasoning_content.bytes.max(self.reasoning.bytes);
        self.content.bytes + reasoning + self.refusal.bytes + calls.chain(&self.function_call).map(written).sum::<u64>()
    }
}

fn read(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    let chunk: Chunk<'_> = serde_json::from_slice(json).ok()?;
    if chunk.error.any || chunk.kind.as_deref() == Some("error") {
        return None;
    }
    observer.used(chunk.usage.as_ref());
    chunk.choices.as_ref()?;
    let mut seen = Seen::default();
    for choice in chunk.choices.iter().flatten() {
        if choice.index.unwrap_or(0) != 0 {
            continue;
        }
        observer.used(choice.usage.as_ref());
        if let Some(delta) = choice.delta.as_ref().or(choice.message.as_ref()) {
            seen = seen.or(delta.seen());
            observer.text += delta.text();
        }
        if let Some(reason) = &choice.finish_reason {
            let finish = match &**reason {
                "length" | "content_filter" => Finish::Cause,
                "tool_calls" | "function_call" => Finish::Tools,
                _ => Finish::Natural,
            };
            if finish == Finish::Cause || observer.output || seen.output {
                seen = Seen::OUTPUT;
            }
            observer.finish.get_or_insert(finish);
        }
    }
    Some(seen)
}

pub(super) fn event(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    observer.named("chunk");
    read(observer, json)
}

pub(super) fn document(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    read(observer, json)
}
