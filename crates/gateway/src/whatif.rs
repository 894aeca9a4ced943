//! What if: recorded traffic through another configuration, beside the one in force.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use headgate_domain::{
    Class, Configuration, Name, Outcome, RequestRecord, UpstreamId, Usage, audit::UsageColumns, group::Queue,
    pattern::strip_context_mark, upstream::Limits,
};
use headgate_pricing::{Service, cost};
use headgate_routing::{Features, Policy, Pool, PoolMember, Rates, Time, price};
use headgate_simulation::replay::{Allowed, Asked, Figures, Replay, Seen, Tariff, World};
use headgate_store::requests::{Recorded, Traffic};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{prices::InForce, shared::Shared, snapshot::Snapshot};

/// Most requests that are replayed; of more, whole sessions are left out.
pub const MOST: i64 = 100_000;
/// The same traffic and configuration give the same figures.
const SEED: u64 = 1;

/// Recorded traffic, the configuration in force, and another one.
#[derive(Debug, Serialize, ToSchema)]
pub struct Comparison {
    /// From when.
    pub since: DateTime<Utc>,
    /// Until when.
    pub until: DateTime<Utc>,
    /// Requests of that time.
    pub recorded: i64,
    /// Every so manieth session was replayed.
    pub every: i64,
    /// Requests that were left out: refused for what they were.
    pub left_out: u64,
    /// What happened.
    pub happened: Figures,
    /// The configuration in force, replayed: how far it is from what happened is how far a replay can be trusted.
    pub current: Figures,
    /// The other configuration, replayed.
    pub draft: Figures,
    /// Names of the upstreams.
    #[schema(value_type = BTreeMap<i64, String>)]
    pub names: BTreeMap<UpstreamId, String>,
    /// Groups and access keys of the other configuration with settings that a replay leaves out, at most a hundred.
    pub unreplayed: Vec<Unreplayed>,
}

/// Most groups and keys that are told so.
const TOLD: usize = 100;

/// A group or an access key with settings that a replay leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Unreplayed {
    /// What it is.
    pub of: UnreplayedOf,
    /// Its name.
    pub name: String,
    /// The settings.
    pub settings: Vec<UnreplayedSetting>,
}

/// What has such settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnreplayedOf {
    /// A group.
    Group,
    /// An access key.
    Key,
}

/// A setting that a replay leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnreplayedSetting {
    /// How much may be asked at a time: every request is let in.
    Limits,
    /// How much may be spent: nothing is refused for it.
    Budget,
    /// How many may wait and how long: every request waits up to a minute.
    Queue,
}

fn unreplayed(configuration: &Configuration) -> Vec<Unreplayed> {
    let told = |of, name: &Name, settings: [Option<UnreplayedSetting>; 2]| {
        let settings: Vec<UnreplayedSetting> = settings.into_iter().flatten().collect();
        (!settings.is_empty()).then(|| Unreplayed { of, name: name.to_string(), settings })
    };
    let groups = configuration.groups.iter().filter_map(|group| {
        let queue = (group.spec.queue != Queue::default()).then_some(UnreplayedSetting::Queue);
        let budget = group.spec.budget.as_ref().map(|_| UnreplayedSetting::Budget);
        told(UnreplayedOf::Group, &group.name, [budget, queue])
    });
    let keys = configuration.keys.iter().filter_map(|key| {
        let limits = (key.spec.limits != Limits::default()).then_some(UnreplayedSetting::Limits);
        let budget = key.spec.budget.as_ref().map(|_| UnreplayedSetting::Budget);
        told(UnreplayedOf::Key, &key.name, [limits, budget])
    });
    groups.chain(keys).take(TOLD).collect()
}

impl Shared {
    /// Replays the traffic of a time. It takes a moment of one processor.
    pub async fn what_if(
        self: &Arc<Self>,
        draft: Configuration,
        traffic: Traffic,
        (since, until): (DateTime<Utc>, DateTime<Utc>),
    ) -> Option<Comparison> {
        let (snapshot, prices) = (self.snapshot.load_full(), self.prices.now());
        let compare = move || {
            let tariff = AtPrices { prices, at: until };
            let current = world(&snapshot.configuration, &snapshot);
            let draft_world = world(&draft, &snapshot);
            let mut names = BTreeMap::new();
            for recorded in &traffic.requests {
                for attempt in &recorded.attempts {
                    names.insert(attempt.upstream_id, attempt.upstream_name.clone());
                }
            }
            for upstream in draft.upstreams.iter().chain(&snapshot.configuration.upstreams) {
                names.insert(upstream.id, upstream.name.to_string());
            }
            let asked: Vec<Asked> = traffic.requests.iter().filter_map(|one| asked(one, since)).collect();
            let seen: Vec<Seen> = traffic.requests.iter().flat_map(|one| attempts(one, since)).collect();
            let left_out = u64::try_from(traffic.requests.len() - asked.len()).unwrap_or(u64::MAX);
            let replay = |world| Replay::new(SEED, world, &tariff, &asked, seen.clone()).run();
            Comparison {
                since,
                until,
                recorded: traffic.total,
                every: traffic.every,
                left_out,
                happened: happened(&traffic.requests, &current, &tariff),
                current: replay(&current),
                draft: replay(&draft_world),
                names,
                unreplayed: unreplayed(&draft),
            }
        };
        tokio::task::spawn_blocking(compare).await.ok()
    }
}

/// A configuration with what billing knows now. Secrets and balances are taken as they should be.
fn world(configuration: &Configuration, snapshot: &Snapshot) -> World {
    let settings = configuration.settings.effective();
    let mut world = World {
        policy: Policy::from(&settings),
        affinity: settings.affinity.then_some((settings.affinity_max as usize, settings.affinity_ttl.0)),
        ..World::default()
    };
    for group in &configuration.groups {
        let members = group.spec.members.iter().filter_map(|member| {
            let upstream = configuration.upstream(member.upstream)?;
            let multiplier = snapshot.standings.get(&upstream.id).and_then(|standing| standing.multiplier);
            Some(PoolMember { multiplier, ..PoolMember::of(member, upstream, |_| false) })
        });
        let pool = Pool::of(group, members.collect());
        for (name, alias) in &group.spec.aliases {
            world.aliases.insert((group.id, name.clone()), pool.of_alias(alias));
        }
        world.pools.insert(group.id, pool);
    }
    for key in &configuration.keys {
        let allowed = Allowed { regions: key.spec.regions.clone(), labels: key.spec.labels.clone() };
        world.keys.insert(key.id, allowed);
    }
    world
}

/// Prices as they are at a time.
struct AtPrices {
    prices: Arc<InForce>,
    at: DateTime<Utc>,
}

impl Tariff for AtPrices {
    fn rates(&self, upstream: UpstreamId, model: &str, input: u64) -> Option<Rates> {
        self.prices.rates(upstream, model, input, self.at)
    }

    fn cost(&self, upstream: UpstreamId, model: &str, usage: &Usage) -> Option<(String, Decimal)> {
        let price = self.prices.price(upstream, model, self.at)?;
        let cost = cost(&price.entry, usage, Service::Standard)?;
        Some((cost.currency.to_string(), cost.total()))
    }
}

fn time(at: DateTime<Utc>, since: DateTime<Utc>) -> Time {
    // A moment after the beginning of time, at which nothing has been idle yet.
    Time::secs(3600) + (at - since).to_std().unwrap_or_default()
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// A request to ask again; not one that was refused for what it is.
fn asked(recorded: &Recorded, since: DateTime<Utc>) -> Option<Asked> {
    let r = &recorded.request;
    if matches!(r.outcome, Outcome::ClientError | Outcome::Unsupported) {
        return None;
    }
    let session = r.affinity_key.as_deref().map(|key| {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        hasher.finish()
    });
    Some(Asked {
        at: time(r.started_at, since),
        group: r.group_id?,
        key: r.key_id?,
        protocol: r.protocol?,
        model: strip_context_mark(r.model.as_deref()?).to_owned(),
        stream: r.stream,
        features: r.features.iter().flatten().copied().collect::<Features>(),
        input: r.estimated_input.and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
        region: r.region.clone(),
        session,
        usage: served(&r.usage),
        upstream: r.upstream_id,
        took: answer(recorded),
    })
}

fn served(usage: &UsageColumns) -> Usage {
    usage.to_price()
}

/// How long the last attempt took.
fn answer(recorded: &Recorded) -> (Duration, Duration) {
    match recorded.attempts.last() {
        Some(last) => (millis(last.ttft_ms.unwrap_or(last.duration_ms)), millis(last.duration_ms)),
        None => (Duration::from_secs(1), Duration::from_secs(2)),
    }
}

fn class(kind: Option<&str>) -> Class {
    let word = kind.and_then(|kind| kind.split('.').next()).unwrap_or("ok");
    serde_json::from_value(word.into()).unwrap_or(Class::Ok)
}

fn attempts(recorded: &Recorded, since: DateTime<Utc>) -> impl Iterator<Item = Seen> {
    recorded.attempts.iter().map(move |a| Seen {
        at: time(a.attempted_at, since),
        upstream: a.upstream_id,
        class: class(a.error_kind.as_deref()),
        broke_off: a.outcome == Outcome::Partial,
        took: (millis(a.ttft_ms.unwrap_or(a.duration_ms)), millis(a.duration_ms)),
    })
}

/// What happened, in the same figures.
fn happened(all: &[Recorded], world: &World, tariff: &AtPrices) -> Figures {
    let mut figures = Figures::default();
    let mut first = Vec::new();
    for recorded in all {
        let r: &RequestRecord = &recorded.request;
        if matches!(r.outcome, Outcome::ClientError | Outcome::Unsupported) {
            continue;
        }
        figures.requests += 1;
        for attempt in &recorded.attempts {
            let share = figures.upstreams.entry(attempt.upstream_id).or_default();
            share.attempts += 1;
            share.failed += u64::from(matches!(attempt.outcome, Outcome::Failed | Outcome::Partial));
        }
        // The client's leaving is nobody's failure, here as in the replay.
        if !matches!(r.outcome, Outcome::Success | Outcome::Canceled) {
            *figures.failed.entry(class_word(r)).or_default() += 1;
            continue;
        }
        *(if recorded.attempts.len() > 1 { &mut figures.after_failover } else { &mut figures.direct }) += 1;
        first.extend(r.ttft_ms.and_then(|ms| u64::try_from(ms).ok()));
        let Some(last) = recorded.attempts.last() else { continue };
        figures.upstreams.entry(last.upstream_id).or_default().served += 1;
        let model = last.mapped_model.as_deref().unwrap_or_default();
        let Some((currency, list)) = tariff.cost(last.upstream_id, model, &served(&last.usage)) else {
            figures.unpriced += 1;
            continue;
        };
        let member = world.pools.values().flat_map(|p| &p.members).find(|m| m.upstream == last.upstream_id);
        let factor = member.and_then(|m| price(m.multiplier?, m.credit_ratio));
        figures.add(last.upstream_id, &currency, list, factor);
    }
    figures.close(first);
    figures
}

fn class_word(r: &RequestRecord) -> String {
    r.error_kind.as_deref().and_then(|kind| kind.split('.').next()).unwrap_or("failed").to_owned()
}
