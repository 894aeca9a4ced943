//! What one request has already tried.

use headgate_domain::{Class, CredentialId, UpstreamId};
use smallvec::SmallVec;

use crate::{
    decide::Candidate,
    meaning::{Again, meaning},
};

/// The upstreams and credentials a request has tried, and how many attempts that took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried {
    upstreams: SmallVec<[UpstreamId; 4]>,
    credentials: SmallVec<[(UpstreamId, Option<CredentialId>); 4]>,
    /// The upstream whose next credential comes before the next upstream.
    next_credential_of: Option<UpstreamId>,
    attempts: u32,
    made: u32,
    empty: bool,
    last_resort: bool,
    /// The attempt under way repeats the one before.
    repeating: bool,
}

impl Tried {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes the result of an attempt and says whether its class lets another candidate be tried, as long as nothing
    /// has been sent to the client.
    ///
    /// `sent`: whether any of the request went out. A `connect` that sent nothing and an `untranslatable` do not use
    /// up an attempt. After `credential`, `exhausted` and `rate_limited` the same upstream's next credential is next;
    /// after any other class the whole upstream has been tried.
    pub fn after(&mut self, candidate: Candidate, class: Class, sent: bool) -> bool {
        self.made += 1;
        let repeat = std::mem::take(&mut self.repeating);
        if !repeat && class != Class::Untranslatable && (sent || class != Class::Connect) {
            self.attempts += 1;
        }
        self.last_resort |= candidate.last_resort;
        if matches!(class, Class::Credential | Class::Exhausted | Class::RateLimited) {
            self.credentials.push((candidate.upstream, candidate.credential));
            self.next_credential_of = Some(candidate.upstream);
        } else {
            self.upstreams.push(candidate.upstream);
            self.next_credential_of = None;
        }
        match meaning(class).again {
            Again::No => false,
            Again::BeforeCommit => true,
            Again::Once => !std::mem::replace(&mut self.empty, true),
        }
    }

    /// The next attempt repeats the last one on the same candidate: it does not use up another.
    pub fn repeat(&mut self) {
        self.repeating = true;
    }

    /// The upstream may be asked once more, under another name of the model.
    pub fn renamed(&mut self, upstream: UpstreamId) {
        self.upstreams.retain(|u| *u != upstream);
    }

    /// Attempts used up.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether anything has been tried at all, used up or not.
    pub fn any(&self) -> bool {
        self.made > 0
    }

    pub(crate) fn upstream(&self, upstream: UpstreamId) -> bool {
        self.upstreams.contains(&upstream)
    }

    pub(crate) fn credential(&self, upstream: UpstreamId, credential: Option<CredentialId>) -> bool {
        self.credentials.contains(&(upstream, credential))
    }

    pub(crate) fn next_credential_of(&self) -> Option<UpstreamId> {
        self.next_credential_of
    }

    pub(crate) fn last_resort(&self) -> bool {
        self.last_resort
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(upstream: i64, credential: i64) -> Candidate {
        Candidate {
            member: 0,
            upstream: UpstreamId(upstream),
            credential: Some(CredentialId(credential)),
            last_resort: false,
        }
    }

    #[test]
    fn a_connection_that_sent_nothing_and_an_untranslatable_request_use_up_no_attempt() {
        let mut tried = Tried::new();
        assert!(tried.after(candidate(1, 1), Class::Connect, false));
        assert!(tried.after(candidate(2, 2), Class::Untranslatable, false));
        assert_eq!((tried.attempts(), tried.any()), (0, true));
        assert!(tried.after(candidate(3, 3), Class::Connect, true));
        assert_eq!(tried.attempts(), 1);
    }

    #[test]
    fn a_refused_credential_leaves_the_upstream_and_any_other_failure_takes_it() {
        let mut tried = Tried::new();
        for class in [Class::Credential, Class::Exhausted, Class::RateLimited] {
            assert!(tried.after(candidate(1, 1), class, true));
            assert!(!tried.upstream(UpstreamId(1)));
            assert!(tried.credential(UpstreamId(1), Some(CredentialId(1))));
            assert_eq!(tried.next_credential_of(), Some(UpstreamId(1)));
        }
        assert!(tried.after(candidate(1, 2), Class::Server, true));
        assert!(tried.upstream(UpstreamId(1)));
        assert_eq!(tried.next_credential_of(), None);
    }

    #[test]
    fn a_repeat_uses_up_no_further_attempt() {
        let mut tried = Tried::new();
        assert!(tried.after(candidate(1, 1), Class::Server, true));
        tried.repeat();
        assert!(tried.after(candidate(1, 1), Class::Server, true));
        assert_eq!(tried.attempts(), 1);
        assert!(tried.after(candidate(2, 2), Class::Server, true));
        assert_eq!(tried.attempts(), 2);
    }

    #[test]
    fn an_empty_answer_is_tried_elsewhere_once() {
        let mut tried = Tried::new();
        assert!(tried.after(candidate(1, 1), Class::Empty, true));
        assert!(!tried.after(candidate(2, 2), Class::Empty, true));
    }

    #[test]
    fn what_is_nobodys_fault_is_not_tried_again() {
        for class in
            [Class::Ok, Class::ClientGone, Class::ClientFault, Class::ContentPolicy, Class::Deadline, Class::Gateway]
        {
            assert!(!Tried::new().after(candidate(1, 1), class, true), "{class:?}");
        }
    }
}
