//! What routing takes of billing: the multiplier in force and whether anything is left. The one function that says so,
//! for pools and displays alike.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{Upstream, UpstreamId};
use headgate_store::billing::{BillingRow, BillingStatus};
use http::HeaderValue;
use rust_decimal::Decimal;

use crate::{
    ingress::auth::hmac,
    snapshot::{Endpoint, Snapshot},
};

/// Figures older than this count as unknown.
pub(super) const STALE: TimeDelta = TimeDelta::hours(24);

/// What a pool takes of its member's billing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// The multiplier in force, before the credit ratio.
    pub multiplier: Option<Decimal>,
    /// Nothing is left.
    pub exhausted: bool,
}

/// What is known of every upstream at a moment.
#[derive(Debug, Default)]
pub struct Known {
    pub(super) rows: HashMap<UpstreamId, BillingRow>,
    pub(super) pepper: [u8; 32],
    pub(super) now: DateTime<Utc>,
}

impl Known {
    /// Of every upstream of a snapshot.
    pub fn standings(&self, snapshot: &Snapshot) -> HashMap<UpstreamId, Standing> {
        let upstreams = snapshot.configuration.upstreams.iter();
        let standing = upstreams.filter_map(|upstream| {
            let row = self.rows.get(&upstream.id)?;
            let endpoint = snapshot.upstreams.get(&upstream.id)?;
            let status = current(row, upstream, endpoint, &self.pepper);
            Some((upstream.id, of(row, status, upstream.credentials.len(), self.now)))
        });
        standing.collect()
    }
}

/// The credential that billing is asked with: the first that has a secret.
pub fn credential<'a>(upstream: &Upstream, endpoint: &'a Endpoint) -> Option<&'a HeaderValue> {
    upstream.credentials.iter().find_map(|c| endpoint.credentials.get(&c.id))
}

/// What tells this address, API and key from others. It reveals nothing of the key.
pub fn identity(upstream: &Upstream, endpoint: &Endpoint, pepper: &[u8; 32]) -> u64 {
    let kind = [upstream.spec.billing.kind as u8];
    let key = credential(upstream, endpoint).map_or(&b""[..], HeaderValue::as_bytes);
    let mixed = hmac(pepper, &[b"billing", &kind, endpoint.base.as_bytes(), b"\0", key]);
    mixed.iter().take(8).fold(0, |all, byte| (all << 8) | u64::from(*byte))
}

/// A row's figures, unless they are another key's, another address' or those of an API that is asked no more.
pub fn current<'a>(
    row: &'a BillingRow,
    upstream: &Upstream,
    endpoint: &Endpoint,
    pepper: &[u8; 32],
) -> Option<&'a BillingStatus> {
    let asked = upstream.spec.billing.kind != headgate_domain::upstream::BillingKind::None;
    Some(&row.status).filter(|status| asked && status.key == identity(upstream, endpoint, pepper))
}

fn of(row: &BillingRow, status: Option<&BillingStatus>, credentials: usize, now: DateTime<Utc>) -> Standing {
    let fresh = |at: Option<DateTime<Utc>>| at.is_some_and(|at| now - at < STALE);
    let collected = || {
        let status = status.filter(|s| fresh(s.multiplier_at))?;
        Some(status.multiplier.as_ref()?.at(now))
    };
    let figures = status.and_then(|s| s.figures.as_ref().filter(|f| fresh(Some(f.at)) && !s.unlimited));
    let empty = figures.and_then(|f| f.remaining).is_some_and(|left| left <= Decimal::ZERO);
    Standing {
        multiplier: row.manual.map(|manual| manual.multiplier).or_else(collected),
        // One key's end is not that of the others.
        exhausted: empty && credentials <= 1,
    }
}

#[cfg(test)]
mod tests {
    use headgate_pricing::{
        Currency,
        compare::{Scope, Snapshot},
        schedule::Multiplier,
    };
    use headgate_store::billing::ManualMultiplier;

    use super::*;

    fn now() -> DateTime<Utc> {
        "2026-06-01T12:00:00Z".parse().unwrap()
    }

    fn row(remaining: Option<i64>, multiplier: Option<i64>, age: TimeDelta) -> BillingRow {
        let at = now() - age;
        let figures = Snapshot {
            at,
            key: 1,
            currency: Currency::USD,
            list: None,
            charged: None,
            requests: None,
            remaining: remaining.map(Decimal::from),
            multiplier: None,
            counters: Scope::Key,
            balance: Scope::Key,
        };
        let status = BillingStatus {
            figures: Some(figures),
            multiplier: multiplier.map(|m| Multiplier::flat(Decimal::from(m))),
            multiplier_at: Some(at),
            ..BillingStatus::default()
        };
        BillingRow { due_at: now(), status, manual: None, told: Default::default() }
    }

    fn standing(row: &BillingRow) -> Standing {
        of(row, Some(&row.status), 1, now())
    }

    #[test]
    fn nothing_left_is_exhausted_unless_there_is_no_end() {
        let mut empty = row(Some(0), None, TimeDelta::minutes(5));
        assert!(standing(&empty).exhausted);
        assert!(!of(&empty, Some(&empty.status), 2, now()).exhausted);
        empty.status.unlimited = true;
        assert!(!standing(&empty).exhausted);
        assert!(!standing(&row(None, None, TimeDelta::zero())).exhausted);
        assert!(!standing(&row(Some(1), None, TimeDelta::zero())).exhausted);
    }

    #[test]
    fn figures_of_yesterday_count_as_unknown() {
        let old = row(Some(0), Some(2), TimeDelta::hours(24));
        assert_eq!(standing(&old), Standing::default());
        let fresh = row(Some(0), Some(2), TimeDelta::hours(23));
        assert_eq!(standing(&fresh), Standing { multiplier: Some(Decimal::TWO), exhausted: true });
    }

    #[test]
    fn a_persons_word_goes_before_what_was_collected_and_does_not_age() {
        let mut row = row(None, Some(2), TimeDelta::zero());
        row.manual = Some(ManualMultiplier { multiplier: Decimal::ONE, at: now() - TimeDelta::days(90) });
        assert_eq!(standing(&row).multiplier, Some(Decimal::ONE));
        assert_eq!(of(&row, None, 1, now()).multiplier, Some(Decimal::ONE));
        row.manual = None;
        assert_eq!(of(&row, None, 1, now()), Standing::default());
    }
}
