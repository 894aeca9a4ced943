//! Calling an upstream without a proxy.

use std::{
    io,
    pin::Pin,
    sync::OnceLock,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::{Answer, CallError, IDLE, KEEP_ALIVE, resolve::Filtering};

/// The connections to one upstream.
pub type Client = legacy::Client<Connector, Full<Bytes>>;

/// A client that has `connect` time for each new connection, its TLS handshake included.
pub fn client(connect: Duration) -> Result<Client, String> {
    let mut tcp = HttpConnector::new_with_resolver(Filtering);
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEP_ALIVE));
    tcp.set_connect_timeout(Some(connect));
    let tls =
        HttpsConnectorBuilder::new().with_tls_config(tls()?).https_or_http().enable_all_versions().wrap_connector(tcp);
    Ok(legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .http2_adaptive_window(true)
        .build(Connector { tls, limit: connect }))
}

/// What all direct clients trust: the system's certificates, read once.
fn tls() -> Result<ClientConfig, String> {
    static TLS: OnceLock<Result<ClientConfig, String>> = OnceLock::new();
    let made = || {
        let trusting = ClientConfig::builder().with_platform_verifier().map_err(|why| why.to_string())?;
        Ok(trusting.with_no_client_auth())
    };
    TLS.get_or_init(made).clone().map_err(|why| format!("the system's certificates cannot be used: {why}"))
}

/// Sends a request.
pub async fn call(client: &Client, mut request: Request<Bytes>) -> Result<Response<Answer>, CallError> {
    request.headers_mut().entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    match client.request(request.map(Full::new)).await {
        Ok(response) => Ok(response.map(Answer::Direct)),
        Err(why) if why.is_connect() => {
            let timed_out = is_timeout(&why);
            Err(CallError::unconnected(&why, timed_out))
        }
        Err(why) => Err(CallError::inside(why)),
    }
}

fn is_timeout(why: &legacy::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(why);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::TimedOut) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// TCP, then TLS where the address asks for it, within one limit.
#[derive(Clone)]
pub struct Connector {
    tls: HttpsConnector<HttpConnector<Filtering>>,
    limit: Duration,
}

type Connecting<S> = <S as tower::Service<Uri>>::Future;
type Connected<S> = <S as tower::Service<Uri>>::Response;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl tower::Service<Uri> for Connector {
    type Response = Connected<HttpsConnector<HttpConnector<Filtering>>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tls.poll_ready(cx)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let connecting: Connecting<HttpsConnector<HttpConnector<Filtering>>> = self.tls.call(to);
        let limit = self.limit;
        Box::pin(async move {
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the connection was not made in time");
            tokio::time::timeout(limit, connecting).await.map_err(late)?
        })
    }
}
