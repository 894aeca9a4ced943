//! From an upstream's refusal to its class. The one place that looks at status codes and phrases.

use std::borrow::Cow;

use headgate_domain::{Class, Detail, Failure, UpstreamError};

use crate::phrases as p;

/// An answer in the form in which it is compared.
struct Signs {
    /// The HTTP status of a refusal; `None` inside a 2xx.
    status: Option<u16>,
    code: String,
    kind: String,
    text: String,
    structured: bool,
}

impl Signs {
    fn of(answer: &UpstreamError) -> Self {
        let lower = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_lowercase();
        let code = lower(&answer.code);
        // An error inside a 2xx often carries the status it should have had as its code.
        let status = answer.status.filter(|s| *s >= 300);
        let status = status.or_else(|| code.parse().ok().filter(|s| (400..600).contains(s)));
        Self {
            status,
            kind: lower(&answer.kind),
            text: answer.message.to_lowercase(),
            code,
            structured: answer.structured,
        }
    }

    fn coded(&self, list: &[&str]) -> bool {
        list.iter().any(|word| self.code == *word || self.kind == *word)
    }

    /// Whether the status leaves the answer to its words: a 4xx, or none at all.
    fn is_refusal(&self) -> bool {
        self.status.is_none_or(|s| (400..500).contains(&s))
    }

    fn status_is(&self, list: &[u16]) -> bool {
        self.status.is_some_and(|s| list.contains(&s))
    }
}

/// Judges an upstream's answer that is an error.
pub fn classify(answer: &UpstreamError) -> Failure {
    let signs = Signs::of(answer);
    let (class, detail) = judge(&signs);
    let message = match (answer.message.trim().is_empty(), answer.status) {
        (false, _) => Cow::Owned(answer.message.clone()),
        (true, Some(status)) => Cow::Owned(format!("upstream answered HTTP {status}")),
        (true, None) => Cow::Borrowed("upstream answered with an error"),
    };
    Failure {
        class,
        detail,
        status: answer.status,
        code: answer.code.clone(),
        message,
        retry_after: answer.retry_after,
    }
}

fn judge(s: &Signs) -> (Class, Option<Detail>) {
    let plain = |class| (class, None);
    if s.status_is(&[401]) {
        return plain(Class::Credential);
    }
    if s.is_refusal() && s.coded(p::CONTENT_CODES) {
        return (Class::ContentPolicy, Some(Detail::ContentFilter));
    }
    if too_long(s) {
        return (Class::ClientFault, Some(Detail::ContextLength));
    }
    if s.is_refusal() && (s.status_is(&[413]) || s.coded(p::TOO_LARGE_CODES)) {
        return (Class::ClientFault, Some(Detail::TooLarge));
    }
    if exhausted(s) {
        return plain(Class::Exhausted);
    }
    if overloaded(s) {
        return plain(Class::Overloaded);
    }
    if s.status_is(&[429]) {
        return plain(Class::RateLimited);
    }
    if model_missing(s) {
        return (Class::ModelMissing, Some(Detail::NoSuchModel));
    }
    match s.status {
        Some(403) => plain(Class::Credential),
        Some(300..=399 | 404 | 405) if !s.structured => (Class::Server, Some(Detail::NotAnApi)),
        Some(300..=399) => (Class::Server, Some(Detail::NotAnApi)),
        Some(408 | 504) => (Class::Server, Some(Detail::Timeout)),
        Some(500..) => plain(Class::Server),
        Some(_) | None if s.coded(p::CREDENTIAL_CODES) => plain(Class::Credential),
        Some(_) => plain(Class::ClientFault),
        None => inside_success(s),
    }
}

/// An error in a 2xx, by its own code where it has one.
fn inside_success(s: &Signs) -> (Class, Option<Detail>) {
    if s.coded(p::RATE_CODES) {
        (Class::RateLimited, None)
    } else if s.coded(p::TIMEOUT_CODES) {
        (Class::Server, Some(Detail::Timeout))
    } else if s.coded(p::SERVER_CODES) {
        (Class::Server, None)
    } else if s.coded(p::FAULT_CODES) {
        (Class::ClientFault, None)
    } else {
        (Class::Broken, None)
    }
}

fn too_long(s: &Signs) -> bool {
    // The code is explicit: relays that wrap it in a 500 still mean the client, which compacts on it.
    if p::CONTEXT_CODES.contains(&s.code.as_str()) || p::CONTEXT_CODES.contains(&s.kind.as_str()) {
        return true;
    }
    (s.status.is_none() || s.status_is(&[400, 413, 422])) && p::any(&s.text, p::CONTEXT)
}

fn exhausted(s: &Signs) -> bool {
    if s.status_is(&[402]) {
        return true;
    }
    if !s.is_refusal() {
        return false;
    }
    if s.coded(p::EXHAUSTED_CODES) {
        return true;
    }
    let rate = p::any(&s.text, p::RATE);
    match s.status {
        Some(429) => {
            !rate
                && (p::any(&s.text, p::EXHAUSTED)
                    || p::any(&s.text, p::EXHAUSTED_PARTS)
                    || p::any_word(&s.text, p::EXHAUSTED_WORDS))
        }
        Some(403) => {
            p::any(&s.text, p::EXHAUSTED)
                || p::any(&s.text, p::EXHAUSTED_PARTS)
                || p::any_word(&s.text, p::EXHAUSTED_WORDS)
        }
        // A 400 quotes the request: only whole sentences count there, or a tool called `update_plan` would do.
        Some(400) | None => !rate && p::any(&s.text, p::EXHAUSTED),
        Some(_) => false,
    }
}

fn overloaded(s: &Signs) -> bool {
    if s.status_is(&[503, 529]) {
        return true;
    }
    let status_fits = s.status.is_none_or(|status| status == 429 || status >= 500);
    status_fits && (s.coded(p::OVERLOADED_CODES) || p::any(&s.text, p::OVERLOADED))
}

fn model_missing(s: &Signs) -> bool {
    match s.status {
        Some(404) => s.structured || s.coded(p::MODEL_CODES) || p::says_model_is_missing(&s.text),
        Some(400) => {
            s.coded(p::MODEL_CODES)
                || (!s.coded(&["unsupported_parameter", "unsupported_value"]) && p::says_model_is_missing(&s.text))
        }
        None => s.coded(p::MODEL_CODES) || s.coded(&["not_found_error"]) || p::says_model_is_missing(&s.text),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests;
