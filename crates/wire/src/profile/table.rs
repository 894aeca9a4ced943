//! The published table of profiles, made from the data so that it cannot differ from it.

use std::fmt::Write;

use headgate_domain::{UpstreamKind, upstream::ProfileSpec};

use super::{Profile, bases};

/// The keys that each base sets, as a Markdown table.
pub fn markdown() -> String {
    let mut out = String::from("| profile | sets |\n| --- | --- |\n");
    for name in bases::NAMES {
        let _ = writeln!(out, "| `{name}` | {} |", keys(&bases::named(name)));
    }
    out.push_str("\nWhat none of them sets:\n\n| kind | default |\n| --- | --- |\n");
    for kind in [UpstreamKind::Claude, UpstreamKind::Openai, UpstreamKind::OpenaiResponse, UpstreamKind::Codex] {
        let profile = Profile::defaults(kind);
        let none = profile.effort_none.then_some("none");
        let efforts: Vec<&str> = none.into_iter().chain(profile.efforts.iter().map(|e| e.as_str())).collect();
        let _ = writeln!(
            out,
            "| `{}` | `default_max_tokens` {}, `efforts` {}, `forced_tool_stops_thinking` {} |",
            kind.as_str(),
            profile.default_max_tokens,
            efforts.join(" "),
            profile.forced_tool_stops_thinking
        );
    }
    out
}

fn keys(spec: &ProfileSpec) -> String {
    let value = serde_json::to_value(spec).unwrap_or_default();
    let shown = |value: &serde_json::Value| match value {
        serde_json::Value::Array(list) => list.iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join(" "),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let keys = value.as_object().into_iter().flatten().map(|(key, value)| format!("`{key}` {}", shown(value)));
    let keys = keys.collect::<Vec<_>>().join(", ");
    if keys.is_empty() { "nothing: the defaults, refined by the model table".to_owned() } else { keys }
}
