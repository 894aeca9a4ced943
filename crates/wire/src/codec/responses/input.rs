//! The `input` of a Responses request, written: one item per group of parts, without ids.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::{
    codec::{
        Out, freeform, openai,
        words::{dropped_reasoning, result_text},
    },
    loss::{Losses, Rejection},
    neutral::*,
    prepare::Prepared,
};

/// Instructions as one developer item, a part per text; nothing for no text.
pub(super) fn developer(texts: &[Text]) -> Option<Value> {
    let parts: Vec<Value> =
        texts.iter().filter(|t| !t.is_blank()).map(|t| json!({"type":"input_text","text":t.text})).collect();
    (!parts.is_empty()).then(|| json!({"type":"message","role":"developer","content":parts}))
}

/// Appends the items of all turns.
pub(super) fn encode(prepared: &Prepared, items: &mut Vec<Value>, losses: &mut Losses) -> Result<(), Rejection> {
    let kinds = prepared.call_kinds();
    for turn in &prepared.conversation.turns {
        match turn {
            Turn::System(texts) => items.extend(developer(texts)),
            Turn::Assistant(parts) => assistant(parts, prepared, items, losses),
            Turn::User(parts) => user(parts, &kinds, items)?,
        }
    }
    Ok(())
}

fn user(parts: &[UserPart], kinds: &HashMap<String, CallKind>, items: &mut Vec<Value>) -> Result<(), Rejection> {
    let mut content = Vec::new();
    for part in parts {
        match part {
            UserPart::Result(result) => items.push(output(result, kinds.get(&result.call_id).copied())?),
            UserPart::Content(part) => content.push(content_part(part)?),
        }
    }
    if !content.is_empty() {
        items.push(json!({"type":"message","role":"user","content":content}));
    }
    Ok(())
}

fn output(result: &ToolResult, kind: Option<CallKind>) -> Result<Value, Rejection> {
    let output = match result.content.as_slice() {
        [] => Value::String(result_text(String::new(), result.is_error)),
        [Content::Text(text)] => Value::String(result_text(text.text.clone(), result.is_error)),
        many => {
            let mut parts = many.iter().map(content_part).collect::<Result<Vec<_>, _>>()?;
            if result.is_error {
                mark_error(&mut parts);
            }
            Value::Array(parts)
        }
    };
    let kind = match kind {
        Some(CallKind::Custom) => "custom_tool_call_output",
        Some(CallKind::LocalShell) => "local_shell_call_output",
        _ => "function_call_output",
    };
    Ok(json!({"type":kind,"call_id":result.call_id,"output":output}))
}

/// Marks the first text of a failed tool's parts.
fn mark_error(parts: &mut Vec<Value>) {
    match parts.iter_mut().find_map(|p| p.get_mut("text")) {
        Some(text) => *text = Value::String(result_text(text.as_str().unwrap_or_default().to_owned(), true)),
        None => parts.insert(0, json!({"type":"input_text","text":"[tool error]"})),
    }
}

fn content_part(content: &Content) -> Result<Value, Rejection> {
    Ok(match content {
        Content::Text(text) => json!({"type":"input_text","text":text.text}),
        Content::Image(image) => {
            let detail = image.detail.as_deref().unwrap_or("auto");
            match (&image.source, openai::image_url(&image.source)) {
                (Source::File { origin: Origin::OpenAi, id }, _) => {
                    json!({"type":"input_image","file_id":id,"detail":detail})
                }
                (_, Some(url)) => json!({"type":"input_image","image_url":url,"detail":detail}),
                (_, None) => {
                    return Err(Rejection::unsupported("image", "an image file that is stored at another provider"));
                }
            }
        }
        Content::Document(document) => match &document.source {
            Source::Plain(text) => {
                json!({"type":"input_text","text":openai::plain_text(document.title.as_deref(), text)})
            }
            Source::Base64 { mime, data } => json!({
                "type":"input_file","filename":openai::file_name(document),"file_data":openai::data_url(mime, data)
            }),
            Source::Url(url) => json!({"type":"input_file","file_url":url}),
            Source::File { origin: Origin::OpenAi, id } => json!({"type":"input_file","file_id":id}),
            Source::File { .. } => {
                return Err(Rejection::unsupported(
                    "file_id",
                    "a file that is stored at another provider cannot be sent",
                ));
            }
        },
    })
}

fn assistant(parts: &[AssistantPart], prepared: &Prepared, items: &mut Vec<Value>, losses: &mut Losses) {
    let mut said: Vec<Value> = Vec::new();
    let close = |said: &mut Vec<Value>, items: &mut Vec<Value>| {
        if !said.is_empty() {
            items.push(json!({"type":"message","role":"assistant","content":std::mem::take(said)}));
        }
    };
    for part in parts {
        match part {
            AssistantPart::Text(text) if text.text.is_empty() => {}
            AssistantPart::Text(text) => said.push(json!({"type":"output_text","text":text.text})),
            AssistantPart::Refusal(text) => said.push(json!({"type":"refusal","refusal":text})),
            AssistantPart::Reasoning(reasoning) => {
                close(&mut said, items);
                if let Some(Carrier::OpenAi { id, encrypted }) = &reasoning.carrier {
                    items.push(reasoning_item(id.as_deref(), &reasoning.text, encrypted));
                } else {
                    losses.note(dropped_reasoning(&prepared.conversation));
                }
            }
            AssistantPart::Call(call) => {
                close(&mut said, items);
                items.push(call_item(call, prepared));
            }
        }
    }
    close(&mut said, items);
}

/// A sealed reasoning item as its maker accepts it again.
fn reasoning_item(id: Option<&str>, text: &str, encrypted: &str) -> Value {
    let mut item = Out::default();
    item.put("type", "reasoning");
    item.put_some("id", id);
    let summary = if text.is_empty() { json!([]) } else { json!([{"type":"summary_text","text":text}]) };
    item.put("summary", summary);
    item.put("encrypted_content", encrypted);
    item.into()
}

fn call_item(call: &ToolCall, prepared: &Prepared) -> Value {
    let name = prepared.names.sent(call.namespace.as_deref(), &call.name);
    match call.kind {
        CallKind::Custom => json!({"type":"custom_tool_call","call_id":call.call_id,"name":name,"input":call.input}),
        CallKind::LocalShell => {
            let mut action = Out::default();
            action.put("type", "exec");
            if let Value::Object(object) = freeform::object(&call.input) {
                action.0.extend(object);
            }
            action.0.entry("env").or_insert_with(|| json!({}));
            json!({"type":"local_shell_call","call_id":call.call_id,"status":"completed","action":Value::from(action)})
        }
        CallKind::Function | CallKind::ToolSearch => json!({
            "type":"function_call","call_id":call.call_id,"name":name,
            "arguments":freeform::wrap(call.kind, &call.input)
        }),
    }
}
