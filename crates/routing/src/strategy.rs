//! The choice of one member of a tier.

mod cheapest;

use std::time::Duration;

use headgate_domain::{Strategy, UpstreamId};
use rand::{Rng, RngExt};
use rust_decimal::prelude::ToPrimitive;
use smallvec::SmallVec;

use crate::{
    funnel::Verdict,
    health::Health,
    need::Need,
    pool::{Pool, PoolMember},
    time::Time,
};

pub(crate) use cheapest::{AHEAD, Forecasts};
pub use cheapest::{Forecast, Rates};

type Figures = SmallVec<[f64; 8]>;

impl Health {
    /// One member of the tier, by the group's strategy.
    pub(crate) fn draw(
        &self,
        pool: &Pool,
        need: &Need<'_>,
        verdicts: &[Verdict<'_>],
        tier: &[usize],
        now: Time,
        rng: &mut (impl Rng + ?Sized),
    ) -> Option<usize> {
        match tier {
            [] => None,
            [only] => Some(*only),
            _ => match pool.strategy {
                // Who is as cheap as the cheapest has been found out before: among them latency decides.
                Strategy::P2c | Strategy::Cheapest => self.p2c(pool, verdicts, tier, now, rng),
                Strategy::SmoothWeighted => self.smooth(pool, tier),
                Strategy::Balanced => self.balanced(pool, tier, now),
                Strategy::Spread => {
                    let fresh = self.least_recent(pool, need, verdicts, tier);
                    self.p2c(pool, verdicts, &fresh, now, rng)
                }
            },
        }
    }

    /// The better of two weighted draws.
    fn p2c(
        &self,
        pool: &Pool,
        verdicts: &[Verdict<'_>],
        tier: &[usize],
        now: Time,
        rng: &mut (impl Rng + ?Sized),
    ) -> Option<usize> {
        if let [only] = tier {
            return Some(*only);
        }
        let first = weighted(pool, tier, rng)?;
        let second = weighted(pool, tier, rng)?;
        if first == second {
            return Some(first);
        }
        let typical = self.typical_latency(pool, verdicts, tier, now);
        let score = |at: usize| -> f64 {
            let Some((member, verdict)) = pool.members.get(at).zip(verdicts.get(at)) else { return f64::MAX };
            let latency = self.latency(member.upstream, &verdict.model, typical, now);
            latency * (f64::from(self.in_flight(member.upstream)) + 1.0)
        };
        Some(if score(second) < score(first) { second } else { first })
    }

    /// Milliseconds to expect of an upstream with a model: its average, which with age gives way to the upstream's
    /// own, and that to what is typical of the tier.
    fn latency(&self, upstream: UpstreamId, model: &str, typical: f64, now: Time) -> f64 {
        let Some(u) = self.upstreams.get(&upstream) else { return typical };
        let toward = |known: Option<(f64, f64)>, unknown: f64| match known {
            Some((ms, weight)) => ms * weight + unknown * (1.0 - weight),
            None => unknown,
        };
        let own = toward(u.latency.known(now), typical);
        toward(u.models.get(model).and_then(|m| m.latency.known(now)), own)
    }

    /// The upper median of what is known in the tier, 1 if nothing is.
    fn typical_latency(&self, pool: &Pool, verdicts: &[Verdict<'_>], tier: &[usize], now: Time) -> f64 {
        let known = tier.iter().filter_map(|at| {
            let u = self.upstreams.get(&pool.members.get(*at)?.upstream)?;
            let model = u.models.get(&*verdicts.get(*at)?.model).and_then(|m| m.latency.known(now));
            model.or_else(|| u.latency.known(now)).map(|(ms, _)| ms)
        });
        upper_median(known.collect()).unwrap_or(1.0)
    }

    /// Smooth weighted round robin: who is next.
    fn smooth(&self, pool: &Pool, tier: &[usize]) -> Option<usize> {
        let current = self.groups.get(&pool.group).map(|g| &g.smooth);
        let mut best: Option<(i64, usize)> = None;
        for at in tier {
            let member = pool.members.get(*at)?;
            let now = current.and_then(|c| c.get(&member.upstream)).copied().unwrap_or(0) + i64::from(member.weight);
            if best.is_none_or(|(most, _)| now > most) {
                best = Some((now, *at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Smooth weighted round robin: takes a turn.
    pub(crate) fn advance_smooth(&mut self, pool: &Pool, tier: &[usize], chosen: UpstreamId) {
        let smooth = &mut self.groups.entry(pool.group).or_default().smooth;
        let mut total = 0;
        for member in tier.iter().filter_map(|at| pool.members.get(*at)) {
            total += i64::from(member.weight);
            *smooth.entry(member.upstream).or_default() += i64::from(member.weight);
        }
        if let Some(current) = smooth.get_mut(&chosen) {
            *current -= total;
        }
    }

    /// The highest weighted sum of price, latency, quality and load. A missing figure counts as the tier's median.
    fn balanced(&self, pool: &Pool, tier: &[usize], now: Time) -> Option<usize> {
        let members: SmallVec<[&PoolMember; 8]> = tier.iter().filter_map(|at| pool.members.get(*at)).collect();
        let state = |m: &PoolMember| self.upstreams.get(&m.upstream);
        let figures = |of: &dyn Fn(&PoolMember) -> Option<f64>| -> Figures {
            let known: SmallVec<[Option<f64>; 8]> = members.iter().map(|m| of(m)).collect();
            let median = upper_median(known.iter().flatten().copied().collect()).unwrap_or(1.0);
            known.iter().map(|f| f.unwrap_or(median)).collect()
        };
        let price = figures(&|m| m.price().and_then(|p| p.to_f64()));
        #[expect(clippy::cast_precision_loss, reason = "milliseconds and counts of an hour")]
        let latency = figures(&|m| state(m)?.latency.p95(Duration::from_secs(300), now).map(|ms| ms as f64));
        #[expect(clippy::cast_precision_loss, reason = "milliseconds and counts of an hour")]
        let quality = figures(&|m| {
            let (ok, bad) = state(m)?.hour.sum(now);
            (ok + bad > 0).then(|| ok as f64 / (ok + bad) as f64)
        });
        #[expect(clippy::cast_precision_loss, reason = "requests of a minute")]
        let room = figures(&|m| {
            let used = state(m).map_or(0, |u| u.minute.sum(now).0);
            m.limits.rpm.map(|most| 1.0 - (used as f64 / f64::from(most.max(1))).min(1.0))
        });
        let weights = &pool.balance;
        let mut best: Option<(f64, usize)> = None;
        for (n, at) in tier.iter().enumerate() {
            let score = weights.price * cheapness(&price, n)
                + weights.latency * cheapness(&latency, n)
                + weights.quality * quality.get(n).copied().unwrap_or(1.0)
                + weights.load * room.get(n).copied().unwrap_or(1.0);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, *at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// The members whose candidate this access key has used least among its last successes.
    fn least_recent(
        &self,
        pool: &Pool,
        need: &Need<'_>,
        verdicts: &[Verdict<'_>],
        tier: &[usize],
    ) -> SmallVec<[usize; 8]> {
        let combinations: usize = pool.members.iter().map(|m| m.credentials.len().max(1)).sum();
        let uses = |at: usize| {
            let pair = pool.members.get(at).zip(verdicts.get(at)).map(|(m, v)| (m.upstream, v.credential));
            let ring = self.recent.get(&need.key);
            ring.map_or(0, |ring| ring.iter().rev().take(combinations).filter(|used| Some(**used) == pair).count())
        };
        let least = tier.iter().map(|at| uses(*at)).min();
        tier.iter().copied().filter(|at| Some(uses(*at)) == least).collect()
    }
}

/// How good a figure is of which less is better: 1 for the smallest of the tier.
fn cheapness(figures: &[f64], n: usize) -> f64 {
    let least = figures.iter().copied().fold(f64::MAX, f64::min);
    match figures.get(n) {
        Some(figure) if *figure > 0.0 => least.max(0.0) / figure,
        _ => 1.0,
    }
}

/// A draw with probability weight ÷ Σ weight.
fn weighted(pool: &Pool, tier: &[usize], rng: &mut (impl Rng + ?Sized)) -> Option<usize> {
    let weight = |at: usize| pool.members.get(at).map_or(0, |m| u64::from(m.weight.max(1)));
    let total: u64 = tier.iter().map(|at| weight(*at)).sum();
    let mut mark = rng.random_range(0..total.max(1));
    for at in tier {
        match mark.checked_sub(weight(*at)) {
            Some(rest) => mark = rest,
            None => return Some(*at),
        }
    }
    tier.last().copied()
}

fn upper_median(mut known: Figures) -> Option<f64> {
    known.sort_unstable_by(f64::total_cmp);
    known.get(known.len() / 2).copied()
}

#[cfg(test)]
mod tests;
