//! Pricing records anew: only when a person says so, and written down.

use chrono::{DateTime, Utc};
use headgate_store::{
    Database, DatabaseError,
    prices::{self, Place, Repriced},
};

use crate::shared::Shared;

/// Attempts at a time.
const PAGE: i64 = 1000;

/// What pricing anew did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Repricing {
    /// Attempts looked at.
    pub attempts: i64,
    /// Those of them whose cost changed.
    pub changed: i64,
    /// The list by which.
    pub price_version: String,
}

/// Prices what started within a time by the prices now in force; own prices by the time of each attempt.
///
/// # Errors
/// The database failed; what came before is priced anew, the rest is as it was.
pub async fn reprice(
    shared: &Shared,
    database: &Database,
    author: &str,
    since: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<Repricing, DatabaseError> {
    let now = shared.prices.now();
    let version = now.list.version().id.clone();
    let (mut attempts, mut changed) = (0, 0);
    let mut after: Option<Place> = None;
    loop {
        let page = database.attempts_to_price(since, until, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some((last.started_at, last.request_id, last.number));
        attempts += i64::try_from(page.len()).unwrap_or(0);
        let costs: Vec<Repriced> = page
            .iter()
            .filter_map(|attempt| {
                let cost = now.stamp(attempt);
                let (started_at, request_id, number) = (attempt.started_at, attempt.request_id, attempt.number);
                (cost != attempt.cost).then_some(Repriced { started_at, request_id, number, cost })
            })
            .collect();
        if !costs.is_empty() {
            changed += i64::try_from(costs.len()).unwrap_or(0);
            database.reprice(&costs).await?;
        }
    }
    let at = shared.clock.wall();
    database
        .log_repricing(&prices::Repricing { at, author, since, until, version: &version, attempts, changed })
        .await?;
    tracing::info!(prices.version = %version, attempts, changed, "records were priced anew");
    Ok(Repricing { attempts, changed, price_version: version })
}
