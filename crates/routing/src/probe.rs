//! Recovery is looked for: which upstreams are due for a probe, and the claim on one.

use std::time::Duration;

use headgate_domain::{CredentialId, UpstreamId};

use crate::{breaker::Admission, health::Health, lease::Lease, pool::PoolMember, time::Time};

/// An upstream none of whose groups had a request for so long is left alone.
pub(crate) const WANTED_WITHIN: Duration = Duration::from_secs(86_400);

/// An upstream that is worth a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueProbe {
    /// The upstream.
    pub upstream: UpstreamId,
    /// The model of the last failed attempt, as it was sent.
    pub model: String,
}

/// A claimed probe. It completes like any attempt.
#[derive(Debug, PartialEq)]
pub struct ProbeClaim {
    /// The model to ask for.
    pub model: String,
    /// The credential to use; `None` for an upstream that needs none.
    pub credential: Option<CredentialId>,
    /// The claim.
    pub lease: Lease,
}

impl Health {
    /// The half-open upstreams without a trial under way whose groups had a request within 24 hours.
    pub fn due_probes(&self, now: Time) -> Vec<DueProbe> {
        self.upstreams
            .iter()
            .filter(|(_, u)| u.breaker.admission(now) == Admission::Trial)
            .filter(|(_, u)| {
                !u.cooldown.is_some_and(|c| c.lasts(now)) && u.wanted.is_some_and(|at| now.since(at) < WANTED_WITHIN)
            })
            .filter_map(|(id, u)| {
                let model = u.last_failed_model.as_ref()?;
                Some(DueProbe { upstream: *id, model: model.to_string() })
            })
            .collect()
    }

    /// When the next open breaker's cooldown ends: until then no new probe falls due.
    pub fn next_probe_at(&self, now: Time) -> Option<Time> {
        self.upstreams.values().filter_map(|u| u.breaker.open_until(now)).min()
    }

    /// Claims the trial of an upstream that is due; `None` if it is not, or has no credential to use.
    pub fn claim_probe(&mut self, member: &PoolMember, now: Time) -> Option<ProbeClaim> {
        let u = self.upstreams.get(&member.upstream)?;
        if u.breaker.admission(now) != Admission::Trial || u.cooldown.is_some_and(|c| c.lasts(now)) {
            return None;
        }
        let model = u.last_failed_model.clone()?;
        let usable = |id: Option<CredentialId>| u.credentials.get(&id).and_then(|c| c.cooling(&model, now)).is_none();
        let credential = if member.credentials.is_empty() {
            usable(None).then_some(None)?
        } else {
            Some(member.credentials.iter().find(|c| !c.missing && usable(Some(c.id)))?.id)
        };
        let deadline = now + self.policy.lease;
        let serial = self.next_serial();
        let u = self.state(member.upstream);
        u.in_flight += 1;
        u.breaker.take_trial(serial, deadline, now);
        let lease = Lease {
            serial,
            upstream: member.upstream,
            credential,
            model: model.clone(),
            key: None,
            last_resort: None,
            generation: u.breaker.generation(),
            started: now,
        };
        Some(ProbeClaim { model: model.into(), credential, lease })
    }
}
