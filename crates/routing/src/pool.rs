//! A group's pool as decisions see it: immutable, built when a configuration is published.

use std::{collections::BTreeSet, time::Duration};

use headgate_domain::{
    CredentialId, Group, GroupId, Member, Strategy, Upstream, UpstreamId, UpstreamKind,
    group::{Alias, Balance, OnSaturation, UnknownMultiplier},
    pattern::ModelRules,
    upstream::{Capability, Limits},
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// One credential of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolCredential {
    /// Its identity.
    pub id: CredentialId,
    /// Its text could not be found; it counts as cooling for `credential` without end.
    pub missing: bool,
}

/// An upstream in a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolMember {
    /// The upstream.
    pub upstream: UpstreamId,
    /// Smaller first.
    pub priority: i32,
    /// Share within its tier.
    pub weight: u32,
    /// The upstream is switched on.
    pub upstream_enabled: bool,
    /// The membership is switched on.
    pub member_enabled: bool,
    /// What it speaks.
    pub kind: UpstreamKind,
    /// Where it is.
    pub region: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// What it can do; `None`: everything.
    pub capabilities: Option<BTreeSet<Capability>>,
    /// Longest prompt in tokens.
    pub max_context: Option<u64>,
    /// Smallest estimated prompt in tokens.
    pub min_input: Option<u64>,
    /// Largest estimated prompt in tokens.
    pub max_input: Option<u64>,
    /// Which models, under which names.
    pub models: ModelRules,
    /// Limits.
    pub limits: Limits,
    /// Its credentials; empty: it needs none.
    pub credentials: Vec<PoolCredential>,
    /// Billing multiplier as last collected.
    pub multiplier: Option<Decimal>,
    /// Credits bought with one unit of money; `None`: 1.
    pub credit_ratio: Option<Decimal>,
    /// Its balance or quota window is known to be used up.
    pub exhausted: bool,
}

impl PoolMember {
    /// A member that allows everything and needs no credential.
    pub fn new(upstream: UpstreamId, kind: UpstreamKind) -> Self {
        Self {
            upstream,
            priority: 50,
            weight: 1,
            upstream_enabled: true,
            member_enabled: true,
            kind,
            region: None,
            labels: Vec::new(),
            capabilities: None,
            max_context: None,
            min_input: None,
            max_input: None,
            models: ModelRules::default(),
            limits: Limits::default(),
            credentials: Vec::new(),
            multiplier: None,
            credit_ratio: None,
            exhausted: false,
        }
    }

    /// The member as it is configured. `missing` says which credentials have no text; what billing knows is to be
    /// added.
    pub fn of(member: &Member<UpstreamId>, upstream: &Upstream, missing: impl Fn(CredentialId) -> bool) -> Self {
        let spec = &upstream.spec;
        Self {
            upstream: upstream.id,
            priority: member.priority,
            weight: member.weight,
            upstream_enabled: spec.enabled,
            member_enabled: member.enabled,
            kind: spec.protocol,
            region: spec.region.clone(),
            labels: spec.tags.labels.clone(),
            capabilities: spec.capabilities.clone(),
            max_context: spec.max_context,
            min_input: member.min_input,
            max_input: member.max_input,
            models: spec.models.clone(),
            limits: spec.limits,
            credentials: upstream
                .credentials
                .iter()
                .map(|c| PoolCredential { id: c.id, missing: missing(c.id) })
                .collect(),
            multiplier: None,
            credit_ratio: spec.billing.credit_ratio,
            exhausted: false,
        }
    }

    /// What one unit of list price costs in money: multiplier ÷ credit ratio.
    pub(crate) fn price(&self) -> Option<Decimal> {
        price(self.multiplier?, self.credit_ratio)
    }
}

/// What one unit of list price costs in money. The one place that divides, for decisions and displays alike.
pub fn price(multiplier: Decimal, credit_ratio: Option<Decimal>) -> Option<Decimal> {
    multiplier.checked_div(credit_ratio.unwrap_or(Decimal::ONE))
}

/// Why a group does not use a member for its money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Withheld {
    /// It costs more than the group allows.
    OverCap {
        /// What one unit of list price costs.
        #[schema(value_type = String)]
        price: Decimal,
        /// What the group allows.
        #[schema(value_type = String)]
        cap: Decimal,
    },
    /// What it costs is not known, or not any more, and the group uses nobody of whom that holds.
    MultiplierUnknown,
    /// Nothing is left there.
    BalanceEmpty,
}

/// A group's members and the policy by which one is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// The group.
    pub group: GroupId,
    /// How one of several members of a tier is chosen.
    pub strategy: Strategy,
    /// The weights of `balanced`.
    pub balance: Balance,
    /// `cheapest` compares the members of all tiers as if they were one.
    pub across_tiers: bool,
    /// Regions allowed; `None`: any.
    pub regions: Option<Vec<String>>,
    /// Capabilities every member must have.
    pub require: BTreeSet<Capability>,
    /// What happens when a tier is full.
    pub on_saturation: OnSaturation,
    /// How long a full tier is waited for.
    pub wait: Option<Duration>,
    /// Cap on the billing multiplier.
    pub max_multiplier: Option<Decimal>,
    /// What happens to a member whose multiplier is unknown.
    pub unknown_multiplier: UnknownMultiplier,
    /// The members, in the order in which they are configured.
    pub members: Vec<PoolMember>,
}

impl Pool {
    /// An empty pool with the defaults of a group.
    pub fn new(group: GroupId) -> Self {
        Self {
            group,
            strategy: Strategy::default(),
            balance: Balance::default(),
            across_tiers: false,
            regions: None,
            require: BTreeSet::new(),
            on_saturation: OnSaturation::default(),
            wait: None,
            max_multiplier: None,
            unknown_multiplier: UnknownMultiplier::default(),
            members: Vec::new(),
        }
    }

    /// Why a member is not used for its money; none: it is. The one place that compares with a cap, for decisions and
    /// displays alike.
    pub fn withholds(&self, member: &PoolMember) -> Option<Withheld> {
        if let Some(cap) = self.max_multiplier {
            match member.price() {
                Some(price) if price > cap => return Some(Withheld::OverCap { price, cap }),
                None if self.unknown_multiplier == UnknownMultiplier::Deny => return Some(Withheld::MultiplierUnknown),
                Some(_) | None => {}
            }
        }
        member.exhausted.then_some(Withheld::BalanceEmpty)
    }

    /// The group's policy with these members.
    pub fn of(group: &Group, members: Vec<PoolMember>) -> Self {
        let spec = &group.spec;
        Self {
            group: group.id,
            strategy: spec.strategy,
            balance: spec.balance,
            across_tiers: spec.across_tiers && spec.strategy == Strategy::Cheapest,
            regions: spec.regions.clone(),
            require: spec.require.clone(),
            on_saturation: spec.on_saturation,
            wait: spec.wait.map(|span| span.0),
            max_multiplier: spec.max_multiplier,
            unknown_multiplier: spec.unknown_multiplier,
            members,
        }
    }

    /// The pool of one of the group's virtual models: its candidates are one tier drawn by weight, each fallback is a
    /// tier of its own. Every policy of the group stays in force.
    #[must_use]
    pub fn of_alias(&self, alias: &Alias<UpstreamId>) -> Self {
        let tiers = alias.candidates.iter().map(|target| (0, target));
        let fallbacks = (1..).zip(&alias.fallback);
        let members = tiers
            .chain(fallbacks)
            .filter_map(|(priority, target)| {
                let member = self.members.iter().find(|m| m.upstream == target.upstream)?;
                let models = ModelRules {
                    map: [("*".to_owned(), target.model.clone())].into_iter().collect(),
                    ..ModelRules::default()
                };
                Some(PoolMember { priority, weight: target.weight, models, ..member.clone() })
            })
            .collect();
        // The order of an alias's fallbacks is the point of it.
        Self { members, across_tiers: false, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_what_the_configuration_says() {
        let upstream: Upstream = serde_json::from_value(serde_json::json!({
            "id": 7, "name": "relay", "revision": 1, "next_credential": 3,
            "credentials": [
                {"id": 1, "number": 1, "source": "vault"}, {"id": 2, "number": 2, "source": {"env": "KEY"}}
            ],
            "spec": {
                "base_url": "https://relay.example/v1", "protocol": "claude", "region": "eu",
                "tags": {"labels": ["work"]}, "max_context": 1000, "billing": {"kind": "auto", "credit_ratio": "5"}
            }
        }))
        .unwrap();
        let group: Group = serde_json::from_value(serde_json::json!({
            "id": 3, "name": "coding", "revision": 1,
            "spec": {
                "strategy": "spread", "regions": ["eu"], "wait": "10s",
                "members": [{"upstream": 7, "priority": 2, "weight": 4, "min_input": 5, "enabled": false}]
            }
        }))
        .unwrap();
        let member = PoolMember::of(&group.spec.members[0], &upstream, |id| id == CredentialId(2));
        let pool = Pool::of(&group, vec![member]);
        assert_eq!(
            (pool.group, pool.strategy, pool.wait),
            (GroupId(3), Strategy::Spread, Some(Duration::from_secs(10)))
        );
        let m = &pool.members[0];
        assert_eq!((m.upstream, m.priority, m.weight, m.min_input), (UpstreamId(7), 2, 4, Some(5)));
        assert_eq!((m.upstream_enabled, m.member_enabled, m.kind), (true, false, UpstreamKind::Claude));
        assert_eq!((m.region.as_deref(), m.max_context), (Some("eu"), Some(1000)));
        assert_eq!(m.credentials.iter().map(|c| c.missing).collect::<Vec<_>>(), [false, true]);
        assert_eq!(PoolMember { multiplier: Some(Decimal::TEN), ..m.clone() }.price(), Some(Decimal::TWO));
    }
}
