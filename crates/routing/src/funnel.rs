//! The gates 1–7: what stops each member.

use std::borrow::Cow;

use headgate_domain::{Class, CredentialId, audit::BreakerState, upstream::Limits};
use smallvec::SmallVec;

use crate::{
    breaker::Admission,
    health::{Health, UpstreamState, remaining},
    need::{Features, Need},
    pool::{Pool, PoolMember, Withheld},
    reasons::Reason,
    time::Time,
    tried::Tried,
};

/// How far a member got. The order is that of the funnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gate {
    SwitchedOn,
    HardPolicy,
    CanDoIt,
    MayCostIt,
    Healthy,
    HasRoom,
    Untried,
    /// Nothing stopped it.
    Eligible,
}

/// A member as the funnel left it.
#[derive(Debug, Clone)]
pub(crate) struct Verdict<'n> {
    /// The gate that stopped it.
    pub(crate) gate: Gate,
    pub(crate) reason: Reason,
    /// When it can be asked again, where that is known.
    pub(crate) at: Option<Time>,
    /// Why it is cooling down: every class that takes part.
    pub(crate) cooling: SmallVec<[Class; 2]>,
    /// What it lacks.
    pub(crate) missing: Features,
    /// The name it would be asked for.
    pub(crate) model: Cow<'n, str>,
    /// The credential it would be asked with.
    pub(crate) credential: Option<CredentialId>,
    pub(crate) breaker: BreakerState,
    /// Only its open breaker stops it.
    pub(crate) only_open: bool,
    /// A half-open trial of it is under way.
    pub(crate) trial_under_way: bool,
}

/// What a member's credentials allow.
enum Credentials {
    Use(Option<CredentialId>),
    AllTried,
    AllCooling { classes: SmallVec<[Class; 2]>, soonest: Option<(Time, Class)> },
}

impl Health {
    /// Sends every member through the gates.
    pub(crate) fn survey<'n>(
        &self,
        pool: &Pool,
        need: &Need<'n>,
        tried: &Tried,
        now: Time,
    ) -> SmallVec<[Verdict<'n>; 8]> {
        let demanded = need.demanded().union(Features::from(&pool.require));
        pool.members.iter().map(|member| self.pass(pool, member, need, demanded, tried, now)).collect()
    }

    fn pass<'n>(
        &self,
        pool: &Pool,
        member: &PoolMember,
        need: &Need<'n>,
        demanded: Features,
        tried: &Tried,
        now: Time,
    ) -> Verdict<'n> {
        let state = self.upstreams.get(&member.upstream);
        let mut v = Verdict {
            gate: Gate::Eligible,
            reason: Reason::NotDrawn,
            at: None,
            cooling: SmallVec::new(),
            missing: Features::NONE,
            model: Cow::Borrowed(need.model),
            credential: None,
            breaker: state.map_or(BreakerState::Closed, |u| u.breaker.state(now)),
            only_open: false,
            trial_under_way: false,
        };
        if !member.upstream_enabled || !member.member_enabled {
            return v.stopped(Gate::SwitchedOn, Reason::Disabled);
        }
        if !admitted(pool, member, need) {
            return v.stopped(Gate::HardPolicy, Reason::Policy);
        }
        if let Some(reason) = v.cannot_do_it(state, member, need, demanded, now) {
            return v.stopped(Gate::CanDoIt, reason);
        }
        match pool.withholds(member) {
            None => {}
            Some(Withheld::OverCap { .. } | Withheld::MultiplierUnknown) => {
                return v.stopped(Gate::MayCostIt, Reason::OverCap);
            }
            Some(Withheld::BalanceEmpty) => return v.stopped(Gate::MayCostIt, Reason::Exhausted { ms: None }),
        }
        let credentials = credentials(state, member, need, tried, &v.model, now);
        if let Credentials::AllCooling { classes, soonest } = &credentials
            && classes.iter().all(|c| *c == Class::Exhausted)
        {
            v.at = soonest.map(|(at, _)| at);
            let ms = v.at.map(|at| remaining(now, at));
            return v.stopped(Gate::MayCostIt, Reason::Exhausted { ms });
        }
        if let Some(reason) = v.not_healthy(state, &credentials, now) {
            v.only_open &= matches!(credentials, Credentials::Use(_)) && !tried.upstream(member.upstream);
            if let Credentials::Use(credential) = credentials {
                v.credential = credential;
            }
            return v.stopped(Gate::Healthy, reason);
        }
        if let Some(full) = state.and_then(|u| full(u, &member.limits, need.estimated_input, now)) {
            v.at = full.0;
            return v.stopped(Gate::HasRoom, Reason::Saturated);
        }
        match credentials {
            Credentials::Use(credential) if !tried.upstream(member.upstream) => {
                v.credential = credential;
                v
            }
            _ => v.stopped(Gate::Untried, Reason::Tried),
        }
    }
}

impl<'n> Verdict<'n> {
    fn stopped(mut self, gate: Gate, reason: Reason) -> Self {
        self.gate = gate;
        self.reason = reason;
        self
    }

    fn cannot_do_it(
        &mut self,
        state: Option<&UpstreamState>,
        member: &PoolMember,
        need: &Need<'n>,
        demanded: Features,
        now: Time,
    ) -> Option<Reason> {
        let Some(model) = member.models.resolve(need.model) else {
            return Some(Reason::ModelMissing);
        };
        self.model = model;
        let known = state.and_then(|u| u.names.get(&*self.model)).filter(|known| now < known.until);
        if let Some(known) = known {
            self.model = Cow::Owned(known.name.to_string());
        }
        let exclusion = state.and_then(|u| u.models.get(&*self.model)).and_then(|m| m.exclusion);
        if exclusion.is_some_and(|e| e.until(now).is_some()) {
            return Some(Reason::ModelMissing);
        }
        if let Some(able) = &member.capabilities {
            self.missing = demanded.minus(Features::from(able));
            if let Some(missing) = self.missing.iter().next() {
                return Some(Reason::Capability { missing });
            }
        }
        let input = need.estimated_input;
        // The estimate may be a fifth too high.
        if member.max_context.is_some_and(|most| input > most.saturating_add(most / 5)) {
            return Some(Reason::Context);
        }
        if member.min_input.is_some_and(|least| input < least) || member.max_input.is_some_and(|most| input > most) {
            return Some(Reason::Size);
        }
        (!(need.expressible)(member.upstream, member.kind)).then_some(Reason::Untranslatable)
    }

    fn not_healthy(&mut self, state: Option<&UpstreamState>, credentials: &Credentials, now: Time) -> Option<Reason> {
        // The last obstacle to go decides when it can be asked again and names the class.
        let mut last: Option<(Option<Time>, Class)> = None;
        let mut obstacle = |at: Option<Time>, class: Class| {
            let later =
                |known: Option<Time>| at.is_none() || known.is_some_and(|known| at.is_some_and(|at| at > known));
            if last.is_none_or(|(known, _)| later(known)) {
                last = Some((at, class));
            }
        };
        if let Some(u) = state {
            match u.breaker.admission(now) {
                Admission::Free | Admission::Trial => {}
                Admission::Shut { until } => {
                    self.only_open = true;
                    self.cooling.push(u.breaker.class());
                    obstacle(Some(until), u.breaker.class());
                }
                Admission::TrialUnderWay { until } => {
                    self.trial_under_way = true;
                    self.cooling.push(u.breaker.class());
                    obstacle(Some(until), u.breaker.class());
                }
            }
            if let Some(c) = u.cooldown.filter(|c| c.lasts(now)) {
                self.only_open = false;
                self.cooling.push(c.class);
                obstacle(Some(c.until), c.class);
            }
        }
        if let Credentials::AllCooling { classes, soonest } = credentials {
            self.cooling.extend(classes.iter().copied());
            match soonest {
                Some((at, class)) => obstacle(Some(*at), *class),
                None => obstacle(None, Class::Credential),
            }
        }
        let (at, class) = last?;
        self.at = at;
        Some(Reason::CoolingDown { class, ms: at.map(|at| remaining(now, at)) })
    }
}

/// Gate 2. Nothing later relaxes it.
fn admitted(pool: &Pool, member: &PoolMember, need: &Need<'_>) -> bool {
    let within = |list: &[String]| member.region.as_ref().is_some_and(|r| list.contains(r));
    pool.regions.as_deref().is_none_or(within)
        && need.key_regions.is_none_or(within)
        && need.region.is_none_or(|asked| member.region.as_deref() == Some(asked))
        && need.key_labels.is_none_or(|list| member.labels.iter().any(|label| list.contains(label)))
}

/// Gate 6: whether the member has no room, and when it will have, where that is known.
pub(crate) fn full(u: &UpstreamState, limits: &Limits, estimated_input: u64, now: Time) -> Option<(Option<Time>,)> {
    if limits.concurrency.is_some_and(|most| u.in_flight >= most) {
        return Some((None,));
    }
    if limits.rpm.is_none() && limits.tpm.is_none() {
        return None;
    }
    let (requests, tokens) = u.minute.sum(now);
    let by_requests = limits.rpm.is_some_and(|most| requests >= u64::from(most));
    // A prompt that alone exceeds the limit is let through when nothing else is counted, or it never would be.
    let by_tokens = limits.tpm.is_some_and(|most| tokens > 0 && tokens.saturating_add(estimated_input) > most);
    (by_requests || by_tokens).then(|| (u.minute.next_relief(now),))
}

/// The credential to use: the one this access key has not used for longest, of those not cooling down or tried.
fn credentials(
    state: Option<&UpstreamState>,
    member: &PoolMember,
    need: &Need<'_>,
    tried: &Tried,
    model: &str,
    now: Time,
) -> Credentials {
    let mut classes = SmallVec::new();
    let mut soonest: Option<(Time, Class)> = None;
    let mut best: Option<(u64, Option<CredentialId>)> = None;
    let mut usable = false;
    let none_needed = member.credentials.is_empty().then_some((None, false));
    let listed = member.credentials.iter().map(|c| (Some(c.id), c.missing));
    for (id, missing) in none_needed.into_iter().chain(listed) {
        let known = state.and_then(|u| u.credentials.get(&id));
        if missing {
            classes.push(Class::Credential);
        } else if let Some(cooling) = known.and_then(|c| c.cooling(model, now)) {
            classes.push(cooling.class);
            if soonest.is_none_or(|(at, _)| cooling.until < at) {
                soonest = Some((cooling.until, cooling.class));
            }
        } else {
            usable = true;
            let used = known.and_then(|c| c.used.get(&need.key)).copied().unwrap_or(0);
            if !tried.credential(member.upstream, id) && best.is_none_or(|(least, _)| used < least) {
                best = Some((used, id));
            }
        }
    }
    match best {
        Some((_, id)) => Credentials::Use(id),
        None if usable => Credentials::AllTried,
        None => Credentials::AllCooling { classes, soonest },
    }
}
