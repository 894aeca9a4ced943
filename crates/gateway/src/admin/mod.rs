//! The admin API under `/admin/v1`: one router, served over the socket with the admin token, or in process without.

mod alerts;
mod apply;
mod author;
mod billing;
mod charges;
mod condition;
mod costs;
mod detect;
mod error;
mod events;
mod evidence;
mod explain;
mod export;
mod groups;
mod keys;
mod logs;
mod metrics;
mod monitors;
mod overview;
mod prices;
mod requests;
mod revisions;
mod series;
mod session;
mod settings;
mod status;
mod tags;
mod token;
mod tokens;
mod trial;
mod upstreams;
mod whatif;

use std::sync::Arc;

use axum::{Router, body::Body, extract::DefaultBodyLimit, response::IntoResponse as _, routing::get};
use http::{Method, Request, Response, header};
use hyper::body::Incoming;
use subtle::ConstantTimeEq as _;
use tower::ServiceExt as _;
use utoipa::{
    OpenApi,
    openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder},
};
use utoipa_axum::router::OpenApiRouter;

pub(crate) use self::overview::glance;
use self::{author::Author, error::ApiError};
pub use self::{
    overview::{Cause, Glance, Standing},
    session::Sessions,
    token::{TokenError, admin_token},
};
use crate::{ingress::Peer, shared::Shared};

/// Largest body of an admin request.
const BODY: usize = 8 << 20;

#[derive(OpenApi)]
#[openapi(
    info(title = "Headgate admin API", description = "Everything the window does."),
    servers((url = "/admin/v1")),
    components(schemas(error::ErrorBody))
)]
struct Document;

/// What every operation may answer instead: the error shape.
fn with_errors(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
            let error = ResponseBuilder::new().description("Refused or failed").content("application/json", content);
            operation.responses.responses.insert("default".to_owned(), RefOr::T(error.build()));
        }
    }
    document
}

/// The router and its description, without any authentication: that belongs to the transport.
fn described() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(status::routes())
        .merge(session::routes())
        .merge(overview::routes())
        .merge(series::routes())
        .merge(tags::routes())
        .merge(export::routes())
        .merge(logs::routes())
        .merge(metrics::routes())
        .merge(detect::routes())
        .merge(upstreams::routes())
        .merge(whatif::routes())
        .merge(trial::routes())
        .merge(groups::routes())
        .merge(keys::routes())
        .merge(monitors::routes())
        .merge(alerts::routes())
        .merge(requests::routes())
        .merge(prices::routes())
        .merge(billing::routes())
        .merge(charges::routes())
        .merge(evidence::routes())
        .merge(tokens::routes())
        .merge(costs::routes())
        .merge(settings::routes())
        .merge(revisions::routes())
        .merge(apply::routes())
        .merge(explain::routes())
        .merge(events::routes())
}

/// The OpenAPI document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    with_errors(described().split_for_parts().1)
}

/// The router under `/admin/v1`.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let (router, document) = described().split_for_parts();
    let document = with_errors(document);
    let router = router
        .route("/openapi.json", get(move || async move { axum::Json(document) }))
        .fallback(|| async { ApiError::not_found("route") })
        .method_not_allowed_fallback(|| async { ApiError::method_not_allowed() })
        .layer(DefaultBodyLimit::max(BODY))
        .with_state(shared);
    Router::new().nest("/admin/v1", router)
}

/// Serves a request that came over the socket: from a loopback peer (unless opened to others) with the admin token.
pub(crate) async fn serve(shared: &Shared, router: Router, peer: Peer, request: Request<Incoming>) -> Response<Body> {
    if !is_open_to(shared, peer) {
        return ApiError::forbidden("the admin API is for this machine; --admin-remote opens it to others")
            .into_response();
    }
    let signs_in = request.uri().path() == "/admin/v1/session" && request.method() == Method::POST;
    let author = author(&request, shared, peer);
    if !signs_in && author.is_none() {
        // The same brake as for wrong access keys.
        shared.invalid_keys.brake(peer.remote.ip(), shared.now()).await;
        return ApiError::unauthorized().into_response();
    }
    let mut request = request.map(Body::new);
    if let Some(author) = author {
        request.extensions_mut().insert(author);
    }
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Whether a peer may use the admin API and its pages at all.
pub(crate) fn is_open_to(shared: &Shared, peer: Peer) -> bool {
    peer.remote.ip().to_canonical().is_loopback() || shared.bootstrap.admin_remote
}

/// Whose token a request shows; none without a valid one.
fn author<B>(request: &Request<B>, shared: &Shared, peer: Peer) -> Option<Author> {
    let text = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    let shown = scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())?;
    if shown.as_bytes().ct_eq(shared.admin_token.expose().as_bytes()).into() {
        return Some(Author::api(peer.remote.ip()));
    }
    shared.sessions.admit(shown, shared.now()).then(|| Author::browser(peer.remote.ip()))
}
