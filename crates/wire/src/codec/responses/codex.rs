//! What the Codex service demands of a Responses request, for Responses clients the only edits made.

use serde_json::{Map, Value, json};

use crate::{
    ids::{IdMap, Legal},
    loss::{Losses, Rejection},
};

/// Longest id the service takes.
const MAX_ID: usize = 64;

/// Removed without a word: the service refuses them and they do not change the answer.
const SILENT: [&str; 7] = [
    "truncation",
    "user",
    "metadata",
    "safety_identifier",
    "prompt_cache_options",
    "prompt_cache_retention",
    "max_completion_tokens",
];

/// Removed with a warning, if they came from a client of another protocol.
const TOLD: [(&str, &str); 3] =
    [("max_output_tokens", "dropped:max_tokens"), ("temperature", "dropped:temperature"), ("top_p", "dropped:top_p")];

/// Makes a Responses request acceptable. `losses`: where removals are told, if the client spoke another protocol.
pub(crate) fn restrict(body: &mut Value, mut losses: Option<&mut Losses>) -> Result<(), Rejection> {
    let Value::Object(body) = body else { return Err(Rejection::illegal("body", "is not an object")) };
    if body.get("previous_response_id").is_some_and(|id| !id.is_null()) {
        return Err(Rejection::unsupported(
            "previous_response_id",
            "'previous_response_id' points to state that this upstream does not keep; send the whole conversation",
        ));
    }
    let mut tell = |code| {
        if let Some(losses) = losses.as_deref_mut() {
            losses.note(code);
        }
    };
    for member in SILENT {
        body.shift_remove(member);
    }
    for (member, code) in TOLD {
        if body.shift_remove(member).is_some() {
            tell(code);
        }
    }
    if body.get("service_tier").is_some_and(|tier| tier != "priority") {
        body.shift_remove("service_tier");
        tell("dropped:service_tier");
    }
    for (member, value) in
        [("store", json!(false)), ("stream", json!(true)), ("include", json!(["reasoning.encrypted_content"]))]
    {
        body.insert(member.to_owned(), value);
    }
    for (member, value) in [("parallel_tool_calls", json!(true)), ("instructions", json!(""))] {
        if body.get(member).is_none_or(Value::is_null) {
            body.insert(member.to_owned(), value);
        }
    }
    if let Some(Value::String(text)) = body.get("input") {
        let item = json!({"type":"message","role":"user","content":[{"type":"input_text","text":text}]});
        body.insert("input".to_owned(), json!([item]));
    }
    if let Some(Value::Array(items)) = body.get_mut("input") {
        let legal = Legal { max: MAX_ID, plain: false };
        let calls: Vec<String> = items.iter().filter_map(|i| i.get("call_id")?.as_str().map(str::to_owned)).collect();
        let ids = IdMap::new(legal, calls.iter().map(String::as_str));
        items.iter_mut().filter_map(Value::as_object_mut).for_each(|item| restrict_item(item, &ids));
    }
    Ok(())
}

fn restrict_item(item: &mut Map<String, Value>, ids: &IdMap) {
    if item.get("role").is_some_and(|role| role == "system") {
        item.insert("role".to_owned(), json!("developer"));
    }
    if item.get("id").and_then(Value::as_str).is_some_and(|id| id.chars().count() > MAX_ID) {
        item.shift_remove("id");
    }
    if let Some(Value::String(id)) = item.get_mut("call_id") {
        *id = ids.get(std::mem::take(id));
    }
    for part in item.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(part) = part {
            part.shift_remove("prompt_cache_breakpoint");
        }
    }
}
