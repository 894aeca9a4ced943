//! An answer put together from its events.

use std::collections::HashMap;

use headgate_domain::Usage;
use serde_json::Value;

use super::{Block, CallHead, Carrier, Citation, Event, Finish, Search};

/// One block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What it cites.
        citations: Vec<Citation>,
        /// Token probabilities, if they were asked for.
        logprobs: Vec<Value>,
    },
    /// A refusal in words.
    Refusal(String),
    /// Reasoning.
    Reasoning {
        /// The readable text.
        text: String,
        /// Its seal.
        carrier: Option<Carrier>,
    },
    /// A call.
    Call {
        /// What is called.
        head: CallHead,
        /// Its input.
        input: String,
    },
    /// A hosted web search.
    Search(Search),
}

impl Piece {
    /// The block that an event begins, without what the event adds to it; `None` for events that begin none.
    pub fn begun_by(event: &Event) -> Option<(Block, Self)> {
        Some(match event {
            Event::Text { block, .. } | Event::Citation { block, .. } | Event::Logprobs { block, .. } => {
                (*block, Self::Text { text: String::new(), citations: Vec::new(), logprobs: Vec::new() })
            }
            Event::Refusal { block, .. } => (*block, Self::Refusal(String::new())),
            Event::Reasoning { block, .. } | Event::Seal { block, .. } => {
                (*block, Self::Reasoning { text: String::new(), carrier: None })
            }
            Event::CallStart { block, call } => (*block, Self::Call { head: call.clone(), input: String::new() }),
            Event::Search { block, search } => (*block, Self::Search(search.clone())),
            _ => return None,
        })
    }

    /// Adds what an event brings.
    pub fn absorb(&mut self, event: Event) {
        match (self, event) {
            (Self::Text { text, .. } | Self::Refusal(text), Event::Text { text: more, .. })
            | (Self::Refusal(text), Event::Refusal { text: more, .. })
            | (Self::Reasoning { text, .. }, Event::Reasoning { text: more, .. })
            | (Self::Call { input: text, .. }, Event::CallInput { text: more, .. }) => text.push_str(&more),
            (Self::Text { citations, .. }, Event::Citation { citation, .. }) => citations.push(citation),
            (Self::Text { logprobs, .. }, Event::Logprobs { tokens, .. }) => logprobs.extend(tokens),
            (Self::Reasoning { carrier, .. }, Event::Seal { carrier: seal, .. }) => *carrier = Some(seal),
            _ => {}
        }
    }
}

impl Event {
    /// The text it adds.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. }
            | Self::Refusal { text, .. }
            | Self::Reasoning { text, .. }
            | Self::CallInput { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The block an event belongs to.
    pub fn block(&self) -> Option<Block> {
        match self {
            Self::Text { block, .. }
            | Self::Logprobs { block, .. }
            | Self::Refusal { block, .. }
            | Self::Citation { block, .. }
            | Self::Reasoning { block, .. }
            | Self::Seal { block, .. }
            | Self::CallStart { block, .. }
            | Self::CallInput { block, .. }
            | Self::Search { block, .. }
            | Self::BlockEnd { block } => Some(*block),
            Self::Work | Self::Usage(_) | Self::Finish(_) | Self::End | Self::Failed(_) | Self::Cut => None,
        }
    }
}

/// A whole answer.
#[derive(Debug, Default)]
pub struct Answer {
    /// Its blocks, in the order in which they began.
    pub pieces: Vec<Piece>,
    places: HashMap<Block, usize>,
    /// Tokens.
    pub usage: Usage,
    /// Why it stopped.
    pub finish: Option<Finish>,
}

impl Answer {
    /// Takes the next event.
    pub fn take(&mut self, event: Event) {
        match event {
            Event::Usage(usage) => self.usage.merge_max(&usage),
            Event::Finish(finish) => self.finish = Some(finish),
            event => {
                let Some(block) = event.block() else { return };
                if !self.places.contains_key(&block)
                    && let Some((_, piece)) = Piece::begun_by(&event)
                {
                    self.places.insert(block, self.pieces.len());
                    self.pieces.push(piece);
                }
                if let Some(piece) = self.places.get(&block).and_then(|at| self.pieces.get_mut(*at)) {
                    piece.absorb(event);
                }
            }
        }
    }
}
