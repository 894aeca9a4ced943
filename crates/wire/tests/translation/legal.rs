//! What every request sent to an upstream must be, whatever the client sent.

use std::collections::HashSet;

use headgate_domain::UpstreamKind;
use serde_json::Value;

/// Checks a request body.
pub fn check(kind: UpstreamKind, body: &Value) -> Result<(), String> {
    match kind {
        UpstreamKind::Claude => claude(body),
        UpstreamKind::Openai => chat(body),
        _ => responses(body),
    }
}

macro_rules! ensure {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            return Err(format!($($why)+));
        }
    };
}

fn list<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn plain(text: &Value, most: usize) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.as_str().is_some_and(|t| !t.is_empty() && t.len() <= most && t.chars().all(legal))
}

fn claude(body: &Value) -> Result<(), String> {
    ensure!(body["max_tokens"].as_u64().is_some_and(|n| n > 0), "max_tokens: {body}");
    if body["thinking"]["type"] == "enabled" {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
        ensure!(budget >= 1024 && budget < body["max_tokens"].as_u64().unwrap(), "a budget below the limit: {body}");
    }
    let messages = list(body, "messages");
    ensure!(messages.first().is_some_and(|m| m["role"] == "user"), "a user begins: {body}");
    for pair in messages.windows(2) {
        ensure!(pair[0]["role"] != pair[1]["role"], "roles alternate: {pair:?}");
    }
    for (number, message) in messages.iter().enumerate() {
        let blocks = list(message, "content");
        ensure!(!blocks.is_empty(), "no empty message: {message}");
        let mut calls = Vec::new();
        let mut rest = false;
        for block in blocks {
            match block["type"].as_str().unwrap_or_default() {
                "text" => {
                    ensure!(block["text"].as_str().is_some_and(|t| !t.trim().is_empty()), "no blank text: {block}");
                    rest = true;
                }
                "tool_use" => {
                    ensure!(
                        block["input"].is_object() && plain(&block["name"], 64) && plain(&block["id"], 64),
                        "{block}"
                    );
                    calls.push(&block["id"]);
                }
                "tool_result" => ensure!(!rest, "results come first: {message}"),
                _ => rest = true,
            }
        }
        let results: Vec<&Value> = messages
            .get(number + 1)
            .map(|m| list(m, "content"))
            .unwrap_or_default()
            .iter()
            .filter(|b| b["type"] == "tool_result")
            .map(|b| &b["tool_use_id"])
            .collect();
        if message["role"] == "assistant" {
            ensure!(results == calls, "every call has its result: {message}");
        }
    }
    ensure!(list(body, "tools").iter().all(|t| plain(&t["name"], 64)), "legal names: {body}");
    ensure!(
        body.to_string().matches("\"cache_control\"").count() <= 4 || body.to_string().contains("\\\"cache"),
        "marks: {body}"
    );
    Ok(())
}

fn chat(body: &Value) -> Result<(), String> {
    let messages = list(body, "messages");
    ensure!(!messages.is_empty(), "messages");
    let mut waiting: Vec<Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            ensure!(
                !waiting.is_empty() && message["tool_call_id"] == waiting.remove(0),
                "in the order of calls: {body}"
            );
            ensure!(message["content"].as_str().is_some_and(|t| !t.is_empty()), "text: {message}");
            continue;
        }
        ensure!(waiting.is_empty(), "results follow directly: {body}");
        for call in list(message, "tool_calls") {
            ensure!(call["id"].as_str().is_some_and(|id| !id.is_empty() && id.chars().count() <= 40), "{call}");
            let custom = call["type"] == "custom";
            let (named, input) = if custom { ("custom", "input") } else { ("function", "arguments") };
            ensure!(plain(&call[named]["name"], 64) && call[named][input].is_string(), "{call}");
            waiting.push(call["id"].clone());
        }
    }
    ensure!(waiting.is_empty(), "every call has its result: {body}");
    let named = |tool: &Value| if tool["type"] == "custom" { "custom" } else { "function" };
    let names: Vec<&Value> = list(body, "tools").iter().map(|t| &t[named(t)]["name"]).collect();
    ensure!(names.iter().all(|n| plain(n, 64)), "legal names: {body}");
    Ok(())
}

fn responses(body: &Value) -> Result<(), String> {
    let items = list(body, "input");
    ensure!(!items.is_empty(), "input");
    let mut calls = Vec::new();
    let mut results = HashSet::new();
    for item in items {
        match item["type"].as_str().unwrap_or_default() {
            "function_call" | "custom_tool_call" | "local_shell_call" => calls.push(item["call_id"].to_string()),
            kind if kind.ends_with("_output") => {
                results.insert(item["call_id"].to_string());
                ensure!(calls.contains(&item["call_id"].to_string()), "the call comes first: {body}");
            }
            "message" => ensure!(!list(item, "content").is_empty(), "no empty message: {item}"),
            "reasoning" => ensure!(item["encrypted_content"].is_string() && item["summary"].is_array(), "{item}"),
            other => return Err(format!("an unknown item {other}")),
        }
    }
    ensure!(calls.iter().all(|c| results.contains(c)), "every call has its result: {body}");
    ensure!(body["store"] == false, "nothing is stored: {body}");
    Ok(())
}
