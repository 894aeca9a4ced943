//! What can go wrong when an upstream is called, told apart as far as routing needs it.

use std::error::Error;

use super::resolve::Forbidden;

/// How far a call had come when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// No request could be made of what was asked; nothing was sent.
    Request,
    /// No client could be made, because of its proxy; nothing was sent.
    Client,
    /// The name has no address that may be called.
    Resolve,
    /// The connection was refused, or not made in time.
    Connect,
    /// The TLS handshake failed.
    Handshake,
    /// The proxy refused or failed.
    Proxy,
    /// There was a connection; the request may have arrived.
    Exchange,
}

/// A call that failed. Its text is the innermost cause: outer ones repeat the address.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct CallError {
    /// How far it had come.
    pub step: Step,
    /// The limit for connecting had passed.
    pub timed_out: bool,
    cause: String,
}

impl CallError {
    /// There is no client to call with.
    pub(super) fn unmade(why: &str) -> Self {
        Self { step: Step::Client, timed_out: false, cause: why.to_owned() }
    }

    /// The request itself is none.
    pub(super) fn malformed(why: &dyn Error) -> Self {
        Self { step: Step::Request, timed_out: false, cause: root(why) }
    }

    /// No connection came about.
    pub(super) fn unconnected(why: &(dyn Error + 'static), timed_out: bool) -> Self {
        Self { step: step(why), timed_out, cause: root(why) }
    }

    /// The connection failed while request or answer passed.
    pub(super) fn inside(why: impl Error) -> Self {
        Self { step: Step::Exchange, timed_out: false, cause: root(&why) }
    }
}

/// What part of connecting failed, as far as the chain of causes tells.
fn step(why: &(dyn Error + 'static)) -> Step {
    let mut cause: Option<&(dyn Error + 'static)> = Some(why);
    while let Some(error) = cause {
        if error.is::<Forbidden>() {
            return Step::Resolve;
        }
        let text = error.to_string().to_ascii_lowercase();
        if text.contains("dns error") || text.contains("failed to lookup") {
            return Step::Resolve;
        }
        if text.contains("socks") || text.contains("proxy") || text.contains("tunnel") {
            return Step::Proxy;
        }
        if ["certificate", "tls", "handshake", "corrupt message"].iter().any(|word| text.contains(word)) {
            return Step::Handshake;
        }
        cause = error.source();
    }
    Step::Connect
}

/// The innermost cause: outer ones repeat the URL.
pub fn root(why: &dyn Error) -> String {
    let mut cause = why;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
