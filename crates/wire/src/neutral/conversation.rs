//! A request, without its protocol.

use headgate_domain::Protocol;
use serde_json::{Map, Number, Value};

use super::{
    carrier::Carrier,
    tool::{Tool, ToolChoice},
};
use crate::loss::Rejection;

/// A whole request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// `model`, as the client wrote it.
    pub model: String,
    /// Leading instructions. Chat: the leading run of `system` and `developer` messages; Responses: `instructions`,
    /// then the leading run of such items; Claude: `system`.
    pub system: Vec<Text>,
    /// What was said, in order.
    pub turns: Vec<Turn>,
    /// `tools`, and for Responses also the tools declared inside `input` and inside namespaces.
    pub tools: Vec<Tool>,
    /// `tool_choice`.
    pub tool_choice: Option<ToolChoice>,
    /// `parallel_tool_calls`; Claude: the opposite of `tool_choice.disable_parallel_tool_use`.
    pub parallel: Option<bool>,
    /// Temperature and its like.
    pub sampling: Sampling,
    /// How much, and whether, to think.
    pub reasoning: ReasoningWish,
    /// Chat `response_format`, Responses `text.format`, Claude `output_config.format`.
    pub output_format: Option<OutputFormat>,
    /// Chat `max_completion_tokens` (else `max_tokens`), Responses `max_output_tokens`, Claude `max_tokens`.
    pub max_output: Option<u64>,
    /// Chat `stop`, Claude `stop_sequences`.
    pub stop: Vec<String>,
    /// `stream`.
    pub stream: bool,
    /// Chat `stream_options.include_usage`.
    pub wants_usage_chunk: bool,
    /// How many alternatives per token are asked for: Chat `logprobs` and `top_logprobs`, Responses `top_logprobs`.
    pub logprobs: Option<u64>,
    /// Who asks.
    pub identity: Identity,
    /// `service_tier` in OpenAI's words; Claude `standard_only` is `default`, `speed: fast` is `priority`.
    pub service_tier: Option<String>,
    /// Chat `verbosity`, Responses `text.verbosity`.
    pub verbosity: Option<String>,
    /// Top-level members that have no place above.
    pub extensions: Extensions,
    /// What was found while reading that no other protocol can express (audio, references to stored items, …).
    pub unsupported: Vec<Rejection>,
}

/// Members of a protocol that the model has no place for. A request for an upstream of the same protocol keeps its
/// bytes and so keeps them; another protocol drops them, with a warning where that matters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extensions {
    /// The protocol they were read from.
    pub protocol: Option<Protocol>,
    /// Top-level members by name.
    pub members: Map<String, Value>,
}

/// A piece of text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// `cache_control`, as the client put it.
    pub cache: Option<Value>,
}

impl Text {
    /// Text without a cache mark.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), cache: None }
    }

    /// Nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// One speaker's contribution.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Role `user`, and results of tools.
    User(Vec<UserPart>),
    /// Role `assistant`.
    Assistant(Vec<AssistantPart>),
    /// Instructions after the conversation began: roles `system` and `developer`.
    System(Vec<Text>),
}

/// What a user turn is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum UserPart {
    /// Something to read or look at.
    Content(Content),
    /// Chat `role: tool`; Responses `…_call_output`; Claude `tool_result`.
    Result(ToolResult),
}

/// Something to read or look at, in a user turn or in the result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(Text),
    /// Chat `image_url`, Responses `input_image`, Claude `image`.
    Image(Image),
    /// Chat `file`, Responses `input_file`, Claude `document`.
    Document(Document),
}

/// An image.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Where it is.
    pub source: Source,
    /// OpenAI `detail`.
    pub detail: Option<String>,
    /// `cache_control`.
    pub cache: Option<Value>,
}

/// A document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Where it is.
    pub source: Source,
    /// OpenAI `filename`, Claude `title`.
    pub title: Option<String>,
    /// `cache_control`.
    pub cache: Option<Value>,
}

/// Where the bytes of a medium are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// In the request: OpenAI a data URL, Claude `{type: base64, media_type, data}`.
    Base64 {
        /// Media type.
        mime: String,
        /// Base64.
        data: String,
    },
    /// In the request, as text: Claude `{type: text, data}`.
    Plain(String),
    /// At an address the upstream fetches.
    Url(String),
    /// Stored at a provider.
    File {
        /// The protocol of that provider.
        origin: Origin,
        /// `file_id`.
        id: String,
    },
}

/// The family of providers something can live at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Anthropic.
    Claude,
    /// OpenAI.
    OpenAi,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// Chat `tool_call_id`, Responses `call_id`, Claude `tool_use_id`.
    pub call_id: String,
    /// The content.
    pub content: Vec<Content>,
    /// Claude `is_error`.
    pub is_error: bool,
    /// `cache_control`.
    pub cache: Option<Value>,
}

/// What an assistant turn is made of, in the original order.
#[derive(Debug, Clone, PartialEq)]
pub enum AssistantPart {
    /// Text.
    Text(Text),
    /// OpenAI `refusal`.
    Refusal(String),
    /// Chat `reasoning_content`, Responses `reasoning` item, Claude `thinking` and `redacted_thinking`.
    Reasoning(Reasoning),
    /// A call of one of the client's tools.
    Call(ToolCall),
}

/// Reasoning that was shown or sealed earlier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reasoning {
    /// The readable text.
    pub text: String,
    /// The seal that lets its maker accept it again.
    pub carrier: Option<Carrier>,
}

/// How a tool's input looks to the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// A JSON object.
    #[default]
    Function,
    /// Raw text (OpenAI `custom` tools).
    Custom,
    /// The built-in shell of Responses.
    LocalShell,
    /// Client-side search for tools of Responses.
    ToolSearch,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Chat `id`, Responses `call_id`, Claude `id`.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// Responses `namespace`.
    pub namespace: Option<String>,
    /// How the input is to be read.
    pub kind: CallKind,
    /// Arguments or raw input, as received.
    pub input: String,
}

/// Temperature and its like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    /// `temperature`.
    pub temperature: Option<Number>,
    /// `top_p`.
    pub top_p: Option<Number>,
    /// Claude `top_k`.
    pub top_k: Option<Number>,
}

/// How hard to think, from nothing to everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words are the protocols' own")]
pub enum Effort {
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// What the client says about thinking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// Nothing.
    #[default]
    Unsaid,
    /// Off: effort `none`, Claude `disabled` and `between_tools`.
    Off,
    /// Claude `enabled`, with `budget_tokens`.
    Budget(u64),
    /// Claude `adaptive`.
    Adaptive,
}

/// How the client wants the model to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReasoningWish {
    /// Chat `reasoning_effort`, Responses `reasoning.effort`, Claude `output_config.effort`.
    pub effort: Option<Effort>,
    /// Claude `thinking`, or the effort `none`.
    pub thinking: Thinking,
    /// Readable thinking is wanted: every Chat client, Responses `reasoning.summary`, Claude thinking whose `display`
    /// is not `omitted`.
    pub readable: bool,
    /// The client keeps sealed reasoning and sends it back (Claude, Responses).
    pub keeps_seals: bool,
}

/// The shape the answer must have.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputFormat {
    /// Any JSON object.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema {
        /// `name`; Claude has none.
        name: Option<String>,
        /// `description`.
        description: Option<String>,
        /// `schema`.
        schema: Value,
        /// `strict`.
        strict: Option<bool>,
    },
}

/// Who asks, for abuse tracking and caching.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Chat and Responses `user`.
    pub user: Option<String>,
    /// Claude `metadata.user_id`.
    pub user_id: Option<String>,
    /// `prompt_cache_key`.
    pub cache_key: Option<String>,
}
