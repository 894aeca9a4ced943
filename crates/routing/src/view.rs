//! Health as people look at it.

use headgate_domain::{Class, CredentialId, UpstreamId, audit::BreakerState};
use serde::Serialize;

use crate::{
    cooldown::Cooldown,
    health::{Health, remaining},
    time::Time,
};

/// A cooldown that lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct CoolingView {
    /// Why.
    pub class: Class,
    /// The model it is about, when it is not about everything.
    pub model: Option<String>,
    /// For how many milliseconds more.
    pub remaining_ms: u64,
}

/// One credential that is cooling down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct CredentialHealth {
    /// The credential; `None` for an upstream that needs none.
    pub id: Option<CredentialId>,
    /// Its cooldowns.
    pub cooling: Vec<CoolingView>,
}

/// One model of an upstream.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ModelHealth {
    /// Its name at the upstream.
    pub model: String,
    /// For how many milliseconds more it is not asked for; 0 when the re-test is due.
    pub excluded_ms: Option<u64>,
    /// A second look, after the first exclusion had ended, found the same: a person should know.
    pub confirmed: bool,
    /// The name it is asked for in its place, because that works.
    pub asked_as: Option<String>,
    /// Median of the last measured times to first token, in milliseconds.
    pub ttft_ms: Option<f64>,
}

/// The health of one upstream.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UpstreamHealth {
    /// Its breaker.
    pub state: BreakerState,
    /// Failures in a row.
    pub failures: u32,
    /// The class of the last failure that counted.
    pub last_failure: Option<Class>,
    /// Openings in a row without a closing between.
    pub openings: u32,
    /// Milliseconds until an open breaker admits a trial.
    pub open_ms: Option<u64>,
    /// A wait the whole upstream asked for.
    pub cooling: Option<CoolingView>,
    /// Requests under way.
    pub in_flight: u32,
    /// Median of the last measured times to first token, in milliseconds.
    pub ttft_ms: Option<f64>,
    /// Results of the last hour that count.
    pub results: u64,
    /// Successes among them.
    pub successes: u64,
    /// Credentials that are cooling down.
    pub credentials: Vec<CredentialHealth>,
    /// Models with an exclusion or a known latency.
    pub models: Vec<ModelHealth>,
}

impl UpstreamHealth {
    /// Successes as a share of the results of the last hour; `None` without results.
    #[expect(clippy::cast_precision_loss, reason = "results of an hour")]
    pub fn success_rate(&self) -> Option<f64> {
        (self.results > 0).then(|| self.successes as f64 / self.results as f64)
    }
}

impl Health {
    /// The health of one upstream. One that is unknown is healthy.
    pub fn view(&self, upstream: UpstreamId, now: Time) -> UpstreamHealth {
        let Some(u) = self.upstreams.get(&upstream) else {
            return UpstreamHealth {
                state: BreakerState::Closed,
                failures: 0,
                last_failure: None,
                openings: 0,
                open_ms: None,
                cooling: None,
                in_flight: 0,
                ttft_ms: None,
                results: 0,
                successes: 0,
                credentials: Vec::new(),
                models: Vec::new(),
            };
        };
        let cooling = |c: &Cooldown, model: Option<&str>| {
            c.lasts(now).then(|| CoolingView {
                class: c.class,
                model: model.map(str::to_owned),
                remaining_ms: remaining(now, c.until),
            })
        };
        let (successes, failures) = u.hour.sum(now);
        let class = u.breaker.class();
        UpstreamHealth {
            state: u.breaker.state(now),
            failures: u.breaker.failures(),
            last_failure: (class != Class::Ok).then_some(class),
            openings: u.breaker.openings(),
            open_ms: u.breaker.open_until(now).map(|until| remaining(now, until)),
            cooling: u.cooldown.as_ref().and_then(|c| cooling(c, None)),
            in_flight: u.in_flight,
            ttft_ms: u.latency.median(),
            results: successes + failures,
            successes,
            credentials: u
                .credentials
                .iter()
                .map(|(id, c)| {
                    let whole = c.cooldown.iter().filter_map(|c| cooling(c, None));
                    let parts = c.models.iter().filter_map(|(model, c)| cooling(c, Some(model)));
                    CredentialHealth { id: *id, cooling: whole.chain(parts).collect() }
                })
                .filter(|c| !c.cooling.is_empty())
                .collect(),
            models: u
                .models
                .iter()
                .map(|(model, m)| ModelHealth {
                    model: model.to_string(),
                    excluded_ms: m.exclusion.map(|e| remaining(now, e.cooldown.until)),
                    confirmed: m.exclusion.is_some_and(|e| e.cooldown.step > 0),
                    asked_as: u.names.get(model).filter(|n| now < n.until).map(|n| n.name.to_string()),
                    ttft_ms: m.latency.median(),
                })
                .filter(|m| m.excluded_ms.is_some() || m.ttft_ms.is_some())
                .collect(),
        }
    }
}
