//! Pools and requests for tests.

use headgate_domain::{CredentialId, GroupId, Protocol, UpstreamId, UpstreamKind};
use rand::{SeedableRng, rngs::StdRng};

use crate::{Need, Pool, PoolCredential, PoolMember};

pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// A member with one credential of the same number.
pub(crate) fn member(id: i64, priority: i32) -> PoolMember {
    PoolMember {
        priority,
        credentials: vec![PoolCredential { id: CredentialId(id), missing: false }],
        ..PoolMember::new(UpstreamId(id), UpstreamKind::Passthrough)
    }
}

/// Upstreams 1, 2, 3 … with these priorities.
pub(crate) fn pool(priorities: &[i32]) -> Pool {
    let members = (1..).zip(priorities).map(|(id, priority)| member(id, *priority)).collect();
    Pool { members, ..Pool::new(GroupId(1)) }
}

pub(crate) fn need() -> Need<'static> {
    Need::new(Protocol::Chat, "m")
}
