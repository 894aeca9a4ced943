//! The health of all upstreams, and its keeping.

use std::{collections::BTreeMap, collections::VecDeque, time::Duration};

use headgate_domain::{Class, CredentialId, GroupId, KeyId, UpstreamId, audit::BreakerState};

use crate::{
    breaker::Breaker,
    caching::Caching,
    cooldown::{Cooldown, Exclusion},
    latency::Latency,
    names::OtherName,
    policy::Policy,
    time::{Time, millis},
    window::Window,
};

/// So long a success of our own is believed against another process's failures.
const OWN_WORD: Duration = Duration::from_secs(10);

/// Models remembered for one upstream; model names come from clients, so their number must have an end.
const MODELS: usize = 256;

/// Everything that is remembered about upstreams. Unknown ids are fresh and healthy.
#[derive(Debug)]
pub struct Health {
    pub(crate) policy: Policy,
    pub(crate) upstreams: BTreeMap<UpstreamId, UpstreamState>,
    pub(crate) groups: BTreeMap<GroupId, GroupState>,
    /// The last successful upstream × credential pairs of each access key, for `spread`.
    pub(crate) recent: BTreeMap<Option<KeyId>, VecDeque<(UpstreamId, Option<CredentialId>)>>,
    serial: u64,
}

#[derive(Debug)]
pub(crate) struct UpstreamState {
    pub(crate) breaker: Breaker,
    pub(crate) in_flight: u32,
    pub(crate) cooldown: Option<Cooldown>,
    pub(crate) latency: Latency,
    /// Successes and failures of an hour.
    pub(crate) hour: Window<12>,
    /// Requests and tokens of a minute.
    pub(crate) minute: Window<12>,
    pub(crate) credentials: BTreeMap<Option<CredentialId>, CredentialState>,
    pub(crate) models: BTreeMap<Box<str>, ModelState>,
    /// Names that work in the place of names that do not.
    pub(crate) names: BTreeMap<Box<str>, OtherName>,
    /// When one of its groups last had a request.
    pub(crate) wanted: Option<Time>,
    pub(crate) last_failed_model: Option<Box<str>>,
    /// When an attempt last succeeded.
    pub(crate) succeeded: Option<Time>,
}

#[derive(Debug, Default)]
pub(crate) struct CredentialState {
    pub(crate) cooldown: Option<Cooldown>,
    /// Rate limits that concern one model.
    pub(crate) models: BTreeMap<Box<str>, Cooldown>,
    /// Serial number of the last use by an access key.
    pub(crate) used: BTreeMap<Option<KeyId>, u64>,
}

#[derive(Debug, Default)]
pub(crate) struct ModelState {
    pub(crate) exclusion: Option<Exclusion>,
    pub(crate) latency: Latency,
    pub(crate) caching: Caching,
    pub(crate) used: u64,
}

#[derive(Debug, Default)]
pub(crate) struct GroupState {
    /// The one trial while everything is open, and until when it keeps others away.
    pub(crate) last_resort: Option<(u64, Time)>,
    /// No other before then: a trial that fails at once must not make way for a storm of them.
    pub(crate) last_resort_after: Time,
    /// Current weights of `smooth_weighted`.
    pub(crate) smooth: BTreeMap<UpstreamId, i64>,
}

impl Health {
    /// Nothing known.
    pub fn new(policy: Policy) -> Self {
        Self { policy, upstreams: BTreeMap::new(), groups: BTreeMap::new(), recent: BTreeMap::new(), serial: 0 }
    }

    /// The numbers in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Takes over changed settings.
    pub fn set_policy(&mut self, policy: Policy) {
        if policy.breaker_window != self.policy.breaker_window {
            self.upstreams.values_mut().for_each(|u| u.breaker.adopt(&policy));
        }
        self.policy = policy;
    }

    /// Forgets an upstream that was deleted. Its claims still under way may be returned; they change nothing.
    pub fn forget(&mut self, upstream: UpstreamId) {
        self.upstreams.remove(&upstream);
        for group in self.groups.values_mut() {
            group.smooth.remove(&upstream);
        }
        for ring in self.recent.values_mut() {
            ring.retain(|(of, _)| *of != upstream);
        }
    }

    /// Closes the upstream's breaker and ends its cooldowns and exclusions. Statistics stay.
    pub fn reset(&mut self, upstream: UpstreamId) {
        if let Some(u) = self.upstreams.get_mut(&upstream) {
            u.breaker.reset();
            u.cooldown = None;
            for c in u.credentials.values_mut() {
                c.cooldown = None;
                c.models.clear();
            }
            for m in u.models.values_mut() {
                m.exclusion = None;
            }
            u.names.clear();
        }
    }

    /// Ends the upstream's exclusion of one model, by the name it knows.
    pub fn reset_model(&mut self, upstream: UpstreamId, model: &str) {
        if let Some(u) = self.upstreams.get_mut(&upstream) {
            u.names.retain(|asked, known| &**asked != model && &*known.name != model);
            if let Some(m) = u.models.get_mut(model) {
                m.exclusion = None;
            }
        }
    }

    /// Ends every wait of the upstream: an open breaker admits a trial, credentials and models are asked for again. What
    /// still fails waits again, and longer than before.
    pub fn try_now(&mut self, upstream: UpstreamId, now: Time) {
        if let Some(u) = self.upstreams.get_mut(&upstream) {
            u.breaker.look_again(now);
            let models = u.models.values_mut().filter_map(|m| m.exclusion.as_mut()).map(|e| &mut e.cooldown);
            let parts = u.credentials.values_mut().flat_map(|c| c.cooldown.iter_mut().chain(c.models.values_mut()));
            for cooldown in u.cooldown.iter_mut().chain(parts).chain(models) {
                cooldown.until = cooldown.until.min(now);
            }
        }
    }

    /// Takes another process's word that the upstream's breaker opened, for this long; `model` was asked for last. It is
    /// not believed against a success of our own within the last seconds. Gives whether it opened ours.
    pub fn opened_elsewhere(
        &mut self,
        upstream: UpstreamId,
        class: Class,
        lasting: Duration,
        model: Option<&str>,
        now: Time,
    ) -> bool {
        let until = now + lasting.min(self.policy.breaker_open_max);
        let u = self.state(upstream);
        let is_news = u.breaker.state(now) != BreakerState::Open;
        if is_news && u.succeeded.is_some_and(|at| now.since(at) < OWN_WORD) {
            return false;
        }
        u.breaker.open_until_at_least(until, class);
        u.last_failed_model = model.map(Into::into).or(u.last_failed_model.take());
        is_news
    }

    /// Takes another process's word that the upstream is well again: an open breaker admits a trial at once.
    pub fn closed_elsewhere(&mut self, upstream: UpstreamId, now: Time) {
        if let Some(u) = self.upstreams.get_mut(&upstream) {
            u.breaker.look_again(now);
        }
    }

    /// The model of the upstream's last failed attempt, as it was sent.
    pub fn last_failed_model(&self, upstream: UpstreamId) -> Option<&str> {
        self.upstreams.get(&upstream)?.last_failed_model.as_deref()
    }

    /// The limit until the first work of a stream: twice the observed 95th percentile and 5 s per 50,000 tokens of
    /// prompt, never above `limit` and never below the smaller of 10 s and `limit`.
    pub fn first_response_limit(
        &self,
        upstream: UpstreamId,
        model: &str,
        estimated_input: u64,
        limit: Duration,
    ) -> Duration {
        let p95 = self.upstreams.get(&upstream).and_then(|u| u.models.get(model)).and_then(|m| m.latency.settled_p95());
        match p95 {
            Some(p95) if self.policy.adaptive_timeout => {
                let ms = p95.saturating_mul(2).saturating_add(estimated_input.saturating_mul(5000) / 50_000);
                Duration::from_millis(ms).max(Duration::from_secs(10).min(limit)).min(limit)
            }
            _ => limit,
        }
    }

    /// Requests under way.
    pub fn in_flight(&self, upstream: UpstreamId) -> u32 {
        self.upstreams.get(&upstream).map_or(0, |u| u.in_flight)
    }

    pub(crate) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// The upstream's state, fresh if it was unknown.
    pub(crate) fn state(&mut self, upstream: UpstreamId) -> &mut UpstreamState {
        let Self { policy, upstreams, serial, .. } = self;
        // A fresh state begins in a generation no earlier claim can have: what an upstream of the same id left
        // behind must not be mistaken for the new one's.
        upstreams.entry(upstream).or_insert_with(|| {
            *serial += 1;
            UpstreamState::new(*serial << 20, policy)
        })
    }
}

impl UpstreamState {
    pub(crate) fn new(generation: u64, policy: &Policy) -> Self {
        Self {
            breaker: Breaker::new(generation, policy),
            in_flight: 0,
            cooldown: None,
            latency: Latency::default(),
            hour: Window::over(Duration::from_secs(3600)),
            minute: Window::over(Duration::from_secs(60)),
            credentials: BTreeMap::new(),
            models: BTreeMap::new(),
            names: BTreeMap::new(),
            wanted: None,
            last_failed_model: None,
            succeeded: None,
        }
    }

    /// Whether a claim of this generation was given out by this state (and not by one that was forgotten).
    pub(crate) fn gave_out(&self, generation: u64) -> bool {
        generation >> 20 == self.breaker.generation() >> 20
    }

    /// The state of a model, making room for it by letting go the one unused for longest.
    pub(crate) fn model(&mut self, model: &str, serial: u64) -> &mut ModelState {
        if !self.models.contains_key(model) && self.models.len() >= MODELS {
            let stale =
                self.models.iter().min_by_key(|(_, m)| (m.exclusion.is_some(), m.used)).map(|(name, _)| name.clone());
            if let Some(stale) = stale {
                self.models.remove(&stale);
            }
        }
        let state = self.models.entry(model.into()).or_default();
        state.used = state.used.max(serial);
        state
    }
}

impl CredentialState {
    /// What keeps it from being used for this model: the later of its two cooldowns.
    pub(crate) fn cooling(&self, model: &str, now: Time) -> Option<&Cooldown> {
        let whole = self.cooldown.as_ref().filter(|c| c.lasts(now));
        let part = self.models.get(model).filter(|c| c.lasts(now));
        [whole, part].into_iter().flatten().max_by_key(|c| c.until)
    }

    /// Lets go what has run out long ago.
    pub(crate) fn limit_model(&mut self, model: &str, next: Cooldown, now: Time) {
        if self.models.len() >= MODELS {
            self.models.retain(|_, c| c.lasts(now));
        }
        self.models.insert(model.into(), next);
    }
}

/// Remaining milliseconds until a moment, rounded up: after them it has come.
pub(crate) fn remaining(now: Time, until: Time) -> u64 {
    millis(now.until(until).saturating_add(Duration::from_nanos(999_999)))
}
