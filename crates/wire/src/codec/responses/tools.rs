//! Tools and tool choice of Responses, read and written.

use serde_json::{Map, Value, json};

use crate::{
    codec::openai,
    json::Fields,
    loss::Rejection,
    neutral::{Grammar, Tool, ToolChoice, ToolKind, WebSearch},
};

/// Appends the tool, or the tools of a namespace; the first declaration of a name stands.
pub(super) fn declare(value: Value, namespace: Option<&str>, tools: &mut Vec<Tool>) -> Result<(), Rejection> {
    let mut tool = Fields::new(value, "tools")?;
    let kind = tool.kind().unwrap_or_else(|| "function".to_owned());
    if kind == "namespace" && namespace.is_none() {
        let name = tool.required("name")?;
        for child in tool.list("tools")?.unwrap_or_default() {
            declare(child, Some(&name), tools)?;
        }
        return Ok(());
    }
    let client_search = kind == "tool_search" && tool.lenient("execution").is_none_or(|e| e == "client");
    let (name, read) = match kind.as_str() {
        "function" => (tool.required("name")?, ToolKind::Function { schema: tool.any("parameters") }),
        "custom" => {
            let grammar = tool.loose_object("format").as_mut().and_then(Grammar::read);
            (tool.required("name")?, ToolKind::Custom { grammar })
        }
        "local_shell" => (kind, ToolKind::LocalShell),
        "tool_search" if client_search => (kind, ToolKind::ToolSearch { schema: tool.any("parameters") }),
        _ if kind.starts_with("web_search") => {
            let mut search = WebSearch { location: tool.any("user_location"), ..WebSearch::default() };
            if let Some(mut filters) = tool.loose_object("filters") {
                search.allowed = filters.texts("allowed_domains");
                search.blocked = filters.texts("blocked_domains");
            }
            ("web_search".to_owned(), ToolKind::WebSearch(search))
        }
        _ => (kind.clone(), ToolKind::Hosted { kind }),
    };
    let read = Tool {
        name,
        namespace: namespace.map(str::to_owned),
        description: tool.text("description")?,
        kind: read,
        strict: tool.boolean("strict")?,
        cache: tool.any("cache_control"),
    };
    if !tools.iter().any(|t| t.name == read.name && t.namespace == read.namespace) {
        tools.push(read);
    }
    Ok(())
}

/// Reads `tool_choice`.
pub(super) fn choice(value: Value) -> Result<ToolChoice, Rejection> {
    let mut fields = match value {
        Value::String(word) => {
            return openai::choice(&word)
                .ok_or_else(|| Rejection::illegal("tool_choice", "is not a choice of this protocol"));
        }
        other => Fields::new(other, "tool_choice")?,
    };
    let kind = fields.required("type")?;
    if kind == "allowed_tools" {
        let mut names = Vec::new();
        for tool in fields.list("tools")?.unwrap_or_default() {
            let mut tool = Fields::new(tool, "tool_choice.tools")?;
            let kind = tool.required("type")?;
            names.push(tool.text("name")?.unwrap_or(kind));
        }
        return Ok(ToolChoice::Allowed { required: fields.text("mode")?.as_deref() == Some("required"), names });
    }
    let hosted = if kind.starts_with("web_search") { "web_search".to_owned() } else { kind };
    Ok(ToolChoice::Tool { name: fields.text("name")?.unwrap_or(hosted), namespace: fields.text("namespace")? })
}

/// Writes a tool under the name the upstream knows it by.
pub(super) fn encode(tool: &Tool, name: &str, schema: Value) -> Value {
    let mut out = Map::new();
    let mut put = |member: &str, value: Value| {
        out.insert(member.to_owned(), value);
    };
    match &tool.kind {
        ToolKind::Function { .. } => {
            put("type", json!("function"));
            put("name", json!(name));
            if let Some(description) = &tool.description {
                put("description", json!(description));
            }
            put("parameters", schema);
            // Absent would mean "try strict", which most schemas are not written for.
            put("strict", json!(tool.strict == Some(true)));
        }
        ToolKind::Custom { grammar } => {
            put("type", json!("custom"));
            put("name", json!(name));
            if let Some(description) = &tool.description {
                put("description", json!(description));
            }
            if let Some(Grammar { syntax, definition }) = grammar {
                put("format", json!({"type":"grammar","syntax":syntax,"definition":definition}));
            }
        }
        ToolKind::LocalShell => put("type", json!("local_shell")),
        ToolKind::ToolSearch { .. } => {
            put("type", json!("tool_search"));
            put("execution", json!("client"));
            if let Some(description) = &tool.description {
                put("description", json!(description));
            }
            put("parameters", schema);
        }
        ToolKind::WebSearch(search) => {
            put("type", json!("web_search"));
            if !search.allowed.is_empty() {
                put("filters", json!({"allowed_domains":search.allowed}));
            }
            if let Some(location) = &search.location {
                put("user_location", location.clone());
            }
        }
        ToolKind::Hosted { kind } => put("type", json!(kind)),
    }
    Value::Object(out)
}
