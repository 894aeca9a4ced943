//! The member whose answers will cost least, prompt caches included.
//!
//! The forecast is that of the next quarter of an hour of one session, by section 12.4 of the reference behaviour: what
//! a cache must miss at least, what it finds of the rest, and what the answers cost; divided by the share of attempts
//! that succeed, because a failure is paid for by trying again. It ranks members and is never shown as an amount that
//! was spent, so floating point will do.

use std::time::Duration;

use headgate_domain::UpstreamId;
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;
use smallvec::SmallVec;

use crate::{caching::CacheUse, funnel::Verdict, health::Health, need::Need, pool::Pool, time::Time};

/// What the forecast looks ahead to.
pub(crate) const AHEAD: Duration = Duration::from_secs(15 * 60);
/// Members whose forecasts are this close are equally cheap.
const TIE: f64 = 1.01;
/// Results of an hour before a success rate counts.
const ENOUGH: u64 = 20;
/// Of the price of input, where a list has none for the cache: reading, and writing.
const READ: f64 = 0.5;
const WRITE: f64 = 1.25;
/// What is assumed of a model that no list has: output is dearer than input by so much, as it is with most.
const UNKNOWN: Rates = Rates { currency: [0; 8], input: 1.0, output: 5.0, read: None, write: None, request: 0.0 };

/// The list prices of an upstream's model: of a million tokens, and of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// The currency's code; amounts of different ones are not compared.
    pub currency: [u8; 8],
    /// Input that no cache has to do with.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from a cache.
    pub read: Option<f64>,
    /// Input written to a cache.
    pub write: Option<f64>,
    /// The request itself.
    pub request: f64,
}

/// What one request is expected to cost at a member.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Forecast {
    /// The member.
    pub upstream: UpstreamId,
    /// For one request; without list prices only to be compared within this answer.
    pub cost: f64,
    /// In which currency; absent where no member has list prices.
    #[serde(serialize_with = "code")]
    #[schema(value_type = Option<String>)]
    pub currency: Option<[u8; 8]>,
    /// By how many percent dearer than the cheapest.
    pub dearer: u32,
    /// Multiplier ÷ credit ratio; absent: unknown, taken as 1.
    pub multiplier: Option<f64>,
    /// Its model has list prices; otherwise those of another member were taken.
    pub listed: bool,
    /// Share of the prompt that its cache has to do with; absent: it was not seen to have one.
    pub coverage: Option<f64>,
    /// How often its cache finds what was written.
    pub hit_rate: Option<f64>,
    /// The session's prompt is in its cache now.
    pub warm: bool,
    /// Share of the last hour's attempts that succeeded; absent: too few to tell.
    pub success_rate: Option<f64>,
}

#[expect(clippy::ref_option, reason = "serde asks for it")]
fn code<S: serde::Serializer>(currency: &Option<[u8; 8]>, to: S) -> Result<S::Ok, S::Error> {
    let text =
        currency.as_ref().and_then(|code| std::str::from_utf8(code).ok()).map(|code| code.trim_end_matches('\0'));
    text.serialize(to)
}

pub(crate) type Forecasts = SmallVec<[Forecast; 8]>;

/// What a session asks for, whoever serves it.
struct Demand {
    /// Requests within [`AHEAD`].
    requests: f64,
    input: f64,
    output: f64,
}

impl Health {
    /// What each member of the tier would cost, in its order.
    pub(crate) fn forecasts(
        &self,
        pool: &Pool,
        need: &Need<'_>,
        verdicts: &[Verdict<'_>],
        tier: &[usize],
        now: Time,
    ) -> Forecasts {
        let known = |at: usize| {
            let (member, verdict) = pool.members.get(at).zip(verdicts.get(at))?;
            let state = self.upstreams.get(&member.upstream);
            Some((member, verdict, state, state.and_then(|u| u.models.get(&*verdict.model)).map(|m| &m.caching)))
        };
        let listed: SmallVec<[Option<Rates>; 8]> =
            tier.iter().map(|at| known(*at).and_then(|(m, v, ..)| (need.rates)(m.upstream, &v.model))).collect();
        let currency = common_currency(&listed);
        let listed: SmallVec<[Option<Rates>; 8]> =
            listed.into_iter().map(|rates| rates.filter(|r| Some(r.currency) == currency)).collect();
        let assumed = listed.iter().flatten().next().copied().unwrap_or(UNKNOWN);
        let outputs = tier.iter().filter_map(|at| known(*at)?.3?.output());
        #[expect(clippy::cast_precision_loss, reason = "tokens of one request")]
        let input = need.estimated_input.max(1) as f64;
        let demand = Demand {
            requests: need.pace.max(1.0),
            input,
            // How long an answer is, is the question's matter and not the upstream's.
            output: super::upper_median(outputs.collect()).unwrap_or((input / 4.0).max(64.0)),
        };
        let mut all: Forecasts = tier
            .iter()
            .zip(&listed)
            .filter_map(|(at, listed)| {
                let (member, _, state, caching) = known(*at)?;
                let cache = caching.and_then(|c| c.cache());
                let warm = need.affinity == Some(member.upstream)
                    && cache.is_some_and(|c| need.idle.is_some_and(|idle| idle < c.life));
                let multiplier = member.price().and_then(|p| p.to_f64());
                let success_rate = state.and_then(|u| {
                    let (ok, bad) = u.hour.sum(now);
                    #[expect(clippy::cast_precision_loss, reason = "results of an hour")]
                    (ok + bad >= ENOUGH).then(|| ok as f64 / (ok + bad) as f64)
                });
                let cost = demand.cost(&listed.unwrap_or(assumed), cache, warm) * multiplier.unwrap_or(1.0)
                    / success_rate.unwrap_or(1.0).max(0.01);
                Some(Forecast {
                    upstream: member.upstream,
                    cost,
                    currency,
                    dearer: 0,
                    multiplier,
                    listed: listed.is_some(),
                    coverage: cache.map(|c| c.coverage),
                    hit_rate: cache.map(|c| c.hit_rate),
                    warm,
                    success_rate,
                })
            })
            .collect();
        let least = least(&all);
        for forecast in &mut all {
            forecast.dearer = percent_above(forecast.cost, least);
        }
        all
    }

    /// The members of the tier that are as cheap as the cheapest.
    pub(crate) fn cheapest(tier: &[usize], forecasts: &Forecasts) -> SmallVec<[usize; 8]> {
        let most = least(forecasts) * TIE;
        tier.iter().zip(forecasts).filter(|(_, f)| f.cost <= most).map(|(at, _)| *at).collect()
    }
}

fn least(forecasts: &Forecasts) -> f64 {
    forecasts.iter().map(|f| f.cost).fold(f64::MAX, f64::min)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn percent_above(cost: f64, least: f64) -> u32 {
    if least > 0.0 { ((cost / least - 1.0) * 100.0).round().clamp(0.0, 1e6) as u32 } else { 0 }
}

/// The currency most members are priced in.
fn common_currency(listed: &[Option<Rates>]) -> Option<[u8; 8]> {
    let count = |currency| listed.iter().flatten().filter(|r| r.currency == currency).count();
    listed.iter().flatten().map(|r| r.currency).rev().max_by_key(|currency| count(*currency))
}

impl Demand {
    /// One request's share of the session's cost at list prices.
    fn cost(&self, rates: &Rates, cache: Option<CacheUse>, warm: bool) -> f64 {
        let plain = self.input * rates.input;
        let input = match cache {
            None => plain,
            Some(cache) => {
                let read = rates.read.unwrap_or(rates.input * READ);
                let write = if cache.writes { rates.write.unwrap_or(rates.input * WRITE) } else { rates.input };
                // What was written runs out, so each life of it begins with a miss; the present one is spared where
                // the prompt is still there.
                let lives = (AHEAD.as_secs_f64() / cache.life.as_secs_f64()).ceil().clamp(1.0, self.requests);
                let (lost, found) = if warm { (lives - 1.0, 1.0) } else { (lives, 0.0) };
                let hits = found + (self.requests - lost - found).max(0.0) * cache.hit_rate;
                let share = hits / self.requests;
                let cached = share * read + (1.0 - share) * write;
                self.input * (cache.coverage * cached + (1.0 - cache.coverage) * rates.input)
            }
        };
        (input + self.output * rates.output) / 1e6 + rates.request
    }
}
