//! `/costs/elsewhere`: what the traffic of each group would have cost at one member alone.
//!
//! What was paid is the list price as it was stamped, times the multiplier of now; elsewhere it is the same list price,
//! scaled where the member's own price for the model (by the name it would be asked for) differs. So both sides rest on
//! the same tokens, and a multiplier that has changed since does not count against anybody.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use headgate_domain::{GroupId, UpstreamId, Usage, pattern::strip_context_mark};
use headgate_pricing::{Part, Service, cost};
use headgate_routing::{Pool, PoolMember, price};
use headgate_store::costs::Traffic;
use rust_decimal::{Decimal, prelude::ToPrimitive as _};
use serde::Serialize;
use utoipa::ToSchema;

use super::{super::error::ApiError, CostQuery, Query, time};
use crate::{
    prices::{InForce, Price},
    shared::Shared,
    snapshot::Group,
};

/// What groups' traffic would have cost elsewhere.
#[derive(Serialize, ToSchema)]
pub(super) struct Elsewhere {
    /// From this time on.
    from: DateTime<Utc>,
    /// Before this time.
    to: DateTime<Utc>,
    /// Groups with priced traffic, by their name.
    groups: Vec<GroupElsewhere>,
}

/// A group's traffic.
#[derive(Serialize, ToSchema)]
struct GroupElsewhere {
    /// The group.
    group_id: GroupId,
    /// Its name.
    name: String,
    /// Attempts that were charged for and priced.
    attempts: i64,
    /// The currency that most of it is priced in; the rest is left out.
    currency: String,
    /// As it was: the upstreams that served, together.
    was: Priced,
    /// What that adds up, by upstream and model.
    was_parts: Vec<PartElsewhere>,
    /// Each member alone, the cheapest of those first that could have served all of it.
    members: Vec<MemberElsewhere>,
}

/// Money at list price and charged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
struct Priced {
    /// At list price.
    #[schema(value_type = String)]
    list: Decimal,
    /// Times multiplier ÷ credit ratio of now; an unknown one counts as 1.
    #[schema(value_type = String)]
    charged: Decimal,
    /// The multiplier of at least one upstream is not known.
    multiplier_unknown: bool,
}

/// One member, had it served alone.
#[derive(Serialize, ToSchema)]
struct MemberElsewhere {
    /// The upstream.
    upstream_id: UpstreamId,
    /// Its name.
    name: String,
    /// What it would have cost; of what it could have served.
    #[serde(flatten)]
    priced: Priced,
    /// What that adds up, by model.
    parts: Vec<PartElsewhere>,
    /// The share of the list price that it could have served: models it may not be asked for, or that have no price in
    /// this currency there, are not in it.
    share: f64,
    /// The share of its attempts in this time that were answered; absent: none were made.
    success: Option<f64>,
}

/// The traffic for one model, as a sum is made of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
struct PartElsewhere {
    /// The upstream that served; absent: any.
    upstream_id: Option<UpstreamId>,
    /// Its name.
    upstream: Option<String>,
    /// The model asked for.
    model: Option<String>,
    /// By which name the upstream is asked for it.
    sent: Option<String>,
    /// The list's name of the price that holds there now, or the own rule's pattern; absent: none does.
    price: Option<String>,
    /// Priced calls.
    attempts: i64,
    /// What they come to.
    #[serde(flatten)]
    priced: Priced,
}

/// What the traffic would have cost elsewhere
///
/// The traffic of each group at each of its members alone, at list prices and multipliers of now.
#[utoipa::path(get, path = "/costs/elsewhere", tag = "prices", params(CostQuery), responses((status = 200, body = Elsewhere)))]
pub(super) async fn elsewhere(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<CostQuery>,
) -> Result<Json<Elsewhere>, ApiError> {
    let (from, to) = time(&query, shared.clock.wall())?;
    let traffic = shared.control.database()?.traffic(from, to).await?;
    let (snapshot, prices) = (shared.snapshot.load_full(), shared.prices.now());
    let at = Prices { prices: &prices, at: to };
    let success = success(&traffic);
    let mut groups: Vec<_> = snapshot
        .groups
        .values()
        .filter_map(|group| {
            let own: Vec<&Traffic> = traffic.iter().filter(|t| t.group == Some(group.id)).collect();
            of_group(group, &own, &at, &success, |id| multiplier(&snapshot.groups, id))
        })
        .collect();
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Json(Elsewhere { from, to, groups }))
}

/// What an upstream charges for one unit of list price, wherever it is a member.
fn multiplier(groups: &HashMap<GroupId, Arc<Group>>, upstream: UpstreamId) -> Option<Decimal> {
    let mut members = groups.values().flat_map(|group| &group.pool.members);
    factor(members.find(|member| member.upstream == upstream)?)
}

fn factor(member: &PoolMember) -> Option<Decimal> {
    price(member.multiplier?, member.credit_ratio)
}

/// The share of attempts that were answered, by upstream.
fn success(traffic: &[Traffic]) -> BTreeMap<UpstreamId, f64> {
    let mut counts: BTreeMap<UpstreamId, (i64, i64)> = BTreeMap::new();
    for one in traffic {
        let (answered, attempts) = counts.entry(one.upstream).or_default();
        *answered += one.answered;
        *attempts += one.attempts;
    }
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let share = |(answered, attempts): (i64, i64)| answered as f64 / attempts.max(1) as f64;
    counts.into_iter().map(|(id, counts)| (id, share(counts))).collect()
}

/// Prices at a time.
struct Prices<'a> {
    prices: &'a InForce,
    at: DateTime<Utc>,
}

impl Prices<'_> {
    fn of(&self, upstream: UpstreamId, model: &str) -> Option<Arc<Price>> {
        self.prices.price(upstream, model, self.at)
    }
}

fn of_group(
    group: &Group,
    traffic: &[&Traffic],
    prices: &Prices<'_>,
    success: &BTreeMap<UpstreamId, f64>,
    multiplier: impl Fn(UpstreamId) -> Option<Decimal>,
) -> Option<GroupElsewhere> {
    let currency = most_used(traffic)?;
    let priced: Vec<&Traffic> = traffic.iter().copied().filter(|t| t.currency.as_deref() == Some(currency)).collect();
    let name = |id: UpstreamId| group.endpoint(id).map(|endpoint| endpoint.name.to_string());
    let (mut was, mut was_parts) = (Priced::default(), Parts::default());
    for one in &priced {
        was.add(one.cost, multiplier(one.upstream));
        let here = one.sent.as_deref().and_then(|sent| prices.of(one.upstream, sent));
        let part = was_parts.of(Some(one.upstream), one, one.sent.as_deref(), here.as_deref());
        part.upstream = name(one.upstream);
        part.attempts += one.attempts;
        part.priced.add(one.cost, multiplier(one.upstream));
    }
    let mut members: Vec<MemberElsewhere> = group
        .pool
        .members
        .iter()
        .filter(|member| member.upstream_enabled && member.member_enabled)
        .map(|member| {
            let (mut all, mut served, mut parts) = (Priced::default(), Decimal::ZERO, Parts::default());
            for one in &priced {
                if let Some(there) = list_at(group, member, one, prices) {
                    all.add(there.list, factor(member));
                    served = served.saturating_add(one.cost);
                    let part = parts.of(None, one, Some(&there.sent), there.price.as_deref());
                    part.attempts += one.attempts;
                    part.priced.add(there.list, factor(member));
                }
            }
            MemberElsewhere {
                upstream_id: member.upstream,
                name: name(member.upstream).unwrap_or_default(),
                parts: parts.sorted(),
                share: served.checked_div(was.list).and_then(|share| share.to_f64()).unwrap_or(0.0),
                success: success.get(&member.upstream).copied(),
                priced: all,
            }
        })
        .collect();
    let is_partial = |member: &MemberElsewhere| member.share < 0.999;
    members.sort_by(|a, b| {
        is_partial(a).cmp(&is_partial(b)).then(a.priced.charged.cmp(&b.priced.charged)).then(a.name.cmp(&b.name))
    });
    Some(GroupElsewhere {
        group_id: group.id,
        name: group.name.to_string(),
        attempts: priced.iter().map(|one| one.attempts).sum(),
        currency: currency.to_owned(),
        was: was.normalized(),
        was_parts: was_parts.sorted(),
        members: members.into_iter().map(|m| MemberElsewhere { priced: m.priced.normalized(), ..m }).collect(),
    })
}

/// The currency of the largest amount.
fn most_used<'a>(traffic: &[&'a Traffic]) -> Option<&'a str> {
    let mut sums: BTreeMap<&str, Decimal> = BTreeMap::new();
    for one in traffic {
        if let Some(currency) = one.currency.as_deref() {
            let sum = sums.entry(currency).or_default();
            *sum = sum.saturating_add(one.cost);
        }
    }
    sums.into_iter().filter(|(_, sum)| *sum > Decimal::ZERO).max_by_key(|(_, sum)| *sum).map(|(currency, _)| currency)
}

/// Parts of a sum.
#[derive(Default)]
struct Parts(Vec<PartElsewhere>);

impl Parts {
    fn of(
        &mut self,
        upstream: Option<UpstreamId>,
        traffic: &Traffic,
        sent: Option<&str>,
        price: Option<&Price>,
    ) -> &mut PartElsewhere {
        let place = self.0.iter().position(|one| one.upstream_id == upstream && one.model == traffic.model);
        let place = place.unwrap_or(self.0.len());
        if place == self.0.len() {
            self.0.push(PartElsewhere {
                upstream_id: upstream,
                upstream: None,
                model: traffic.model.clone(),
                sent: sent.map(str::to_owned),
                price: price.map(|price| price.name.clone()),
                attempts: 0,
                priced: Priced::default(),
            });
        }
        #[expect(clippy::indexing_slicing, reason = "it was found there, or put there")]
        &mut self.0[place]
    }

    /// The dearest first.
    fn sorted(self) -> Vec<PartElsewhere> {
        let mut parts: Vec<_> =
            self.0.into_iter().map(|one| PartElsewhere { priced: one.priced.normalized(), ..one }).collect();
        parts.sort_by_key(|one| std::cmp::Reverse(one.priced.charged));
        parts
    }
}

impl Priced {
    fn add(&mut self, list: Decimal, multiplier: Option<Decimal>) {
        self.list = self.list.saturating_add(list);
        let charged = list.checked_mul(multiplier.unwrap_or(Decimal::ONE)).unwrap_or(Decimal::MAX);
        self.charged = self.charged.saturating_add(charged);
        self.multiplier_unknown |= multiplier.is_none();
    }

    fn normalized(self) -> Self {
        Self { list: self.list.round_dp(12).normalize(), charged: self.charged.round_dp(12).normalize(), ..self }
    }
}

/// Traffic at a member's list price.
struct There {
    list: Decimal,
    /// By which name it would be asked for.
    sent: String,
    /// The price that holds there.
    price: Option<Arc<Price>>,
}

/// What the traffic would be at the member's list price; none if it may not be asked for the model, or has no price for
/// it in this currency.
fn list_at(group: &Group, member: &PoolMember, traffic: &Traffic, prices: &Prices<'_>) -> Option<There> {
    let asked = strip_context_mark(traffic.model.as_deref()?);
    let pool: &Pool = group.pool_for(asked);
    // Of a virtual model only its targets can serve.
    let member = pool.members.iter().find(|m| m.upstream == member.upstream)?;
    let sent = member.models.resolve(asked)?;
    let there = prices.of(member.upstream, &sent);
    let list = if member.upstream == traffic.upstream {
        traffic.cost
    } else {
        scaled(traffic, &sent, there.as_deref(), prices)?
    };
    Some(There { list, sent: sent.into_owned(), price: there })
}

/// Traffic at another upstream's price.
fn scaled(traffic: &Traffic, sent: &str, there: Option<&Price>, prices: &Prices<'_>) -> Option<Decimal> {
    let here = traffic.sent.as_deref().and_then(|sent| prices.of(traffic.upstream, sent));
    let Some(there) = there else {
        // Nobody has a price for it any more: what it was stamped with holds for the same name.
        return (here.is_none() && traffic.sent.as_deref() == Some(sent)).then_some(traffic.cost);
    };
    if Some(there.entry.currency.as_str()) != traffic.currency.as_deref() {
        return None;
    }
    match here {
        Some(here) if here.entry == there.entry => Some(traffic.cost),
        Some(here) => {
            let (here, there) = (each(&here, traffic)?, each(there, traffic)?);
            if here.is_zero() { None } else { traffic.cost.checked_mul(there)?.checked_div(here) }
        }
        // The price it was stamped with is gone: by the tokens alone.
        None => each(there, traffic)?.checked_mul(traffic.attempts.into()),
    }
}

/// What the average attempt costs by a price: prices depend on the length of a request, which a sum does not have.
fn each(price: &Price, traffic: &Traffic) -> Option<Decimal> {
    let average = |tokens: i64| u64::try_from(tokens.checked_div(traffic.attempts)?).ok();
    let usage = Usage {
        fresh: average(traffic.tokens_fresh),
        read: average(traffic.tokens_read),
        write_other: average(traffic.tokens_write),
        output: average(traffic.tokens_output),
        ..Usage::default()
    };
    let cost = cost(&price.entry, &usage, Service::Standard)?;
    let unpriced_read =
        usage.read.is_some_and(|n| n > 0) && price.entry.rate(Part::Read, Service::Standard, 0).is_none();
    // Without a price for the cache its tokens are input like any other.
    let read = if unpriced_read {
        let rate = price.entry.rate(Part::Fresh, Service::Standard, usage.input())?;
        rate.checked_mul(usage.read?.into())? / Part::Fresh.per()
    } else {
        Decimal::ZERO
    };
    cost.total().checked_add(read)
}

#[cfg(test)]
mod tests;
