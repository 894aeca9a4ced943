//! `/overview`: whether everything is fine, and if not, what is wrong.

mod findings;
mod lanes;

use std::sync::{Arc, atomic::Ordering};

use axum::{Json, extract::State};
use chrono::Duration;
use headgate_domain::Name;
use headgate_store::{
    DatabaseError,
    requests::{Filter, ListError, Pace, Share, Spend, Stats},
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use self::{
    findings::{Finding, Severity, What, find},
    lanes::{Lane, lanes},
};
use crate::{
    incidents::Incident,
    shared::{Counters, Shared},
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
    /// Turns of health in the last 24 hours, newest first, and how what lasts longer began.
    incidents: Vec<Incident>,
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
    /// Nobody knows what an upstream costs, and a group does not allow that.
    MultiplierUnknown(Name),
    /// Nothing is left at an upstream.
    BalanceEmpty(Name),
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
