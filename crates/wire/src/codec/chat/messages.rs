//! The `messages` of a Chat Completions request, written.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::{
    codec::{
        Out, freeform, openai,
        words::{dropped_reasoning, reminder, result_text},
    },
    loss::{Losses, Rejection},
    neutral::*,
    prepare::Prepared,
    profile::Profile,
};

/// What stands for reasoning where every assistant message must have some.
const NO_REASONING: &str = "(none)";

/// Writes all messages.
pub(super) fn encode(prepared: &Prepared, profile: &Profile, losses: &mut Losses) -> Result<Vec<Value>, Rejection> {
    let conversation = &prepared.conversation;
    let custom = if profile.custom_tools { prepared.call_kinds() } else { HashMap::new() };
    let mut writer = Writer { out: Vec::new(), prepared, profile, losses, custom };
    let system: Vec<&str> = conversation.system.iter().map(|t| t.text.as_str()).collect();
    if !system.is_empty() {
        writer.out.push(json!({"role":writer.instructor(),"content":system.join("\n\n")}));
    }
    let before = writer.out.len();
    let mut turns = conversation.turns.as_slice();
    while let Some((turn, rest)) = turns.split_first() {
        turns = rest;
        match turn {
            Turn::User(parts) => writer.user(parts)?,
            Turn::System(texts) => writer.system(texts),
            Turn::Assistant(_) => {
                let more = turns.iter().take_while(|t| matches!(t, Turn::Assistant(_))).count();
                let (run, rest) = turns.split_at(more);
                turns = rest;
                writer.assistant(std::iter::once(turn).chain(run));
            }
        }
    }
    if writer.out.len() == before {
        return Err(Rejection::unsupported("messages", "nothing is left of the conversation that could be sent"));
    }
    let mut messages = writer.out;
    if profile.replay_reasoning {
        complete_reasoning(&mut messages);
    }
    Ok(messages)
}

struct Writer<'a> {
    out: Vec<Value>,
    prepared: &'a Prepared,
    profile: &'a Profile,
    losses: &'a mut Losses,
    /// Kinds of calls, where custom tools are native.
    custom: HashMap<String, CallKind>,
}

impl Writer<'_> {
    fn instructor(&self) -> &'static str {
        if self.profile.developer_role { "developer" } else { "system" }
    }

    fn system(&mut self, texts: &[Text]) {
        let texts: Vec<&str> = texts.iter().filter(|t| !t.is_blank()).map(|t| t.text.as_str()).collect();
        if texts.is_empty() {
            return;
        }
        let text = texts.join("\n\n");
        if self.profile.single_system {
            self.out.push(json!({"role":"user","content":reminder(&text)}));
        } else {
            self.out.push(json!({"role":self.instructor(),"content":text}));
        }
    }

    /// Results first, then what hangs on them and the rest in one user message.
    fn user(&mut self, parts: &[UserPart]) -> Result<(), Rejection> {
        let mut attached = Vec::new();
        for part in parts {
            if let UserPart::Result(result) = part {
                self.result(result, &mut attached)?;
            }
        }
        for part in parts {
            if let UserPart::Content(content) = part {
                attached.push(content_part(content)?);
            }
        }
        if attached.is_empty() {
            return Ok(());
        }
        let only_text = match attached.as_slice() {
            [one] if one.get("type") == Some(&json!("text")) => one.get("text").cloned(),
            _ => None,
        };
        self.out.push(json!({"role":"user","content":only_text.unwrap_or(Value::Array(attached))}));
        Ok(())
    }

    /// A tool message holds text only; images and documents are attached to the user message that follows.
    fn result(&mut self, result: &ToolResult, attached: &mut Vec<Value>) -> Result<(), Rejection> {
        let mut texts: Vec<&str> = Vec::new();
        let mut media = Vec::new();
        for content in &result.content {
            match content {
                Content::Text(text) => texts.push(&text.text),
                other => media.push(content_part(other)?),
            }
        }
        let mut text = texts.join("\n");
        if !media.is_empty() {
            let kind = if result.content.iter().any(|c| matches!(c, Content::Image(_))) { "image" } else { "document" };
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&format!("[{kind} attached below]"));
            let title = if kind == "image" { "Images" } else { "Documents" };
            attached.push(json!({"type":"text","text":format!("{title} from tool call {}:", result.call_id)}));
            attached.append(&mut media);
        }
        let text = result_text(text, result.is_error);
        self.out.push(json!({"role":"tool","tool_call_id":result.call_id,"content":text}));
        Ok(())
    }

    fn assistant<'t>(&mut self, run: impl Iterator<Item = &'t Turn>) {
        let (mut content, mut refusal, mut reasoning) = (String::new(), None::<String>, String::new());
        let mut calls = Vec::new();
        for turn in run {
            let Turn::Assistant(parts) = turn else { continue };
            let mut adjacent = false;
            for part in parts {
                match part {
                    AssistantPart::Text(text) => {
                        join(&mut content, &text.text, if adjacent { "" } else { "\n\n" });
                        adjacent = true;
                        continue;
                    }
                    AssistantPart::Refusal(text) => join(refusal.get_or_insert_default(), text, "\n\n"),
                    AssistantPart::Reasoning(thought) => self.reasoning(thought, &mut reasoning),
                    AssistantPart::Call(call) => calls.push(self.call(call)),
                }
                adjacent = false;
            }
        }
        if content.is_empty() && calls.is_empty() && refusal.is_none() && reasoning.is_empty() {
            return;
        }
        let mut message = Out::default();
        message.put("role", "assistant");
        let silent = content.is_empty() && (!calls.is_empty() || refusal.is_some());
        message.put("content", if silent { Value::Null } else { Value::String(content) });
        message.put_some("refusal", refusal);
        if !reasoning.is_empty() {
            message.put("reasoning_content", reasoning);
        }
        if !calls.is_empty() {
            message.put("tool_calls", calls);
        }
        self.out.push(message.into());
    }

    fn reasoning(&mut self, thought: &Reasoning, replayed: &mut String) {
        if self.profile.replay_reasoning {
            join(replayed, &thought.text, "\n\n");
        } else if thought.carrier.as_ref().is_some_and(|c| *c != Carrier::Text) {
            // Sealed by somebody else; plain text is simply not wanted back.
            self.losses.note(dropped_reasoning(&self.prepared.conversation));
        }
    }

    fn call(&self, call: &ToolCall) -> Value {
        let name = self.prepared.names.sent(call.namespace.as_deref(), &call.name);
        if self.custom.get(&call.call_id) == Some(&CallKind::Custom) {
            return json!({"id":call.call_id,"type":"custom","custom":{"name":name,"input":call.input}});
        }
        let arguments = freeform::wrap(call.kind, &call.input);
        json!({"id":call.call_id,"type":"function","function":{"name":name,"arguments":arguments}})
    }
}

fn join(text: &mut String, more: &str, between: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}

fn content_part(content: &Content) -> Result<Value, Rejection> {
    Ok(match content {
        Content::Text(text) => json!({"type":"text","text":text.text}),
        Content::Image(image) => {
            let url = openai::image_url(&image.source);
            let url =
                url.ok_or_else(|| Rejection::unsupported("image", "an image file that is stored at another provider"))?;
            let mut inner = Out::default();
            inner.put("url", url);
            inner.put_some("detail", image.detail.as_deref());
            json!({"type":"image_url","image_url":Value::from(inner)})
        }
        Content::Document(document) => match &document.source {
            Source::Plain(text) => json!({"type":"text","text":openai::plain_text(document.title.as_deref(), text)}),
            Source::Base64 { mime, data } => json!({"type":"file","file":{
                "filename":openai::file_name(document),"file_data":openai::data_url(mime, data)
            }}),
            Source::File { origin: Origin::OpenAi, id } => json!({"type":"file","file":{"file_id":id}}),
            Source::File { .. } => {
                return Err(Rejection::unsupported(
                    "file_id",
                    "a file that is stored at another provider cannot be sent",
                ));
            }
            Source::Url(_) => {
                return Err(Rejection::unsupported("file_url", "a document by URL cannot be sent to this upstream"));
            }
        },
    })
}

/// If any assistant message has reasoning, every one must.
fn complete_reasoning(messages: &mut [Value]) {
    let assistants = |m: &&mut Value| m.get("role") == Some(&json!("assistant"));
    if messages.iter().any(|m| m.get("reasoning_content").is_some()) {
        for message in messages.iter_mut().filter(assistants) {
            if let Value::Object(object) = message
                && !object.contains_key("reasoning_content")
            {
                object.insert("reasoning_content".to_owned(), json!(NO_REASONING));
            }
        }
    }
}
