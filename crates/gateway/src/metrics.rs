//! Figures for Prometheus: counted while requests end, written as text when somebody asks.

use std::sync::atomic::AtomicU64;

use headgate_domain::{AttemptRecord, RequestRecord, audit::BreakerState};
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::shared::{Counters, Shared};

/// Borders of the histograms, in seconds: from a refusal to an answer that took minutes.
const SECONDS: [f64; 14] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfOutcome {
    outcome: &'static str,
    protocol: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfAttempt {
    upstream: String,
    /// `ok`, or class and detail of the failure.
    result: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfTokens {
    upstream: String,
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfUpstream {
    upstream: String,
}

type Seconds = Histogram;
type Total = Counter<u64, AtomicU64>;

/// What is counted. Names of upstreams are labels, names of models and clients, which clients choose, are not.
pub struct Metrics {
    registry: Registry,
    requests: Family<OfOutcome, Total>,
    duration: Family<OfOutcome, Seconds, fn() -> Seconds>,
    ttft: Family<OfUpstream, Seconds, fn() -> Seconds>,
    attempts: Family<OfAttempt, Total>,
    tokens: Family<OfTokens, Total>,
    in_flight: Gauge,
    waiting: Gauge,
    journal_waiting: Gauge,
    journal_lost: Gauge,
    breaker: Family<OfUpstream, Gauge>,
}

fn seconds() -> Seconds {
    Histogram::new(SECONDS)
}

impl Default for Metrics {
    fn default() -> Self {
        let mut all = Self {
            registry: Registry::with_prefix("headgate"),
            requests: Family::default(),
            duration: Family::new_with_constructor(seconds),
            ttft: Family::new_with_constructor(seconds),
            attempts: Family::default(),
            tokens: Family::default(),
            in_flight: Gauge::default(),
            waiting: Gauge::default(),
            journal_waiting: Gauge::default(),
            journal_lost: Gauge::default(),
            breaker: Family::default(),
        };
        let r = &mut all.registry;
        r.register("requests", "Client requests that have ended", all.requests.clone());
        let help = "From a request's head to its last byte";
        r.register_with_unit("request_duration", help, Unit::Seconds, all.duration.clone());
        let help = "From sending an attempt to the first output of a stream";
        r.register_with_unit("attempt_ttft", help, Unit::Seconds, all.ttft.clone());
        r.register("attempts", "Attempts at upstreams that have ended", all.attempts.clone());
        r.register("tokens", "Tokens that upstreams reported", all.tokens.clone());
        r.register("requests_in_flight", "Client requests under way", all.in_flight.clone());
        r.register("requests_waiting", "Of those, requests that wait for room", all.waiting.clone());
        r.register("journal_waiting_records", "Records not yet in the database", all.journal_waiting.clone());
        r.register("journal_lost_records", "Records lost since the start", all.journal_lost.clone());
        r.register("breaker_state", "0 closed, 1 half open, 2 open", all.breaker.clone());
        all
    }
}

impl Metrics {
    /// Counts a request that has ended, with its attempts.
    pub fn count(&self, request: &RequestRecord, attempts: &[AttemptRecord]) {
        let of = OfOutcome {
            outcome: request.outcome.as_str(),
            protocol: request.protocol.map_or("none", |protocol| protocol.as_str()),
        };
        self.requests.get_or_create(&of).inc();
        self.duration.get_or_create(&of).observe(in_seconds(request.duration_ms));
        for attempt in attempts {
            let upstream = attempt.upstream_name.clone();
            let result = attempt.error_kind.clone().unwrap_or_else(|| attempt.outcome.as_str().to_owned());
            self.attempts.get_or_create(&OfAttempt { upstream, result }).inc();
            if let Some(ttft) = attempt.ttft_ms {
                let of = OfUpstream { upstream: attempt.upstream_name.clone() };
                self.ttft.get_or_create(&of).observe(in_seconds(ttft));
            }
            let usage = &attempt.usage;
            for (kind, tokens) in [
                ("fresh", usage.tokens_fresh),
                ("cache_read", usage.tokens_read),
                ("cache_write_5m", usage.tokens_write_5m),
                ("cache_write_1h", usage.tokens_write_1h),
                ("cache_write", usage.tokens_write_other),
                ("output", usage.tokens_output),
                ("reasoning", usage.tokens_reasoning),
            ] {
                if let Some(tokens) = tokens.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0) {
                    let of = OfTokens { upstream: attempt.upstream_name.clone(), kind };
                    self.tokens.get_or_create(&of).inc_by(tokens);
                }
            }
        }
    }

    /// Everything as text, in the form of OpenMetrics.
    pub fn text(&self, shared: &Shared) -> String {
        self.in_flight.set(count(Counters::get(&shared.counters.in_flight)));
        self.waiting.set(i64::try_from(shared.lines.len()).unwrap_or(i64::MAX));
        let journal = shared.journal.stats();
        self.journal_waiting.set(count(journal.waiting_records));
        self.journal_lost.set(count(journal.lost));
        // Upstreams that are gone or renamed leave no gauge behind.
        self.breaker.clear();
        let (snapshot, now) = (shared.snapshot.load(), shared.now());
        let routing = shared.routing.lock();
        for upstream in &snapshot.configuration.upstreams {
            let state = match routing.health.view(upstream.id, now).state {
                BreakerState::Closed => 0,
                BreakerState::HalfOpen => 1,
                BreakerState::Open => 2,
            };
            self.breaker.get_or_create(&OfUpstream { upstream: upstream.name.to_string() }).set(state);
        }
        drop(routing);
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

fn count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn in_seconds(ms: i64) -> f64 {
    std::time::Duration::from_millis(u64::try_from(ms).unwrap_or(0)).as_secs_f64()
}
