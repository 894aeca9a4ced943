//! What if: recorded traffic once more, through another configuration.
//!
//! A [`Replay`] sends what was asked ([`Asked`], no bodies) through the code that routes, at the times at which it was
//! asked. How the upstreams would have answered is drawn from how they did ([`Seen`]): from the attempts nearest in
//! time, else from any of the same upstream, else it is assumed that the answer would have been as the one recorded.
//! The figures say how much rests on which ([`Figures::basis`]). The same seed gives the same replay.
//!
//! Not replayed: the limits and budgets of access keys, a group's waiting line (a request that finds every place taken
//! looks again four times a second for a minute), and changes of balances in between.

mod course;
mod engine;
mod figures;

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::{Class, GroupId, KeyId, Protocol, UpstreamId, Usage};
use headgate_routing::{Features, Policy, Pool, Rates, Time};
use rust_decimal::Decimal;

pub use self::{
    engine::Replay,
    figures::{Amount, Basis, Figures, FirstOutput, Share},
};

/// A request that was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When.
    pub at: Time,
    /// Through which group.
    pub group: GroupId,
    /// With which access key.
    pub key: KeyId,
    /// In which protocol.
    pub protocol: Protocol,
    /// The model asked for, without its context mark.
    pub model: String,
    /// As a stream.
    pub stream: bool,
    /// What it used.
    pub features: Features,
    /// Its estimated prompt in tokens.
    pub input: u64,
    /// The region asked for.
    pub region: Option<String>,
    /// Its session.
    pub session: Option<u64>,
    /// Tokens of the answer.
    pub usage: Usage,
    /// Who answered last.
    pub upstream: Option<UpstreamId>,
    /// Time to the first output, and altogether.
    pub took: (Duration, Duration),
}

/// An attempt that was made.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// When.
    pub at: Time,
    /// At which upstream.
    pub upstream: UpstreamId,
    /// How it ended; [`Class::ClientGone`] says nothing of the upstream and counts as answered.
    pub class: Class,
    /// Something had reached the client before it failed.
    pub broke_off: bool,
    /// Time to the first output, and altogether.
    pub took: (Duration, Duration),
}

/// A configuration as a replay needs it.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// The numbers of health.
    pub policy: Policy,
    /// The groups' pools.
    pub pools: BTreeMap<GroupId, Pool>,
    /// Pools of virtual models.
    pub aliases: BTreeMap<(GroupId, String), Pool>,
    /// What access keys allow.
    pub keys: BTreeMap<KeyId, Allowed>,
    /// Sessions stay where they are, so many of them, for so long.
    pub affinity: Option<(usize, Duration)>,
}

/// What an access key allows.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// Regions; `None`: any.
    pub regions: Option<Vec<String>>,
    /// Labels; `None`: any.
    pub labels: Option<Vec<String>>,
}

impl World {
    fn pool(&self, group: GroupId, model: &str) -> Option<&Pool> {
        self.aliases.get(&(group, model.to_owned())).or_else(|| self.pools.get(&group))
    }
}

/// What things cost, by list.
pub trait Tariff: Sync {
    /// The rates of an upstream's model for a prompt of this length, for forecasts.
    fn rates(&self, upstream: UpstreamId, model: &str, input: u64) -> Option<Rates>;
    /// What the tokens cost: the currency's code and the amount; `None`: there is no price.
    fn cost(&self, upstream: UpstreamId, model: &str, usage: &Usage) -> Option<(String, Decimal)>;
}
