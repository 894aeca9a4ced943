//! Which headers pass through the gateway, in both directions, and how a credential is attached.

use headgate_domain::{Protocol, upstream::Auth};
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::snapshot::Endpoint;

/// Names that go to a same-protocol upstream.
const TO_UPSTREAM: [&str; 11] = [
    "accept",
    "user-agent",
    "originator",
    "version",
    "session-id",
    "session_id",
    "thread-id",
    "conversation_id",
    "x-app",
    "x-client-request-id",
    "traceparent",
];

/// Beginnings of names that go to a same-protocol upstream.
const TO_UPSTREAM_PREFIXES: [&str; 7] =
    ["anthropic-", "openai-", "x-stainless-", "x-codex-", "x-openai-", "x-claude-code-", "x-session-"];

/// Ours, or the client's account: never passed on although a prefix fits.
const NEVER_TO_UPSTREAM: [&str; 3] = ["x-session-key", "openai-organization", "openai-project"];

/// Names that come back to the client.
const TO_CLIENT: [&str; 5] = ["content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id"];

/// Beginnings of names that come back to the client. `openai-model` is none of them: Codex takes a differing one for
/// a rerouting by the vendor.
const TO_CLIENT_PREFIXES: [&str; 4] = ["anthropic-", "x-ratelimit-", "x-codex-", "openai-processing-"];

/// The upstream's own request id, under our name.
pub const UPSTREAM_REQUEST_ID: HeaderName = HeaderName::from_static("x-headgate-upstream-request-id");

fn goes_up(name: &str) -> bool {
    !NEVER_TO_UPSTREAM.contains(&name)
        && (TO_UPSTREAM.contains(&name) || TO_UPSTREAM_PREFIXES.iter().any(|p| name.starts_with(p)))
}

fn comes_back(name: &str) -> bool {
    TO_CLIENT.contains(&name) || TO_CLIENT_PREFIXES.iter().any(|p| name.starts_with(p))
}

/// The headers of a same-protocol request to an upstream.
pub fn to_upstream(
    client: &HeaderMap,
    endpoint: &Endpoint,
    protocol: Protocol,
    credential: Option<&HeaderValue>,
    session: Option<&str>,
    pseudonym: &str,
) -> HeaderMap {
    let mut out = HeaderMap::with_capacity(client.len() + 4);
    // A header that the client's own Connection header names is of its connection alone.
    let hop: Vec<String> = client
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for (name, value) in client {
        if goes_up(name.as_str()) && !hop.iter().any(|h| h == name.as_str()) {
            out.append(name, value.clone());
        }
    }
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &endpoint.headers {
        out.insert(name, value.clone());
    }
    if let (Some(name), Some(session)) = (&endpoint.session_header, session)
        && let Ok(value) = HeaderValue::from_str(session)
    {
        out.insert(name, value);
    }
    attach(&mut out, endpoint.auth_for(protocol), credential);
    if endpoint.is_near
        && let Ok(value) = HeaderValue::from_str(&via(client, pseudonym))
    {
        out.insert(header::VIA, value);
    }
    out
}

/// Our own kind's pseudonyms this request has passed, and ours: a circle of several gateways is recognised, too.
fn via(client: &HeaderMap, pseudonym: &str) -> String {
    let passed = client.get_all(header::VIA).iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
    let ours = passed.map(str::trim).filter(|hop| hop.starts_with("1.1 headgate-")).take(16);
    ours.map(str::to_owned).chain([format!("1.1 {pseudonym}")]).collect::<Vec<_>>().join(", ")
}

/// Attaches the credential in the one way this upstream takes it.
pub fn attach(headers: &mut HeaderMap, auth: Auth, credential: Option<&HeaderValue>) {
    let Some(credential) = credential else { return };
    match auth {
        Auth::XApiKey => {
            headers.insert(HeaderName::from_static("x-api-key"), credential.clone());
        }
        Auth::Header(name) => {
            if let Ok(name) = HeaderName::try_from(name) {
                headers.insert(name, credential.clone());
            }
        }
        Auth::Bearer => {
            let bearer = [b"Bearer ", credential.as_bytes()].concat();
            if let Ok(mut value) = HeaderValue::from_bytes(&bearer) {
                value.set_sensitive(true);
                headers.insert(header::AUTHORIZATION, value);
            }
        }
    }
}

/// The upstream's own request id.
pub fn request_id(headers: &HeaderMap) -> Option<String> {
    ["x-request-id", "request-id", "openai-request-id", "cf-ray"]
        .iter()
        .find_map(|name| headers.get(*name))
        .and_then(|value| value.to_str().ok())
        .map(|id| id.chars().take(128).collect())
}

/// The headers of an answer that come back to the client.
pub fn to_client(upstream: &HeaderMap) -> HeaderMap {
    let mut out = HeaderMap::with_capacity(upstream.len());
    for (name, value) in upstream {
        if comes_back(name.as_str()) {
            out.append(name, value.clone());
        }
    }
    if let Some(id) = upstream.get("x-request-id") {
        out.insert(UPSTREAM_REQUEST_ID, id.clone());
    }
    out
}

/// Takes away what an answer's headers say in the dialect of an upstream that the client does not speak.
pub fn keep_neutral(answer: &mut HeaderMap) {
    let theirs: Vec<_> = answer.keys().filter(|name| is_dialect(name.as_str())).cloned().collect();
    for name in theirs {
        answer.remove(name);
    }
}

fn is_dialect(name: &str) -> bool {
    ["anthropic-", "openai-", "x-codex-", "x-ratelimit-"].iter().any(|prefix| name.starts_with(prefix))
        || name == "request-id"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_client_alone_stays_here() {
        for name in [
            "authorization",
            "x-api-key",
            "cookie",
            "x-forwarded-for",
            "x-real-ip",
            "forwarded",
            "host",
            "connection",
            "x-session-key",
            "openai-organization",
            "openai-project",
            "accept-encoding",
            "content-length",
            "via",
            "x-headgate-region",
            "x-job-id",
            "x-goog-api-key",
            "te",
        ] {
            assert!(!goes_up(name), "{name}");
        }
        for name in [
            "anthropic-beta",
            "session_id",
            "x-stainless-retry-count",
            "x-session-affinity",
            "user-agent",
            "openai-beta",
        ] {
            assert!(goes_up(name), "{name}");
        }
    }

    #[test]
    fn an_answer_brings_back_limits_but_no_cookie_and_no_other_model() {
        for name in [
            "set-cookie",
            "openai-model",
            "access-control-allow-origin",
            "server",
            "content-encoding",
            "transfer-encoding",
        ] {
            assert!(!comes_back(name), "{name}");
        }
        for name in [
            "x-ratelimit-remaining-requests",
            "anthropic-ratelimit-unified-status",
            "x-codex-turn-state",
            "retry-after",
        ] {
            assert!(comes_back(name), "{name}");
        }
    }
}
