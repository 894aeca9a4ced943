//! Words the gateway puts into requests, and what goes without saying for every upstream.

use headgate_domain::Protocol;

use crate::{loss::Losses, neutral::Conversation};

/// An instruction that has to travel in a user turn.
pub(crate) fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}

/// The text of a result: never empty, and marked if the tool failed.
pub(crate) fn result_text(text: String, is_error: bool) -> String {
    let text = if text.is_empty() { "(no output)".to_owned() } else { text };
    if is_error { format!("[tool error] {text}") } else { text }
}

/// The code for reasoning that the target cannot take, in the client's words.
pub(crate) fn dropped_reasoning(conversation: &Conversation) -> &'static str {
    match conversation.extensions.protocol {
        Some(Protocol::Responses) => "dropped:reasoning_item",
        Some(Protocol::Claude) => "dropped:thinking_block",
        Some(Protocol::Chat) | None => "dropped:reasoning_content",
    }
}

/// The stop sequences that an upstream takes: none of only white space, at most `most`.
pub(crate) fn stop_sequences(stop: &[String], most: usize, losses: &mut Losses) -> Vec<String> {
    let kept: Vec<String> = stop.iter().filter(|s| !s.trim().is_empty()).take(most).cloned().collect();
    if kept.len() < stop.len() {
        losses.note("dropped:stop");
    }
    kept
}
