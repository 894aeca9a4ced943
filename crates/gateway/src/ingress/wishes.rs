//! The `x-headgate-*` request headers.

use headgate_domain::Span;
use headgate_routing::Time;
use http::HeaderMap;

use crate::forward::Wishes;

/// Reads them; an illegal one is a sentence for the client.
pub(super) fn read(headers: &HeaderMap, started: Time) -> Result<Wishes, String> {
    let text = |name: &str| match headers.get(name) {
        None => Ok(None),
        Some(value) => {
            value.to_str().map(|t| Some(t.trim())).map_err(|_| format!("the header {name} is not plain text"))
        }
    };
    let first_only = match text("x-headgate-fallback")? {
        None => false,
        Some("none") => true,
        Some(other) => return Err(format!("x-headgate-fallback is 'none' or absent, not '{other}'")),
    };
    let region = text("x-headgate-region")?.filter(|r| !r.is_empty()).map(|r| r.chars().take(64).collect());
    let deadline = match text("x-headgate-timeout")? {
        None => None,
        Some(span) => {
            let span: Span = span.parse().map_err(|why| format!("x-headgate-timeout: {why}"))?;
            Some(started + span.0)
        }
    };
    let explain = text("x-headgate-explain")? == Some("1");
    Ok(Wishes { first_only, region, deadline, explain })
}
