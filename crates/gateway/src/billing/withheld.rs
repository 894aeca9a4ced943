//! Groups that leave members out for their money: noticed when it begins and when it ends. Every process looks at the pools
//! it decides by, so its timeline tells what it did.

use std::collections::{BTreeMap, BTreeSet};

use headgate_domain::{GroupId, Upstream, UpstreamId, upstream::BillingKind};
use headgate_routing::Withheld;

use super::Billing;
use crate::{
    events::Event,
    incidents::{Incident, IncidentKind},
    shared::Shared,
    snapshot::Snapshot,
};

/// Why a group does not use a member that is switched on; none: it does, or it has none such.
pub fn withheld(snapshot: &Snapshot, group: GroupId, upstream: UpstreamId) -> Option<Withheld> {
    let pool = &snapshot.groups.get(&group)?.pool;
    let member = pool.members.iter().find(|member| member.upstream == upstream)?;
    if member.upstream_enabled && member.member_enabled { pool.withholds(member) } else { None }
}

/// All that is left out now.
fn all(snapshot: &Snapshot, billing: &Billing) -> BTreeMap<(GroupId, UpstreamId), Withheld> {
    let pools = snapshot.groups.values().map(|group| &group.pool);
    let members = pools.flat_map(|pool| pool.members.iter().map(|member| (pool.group, member.upstream)));
    let found = members.filter_map(|(group, upstream)| {
        let why = withheld(snapshot, group, upstream)?;
        // What nobody has asked yet will be known in a moment.
        let waits = why == Withheld::MultiplierUnknown
            && snapshot.configuration.upstream(upstream).is_some_and(|upstream| is_new(upstream, billing));
        (!waits).then_some(((group, upstream), why))
    });
    found.collect()
}

fn is_new(upstream: &Upstream, billing: &Billing) -> bool {
    upstream.spec.billing.kind != BillingKind::None
        && billing.row(upstream.id).is_none_or(|row| row.status.checked_at.is_none())
}

/// Notes what has begun or ended since the last look. Before the database was read nothing is known.
pub(super) fn watch(shared: &Shared) {
    if !shared.billing.was_read() {
        return;
    }
    let now = all(&shared.snapshot.load(), &shared.billing);
    let mut known = shared.billing.withheld.lock();
    let before = known.take().unwrap_or_else(|| shared.incidents.withheld());
    let after: BTreeSet<(GroupId, UpstreamId)> = now.keys().copied().collect();
    let at = shared.clock.wall();
    let note = |(group, upstream): (GroupId, UpstreamId), kind, withheld| {
        shared.incidents.add(Incident { group: Some(group), withheld, ..Incident::of(at, upstream, kind, None) });
        shared.events.send(Event::Withheld { group, upstream, withheld: kind == IncidentKind::Withheld });
    };
    for (member, why) in now.iter().filter(|(member, _)| !before.contains(member)) {
        note(*member, IncidentKind::Withheld, Some(*why));
    }
    for member in before.difference(&after) {
        note(*member, IncidentKind::Returned, None);
    }
    *known = Some(after);
}
