//! What is called, by which client, in which session.

use headgate_domain::Protocol;
use http::HeaderMap;

/// A route of the gateway's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route<'p> {
    /// `/healthz`
    Health,
    /// `/admin/v1/…`
    Admin,
    /// `/ui/…`, and `/`, which leads there.
    Pages,
    /// An answer of a model.
    Generate(Protocol),
    /// `/v1/messages/count_tokens`
    CountTokens,
    /// `/v1/models`, or one of them.
    Models(Option<&'p str>),
    /// Nothing we know.
    Unknown,
}

/// The route of a path. Client routes are accepted without `/v1` and with a doubled one.
pub fn route(path: &str) -> Route<'_> {
    if path == "/healthz" {
        return Route::Health;
    }
    if path == "/admin/v1" || path.starts_with("/admin/v1/") {
        return Route::Admin;
    }
    if path == "/" || path == "/ui" || path.starts_with("/ui/") {
        return Route::Pages;
    }
    let once = path.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let rest = once.strip_prefix("/v1").filter(|rest| rest.starts_with('/') && once != path).unwrap_or(once);
    match rest {
        "/chat/completions" => Route::Generate(Protocol::Chat),
        "/responses" => Route::Generate(Protocol::Responses),
        "/messages" => Route::Generate(Protocol::Claude),
        "/messages/count_tokens" => Route::CountTokens,
        "/models" => Route::Models(None),
        _ => match rest.strip_prefix("/models/") {
            Some(id) if !id.is_empty() => Route::Models(Some(id)),
            _ => Route::Unknown,
        },
    }
}

/// The protocol in which a refusal is told.
pub fn error_protocol(route: Route<'_>, headers: &HeaderMap) -> Protocol {
    match route {
        Route::Generate(protocol) => protocol,
        Route::CountTokens => Protocol::Claude,
        _ if headers.contains_key("anthropic-version") => Protocol::Claude,
        _ => Protocol::Chat,
    }
}

/// The client program, as far as its headers tell.
pub fn client(headers: &HeaderMap) -> Option<&'static str> {
    const BY_AGENT: [(&str, &str); 14] = [
        ("claude-cli", "claude-code"),
        ("codex", "codex"),
        ("opencode", "opencode"),
        ("ai-sdk/", "ai-sdk"),
        ("ai/", "ai-sdk"),
        ("openai/python", "openai-python"),
        ("asyncopenai/python", "openai-python"),
        ("openai/js", "openai-node"),
        ("anthropic/python", "anthropic-python"),
        ("asyncanthropic/python", "anthropic-python"),
        ("anthropic/js", "anthropic-node"),
        ("litellm", "litellm"),
        ("curl/", "curl"),
        ("python-requests", "python-requests"),
    ];
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    let codex_header = ["x-codex-turn-metadata", "x-codex-beta-features", "x-openai-internal-codex-responses-lite"];
    if codex_header.iter().any(|name| headers.contains_key(*name)) || text("originator").contains("codex") {
        return Some("codex");
    }
    let agent = text("user-agent");
    BY_AGENT.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name)
}

/// The session a request belongs to: our own headers, those of known tools, then what the body says.
pub fn session(headers: &HeaderMap, from_body: Option<&str>) -> Option<String> {
    const HEADERS: [&str; 9] = [
        "x-job-id",
        "x-session-key",
        "x-claude-code-session-id",
        "session-id",
        "session_id",
        "thread-id",
        "conversation_id",
        "x-session-affinity",
        "x-session-id",
    ];
    HEADERS
        .iter()
        .filter_map(|name| headers.get(*name).and_then(|v| v.to_str().ok()))
        .chain(from_body)
        .map(|session| session.trim().chars().take(512).collect::<String>())
        .find(|session| !session.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_routes_have_their_aliases_and_nothing_else() {
        for path in ["/v1/messages", "/messages", "/v1/v1/messages"] {
            assert_eq!(route(path), Route::Generate(Protocol::Claude), "{path}");
        }
        assert_eq!(route("/v1/models/org/model-1"), Route::Models(Some("org/model-1")));
        for odd in [
            "/v1/v1/v1/messages",
            "/v1/messages/",
            "//v1/messages",
            "/V1/messages",
            "/v1/messages/x",
            "/v1messages",
            "/v1",
            "/admin",
            "/healthz/",
        ] {
            assert_eq!(route(odd), Route::Unknown, "{odd}");
        }
        for page in ["/", "/ui", "/ui/", "/ui/requests"] {
            assert_eq!(route(page), Route::Pages, "{page}");
        }
    }

    #[test]
    fn codex_is_known_by_its_headers_whatever_its_agent() {
        let mut headers = HeaderMap::new();
        headers.insert("x-codex-turn-metadata", "{}".parse().unwrap());
        assert_eq!(client(&headers), Some("codex"));
        headers.clear();
        headers.insert("user-agent", "claude-cli/2.1.332 (external, sdk-cli)".parse().unwrap());
        assert_eq!(client(&headers), Some("claude-code"));
    }

    #[test]
    fn our_own_session_headers_come_first() {
        let mut headers = HeaderMap::new();
        assert_eq!(session(&headers, Some("body")).as_deref(), Some("body"));
        headers.insert("session_id", "tool".parse().unwrap());
        assert_eq!(session(&headers, Some("body")).as_deref(), Some("tool"));
        headers.insert("x-job-id", "job".parse().unwrap());
        assert_eq!(session(&headers, None).as_deref(), Some("job"));
    }
}
