//! `/status`: how the gateway itself is doing.

use std::sync::{Arc, atomic::Ordering};

use axum::{Json, extract::State};
use headgate_domain::Revision;
use headgate_store::JournalStats;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::extract::Body;
use crate::{
    shared::{Counters, Shared},
    tasks,
};

/// How the gateway is doing.
#[derive(Serialize, ToSchema)]
struct Status {
    /// Program version.
    version: &'static str,
    /// Address listened on.
    address: String,
    /// Revision in force.
    revision: Revision,
    /// Milliseconds since the start.
    uptime_ms: u64,
    /// New requests are refused until it is resumed.
    paused: bool,
    /// The database.
    database: DatabaseStatus,
    /// The vault.
    vault: VaultStatus,
    /// The journal: what waits, what was lost (which must be nothing).
    journal: JournalStats,
    /// Requests now in flight.
    in_flight: u64,
    /// Of those, requests that wait for room in their group.
    waiting: usize,
    /// Requests finished since the start.
    requests_finished: u64,
    /// Attempts made since the start.
    attempts_made: u64,
    /// Session affinity.
    affinity: AffinityStatus,
}

#[derive(Serialize, ToSchema)]
struct DatabaseStatus {
    /// `embedded` or `configured`.
    kind: &'static str,
    /// Whether it answers now.
    reachable: bool,
    /// Its version.
    server_version: Option<String>,
    /// Why it does not answer.
    error: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct VaultStatus {
    /// `keychain`, `file` or `memory`.
    kind: &'static str,
    /// Credentials whose secret could not be found.
    missing_credentials: usize,
}

#[derive(Serialize, ToSchema)]
struct AffinityStatus {
    /// Sessions remembered.
    entries: usize,
    /// Requests whose session was known.
    hits: u64,
    /// Requests whose session was not known.
    misses: u64,
    /// Sessions written.
    puts: u64,
    /// Requests served where their session was.
    pinned: u64,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(status)).routes(routes!(pause))
}

/// Whether requests are taken.
#[derive(Deserialize, Serialize, ToSchema)]
struct Pause {
    /// New requests are refused.
    paused: bool,
}

/// Refuse new requests for a while, or take them again
#[utoipa::path(put, path = "/paused", tag = "status", request_body = Pause, responses((status = 200, body = Pause)))]
async fn pause(State(shared): State<Arc<Shared>>, Body(body): Body<Pause>) -> Json<Pause> {
    shared.pause(body.paused);
    Json(body)
}

/// How the gateway is doing
#[utoipa::path(get, path = "/status", tag = "status", responses((status = 200, body = Status)))]
async fn status(State(shared): State<Arc<Shared>>) -> Json<Status> {
    let answer = tasks::look_at_database(&shared).await;
    let snapshot = shared.snapshot.load_full();
    let missing = snapshot
        .configuration
        .upstreams
        .iter()
        .filter_map(|u| Some((u, snapshot.upstreams.get(&u.id)?)))
        .map(|(u, e)| u.credentials.iter().filter(|c| !e.credentials.contains_key(&c.id)).count())
        .sum();
    let counters = &shared.counters;
    Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        address: shared.bootstrap.address.to_string(),
        revision: snapshot.revision,
        paused: shared.paused.load(Ordering::Relaxed),
        uptime_ms: u64::try_from(shared.now().0.as_millis()).unwrap_or(u64::MAX),
        database: DatabaseStatus {
            kind: shared.bootstrap.database,
            reachable: answer.is_ok(),
            error: answer.as_ref().err().cloned(),
            server_version: answer.ok(),
        },
        vault: VaultStatus { kind: shared.control.vault.kind().as_str(), missing_credentials: missing },
        journal: shared.journal.stats(),
        in_flight: Counters::get(&counters.in_flight),
        waiting: shared.lines.len(),
        requests_finished: Counters::get(&counters.finished),
        attempts_made: Counters::get(&counters.attempts),
        affinity: AffinityStatus {
            entries: shared.routing.lock().affinity.len(),
            hits: Counters::get(&counters.affinity_hits),
            misses: Counters::get(&counters.affinity_misses),
            puts: Counters::get(&counters.affinity_puts),
            pinned: Counters::get(&counters.affinity_pinned),
        },
    })
}
