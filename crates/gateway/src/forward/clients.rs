//! HTTP clients: one pool of connections per upstream and proxy, made when first used.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use headgate_domain::{UpstreamId, upstream::is_forbidden_address};
use parking_lot::Mutex;
use reqwest::{
    Client, Proxy,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect,
};

/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(90);

/// What makes two upstreams' connections different.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ClientKey {
    upstream: UpstreamId,
    /// With its user information: never shown.
    proxy: Option<String>,
    connect: Duration,
}

/// A client that is made when it is first used.
#[derive(Clone)]
pub struct LazyClient {
    key: ClientKey,
    slot: Arc<OnceLock<Result<Client, String>>>,
}

/// Every client, kept across snapshots so that connections survive a change of the configuration.
#[derive(Default)]
pub struct Clients(Mutex<HashMap<ClientKey, LazyClient>>);

impl Clients {
    /// The client of an upstream through a proxy.
    pub fn get(&self, upstream: UpstreamId, proxy: Option<String>, connect: Duration) -> LazyClient {
        let key = ClientKey { upstream, proxy, connect };
        let mut all = self.0.lock();
        all.entry(key.clone()).or_insert_with(|| LazyClient { key, slot: Arc::default() }).clone()
    }

    /// Forgets clients that no snapshot uses any more.
    pub fn prune(&self) {
        // One is held by this map; more means that a snapshot still has it.
        self.0.lock().retain(|_, client| Arc::strong_count(&client.slot) > 1);
    }
}

impl LazyClient {
    /// The client; an error says why none could be made.
    pub fn client(&self) -> Result<&Client, &str> {
        self.slot.get_or_init(|| build(&self.key)).as_ref().map_err(String::as_str)
    }
}

fn build(key: &ClientKey) -> Result<Client, String> {
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(key.connect)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(60))
        .http2_adaptive_window(true)
        .dns_resolver(Arc::new(Filtering))
        .referer(false);
    builder = match key.proxy.as_deref() {
        None => builder,
        Some("direct") => builder.no_proxy(),
        Some(url) => builder.no_proxy().proxy(Proxy::all(url).map_err(|_| "the proxy cannot be used".to_owned())?),
    };
    builder.build().map_err(|why| format!("no HTTP client could be made: {why}"))
}

/// Resolves names with the system's resolver and leaves out addresses that must never be called.
struct Filtering;

impl Resolve for Filtering {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|a| !is_forbidden_address(a.ip())).collect();
            if allowed.is_empty() {
                return Err(Refused(name.as_str().to_owned()).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// A name behind which there are only refused addresses.
#[derive(Debug, thiserror::Error)]
#[error("{0} has only link-local or metadata addresses, which are never called")]
pub struct Refused(String);
