//! A Chat Completions request, written.

use serde_json::{Value, json};

use super::messages;
use crate::{
    codec::{Out, effort, freeform, openai, words::stop_sequences},
    ids::Legal,
    loss::{Losses, Rejection},
    neutral::*,
    prepare::{Names, Prepared, Target},
    profile::Profile,
    schema::{self, Unions},
};

/// Call ids have at most 40 characters; there is no hosted web search.
const TARGET: Target = Target { call_ids: Legal { max: 40, plain: false }, web_search: false };

/// Most stop sequences.
const MAX_STOP: usize = 4;

/// Writes the request for `model`; gives back the names of its tools.
pub(crate) fn encode(
    conversation: Conversation,
    model: &str,
    profile: &Profile,
    losses: &mut Losses,
) -> Result<(Value, Names), Rejection> {
    let prepared = Prepared::new(conversation, TARGET, losses)?;
    let mut out = Out::default();
    out.put("model", model);
    let conversation = &prepared.conversation;
    let messages = messages::encode(&prepared, profile, losses)?;
    out.put("messages", messages);
    tools(&prepared, profile, &mut out, losses);
    let limit = if profile.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    out.put_some(limit, conversation.max_output);
    openai::sampling(&conversation.sampling, profile, &mut out, losses);
    let stop = stop_sequences(&conversation.stop, MAX_STOP, losses);
    if !stop.is_empty() {
        out.put("stop", stop);
    }
    let effort = effort::openai(conversation.reasoning, profile, prepared.is_forced(), losses);
    out.put_some("reasoning_effort", effort);
    format(conversation.output_format.as_ref(), profile, &mut out, losses);
    if let Some(alternatives) = conversation.logprobs {
        out.put("logprobs", true);
        out.put_some("top_logprobs", Some(alternatives).filter(|n| *n > 0));
    }
    let identity = &conversation.identity;
    out.put_some("user", identity.user.as_deref().or(identity.user_id.as_deref()));
    out.put_some("service_tier", conversation.service_tier.as_deref());
    if let Some(verbosity) = &conversation.verbosity {
        if profile.verbosity {
            out.put("verbosity", verbosity.as_str());
        } else {
            losses.note("dropped:verbosity");
        }
    }
    if conversation.stream {
        out.put("stream", true);
        if profile.usage_chunk {
            out.put("stream_options", json!({"include_usage":true}));
        }
    }
    Ok((out.into(), prepared.names))
}

fn tools(prepared: &Prepared, profile: &Profile, out: &mut Out, losses: &mut Losses) {
    let mut tools = Vec::new();
    for tool in &prepared.conversation.tools {
        let name = prepared.names.sent(tool.namespace.as_deref(), &tool.name);
        if let (ToolKind::Custom { grammar }, true) = (&tool.kind, profile.custom_tools) {
            let mut custom = Out::default();
            custom.put("name", name);
            custom.put_some("description", tool.description.as_deref());
            if let Some(Grammar { syntax, definition }) = grammar {
                let grammar = json!({"syntax":syntax,"definition":definition});
                custom.put("format", json!({"type":"grammar","grammar":grammar}));
            }
            tools.push(json!({"type":"custom","custom":Value::from(custom)}));
            continue;
        }
        let schema = freeform::parameters(tool).unwrap_or_else(|| {
            let own = freeform::own_schema(tool);
            let (schema, changed) = schema::repair(own, Unions::MergeWithoutProperties, profile.schema_rule);
            if changed {
                losses.note("repaired:tool_schema");
            }
            schema
        });
        let mut function = Out::default();
        function.put("name", name);
        function.put_some("description", freeform::description(tool));
        function.put("parameters", schema);
        function.put_some("strict", tool.strict.filter(|strict| *strict));
        tools.push(json!({"type":"function","function":Value::from(function)}));
    }
    if tools.is_empty() {
        return;
    }
    out.put("tools", tools);
    match &prepared.choice {
        Some(ToolChoice::Auto) => out.put("tool_choice", "auto"),
        Some(ToolChoice::Required) => out.put("tool_choice", "required"),
        Some(ToolChoice::None) => out.put("tool_choice", "none"),
        Some(ToolChoice::Tool { name, namespace }) => {
            let sent = prepared.names.sent(namespace.as_deref(), name);
            let custom = |t: &Tool| t.name == *name && matches!(t.kind, ToolKind::Custom { .. });
            let kind = if profile.custom_tools && prepared.conversation.tools.iter().any(custom) {
                "custom"
            } else {
                "function"
            };
            out.put("tool_choice", json!({"type":kind,kind:{"name":sent}}));
        }
        Some(ToolChoice::Allowed { .. }) | None => {}
    }
    if prepared.conversation.parallel == Some(false) {
        out.put("parallel_tool_calls", false);
    }
}

fn format(format: Option<&OutputFormat>, profile: &Profile, out: &mut Out, losses: &mut Losses) {
    match format {
        None => {}
        Some(OutputFormat::JsonObject) => out.put("response_format", json!({"type":"json_object"})),
        Some(OutputFormat::JsonSchema { .. }) if !profile.structured_output => losses.note("dropped:response_format"),
        Some(schema) => {
            out.put(
                "response_format",
                json!({"type":"json_schema","json_schema":Value::from(openai::write_json_schema(schema))}),
            );
        }
    }
}
