//! What every stream sent to a client must be, whatever it says.

use std::collections::{HashMap, HashSet};

use headgate_domain::Protocol;
use serde_json::Value;

use super::normal::{Frame, frames};

/// Checks a whole stream; `failed`: it was ended by a failure.
pub fn check(protocol: Protocol, bytes: &[u8], failed: bool) -> Result<(), String> {
    let frames = frames(bytes);
    match protocol {
        Protocol::Chat => chat(&frames, failed),
        Protocol::Claude => claude(&frames, failed),
        Protocol::Responses => responses(&frames, failed),
    }
}

macro_rules! ensure {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            return Err(format!($($why)+));
        }
    };
}

fn chat(frames: &[Frame], failed: bool) -> Result<(), String> {
    let (last, chunks) = frames.split_last().ok_or("an empty stream")?;
    ensure!(frames.iter().all(|f| f.event.is_none()), "Chat events have no names");
    if failed {
        ensure!(last.data["error"]["message"].is_string(), "a failed stream ends with an error: {last:?}");
    } else {
        ensure!(last.data == "[DONE]", "[DONE] is last");
    }
    let first = chunks.first().ok_or("no chunk")?;
    ensure!(first.data["choices"][0]["delta"]["role"] == "assistant", "the first chunk has the role");
    let (mut calls, mut ids, mut finished, mut usage) = (0, HashSet::new(), false, false);
    for Frame { data, .. } in chunks {
        ensure!(data["object"] == "chat.completion.chunk", "a chunk: {data}");
        for member in ["id", "created", "model"] {
            ensure!(data[member] == first.data[member], "{member} never changes");
        }
        let choices = data["choices"].as_array().ok_or("choices are a list")?;
        if choices.is_empty() {
            ensure!(
                finished && !usage && data["usage"].is_object(),
                "no choices only for usage, once, after the finish"
            );
            usage = true;
            continue;
        }
        ensure!(!finished, "nothing after the finish but usage");
        let choice = &choices[0];
        ensure!(choices.len() == 1 && choice["index"] == 0, "one choice");
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = call["index"].as_u64().ok_or("a call has an index")?;
            if call.get("id").is_some() {
                ensure!(index == calls, "indexes are dense: {index}");
                let function = if call["type"] == "custom" { &call["custom"] } else { &call["function"] };
                let named = |v: &Value| v.as_str().is_some_and(|s| !s.is_empty());
                ensure!(named(&call["id"]) && named(&function["name"]), "id and name come first: {call}");
                ensure!(ids.insert(call["id"].clone()), "an id of its own: {call}");
                calls += 1;
            } else {
                ensure!(index < calls, "no input for an unknown call: {index}");
                ensure!(call["function"].get("name").is_none(), "the name comes once");
            }
        }
        finished |= choice["finish_reason"].is_string();
    }
    ensure!(failed || finished, "a finish reason");
    Ok(())
}

fn claude(frames: &[Frame], failed: bool) -> Result<(), String> {
    let (mut index, mut open) = (0, None::<(String, usize, bool)>);
    let (mut deltas, mut stopped) = (0, false);
    let (mut searched, mut found) = (Vec::new(), Vec::new());
    for (number, Frame { event, data }) in frames.iter().enumerate() {
        let kind = data["type"].as_str().ok_or("an event has a type")?;
        ensure!(event.as_deref() == Some(kind), "the event's name is its type: {event:?} {kind}");
        ensure!((number == 0) == (kind == "message_start"), "message_start first and once: {number} {kind}");
        ensure!(!stopped, "nothing after message_stop");
        match kind {
            "message_start" => {
                let message = &data["message"];
                ensure!(message["content"].as_array().is_some_and(Vec::is_empty), "an empty message");
                ensure!(message["stop_reason"].is_null() && message["usage"]["input_tokens"].is_u64(), "{message}");
            }
            "content_block_start" => {
                ensure!(open.is_none() && deltas == 0, "blocks never overlap");
                ensure!(data["index"] == index, "indexes are dense: {data}");
                let block = data["content_block"]["type"].as_str().ok_or("a block has a type")?;
                if block == "tool_use" {
                    ensure!(data["content_block"]["input"].as_object().is_some_and(|o| o.is_empty()), "input: {{}}");
                }
                match block {
                    "server_tool_use" => searched.push(data["content_block"]["id"].clone()),
                    "web_search_tool_result" => found.push(data["content_block"]["tool_use_id"].clone()),
                    _ => {}
                }
                open = Some((block.to_owned(), 0, false));
            }
            "content_block_delta" => {
                let (block, count, sealed) = open.as_mut().ok_or("a delta without a block")?;
                ensure!(data["index"] == index && !*sealed, "a delta of the open block: {data}");
                let fits = match data["delta"]["type"].as_str().unwrap_or_default() {
                    "text_delta" => block == "text",
                    "thinking_delta" => block == "thinking",
                    "signature_delta" => {
                        *sealed = true;
                        block == "thinking"
                    }
                    "input_json_delta" => block == "tool_use" || block == "server_tool_use",
                    _ => false,
                };
                ensure!(fits, "a {block} takes no {}", data["delta"]);
                *count += 1;
            }
            "content_block_stop" => {
                let (block, _, sealed) = open.take().ok_or("a stop without a block")?;
                ensure!(data["index"] == index, "{data}");
                ensure!(block != "thinking" || sealed, "thinking ends with a signature");
                index += 1;
            }
            "message_delta" => {
                ensure!(open.is_none() && deltas == 0, "message_delta once, after the last block");
                ensure!(data["delta"]["stop_reason"].is_string() && data["usage"]["output_tokens"].is_u64(), "{data}");
                deltas = 1;
            }
            "message_stop" => {
                ensure!(deltas == 1, "message_delta before message_stop");
                stopped = true;
            }
            "ping" => {}
            "error" => {
                ensure!(failed && number + 1 == frames.len() && deltas == 0, "an error is last");
                ensure!(data["error"]["type"].is_string() && data["error"]["message"].is_string(), "{data}");
            }
            other => return Err(format!("an unknown event {other}")),
        }
    }
    ensure!(failed || searched == found, "every search has its result: {searched:?} {found:?}");
    ensure!(stopped != failed, "message_stop or an error at the end");
    Ok(())
}

#[derive(Default)]
struct Item {
    kind: Value,
    text: String,
    part_open: bool,
    parts: Vec<Value>,
}

fn responses(frames: &[Frame], failed: bool) -> Result<(), String> {
    let mut done: Vec<Value> = Vec::new();
    let mut open: Option<(Value, Item)> = None;
    let mut ids = HashMap::new();
    let mut terminal = None;
    for (number, Frame { event, data }) in frames.iter().enumerate() {
        let kind = data["type"].as_str().ok_or("an event has a type")?;
        ensure!(event.as_deref() == Some(kind), "the event's name is its type");
        ensure!(data["sequence_number"] == number, "sequence numbers count up: {data}");
        ensure!((number == 0) == (kind == "response.created"), "created is first and once");
        ensure!(terminal.is_none(), "nothing after the terminal event");
        let short = kind.strip_prefix("response.").ok_or("an event of a response")?;
        match short {
            "created" => ensure!(data["response"]["status"] == "in_progress", "{data}"),
            "in_progress" => ensure!(data["response"]["id"] == frames[0].data["response"]["id"], "one id"),
            "output_item.added" => {
                ensure!(open.is_none(), "one item after the other");
                ensure!(data["output_index"] == done.len(), "output_index is dense: {data}");
                let id = data["item"]["id"].clone();
                ensure!(id.as_str().is_some_and(|i| !i.is_empty() && i.len() <= 64), "a short id: {id}");
                ensure!(ids.insert(id.to_string(), ()).is_none(), "an id of its own: {id}");
                open = Some((id, Item { kind: data["item"]["type"].clone(), ..Item::default() }));
            }
            "output_item.done" => {
                let (id, item) = open.take().ok_or("done without added")?;
                ensure!(data["item"]["id"] == id && data["output_index"] == done.len(), "the item added: {data}");
                ensure!(data["item"]["type"] == item.kind && !item.part_open, "complete: {data}");
                let whole = match item.kind.as_str().unwrap_or_default() {
                    "message" => {
                        ensure!(data["item"]["content"] == Value::Array(item.parts.clone()), "the parts done: {data}");
                        item.text.clone()
                    }
                    "reasoning" => {
                        ensure!(data["item"]["summary"] == Value::Array(item.parts.clone()), "the parts done: {data}");
                        item.text.clone()
                    }
                    "function_call" => data["item"]["arguments"].as_str().unwrap_or("?").to_owned(),
                    "custom_tool_call" => data["item"]["input"].as_str().unwrap_or("?").to_owned(),
                    _ => item.text.clone(),
                };
                ensure!(whole == item.text, "deltas add up to the item: {:?} {data}", item.text);
                done.push(data["item"].clone());
            }
            "completed" | "incomplete" | "failed" => {
                let response = &data["response"];
                ensure!(response["status"] == short, "{response}");
                ensure!((short == "failed") == failed, "ended as it should: {short}");
                ensure!(failed || open.is_none(), "every item is done");
                ensure!(response["output"] == Value::Array(done.clone()), "the output is the items done: {response}");
                ensure!(response["id"] == frames[0].data["response"]["id"], "one id");
                terminal = Some(short.to_owned());
            }
            _ => {
                let (id, item) = open.as_mut().ok_or_else(|| format!("{kind} outside an item"))?;
                ensure!(data["item_id"] == *id && data["output_index"] == done.len(), "of the open item: {data}");
                part(short, data, item)?;
            }
        }
    }
    ensure!(terminal.is_some(), "a terminal event");
    Ok(())
}

fn part(short: &str, data: &Value, item: &mut Item) -> Result<(), String> {
    let whole = |member: &str| data[member].as_str().unwrap_or("?").to_owned();
    match short {
        "content_part.added" | "reasoning_summary_part.added" => {
            ensure!(!item.part_open, "one part at a time");
            item.part_open = true;
        }
        "content_part.done" | "reasoning_summary_part.done" => {
            ensure!(item.part_open, "done without added");
            item.part_open = false;
            let text = data["part"]["text"].as_str().or(data["part"]["refusal"].as_str()).unwrap_or("?");
            ensure!(text == item.text, "deltas add up to the part: {data}");
            item.parts.push(data["part"].clone());
        }
        "output_text.delta" | "refusal.delta" => {
            ensure!(item.part_open && item.kind == "message", "{short} in a part of a message");
            item.text += &whole("delta");
        }
        "reasoning_summary_text.delta" => {
            ensure!(item.part_open && item.kind == "reasoning" && data["summary_index"] == 0, "{data}");
            item.text += &whole("delta");
        }
        "function_call_arguments.delta" => {
            ensure!(item.kind == "function_call", "{data}");
            item.text += &whole("delta");
        }
        "custom_tool_call_input.delta" => {
            ensure!(item.kind == "custom_tool_call", "{data}");
            item.text += &whole("delta");
        }
        "output_text.done" | "reasoning_summary_text.done" => ensure!(whole("text") == item.text, "{data}"),
        "refusal.done" => ensure!(whole("refusal") == item.text, "{data}"),
        "function_call_arguments.done" => ensure!(whole("arguments") == item.text, "{data}"),
        "custom_tool_call_input.done" => ensure!(whole("input") == item.text, "{data}"),
        other => return Err(format!("an unknown event {other}")),
    }
    Ok(())
}
