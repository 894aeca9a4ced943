//! A Responses request, read. Codex speaks this, in two forms: with top-level `tools`, or ("Lite") with tools inside
//! an `additional_tools` item and its instructions as items.

use headgate_domain::Protocol;
use serde_json::{Map, Value};

use super::tools;
use crate::{
    codec::openai::{self, Part, Parts},
    exact,
    json::Fields,
    loss::{Losses, Rejection},
    neutral::*,
};

/// Ids of hosted searches that the gateway made itself begin so: dropping them from history loses nothing.
pub(crate) const OWN_SEARCH: &str = "ws_hg_";

/// Reads a request body.
pub(crate) fn decode(body: Value, losses: &mut Losses) -> Result<Conversation, Rejection> {
    let mut top = Fields::new(body, "")?;
    let mut conversation = Conversation { model: top.required("model")?, ..Conversation::default() };
    if let Some(text) = top.text("instructions")? {
        conversation.system.push(Text::new(text));
    }
    for tool in top.list("tools")?.unwrap_or_default() {
        tools::declare(tool, None, &mut conversation.tools)?;
    }
    match top.any("input") {
        Some(Value::String(text)) => {
            conversation.turns.push(Turn::User(vec![UserPart::Content(Content::Text(Text::new(text)))]));
        }
        Some(Value::Array(items)) => {
            let mut reader = Items { conversation: &mut conversation, losses };
            for item in items {
                reader.item(Fields::new(item, "input")?)?;
            }
        }
        Some(_) => return Err(Rejection::illegal("input", "is neither a text nor a list of items")),
        None if ["previous_response_id", "conversation", "prompt"].iter().any(|m| top.has(m)) => {}
        None => return Err(Rejection::illegal("input", "is missing")),
    }
    conversation.tool_choice = top.any("tool_choice").map(tools::choice).transpose()?;
    conversation.parallel = top.boolean("parallel_tool_calls")?;
    controls(&mut conversation, &mut top, losses)?;
    conversation.extensions = Extensions { protocol: Some(Protocol::Responses), members: top.rest() };
    Ok(conversation)
}

struct Items<'a> {
    conversation: &'a mut Conversation,
    losses: &'a mut Losses,
}

impl Items<'_> {
    fn parts(&mut self) -> Parts<'_> {
        Parts { unsupported: &mut self.conversation.unsupported, losses: self.losses }
    }

    fn item(&mut self, mut item: Fields) -> Result<(), Rejection> {
        let kind = item.kind();
        let kind = kind.as_deref().or_else(|| item.has("role").then_some("message")).unwrap_or_default();
        match kind {
            "message" => return self.message(item),
            "reasoning" => self.reasoning(item)?,
            "function_call" => self.call(&mut item, CallKind::Function, "arguments")?,
            "custom_tool_call" => self.call(&mut item, CallKind::Custom, "input")?,
            "local_shell_call" => self.native(item, CallKind::LocalShell, "local_shell", "action")?,
            "tool_search_call" => self.native(item, CallKind::ToolSearch, "tool_search", "arguments")?,
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => self.output(item)?,
            "tool_search_output" => self.found_tools(item)?,
            "additional_tools" => {
                for tool in item.list("tools")?.unwrap_or_default() {
                    tools::declare(tool, None, &mut self.conversation.tools)?;
                }
            }
            "item_reference" => self.conversation.unsupported.push(Rejection::unsupported(
                "input",
                "an 'item_reference' points to an answer that another provider stored",
            )),
            "web_search_call" if item.lenient("id").is_some_and(|id| id.starts_with(OWN_SEARCH)) => {}
            "" => return Err(Rejection::illegal("input", "has an item without a type")),
            other => self.losses.note_named("dropped", other),
        }
        Ok(())
    }

    fn message(&mut self, mut item: Fields) -> Result<(), Rejection> {
        let content = item.any("content");
        let turn = match item.required("role")?.as_str() {
            "system" | "developer" => {
                let texts = self.parts().texts(content, "input")?;
                if self.conversation.turns.is_empty() {
                    self.conversation.system.extend(texts);
                    return Ok(());
                }
                Turn::System(texts)
            }
            "user" => Turn::User(self.parts().content(content, "input")?.into_iter().map(UserPart::Content).collect()),
            "assistant" => {
                let mut parts = Vec::new();
                for part in self.parts().read(content, "input")? {
                    parts.push(match part {
                        Part::Content(Content::Text(text)) => AssistantPart::Text(text),
                        Part::Refusal(text) => AssistantPart::Refusal(text),
                        Part::Content(_) | Part::Unknown(_) => {
                            return Err(Rejection::illegal("input", "has a part that an assistant cannot say"));
                        }
                    });
                }
                Turn::Assistant(parts)
            }
            _ => return Err(Rejection::illegal("input.role", "is not a role of this protocol")),
        };
        self.conversation.turns.push(turn);
        Ok(())
    }

    fn say(&mut self, part: AssistantPart) {
        self.conversation.turns.push(Turn::Assistant(vec![part]));
    }

    fn reasoning(&mut self, mut item: Fields) -> Result<(), Rejection> {
        let id = item.lenient("id");
        let mut texts = |item: &mut Fields, member| -> Result<String, Rejection> {
            let content = item.any(member);
            let texts = self.parts().texts(content, "input")?;
            Ok(texts.into_iter().map(|t| t.text).collect::<Vec<_>>().join("\n\n"))
        };
        let summary = texts(&mut item, "summary")?;
        let text = if summary.is_empty() { texts(&mut item, "content")? } else { summary };
        let sealed = item.lenient("encrypted_content").filter(|s| !s.is_empty());
        let carrier = match sealed {
            Some(sealed) if sealed.starts_with(carrier::PREFIX) => Carrier::unwrap(&sealed),
            Some(encrypted) => Some(Carrier::OpenAi { id, encrypted }),
            None => None,
        };
        self.say(AssistantPart::Reasoning(Reasoning { text, carrier }));
        Ok(())
    }

    fn call(&mut self, item: &mut Fields, kind: CallKind, member: &str) -> Result<(), Rejection> {
        let input = match item.any(member) {
            Some(Value::String(text)) => text,
            Some(other) => exact::text(&other),
            None => String::new(),
        };
        let call = ToolCall {
            call_id: item.required("call_id")?,
            name: item.required("name")?,
            namespace: item.text("namespace")?.filter(|n| !n.is_empty()),
            kind,
            input,
        };
        self.say(AssistantPart::Call(call));
        Ok(())
    }

    /// A call of a tool that Responses has an item of its own for: its object becomes the arguments.
    fn native(&mut self, mut item: Fields, kind: CallKind, name: &str, member: &str) -> Result<(), Rejection> {
        let mut arguments = match item.any(member) {
            Some(Value::Object(object)) => object,
            Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or_default(),
            _ => Map::new(),
        };
        if kind == CallKind::LocalShell {
            arguments.shift_remove("type");
            if arguments.get("env").and_then(Value::as_object).is_some_and(Map::is_empty) {
                arguments.shift_remove("env");
            }
            arguments.retain(|_, value| !value.is_null());
        }
        let call_id = item.text("call_id")?.or(item.text("id")?);
        let call_id = call_id.ok_or_else(|| Rejection::illegal("input.call_id", "is missing"))?;
        let input = exact::text(&Value::Object(arguments));
        self.say(AssistantPart::Call(ToolCall { call_id, name: name.to_owned(), namespace: None, kind, input }));
        Ok(())
    }

    fn output(&mut self, mut item: Fields) -> Result<(), Rejection> {
        let call_id = item.text("call_id")?.or(item.text("id")?);
        let call_id = call_id.ok_or_else(|| Rejection::illegal("input.call_id", "is missing"))?;
        let output = match item.any("output") {
            Some(object @ (Value::Object(_) | Value::Number(_) | Value::Bool(_))) => Some(exact::text(&object).into()),
            other => other,
        };
        let content = self.parts().content(output, "input.output")?;
        self.result(ToolResult { call_id, content, is_error: false, cache: None });
        Ok(())
    }

    /// The answer to a tool search declares tools. The call still needs a result: it names what was found.
    fn found_tools(&mut self, mut item: Fields) -> Result<(), Rejection> {
        let before = self.conversation.tools.len();
        for tool in item.list("tools")?.unwrap_or_default() {
            tools::declare(tool, None, &mut self.conversation.tools)?;
        }
        let Some(call_id) = item.text("call_id")? else { return Ok(()) };
        let names = self.conversation.tools.iter().skip(before).map(|t| t.name.as_str()).collect::<Vec<_>>();
        let text = format!("Tools found: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") });
        let content = vec![Content::Text(Text::new(text))];
        self.result(ToolResult { call_id, content, is_error: false, cache: None });
        Ok(())
    }

    fn result(&mut self, result: ToolResult) {
        self.conversation.turns.push(Turn::User(vec![UserPart::Result(result)]));
    }
}

fn controls(conversation: &mut Conversation, top: &mut Fields, losses: &mut Losses) -> Result<(), Rejection> {
    conversation.max_output = top.limit("max_output_tokens")?;
    conversation.sampling =
        Sampling { temperature: top.number("temperature")?, top_p: top.number("top_p")?, top_k: None };
    conversation.stream = top.boolean("stream")?.unwrap_or(false);
    conversation.logprobs = top.count("top_logprobs")?.filter(|n| *n > 0);
    let wish = &mut conversation.reasoning;
    wish.keeps_seals = true;
    if let Some(mut reasoning) = top.object("reasoning")? {
        openai::effort(reasoning.text("effort")?, wish, losses);
        wish.readable = reasoning.any("summary").is_some() || reasoning.any("generate_summary").is_some();
    }
    if let Some(mut text) = top.object("text")? {
        conversation.verbosity = text.text("verbosity")?;
        if let Some(mut format) = text.object("format")? {
            conversation.output_format = match format.required("type")?.as_str() {
                "json_object" => Some(OutputFormat::JsonObject),
                "json_schema" => Some(openai::json_schema(&mut format)?),
                "text" => None,
                _ => return Err(Rejection::illegal("text.format.type", "is not a format of this protocol")),
            };
        }
    }
    conversation.identity.user = top.text("user")?;
    conversation.identity.cache_key = top.text("prompt_cache_key")?;
    conversation.service_tier = top.text("service_tier")?;
    Ok(())
}
