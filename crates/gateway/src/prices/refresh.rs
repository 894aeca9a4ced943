//! Keeping prices up to date: the list is fetched once a day where a URL is set, own prices are read when another
//! process changed them. What fails leaves everything as it was.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use chrono::TimeDelta;
use headgate_domain::audit::clip;
use headgate_pricing::{Rules, Table};
use headgate_store::{Database, DatabaseError};
use http::{Method, Request, StatusCode, Uri};
use rand::RngExt as _;

use super::List;
use crate::{forward::source::Source, shared::Shared};

/// How often it is looked whether prices have changed or are due.
const LOOK: Duration = Duration::from_secs(60);
/// How long a list is good for.
const DAY: TimeDelta = TimeDelta::hours(24);
/// When a failed fetch is tried again.
const AGAIN: TimeDelta = TimeDelta::hours(1);
/// The longest a fetch may take.
const LIMIT: Duration = Duration::from_secs(30);
/// The longest a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// The largest list.
const SIZE: usize = 32 << 20;

/// Why no list was fetched.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// Nobody said from where.
    #[error("no address is set to fetch prices from; set prices_url in the settings")]
    NoUrl,
    /// It was not fetched, or is no list; the one from before stays in force.
    #[error("the prices were not fetched: {0}")]
    Fetch(String),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Reads prices from the database and fetches the list when it is due. Never ends.
pub async fn run(shared: Arc<Shared>) {
    // The list that came with the program is read here, not in somebody's request.
    let _ = tokio::task::spawn_blocking(Table::embedded).await;
    loop {
        if let Ok(database) = shared.control.database()
            && let Err(why) = look(&shared, &database).await
        {
            tracing::warn!(error = %why, "prices could not be brought up to date; those from before stay in force");
        }
        let jitter = shared.routing.lock().rng.random_range(0.75..=1.25);
        tokio::time::sleep(LOOK.mul_f64(jitter)).await;
    }
}

async fn look(shared: &Shared, database: &Database) -> Result<(), RefreshError> {
    load(shared, database).await?;
    if shared.snapshot.load().settings.prices_url.is_none() {
        return Ok(());
    }
    let state = database.price_state().await?;
    let now = shared.clock.wall();
    let pause = if state.error.is_some() { AGAIN } else { DAY };
    // Several processes look at the same moment; one of them goes.
    if database.claim_price_check(now, now - pause).await? {
        refresh(shared, database).await?;
    }
    Ok(())
}

/// Reads prices anew if somebody has changed them.
pub async fn load(shared: &Shared, database: &Database) -> Result<(), DatabaseError> {
    let changes = database.price_state().await?.changes;
    if *shared.prices.seen.lock() == Some(changes) {
        return Ok(());
    }
    let rules = Rules::new(database.price_rules().await?);
    let stored = database.latest_price_list().await?;
    let list = tokio::task::spawn_blocking(move || {
        let stored = stored.and_then(|text| match Table::from_text(&text) {
            Ok(table) => Some(table),
            Err(why) => {
                tracing::warn!(error = %why, "the stored price list cannot be read; the one of the program is used");
                None
            }
        });
        // A newer program may come with a newer list than the last one fetched.
        match stored.filter(|table| table.version().date >= Table::embedded().version().date) {
            Some(table) => List::Fetched(Arc::new(table)),
            None => List::Embedded,
        }
    });
    let list = list.await.unwrap_or(List::Embedded);
    shared.prices.set(list, rules, changes);
    Ok(())
}

/// Fetches the list now.
///
/// # Errors
/// It was not fetched. The list from before stays in force, and the reason is kept.
pub async fn refresh(shared: &Shared, database: &Database) -> Result<(), RefreshError> {
    let snapshot = shared.snapshot.load_full();
    let url = snapshot.settings.prices_url.as_deref().ok_or(RefreshError::NoUrl)?;
    let now = shared.clock.wall();
    let fetched = match tokio::time::timeout(LIMIT, fetch(shared, url, snapshot.fetch_proxy.clone())).await {
        Ok(fetched) => fetched,
        Err(_) => Err(format!("no whole answer within {} s", LIMIT.as_secs())),
    };
    let source = url.to_owned();
    let table = match fetched {
        Ok(body) => {
            let read = tokio::task::spawn_blocking(move || Table::from_package(&body, &source, now.date_naive()));
            read.await.map_err(|why| why.to_string()).and_then(|read| read.map_err(|why| why.to_string()))
        }
        Err(why) => Err(why),
    };
    match table {
        Ok(table) => {
            database.store_price_list(&table, now).await?;
            tracing::info!(prices.version = %table.version().id, prices.models = table.len(), "prices fetched");
            Ok(load(shared, database).await?)
        }
        Err(why) => {
            let why = clip(&why, 300);
            database.price_check_failed(now, &why).await?;
            Err(RefreshError::Fetch(why))
        }
    }
}

/// Through the same filtering resolver as upstreams, without redirects.
async fn fetch(shared: &Shared, url: &str, proxy: Option<String>) -> Result<Bytes, String> {
    let address = headgate_domain::upstream::check_base_url(url, false)?;
    let client = shared.clients.fetching(address.as_str(), proxy, CONNECT);
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = address.as_str().parse::<Uri>().map_err(|why| why.to_string())?;
    let answer = client.call(request).await.map_err(|why| why.to_string())?;
    if answer.status() != StatusCode::OK {
        return Err(format!("the answer's status is {}; redirects are not followed", answer.status().as_u16()));
    }
    let (head, body) = answer.into_parts();
    let mut source = Source::new(&head.headers, body);
    let mut all = BytesMut::new();
    while let Some(chunk) = source.next().await {
        all.extend_from_slice(&chunk.map_err(|why| why.message.to_string())?);
        if all.len() > SIZE {
            return Err(format!("the answer is larger than {} MiB", SIZE >> 20));
        }
    }
    Ok(all.freeze())
}
