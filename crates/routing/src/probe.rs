//! Probes: which upstreams are due for one because they are open, and the claims of these and of monitors.

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

/// Whose word a monitor's probe is.
#[derive(Debug, PartialEq)]
pub struct MonitorClaim {
    /// The credential to use; `None` for an upstream that needs none.
    pub credential: Option<CredentialId>,
    /// The claim; absent while the breaker admits nothing: what the probe finds is shown, but changes no state.
    pub lease: Option<Lease>,
}

impl Health {
    /// Claims a monitor's probe of a model, by the name the upstream knows. `None` if there is no credential at all.
    ///
    /// A credential that is not cooling down is preferred, but one that is may be asked, too: its recovery is news.
    pub fn claim_monitor(&mut self, member: &PoolMember, model: &str, now: Time) -> Option<MonitorClaim> {
        let state = self.upstreams.get(&member.upstream);
        let cools = |id: Option<CredentialId>| {
            state.is_some_and(|u| u.credentials.get(&id).and_then(|c| c.cooling(model, now)).is_some())
        };
        let credential = if member.credentials.is_empty() {
            None
        } else {
            let usable = || member.credentials.iter().filter(|c| !c.missing).map(|c| Some(c.id));
            usable().find(|id| !cools(*id)).or_else(|| usable().next())?
        };
        let admitted = state.is_none_or(|u| matches!(u.breaker.admission(now), Admission::Free | Admission::Trial));
        let lease = admitted.then(|| self.lease_probe(member.upstream, credential, model, now));
        Some(MonitorClaim { credential, lease })
    }

    fn lease_probe(&mut self, upstream: UpstreamId, credential: Option<CredentialId>, model: &str, now: Time) -> Lease {
        let deadline = now + self.policy.lease;
        let serial = self.next_serial();
        let u = self.state(upstream);
        u.in_flight += 1;
        u.breaker.take_trial(serial, deadline, now);
        Lease {
            serial,
            upstream,
            credential,
            model: model.into(),
            key: None,
            last_resort: None,
            generation: u.breaker.generation(),
            started: now,
            answered: false,
        }
    }

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
        let lease = self.lease_probe(member.upstream, credential, &model, now);
        Some(ProbeClaim { model: model.into(), credential, lease })
    }
}

#[cfg(test)]
mod tests {
    use headgate_domain::Class;

    use super::*;
    use crate::{Completion, PoolCredential, Tried, test_support::*};

    const T0: Time = Time::secs(100);

    fn complete(health: &mut Health, claim: MonitorClaim, class: Class, now: Time) {
        if let Some(lease) = claim.lease {
            health.complete(lease, &Completion::new(class), now, &mut rng(1));
        }
    }

    #[test]
    fn a_monitor_opens_a_breaker_like_traffic_and_closes_it_with_two_successes_after_its_cooldown() {
        let mut h = Health::new(crate::Policy::default());
        let pool = pool(&[1]);
        let member = &pool.members[0];
        for _ in 0..3 {
            let claim = h.claim_monitor(member, "m", T0).unwrap();
            complete(&mut h, claim, Class::Server, T0);
        }
        assert!(h.decide(&pool, &need(), &Tried::new(), T0, &mut rng(1)).is_ok_and(|c| c.candidate.last_resort));
        let early = h.claim_monitor(member, "m", T0 + Duration::from_secs(1)).unwrap();
        assert_eq!(early.lease, None, "what it finds changes nothing");
        let later = T0 + Duration::from_secs(3600);
        for _ in 0..2 {
            let claim = h.claim_monitor(member, "m", later).unwrap();
            assert!(claim.lease.is_some());
            assert_eq!(h.claim_monitor(member, "m", later).unwrap().lease, None, "one trial at a time");
            complete(&mut h, claim, Class::Ok, later);
        }
        assert_eq!(h.view(member.upstream, later).state, headgate_domain::audit::BreakerState::Closed);
    }

    #[test]
    fn a_monitor_prefers_a_credential_that_is_well_and_asks_a_refused_one_rather_than_none() {
        let mut h = Health::new(crate::Policy::default());
        let mut pool = pool(&[1]);
        pool.members[0].credentials = [1, 2].map(|id| PoolCredential { id: CredentialId(id), missing: false }).to_vec();
        let member = pool.members[0].clone();
        let first = h.claim_monitor(&member, "m", T0).unwrap();
        assert_eq!(first.credential, Some(CredentialId(1)));
        complete(&mut h, first, Class::Credential, T0);
        let second = h.claim_monitor(&member, "m", T0).unwrap();
        assert_eq!(second.credential, Some(CredentialId(2)));
        complete(&mut h, second, Class::Credential, T0);
        let again = h.claim_monitor(&member, "m", T0 + Duration::from_secs(1)).unwrap();
        assert_eq!(again.credential, Some(CredentialId(1)));
        complete(&mut h, again, Class::Ok, T0 + Duration::from_secs(1));
        assert!(h.decide(&pool, &need(), &Tried::new(), T0 + Duration::from_secs(2), &mut rng(1)).is_ok());
    }
}
