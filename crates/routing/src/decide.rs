//! The decision: the funnel, the choice within the best tier, and the claim.

use std::time::Duration;

use headgate_domain::{
    Class, CredentialId, Strategy, UpstreamId, audit::BreakerState, audit::Selection, group::OnSaturation,
};
use rand::Rng;
use smallvec::SmallVec;

use crate::{
    breaker::Admission,
    funnel::{Gate, Verdict, full},
    health::Health,
    lease::Lease,
    need::{Features, Need},
    pool::Pool,
    reasons::{MemberReason, Reason, Reasons},
    refusal::{Refusal, Refused, Wait},
    strategy::{Forecast, Forecasts},
    time::Time,
    tried::Tried,
};

/// Upstream × credential of one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Index in [`Pool::members`].
    pub member: usize,
    /// The upstream.
    pub upstream: UpstreamId,
    /// The credential; `None` for an upstream that needs none.
    pub credential: Option<CredentialId>,
    /// It is tried although its breaker is open.
    pub last_resort: bool,
}

/// A candidate that was chosen and claimed.
#[derive(Debug, PartialEq)]
pub struct Choice {
    /// Who.
    pub candidate: Candidate,
    /// The name the upstream knows the model by.
    pub sent_model: String,
    /// Why.
    pub selection: Selection,
    /// The upstream's breaker when it was chosen.
    pub breaker_before: BreakerState,
    /// The claim, to be returned with the result.
    pub lease: Lease,
    /// What became of each member.
    pub reasons: Reasons,
}

/// A candidate, or why there is none.
pub type Decision = Result<Choice, Refused>;

/// What a decision would be.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// Who would be chosen.
    pub candidate: Option<Candidate>,
    /// The name the upstream would be asked for.
    pub sent_model: Option<String>,
    /// Why it would be chosen.
    pub selection: Option<Selection>,
    /// Why nobody would be.
    pub refusal: Option<Refusal>,
    /// The soonest moment at which a member can be asked again.
    pub retry_at: Option<Time>,
    /// What became of each member.
    pub reasons: Reasons,
    /// What `cheapest` expects of the members it chose among; otherwise empty.
    pub forecasts: Vec<Forecast>,
}

struct Picked {
    at: usize,
    selection: Selection,
    last_resort: bool,
    forecasts: Forecasts,
}

impl Health {
    /// Chooses a candidate and claims it: one more in flight, the half-open trial and the re-test taken.
    ///
    /// `tried` is what this request has used up; with `max_attempts` used up the refusal is [`Refusal::TriedAll`].
    pub fn decide(
        &mut self,
        pool: &Pool,
        need: &Need<'_>,
        tried: &Tried,
        now: Time,
        rng: &mut (impl Rng + ?Sized),
    ) -> Decision {
        for member in &pool.members {
            if let Some(u) = self.upstreams.get_mut(&member.upstream) {
                u.wanted = Some(now);
            }
        }
        let verdicts = self.survey(pool, need, tried, now);
        let picked = self.pick(pool, need, &verdicts, tried, now, rng)?;
        let (Some(verdict), Some(member)) = (verdicts.get(picked.at), pool.members.get(picked.at)) else {
            return Err(refused(pool, &verdicts, Refusal::NoUpstream));
        };
        let reasons = reasons(pool, &verdicts, Some(&picked));
        let candidate = Candidate {
            member: picked.at,
            upstream: member.upstream,
            credential: verdict.credential,
            last_resort: picked.last_resort,
        };
        if pool.strategy == Strategy::SmoothWeighted {
            self.advance_smooth(pool, &tier_of(pool, &verdicts), member.upstream);
        }
        let lease = self.claim(pool, candidate, &verdict.model, need, now);
        Ok(Choice {
            candidate,
            sent_model: verdict.model.as_ref().to_owned(),
            selection: picked.selection,
            breaker_before: verdict.breaker,
            lease,
            reasons,
        })
    }

    /// Claims a candidate that has just failed once more, for a repeat of the same request. `None` when its breaker
    /// does not admit it, it is full, or it is gone from the pool. That its own failure made it cool down is no
    /// obstacle: this is the repeat of that very request.
    pub fn decide_again(
        &mut self,
        pool: &Pool,
        need: &Need<'_>,
        failed: Candidate,
        sent_model: &str,
        now: Time,
    ) -> Option<Choice> {
        let at = pool.members.iter().position(|m| m.upstream == failed.upstream)?;
        let member = pool.members.get(at).filter(|m| m.upstream_enabled && m.member_enabled)?;
        let state = self.upstreams.get(&failed.upstream);
        let admitted = state.is_none_or(|u| {
            u.breaker.admission(now) == Admission::Free && full(u, &member.limits, need.estimated_input, now).is_none()
        });
        let candidate = Candidate { member: at, last_resort: false, ..failed };
        let breaker_before = state.map_or(BreakerState::Closed, |u| u.breaker.state(now));
        admitted.then(|| Choice {
            candidate,
            sent_model: sent_model.to_owned(),
            selection: Selection::Retry,
            breaker_before,
            lease: self.claim(pool, candidate, sent_model, need, now),
            reasons: Reasons::new(),
        })
    }

    /// The same funnel without a claim: nothing changes.
    pub fn explain(
        &self,
        pool: &Pool,
        need: &Need<'_>,
        tried: &Tried,
        now: Time,
        rng: &mut (impl Rng + ?Sized),
    ) -> Explained {
        let verdicts = self.survey(pool, need, tried, now);
        match self.pick(pool, need, &verdicts, tried, now, rng) {
            Ok(picked) => {
                let member = pool.members.get(picked.at);
                let verdict = verdicts.get(picked.at);
                Explained {
                    candidate: member.zip(verdict).map(|(member, verdict)| Candidate {
                        member: picked.at,
                        upstream: member.upstream,
                        credential: verdict.credential,
                        last_resort: picked.last_resort,
                    }),
                    sent_model: verdict.map(|v| v.model.as_ref().to_owned()),
                    selection: Some(picked.selection),
                    refusal: None,
                    retry_at: None,
                    reasons: reasons(pool, &verdicts, Some(&picked)),
                    forecasts: picked.forecasts.to_vec(),
                }
            }
            Err(refused) => Explained {
                candidate: None,
                sent_model: None,
                selection: None,
                refusal: Some(refused.refusal),
                retry_at: refused.retry_at,
                reasons: refused.reasons,
                forecasts: Vec::new(),
            },
        }
    }

    fn pick(
        &self,
        pool: &Pool,
        need: &Need<'_>,
        verdicts: &[Verdict<'_>],
        tried: &Tried,
        now: Time,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<Picked, Refused> {
        if tried.attempts() >= self.policy.max_attempts {
            return Err(refused(pool, verdicts, Refusal::TriedAll));
        }
        let tier = tier_of(pool, verdicts);
        let wait = waits_for_favourite(pool, need, verdicts, &tier).or_else(|| waits(pool, need, verdicts, &tier));
        if let Some(wait) = wait {
            return Err(Refused { wait: Some(wait), ..refused(pool, verdicts, Refusal::Saturated) });
        }
        let forecasts = match pool.strategy {
            Strategy::Cheapest => self.forecasts(pool, need, verdicts, &tier, now),
            _ => Forecasts::new(),
        };
        let is = |among: &[usize], upstream: Option<UpstreamId>| {
            among.iter().copied().find(|at| pool.members.get(*at).is_some_and(|m| Some(m.upstream) == upstream))
        };
        let next_credential = is(&tier, tried.next_credential_of());
        // What the session's cache saves is part of the forecast: its upstream is kept for as long as that makes up for
        // the difference.
        let tier = if pool.strategy == Strategy::Cheapest { Self::cheapest(&tier, &forecasts) } else { tier };
        let favourite = is(&tier, need.affinity);
        if let Some(at) = next_credential.or(favourite).or_else(|| self.draw(pool, need, verdicts, &tier, now, rng)) {
            let half_open = verdicts.get(at).is_some_and(|v| v.breaker == BreakerState::HalfOpen);
            let selection = if half_open {
                Selection::RecoveryTrial
            } else if next_credential.is_some() {
                Selection::Credential
            } else if tried.any() {
                Selection::Failover
            } else if favourite.is_some() {
                Selection::Affinity
            } else {
                Selection::Initial
            };
            return Ok(Picked { at, selection, last_resort: false, forecasts });
        }
        if let Some(at) = self.last_resort(pool, verdicts, tried, now) {
            return Ok(Picked { at, selection: Selection::LastResort, last_resort: true, forecasts });
        }
        Err(refused(pool, verdicts, refusal(verdicts)))
    }

    /// The member to try while everything is open: one trial of a group at a time, at most one of a request, and none
    /// while a half-open trial is under way.
    fn last_resort(&self, pool: &Pool, verdicts: &[Verdict<'_>], tried: &Tried, now: Time) -> Option<usize> {
        if tried.last_resort() || verdicts.iter().any(|v| v.trial_under_way || v.gate > Gate::Healthy) {
            return None;
        }
        let busy = self
            .groups
            .get(&pool.group)
            .is_some_and(|g| now < g.last_resort_after || g.last_resort.is_some_and(|(_, deadline)| now < deadline));
        if busy {
            return None;
        }
        let openings = |upstream| self.upstreams.get(&upstream).map_or(0, |u| u.breaker.openings());
        verdicts
            .iter()
            .zip(&pool.members)
            .enumerate()
            .filter(|(_, (v, _))| v.only_open)
            .min_by_key(|(_, (v, m))| (m.priority, openings(m.upstream), v.at))
            .map(|(at, _)| at)
    }

    fn claim(&mut self, pool: &Pool, candidate: Candidate, model: &str, need: &Need<'_>, now: Time) -> Lease {
        let serial = self.next_serial();
        let deadline = now + self.policy.lease;
        if candidate.last_resort {
            self.groups.entry(pool.group).or_default().last_resort = Some((serial, deadline));
        }
        let u = self.state(candidate.upstream);
        u.wanted = Some(now);
        u.in_flight += 1;
        u.minute.add(now, 1, need.estimated_input);
        u.breaker.take_trial(serial, deadline, now);
        u.credentials.entry(candidate.credential).or_default().used.insert(need.key, serial);
        if let Some(exclusion) = u.models.get_mut(model).and_then(|m| m.exclusion.as_mut()) {
            exclusion.retest = Some((serial, deadline));
        }
        Lease {
            serial,
            upstream: candidate.upstream,
            credential: candidate.credential,
            model: model.into(),
            key: need.key,
            last_resort: candidate.last_resort.then_some(pool.group),
            generation: u.breaker.generation(),
            started: now,
            answered: false,
        }
    }
}

/// The eligible members of the smallest priority; all of them in a group that looks across tiers.
fn tier_of(pool: &Pool, verdicts: &[Verdict<'_>]) -> SmallVec<[usize; 8]> {
    let eligible = || verdicts.iter().zip(&pool.members).enumerate().filter(|(_, (v, _))| v.gate == Gate::Eligible);
    let best = eligible().map(|(_, (_, m))| m.priority).min();
    let belongs = |priority: i32| pool.across_tiers || Some(priority) == best;
    eligible().filter(|(_, (_, m))| belongs(m.priority)).map(|(at, _)| at).collect()
}

/// How long the session's upstream is waited for.
const FAVOURITE: Duration = Duration::from_secs(2);

/// Whether the session's upstream is full and no better tier has room: its prompt cache is worth a short wait.
fn waits_for_favourite(pool: &Pool, need: &Need<'_>, verdicts: &[Verdict<'_>], tier: &[usize]) -> Option<Wait> {
    let favourite = need.affinity.filter(|_| need.may_wait_for_favourite)?;
    let best = best_of(pool, tier);
    let in_reach = |priority: i32| pool.across_tiers || best.is_none_or(|best| priority <= best);
    let is_full = |v: &Verdict<'_>, priority: i32| v.gate == Gate::HasRoom && in_reach(priority);
    verdicts
        .iter()
        .zip(&pool.members)
        .any(|(v, m)| m.upstream == favourite && is_full(v, m.priority))
        .then_some(Wait::Favourite(FAVOURITE))
}

/// How long a full tier is waited for before a lower one is used.
fn waits(pool: &Pool, need: &Need<'_>, verdicts: &[Verdict<'_>], tier: &[usize]) -> Option<Wait> {
    if !need.may_wait || pool.on_saturation != OnSaturation::Wait || pool.across_tiers {
        return None;
    }
    let best = best_of(pool, tier);
    let is_full = |v: &Verdict<'_>, priority: i32| v.gate == Gate::HasRoom && best.is_none_or(|best| priority < best);
    let wait = pool.wait.filter(|wait| !wait.is_zero())?;
    verdicts.iter().zip(&pool.members).any(|(v, m)| is_full(v, m.priority)).then_some(Wait::Tier(wait))
}

fn best_of(pool: &Pool, tier: &[usize]) -> Option<i32> {
    tier.first().and_then(|at| pool.members.get(*at)).map(|m| m.priority)
}

fn reasons(pool: &Pool, verdicts: &[Verdict<'_>], picked: Option<&Picked>) -> Reasons {
    let chosen = picked.map(|picked| picked.at);
    let tier = chosen.and_then(|at| pool.members.get(at)).map(|m| m.priority);
    let forecast = |upstream| picked.into_iter().flat_map(|p| &p.forecasts).find(move |f| f.upstream == upstream);
    let above = |upstream| forecast(upstream).map(|f| f.dearer).filter(|percent| *percent > 0);
    pool.members
        .iter()
        .zip(verdicts)
        .enumerate()
        .map(|(at, (member, verdict))| {
            let reason = if chosen == Some(at) {
                Reason::Chosen
            } else if verdict.gate != Gate::Eligible {
                verdict.reason
            } else if !pool.across_tiers && tier.is_some_and(|t| member.priority > t) {
                Reason::LowerTier
            } else if let Some(percent) = above(member.upstream) {
                Reason::Dearer { percent }
            } else {
                verdict.reason
            };
            MemberReason { upstream: member.upstream, reason }
        })
        .collect()
}

fn refused(pool: &Pool, verdicts: &[Verdict<'_>], refusal: Refusal) -> Refused {
    let retry_at = verdicts.iter().filter(|v| v.gate >= Gate::MayCostIt).filter_map(|v| v.at).min();
    Refused { refusal, retry_at, wait: None, reasons: reasons(pool, verdicts, None) }
}

/// What the client is told: decided by what stopped the last members.
fn refusal(verdicts: &[Verdict<'_>]) -> Refusal {
    let Some(last) = verdicts.iter().map(|v| v.gate).max() else {
        return Refusal::NoUpstream;
    };
    let stopped = || verdicts.iter().filter(move |v| v.gate == last);
    match last {
        Gate::SwitchedOn => Refusal::NoUpstream,
        Gate::HardPolicy => Refusal::PolicyNoRoute,
        Gate::CanDoIt => {
            // Of those that have the model at all.
            let rest = || stopped().filter(|v| v.reason != Reason::ModelMissing);
            if rest().next().is_none() {
                Refusal::ModelNotFound
            } else if rest().all(|v| v.reason == Reason::Context) {
                Refusal::ContextTooLong
            } else if rest().all(|v| v.reason == Reason::Untranslatable) {
                Refusal::Untranslatable
            } else {
                let missing = rest().fold(Features::NONE, |all, v| all.union(v.missing));
                Refusal::CapabilityNoRoute { missing }
            }
        }
        Gate::MayCostIt if stopped().all(|v| v.reason == Reason::OverCap) => Refusal::BudgetNoRoute,
        Gate::MayCostIt => Refusal::UpstreamsExhausted,
        Gate::Healthy => {
            let only = |allowed: &[Class]| stopped().all(|v| v.cooling.iter().all(|c| allowed.contains(c)));
            if only(&[Class::RateLimited, Class::Exhausted]) {
                Refusal::RateLimited
            } else if only(&[Class::Credential]) {
                Refusal::UpstreamAuth
            } else {
                Refusal::CoolingDown
            }
        }
        Gate::HasRoom => Refusal::Saturated,
        Gate::Untried | Gate::Eligible => Refusal::TriedAll,
    }
}

#[cfg(test)]
mod tests;
