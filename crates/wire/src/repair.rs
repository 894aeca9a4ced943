//! Calls and their results put together, as every upstream demands it: each call has exactly one result, which follows
//! it directly.

use std::collections::HashMap;

use crate::{
    loss::Losses,
    neutral::{AssistantPart, Content, Text, ToolResult, Turn, UserPart},
};

/// What stands where no result was recorded.
const NO_RESULT: &str = "No result was recorded for this tool call.";

/// Puts results behind the run of assistant turns that made their calls, in the order of the calls.
///
/// A result belongs to the latest call of its id before it; of several the last one counts. A call without a result
/// gets one that says so, a result without a call becomes text.
pub(crate) fn pair(mut turns: Vec<Turn>, losses: &mut Losses) -> Vec<Turn> {
    let mut results = assign(&mut turns);
    let mut out: Vec<Turn> = Vec::with_capacity(turns.len());
    let mut open: Vec<UserPart> = Vec::new();
    let mut call = 0;
    for turn in turns {
        match turn {
            Turn::Assistant(parts) => {
                for part in &parts {
                    let AssistantPart::Call(made) = part else { continue };
                    let result = results.of_call.get_mut(call).and_then(Option::take);
                    call += 1;
                    open.push(UserPart::Result(result.unwrap_or_else(|| {
                        losses.note("repaired:tool_call_without_result");
                        ToolResult {
                            call_id: made.call_id.clone(),
                            content: vec![Content::Text(Text::new(NO_RESULT))],
                            is_error: true,
                            cache: None,
                        }
                    })));
                }
                out.push(Turn::Assistant(parts));
            }
            Turn::System(texts) => {
                close(&mut out, &mut open);
                out.push(Turn::System(texts));
            }
            Turn::User(parts) => {
                let had_parts = !parts.is_empty();
                let mut kept = std::mem::take(&mut open);
                for part in parts {
                    match part {
                        UserPart::Result(result) if results.is_orphan(&result.call_id) => {
                            losses.note("repaired:tool_result_without_call");
                            kept.extend(as_text(result));
                        }
                        UserPart::Result(_) => {}
                        content @ UserPart::Content(_) => kept.push(content),
                    }
                }
                if !kept.is_empty() || !had_parts {
                    out.push(Turn::User(kept));
                }
            }
        }
    }
    close(&mut out, &mut open);
    out
}

fn close(out: &mut Vec<Turn>, open: &mut Vec<UserPart>) {
    if !open.is_empty() {
        out.push(Turn::User(std::mem::take(open)));
    }
}

/// Which result each call got, by the number of the call.
struct Assigned {
    of_call: Vec<Option<ToolResult>>,
    calls: HashMap<String, Vec<(usize, usize)>>,
}

impl Assigned {
    fn is_orphan(&self, call_id: &str) -> bool {
        !self.calls.contains_key(call_id)
    }
}

/// The content of assigned results is taken out of `turns`; it may be large.
fn assign(turns: &mut [Turn]) -> Assigned {
    // Where each id was called: the place of the turn, and the number of the call.
    let mut calls: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut count = 0;
    for (place, turn) in turns.iter().enumerate() {
        let Turn::Assistant(parts) = turn else { continue };
        for part in parts {
            if let AssistantPart::Call(call) = part {
                calls.entry(call.call_id.clone()).or_default().push((place, count));
                count += 1;
            }
        }
    }
    let mut of_call = Vec::new();
    of_call.resize_with(count, || None);
    for (place, turn) in turns.iter_mut().enumerate() {
        let Turn::User(parts) = turn else { continue };
        for part in parts {
            let UserPart::Result(result) = part else { continue };
            let Some(made) = calls.get(result.call_id.as_str()) else { continue };
            let before = made.partition_point(|(at, _)| *at < place);
            let of = made.get(before.saturating_sub(1)).map_or(0, |(_, number)| *number);
            if let Some(slot) = of_call.get_mut(of) {
                *slot = Some(ToolResult { content: std::mem::take(&mut result.content), ..result.clone() });
            }
        }
    }
    Assigned { of_call, calls }
}

/// A result without its call, as something the user says.
fn as_text(result: ToolResult) -> Vec<UserPart> {
    let head = format!("Tool result without a matching call ({}):\n", result.call_id);
    let mut parts: Vec<Content> = Vec::new();
    let mut content = result.content.into_iter();
    match content.next() {
        Some(Content::Text(text)) => parts.push(Content::Text(Text { text: head + &text.text, cache: text.cache })),
        other => {
            parts.push(Content::Text(Text::new(head)));
            parts.extend(other);
        }
    }
    parts.extend(content);
    parts.into_iter().map(UserPart::Content).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neutral::ToolCall;

    fn call(id: &str) -> AssistantPart {
        let text = |t: &str| t.to_owned();
        AssistantPart::Call(ToolCall {
            call_id: text(id),
            name: text("f"),
            namespace: None,
            kind: crate::neutral::CallKind::Function,
            input: text("{}"),
        })
    }

    fn result(id: &str, text: &str) -> UserPart {
        let content = vec![Content::Text(Text::new(text))];
        UserPart::Result(ToolResult { call_id: id.to_owned(), content, is_error: false, cache: None })
    }

    fn said(turns: &[Turn]) -> Vec<String> {
        let mut said = Vec::new();
        for turn in turns {
            match turn {
                Turn::Assistant(parts) => said.push(format!("assistant {}", parts.len())),
                Turn::System(_) => said.push("system".to_owned()),
                Turn::User(parts) => said.extend(parts.iter().map(|part| match part {
                    UserPart::Result(r) => match r.content.first() {
                        Some(Content::Text(t)) => format!("{}={}", r.call_id, t.text),
                        _ => r.call_id.clone(),
                    },
                    UserPart::Content(_) => "text".to_owned(),
                })),
            }
        }
        said
    }

    #[test]
    fn results_follow_their_calls_in_the_order_of_the_calls() {
        let mut losses = Losses::default();
        let turns = vec![
            Turn::Assistant(vec![call("a")]),
            Turn::Assistant(vec![call("b")]),
            Turn::System(vec![Text::new("s")]),
            Turn::User(vec![result("b", "2"), result("a", "0"), result("a", "1")]),
        ];
        assert_eq!(said(&pair(turns, &mut losses)), ["assistant 1", "assistant 1", "a=1", "b=2", "system"]);
        assert!(losses.is_empty());
    }

    #[test]
    fn an_id_used_again_in_a_later_turn_keeps_both_results() {
        let mut losses = Losses::default();
        let turns = vec![
            Turn::Assistant(vec![call("c")]),
            Turn::User(vec![result("c", "first")]),
            Turn::Assistant(vec![call("c")]),
            Turn::User(vec![result("c", "second")]),
        ];
        assert_eq!(said(&pair(turns, &mut losses)), ["assistant 1", "c=first", "assistant 1", "c=second"]);
    }

    #[test]
    fn a_call_in_the_very_last_turn_gets_a_result_too() {
        let mut losses = Losses::default();
        let out = said(&pair(vec![Turn::Assistant(vec![call("c")])], &mut losses));
        assert_eq!(out, ["assistant 1".to_owned(), format!("c={NO_RESULT}")]);
        assert_eq!(losses.codes(), ["repaired:tool_call_without_result"]);
    }
}
