//! The protocols clients speak, and the kinds of upstream that speak them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A protocol on the wire, as a client speaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    Chat,
    /// OpenAI Responses, `POST /v1/responses`.
    Responses,
    /// Anthropic Messages, `POST /v1/messages`.
    Claude,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Claude];

    /// The protocol's canonical route.
    pub fn route(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Claude => "/v1/messages",
        }
    }

    /// The word used in records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Claude => "claude",
        }
    }
}

/// What an upstream speaks: the key `protocol` of the configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpstreamKind {
    /// Whatever the client speaks; never translated.
    #[default]
    Passthrough,
    /// OpenAI Chat Completions.
    Openai,
    /// OpenAI Responses.
    OpenaiResponse,
    /// Anthropic Messages.
    Claude,
    /// Responses with the restrictions of the Codex service.
    Codex,
}

impl UpstreamKind {
    /// The word used in files and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passthrough => "passthrough",
            Self::Openai => "openai",
            Self::OpenaiResponse => "openai-response",
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Whether a client of `protocol` is served byte for byte, without translation.
    ///
    /// Responses → `codex` needs edits and so counts as different.
    pub fn speaks(self, protocol: Protocol) -> bool {
        match self {
            Self::Passthrough => true,
            Self::Openai => protocol == Protocol::Chat,
            Self::OpenaiResponse => protocol == Protocol::Responses,
            Self::Claude => protocol == Protocol::Claude,
            Self::Codex => false,
        }
    }
}
