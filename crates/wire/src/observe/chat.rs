//! Chat Completions: chunks and whole answers.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Finish, Observer, Seen,
    presence::{Filled, Said},
};
use crate::usage::{Tier, WireUsage};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    service_tier: Tier,
    #[serde(default)]
    error: Filled,
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<u32>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Said<'a>,
    #[serde(borrow)]
    reasoning_content: Said<'a>,
    #[serde(borrow)]
    reasoning: Said<'a>,
    reasoning_details: Filled,
    #[serde(borrow)]
    refusal: Said<'a>,
    audio: Filled,
    #[serde(borrow)]
    tool_calls: Option<Vec<Call<'a>>>,
    #[serde(borrow)]
    function_call: Option<Function<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    function: Option<Function<'a>>,
    #[serde(borrow)]
    custom: Option<Function<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Said<'a>,
    #[serde(borrow)]
    arguments: Said<'a>,
    #[serde(borrow)]
    input: Said<'a>,
}

impl Delta<'_> {
    fn seen(&self) -> Seen {
        let named = |f: &Option<Function<'_>>| f.as_ref().is_some_and(|f| f.name.any);
        let calls = self.tool_calls.iter().flatten().any(|c| named(&c.function) || named(&c.custom));
        let texts = [&self.content, &self.reasoning_content, &self.reasoning, &self.refusal];
        let others = self.reasoning_details.any || self.audio.any;
        if calls || named(&self.function_call) || others || texts.iter().any(|t| t.any) {
            Seen::OUTPUT
        } else if self.tool_calls.as_ref().is_some_and(|c| !c.is_empty()) {
            Seen::WORK
        } else {
            Seen::default()
        }
    }
}

impl Delta<'_> {
    /// The text that the model wrote.
    fn tell(&self, observer: &mut Observer) {
        observer.hear(&self.content.text);
        // Some vendors send the same reasoning under both names.
        let (one, other) = (&self.reasoning_content.text, &self.reasoning.text);
        observer.hear(if one.len() >= other.len() { one } else { other });
        observer.hear(&self.refusal.text);
        let calls = self.tool_calls.iter().flatten().flat_map(|c| c.function.iter().chain(&c.custom));
        for function in calls.chain(&self.function_call) {
            for said in [&function.name, &function.arguments, &function.input] {
                observer.hear(&said.text);
            }
        }
        if self.audio.any {
            observer.heard = None;
        }
    }
}

fn read(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    let chunk: Chunk<'_> = serde_json::from_slice(json).ok()?;
    if chunk.error.any || chunk.kind.as_deref() == Some("error") {
        return None;
    }
    observer.used(chunk.usage.as_ref());
    observer.served(chunk.service_tier);
    chunk.choices.as_ref()?;
    let mut seen = Seen::default();
    for choice in chunk.choices.iter().flatten() {
        if choice.index.unwrap_or(0) != 0 {
            // The tokens reported are those of all choices.
            observer.heard = None;
            continue;
        }
        observer.used(choice.usage.as_ref());
        if let Some(delta) = choice.delta.as_ref().or(choice.message.as_ref()) {
            seen = seen.or(delta.seen());
            delta.tell(observer);
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
