//! Usage, written in each protocol's fields.

use headgate_domain::Usage;
use serde_json::{Value, json};

fn writes(usage: &Usage) -> Option<u64> {
    let parts = [usage.write_5m, usage.write_1h, usage.write_other];
    parts.iter().any(Option::is_some).then(|| parts.iter().flatten().sum())
}

/// Chat: the input includes what was read from and written to a cache. Nothing for nothing reported.
pub(crate) fn chat(usage: &Usage) -> Option<Value> {
    if !usage.is_reported() {
        return None;
    }
    let output = usage.output.unwrap_or(0);
    let mut value = json!({
        "prompt_tokens":usage.input(),"completion_tokens":output,"total_tokens":usage.input() + output
    });
    let mut details = serde_json::Map::new();
    if let Some(read) = usage.read {
        details.insert("cached_tokens".to_owned(), json!(read));
    }
    if let Some(written) = writes(usage) {
        details.insert("cache_write_tokens".to_owned(), json!(written));
    }
    if let Value::Object(value) = &mut value {
        if !details.is_empty() {
            value.insert("prompt_tokens_details".to_owned(), Value::Object(details));
        }
        if let Some(reasoning) = usage.reasoning {
            value.insert("completion_tokens_details".to_owned(), json!({"reasoning_tokens":reasoning}));
        }
    }
    Some(value)
}

/// Responses: complete or `null`; Codex refuses a completion whose detail objects lack their numbers.
pub(crate) fn responses(usage: &Usage) -> Value {
    if !usage.is_reported() {
        return Value::Null;
    }
    let output = usage.output.unwrap_or(0);
    json!({
        "input_tokens":usage.input(),
        "input_tokens_details":{"cached_tokens":usage.read.unwrap_or(0),"cache_write_tokens":writes(usage).unwrap_or(0)},
        "output_tokens":output,
        "output_tokens_details":{"reasoning_tokens":usage.reasoning.unwrap_or(0)},
        "total_tokens":usage.input() + output
    })
}

/// Claude: what was neither read from nor written to a cache stands apart; zeros for nothing reported, since the
/// fields are required.
pub(crate) fn claude(usage: &Usage, searches: u64) -> Value {
    let mut value = json!({
        "input_tokens":usage.fresh.unwrap_or(0),
        "cache_creation_input_tokens":writes(usage).unwrap_or(0),
        "cache_read_input_tokens":usage.read.unwrap_or(0),
        "output_tokens":usage.output.unwrap_or(0)
    });
    if let Value::Object(value) = &mut value {
        if let Some(thinking) = usage.reasoning {
            value.insert("output_tokens_details".to_owned(), json!({"thinking_tokens":thinking}));
        }
        if searches > 0 {
            let uses = json!({"web_search_requests":searches,"web_fetch_requests":0});
            value.insert("server_tool_use".to_owned(), uses);
        }
    }
    value
}
