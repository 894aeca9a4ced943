//! Known models, by the name that is sent. Only what differs from the base is said.

use headgate_domain::{
    UpstreamKind,
    upstream::{ProfileSpec, Thinking},
};

fn words(list: &[&str]) -> Option<Vec<String>> {
    Some(list.iter().map(|word| (*word).to_owned()).collect())
}

/// What is known about a model of an upstream of this kind.
pub(super) fn known(kind: UpstreamKind, model: &str) -> Option<ProfileSpec> {
    // Routers write `anthropic/claude-…`, some vendors write dots for dashes.
    let name = model.rsplit('/').next().unwrap_or(model).replace('.', "-");
    match kind {
        UpstreamKind::Claude => claude(&name),
        UpstreamKind::Openai | UpstreamKind::OpenaiResponse | UpstreamKind::Codex => gpt(kind, &name),
        UpstreamKind::Passthrough => None,
    }
}

/// Anthropic's "Models overview", "Effort", "Adaptive thinking" and "What's new" pages.
fn claude(name: &str) -> Option<ProfileSpec> {
    let none = ProfileSpec::default();
    let is = |parts: &[&str]| name.starts_with("claude") && parts.iter().any(|part| name.contains(part));
    let all = || words(&["low", "medium", "high", "xhigh", "max"]);
    if is(&["opus-4-8", "opus-5", "sonnet-5", "haiku-5"]) {
        // Sampling fields are gone since 4.7; instructions inside the conversation came with 4.8.
        Some(ProfileSpec { sampling: Some(false), mid_system: Some(true), efforts: all(), ..none })
    } else if is(&["opus-4-7", "sonnet-4-7"]) {
        Some(ProfileSpec { sampling: Some(false), efforts: all(), ..none })
    } else if is(&["opus-4-6", "sonnet-4-6"]) {
        Some(ProfileSpec { efforts: words(&["low", "medium", "high", "max"]), ..none })
    } else if is(&["-4-5", "opus-4", "sonnet-4", "3-7-sonnet"]) {
        Some(ProfileSpec { thinking: Some(Thinking::Manual), ..none })
    } else if is(&["3-5-"]) {
        Some(ProfileSpec { thinking: Some(Thinking::None), default_max_tokens: Some(8192), ..none })
    } else if is(&["claude-3-"]) {
        Some(ProfileSpec { thinking: Some(Thinking::None), default_max_tokens: Some(4096), ..none })
    } else {
        None
    }
}

/// OpenAI's model pages and its reasoning guide.
fn gpt(kind: UpstreamKind, name: &str) -> Option<ProfileSpec> {
    let starts = |parts: &[&str]| parts.iter().any(|part| name.starts_with(part));
    let efforts: &[&str] = if starts(&["o1", "o3", "o4"]) {
        &["low", "medium", "high"]
    } else if starts(&["gpt-5-1", "gpt-5-1-"]) {
        &["none", "low", "medium", "high"]
    } else if name == "gpt-5" || starts(&["gpt-5-mini", "gpt-5-nano", "gpt-5-2025"]) {
        &["minimal", "low", "medium", "high"]
    } else if starts(&["gpt-5-", "gpt-6"]) && !name.contains("chat") {
        &["none", "low", "medium", "high", "xhigh"]
    } else {
        return None;
    };
    Some(ProfileSpec {
        efforts: words(efforts),
        // Reasoning models refuse temperature and top_p.
        sampling: Some(false),
        // In Chat they refuse max_tokens.
        max_tokens_field: (kind == UpstreamKind::Openai).then(|| "max_completion_tokens".to_owned()),
        ..ProfileSpec::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_of_claude_are_told_apart() {
        let thinking = |name| known(UpstreamKind::Claude, name).and_then(|p| p.thinking);
        for name in ["claude-sonnet-4-5", "claude-opus-4-1-20250805", "claude-sonnet-4-20250514", "claude-haiku-4.5"] {
            assert_eq!(thinking(name), Some(Thinking::Manual), "{name}");
        }
        for name in ["claude-opus-4-6", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5-5"] {
            assert_eq!(thinking(name), None, "{name}");
        }
        assert_eq!(thinking("anthropic/claude-3-5-haiku"), Some(Thinking::None));
        assert_eq!(known(UpstreamKind::Claude, "claude-x"), None);
        assert_eq!(known(UpstreamKind::Openai, "claude-opus-5"), None);
    }

    #[test]
    fn reasoning_models_of_openai_take_no_temperature() {
        for name in ["o3-mini", "gpt-5", "gpt-5.1", "gpt-5.5", "openai/gpt-6.2-sol"] {
            assert_eq!(known(UpstreamKind::Openai, name).and_then(|p| p.sampling), Some(false), "{name}");
        }
        for name in ["gpt-4o", "gpt-4.1", "glm-5", "gpt-up", "gpt-codex"] {
            assert_eq!(known(UpstreamKind::OpenaiResponse, name), None, "{name}");
        }
    }
}
