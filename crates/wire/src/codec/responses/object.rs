//! The Responses object that events carry, and what it repeats of the request.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::head::Head;

/// Members that repeat the request, with what stands there when the client gave none.
const REPEATED: [(&str, &str); 13] = [
    ("instructions", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("temperature", "null"),
    ("tool_choice", "\"auto\""),
    ("tools", "[]"),
    ("top_p", "null"),
    ("max_output_tokens", "null"),
    ("previous_response_id", "null"),
    ("reasoning", "{\"effort\":null,\"summary\":null}"),
    ("text", "{\"format\":{\"type\":\"text\"}}"),
    ("truncation", "\"disabled\""),
    ("user", "null"),
];

/// What an answer repeats of the request `body`, as members without braces; taken as they stand there.
pub(crate) fn echo(body: &[u8]) -> Arc<str> {
    #[derive(Default, Deserialize)]
    struct Members<'a>(#[serde(borrow)] std::collections::HashMap<std::borrow::Cow<'a, str>, &'a RawValue>);
    let members: Members<'_> = serde_json::from_slice(body).unwrap_or_default();
    let mut out = String::new();
    for (member, absent) in REPEATED {
        let given = members.0.get(member).map(|raw| raw.get()).filter(|raw| *raw != "null");
        for part in [",\"", member, "\":", given.unwrap_or(absent)] {
            out.push_str(part);
        }
    }
    out.into()
}

/// A Responses object being written.
pub(super) struct Object<'h> {
    head: &'h Head,
    status: &'static str,
    pub(super) error: Value,
    pub(super) incomplete_details: Value,
}

impl<'h> Object<'h> {
    pub(super) fn new(head: &'h Head, status: &'static str) -> Self {
        Self { head, status, error: Value::Null, incomplete_details: Value::Null }
    }

    /// The object as JSON text; `output` are items as JSON text.
    pub(super) fn finish(self, output: &[String], usage: Value) -> String {
        let mut text = json!({
            "id":self.head.id,"object":"response","created_at":self.head.created,"status":self.status,
            "error":self.error,"incomplete_details":self.incomplete_details,"model":self.head.model,"usage":usage
        })
        .to_string();
        text.pop();
        text.push_str(",\"output\":[");
        for (number, item) in output.iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            text.push_str(item);
        }
        text.push(']');
        text.push_str(&self.head.echo);
        text.push('}');
        text
    }
}

/// Writes an event with the next sequence number; the members' values are JSON text.
pub(super) fn event(head: &mut Head, name: &str, members: &[(&str, String)], out: &mut Vec<u8>) {
    let mut write = |part: &str| out.extend_from_slice(part.as_bytes());
    for part in ["event: ", name, "\ndata: {\"type\":\"", name, "\",\"sequence_number\":"] {
        write(part);
    }
    write(&head.sequence.to_string());
    head.sequence += 1;
    for (member, value) in members {
        for part in [",\"", member, "\":", value] {
            write(part);
        }
    }
    write("}\n\n");
}
