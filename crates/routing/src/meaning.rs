//! What a class of result hurts, and whether another candidate is tried: the result table.

use headgate_domain::Class;

/// What a result is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nobody's health.
    None,
    /// The upstream.
    Upstream,
    /// The upstream with this model.
    UpstreamModel,
    /// The credential, or the credential with this model.
    Credential,
}

/// Whether another candidate is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Never.
    No,
    /// Before the first output has gone to the client.
    BeforeCommit,
    /// One time for a request.
    Once,
}

/// What a class means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// What is hurt (or, for `ok`, helped).
    pub scope: Scope,
    /// The breaker counts it as a failure (`empty`: only without reported output tokens).
    pub counts: bool,
    /// Whether another candidate is tried.
    pub again: Again,
    /// A person has to do something about the credential.
    pub needs_attention: bool,
}

impl Meaning {
    /// Whether a failure of this class hurts anybody's health.
    pub fn hurts(self) -> bool {
        self.counts || matches!(self.scope, Scope::Credential | Scope::UpstreamModel)
    }
}

/// What a class means for health and for the next attempt.
pub fn meaning(class: Class) -> Meaning {
    let of = |scope, counts, again| Meaning { scope, counts, again, needs_attention: false };
    match class {
        Class::Ok
        | Class::ClientGone
        | Class::ClientFault
        | Class::ContentPolicy
        | Class::Deadline
        | Class::Gateway => of(if class == Class::Ok { Scope::Upstream } else { Scope::None }, false, Again::No),
        Class::Untranslatable => of(Scope::None, false, Again::BeforeCommit),
        Class::Credential | Class::Exhausted => {
            Meaning { needs_attention: true, ..of(Scope::Credential, false, Again::BeforeCommit) }
        }
        Class::RateLimited => of(Scope::Credential, false, Again::BeforeCommit),
        Class::ModelMissing => of(Scope::UpstreamModel, false, Again::BeforeCommit),
        Class::Overloaded
        | Class::Server
        | Class::Connect
        | Class::SlowFirst
        | Class::Stalled
        | Class::Cut
        | Class::Broken => of(Scope::Upstream, true, Again::BeforeCommit),
        Class::Empty => of(Scope::Upstream, true, Again::Once),
    }
}
