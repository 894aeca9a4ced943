//! What two neighbouring snapshots say about the time between them.

use chrono::{DateTime, TimeDelta, Utc};
use rust_decimal::Decimal;

use super::{Skip, Snapshot, Use, Window};
use crate::{by_hand::ByHand, schedule::Bounded};

/// How late an upstream may count a request.
const LAG: TimeDelta = TimeDelta::seconds(60);

/// Our own traffic of a span.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Local {
    pub requests: u64,
    pub complete: u64,
    /// Sum of complete list prices.
    pub priced: Decimal,
    /// Sum of lower bounds of incomplete ones.
    pub partial: Decimal,
    /// Sum of the prices of requests that were counted here too, and the most these can be.
    pub counted: Decimal,
    pub counted_at_most: Decimal,
    pub counted_requests: u64,
    /// What ended so close to an edge that it may be counted on the other side.
    pub edge: Decimal,
    /// Σ price × multiplier at its time, of what has a price.
    weighted: Decimal,
}

impl Local {
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.complete += other.complete;
        self.priced += other.priced;
        self.partial += other.partial;
        self.counted += other.counted;
        self.counted_at_most += other.counted_at_most;
        self.counted_requests += other.counted_requests;
        self.edge += other.edge;
        self.weighted += other.weighted;
    }

    /// The list price of all of it, extended to what could not be priced by the mean of what could. `None` if that is
    /// less than half. Without any traffic it is zero.
    pub fn estimate(&self) -> Option<Decimal> {
        if self.complete * 2 < self.requests {
            return None;
        }
        if self.requests == 0 {
            return Some(Decimal::ZERO);
        }
        let extended = self.priced * Decimal::from(self.requests) / Decimal::from(self.complete.max(1));
        Some(extended.max(self.priced + self.partial))
    }

    /// How far the estimate may be off on either side for what is missing.
    pub fn uncertainty(&self) -> Decimal {
        self.estimate().map_or(Decimal::ZERO, |all| all - self.priced)
    }

    fn missing_share(&self) -> Decimal {
        if self.requests == 0 {
            return Decimal::ZERO;
        }
        Decimal::from(self.requests - self.complete) / Decimal::from(self.requests)
    }
}

/// A pair as a comparison counts it: what its figures are the sums of.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// The snapshot before.
    pub from: DateTime<Utc>,
    /// The one after.
    pub to: DateTime<Utc>,
    /// Our own attempts in between.
    pub calls: u64,
    /// Those of them that are priced in full.
    pub priced_calls: u64,
    /// What these cost at list price.
    pub priced: Decimal,
    /// That, extended to what could not be priced; none: too little is.
    pub estimate: Option<Decimal>,
    /// The list price that the upstream states.
    pub list: Option<Decimal>,
    /// The mean multiplier.
    pub multiplier: Option<Decimal>,
}

impl From<&Pair> for Counted {
    fn from(pair: &Pair) -> Self {
        Self {
            from: pair.from,
            to: pair.to,
            calls: pair.local.requests,
            priced_calls: pair.local.complete,
            priced: pair.local.priced,
            estimate: pair.local.estimate(),
            list: pair.list,
            multiplier: pair.multiplier.map(|mean| mean.value),
        }
    }
}

/// One pair, as far as it can be used.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    pub list: Option<Decimal>,
    pub charged: Option<Decimal>,
    pub spent: Option<Decimal>,
    pub requests: Option<u64>,
    /// The mean multiplier of the span.
    pub multiplier: Option<Bounded>,
    /// The stated one was another at the end, and when it changed is unknown.
    pub changed: bool,
    pub local: Local,
}

impl Pair {
    /// What the two say, and what had to be left out. `None`: nothing.
    pub fn between(
        a: &Snapshot,
        b: &Snapshot,
        uses: &[Use],
        by_hand: &ByHand,
        skipped: &mut Vec<Skip>,
    ) -> Option<Self> {
        for (broken, why) in [
            (b.at <= a.at, Skip::NoTime),
            (a.key != b.key, Skip::KeyChanged),
            (a.currency != b.currency, Skip::CurrencyChanged),
        ] {
            if broken {
                skipped.push(why);
                return None;
            }
        }
        let grown = |a: Option<Decimal>, b: Option<Decimal>| a.zip(b).map(|(a, b)| b - a);
        let (list, charged) = (grown(a.list, b.list), grown(a.charged, b.charged));
        let requests = a.requests.zip(b.requests).map(|(a, b)| b.checked_sub(a));
        if [list, charged].iter().flatten().any(Decimal::is_sign_negative) || requests == Some(None) {
            skipped.push(Skip::CounterReset);
            return None;
        }
        let mut spent = a.remaining.zip(b.remaining).map(|(a, b)| a - b);
        if spent.is_some_and(|s| s.is_sign_negative() && !s.is_zero()) {
            skipped.push(Skip::TopUp);
            spent = None;
        }
        let window = Window { from: a.at, to: b.at };
        let mut pair = Self {
            from: a.at,
            to: b.at,
            list,
            charged,
            spent,
            requests: requests.flatten(),
            multiplier: None,
            changed: a.multiplier.as_ref().zip(b.multiplier.as_ref()).is_some_and(|(a, b)| a != b)
                && by_hand.over(a.at, b.at).iter().any(|(.., set)| set.is_none()),
            local: Local::default(),
        };
        let stated = a.multiplier.as_ref().or(b.multiplier.as_ref());
        let in_force = |at| by_hand.at(at).or_else(|| Some(stated?.at(at))).or_else(|| by_hand.first());
        for one in within(uses, window) {
            let local = &mut pair.local;
            local.requests += 1;
            let Some(list) = one.list else { continue };
            if let Some(multiplier) = in_force(one.at) {
                local.weighted += list * multiplier;
            }
            if !one.complete {
                local.partial += list;
                continue;
            }
            local.complete += 1;
            local.priced += list;
            if let Some(most) = one.observed_at_most {
                local.counted += list;
                local.counted_at_most += most;
                local.counted_requests += 1;
            }
        }
        pair.multiplier = pair.mean(a, b, by_hand);
        Some(pair)
    }

    /// The mean multiplier: by our own spending where that is known, otherwise by time.
    fn mean(&self, a: &Snapshot, b: &Snapshot, by_hand: &ByHand) -> Option<Bounded> {
        let mut parts: Vec<(i64, Bounded)> = Vec::new();
        for (from, to, set) in by_hand.over(self.from, self.to) {
            let stated = || stated_over(a, b, from, to).or_else(|| Some(flat(by_hand.first()?)));
            parts.push(((to - from).num_milliseconds(), set.map(flat).or_else(stated)?));
        }
        let low = parts.iter().map(|(_, part)| part.low).min()?;
        let high = parts.iter().map(|(_, part)| part.high).max()?;
        let whole: i64 = parts.iter().map(|(ms, _)| ms).sum();
        let by_time = match parts.as_slice() {
            [(_, only)] => only.value,
            _ if whole == 0 => high,
            all => all.iter().map(|(ms, part)| part.value * Decimal::from(*ms)).sum::<Decimal>() / Decimal::from(whole),
        };
        let priced = self.local.priced + self.local.partial;
        if self.changed || priced.is_zero() || self.local.complete * 2 < self.local.requests {
            return Some(Bounded { value: by_time, low, high });
        }
        // What has a price tells when the rest was spent, less surely the more is missing.
        let value = self.local.weighted / priced;
        let slack = self.local.missing_share();
        Some(Bounded { value, low: value - (value - low) * slack, high: value + (high - value) * slack })
    }

    /// Adds to our own traffic what may have been counted on the other side of the edges `at`.
    pub fn note_edges(&mut self, edges: &[DateTime<Utc>], uses: &[Use]) {
        let near = edges.iter().flat_map(|edge| within(uses, Window { from: *edge - LAG, to: *edge + LAG }));
        self.local.edge = near.filter_map(|one| one.list).sum();
    }
}

/// What the upstream stated over a span between two of its snapshots.
fn stated_over(a: &Snapshot, b: &Snapshot, from: DateTime<Utc>, to: DateTime<Utc>) -> Option<Bounded> {
    let ends: Vec<Bounded> =
        [&a.multiplier, &b.multiplier].into_iter().flatten().map(|multiplier| multiplier.over(from, to)).collect();
    Some(Bounded {
        value: ends.iter().map(|e| e.value).sum::<Decimal>() / Decimal::from(ends.len().max(1)),
        low: ends.iter().map(|e| e.low).min()?,
        high: ends.iter().map(|e| e.high).max()?,
    })
}

fn flat(value: Decimal) -> Bounded {
    Bounded { value, low: value, high: value }
}

/// What ended within a window; `uses` in the order of time.
fn within(uses: &[Use], window: Window) -> &[Use] {
    let begin = uses.partition_point(|u| u.at <= window.from);
    let end = uses.partition_point(|u| u.at <= window.to);
    uses.get(begin..end).unwrap_or_default()
}

/// The pairs of a window: from the last snapshot not after its beginning to the last one not after its end.
pub(super) fn pairs(
    snapshots: &[Snapshot],
    uses: &[Use],
    window: Window,
    by_hand: &ByHand,
    skipped: &mut Vec<Skip>,
) -> (usize, Vec<Pair>) {
    let first = snapshots.iter().rposition(|s| s.at <= window.from).unwrap_or(0);
    let mut used: Vec<&Snapshot> = snapshots.iter().skip(first).filter(|s| s.at <= window.to).collect();
    used.sort_by_key(|s| s.at);
    let mut found: Vec<Option<Pair>> = Vec::new();
    for (a, b) in used.iter().zip(used.iter().skip(1)) {
        found.push(Pair::between(a, b, uses, by_hand, skipped));
    }
    let whole = |at: usize| found.get(at).is_some_and(Option::is_some);
    let outer: Vec<Vec<DateTime<Utc>>> = (0..found.len())
        .map(|at| {
            let mut edges = Vec::new();
            if let Some(pair) = found.get(at).and_then(Option::as_ref) {
                if at == 0 || !whole(at - 1) {
                    edges.push(pair.from);
                }
                if !whole(at + 1) {
                    edges.push(pair.to);
                }
            }
            edges
        })
        .collect();
    let pairs = found.into_iter().zip(outer).filter_map(|(pair, edges)| {
        let mut pair = pair?;
        if !edges.is_empty() {
            pair.note_edges(&edges, uses);
        }
        Some(pair)
    });
    (used.len(), pairs.collect())
}
