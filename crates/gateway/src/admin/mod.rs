//! The admin API under `/admin/v1`.

mod token;

use std::sync::Arc;

use axum::{Router, body::Body};
use http::{Request, Response};
use hyper::body::Incoming;
use tower::ServiceExt as _;

pub use self::token::{TokenError, admin_token};
use crate::{ingress::Peer, shared::Shared};

/// The router, without any authentication: that belongs to the transport.
pub fn router(_shared: Arc<Shared>) -> Router {
    Router::new()
}

/// Serves a request that came over the socket: from a loopback peer (unless opened to others) with the admin token.
pub async fn serve(_shared: &Shared, router: Router, _peer: Peer, request: Request<Incoming>) -> Response<Body> {
    match router.oneshot(request.map(Body::new)).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
