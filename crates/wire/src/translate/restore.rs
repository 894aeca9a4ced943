//! Events as the client knows them: its own names and kinds of tools, and a reason to stop that fits what was said.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::unwrap::Unwrap;
use crate::{
    ids::Seed,
    neutral::{Block, CallKind, Event, Finish},
    prepare::Names,
};

/// What is done to the input of a call.
#[derive(Debug)]
enum Input {
    /// It passes; whether anything came.
    Plain(bool),
    /// Raw text is taken out of its wrapper.
    Unwrap(Unwrap),
    /// Raw text for a client that only knows objects.
    Wrap(String),
}

/// The stage between a reader and a writer.
#[derive(Debug)]
pub(super) struct Restore {
    names: Arc<Names>,
    seed: Seed,
    open: HashMap<Block, Input>,
    /// The ids of the calls so far.
    ids: HashSet<String>,
}

impl Restore {
    pub(super) fn new(names: Arc<Names>, seed: Seed) -> Self {
        Self { names, seed, open: HashMap::new(), ids: HashSet::new() }
    }

    /// Translates an event into at most a few.
    pub(super) fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::CallStart { block, call } => {
                let was = call.kind;
                let mut call = self.names.restore(call);
                self.identify(&mut call.call_id);
                let input = match (was, call.kind) {
                    (CallKind::Function, CallKind::Custom) => Input::Unwrap(Unwrap::default()),
                    (CallKind::Custom, CallKind::Custom) if !self.names.declares_custom(&call) => {
                        call.kind = CallKind::Function;
                        Input::Wrap(String::new())
                    }
                    (CallKind::Custom, CallKind::Custom) => Input::Plain(true),
                    (CallKind::Custom, _) => Input::Wrap(String::new()),
                    _ => Input::Plain(false),
                };
                self.open.insert(block, input);
                out.push(Event::CallStart { block, call });
            }
            Event::CallInput { block, text } => match self.open.get_mut(&block) {
                Some(Input::Unwrap(unwrap)) => input(block, unwrap.push(&text), out),
                Some(Input::Wrap(kept)) => kept.push_str(&text),
                Some(Input::Plain(some)) => {
                    *some |= !text.trim().is_empty();
                    out.push(Event::CallInput { block, text });
                }
                None => {}
            },
            Event::BlockEnd { block } => {
                match self.open.remove(&block) {
                    Some(Input::Unwrap(unwrap)) => input(block, unwrap.finish(), out),
                    Some(Input::Wrap(kept)) => input(block, serde_json::json!({"input":kept}).to_string(), out),
                    // No arguments are an empty object.
                    Some(Input::Plain(false)) => input(block, "{}".to_owned(), out),
                    Some(Input::Plain(true)) | None => {}
                }
                out.push(Event::BlockEnd { block });
            }
            // Vendors say `stop` beside calls, and `tool_calls` without any.
            Event::Finish(Finish::Natural) if !self.ids.is_empty() => out.push(Event::Finish(Finish::Tools)),
            Event::Finish(Finish::Tools) if self.ids.is_empty() => out.push(Event::Finish(Finish::Natural)),
            other => out.push(other),
        }
    }

    /// Every call has an id of its own; a missing one, or one used before, is replaced.
    fn identify(&mut self, id: &mut String) {
        let mut number = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        while id.is_empty() || self.ids.contains(id) {
            *id = self.seed.part("call_", number);
            number = number.saturating_add(1);
        }
        self.ids.insert(id.clone());
    }
}

fn input(block: Block, text: String, out: &mut Vec<Event>) {
    if !text.is_empty() {
        out.push(Event::CallInput { block, text });
    }
}
