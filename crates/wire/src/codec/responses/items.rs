//! Output items of a Responses answer.

use serde_json::{Value, json};

use super::decode::OWN_SEARCH;
use crate::{
    codec::{Out, freeform, openai::url_citation},
    head::Head,
    neutral::{CallHead, CallKind, Carrier, Piece},
};

/// How complete an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    InProgress,
    Completed,
    Incomplete,
}

impl Status {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
        }
    }
}

/// The id of the item at `output_index`: short, since clients keep it for ever.
pub(super) fn id(piece: &Piece, head: &Head, index: u32) -> String {
    let prefix = match piece {
        Piece::Text { .. } | Piece::Refusal(_) => "msg_",
        Piece::Reasoning { .. } => "rs_",
        Piece::Call { head, .. } => match head.kind {
            CallKind::Function => "fc_",
            CallKind::Custom => "ctc_",
            CallKind::LocalShell => "lsh_",
            CallKind::ToolSearch => "tsc_",
        },
        Piece::Search(_) => OWN_SEARCH,
    };
    head.seed.part(prefix, index)
}

/// The part of a message; `None` for what is no message.
pub(super) fn content_part(piece: &Piece) -> Option<Value> {
    Some(match piece {
        Piece::Text { text, citations, logprobs } => {
            let length = text.chars().count() as u64;
            let annotations: Vec<Value> = citations.iter().map(|c| url_citation(c, 0, length)).collect();
            json!({"type":"output_text","text":text,"annotations":annotations,"logprobs":logprobs})
        }
        Piece::Refusal(text) => json!({"type":"refusal","refusal":text}),
        _ => return None,
    })
}

/// The item as it is announced: without content.
pub(super) fn announced(piece: &Piece, id: &str) -> Value {
    match piece {
        Piece::Text { .. } | Piece::Refusal(_) => {
            json!({"type":"message","id":id,"role":"assistant","status":Status::InProgress.as_str(),"content":[]})
        }
        Piece::Reasoning { .. } => json!({"type":"reasoning","id":id,"summary":[]}),
        Piece::Call { head, .. } if matches!(head.kind, CallKind::Function | CallKind::Custom) => {
            call(head, "", id, Status::InProgress)
        }
        Piece::Call { .. } | Piece::Search(_) => item(piece, id, Status::InProgress),
    }
}

/// The complete item.
pub(super) fn item(piece: &Piece, id: &str, status: Status) -> Value {
    match piece {
        Piece::Text { .. } | Piece::Refusal(_) => json!({
            "type":"message","id":id,"role":"assistant","status":status.as_str(),
            "content":content_part(piece).into_iter().collect::<Vec<_>>()
        }),
        Piece::Reasoning { text, carrier } => {
            let mut out = Out::default();
            out.put("type", "reasoning");
            out.put("id", id);
            out.put("summary", if text.is_empty() { json!([]) } else { json!([{"type":"summary_text","text":text}]) });
            let sealed = carrier.as_ref().filter(|c| **c != Carrier::Text);
            out.put_some("encrypted_content", sealed.map(Carrier::wrap));
            out.into()
        }
        Piece::Call { head, input } => call(head, input, id, status),
        Piece::Search(search) => json!({
            "type":"web_search_call","id":id,"status":status.as_str(),
            "action":{"type":"search","query":search.query,"queries":[search.query]}
        }),
    }
}

fn call(head: &CallHead, input: &str, id: &str, status: Status) -> Value {
    let mut out = Out::default();
    match head.kind {
        CallKind::Function => {
            out.put("type", "function_call");
            out.put("id", id);
            out.put("call_id", head.call_id.as_str());
            out.put("name", head.name.as_str());
            out.put_some("namespace", head.namespace.as_deref());
            out.put("arguments", input);
            out.put("status", status.as_str());
        }
        CallKind::Custom => {
            out.put("type", "custom_tool_call");
            out.put("id", id);
            out.put("call_id", head.call_id.as_str());
            out.put("name", head.name.as_str());
            out.put_some("namespace", head.namespace.as_deref());
            out.put("input", input);
        }
        CallKind::LocalShell => {
            let mut action = Out::default();
            action.put("type", "exec");
            // A model may add members of its own; clients know these, and what it is called is ours to say.
            action.0.extend(members(input).into_iter().filter(|(name, _)| SHELL_ACTION.contains(&name.as_str())));
            action.0.entry("command").or_insert_with(|| json!([]));
            action.0.entry("env").or_insert_with(|| json!({}));
            out.put("type", "local_shell_call");
            out.put("id", id);
            out.put("call_id", head.call_id.as_str());
            out.put("action", Value::from(action));
            out.put("status", status.as_str());
        }
        CallKind::ToolSearch => {
            out.put("type", "tool_search_call");
            out.put("id", id);
            out.put("call_id", head.call_id.as_str());
            out.put("execution", "client");
            out.put("arguments", Value::Object(members(input)));
            out.put("status", status.as_str());
        }
    }
    out.into()
}

/// What an action of the built-in shell may say besides its type.
const SHELL_ACTION: [&str; 5] = ["command", "env", "timeout_ms", "user", "working_directory"];

fn members(input: &str) -> serde_json::Map<String, Value> {
    match freeform::object(input) {
        Value::Object(members) => members,
        _ => serde_json::Map::new(),
    }
}
