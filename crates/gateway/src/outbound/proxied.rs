//! Calling an upstream through a proxy.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use reqwest::{Client, Proxy, redirect};

use super::{Answer, CallError, IDLE, KEEP_ALIVE, resolve::Filtering, root};

/// A client that goes through `proxy`, or through what the environment names.
pub fn client(proxy: Option<&str>, connect: Duration) -> Result<Client, String> {
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(connect)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEP_ALIVE)
        .http2_adaptive_window(true)
        .dns_resolver(Arc::new(Filtering))
        .referer(false);
    if let Some(url) = proxy {
        builder = builder.no_proxy().proxy(Proxy::all(url).map_err(|_| "the proxy cannot be used".to_owned())?);
    }
    builder.build().map_err(|why| format!("no HTTP client could be made: {}", root(&why)))
}

/// Sends a request.
pub async fn call(client: &Client, request: Request<Bytes>) -> Result<Response<Answer>, CallError> {
    let request = request.try_into().map_err(|why: reqwest::Error| CallError::malformed(&why))?;
    match client.execute(request).await {
        Ok(response) => Ok(http::Response::from(response).map(Answer::Proxied)),
        Err(why) if why.is_builder() => Err(CallError::malformed(&why)),
        Err(why) if why.is_connect() => Err(CallError::unconnected(&why, why.is_timeout())),
        Err(why) => Err(CallError::inside(why)),
    }
}
