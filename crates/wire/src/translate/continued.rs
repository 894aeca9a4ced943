//! A stream of the client's own protocol that goes on behind an opening of ours.
//!
//! While a candidate of another protocol kept silent, the client's stream was opened. The candidate that answers in the
//! end may speak the client's protocol: its events pass, but its own opening may not, and what names the answer, or
//! counts its events, has to agree with what the client has seen.

use headgate_domain::Protocol;
use serde_json::{Map, Value};

use crate::head::{Head, frame};

/// Writes the upstream's next event.
pub(super) fn event(head: &mut Head, data: &[u8], out: &mut Vec<u8>) {
    let data = data.trim_ascii();
    if data == b"[DONE]" {
        out.extend_from_slice(b"data: [DONE]\n\n");
        return;
    }
    let Ok(Value::Object(mut event)) = serde_json::from_slice(data) else { return };
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = match head.protocol {
        Protocol::Chat => {
            rename(head, &mut event);
            event.insert("created".to_owned(), Value::from(head.created));
            let delta = |choice: &mut Value| choice.get_mut("delta")?.as_object_mut()?.shift_remove("role");
            event.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten().for_each(|choice| {
                // SDKs that add deltas up would say it twice.
                delta(choice);
            });
            None
        }
        Protocol::Claude if kind == "message_start" => return,
        Protocol::Claude => Some(kind.as_str()),
        Protocol::Responses
            if matches!(kind.as_str(), "response.created" | "response.in_progress" | "response.queued") =>
        {
            return;
        }
        Protocol::Responses => {
            event.insert("sequence_number".to_owned(), Value::from(head.sequence));
            head.sequence += 1;
            if let Some(Value::Object(response)) = event.get_mut("response") {
                rename(head, response);
            }
            Some(kind.as_str())
        }
    };
    frame(out, name, &event);
}

fn rename(head: &Head, answer: &mut Map<String, Value>) {
    answer.insert("id".to_owned(), Value::from(head.id.as_str()));
    answer.insert("model".to_owned(), Value::from(head.model.as_str()));
}
