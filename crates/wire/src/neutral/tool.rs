//! The tools of a request, and which of them is to be used.

use serde_json::Value;

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name; for hosted tools without one their type.
    pub name: String,
    /// The Responses `namespace` it stood in.
    pub namespace: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// What it is.
    pub kind: ToolKind,
    /// OpenAI `strict`.
    pub strict: Option<bool>,
    /// `cache_control`.
    pub cache: Option<Value>,
}

/// The kinds of tools.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolKind {
    /// Chat and Responses `function`, any Claude tool with `input_schema`.
    Function {
        /// `parameters`, `input_schema`.
        schema: Option<Value>,
    },
    /// OpenAI `custom`: raw text in.
    Custom {
        /// The grammar, if there is one.
        grammar: Option<Grammar>,
    },
    /// Responses `local_shell`.
    LocalShell,
    /// Responses `tool_search` with client execution.
    ToolSearch {
        /// `parameters`.
        schema: Option<Value>,
    },
    /// Responses `web_search`, Claude `web_search_…`.
    WebSearch(WebSearch),
    /// Any other tool that the provider runs.
    Hosted {
        /// Its `type`.
        kind: String,
    },
}

/// A grammar that raw text has to follow: `{type: grammar, syntax, definition}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar {
    /// `syntax`: `lark` or `regex`.
    pub syntax: String,
    /// `definition`.
    pub definition: String,
}

/// What a hosted web search may look at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WebSearch {
    /// Responses `filters.allowed_domains`, Claude `allowed_domains`.
    pub allowed: Vec<String>,
    /// Responses `filters.blocked_domains`, Claude `blocked_domains`.
    pub blocked: Vec<String>,
    /// `user_location`, which both write alike.
    pub location: Option<Value>,
}

/// Which tool to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// At least one: OpenAI `required`, Claude `any`.
    Required,
    /// None.
    None,
    /// This one.
    Tool {
        /// Its name.
        name: String,
        /// Its Responses namespace.
        namespace: Option<String>,
    },
    /// Only some: OpenAI `allowed_tools`.
    Allowed {
        /// Whether one of them must be used.
        required: bool,
        /// Their names.
        names: Vec<String>,
    },
}
