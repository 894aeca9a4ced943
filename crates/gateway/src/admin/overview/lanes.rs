//! Groups and who carries them.

use headgate_domain::{GroupId, Name, UpstreamId};
use headgate_store::requests::Share;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::condition::{Condition, of_member};
use crate::{shared::Shared, snapshot::Snapshot};

/// A group and who carries it.
#[derive(Serialize, ToSchema)]
pub(super) struct Lane {
    /// Identity.
    pub(super) id: GroupId,
    /// Name.
    pub(super) name: Name,
    /// Its members by priority.
    pub(super) members: Vec<LaneMember>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct LaneMember {
    /// The upstream.
    pub(super) upstream: UpstreamId,
    /// Its name.
    pub(super) name: Name,
    /// Smaller first.
    pub(super) priority: i32,
    /// Weight within the tier.
    pub(super) weight: u32,
    /// How it is; a membership that is switched off is off.
    pub(super) condition: Condition,
    /// Requests under way.
    pub(super) in_flight: u32,
    /// Median of the last measured times to first token, in milliseconds.
    pub(super) ttft_ms: Option<f64>,
    /// Share of the group's answered requests of the last 24 hours, 0 to 1.
    pub(super) share: Option<f64>,
    /// Models that it turned out twice not to have, and for how long they are not asked for.
    #[serde(skip)]
    pub(super) models_gone: Vec<(String, Option<u64>)>,
}

/// Every group, with the shares of its members where these are known.
pub(super) fn lanes(shared: &Shared, snapshot: &Snapshot, shares: &[Share]) -> Vec<Lane> {
    let now = shared.now();
    let lane = |group: &headgate_domain::Group| {
        let answered: i64 = shares.iter().filter(|s| s.group == group.id).map(|s| s.requests).sum();
        let mut members: Vec<LaneMember> = group
            .spec
            .members
            .iter()
            .filter_map(|member| {
                let upstream = snapshot.configuration.upstream(member.upstream)?;
                let health = shared.routing.lock().health.view(upstream.id, now);
                let condition = of_member(snapshot, group, member, upstream, &health);
                let own = shares.iter().find(|s| s.group == group.id && s.upstream == upstream.id);
                #[expect(clippy::cast_precision_loss, reason = "a share")]
                let share = (answered > 0).then(|| own.map_or(0, |s| s.requests) as f64 / answered as f64);
                let gone = health.models.into_iter().filter(|m| m.confirmed && m.asked_as.is_none());
                Some(LaneMember {
                    upstream: upstream.id,
                    name: upstream.name.clone(),
                    priority: member.priority,
                    weight: member.weight,
                    condition,
                    in_flight: health.in_flight,
                    ttft_ms: health.ttft_ms,
                    models_gone: gone.map(|m| (m.model, m.excluded_ms)).collect(),
                    share,
                })
            })
            .collect();
        members.sort_by_key(|m| m.priority);
        Lane { id: group.id, name: group.name.clone(), members }
    };
    snapshot.configuration.groups.iter().map(lane).collect()
}
