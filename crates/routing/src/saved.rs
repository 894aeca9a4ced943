//! What outlives a restart: open breakers, cooldowns, exclusions and averages.

use std::time::Duration;

use headgate_domain::{Class, CredentialId, UpstreamId, audit::BreakerState};
use serde::{Deserialize, Serialize};

use crate::{
    breaker::Breaker,
    cooldown::{Cooldown, Exclusion},
    health::{Health, UpstreamState, remaining},
    latency::Latency,
    probe::WANTED_WITHIN,
    time::{Time, millis},
};

/// Saved health. Times are milliseconds relative to the moment of saving.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedHealth {
    upstreams: Vec<SavedUpstream>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedUpstream {
    id: UpstreamId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<SavedOpen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cooldown: Option<SavedCooldown>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    credentials: Vec<SavedCredential>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    models: Vec<SavedModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttft: Option<SavedAverage>,
    /// How long ago one of its groups had a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wanted_ms_ago: Option<u64>,
}

/// A breaker that is not closed; a half-open one has nothing remaining.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedOpen {
    remaining_ms: u64,
    openings: u32,
    class: Class,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedCooldown {
    class: Class,
    remaining_ms: u64,
    step: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedCredential {
    id: Option<CredentialId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    cooldown: SavedCooldown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedModel {
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exclusion: Option<SavedCooldown>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttft: Option<SavedAverage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct SavedAverage {
    ms: f64,
    weight: f64,
}

impl Health {
    /// Everything worth keeping over a restart.
    pub fn save(&self, now: Time) -> SavedHealth {
        SavedHealth { upstreams: self.upstreams.iter().map(|(id, u)| save_upstream(*id, u, now)).collect() }
    }

    /// Takes up what was saved, `elapsed` ago, in the place of what is known.
    pub fn restore(&mut self, saved: &SavedHealth, elapsed: Duration, now: Time) {
        for s in &saved.upstreams {
            let (mut state, generation) = {
                self.upstreams.remove(&s.id);
                let generation = self.state(s.id).breaker.generation();
                (UpstreamState::new(generation, &self.policy), generation)
            };
            let left = |c: &SavedCooldown| {
                let until = now + Duration::from_millis(c.remaining_ms).saturating_sub(elapsed);
                Cooldown { class: c.class, since: now, until, step: c.step }
            };
            let average = |a: &SavedAverage| Latency::restored(a.ms, a.weight, elapsed, now);
            if let Some(open) = &s.open {
                let until = now + Duration::from_millis(open.remaining_ms).saturating_sub(elapsed);
                state.breaker = Breaker::restored(generation, &self.policy, until, open.openings, open.class);
                state.last_failed_model = open.model.as_deref().map(Into::into);
            }
            state.cooldown = s.cooldown.as_ref().map(left);
            state.latency = s.ttft.as_ref().map(average).unwrap_or_default();
            for c in &s.credentials {
                let credential = state.credentials.entry(c.id).or_default();
                match &c.model {
                    Some(model) => credential.limit_model(model, left(&c.cooldown), now),
                    None => credential.cooldown = Some(left(&c.cooldown)),
                }
            }
            for m in &s.models {
                let model = state.model(&m.model, 0);
                model.exclusion = m.exclusion.as_ref().map(|c| Exclusion { cooldown: left(c), retest: None });
                model.latency = m.ttft.as_ref().map(average).unwrap_or_default();
            }
            // The time before this process cannot be told in its own: a request within the day counts as one of now.
            let ago = s.wanted_ms_ago.map(|ms| Duration::from_millis(ms).saturating_add(elapsed));
            state.wanted = ago.filter(|ago| *ago < WANTED_WITHIN).map(|_| now);
            self.upstreams.insert(s.id, state);
        }
    }
}

fn save_upstream(id: UpstreamId, u: &UpstreamState, now: Time) -> SavedUpstream {
    let cooldown = |c: &Cooldown| SavedCooldown { class: c.class, remaining_ms: remaining(now, c.until), step: c.step };
    let average = |l: &Latency| l.known(now).map(|(ms, weight)| SavedAverage { ms, weight });
    let credentials = u.credentials.iter().flat_map(|(id, c)| {
        let whole = c.cooldown.iter().map(move |c| (None, c));
        let parts = c.models.iter().map(|(model, c)| (Some(model.to_string()), c));
        whole.chain(parts).map(move |(model, c)| SavedCredential { id: *id, model, cooldown: cooldown(c) })
    });
    let models = u.models.iter().map(|(model, m)| SavedModel {
        model: model.to_string(),
        exclusion: m.exclusion.map(|e| cooldown(&e.cooldown)),
        ttft: average(&m.latency),
    });
    SavedUpstream {
        id,
        open: (u.breaker.state(now) != BreakerState::Closed).then(|| SavedOpen {
            remaining_ms: u.breaker.open_until(now).map_or(0, |until| remaining(now, until)),
            openings: u.breaker.openings(),
            class: u.breaker.class(),
            model: u.last_failed_model.as_deref().map(str::to_owned),
        }),
        cooldown: u.cooldown.as_ref().map(cooldown),
        credentials: credentials.collect(),
        models: models.filter(|m| m.exclusion.is_some() || m.ttft.is_some()).collect(),
        ttft: average(&u.latency),
        wanted_ms_ago: u.wanted.map(|at| millis(now.since(at))),
    }
}
