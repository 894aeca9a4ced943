//! A Responses request, written.

use serde_json::{Value, json};

use super::{codex, input, tools};
use crate::{
    codec::{Out, effort, freeform, openai},
    ids::{Legal, digest},
    loss::{Losses, Rejection},
    neutral::*,
    prepare::{Names, Prepared, Target},
    profile::Profile,
    schema::{self, Unions},
};

/// Call ids have at most 64 characters.
const TARGET: Target = Target { call_ids: Legal { max: 64, plain: false }, web_search: true };

/// The least `max_output_tokens`.
const MIN_OUTPUT: u64 = 16;

/// Writes the request for `model`; gives back the names of its tools. `codex`: by the restrictions of that service.
pub(crate) fn encode(
    conversation: Conversation,
    model: &str,
    profile: &Profile,
    codex: bool,
    losses: &mut Losses,
) -> Result<(Value, Names), Rejection> {
    let prepared = Prepared::new(conversation, TARGET, losses)?;
    let conversation = &prepared.conversation;
    let mut out = Out::default();
    out.put("model", model);
    let mut items = Vec::new();
    if codex {
        items.extend(input::developer(&conversation.system));
        out.put("instructions", "");
    } else if !conversation.system.is_empty() {
        let texts: Vec<&str> = conversation.system.iter().map(|t| t.text.as_str()).collect();
        out.put("instructions", texts.join("\n\n"));
    }
    let before = items.len();
    input::encode(&prepared, &mut items, losses)?;
    if items.len() == before {
        return Err(Rejection::unsupported("input", "nothing is left of the conversation that could be sent"));
    }
    out.put("input", items);
    write_tools(&prepared, profile, &mut out, losses);
    if let Some(limit) = conversation.max_output {
        if limit < MIN_OUTPUT && !codex {
            losses.note("clamped:max_output_tokens");
        }
        out.put("max_output_tokens", limit.max(MIN_OUTPUT));
    }
    openai::sampling(&conversation.sampling, profile, &mut out, losses);
    if !conversation.stop.is_empty() {
        losses.note("dropped:stop");
    }
    let wish = conversation.reasoning;
    if let Some(word) = effort::openai(wish, profile, prepared.is_forced(), losses) {
        let mut reasoning = Out::default();
        reasoning.put("effort", word);
        if wish.readable && word != "none" {
            reasoning.put("summary", "auto");
        }
        out.put("reasoning", Value::from(reasoning));
    }
    text(conversation, profile, &mut out, losses);
    let mut include = Vec::new();
    if wish.keeps_seals {
        include.push("reasoning.encrypted_content");
    }
    if let Some(alternatives) = conversation.logprobs {
        include.push("message.output_text.logprobs");
        out.put_some("top_logprobs", Some(alternatives).filter(|n| *n > 0));
    }
    if !include.is_empty() {
        out.put("include", include);
    }
    let identity = &conversation.identity;
    out.put_some("user", identity.user.as_deref());
    let cache_key = identity.cache_key.clone().or_else(|| identity.user_id.as_deref().map(session));
    out.put_some("prompt_cache_key", cache_key);
    out.put_some("service_tier", conversation.service_tier.as_deref());
    out.put("store", false);
    if conversation.stream {
        out.put("stream", true);
    }
    let mut body = Value::from(out);
    if codex {
        codex::restrict(&mut body, Some(losses))?;
    }
    Ok((body, prepared.names))
}

/// A cache key from Claude's `user_id`: the session named in it, else its digest.
fn session(user_id: &str) -> String {
    let json = serde_json::from_str::<Value>(user_id).ok();
    let named = json.as_ref().and_then(|v| v.get("session_id")).and_then(Value::as_str);
    let named = named.or_else(|| user_id.rsplit_once("_session_").map(|(_, id)| id));
    named.filter(|id| !id.is_empty()).map_or_else(|| digest(user_id, 32), str::to_owned)
}

fn write_tools(prepared: &Prepared, profile: &Profile, out: &mut Out, losses: &mut Losses) {
    let only = |kind: &str| json!({"type":"allowed_tools","mode":"required","tools":[{"type":kind}]});
    let mut written = Vec::new();
    for tool in &prepared.conversation.tools {
        let name = prepared.names.sent(tool.namespace.as_deref(), &tool.name);
        let (schema, changed) = schema::repair(freeform::own_schema(tool), Unions::Keep, profile.schema_rule);
        if changed {
            losses.note("repaired:tool_schema");
        }
        if let ToolKind::WebSearch(search) = &tool.kind
            && !search.blocked.is_empty()
        {
            losses.note("dropped:blocked_domains");
        }
        written.push(tools::encode(tool, &name, schema));
    }
    if written.is_empty() {
        return;
    }
    out.put("tools", written);
    match &prepared.choice {
        Some(ToolChoice::Auto) => out.put("tool_choice", "auto"),
        Some(ToolChoice::Required) => out.put("tool_choice", "required"),
        Some(ToolChoice::None) => out.put("tool_choice", "none"),
        Some(ToolChoice::Tool { name, namespace }) => {
            let tool = prepared.conversation.tools.iter().find(|t| t.name == *name && t.namespace == *namespace);
            let sent = prepared.names.sent(namespace.as_deref(), name);
            let choice = match tool.map(|t| &t.kind) {
                Some(ToolKind::Custom { .. }) => json!({"type":"custom","name":sent}),
                // Hosted tools cannot all be named alone; a choice of one they can be.
                Some(ToolKind::WebSearch(_)) => only("web_search"),
                Some(ToolKind::LocalShell) => only("local_shell"),
                _ => json!({"type":"function","name":sent}),
            };
            out.put("tool_choice", choice);
        }
        Some(ToolChoice::Allowed { .. }) | None => {}
    }
    if prepared.conversation.parallel == Some(false) {
        out.put("parallel_tool_calls", false);
    }
}

fn text(conversation: &Conversation, profile: &Profile, out: &mut Out, losses: &mut Losses) {
    let mut text = Out::default();
    match &conversation.output_format {
        None => {}
        Some(OutputFormat::JsonObject) => text.put("format", json!({"type":"json_object"})),
        Some(_) if !profile.structured_output => losses.note("dropped:response_format"),
        Some(schema) => {
            let mut format = Out::default();
            format.put("type", "json_schema");
            format.0.extend(openai::write_json_schema(schema).0);
            text.put("format", Value::from(format));
        }
    }
    match &conversation.verbosity {
        Some(verbosity) if profile.verbosity => text.put("verbosity", verbosity.as_str()),
        Some(_) => losses.note("dropped:verbosity"),
        None => {}
    }
    if !text.0.is_empty() {
        out.put("text", Value::from(text));
    }
}
