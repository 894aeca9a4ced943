//! A Chat Completions request, read.

use headgate_domain::Protocol;
use serde_json::Value;

use crate::{
    codec::openai::{self, Part, Parts},
    exact,
    json::Fields,
    loss::{Losses, Rejection},
    neutral::*,
};

/// Reads a request body.
pub(crate) fn decode(body: Value, losses: &mut Losses) -> Result<Conversation, Rejection> {
    let mut top = Fields::new(body, "")?;
    let mut conversation = Conversation { model: top.required("model")?, ..Conversation::default() };
    let messages = top.list("messages")?.ok_or_else(|| Rejection::illegal("messages", "is missing"))?;
    let mut reader = Messages { conversation: &mut conversation, losses };
    for message in messages {
        reader.message(Fields::new(message, "messages")?)?;
    }
    tools(&mut conversation, &mut top)?;
    controls(&mut conversation, &mut top, losses)?;
    conversation.extensions = Extensions { protocol: Some(Protocol::Chat), members: top.rest() };
    Ok(conversation)
}

struct Messages<'a> {
    conversation: &'a mut Conversation,
    losses: &'a mut Losses,
}

impl Messages<'_> {
    fn parts(&mut self) -> Parts<'_> {
        Parts { unsupported: &mut self.conversation.unsupported, losses: self.losses }
    }

    fn message(&mut self, mut message: Fields) -> Result<(), Rejection> {
        let role = message.required("role")?;
        let content = message.any("content");
        let cache = message.any("cache_control");
        match role.as_str() {
            "system" | "developer" => {
                let mut texts = self.parts().texts(content, "messages")?;
                if let (Some(last), Some(_)) = (texts.last_mut(), &cache) {
                    last.cache = cache;
                }
                if self.conversation.turns.is_empty() {
                    self.conversation.system.extend(texts);
                } else {
                    self.conversation.turns.push(Turn::System(texts));
                }
            }
            "user" => {
                let mut content = self.parts().content(content, "messages")?;
                if let Some(cache) = cache {
                    mark(content.last_mut(), cache);
                }
                self.conversation.turns.push(Turn::User(content.into_iter().map(UserPart::Content).collect()));
            }
            "tool" => {
                let call_id = message.required("tool_call_id")?;
                let content = self.parts().content(content, "messages")?;
                let result = ToolResult { call_id, content, is_error: false, cache };
                self.conversation.turns.push(Turn::User(vec![UserPart::Result(result)]));
            }
            "assistant" => self.assistant(message, content, cache)?,
            "function" => self.conversation.unsupported.push(legacy()),
            _ => return Err(Rejection::illegal("messages.role", "is not a role of this protocol")),
        }
        Ok(())
    }

    fn assistant(
        &mut self,
        mut message: Fields,
        content: Option<Value>,
        cache: Option<Value>,
    ) -> Result<(), Rejection> {
        let mut parts = Vec::new();
        let reasoning = message.lenient("reasoning_content").or_else(|| message.lenient("reasoning"));
        if let Some(text) = reasoning.filter(|t| !t.is_empty()) {
            parts.push(AssistantPart::Reasoning(Reasoning { text, carrier: None }));
        }
        for part in self.parts().read(content, "messages")? {
            parts.push(match part {
                Part::Content(Content::Text(text)) => AssistantPart::Text(text),
                Part::Refusal(text) => AssistantPart::Refusal(text),
                Part::Content(_) | Part::Unknown(_) => {
                    return Err(Rejection::illegal("messages.content", "has a part that an assistant cannot say"));
                }
            });
        }
        if let (Some(AssistantPart::Text(text)), Some(_)) = (parts.last_mut(), &cache) {
            text.cache = cache;
        }
        if let Some(refusal) = message.text("refusal")?.filter(|r| !r.is_empty()) {
            parts.push(AssistantPart::Refusal(refusal));
        }
        if message.any("function_call").is_some() {
            self.conversation.unsupported.push(legacy());
        }
        if message.any("audio").is_some() {
            self.conversation.unsupported.push(Rejection::unsupported("messages", "audio cannot be translated"));
        }
        for call in message.list("tool_calls")?.unwrap_or_default() {
            parts.push(AssistantPart::Call(call_of(Fields::new(call, "tool_calls")?)?));
        }
        self.conversation.turns.push(Turn::Assistant(parts));
        Ok(())
    }
}

/// Puts a message's cache mark on its last part, unless that has its own.
fn mark(last: Option<&mut Content>, cache: Value) {
    match last {
        Some(Content::Text(Text { cache: slot, .. }) | Content::Image(Image { cache: slot, .. })) => {
            slot.get_or_insert(cache);
        }
        Some(Content::Document(document)) => {
            document.cache.get_or_insert(cache);
        }
        None => {}
    }
}

fn legacy() -> Rejection {
    Rejection::unsupported("functions", "the legacy 'functions' and 'function_call' cannot be translated; use 'tools'")
}

fn call_of(mut call: Fields) -> Result<ToolCall, Rejection> {
    let call_id = call.required("id")?;
    let (kind, name, input) = if let Some(mut custom) = call.object("custom")? {
        (CallKind::Custom, custom.required("name")?, custom.text("input")?)
    } else {
        let function = call.object("function")?;
        let mut function = function.ok_or_else(|| Rejection::illegal("tool_calls.function", "is missing"))?;
        let name = function.required("name")?;
        // Some clients send the arguments as an object.
        let input = match function.any("arguments") {
            Some(Value::String(text)) => Some(text),
            Some(other) => Some(exact::text(&other)),
            None => None,
        };
        (CallKind::Function, name, input)
    };
    Ok(ToolCall { call_id, name, namespace: None, kind, input: input.unwrap_or_default() })
}

fn tools(conversation: &mut Conversation, top: &mut Fields) -> Result<(), Rejection> {
    for tool in top.list("tools")?.unwrap_or_default() {
        let mut tool = Fields::new(tool, "tools")?;
        let kind = tool.kind().unwrap_or_else(|| "function".to_owned());
        let cache = tool.any("cache_control");
        let read = match kind.as_str() {
            "function" => {
                let function = tool.object("function")?;
                let mut function = function.ok_or_else(|| Rejection::illegal("tools.function", "is missing"))?;
                Tool {
                    name: function.required("name")?,
                    namespace: None,
                    description: function.text("description")?,
                    kind: ToolKind::Function { schema: function.any("parameters") },
                    strict: function.boolean("strict")?,
                    cache,
                }
            }
            "custom" => {
                let custom = tool.object("custom")?;
                let mut custom = custom.ok_or_else(|| Rejection::illegal("tools.custom", "is missing"))?;
                let mut grammar = custom.loose_object("format").and_then(|mut f| f.loose_object("grammar"));
                Tool {
                    name: custom.required("name")?,
                    namespace: None,
                    description: custom.text("description")?,
                    kind: ToolKind::Custom { grammar: grammar.as_mut().and_then(Grammar::read) },
                    strict: None,
                    cache,
                }
            }
            _ => {
                let hosted = ToolKind::Hosted { kind: kind.clone() };
                Tool { name: kind, namespace: None, description: None, kind: hosted, strict: None, cache }
            }
        };
        conversation.tools.push(read);
    }
    if top.any("web_search_options").is_some() {
        conversation.tools.push(Tool {
            name: "web_search".to_owned(),
            namespace: None,
            description: None,
            kind: ToolKind::WebSearch(WebSearch::default()),
            strict: None,
            cache: None,
        });
    }
    conversation.tool_choice = top.any("tool_choice").map(choice).transpose()?;
    conversation.parallel = top.boolean("parallel_tool_calls")?;
    Ok(())
}

fn choice(value: Value) -> Result<ToolChoice, Rejection> {
    let wrong = || Rejection::illegal("tool_choice", "is not a choice of this protocol");
    let mut fields = match value {
        Value::String(word) => return openai::choice(&word).ok_or_else(wrong),
        other => Fields::new(other, "tool_choice")?,
    };
    let kind = fields.required("type")?;
    let mut inner = fields.object(&kind)?.ok_or_else(wrong)?;
    if kind == "allowed_tools" {
        let mut names = Vec::new();
        for tool in inner.list("tools")?.unwrap_or_default() {
            let mut tool = Fields::new(tool, "tool_choice.tools")?;
            let kind = tool.required("type")?;
            if let Some(mut named) = tool.loose_object(&kind) {
                names.push(named.required("name")?);
            }
        }
        return Ok(ToolChoice::Allowed { required: inner.text("mode")?.as_deref() == Some("required"), names });
    }
    Ok(ToolChoice::Tool { name: inner.required("name")?, namespace: None })
}

fn controls(conversation: &mut Conversation, top: &mut Fields, losses: &mut Losses) -> Result<(), Rejection> {
    let limit = top.limit("max_tokens")?;
    conversation.max_output = top.limit("max_completion_tokens")?.or(limit);
    conversation.sampling =
        Sampling { temperature: top.number("temperature")?, top_p: top.number("top_p")?, top_k: top.number("top_k")? };
    conversation.stop = match top.any("stop") {
        None => Vec::new(),
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(list)) if list.iter().all(Value::is_string) => {
            list.into_iter().filter_map(|v| if let Value::String(text) = v { Some(text) } else { None }).collect()
        }
        Some(_) => return Err(Rejection::illegal("stop", "is neither a text nor a list of texts")),
    };
    conversation.stream = top.boolean("stream")?.unwrap_or(false);
    if let Some(mut options) = top.object("stream_options")? {
        conversation.wants_usage_chunk = options.boolean("include_usage")?.unwrap_or(false);
    }
    conversation.reasoning.readable = true;
    openai::effort(top.text("reasoning_effort")?, &mut conversation.reasoning, losses);
    if top.boolean("logprobs")? == Some(true) {
        conversation.logprobs = Some(top.count("top_logprobs")?.unwrap_or(0));
    }
    if let Some(mut format) = top.object("response_format")? {
        conversation.output_format = match format.required("type")?.as_str() {
            "json_object" => Some(OutputFormat::JsonObject),
            "json_schema" => {
                let schema = format.object("json_schema")?;
                let mut schema =
                    schema.ok_or_else(|| Rejection::illegal("response_format.json_schema", "is missing"))?;
                Some(openai::json_schema(&mut schema)?)
            }
            "text" => None,
            _ => return Err(Rejection::illegal("response_format.type", "is not a format of this protocol")),
        };
    }
    conversation.identity.user = top.text("user")?;
    conversation.identity.cache_key = top.text("prompt_cache_key")?;
    conversation.service_tier = top.text("service_tier")?;
    conversation.verbosity = top.text("verbosity")?;
    Ok(())
}
