//! `/overview`: whether everything is fine, and if not, what is wrong.

use std::sync::{Arc, atomic::Ordering};

use axum::{Json, extract::State};
use chrono::{DateTime, Duration, Utc};
use headgate_domain::{BudgetLevel, BudgetOwner, BudgetSpan, Class, Concern, GroupId, Name, UpstreamId};
use headgate_pricing::{Currency, compare::Reason};
use headgate_store::{
    DatabaseError,
    requests::{Filter, ListError, Pace, Share, Spend, Stats},
};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    billing::BillingView,
    condition::{Condition, State as Word, condition},
};
use crate::{
    budgets::BudgetState,
    incidents::Incident,
    shared::{Counters, Shared},
    snapshot::Snapshot,
};

/// The state of the whole in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Everything serves.
    Healthy,
    /// It serves, but something is wrong.
    Degraded,
    /// A group has nobody who serves.
    Down,
    /// No requests are taken.
    Stopped,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Down,
    Degraded,
    Info,
}

/// Something a person should know; most severe first.
#[derive(Debug, Serialize, ToSchema)]
struct Finding {
    /// How bad.
    severity: Severity,
    /// What.
    #[serde(flatten)]
    what: What,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum What {
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

/// Everything at a glance.
#[derive(Serialize, ToSchema)]
struct Overview {
    /// The word.
    status: Standing,
    /// Address listened on.
    address: String,
    /// What should be known, most severe first.
    findings: Vec<Finding>,
    /// Requests now in flight.
    in_flight: u64,
    /// Requests of the last minute; absent while the database is away.
    requests_per_minute: Option<i64>,
    /// Median of the gateway's own time before the first attempt over the last minute, in microseconds.
    overhead_us: Option<f64>,
    /// Figures of the last 24 hours; absent while the database is away.
    day: Option<Stats>,
    /// Spent today, in the time zone of the settings; absent while the database is away.
    spent_today: Option<Spend>,
    /// Spent yesterday.
    spent_yesterday: Option<Spend>,
    /// The groups.
    groups: Vec<Lane>,
    /// Turns of health in the last 24 hours, newest first.
    incidents: Vec<Incident>,
}

/// A group and who carries it.
#[derive(Serialize, ToSchema)]
struct Lane {
    /// Identity.
    id: GroupId,
    /// Name.
    name: Name,
    /// Its members by priority.
    members: Vec<LaneMember>,
}

#[derive(Serialize, ToSchema)]
struct LaneMember {
    /// The upstream.
    upstream: UpstreamId,
    /// Its name.
    name: Name,
    /// Smaller first.
    priority: i32,
    /// Weight within the tier.
    weight: u32,
    /// How it is; a membership that is switched off is off.
    condition: Condition,
    /// Requests under way.
    in_flight: u32,
    /// Median of the last measured times to first token, in milliseconds.
    ttft_ms: Option<f64>,
    /// Share of the group's answered requests of the last 24 hours, 0 to 1.
    share: Option<f64>,
    /// Models that it turned out twice not to have, and for how long they are not asked for.
    #[serde(skip)]
    models_gone: Vec<(String, Option<u64>)>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(overview))
}

/// Everything at a glance
#[utoipa::path(get, path = "/overview", tag = "status", responses((status = 200, body = Overview)))]
async fn overview(State(shared): State<Arc<Shared>>) -> Json<Overview> {
    let snapshot = shared.snapshot.load_full();
    let limit = std::time::Duration::from_secs(5);
    let figures = tokio::time::timeout(limit, figures(&shared)).await;
    let figures = figures.unwrap_or_else(|_| Err("it did not answer within 5 s".to_owned()));
    let (figures, error) = match figures {
        Ok(figures) => (Some(figures), None),
        Err(why) => (None, Some(why)),
    };
    let groups = lanes(&shared, &snapshot, figures.as_ref().map(|f| f.shares.as_slice()).unwrap_or_default());
    let mut findings = find(&shared, &snapshot, &groups);
    if let Some(error) = error {
        findings.push(Finding { severity: Severity::Degraded, what: What::DatabaseAway { error } });
    }
    let records = shared.journal.stats().lost;
    if records > 0 {
        findings.push(Finding { severity: Severity::Degraded, what: What::RecordsLost { records } });
    }
    findings.sort_by_key(|f| f.severity);
    let status = word(&shared, &findings);
    let pace = figures.as_ref().map(|f| f.pace);
    let (day, spent_today, spent_yesterday) =
        figures.map_or((None, None, None), |f| (Some(f.day), Some(f.today), Some(f.yesterday)));
    Json(Overview {
        status,
        address: shared.bootstrap.address.to_string(),
        findings,
        in_flight: Counters::get(&shared.counters.in_flight),
        requests_per_minute: pace.map(|p| p.requests),
        overhead_us: pace.and_then(|p| p.overhead_us),
        day,
        spent_today,
        spent_yesterday,
        groups,
        incidents: shared.incidents.since(shared.clock.wall() - Duration::hours(24)),
    })
}

/// The state of the whole in one word and why, as far as memory tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The word.
    pub standing: Standing,
    /// The most severe cause; none while everything serves.
    pub cause: Option<Cause>,
}

/// Why something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// New requests are refused because a person said so.
    Paused,
    /// A group has nobody who serves.
    GroupDown(Name),
    /// Some members of a group do not serve.
    GroupDegraded {
        /// The group.
        name: Name,
        /// How many do not.
        out: usize,
        /// Of how many.
        of: usize,
    },
    /// An upstream's credentials are refused or used up.
    CredentialRejected(Name),
    /// An upstream does not have a model any more.
    ModelGone {
        /// The upstream.
        name: Name,
        /// The model.
        model: String,
    },
    /// An upstream's secrets were not found.
    CredentialsMissing(Name),
    /// A key or group has spent its budget.
    BudgetSpent(Name),
    /// An upstream costs more than a group allows.
    OverCap(Name),
}

/// Looks at what memory knows.
pub(crate) fn glance(shared: &Shared) -> Glance {
    let snapshot = shared.snapshot.load_full();
    let mut findings = find(shared, &snapshot, &lanes(shared, &snapshot, &[]));
    findings.sort_by_key(|f| f.severity);
    let standing = word(shared, &findings);
    let cause = if shared.paused.load(Ordering::Relaxed) {
        Some(Cause::Paused)
    } else {
        findings.into_iter().next().and_then(|finding| finding.what.cause())
    };
    Glance { standing, cause }
}

impl What {
    fn cause(self) -> Option<Cause> {
        match self {
            Self::GroupDown { name, .. } => Some(Cause::GroupDown(name)),
            Self::GroupDegraded { name, out, of, .. } => Some(Cause::GroupDegraded { name, out, of }),
            Self::CredentialRejected { name, .. } => Some(Cause::CredentialRejected(name)),
            Self::CredentialsMissing { name, .. } => Some(Cause::CredentialsMissing(name)),
            Self::ModelGone { name, model, .. } => Some(Cause::ModelGone { name, model }),
            Self::BudgetSpent { name, share, .. } => (share >= 1.0).then_some(Cause::BudgetSpent(name)),
            Self::OverCap { name, .. } => Some(Cause::OverCap(name)),
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

fn word(shared: &Shared, findings: &[Finding]) -> Standing {
    if shared.stopping.is_cancelled() || shared.paused.load(Ordering::Relaxed) {
        return Standing::Stopped;
    }
    match findings.first().map(|f| f.severity) {
        Some(Severity::Down) => Standing::Down,
        Some(Severity::Degraded) => Standing::Degraded,
        Some(Severity::Info) | None => Standing::Healthy,
    }
}

struct Figures {
    day: Stats,
    shares: Vec<Share>,
    pace: Pace,
    today: Spend,
    yesterday: Spend,
}

async fn figures(shared: &Shared) -> Result<Figures, String> {
    let database = shared.control.database().map_err(|why| why.to_string())?;
    let now = shared.clock.wall();
    let since = now - Duration::hours(24);
    let filter = Filter { since: Some(since), ..Filter::default() };
    let away = |why: DatabaseError| why.to_string();
    let stats = async { database.request_stats(&filter).await.map_err(|why: ListError| why.to_string()) };
    let shares = async { database.shares(since).await.map_err(away) };
    let pace = async { database.pace(now - Duration::minutes(1)).await.map_err(away) };
    let (midnight, before) = {
        let settings = &shared.snapshot.load().settings;
        let midnight = settings.midnight(now);
        (midnight, settings.midnight(midnight - Duration::hours(1)))
    };
    let today = async { database.spend(midnight, now).await.map_err(away) };
    let yesterday = async { database.spend(before, midnight).await.map_err(away) };
    let (day, shares, pace, today, yesterday) = tokio::try_join!(stats, shares, pace, today, yesterday)?;
    Ok(Figures { day, shares, pace, today, yesterday })
}

fn lanes(shared: &Shared, snapshot: &Snapshot, shares: &[Share]) -> Vec<Lane> {
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
                let mut condition = condition(snapshot, upstream, &health);
                if !member.enabled {
                    condition = Condition { state: Word::Off, class: None, remaining_ms: None, ..condition };
                }
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
                    (Severity::Info, What::BalanceLow { upstream, name, remaining, currency })
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

fn find(shared: &Shared, snapshot: &Snapshot, groups: &[Lane]) -> Vec<Finding> {
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
        let upstreams: Vec<UpstreamId> = out.iter().map(|m| m.upstream).collect();
        if out.len() == on.len() && !lane.members.is_empty() {
            add(Severity::Down, What::GroupDown { group, name, remaining_ms, upstreams });
        } else if !out.is_empty() {
            let (out, of) = (out.len(), on.len());
            add(Severity::Degraded, What::GroupDegraded { group, name, out, of, remaining_ms, upstreams });
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
        if member.condition.state != Word::Down {
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
