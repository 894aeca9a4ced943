//! A group: a pool of upstreams with priorities, and the policy by which one is chosen.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    id::{GroupId, Revision},
    name::Name,
    span::Span,
    upstream::{Capability, is_default, is_false, is_true, yes},
};

/// How one of several members of a tier is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The better of two weighted draws.
    #[default]
    P2c,
    /// Smooth weighted round robin.
    SmoothWeighted,
    /// A weighted score of price, latency, quality and load.
    Balanced,
    /// Smallest forecast cost.
    Cheapest,
    /// Fewest recent uses by this access key.
    Spread,
}

/// The weights of `balanced`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "four weights named after what they weigh")]
pub struct Balance {
    pub price: f64,
    pub latency: f64,
    pub quality: f64,
    pub load: f64,
}

impl Default for Balance {
    fn default() -> Self {
        Self { price: 0.25, latency: 0.30, quality: 0.30, load: 0.15 }
    }
}

/// What happens to a member whose multiplier is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum UnknownMultiplier {
    #[default]
    Allow,
    Deny,
}

/// What happens when a tier is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnSaturation {
    /// The next tier is used at once.
    #[default]
    Overflow,
    /// The tier is waited for first.
    Wait,
}

/// The bounded queue of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// Requests that may wait.
    pub size: u32,
    /// How long one may wait.
    pub wait: Span,
}

impl Default for Queue {
    fn default() -> Self {
        Self { size: 256, wait: Span::secs(60) }
    }
}

/// A budget; absent parts are unlimited.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// A day in the setting `time_zone`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Decimal>,
    /// A month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month: Option<Decimal>,
    /// Altogether.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Decimal>,
    /// Currency code; absent: USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

/// An upstream in a group. `R` is how the upstream is named: by id inside, by name in files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Member<R> {
    /// The upstream.
    pub upstream: R,
    /// Smaller first.
    #[serde(default = "default_priority")]
    pub priority: i32,
    /// Share within its tier, at least 1.
    #[serde(default = "default_weight")]
    pub weight: u32,
    /// Switched on in this group.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// Smallest estimated prompt in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_input: Option<u64>,
    /// Largest estimated prompt in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_input: Option<u64>,
}

fn default_priority() -> i32 {
    50
}

fn default_weight() -> u32 {
    1
}

/// One choice of an alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasTarget<R> {
    /// A member of the group.
    pub upstream: R,
    /// The model to ask it for.
    pub model: String,
    /// Share among the candidates.
    #[serde(default = "default_weight")]
    pub weight: u32,
}

/// A virtual model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Alias<R> {
    /// One tier, drawn by weight.
    pub candidates: Vec<AliasTarget<R>>,
    /// Each a tier of its own, in order.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<AliasTarget<R>>,
}

/// Everything of a group but its identity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec<R> {
    /// How one of several members of a tier is chosen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strategy: Strategy,
    /// The weights of `balanced`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub balance: Balance,
    /// `cheapest` compares the members of all tiers as if they were one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub across_tiers: bool,
    /// Cap on the billing multiplier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_multiplier: Option<Decimal>,
    /// What happens to a member whose multiplier is unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unknown_multiplier: UnknownMultiplier,
    /// Regions allowed; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<Vec<String>>,
    /// Capabilities every member must have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub require: BTreeSet<Capability>,
    /// A translation loss is refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub strict: bool,
    /// What happens when a tier is full.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_saturation: OnSaturation,
    /// How long a full tier is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
    /// The bounded queue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queue: Queue,
    /// The budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The pool.
    #[serde(default = "Vec::new")]
    pub members: Vec<Member<R>>,
    /// Virtual models.
    #[serde(default = "IndexMap::new", skip_serializing_if = "IndexMap::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, Alias<R>>)]
    pub aliases: IndexMap<String, Alias<R>>,
}

impl<R> GroupSpec<R> {
    /// The same with every reference to an upstream translated; the first that cannot be is the error.
    pub fn try_map<S, E>(self, mut to: impl FnMut(R) -> Result<S, E>) -> Result<GroupSpec<S>, E> {
        let mut members = Vec::with_capacity(self.members.len());
        for m in self.members {
            members.push(Member {
                upstream: to(m.upstream)?,
                priority: m.priority,
                weight: m.weight,
                enabled: m.enabled,
                min_input: m.min_input,
                max_input: m.max_input,
            });
        }
        let mut aliases = IndexMap::with_capacity(self.aliases.len());
        for (name, alias) in self.aliases {
            let mut targets = |list: Vec<AliasTarget<R>>| {
                list.into_iter()
                    .map(|t| Ok(AliasTarget { upstream: to(t.upstream)?, model: t.model, weight: t.weight }))
                    .collect::<Result<Vec<_>, E>>()
            };
            aliases.insert(name, Alias { candidates: targets(alias.candidates)?, fallback: targets(alias.fallback)? });
        }
        Ok(GroupSpec {
            strategy: self.strategy,
            balance: self.balance,
            across_tiers: self.across_tiers,
            max_multiplier: self.max_multiplier,
            unknown_multiplier: self.unknown_multiplier,
            regions: self.regions,
            require: self.require,
            strict: self.strict,
            on_saturation: self.on_saturation,
            wait: self.wait,
            queue: self.queue,
            budget: self.budget,
            members,
            aliases,
        })
    }
}

/// A group as it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    /// Identity for history.
    pub id: GroupId,
    /// Identity for files.
    pub name: Name,
    /// The revision that last changed it.
    pub revision: Revision,
    /// The name under which a file last listed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_name: Option<Name>,
    /// Everything else.
    pub spec: GroupSpec<crate::UpstreamId>,
}
