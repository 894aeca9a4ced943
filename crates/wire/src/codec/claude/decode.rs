//! A Messages request, read.

use headgate_domain::Protocol;
use serde_json::Value;

use super::blocks;
use crate::{
    codec::openai,
    json::Fields,
    loss::{Losses, Rejection},
    neutral::*,
};

/// Claude Code's first system block changes on every request and would defeat any cache.
const BILLING: &str = "x-anthropic-billing-header:";

/// Reads a request body.
pub(crate) fn decode(body: Value, losses: &mut Losses) -> Result<Conversation, Rejection> {
    let mut top = Fields::new(body, "")?;
    let mut conversation = Conversation { model: top.required("model")?, ..Conversation::default() };
    let mut reader = Messages { conversation: &mut conversation, losses };
    let system = reader.texts(top.any("system"), "system")?;
    reader.conversation.system = system.into_iter().filter(|t| !t.text.starts_with(BILLING)).collect();
    let messages = top.list("messages")?.ok_or_else(|| Rejection::illegal("messages", "is missing"))?;
    let mut turn_effort = None;
    for message in messages {
        let mut message = Fields::new(message, "messages")?;
        if let Some(mut output) = message.object("output_config")? {
            turn_effort = output.text("effort")?.or(turn_effort);
        }
        reader.message(message)?;
    }
    for tool in top.list("tools")?.unwrap_or_default() {
        conversation.tools.push(tool_of(tool)?);
    }
    if let Some(mut choice) = top.object("tool_choice")? {
        conversation.tool_choice = Some(match choice.required("type")?.as_str() {
            "auto" => ToolChoice::Auto,
            "any" => ToolChoice::Required,
            "none" => ToolChoice::None,
            "tool" => ToolChoice::Tool { name: choice.required("name")?, namespace: None },
            _ => return Err(Rejection::illegal("tool_choice.type", "is not a choice of this protocol")),
        });
        conversation.parallel = choice.boolean("disable_parallel_tool_use")?.map(|off| !off);
    }
    controls(&mut conversation, &mut top, turn_effort, losses)?;
    conversation.extensions = Extensions { protocol: Some(Protocol::Claude), members: top.rest() };
    Ok(conversation)
}

struct Messages<'a> {
    conversation: &'a mut Conversation,
    losses: &'a mut Losses,
}

impl Messages<'_> {
    fn reader(&mut self) -> blocks::Reader<'_> {
        blocks::Reader { unsupported: &mut self.conversation.unsupported, losses: self.losses }
    }

    fn texts(&mut self, value: Option<Value>, place: &'static str) -> Result<Vec<Text>, Rejection> {
        let blocks = self.reader().read(value, place)?;
        let text = |block| match block {
            blocks::Block::Content(Content::Text(text)) => Some(text),
            _ => None,
        };
        Ok(blocks.into_iter().filter_map(text).collect())
    }

    fn message(&mut self, mut message: Fields) -> Result<(), Rejection> {
        let content = message.any("content");
        if content.is_none() {
            return Err(Rejection::illegal("messages.content", "is missing"));
        }
        let misplaced = || Rejection::illegal("messages.content", "has a block that this role cannot say");
        let turn = match message.required("role")?.as_str() {
            "system" => Turn::System(self.texts(content, "messages")?),
            "user" => {
                let mut parts = Vec::new();
                for block in self.reader().read(content, "messages")? {
                    parts.push(match block {
                        blocks::Block::Content(content) => UserPart::Content(content),
                        blocks::Block::Result(result) => UserPart::Result(result),
                        blocks::Block::Reasoning(_) | blocks::Block::Call(_) => return Err(misplaced()),
                    });
                }
                Turn::User(parts)
            }
            "assistant" => {
                let mut parts = Vec::new();
                for block in self.reader().read(content, "messages")? {
                    parts.push(match block {
                        blocks::Block::Content(Content::Text(text)) => AssistantPart::Text(text),
                        blocks::Block::Reasoning(reasoning) => AssistantPart::Reasoning(reasoning),
                        blocks::Block::Call(call) => AssistantPart::Call(call),
                        blocks::Block::Content(_) | blocks::Block::Result(_) => return Err(misplaced()),
                    });
                }
                Turn::Assistant(parts)
            }
            _ => return Err(Rejection::illegal("messages.role", "is not a role of this protocol")),
        };
        self.conversation.turns.push(turn);
        Ok(())
    }
}

fn tool_of(value: Value) -> Result<Tool, Rejection> {
    let mut tool = Fields::new(value, "tools")?;
    let kind = tool.text("type")?.unwrap_or_else(|| "custom".to_owned());
    let read = if kind == "custom" {
        ToolKind::Function { schema: tool.any("input_schema") }
    } else if kind.starts_with("web_search") {
        ToolKind::WebSearch(WebSearch {
            allowed: tool.texts("allowed_domains"),
            blocked: tool.texts("blocked_domains"),
            location: tool.any("user_location"),
        })
    } else {
        ToolKind::Hosted { kind: kind.clone() }
    };
    Ok(Tool {
        name: if kind == "custom" { tool.required("name")? } else { tool.text("name")?.unwrap_or(kind) },
        namespace: None,
        description: tool.text("description")?,
        kind: read,
        strict: None,
        cache: tool.any("cache_control"),
    })
}

fn controls(
    conversation: &mut Conversation,
    top: &mut Fields,
    turn_effort: Option<String>,
    losses: &mut Losses,
) -> Result<(), Rejection> {
    match top.count("max_tokens")? {
        None => return Err(Rejection::illegal("max_tokens", "is missing")),
        Some(0) => conversation
            .unsupported
            .push(Rejection::unsupported("max_tokens", "'max_tokens: 0' (warming a cache) cannot be translated")),
        some => conversation.max_output = some,
    }
    conversation.sampling =
        Sampling { temperature: top.number("temperature")?, top_p: top.number("top_p")?, top_k: top.number("top_k")? };
    conversation.stop = top.texts("stop_sequences");
    conversation.stream = top.boolean("stream")?.unwrap_or(false);
    let wish = &mut conversation.reasoning;
    wish.keeps_seals = true;
    if let Some(mut thinking) = top.object("thinking")? {
        let hidden = thinking.lenient("display").is_some_and(|d| d == "omitted");
        wish.thinking = match thinking.required("type")?.as_str() {
            "disabled" | "between_tools" => Thinking::Off,
            "enabled" => Thinking::Budget(thinking.count("budget_tokens")?.unwrap_or(1024)),
            "adaptive" => Thinking::Adaptive,
            _ => return Err(Rejection::illegal("thinking.type", "is not a kind of thinking")),
        };
        wish.readable = wish.thinking != Thinking::Off && !hidden;
    }
    let output = top.object("output_config")?;
    let (mut effort, mut format) = (None, top.object("output_format")?);
    if let Some(mut output) = output {
        effort = output.text("effort")?;
        format = output.object("format")?.or(format);
    }
    openai::effort(turn_effort.or(effort), wish, losses);
    if let Some(mut format) = format {
        if format.required("type")? != "json_schema" {
            return Err(Rejection::illegal("output_config.format.type", "is not a format of this protocol"));
        }
        let schema = format.any("schema").ok_or_else(|| Rejection::illegal("output_config.format", "has no schema"))?;
        conversation.output_format =
            Some(OutputFormat::JsonSchema { name: None, description: None, schema, strict: None });
    }
    if let Some(mut metadata) = top.loose_object("metadata") {
        conversation.identity.user_id = metadata.lenient("user_id");
    }
    conversation.service_tier = match top.text("service_tier")?.as_deref() {
        Some("standard_only") => Some("default".to_owned()),
        other => other.map(str::to_owned),
    };
    if top.lenient("speed").is_some_and(|s| s == "fast") {
        conversation.service_tier = Some("priority".to_owned());
    }
    Ok(())
}
