//! `/prices`: the list in force, own prices over it, and what a model's price is.

use std::sync::Arc;

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use headgate_domain::UpstreamId;
use headgate_pricing::{Entry, Rule, Version, names::Step};
use headgate_store::prices::PriceState;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    author::Author,
    error::{
        ApiError,
        extract::{Body, Path, Query},
    },
};
use crate::{
    control::ControlError,
    prices::{self, List, Price, RefreshError, Repricing},
    shared::Shared,
};

/// Most entries shown of a search.
const SHOWN: usize = 50;

/// What to look for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct PricesQuery {
    /// Part of the list's name for a model.
    q: Option<String>,
    /// A model as it is sent to an upstream: its price is looked for under the names it may go by.
    model: Option<String>,
    /// At this upstream, for own prices that hold there only.
    upstream: Option<i64>,
}

/// The prices in force.
#[derive(Serialize, ToSchema)]
struct PricesView {
    /// Which list.
    version: Version,
    /// It is the one that came with the program.
    embedded: bool,
    /// Models in it.
    models: usize,
    /// Where lists are fetched from; absent: nowhere.
    url: Option<String>,
    /// How fetching went; absent while the database is away.
    state: Option<PriceState>,
    /// Own prices, which win over the list.
    overrides: Vec<Rule>,
    /// What `model` costs now; absent if it was not asked for or has no price.
    matched: Option<Matched>,
    /// Models whose names contain `q`, at most 50.
    items: Vec<Listed>,
}

/// A price that was found.
#[derive(Serialize, ToSchema)]
struct Matched {
    /// The list's name for the model, or the own price's pattern.
    name: String,
    /// What had to be done to the name to find it; nothing: it is the list's.
    steps: Vec<Step>,
    /// The own price it is.
    rule: Option<i64>,
    /// Currency and rates.
    #[serde(flatten)]
    entry: Entry,
}

#[derive(Serialize, ToSchema)]
struct Listed {
    /// The list's name.
    name: String,
    /// Currency and rates.
    #[serde(flatten)]
    entry: Entry,
}

/// An own price.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Override {
    /// A model's name as it is sent to an upstream, or a pattern with `*`.
    model: String,
    /// For this upstream only.
    #[serde(default)]
    upstream: Option<UpstreamId>,
    /// From when on; absent: from now on.
    #[serde(default)]
    from: Option<DateTime<Utc>>,
    /// Currency of the rates.
    #[serde(default)]
    currency: headgate_pricing::Currency,
    /// What it costs; what is left out has no price.
    rates: Vec<headgate_pricing::Rate>,
}

/// Which records to price anew.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Range {
    /// Requests that started at this time or later.
    since: DateTime<Utc>,
    /// Requests that started before this time; absent: now.
    #[serde(default)]
    until: Option<DateTime<Utc>>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(read))
        .routes(routes!(add))
        .routes(routes!(change, remove))
        .routes(routes!(refresh))
        .routes(routes!(reprice))
}

/// The prices in force
#[utoipa::path(get, path = "/prices", tag = "prices", params(PricesQuery), responses((status = 200, body = PricesView)))]
async fn read(State(shared): State<Arc<Shared>>, Query(query): Query<PricesQuery>) -> Json<PricesView> {
    Json(view(&shared, &query).await)
}

async fn view(shared: &Shared, query: &PricesQuery) -> PricesView {
    let state = match shared.control.database() {
        Ok(database) => database.price_state().await.ok(),
        Err(_) => None,
    };
    let now = shared.prices.now();
    let upstream = query.upstream.map(UpstreamId);
    let found = query.model.as_deref().and_then(|model| now.search(upstream, model.trim(), shared.clock.wall()));
    let matched = found.map(|Price { entry, name, steps, rule }| Matched { name, steps, rule, entry });
    let part = query.q.as_deref().map(|q| q.trim().to_lowercase()).filter(|q| !q.is_empty());
    let items = part.map_or_else(Vec::new, |part| {
        let hits = now.list.iter().filter(|(name, _)| name.to_lowercase().contains(&part)).take(SHOWN);
        hits.map(|(name, entry)| Listed { name: name.to_owned(), entry: entry.clone() }).collect()
    });
    PricesView {
        version: now.list.version().clone(),
        embedded: matches!(now.list, List::Embedded),
        models: now.list.len(),
        url: shared.snapshot.load().settings.prices_url.clone(),
        state,
        overrides: now.rules.all().to_vec(),
        matched,
        items,
    }
}

impl Override {
    fn rule(self, id: i64, now: DateTime<Utc>) -> Result<Rule, ApiError> {
        let Self { model, upstream, from, currency, rates } = self;
        let entry = Entry { currency, rates };
        let rule = Rule { id, model: model.trim().to_owned(), upstream, from: from.unwrap_or(now), entry };
        rule.check().map_err(|why| ApiError::bad_request(why.to_string()).with_field("rates"))?;
        Ok(rule)
    }
}

/// Set an own price
#[utoipa::path(post, path = "/prices/overrides", tag = "prices", request_body = Override, responses((status = 200, body = Rule)))]
async fn add(State(shared): State<Arc<Shared>>, Body(body): Body<Override>) -> Result<Json<Rule>, ApiError> {
    let database = shared.control.database()?;
    let mut rule = body.rule(0, shared.clock.wall())?;
    rule.id = database.add_price_rule(&rule).await?;
    tracing::info!(price.rule = rule.id, price.model = %rule.model, "an own price was set");
    prices::load(&shared, &database).await?;
    Ok(Json(rule))
}

/// Change an own price
///
/// What is recorded already keeps its cost until it is priced anew.
#[utoipa::path(put, path = "/prices/overrides/{id}", tag = "prices", params(("id" = i64, Path)), request_body = Override, responses((status = 200, body = Rule)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<i64>,
    Body(body): Body<Override>,
) -> Result<Json<Rule>, ApiError> {
    let database = shared.control.database()?;
    let rule = body.rule(id, shared.clock.wall())?;
    if !database.change_price_rule(&rule).await? {
        return Err(ApiError::not_found("own price"));
    }
    tracing::info!(price.rule = id, price.model = %rule.model, "an own price was changed");
    prices::load(&shared, &database).await?;
    Ok(Json(rule))
}

/// Remove an own price
#[utoipa::path(delete, path = "/prices/overrides/{id}", tag = "prices", params(("id" = i64, Path)), responses((status = 204)))]
async fn remove(State(shared): State<Arc<Shared>>, Path(id): Path<i64>) -> Result<http::StatusCode, ApiError> {
    let database = shared.control.database()?;
    if !database.remove_price_rule(id).await? {
        return Err(ApiError::not_found("own price"));
    }
    tracing::info!(price.rule = id, "an own price was removed");
    prices::load(&shared, &database).await?;
    Ok(http::StatusCode::NO_CONTENT)
}

/// Fetch the list now
///
/// When that fails the list from before stays in force, and `state` says why.
#[utoipa::path(post, path = "/prices/refresh", tag = "prices", responses((status = 200, body = PricesView)))]
async fn refresh(State(shared): State<Arc<Shared>>) -> Result<Json<PricesView>, ApiError> {
    let database = shared.control.database()?;
    match prices::refresh(&shared, &database).await {
        Ok(()) | Err(RefreshError::Fetch(_)) => Ok(Json(view(&shared, &PricesQuery::default()).await)),
        Err(why @ RefreshError::NoUrl) => Err(ApiError::bad_request(why.to_string()).with_field("prices_url")),
        Err(RefreshError::Database(why)) => Err(ControlError::from(why).into()),
    }
}

/// Price records anew
///
/// By the prices now in force; the action is written down. Otherwise a record keeps the cost it was stamped with.
#[utoipa::path(post, path = "/prices/reprice", tag = "prices", request_body = Range, responses((status = 200, body = Repricing)))]
async fn reprice(
    State(shared): State<Arc<Shared>>,
    author: Author,
    Body(range): Body<Range>,
) -> Result<Json<Repricing>, ApiError> {
    let database = shared.control.database()?;
    let until = range.until.unwrap_or_else(|| shared.clock.wall());
    if until <= range.since {
        return Err(ApiError::bad_request("'until' is not after 'since'").with_field("until"));
    }
    // What has just ended is priced like the rest, if it can be stored soon.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(5), shared.journal.flush()).await;
    Ok(Json(prices::reprice(&shared, &database, author.as_str(), range.since, until).await?))
}
