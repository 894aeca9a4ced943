//! What is wrong, and how that is found.

use chrono::{DateTime, Utc};
use headgate_domain::{BudgetLevel, BudgetOwner, BudgetSpan, Class, Concern, GroupId, Name, UpstreamId};
use headgate_pricing::{Currency, compare::Reason};
use headgate_routing::Withheld;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    super::{billing::BillingView, condition::State as Word},
    Cause,
    lanes::{Lane, LaneMember},
};
use crate::{budgets::BudgetState, shared::Shared, snapshot::Snapshot};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    Down,
    Degraded,
    Info,
}

/// Something a person should know; most severe first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Finding {
    /// How bad.
    pub(super) severity: Severity,
    /// What.
    #[serde(flatten)]
    pub(super) what: What,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum What {
    /// Nothing is configured yet.
    NotConfigured,
    /// A group has nobody who serves.
    GroupDown {
        /// The group.
        group: GroupId,
        /// Its name.
        name: Name,
        /// Milliseconds until the first member is tried again.
        remaining_ms: Option<u64>,
        /// The members that do not serve.
        upstreams: Vec<UpstreamId>,
    },
    /// Some members of a group do not serve.
    GroupDegraded {
        /// The group.
        group: GroupId,
        /// Its name.
        name: Name,
        /// How many members do not serve.
        out: usize,
        /// Of how many that are switched on.
        of: usize,
        /// Milliseconds until the first of them is tried again.
        remaining_ms: Option<u64>,
        /// Those members.
        upstreams: Vec<UpstreamId>,
    },
    /// An upstream's credential was rejected or is exhausted.
    CredentialRejected {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// Why.
        class: Class,
    },
    /// An upstream does not have a model that it is asked for; a second look found the same.
    ModelGone {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// The model, by the name the upstream is asked for.
        model: String,
        /// Milliseconds until it is asked for again.
        remaining_ms: Option<u64>,
    },
    /// An upstream's secrets were not found.
    CredentialsMissing {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
    },
    /// A budget is spent, so that requests are refused, or nearly.
    BudgetSpent {
        /// Whose.
        #[serde(flatten)]
        owner: BudgetOwner,
        /// Its name.
        name: Name,
        /// Over which span.
        span: BudgetSpan,
        /// Spent of the limit: 1 is all of it.
        share: f64,
        /// When it begins anew; absent: never.
        resets_at: Option<DateTime<Utc>>,
    },
    /// Little or nothing is left at an upstream.
    BalanceLow {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// What is left, in `currency`.
        #[schema(value_type = Option<String>)]
        remaining: Option<Decimal>,
        /// The currency the site shows.
        currency: Option<Currency>,
        /// Nothing is left, so that no group uses it.
        empty: bool,
    },
    /// An upstream states another multiplier than a day ago.
    MultiplierChanged {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// The multiplier before.
        #[schema(value_type = Option<String>)]
        before: Option<Decimal>,
        /// The multiplier stated now.
        #[schema(value_type = Option<String>)]
        multiplier: Option<Decimal>,
    },
    /// A group does not use an upstream because it costs more than its cap.
    OverCap {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// The group.
        group: GroupId,
        /// The group's name.
        group_name: Name,
        /// What one unit of list price costs.
        #[schema(value_type = Option<String>)]
        price: Option<Decimal>,
        /// The group's cap.
        #[schema(value_type = Option<String>)]
        cap: Option<Decimal>,
    },
    /// A group does not use an upstream because nobody knows what it costs.
    MultiplierUnknown {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// The group.
        group: GroupId,
        /// The group's name.
        group_name: Name,
    },
    /// An upstream's billing could not be read for longer than half an hour.
    CollectionFailing {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// Why.
        error: String,
        /// Since when.
        since: Option<DateTime<Utc>>,
    },
    /// An upstream charges, or states, more than is explained.
    BillingWarning {
        /// The upstream.
        upstream: UpstreamId,
        /// Its name.
        name: Name,
        /// Why.
        reason: Option<Reason>,
        /// How much more, in `currency`.
        #[schema(value_type = Option<String>)]
        excess: Option<Decimal>,
        /// The currency the site shows.
        currency: Option<Currency>,
    },
    /// The database does not answer; records wait in the journal.
    DatabaseAway {
        /// Why.
        error: String,
    },
    /// Records were lost.
    RecordsLost {
        /// How many.
        records: u64,
    },
}

impl What {
    pub(super) fn cause(self) -> Option<Cause> {
        match self {
            Self::GroupDown { name, .. } => Some(Cause::GroupDown(name)),
            Self::GroupDegraded { name, out, of, .. } => Some(Cause::GroupDegraded { name, out, of }),
            Self::CredentialRejected { name, .. } => Some(Cause::CredentialRejected(name)),
            Self::CredentialsMissing { name, .. } => Some(Cause::CredentialsMissing(name)),
            Self::ModelGone { name, model, .. } => Some(Cause::ModelGone { name, model }),
            Self::BudgetSpent { name, share, .. } => (share >= 1.0).then_some(Cause::BudgetSpent(name)),
            Self::OverCap { name, .. } => Some(Cause::OverCap(name)),
            Self::MultiplierUnknown { name, .. } => Some(Cause::MultiplierUnknown(name)),
            Self::BalanceLow { name, empty: true, .. } => Some(Cause::BalanceEmpty(name)),
            Self::BalanceLow { .. }
            | Self::MultiplierChanged { .. }
            | Self::CollectionFailing { .. }
            | Self::BillingWarning { .. }
            | Self::NotConfigured
            | Self::DatabaseAway { .. }
            | Self::RecordsLost { .. } => None,
        }
    }
}

/// Budgets that are spent or nearly.
fn budgets(shared: &Shared, snapshot: &Snapshot) -> Vec<Finding> {
    let configuration = &snapshot.configuration;
    let groups = configuration.groups.iter().map(|g| (BudgetOwner::Group(g.id), &g.name, g.spec.budget.as_ref()));
    let keys = configuration.keys.iter().map(|k| (BudgetOwner::Key(k.id), &k.name, k.spec.budget.as_ref()));
    let mut findings = Vec::new();
    for (owner, name, budget) in groups.chain(keys) {
        for BudgetState { state, .. } in shared.budget_states(owner, budget) {
            let severity = match state.level() {
                Some(BudgetLevel::Spent) => Severity::Degraded,
                Some(BudgetLevel::Nearly) => Severity::Info,
                Some(BudgetLevel::Most) | None => continue,
            };
            let (span, share, resets_at) = (state.span, state.share, state.resets_at);
            let what = What::BudgetSpent { owner, name: name.clone(), span, share, resets_at };
            findings.push(Finding { severity, what });
        }
    }
    findings
}

/// What about upstreams' money needs a person. Only what keeps an upstream from serving makes the whole degraded.
fn money(shared: &Shared, snapshot: &Snapshot) -> Vec<Finding> {
    let configuration = &snapshot.configuration;
    let mut findings = Vec::new();
    for of in &configuration.upstreams {
        let told = BillingView::of(shared, snapshot, of);
        let (upstream, name) = (of.id, of.name.clone());
        for concern in told.concerns {
            let name = name.clone();
            let (severity, what) = match concern {
                Concern::BalanceLow => {
                    let (remaining, currency) = (told.remaining, told.currency);
                    let empty = told.exhausted;
                    let severity = if empty { Severity::Degraded } else { Severity::Info };
                    (severity, What::BalanceLow { upstream, name, remaining, currency, empty })
                }
                Concern::MultiplierChanged => {
                    let (before, multiplier) = (told.multiplier_before, told.multiplier);
                    (Severity::Info, What::MultiplierChanged { upstream, name, before, multiplier })
                }
                Concern::OverCap { group } => {
                    let Some(group) = configuration.group(group) else { continue };
                    let (group, group_name, cap) = (group.id, group.name.clone(), group.spec.max_multiplier);
                    let price = told.price;
                    (Severity::Degraded, What::OverCap { upstream, name, group, group_name, price, cap })
                }
                Concern::CollectionFailing => {
                    let (error, since) = (told.error.clone().unwrap_or_default(), told.failing_since);
                    (Severity::Info, What::CollectionFailing { upstream, name, error, since })
                }
                Concern::BillingWarning => {
                    let (reason, excess, currency) = (told.reason, told.excess, told.currency);
                    (Severity::Info, What::BillingWarning { upstream, name, reason, excess, currency })
                }
            };
            findings.push(Finding { severity, what });
        }
    }
    findings
}

/// Everything that memory knows to be wrong, in no order.
pub(super) fn find(shared: &Shared, snapshot: &Snapshot, groups: &[Lane]) -> Vec<Finding> {
    let mut findings = budgets(shared, snapshot);
    findings.extend(money(shared, snapshot));
    let mut add = |severity, what| findings.push(Finding { severity, what });
    let configuration = &snapshot.configuration;
    if configuration.upstreams.is_empty() || configuration.groups.is_empty() || configuration.keys.is_empty() {
        add(Severity::Info, What::NotConfigured);
    }
    for lane in groups {
        let on: Vec<&LaneMember> = lane.members.iter().filter(|m| m.condition.state != Word::Off).collect();
        let out: Vec<&&LaneMember> = on.iter().filter(|m| !m.condition.state.serves()).collect();
        let remaining_ms = out.iter().filter_map(|m| m.condition.remaining_ms).min();
        let (group, name) = (lane.id, lane.name.clone());
        if out.len() == on.len() && !lane.members.is_empty() {
            let upstreams = out.iter().map(|m| m.upstream).collect();
            add(Severity::Down, What::GroupDown { group, name, remaining_ms, upstreams });
            continue;
        }
        // Those that the group leaves out for their money have a finding of their own.
        let ill = out.iter().filter(|m| m.condition.withheld.is_none());
        let upstreams: Vec<UpstreamId> = ill.map(|m| m.upstream).collect();
        if !upstreams.is_empty() {
            let (out, of) = (upstreams.len(), on.len());
            add(Severity::Degraded, What::GroupDegraded { group, name, out, of, remaining_ms, upstreams });
        }
    }
    for (lane, member) in groups.iter().flat_map(|lane| lane.members.iter().map(move |member| (lane, member))) {
        if member.condition.withheld == Some(Withheld::MultiplierUnknown) {
            let (group, group_name) = (lane.id, lane.name.clone());
            let (upstream, name) = (member.upstream, member.name.clone());
            add(Severity::Degraded, What::MultiplierUnknown { upstream, name, group, group_name });
        }
    }
    let mut told = std::collections::HashSet::new();
    for member in groups.iter().flat_map(|g| &g.members).filter(|m| m.condition.state != Word::Off) {
        if !told.insert(member.upstream) {
            continue;
        }
        let (upstream, name) = (member.upstream, member.name.clone());
        for (model, remaining_ms) in member.models_gone.iter().cloned() {
            add(Severity::Degraded, What::ModelGone { upstream, name: name.clone(), model, remaining_ms });
        }
        if member.condition.state != Word::Down || member.condition.withheld.is_some() {
            continue;
        }
        if member.condition.credentials_missing {
            add(Severity::Degraded, What::CredentialsMissing { upstream, name });
        } else if let Some(class) = member.condition.class {
            add(Severity::Degraded, What::CredentialRejected { upstream, name, class });
        }
    }
    findings
}
