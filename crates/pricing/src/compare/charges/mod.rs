//! Single charges against single requests: which belong together, and in what they differ.
//!
//! A request id that both sides know decides; then equal tokens of the same model, nearest in time; then the same model
//! alone, nearest in time. What is left over on our side was not charged (or is not listed yet); what is left over on
//! theirs is traffic from elsewhere: other programs with the same key, or another key of the account.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::Usage;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::names::candidates;

/// How far both clocks, and the moment at which a charge is noted, may lie apart.
pub const SKEW: TimeDelta = TimeDelta::seconds(120);
/// What a list price may be above ours: prices differ between lists.
const LIST_SHARE: Decimal = Decimal::from_parts(25, 0, 0, false, 2);
/// What a charge may be above list price × multiplier: sites round each.
const CHARGE_SHARE: Decimal = Decimal::from_parts(2, 0, 0, false, 2);
/// Differences of money below this are rounding: a site's unit is a two-millionth of a dollar.
const ROUNDING: Decimal = Decimal::from_parts(5, 0, 0, false, 6);
/// Tokens by which both sides may count differently.
const FEW: u64 = 8;

/// One request as an upstream has charged for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Charge {
    /// Tells it from the upstream's other charges.
    pub id: String,
    /// When it was charged, to the second at best.
    pub at: DateTime<Utc>,
    /// The model.
    pub model: String,
    /// The upstream's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The key it was charged to, by its name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The tokens charged for.
    pub usage: Usage,
    /// Its list price, in dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub list: Option<Decimal>,
    /// What was charged, in dollars.
    #[schema(value_type = String)]
    pub charged: Decimal,
    /// The multiplier applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub multiplier: Option<Decimal>,
}

/// One attempt of ours that the upstream may have charged for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = BilledRequest)]
pub struct Request {
    /// Our id of the request.
    pub id: String,
    /// The number of the attempt.
    pub attempt: i32,
    /// When it was sent.
    pub began: DateTime<Utc>,
    /// When it ended.
    pub ended: DateTime<Utc>,
    /// The model, by the name the upstream was asked for.
    pub model: String,
    /// The upstream's id of it.
    pub upstream_request_id: Option<String>,
    /// The tokens the upstream reported with its answer.
    pub usage: Usage,
    /// Its list price by these tokens, in dollars.
    #[schema(value_type = Option<String>)]
    pub list: Option<Decimal>,
    /// Whether that has all parts; otherwise it is a lower bound.
    pub complete: bool,
    /// The entry of the price list, or the own rule's pattern, by which it was priced.
    pub price_entry: Option<String>,
    /// The version of the price list.
    pub price_version: Option<String>,
    /// The multiplier stated at the time.
    #[schema(value_type = Option<String>)]
    pub multiplier: Option<Decimal>,
}

/// In what a charge differs from the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[schema(as = ChargeDifference)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// More tokens are charged for than were reported.
    TokensExceeded,
    /// Input that the answer called read from a cache is charged for as fresh.
    CachedAsFresh,
    /// Its list price is above ours of the same tokens.
    ListExceeded,
    /// More was charged than list price × the multiplier stated at the time.
    MultiplierExceeded,
}

/// How both were found to belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChargeMatch)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// By a request id that both sides know.
    Id,
    /// By model, tokens and time.
    Tokens,
    /// By model and time alone.
    Time,
}

/// A charge and its request, as positions in what was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Couple {
    /// Of the charge.
    pub charge: usize,
    /// Of the request.
    pub request: usize,
    /// By what.
    pub by: Match,
    /// In what they differ.
    pub differences: Vec<Difference>,
}

/// Which belong together, and which to nobody; in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matched {
    /// What belongs together.
    pub couples: Vec<Couple>,
    /// Requests without a charge.
    pub ours: Vec<usize>,
    /// Charges without a request.
    pub theirs: Vec<usize>,
}

/// Finds the request of each charge, one to one.
pub fn match_up(charges: &[Charge], requests: &[Request]) -> Matched {
    let names = Names::of(charges, requests);
    let mut found = Found::default();
    by_id(charges, requests, &mut found);
    for by in [Match::Tokens, Match::Time] {
        let mut pairs = near(charges, requests, &names, by, &found);
        // Nearest first; among equals the earlier, so that the result does not depend on chance.
        pairs.sort_by_key(|(apart, charge, request)| (*apart, *charge, *request));
        for (_, charge, request) in pairs {
            found.join(charge, request, by);
        }
    }
    let mut couples: Vec<Couple> = found
        .couples
        .iter()
        .filter_map(|(charge, request, by)| {
            let differences = differences(charges.get(*charge)?, requests.get(*request)?);
            Some(Couple { charge: *charge, request: *request, by: *by, differences })
        })
        .collect();
    couples.sort_by_key(|couple| charges.get(couple.charge).map(|charge| charge.at));
    let rest = |all: usize, taken: &HashSet<usize>| (0..all).filter(|at| !taken.contains(at)).collect::<Vec<_>>();
    let mut ours = rest(requests.len(), &found.requests);
    ours.sort_by_key(|at| requests.get(*at).map(|request| request.ended));
    let mut theirs = rest(charges.len(), &found.charges);
    theirs.sort_by_key(|at| charges.get(*at).map(|charge| charge.at));
    Matched { couples, ours, theirs }
}

#[derive(Default)]
struct Found {
    couples: Vec<(usize, usize, Match)>,
    charges: HashSet<usize>,
    requests: HashSet<usize>,
}

impl Found {
    fn is_free(&self, charge: usize, request: usize) -> bool {
        !self.charges.contains(&charge) && !self.requests.contains(&request)
    }

    fn join(&mut self, charge: usize, request: usize, by: Match) {
        if self.is_free(charge, request) {
            self.charges.insert(charge);
            self.requests.insert(request);
            self.couples.push((charge, request, by));
        }
    }
}

/// An id decides only where one charge and one request have it: a site that repeats it for each retry tells nothing.
fn by_id(charges: &[Charge], requests: &[Request], found: &mut Found) {
    fn once<'a>(ids: impl Iterator<Item = (usize, Option<&'a String>)>) -> HashMap<&'a str, Option<usize>> {
        let mut places = HashMap::new();
        for (at, id) in ids.filter_map(|(at, id)| Some((at, id?))).filter(|(_, id)| !id.is_empty()) {
            places.entry(id.as_str()).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    }
    let theirs = once(charges.iter().enumerate().map(|(at, charge)| (at, charge.request_id.as_ref())));
    let ours = once(requests.iter().enumerate().map(|(at, request)| (at, request.upstream_request_id.as_ref())));
    for (id, charge) in theirs {
        if let (Some(charge), Some(Some(request))) = (charge, ours.get(id)) {
            found.join(charge, *request, Match::Id);
        }
    }
}

/// The pairs of what is still free, of one model and near each other in time, with how far they are apart.
fn near(
    charges: &[Charge],
    requests: &[Request],
    names: &Names<'_>,
    by: Match,
    found: &Found,
) -> Vec<(TimeDelta, usize, usize)> {
    let mut in_time: Vec<usize> = (0..requests.len()).filter(|at| !found.requests.contains(at)).collect();
    in_time.sort_by_key(|at| requests.get(*at).map(|request| request.ended));
    let mut pairs = Vec::new();
    for (at, charge) in charges.iter().enumerate().filter(|(at, _)| !found.charges.contains(at)) {
        let begin = in_time.partition_point(|r| requests.get(*r).is_some_and(|r| r.ended < charge.at - SKEW));
        for request_at in in_time.iter().skip(begin) {
            let Some(request) = requests.get(*request_at) else { continue };
            if request.ended > charge.at + SKEW {
                break;
            }
            if names.same(&charge.model, &request.model) && fits(by, charge, request) {
                pairs.push(((request.ended - charge.at).abs(), at, *request_at));
            }
        }
    }
    pairs
}

fn fits(by: Match, charge: &Charge, request: &Request) -> bool {
    let (theirs, ours) = (&charge.usage, &request.usage);
    match by {
        Match::Tokens => ours.is_reported() && theirs.input() == ours.input() && theirs.output == ours.output,
        // Something else of the same model and minute has neither the same input nor the same output.
        _ => {
            !ours.is_reported()
                || !theirs.is_reported()
                || theirs.output == ours.output
                || theirs.input() == ours.input()
                || (alike(theirs.input(), ours.input()) && alike(theirs.output.unwrap_or(0), ours.output.unwrap_or(0)))
        }
    }
}

/// Within a factor of two of each other.
fn alike(a: u64, b: u64) -> bool {
    let (low, high) = (a.min(b), a.max(b));
    high <= low.saturating_mul(2).saturating_add(FEW)
}

/// The names of models as both sides write them.
struct Names<'a>(HashMap<&'a str, HashSet<String>>);

impl<'a> Names<'a> {
    fn of(charges: &'a [Charge], requests: &'a [Request]) -> Self {
        let all = charges.iter().map(|c| c.model.as_str()).chain(requests.iter().map(|r| r.model.as_str()));
        let mut known = HashMap::new();
        for name in all {
            known.entry(name).or_insert_with(|| candidates(name).into_iter().map(|c| c.name.to_lowercase()).collect());
        }
        Self(known)
    }

    /// Whether both may mean one model.
    fn same(&self, a: &str, b: &str) -> bool {
        a == b || self.0.get(a).zip(self.0.get(b)).is_some_and(|(a, b)| !a.is_disjoint(b))
    }
}

fn differences(charge: &Charge, request: &Request) -> Vec<Difference> {
    let mut all = Vec::new();
    let (theirs, ours) = (&charge.usage, &request.usage);
    let both = theirs.is_reported() && ours.is_reported();
    let more = |theirs: u64, ours: u64| theirs > ours.saturating_add(ours / 50).saturating_add(FEW);
    let tokens =
        both && (more(theirs.input(), ours.input()) || more(theirs.output.unwrap_or(0), ours.output.unwrap_or(0)));
    if tokens {
        all.push(Difference::TokensExceeded);
    }
    let read = |usage: &Usage| usage.read.unwrap_or(0);
    // What was read from a cache is neither in the charge's reads nor were there fewer tokens altogether.
    let cached = both
        && !tokens
        && read(ours) > read(theirs).saturating_mul(2).saturating_add(FEW)
        && more(theirs.fresh.unwrap_or(0), ours.fresh.unwrap_or(0));
    if cached {
        all.push(Difference::CachedAsFresh);
    }
    if let (Some(stated), Some(list)) = (charge.list, request.list)
        && request.complete
        && !tokens
        && !cached
        && stated - list > ROUNDING.max(list * LIST_SHARE)
    {
        all.push(Difference::ListExceeded);
    }
    if let (Some(stated), Some(multiplier)) = (charge.list, request.multiplier) {
        let expected = stated * multiplier;
        if charge.charged - expected > ROUNDING.max(expected * CHARGE_SHARE) {
            all.push(Difference::MultiplierExceeded);
        }
    }
    all
}
