//! What a result does to health.

use std::time::Duration;

use headgate_domain::{AlertEvent, Class, Failure, audit::BreakerState};
use rand::Rng;

use crate::{
    alert::{Subject, Turn},
    caching::Tokens,
    cooldown::{Cooldown, Exclusion},
    health::{Health, UpstreamState},
    lease::Lease,
    meaning::{Scope, meaning},
    policy::Policy,
    time::Time,
};

/// Pairs remembered for `spread`.
const RECENT: usize = 10;
/// Quiet time of a group after a last resort trial that failed.
const LAST_RESORT_PAUSE: Duration = Duration::from_secs(1);

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Its class.
    pub class: Class,
    /// Time to the first output; streaming attempts only.
    pub ttft: Option<Duration>,
    /// How long the upstream asks to wait.
    pub retry_after: Option<Duration>,
    /// The rate limit concerns the model alone.
    pub model_scoped: bool,
    /// Output tokens the upstream reported.
    pub output_tokens: Option<u64>,
    /// All its tokens, where the upstream reported prompt and answer.
    pub tokens: Option<Tokens>,
    /// A stream passed the unadapted first-response limit: the breaker opens at once.
    pub tripped: bool,
}

impl Completion {
    /// A result of this class and nothing else known.
    pub fn new(class: Class) -> Self {
        Self {
            class,
            ttft: None,
            retry_after: None,
            model_scoped: false,
            output_tokens: None,
            tokens: None,
            tripped: false,
        }
    }

    /// A success with its time to the first output.
    pub fn ok(ttft: Option<Duration>) -> Self {
        Self { ttft, ..Self::new(Class::Ok) }
    }

    /// Whether the breaker counts it as a failure.
    fn counts(&self) -> bool {
        meaning(self.class).counts && (self.class != Class::Empty || self.output_tokens.unwrap_or(0) == 0)
    }
}

impl From<&Failure> for Completion {
    fn from(failure: &Failure) -> Self {
        Self { retry_after: failure.retry_after, ..Self::new(failure.class) }
    }
}

/// A change of a breaker that people are told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// It opened, until then.
    Opened {
        /// When a trial is next admitted.
        until: Time,
    },
    /// It closed after enough successes.
    Closed,
}

/// What a result has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// The breaker afterwards.
    pub breaker_after: BreakerState,
    /// Whether that is news.
    pub transition: Option<Transition>,
    /// A credential needs a person.
    pub needs_attention: bool,
    /// What people may be told of; none in almost every case.
    pub turns: Vec<Turn>,
}

impl Health {
    /// Takes a claim back with its result.
    pub fn complete(&mut self, lease: Lease, done: &Completion, now: Time, rng: &mut (impl Rng + ?Sized)) -> Effect {
        let mut effect = Effect::default();
        self.settle_last_resort(&lease, done, now);
        let policy = &self.policy;
        let Some(u) = self.upstreams.get_mut(&lease.upstream).filter(|u| u.gave_out(lease.generation)) else {
            return effect;
        };
        u.in_flight = u.in_flight.saturating_sub(1);
        u.breaker.settle(lease.serial);
        if let Some(tokens) = done.output_tokens {
            u.minute.add(now, 0, tokens);
        }
        if let Some(exclusion) = u.models.get_mut(&*lease.model).and_then(|m| m.exclusion.as_mut())
            && exclusion.retest.is_some_and(|(of, _)| of == lease.serial)
        {
            exclusion.retest = None;
        }
        // A result that began before the breaker last opened (or was reset) says nothing about now.
        if lease.generation == u.breaker.generation() {
            effect.transition = u.take(&lease, done, now, policy, rng, &mut effect.turns);
            effect.turns.extend(effect.transition.map(|transition| {
                let event = match transition {
                    Transition::Opened { .. } => AlertEvent::UpstreamOpened,
                    Transition::Closed => AlertEvent::UpstreamClosed,
                };
                Turn::new(Subject::Upstream(lease.upstream), event, done.class)
            }));
            effect.needs_attention = meaning(done.class).needs_attention;
            if done.class == Class::Ok {
                let ring = self.recent.entry(lease.key).or_default();
                if ring.len() >= RECENT {
                    ring.pop_front();
                }
                ring.push_back((lease.upstream, lease.credential));
            }
        }
        effect.breaker_after = u.breaker.state(now);
        effect
    }

    /// Notes the first output of a stream: that the upstream takes requests shows now, not when the answer ends.
    pub fn answered(&mut self, lease: &mut Lease) {
        lease.answered = true;
        if let Some(u) = self.upstreams.get_mut(&lease.upstream).filter(|u| lease.generation == u.breaker.generation())
        {
            u.breaker.begun();
        }
    }

    /// Takes a claim back without a result.
    pub fn release(&mut self, lease: Lease, now: Time) -> Effect {
        // The result table gives `client_gone` no effect, ever.
        self.complete(lease, &Completion::new(Class::ClientGone), now, &mut NoChance)
    }

    fn settle_last_resort(&mut self, lease: &Lease, done: &Completion, now: Time) {
        if let Some(group) = lease.last_resort.and_then(|id| self.groups.get_mut(&id))
            && group.last_resort.is_some_and(|(of, _)| of == lease.serial)
        {
            group.last_resort = None;
            if done.counts() {
                group.last_resort_after = now + LAST_RESORT_PAUSE;
            }
        }
    }
}

impl UpstreamState {
    fn take(
        &mut self,
        lease: &Lease,
        done: &Completion,
        now: Time,
        policy: &Policy,
        rng: &mut (impl Rng + ?Sized),
        turns: &mut Vec<Turn>,
    ) -> Option<Transition> {
        if done.class == Class::Ok {
            return self.succeed(lease, done, now, policy, turns);
        }
        match meaning(done.class).scope {
            Scope::None => {}
            Scope::Credential => {
                self.cool_credential(lease, done, now);
                turns.extend(refusal(done.class).map(|event| Turn::new(credential_of(lease), event, done.class)));
            }
            Scope::UpstreamModel => {
                if self.exclude_model(lease, done.class, now) {
                    turns.push(Turn::new(model_of(lease), AlertEvent::ModelGone, done.class));
                }
            }
            Scope::Upstream => {
                if done.class == Class::Overloaded {
                    self.cooldown = Cooldown::after(self.cooldown, done.class, done.retry_after, now).or(self.cooldown);
                }
            }
        }
        if !done.counts() {
            return None;
        }
        self.hour.add(now, 0, 1);
        self.latency.failed(now);
        self.model(&lease.model, lease.serial).latency.failed(now);
        self.last_failed_model = Some(lease.model.clone());
        self.breaker.fail(done.class, lease.answered, done.tripped, now, policy, rng)
    }

    fn succeed(
        &mut self,
        lease: &Lease,
        done: &Completion,
        now: Time,
        policy: &Policy,
        turns: &mut Vec<Turn>,
    ) -> Option<Transition> {
        self.hour.add(now, 1, 0);
        self.succeeded = Some(now);
        // What began before a cooldown did not get through it.
        let proves = |cooldown: &Cooldown| cooldown.since < lease.started;
        if self.cooldown.as_ref().is_some_and(proves) {
            self.cooldown = None;
        }
        if let Some(credential) = self.credentials.get_mut(&lease.credential) {
            if let Some(ended) = credential.cooldown.take_if(|c| proves(c))
                && refusal(ended.class).is_some()
            {
                turns.push(Turn::new(credential_of(lease), AlertEvent::CredentialAccepted, done.class));
            }
            if credential.models.get(&*lease.model).is_some_and(proves) {
                credential.models.remove(&*lease.model);
            }
        }
        let model = self.model(&lease.model, lease.serial);
        if model.exclusion.take_if(|e| proves(&e.cooldown)).is_some() {
            turns.push(Turn::new(model_of(lease), AlertEvent::ModelBack, done.class));
        }
        if let Some(tokens) = &done.tokens {
            model.caching.learn(tokens);
        }
        if let Some(ttft) = done.ttft {
            model.latency.measured(ttft, now);
            self.latency.measured(ttft, now);
        }
        self.breaker.succeed(lease.answered, now, policy)
    }

    fn cool_credential(&mut self, lease: &Lease, done: &Completion, now: Time) {
        let credential = self.credentials.entry(lease.credential).or_default();
        if done.class == Class::RateLimited && done.model_scoped {
            let previous = credential.models.get(&*lease.model).copied();
            if let Some(next) = Cooldown::after(previous, done.class, done.retry_after, now) {
                credential.limit_model(&lease.model, next, now);
            }
        } else {
            credential.cooldown =
                Cooldown::after(credential.cooldown, done.class, done.retry_after, now).or(credential.cooldown);
        }
    }

    /// Whether the exclusion was confirmed: the upstream has said it again after the first had run out.
    fn exclude_model(&mut self, lease: &Lease, class: Class, now: Time) -> bool {
        self.names.retain(|_, known| known.name != lease.model);
        let model = self.model(&lease.model, lease.serial);
        let previous = model.exclusion.map(|e| e.cooldown);
        let Some(cooldown) = Cooldown::after(previous, class, None, now) else { return false };
        model.exclusion = Some(Exclusion { cooldown, retest: None });
        previous.is_some_and(|previous| cooldown.step > previous.step)
    }
}

/// What people are told when a credential is refused for this; a rate limit passes by itself.
fn refusal(class: Class) -> Option<AlertEvent> {
    match class {
        Class::Credential => Some(AlertEvent::CredentialRejected),
        Class::Exhausted => Some(AlertEvent::CredentialExhausted),
        _ => None,
    }
}

fn credential_of(lease: &Lease) -> Subject {
    Subject::Credential(lease.upstream, lease.credential)
}

fn model_of(lease: &Lease) -> Subject {
    Subject::Model(lease.upstream, lease.model.clone())
}

/// The random source where no chance is left: a release never opens a breaker.
struct NoChance;

impl rand::TryRng for NoChance {
    type Error = std::convert::Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(0)
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(0)
    }
    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Self::Error> {
        dst.fill(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
