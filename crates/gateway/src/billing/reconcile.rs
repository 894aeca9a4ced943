//! Single charges against single requests of a window.

use chrono::{DateTime, Utc};
use headgate_domain::UpstreamId;
use headgate_pricing::compare::{
    Window,
    charges::{Charge, Difference, Match, Request, SKEW, match_up},
};
use headgate_store::{Database, DatabaseError, charges::MOST};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use super::evidence::Evidence;

/// A charge, a request, or both.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ChargePair)]
pub struct Pair {
    /// What the upstream charged; absent: nothing (or it is not listed).
    pub charge: Option<Charge>,
    /// What we asked; absent: it was not ours, but traffic from elsewhere on the same key or account.
    pub request: Option<Request>,
    /// How both were found to belong together.
    pub by: Option<Match>,
    /// In what they differ.
    pub differences: Vec<Difference>,
}

impl Pair {
    /// When it was.
    pub fn at(&self) -> DateTime<Utc> {
        let ended = self.request.as_ref().map(|request| request.ended);
        self.charge.as_ref().map(|charge| charge.at).or(ended).unwrap_or_default()
    }
}

/// Sums of a reconciliation, in dollars.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = ChargeSums)]
pub struct Sums {
    /// Charges with their request.
    pub matched: usize,
    /// Of these, such as differ.
    pub differing: usize,
    /// How often each difference was found.
    pub differences: Vec<(Difference, usize)>,
    /// What was charged for matched requests.
    #[schema(value_type = String)]
    pub charged: Decimal,
    /// What was charged where something differs.
    #[schema(value_type = String)]
    pub charged_differing: Decimal,
    /// Requests without a charge.
    pub ours: usize,
    /// Charges without a request: traffic from elsewhere.
    pub theirs: usize,
    /// What was charged for traffic from elsewhere.
    #[schema(value_type = String)]
    pub charged_elsewhere: Decimal,
}

/// A window reconciled.
#[derive(Debug, Clone)]
pub struct Reconciled {
    /// What was compared: the part of the window that the upstream's list covers. `None`: it lists no charges.
    pub window: Option<Window>,
    /// Pairs and what is left over, newest first.
    pub pairs: Vec<Pair>,
    /// Sums of all.
    pub sums: Sums,
    /// There were more rows than are compared at once; the oldest are left out.
    pub is_cut: bool,
}

impl Reconciled {
    /// Reads both sides and finds what belongs together.
    pub async fn read(
        database: &Database,
        upstream: UpstreamId,
        window: Window,
        evidence: &Evidence,
    ) -> Result<Self, DatabaseError> {
        let nothing = Self { window: None, pairs: Vec::new(), sums: Sums::default(), is_cut: false };
        let Some((oldest, newest)) = database.charges_reach(upstream).await? else { return Ok(nothing) };
        // What is older than the list, or ended since it was last read, is not uncharged.
        let told = evidence.snapshots.last().map_or(newest, |snapshot| snapshot.at.max(newest));
        let covered = Window { from: window.from.max(oldest - SKEW), to: window.to.min(told) };
        if covered.from >= covered.to {
            return Ok(nothing);
        }
        // Both reach beyond the window, so that what lies at its edge finds its other half.
        let (from, to) = (covered.from - SKEW * 2, covered.to + SKEW * 2);
        let charges = database.charges(upstream, from, to).await?;
        let mut requests = database.billed_requests(upstream, from, to).await?;
        for request in &mut requests {
            request.multiplier = evidence.multiplier(request.began);
        }
        let most = usize::try_from(MOST).unwrap_or(usize::MAX);
        let is_cut = charges.len() >= most || requests.len() >= most;
        Ok(Self { is_cut, window: Some(covered), ..reconcile(charges, requests, covered) })
    }
}

fn reconcile(charges: Vec<Charge>, requests: Vec<Request>, window: Window) -> Reconciled {
    let matched = match_up(&charges, &requests);
    let inside = |at: DateTime<Utc>| at > window.from && at <= window.to;
    let pair = |charge: Option<usize>, request: Option<usize>| Pair {
        charge: charge.and_then(|at| charges.get(at)).cloned(),
        request: request.and_then(|at| requests.get(at)).cloned(),
        by: None,
        differences: Vec::new(),
    };
    let couples = matched.couples.into_iter().map(|couple| Pair {
        by: Some(couple.by),
        differences: couple.differences,
        ..pair(Some(couple.charge), Some(couple.request))
    });
    let ours = matched.ours.into_iter().map(|at| pair(None, Some(at)));
    let theirs = matched.theirs.into_iter().map(|at| pair(Some(at), None));
    let mut pairs: Vec<Pair> = couples.chain(ours).chain(theirs).filter(|pair| inside(pair.at())).collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.at()));
    Reconciled { window: Some(window), sums: sums(&pairs), pairs, is_cut: false }
}

fn sums(pairs: &[Pair]) -> Sums {
    let mut sums = Sums::default();
    let mut found: Vec<Difference> = Vec::new();
    for pair in pairs {
        match (&pair.charge, &pair.request) {
            (Some(charge), Some(_)) => {
                sums.matched += 1;
                sums.charged += charge.charged;
                if !pair.differences.is_empty() {
                    sums.differing += 1;
                    sums.charged_differing += charge.charged;
                    found.extend(&pair.differences);
                }
            }
            (Some(charge), None) => {
                sums.theirs += 1;
                sums.charged_elsewhere += charge.charged;
            }
            (None, _) => sums.ours += 1,
        }
    }
    found.sort_unstable();
    let mut kinds = found.clone();
    kinds.dedup();
    sums.differences = kinds.into_iter().map(|kind| (kind, found.iter().filter(|one| **one == kind).count())).collect();
    sums
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use headgate_domain::Usage;

    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        "2026-06-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::seconds(second)
    }

    fn usage(output: u64) -> Usage {
        Usage { fresh: Some(10), output: Some(output), ..Usage::default() }
    }

    fn charge(second: i64, output: u64) -> Charge {
        Charge {
            id: second.to_string(),
            at: at(second),
            model: "m".to_owned(),
            request_id: None,
            key: None,
            usage: usage(output),
            list: Some(Decimal::ONE),
            charged: Decimal::ONE,
            multiplier: None,
        }
    }

    fn request(second: i64, output: u64) -> Request {
        Request {
            id: second.to_string(),
            attempt: 1,
            began: at(second),
            ended: at(second),
            model: "m".to_owned(),
            upstream_request_id: None,
            usage: usage(output),
            list: Some(Decimal::ONE),
            complete: true,
            price_entry: None,
            price_version: None,
            multiplier: None,
        }
    }

    #[test]
    fn every_row_is_in_one_pair_newest_first_and_in_the_sums_once() {
        let charges = vec![charge(100, 5), charge(200, 50), charge(900, 7)];
        let requests = vec![request(101, 5), request(201, 30), request(500, 9)];
        let found = reconcile(charges, requests, Window { from: at(0), to: at(1000) });
        let shape: Vec<_> =
            found.pairs.iter().map(|p| (p.charge.is_some(), p.request.is_some(), p.differences.len())).collect();
        assert_eq!(shape, [(true, false, 0), (false, true, 0), (true, true, 1), (true, true, 0)]);
        let sums = found.sums;
        assert_eq!((sums.matched, sums.differing, sums.ours, sums.theirs), (2, 1, 1, 1));
        assert_eq!(sums.differences, [(Difference::TokensExceeded, 1)]);
        assert_eq!((sums.charged, sums.charged_elsewhere), (Decimal::TWO, Decimal::ONE));
    }

    #[test]
    fn what_lies_at_the_edge_is_paired_with_what_lies_beyond_and_counted_in_one_window_only() {
        let charges = || vec![charge(60, 5)];
        let requests = || vec![request(59, 5)];
        let before = reconcile(charges(), requests(), Window { from: at(0), to: at(59) });
        let after = reconcile(charges(), requests(), Window { from: at(59), to: at(120) });
        assert_eq!((before.pairs.len(), after.pairs.len(), after.sums.matched), (0, 1, 1));
    }
}
