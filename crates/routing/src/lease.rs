//! The claim on a candidate, given out by a decision and returned exactly once.

use headgate_domain::{CredentialId, GroupId, KeyId, UpstreamId};

use crate::time::Time;

/// A claim on an upstream. It is no value that can be copied: [`crate::Health::complete`] or
/// [`crate::Health::release`] takes it back.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a lease that is not returned counts as a request in flight for ever"]
pub struct Lease {
    pub(crate) serial: u64,
    pub(crate) upstream: UpstreamId,
    pub(crate) credential: Option<CredentialId>,
    pub(crate) model: Box<str>,
    pub(crate) key: Option<KeyId>,
    /// Set for a last resort trial: the group whose one trial this is.
    pub(crate) last_resort: Option<GroupId>,
    /// The upstream's breaker at the time.
    pub(crate) generation: u64,
    pub(crate) started: Time,
    /// Its answer has begun.
    pub(crate) answered: bool,
}

impl Lease {
    /// The upstream.
    pub fn upstream(&self) -> UpstreamId {
        self.upstream
    }

    /// The credential.
    pub fn credential(&self) -> Option<CredentialId> {
        self.credential
    }

    /// The model name sent.
    pub fn model(&self) -> &str {
        &self.model
    }
}
