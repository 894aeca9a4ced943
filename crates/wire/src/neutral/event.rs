//! An answer as a sequence of events.
//!
//! Order: blocks, whose events carry the number of their block, and which may overlap; `Usage` whenever it is reported,
//! cumulative; at last exactly one of `Finish` and `End`, `Failed`, or `Cut`.

use headgate_domain::{UpstreamError, Usage};
use serde_json::Value;

use super::{CallKind, Carrier};

/// The number of a block: dense, counted by the decoder, unrelated to any index on the wire.
pub type Block = u32;

/// One step of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Something was opened that is no output yet: a block, an item.
    Work,
    /// More text.
    Text {
        /// Its block.
        block: Block,
        /// The addition.
        text: String,
    },
    /// Token probabilities of the text before (Chat `logprobs.content`, Responses `logprobs`).
    Logprobs {
        /// Its block.
        block: Block,
        /// One object per token, which both protocols write alike.
        tokens: Vec<Value>,
    },
    /// More of a refusal.
    Refusal {
        /// Its block.
        block: Block,
        /// The addition.
        text: String,
    },
    /// A page that a text block cites.
    Citation {
        /// The text block.
        block: Block,
        /// What is cited.
        citation: Citation,
    },
    /// More readable reasoning.
    Reasoning {
        /// Its block.
        block: Block,
        /// The addition.
        text: String,
    },
    /// The seal of a reasoning block.
    Seal {
        /// Its block.
        block: Block,
        /// The seal.
        carrier: Carrier,
    },
    /// A call begins; its name is known.
    CallStart {
        /// Its block.
        block: Block,
        /// What is called.
        call: CallHead,
    },
    /// More of a call's input.
    CallInput {
        /// Its block.
        block: Block,
        /// The addition.
        text: String,
    },
    /// The provider searched the web.
    Search {
        /// Its block.
        block: Block,
        /// What was searched for.
        search: Search,
    },
    /// A block is complete.
    BlockEnd {
        /// The block.
        block: Block,
    },
    /// Tokens, cumulative.
    Usage(Usage),
    /// Why the answer stopped.
    Finish(Finish),
    /// The answer is complete.
    End,
    /// The upstream reported an error.
    Failed(UpstreamError),
    /// The stream ended without its completion.
    Cut,
}

/// What is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallHead {
    /// Chat `id`, Responses `call_id`, Claude `id`.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// Its Responses namespace.
    pub namespace: Option<String>,
    /// How the input is to be read.
    pub kind: CallKind,
}

/// A page cited by a text: OpenAI `url_citation`, Claude `web_search_result_location`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Citation {
    /// Address.
    pub url: String,
    /// Title.
    pub title: String,
    /// The citing characters of the block (start, end); `None`: all of it.
    pub span: Option<(u64, u64)>,
}

/// A web search that the provider ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// What was searched for.
    pub query: String,
    /// The pages found, as far as they were told: address and title.
    pub pages: Vec<(String, String)>,
}

/// Why an answer stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// By itself.
    Natural,
    /// At a stop sequence.
    Stop(Option<String>),
    /// To call tools.
    Tools,
    /// At the token limit.
    Length,
    /// The context is full.
    Context,
    /// Filtered or refused, with a sentence for a person if there is one.
    Filter(Option<String>),
    /// Claude `pause_turn`.
    Paused,
}

impl Finish {
    /// An answer without output is *empty* only if it ended like this.
    pub fn may_be_empty(&self) -> bool {
        matches!(self, Self::Natural | Self::Tools)
    }
}
