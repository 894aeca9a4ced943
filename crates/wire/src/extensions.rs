//! What becomes of members that have no place in the model when a request goes to another protocol.

use headgate_domain::Protocol;
use serde_json::Value;

use crate::{
    loss::{Losses, Rejection},
    neutral::Extensions,
};

/// What becomes of one member.
enum Fate {
    /// It has no meaning for the answer.
    Silent,
    /// It is dropped, and that is told.
    Warn,
    /// The request is refused.
    Refuse(&'static str),
    /// Nobody knows it.
    Unknown,
}

/// Drops the members, with what has to be said about it.
pub(crate) fn drop_all(extensions: &Extensions, losses: &mut Losses) -> Result<(), Rejection> {
    let Some(protocol) = extensions.protocol else { return Ok(()) };
    for (member, value) in &extensions.members {
        match fate(protocol, member, value) {
            _ if value.is_null() => {}
            Fate::Silent => {}
            Fate::Warn => losses.note_named("dropped", member),
            Fate::Refuse(why) => return Err(Rejection::unsupported(member.clone(), format!("'{member}' {why}"))),
            Fate::Unknown => losses.count_unknown(1),
        }
    }
    Ok(())
}

fn fate(protocol: Protocol, member: &str, value: &Value) -> Fate {
    match (protocol, member) {
        (
            _,
            "store"
            | "metadata"
            | "prompt_cache_options"
            | "prompt_cache_retention"
            | "prompt_cache_breakpoint"
            | "safety_identifier"
            | "moderation",
        ) => Fate::Silent,
        (Protocol::Chat, _) => chat(member, value),
        (Protocol::Responses, _) => responses(member, value),
        (Protocol::Claude, "container" | "diagnostics" | "inference_geo" | "cache_control" | "context_management") => {
            Fate::Silent
        }
        (Protocol::Claude, "mcp_servers") => Fate::Warn,
        (Protocol::Claude, _) => Fate::Unknown,
    }
}

fn chat(member: &str, value: &Value) -> Fate {
    match member {
        // Without `logprobs: true` it means nothing.
        "top_logprobs" | "stream_options" => Fate::Silent,
        "presence_penalty" | "frequency_penalty" if value.as_f64() == Some(0.0) => Fate::Silent,
        "seed" | "logit_bias" | "presence_penalty" | "frequency_penalty" | "prediction" => Fate::Warn,
        "n" if value.as_u64() == Some(1) => Fate::Silent,
        "n" => Fate::Refuse("other than 1 cannot be translated: only one choice can be produced"),
        "functions" | "function_call" => Fate::Refuse("is legacy and cannot be translated; use 'tools'"),
        "audio" => Fate::Refuse("cannot be translated: there is no audio output"),
        "modalities" if value.as_array().is_some_and(|m| m.iter().any(|v| v == "audio")) => {
            Fate::Refuse("cannot be translated: there is no audio output")
        }
        "modalities" => Fate::Silent,
        _ => Fate::Unknown,
    }
}

fn responses(member: &str, value: &Value) -> Fate {
    const STATE: &str = "points to state that another provider keeps; send the whole conversation in 'input'";
    match member {
        "include" | "client_metadata" | "stream_options" => Fate::Silent,
        "truncation" if value == "auto" => Fate::Warn,
        "truncation" => Fate::Silent,
        "max_tool_calls" => Fate::Warn,
        "previous_response_id" | "conversation" => Fate::Refuse(STATE),
        "prompt" => Fate::Refuse("is a template that another provider keeps"),
        "background" if value == true => Fate::Refuse("cannot be translated: the answer would have to be stored"),
        "background" => Fate::Silent,
        _ => Fate::Unknown,
    }
}
