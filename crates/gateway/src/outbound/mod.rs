//! Calling upstreams: one pool of connections per upstream and proxy, made when first used.
//!
//! An upstream without a proxy is called through hyper's own client, which costs a request the least; one behind a
//! proxy through reqwest, which knows the ways of proxies. Nobody outside this module can tell which.

mod direct;
mod error;
mod proxied;
mod resolve;

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use headgate_domain::UpstreamId;
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::client::proxy::matcher::Matcher;
use parking_lot::Mutex;

pub use self::error::{CallError, Step, root};

/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(90);
/// How often the system asks whether a silent connection is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How an upstream is reached.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Way {
    Direct,
    /// Through whatever the environment's variables name.
    Environment,
    /// Through this proxy. With its user information: never shown.
    Proxy(String),
}

/// What makes two upstreams' connections different.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ClientKey {
    upstream: UpstreamId,
    way: Way,
    connect: Duration,
}

/// The connections to one upstream.
#[derive(Clone)]
pub struct Client {
    key: ClientKey,
    pool: Arc<OnceLock<Result<Pool, String>>>,
}

enum Pool {
    Direct(Box<direct::Client>),
    Proxied(reqwest::Client),
}

/// Every client, kept across snapshots so that connections survive a change of the configuration.
pub struct Clients {
    made: Mutex<HashMap<ClientKey, Client>>,
    environment: Matcher,
}

impl Default for Clients {
    fn default() -> Self {
        Self { made: Mutex::default(), environment: Matcher::from_env() }
    }
}

impl Clients {
    /// The client of an upstream at `base`: through `proxy`, through none if that says `direct`, through what the
    /// environment names if it is absent.
    pub fn get(&self, upstream: UpstreamId, base: &str, proxy: Option<String>, connect: Duration) -> Client {
        let way = match proxy {
            Some(word) if word == "direct" => Way::Direct,
            Some(url) => Way::Proxy(url),
            None if self.is_proxied(base) => Way::Environment,
            None => Way::Direct,
        };
        let key = ClientKey { upstream, way, connect };
        let mut made = self.made.lock();
        made.entry(key.clone()).or_insert_with(|| Client { key, pool: Arc::default() }).clone()
    }

    /// A client for what is no upstream, such as a webhook: the same rules for its address and its proxy.
    pub fn fetching(&self, url: &str, proxy: Option<String>, connect: Duration) -> Client {
        self.get(UpstreamId(0), url, proxy, connect)
    }

    fn is_proxied(&self, base: &str) -> bool {
        base.parse::<Uri>().is_ok_and(|base| self.environment.intercept(&base).is_some())
    }

    /// Forgets clients that no snapshot uses any more.
    pub fn prune(&self) {
        // One is held by this map; more means that a snapshot still has it.
        self.made.lock().retain(|_, client| Arc::strong_count(&client.pool) > 1);
    }
}

impl Client {
    /// Sends a request and waits for the head of the answer, however long that takes.
    ///
    /// # Errors
    /// What went wrong, and whether anything of the request may have reached the upstream.
    pub async fn call(&self, request: Request<Bytes>) -> Result<Response<Answer>, CallError> {
        let pool = self.pool.get_or_init(|| Pool::make(&self.key)).as_ref().map_err(|why| CallError::unmade(why))?;
        match pool {
            Pool::Direct(client) => direct::call(client, request).await,
            Pool::Proxied(client) => proxied::call(client, request).await,
        }
    }
}

impl Pool {
    fn make(key: &ClientKey) -> Result<Self, String> {
        Ok(match &key.way {
            Way::Direct => Self::Direct(Box::new(direct::client(key.connect)?)),
            Way::Environment => Self::Proxied(proxied::client(None, key.connect)?),
            Way::Proxy(url) => Self::Proxied(proxied::client(Some(url), key.connect)?),
        })
    }
}

/// The body of an upstream's answer, as it comes.
pub enum Answer {
    /// Called directly.
    Direct(Incoming),
    /// Through a proxy.
    Proxied(reqwest::Body),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = CallError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CallError>>> {
        match self.get_mut() {
            Self::Direct(body) => Pin::new(body).poll_frame(cx).map_err(CallError::inside),
            Self::Proxied(body) => Pin::new(body).poll_frame(cx).map_err(CallError::inside),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Direct(body) => body.is_end_stream(),
            Self::Proxied(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Direct(body) => body.size_hint(),
            Self::Proxied(body) => body.size_hint(),
        }
    }
}
