//! Cache marks of a Messages request.

use serde_json::{Value, json};

/// Most marks in a request.
const MAX_MARKS: usize = 4;

/// Keeps the client's marks, the last four of them. Without any, and if the profile says so, marks the end of what
/// stays the same (system, else tools) and the end of the last user message.
pub(super) fn place(system: &mut [Value], tools: &mut [Value], messages: &mut [Value], auto: bool) {
    let mut marked: Vec<&mut Value> = Vec::new();
    let blocks = messages.iter_mut().filter_map(|m| m.get_mut("content")?.as_array_mut()).flatten();
    for block in tools.iter_mut().chain(system.iter_mut()).chain(blocks) {
        // Results hold blocks of their own.
        marked.extend(
            block.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten().filter(|b| is_marked(b)),
        );
    }
    let inner = marked.len();
    for block in marked.into_iter().rev().skip(MAX_MARKS) {
        unmark(block);
    }
    let blocks = messages.iter_mut().filter_map(|m| m.get_mut("content")?.as_array_mut()).flatten();
    let outer: Vec<&mut Value> =
        tools.iter_mut().chain(system.iter_mut()).chain(blocks).filter(|b| is_marked(b)).collect();
    let none = outer.is_empty() && inner == 0;
    for block in outer.into_iter().rev().skip(MAX_MARKS.saturating_sub(inner)) {
        unmark(block);
    }
    if auto && none {
        let fixed = if system.is_empty() { tools.last_mut() } else { system.last_mut() };
        fixed.map(mark);
        let user = messages.iter_mut().rev().find(|m| m.get("role").is_some_and(|r| r == "user"));
        user.and_then(|m| m.get_mut("content")?.as_array_mut()?.last_mut()).map(mark);
    }
}

fn is_marked(block: &Value) -> bool {
    block.get("cache_control").is_some_and(|mark| !mark.is_null())
}

fn mark(block: &mut Value) {
    if let Value::Object(block) = block {
        block.insert("cache_control".to_owned(), json!({"type":"ephemeral"}));
    }
}

fn unmark(block: &mut Value) {
    if let Value::Object(block) = block {
        block.shift_remove("cache_control");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(mark: bool) -> Value {
        if mark {
            json!({"type":"text","text":"x","cache_control":{"type":"ephemeral"}})
        } else {
            json!({"type":"text","text":"x"})
        }
    }

    fn marks(values: &[Value]) -> usize {
        serde_json::to_string(values).unwrap().matches("cache_control").count()
    }

    #[test]
    fn the_end_of_system_and_of_the_last_user_message_are_marked_when_the_client_marked_nothing() {
        let (mut system, mut tools) = (vec![text(false), text(false)], vec![json!({"name":"t"})]);
        let mut messages = vec![
            json!({"role":"user","content":[text(false), text(false)]}),
            json!({"role":"assistant","content":[text(false)]}),
        ];
        place(&mut system, &mut tools, &mut messages, true);
        assert!(is_marked(&system[1]) && !is_marked(&system[0]) && marks(&tools) == 0);
        assert!(is_marked(&messages[0]["content"][1]) && marks(&messages) == 1);
    }

    #[test]
    fn never_more_than_four_marks_and_the_clients_own_are_kept() {
        let mut system = vec![text(true)];
        let inner = json!({"type":"tool_result","content":[text(true)],"cache_control":{"type":"ephemeral"}});
        let mut messages = vec![json!({"role":"user","content":[inner, text(true), text(true), text(true)]})];
        place(&mut system, &mut [], &mut messages, true);
        assert_eq!(marks(&system) + marks(&messages), 4);
        assert!(is_marked(&messages[0]["content"][3]));
        let mut messages = vec![json!({"role":"user","content":[text(true), text(false)]})];
        place(&mut [], &mut [], &mut messages, true);
        assert!(!is_marked(&messages[0]["content"][1]));
    }
}
