//! The `messages` of a Messages request, written: roles alternate, results come first, nothing is empty.

use serde_json::{Value, json};

use super::blocks::decode_text;
use crate::{
    codec::{
        Out, freeform,
        words::{dropped_reasoning, reminder},
    },
    loss::{Losses, Rejection},
    neutral::*,
    prepare::Prepared,
    profile::Profile,
};

/// What is said for a user before an assistant that begins.
const CONTINUED: &str = "(continued)";

/// A message being built.
struct Message {
    role: &'static str,
    /// Results of tools, which come first.
    results: Vec<Value>,
    blocks: Vec<Value>,
}

/// Writes all messages.
pub(super) fn encode(prepared: &Prepared, profile: &Profile, losses: &mut Losses) -> Result<Vec<Value>, Rejection> {
    let mut messages: Vec<Message> = Vec::new();
    for turn in &prepared.conversation.turns {
        match turn {
            Turn::User(parts) => {
                for part in parts {
                    match part {
                        UserPart::Result(result) => at(&mut messages, "user").results.push(tool_result(result)?),
                        UserPart::Content(part) => {
                            if let Some(block) = content_block(part)? {
                                at(&mut messages, "user").blocks.push(block);
                            }
                        }
                    }
                }
            }
            Turn::System(texts) => {
                let after_user = messages.last().is_some_and(|m| matches!(m.role, "user" | "system"));
                for text in texts.iter().filter(|t| !t.is_blank()) {
                    if profile.mid_system && after_user {
                        at(&mut messages, "system").blocks.push(text_block(text));
                    } else {
                        let text = Text { text: reminder(&text.text), cache: text.cache.clone() };
                        at(&mut messages, "user").blocks.push(text_block(&text));
                    }
                }
            }
            Turn::Assistant(parts) => {
                for part in parts {
                    assistant(part, prepared, &mut messages, losses);
                }
            }
        }
    }
    if messages.is_empty() {
        return Err(Rejection::unsupported("messages", "nothing is left of the conversation that could be sent"));
    }
    if messages.first().is_some_and(|m| m.role != "user") {
        let blocks = vec![json!({"type":"text","text":CONTINUED})];
        messages.insert(0, Message { role: "user", results: Vec::new(), blocks });
    }
    trim_prefill(&mut messages);
    let write = |m: Message| {
        let content: Vec<Value> = m.results.into_iter().chain(m.blocks).collect();
        json!({"role":m.role,"content":content})
    };
    Ok(messages.into_iter().map(write).collect())
}

/// The last message if it has this role, else a new one.
fn at<'m>(messages: &'m mut Vec<Message>, role: &'static str) -> &'m mut Message {
    if messages.last().is_none_or(|m| m.role != role) {
        messages.push(Message { role, results: Vec::new(), blocks: Vec::new() });
    }
    let last = messages.len() - 1;
    #[expect(clippy::indexing_slicing, reason = "one has just been pushed if there was none")]
    &mut messages[last]
}

/// White space at the end of a final assistant message is refused.
fn trim_prefill(messages: &mut [Message]) {
    let Some(last) = messages.last_mut().filter(|m| m.role == "assistant") else { return };
    let Some(Value::String(text)) = last.blocks.last_mut().and_then(|b| b.get_mut("text")) else { return };
    text.truncate(text.trim_end().len());
}

fn assistant(part: &AssistantPart, prepared: &Prepared, messages: &mut Vec<Message>, losses: &mut Losses) {
    match part {
        AssistantPart::Text(text) if text.is_blank() => {}
        AssistantPart::Text(text) => at(messages, "assistant").blocks.push(text_block(text)),
        AssistantPart::Refusal(text) if text.trim().is_empty() => {}
        AssistantPart::Refusal(text) => at(messages, "assistant").blocks.push(json!({"type":"text","text":text})),
        AssistantPart::Reasoning(Reasoning { carrier: Some(Carrier::Claude(block)), .. }) => {
            // Before the calls of its turn, wherever the client put it.
            let blocks = &mut at(messages, "assistant").blocks;
            let call = blocks.iter().position(|b| b.get("type").is_some_and(|t| t == "tool_use"));
            blocks.insert(call.unwrap_or(blocks.len()), block.clone());
        }
        AssistantPart::Reasoning(_) => losses.note(dropped_reasoning(&prepared.conversation)),
        AssistantPart::Call(call) => {
            let name = prepared.names.sent(call.namespace.as_deref(), &call.name);
            let input = freeform::object(&freeform::wrap(call.kind, &call.input));
            let block = json!({"type":"tool_use","id":call.call_id,"name":name,"input":input});
            at(messages, "assistant").blocks.push(block);
        }
    }
}

/// A text block with its cache mark.
pub(super) fn text_block(text: &Text) -> Value {
    let mut block = Out::default();
    block.put("type", "text");
    block.put("text", text.text.as_str());
    block.put_some("cache_control", text.cache.clone());
    block.into()
}

fn tool_result(result: &ToolResult) -> Result<Value, Rejection> {
    let mut block = Out::default();
    block.put("type", "tool_result");
    block.put("tool_use_id", result.call_id.as_str());
    let mut content = Vec::new();
    for part in &result.content {
        content.extend(content_block(part)?);
    }
    if !content.is_empty() {
        block.put("content", content);
    }
    if result.is_error {
        block.put("is_error", true);
    }
    block.put_some("cache_control", result.cache.clone());
    Ok(block.into())
}

/// A block; nothing for a blank text.
fn content_block(content: &Content) -> Result<Option<Value>, Rejection> {
    let (mut block, cache) = match content {
        Content::Text(text) => return Ok((!text.is_blank()).then(|| text_block(text))),
        Content::Image(image) => {
            let mut block = Out::default();
            block.put("type", "image");
            block.put("source", image_source(&image.source)?);
            (block, &image.cache)
        }
        Content::Document(document) => {
            let mut block = Out::default();
            block.put("type", "document");
            block.put_some("title", document.title.as_deref());
            block.put("source", document_source(&document.source)?);
            (block, &document.cache)
        }
    };
    block.put_some("cache_control", cache.clone());
    Ok(Some(block.into()))
}

fn stored_elsewhere() -> Rejection {
    Rejection::unsupported("file_id", "a file that is stored at another provider cannot be sent")
}

fn image_source(source: &Source) -> Result<Value, Rejection> {
    match source {
        Source::Base64 { mime, data } => match mime.as_str() {
            "image/jpeg" | "image/png" | "image/gif" | "image/webp" => {
                Ok(json!({"type":"base64","media_type":mime,"data":data}))
            }
            _ => {
                Err(Rejection::unsupported("image", format!("images of type '{mime}' cannot be sent to this upstream")))
            }
        },
        Source::Url(url) => Ok(json!({"type":"url","url":url})),
        Source::File { origin: Origin::Claude, id } => Ok(json!({"type":"file","file_id":id})),
        Source::File { .. } => Err(stored_elsewhere()),
        Source::Plain(_) => Err(Rejection::unsupported("image", "an image cannot be a text")),
    }
}

fn document_source(source: &Source) -> Result<Value, Rejection> {
    let plain = |text: &str| json!({"type":"text","media_type":"text/plain","data":text});
    match source {
        Source::Base64 { mime, data } if mime == "application/pdf" => {
            Ok(json!({"type":"base64","media_type":mime,"data":data}))
        }
        Source::Base64 { mime, data } if mime.starts_with("text/") || mime == "application/json" => {
            let text = decode_text(data).ok_or_else(|| Rejection::illegal("file_data", "is not base64 of a text"))?;
            Ok(plain(&text))
        }
        Source::Base64 { mime, .. } => {
            Err(Rejection::unsupported("file", format!("documents of type '{mime}' cannot be sent to this upstream")))
        }
        Source::Plain(text) => Ok(plain(text)),
        Source::Url(url) => Ok(json!({"type":"url","url":url})),
        Source::File { origin: Origin::Claude, id } => Ok(json!({"type":"file","file_id":id})),
        Source::File { .. } => Err(stored_elsewhere()),
    }
}

/// Whether the assistant's last words before trailing results are calls without reasoning that Claude has signed: a
/// model that thinks by budget refuses to go on from there.
pub(super) fn lacks_signed_reasoning(turns: &[Turn]) -> bool {
    let is_results = |turn: &Turn| match turn {
        Turn::User(parts) => parts.iter().any(|p| matches!(p, UserPart::Result(_))),
        _ => false,
    };
    let Some((last, before)) = turns.split_last() else { return false };
    if !is_results(last) {
        return false;
    }
    let run = before.iter().rev().map_while(|t| if let Turn::Assistant(parts) = t { Some(parts) } else { None });
    let mut calls = false;
    for part in run.flatten() {
        match part {
            AssistantPart::Reasoning(Reasoning { carrier: Some(Carrier::Claude(_)), .. }) => return false,
            AssistantPart::Call(_) => calls = true,
            _ => {}
        }
    }
    calls
}
