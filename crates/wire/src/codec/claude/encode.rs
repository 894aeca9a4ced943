//! A Messages request, written.

use headgate_domain::upstream::Thinking as Mode;
use serde_json::{Number, Value, json};

use super::{cache, messages};
use crate::{
    codec::{Out, effort, freeform, words::stop_sequences},
    ids::Legal,
    loss::{Losses, Rejection},
    neutral::*,
    prepare::{Names, Prepared, Target},
    profile::Profile,
    schema::{self, Unions},
};

/// Call ids match `[A-Za-z0-9_-]+`.
const TARGET: Target = Target { call_ids: Legal { max: 64, plain: true }, web_search: true };

/// The least thinking budget, and what has to be left of the limit for the answer.
const MIN_BUDGET: u64 = 1024;

/// Writes the request for `model`; gives back the names of its tools.
pub(crate) fn encode(
    conversation: Conversation,
    model: &str,
    profile: &Profile,
    losses: &mut Losses,
) -> Result<(Value, Names), Rejection> {
    let prepared = Prepared::new(conversation, TARGET, losses)?;
    let conversation = &prepared.conversation;
    let mut out = Out::default();
    out.put("model", model);
    out.put("max_tokens", conversation.max_output.unwrap_or(profile.default_max_tokens));
    let mut system: Vec<Value> = conversation.system.iter().map(messages::text_block).collect();
    let mut messages = messages::encode(&prepared, profile, losses)?;
    let mut tools = tools(&prepared, profile, losses);
    cache::place(&mut system, &mut tools, &mut messages, profile.auto_cache);
    if !system.is_empty() {
        out.put("system", system);
    }
    out.put("messages", messages);
    if !tools.is_empty() {
        out.put("tools", tools);
        choice(&prepared, &mut out);
    }
    let thinks = thinking(&prepared, profile, &mut out, losses);
    output_format(conversation, profile, &mut out, losses);
    sampling(&conversation.sampling, profile, thinks, &mut out, losses);
    let stop = stop_sequences(&conversation.stop, usize::MAX, losses);
    if !stop.is_empty() {
        out.put("stop_sequences", stop);
    }
    let identity = &conversation.identity;
    if let Some(user) = identity.user_id.as_ref().or(identity.user.as_ref()) {
        out.put("metadata", json!({"user_id":user}));
    }
    match conversation.service_tier.as_deref() {
        None => {}
        Some("default") => out.put("service_tier", "standard_only"),
        Some("auto") => out.put("service_tier", "auto"),
        Some(_) => losses.note("dropped:service_tier"),
    }
    if conversation.verbosity.is_some() {
        losses.note("dropped:verbosity");
    }
    if conversation.logprobs.is_some() {
        losses.note("dropped:logprobs");
    }
    if conversation.stream {
        out.put("stream", true);
    }
    Ok((out.into(), prepared.names))
}

fn tools(prepared: &Prepared, profile: &Profile, losses: &mut Losses) -> Vec<Value> {
    let mut written = Vec::new();
    for tool in &prepared.conversation.tools {
        let mut out = Out::default();
        if let ToolKind::WebSearch(search) = &tool.kind {
            out.put("type", "web_search_20250305");
            out.put("name", "web_search");
            out.put_some("allowed_domains", Some(search.allowed.clone()).filter(|d| !d.is_empty()));
            out.put_some("blocked_domains", Some(search.blocked.clone()).filter(|d| !d.is_empty()));
            out.put_some("user_location", search.location.clone());
        } else {
            out.put("name", prepared.names.sent(tool.namespace.as_deref(), &tool.name));
            out.put_some("description", freeform::description(tool));
            let schema = freeform::parameters(tool).unwrap_or_else(|| {
                let own = freeform::own_schema(tool);
                let (schema, changed) = schema::repair(own, Unions::Merge, profile.schema_rule);
                if changed {
                    losses.note("repaired:tool_schema");
                }
                schema
            });
            out.put("input_schema", schema);
        }
        out.put_some("cache_control", tool.cache.clone());
        written.push(out.into());
    }
    written
}

fn choice(prepared: &Prepared, out: &mut Out) {
    let mut choice = Out::default();
    match &prepared.choice {
        None | Some(ToolChoice::Allowed { .. }) if prepared.conversation.parallel != Some(false) => return,
        None | Some(ToolChoice::Allowed { .. } | ToolChoice::Auto) => choice.put("type", "auto"),
        Some(ToolChoice::Required) => choice.put("type", "any"),
        Some(ToolChoice::None) => {
            out.put("tool_choice", json!({"type":"none"}));
            return;
        }
        Some(ToolChoice::Tool { name, namespace }) => {
            choice.put("type", "tool");
            choice.put("name", prepared.names.sent(namespace.as_deref(), name));
        }
    }
    if prepared.conversation.parallel == Some(false) {
        choice.put("disable_parallel_tool_use", true);
    }
    out.put("tool_choice", Value::from(choice));
}

/// Writes `thinking` and `output_config.effort`; whether the model will think.
fn thinking(prepared: &Prepared, profile: &Profile, out: &mut Out, losses: &mut Losses) -> bool {
    let conversation = &prepared.conversation;
    let wish = conversation.reasoning;
    let level = wish.effort.or(profile.default_effort.filter(|_| wish.thinking == Thinking::Unsaid));
    if wish.thinking == Thinking::Off {
        if profile.thinking != Mode::None {
            out.put("thinking", json!({"type":"disabled"}));
        }
        return false;
    }
    if level.is_none() && wish.thinking == Thinking::Unsaid {
        return false;
    }
    if profile.thinking == Mode::None {
        losses.note("dropped:thinking");
        return false;
    }
    let mut allowed = true;
    if prepared.is_forced() && profile.forced_tool_stops_thinking {
        losses.note("dropped:thinking");
        allowed = false;
    }
    if profile.thinking == Mode::Adaptive {
        if let Some(level) = level {
            let accepted = profile.clamp(level);
            // "minimal" is only the OpenAI word for Claude's lowest.
            if wish.effort.is_some() && accepted != Some(level.max(Effort::Low)) {
                losses.note("clamped:effort");
            }
            out.put_some("output_config", accepted.map(|e| json!({"effort":e.as_str()})));
        }
        if allowed {
            let display = if wish.readable {
                json!({"type":"adaptive","display":"summarized"})
            } else {
                json!({"type":"adaptive"})
            };
            out.put("thinking", display);
        }
        return allowed;
    }
    if allowed && messages::lacks_signed_reasoning(&conversation.turns) {
        losses.note("dropped:thinking");
        allowed = false;
    }
    let wished = match wish.thinking {
        Thinking::Budget(budget) => budget,
        _ => effort::budget(level.unwrap_or(Effort::High)),
    };
    let limit = conversation.max_output.unwrap_or(profile.default_max_tokens);
    let budget = wished.min(limit.saturating_sub(MIN_BUDGET)).max(wished.min(MIN_BUDGET));
    if allowed && limit.saturating_sub(MIN_BUDGET) < MIN_BUDGET {
        losses.note("dropped:thinking");
        allowed = false;
    }
    if allowed {
        if budget < wished {
            losses.note("clamped:thinking_budget");
        }
        out.put("thinking", json!({"type":"enabled","budget_tokens":budget.max(MIN_BUDGET)}));
    }
    allowed
}

fn output_format(conversation: &Conversation, profile: &Profile, out: &mut Out, losses: &mut Losses) {
    match &conversation.output_format {
        None => {}
        Some(OutputFormat::JsonSchema { schema, .. }) if profile.structured_output => {
            let format = json!({"type":"json_schema","schema":schema::closed(schema.clone())});
            let config = out.0.entry("output_config").or_insert_with(|| json!({}));
            if let Value::Object(config) = config {
                config.insert("format".to_owned(), format);
            }
        }
        // A bare object schema would force an empty object.
        Some(_) => losses.note("dropped:response_format"),
    }
}

fn sampling(sampling: &Sampling, profile: &Profile, thinks: bool, out: &mut Out, losses: &mut Losses) {
    let number = |n: &Option<Number>| n.as_ref().and_then(Number::as_f64);
    let temperature = number(&sampling.temperature);
    let mut temperature_sent = false;
    if let (Some(value), Some(as_sent)) = (temperature, &sampling.temperature) {
        let fixed = thinks && (value.min(1.0) - 1.0).abs() > f64::EPSILON;
        if !profile.sampling || fixed {
            losses.note("dropped:temperature");
        } else {
            temperature_sent = true;
            if value > 1.0 {
                losses.note("clamped:temperature");
                out.put("temperature", 1);
            } else {
                out.put("temperature", Value::Number(as_sent.clone()));
            }
        }
    }
    if let (Some(value), Some(as_sent)) = (number(&sampling.top_p), &sampling.top_p) {
        if !profile.sampling || temperature_sent || (thinks && value < 0.95) {
            losses.note("dropped:top_p");
        } else {
            out.put("top_p", Value::Number(as_sent.clone()));
        }
    }
    if let Some(top_k) = &sampling.top_k {
        if profile.sampling && !thinks {
            out.put("top_k", Value::Number(top_k.clone()));
        } else {
            losses.note("dropped:top_k");
        }
    }
}
