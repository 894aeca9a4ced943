//! Tools that take raw text, for upstreams that only know functions: the text travels as the member `input`.

use serde_json::{Value, json};

use crate::{
    exact,
    neutral::{CallKind, Grammar, Tool, ToolKind},
};

/// The description of a wrapped tool: its own, then how `input` is meant.
pub(crate) fn description(tool: &Tool) -> Option<String> {
    let ToolKind::Custom { grammar } = &tool.kind else { return tool.description.clone() };
    let mut text = tool.description.clone().unwrap_or_default();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str("The member `input` is the raw text for this tool, not JSON.");
    if let Some(Grammar { syntax, definition }) = grammar {
        text.push_str(&format!(" It must follow this {syntax} grammar:\n{definition}"));
    }
    Some(text)
}

/// The parameters of a tool where everything is a function; `None`: they are the client's own.
pub(crate) fn parameters(tool: &Tool) -> Option<Value> {
    match &tool.kind {
        ToolKind::Custom { .. } => Some(json!({
            "type":"object",
            "properties":{"input":{"type":"string","description":"The raw text, exactly as the tool expects it."}},
            "required":["input"]
        })),
        ToolKind::LocalShell => Some(json!({
            "type":"object",
            "properties":{
                "command":{"type":"array","items":{"type":"string"},"description":"The program and its arguments."},
                "working_directory":{"type":"string","description":"Where to run it."},
                "timeout_ms":{"type":"integer","description":"Stop it after so many milliseconds."},
                "env":{"type":"object","description":"Environment variables.","additionalProperties":{"type":"string"}}
            },
            "required":["command"]
        })),
        ToolKind::ToolSearch { schema: None } => Some(json!({
            "type":"object",
            "properties":{
                "query":{"type":"string","description":"What the tool should be able to do."},
                "limit":{"type":"integer","description":"Most tools to return."}
            },
            "required":["query"]
        })),
        _ => None,
    }
}

/// The schema a client gave a function, or a search for tools.
pub(crate) fn own_schema(tool: &Tool) -> Option<&Value> {
    match &tool.kind {
        ToolKind::Function { schema } | ToolKind::ToolSearch { schema } => schema.as_ref(),
        _ => None,
    }
}

/// A call's input where everything is a function: raw text is wrapped.
pub(crate) fn wrap(kind: CallKind, input: &str) -> String {
    match kind {
        CallKind::Custom => json!({"input":input}).to_string(),
        _ if input.trim().is_empty() => "{}".to_owned(),
        _ => input.to_owned(),
    }
}

/// The arguments as an object, as an upstream needs them that takes no text. What is no object stays visible, so that
/// the tool's own schema refuses it.
pub(crate) fn object(input: &str) -> Value {
    if input.trim().is_empty() {
        return json!({});
    }
    match exact::read(input.as_bytes()) {
        Ok(value @ Value::Object(_)) => value,
        _ => json!({"_invalid_json":input}),
    }
}

/// The raw text inside the arguments of a wrapped call.
pub(crate) fn unwrap(arguments: &str) -> String {
    if let Ok(Value::Object(object)) = serde_json::from_str(arguments) {
        let only = if object.len() == 1 { object.values().next() } else { None };
        let text = object.get("input").filter(|v| v.is_string()).or(only);
        if let Some(Value::String(text)) = text {
            return text.clone();
        }
    }
    arguments.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_text_is_found_whatever_the_model_made_of_it() {
        assert_eq!(unwrap(r#"{"input":"a\nb"}"#), "a\nb");
        assert_eq!(unwrap(r#"{"patch":"a"}"#), "a");
        assert_eq!(unwrap(r#"{"input":"a","why":"b"}"#), "a");
        for raw in ["*** Begin", r#"{"input":1}"#, r#"{"a":"x","b":"y"}"#, "\"text\"", "{"] {
            assert_eq!(unwrap(raw), raw);
        }
    }

    #[test]
    fn arguments_that_are_no_object_fail_visibly() {
        assert_eq!(object(" "), json!({}));
        assert_eq!(object("{\"a\":1}"), json!({"a":1}));
        for raw in ["[1]", "{\"a\":", "3"] {
            assert_eq!(object(raw), json!({"_invalid_json":raw}));
        }
    }
}
