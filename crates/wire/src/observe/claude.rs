//! Messages: events and whole answers.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Finish, Observer, Seen,
    presence::{Filled, Said},
};
use crate::usage::WireUsage;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Said<'a>,
    #[serde(borrow, default)]
    text: Said<'a>,
    #[serde(borrow, default)]
    thinking: Said<'a>,
    #[serde(default)]
    signature: Filled,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    text: Said<'a>,
    #[serde(borrow, default)]
    thinking: Said<'a>,
    #[serde(default)]
    signature: Filled,
    #[serde(borrow, default)]
    partial_json: Said<'a>,
    #[serde(borrow, default)]
    stop_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default)]
    error: Filled,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(borrow, default)]
    content: Option<Vec<Block<'a>>>,
    #[serde(borrow, default)]
    stop_reason: Option<Cow<'a, str>>,
}

impl Block<'_> {
    /// The text that the model wrote; the input of a call in a whole answer is not looked into.
    fn tell(&self, observer: &mut Observer) {
        for said in [&self.text, &self.thinking, &self.name] {
            observer.hear(&said.text);
        }
    }

    fn output(&self) -> bool {
        match self.kind.as_deref() {
            Some("text") => self.text.any,
            // A seal counts: an empty thinking block with a signature is content.
            Some("thinking") => self.thinking.any || self.signature.any,
            Some("tool_use") => self.name.any,
            Some(_) => true,
            None => false,
        }
    }
}

fn stopped(observer: &mut Observer, reason: &str, seen: Seen) -> Seen {
    let finish = match reason {
        "max_tokens" | "refusal" | "model_context_window_exceeded" | "pause_turn" | "stop_sequence" => Finish::Cause,
        "tool_use" => Finish::Tools,
        _ => Finish::Natural,
    };
    observer.finish.get_or_insert(finish);
    if finish == Finish::Cause || observer.output || seen.output { Seen::OUTPUT } else { seen }
}

pub(super) fn event(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    let event: Event<'_> = serde_json::from_slice(json).ok()?;
    observer.named(&event.kind);
    match &*event.kind {
        "error" => None,
        "message_start" => {
            observer.used(event.message.as_ref().and_then(|m| m.usage.as_ref()));
            Some(Seen::default())
        }
        "content_block_start" => {
            if let Some(block) = &event.content_block {
                block.tell(observer);
            }
            let output = event.content_block.is_some_and(|b| b.output());
            Some(if output { Seen::OUTPUT } else { Seen::WORK })
        }
        "content_block_delta" => {
            for said in event.delta.iter().flat_map(|d| [&d.text, &d.thinking, &d.partial_json]) {
                observer.hear(&said.text);
            }
            let output = event.delta.is_some_and(|d| d.text.any || d.thinking.any || d.signature.any);
            Some(if output { Seen::OUTPUT } else { Seen::WORK })
        }
        "message_delta" => {
            observer.used(event.usage.as_ref());
            let reason = event.delta.and_then(|d| d.stop_reason);
            Some(reason.map_or_else(Seen::default, |reason| stopped(observer, &reason, Seen::default())))
        }
        "message_stop" => {
            observer.terminal = true;
            Some(Seen::default())
        }
        _ => Some(Seen::default()),
    }
}

pub(super) fn document(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    let message: Message<'_> = serde_json::from_slice(json).ok()?;
    let content = message.content.as_ref().filter(|_| !message.error.any)?;
    observer.used(message.usage.as_ref());
    for block in content {
        block.tell(observer);
        if block.kind.as_deref() == Some("tool_use") {
            observer.heard = None;
        }
    }
    let seen = if content.iter().any(Block::output) { Seen::OUTPUT } else { Seen::default() };
    Some(stopped(observer, message.stop_reason.as_deref().unwrap_or("end_turn"), seen))
}
