//! Responses: events and whole answers.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Finish, Observer, Seen,
    presence::{Filled, Said},
};
use crate::usage::{Tier, WireUsage};

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    sequence_number: Option<u64>,
    #[serde(borrow, default)]
    delta: Said<'a>,
    #[serde(borrow, default)]
    item: Option<Item<'a>>,
    #[serde(borrow, default)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Said<'a>,
    #[serde(default)]
    encrypted_content: Filled,
    #[serde(default)]
    summary: Filled,
    #[serde(borrow, default)]
    arguments: Said<'a>,
    #[serde(borrow, default)]
    input: Said<'a>,
    #[serde(borrow, default)]
    content: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Said<'a>,
    #[serde(borrow)]
    refusal: Said<'a>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    status: Option<Cow<'a, str>>,
    #[serde(default)]
    error: Filled,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    service_tier: Tier,
    #[serde(borrow, default)]
    output: Option<Vec<Item<'a>>>,
}

impl Item<'_> {
    /// The text that the model wrote.
    fn tell(&self, observer: &mut Observer) {
        let parts = self.content.iter().flatten().flat_map(|p| [&p.text, &p.refusal]);
        for said in parts.chain([&self.name, &self.arguments, &self.input]) {
            observer.hear(&said.text);
        }
    }

    /// `done`: the item is complete. Otherwise it has only been announced.
    fn seen(&self, done: bool) -> Seen {
        let output = match self.kind.as_deref() {
            Some("message") => self.content.iter().flatten().any(|p| p.text.any || p.refusal.any),
            Some("reasoning") => {
                self.encrypted_content.any || self.summary.any || self.content.iter().flatten().any(|p| p.text.any)
            }
            Some("function_call" | "custom_tool_call") => self.name.any,
            Some(_) => true,
            None => false,
        };
        match (output, done) {
            (true, _) => Seen::OUTPUT,
            (false, false) => Seen::WORK,
            (false, true) => Seen::default(),
        }
    }
}

fn finished(observer: &mut Observer, response: &Response<'_>) -> Seen {
    observer.used(response.usage.as_ref());
    observer.served(response.service_tier);
    // What came as deltas is here again.
    if observer.text == 0 {
        for item in response.output.iter().flatten() {
            item.tell(observer);
        }
    }
    let mut seen = response.output.iter().flatten().fold(Seen::default(), |seen, item| seen.or(item.seen(true)));
    let finish = if response.status.as_deref() == Some("incomplete") { Finish::Cause } else { Finish::Natural };
    if finish == Finish::Cause || observer.output || seen.output {
        seen = Seen::OUTPUT;
    }
    observer.finish.get_or_insert(finish);
    observer.terminal = true;
    seen
}

pub(super) fn event(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    let event: Event<'_> = serde_json::from_slice(json).ok()?;
    observer.named(&event.kind);
    if let Some(number) = event.sequence_number {
        observer.next_sequence = number + 1;
    }
    if event.kind.ends_with(".delta") {
        observer.hear(&event.delta.text);
    }
    match &*event.kind {
        // Read again as an error, of whatever shape.
        "error" | "response.failed" => None,
        "response.completed" | "response.incomplete" | "response.cancelled" => {
            Some(event.response.map_or_else(Seen::default, |r| finished(observer, &r)))
        }
        "response.output_item.added" => Some(event.item.map_or(Seen::WORK, |item| item.seen(false))),
        "response.output_item.done" => Some(event.item.map_or_else(Seen::default, |item| item.seen(true))),
        "response.created" | "response.queued" | "response.in_progress" => Some(Seen::default()),
        kind if kind.ends_with("arguments.delta") || kind.ends_with("input.delta") => Some(Seen::WORK),
        kind if kind.ends_with(".delta") && event.delta.any => Some(Seen::OUTPUT),
        kind if kind.ends_with(".added") => Some(Seen::WORK),
        _ => Some(Seen::default()),
    }
}

pub(super) fn document(observer: &mut Observer, json: &[u8]) -> Option<Seen> {
    let response: Response<'_> = serde_json::from_slice(json).ok()?;
    response.output.as_ref()?;
    if response.error.any || response.status.as_deref() == Some("failed") {
        return None;
    }
    Some(finished(observer, &response))
}
