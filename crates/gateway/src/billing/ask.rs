//! One question to a billing API: over the upstream's own client and proxy, small, and no more often than the site
//! allows.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use headgate_domain::{audit::clip, upstream::Auth};
use headgate_routing::Time;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use serde_json::Value;

use crate::{
    forward::{headers::attach, source::Source},
    shared::Shared,
    snapshot::Endpoint,
};

/// The largest answer.
const SIZE: usize = 2 << 20;

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The site is asked no more until then.
    #[error("the site limits how often it is asked; it is asked again in {} min", .wait.as_secs().div_ceil(60))]
    Resting {
        /// For so long.
        wait: Duration,
    },
    /// It was not reached, or broke off.
    #[error("{0}")]
    Unreachable(String),
    /// An error status.
    #[error("{path} answered with status {status}{said}")]
    Status {
        /// The question.
        path: &'static str,
        /// The status.
        status: u16,
        /// What it said of it.
        said: String,
    },
    /// Something else than was asked for.
    #[error("the answer of {path} cannot be used: {why}")]
    Broken {
        /// The question.
        path: &'static str,
        /// What is wrong.
        why: String,
    },
    /// No whole answer in time.
    #[error("no whole answer within {0} s")]
    TooSlow(u64),
    /// There is nothing to ask with.
    #[error("no credential of this upstream has a known secret")]
    NoCredential,
    /// Neither API answered.
    #[error("neither sub2api nor new-api answered: {sub2api}; {newapi}")]
    Neither {
        /// Why not.
        sub2api: Box<AskError>,
        /// Why not.
        newapi: Box<AskError>,
    },
}

impl AskError {
    /// An answer that cannot be used.
    pub fn broken(path: &'static str, why: impl Into<String>) -> Self {
        Self::Broken { path, why: why.into() }
    }

    /// How long the site wants to be left alone.
    pub fn wait(&self) -> Option<Duration> {
        match self {
            Self::Resting { wait } => Some(*wait),
            Self::Neither { newapi, .. } => newapi.wait(),
            _ => None,
        }
    }
}

/// Who asks whom.
pub struct Ask<'a> {
    /// The gateway.
    pub shared: &'a Shared,
    /// The upstream.
    pub endpoint: &'a Endpoint,
    /// Its credential.
    pub credential: &'a HeaderValue,
    /// What opens the account itself.
    pub access: Option<&'a Access>,
}

/// An access token of an account.
#[derive(Debug, Clone)]
pub struct Access {
    /// The token.
    pub token: HeaderValue,
    /// The account's number.
    pub user: u64,
}

impl Ask<'_> {
    /// Asks with the credential.
    pub async fn get(&self, path: &'static str) -> Result<Value, AskError> {
        self.ask(path, "", self.headers(Some(self.credential))).await
    }

    /// Asks as the account itself.
    pub async fn get_as_user(&self, path: &'static str, query: &str) -> Result<Value, AskError> {
        let access = self.access.ok_or(AskError::NoCredential)?;
        let mut headers = self.headers(None);
        headers.insert(header::AUTHORIZATION, access.token.clone());
        // Older versions need it, newer ones ignore it.
        headers.insert("new-api-user", HeaderValue::from(access.user));
        self.ask(path, query, headers).await
    }

    /// Asks with the credential for something whose questions the site counts.
    pub async fn get_limited(&self, path: &'static str) -> Result<Value, AskError> {
        let now = self.shared.now();
        let site = self.site();
        let taken = self.shared.billing.budgets.lock().take(&site, now);
        taken.map_err(|until| resting(now, until))?;
        self.get(path).await
    }

    /// Asks for what everybody may know; the credential stays here.
    pub async fn get_open(&self, path: &'static str) -> Result<Value, AskError> {
        self.ask(path, "", self.headers(None)).await
    }

    /// What the site's limits go by.
    fn site(&self) -> String {
        let uri = self.endpoint.base.parse::<Uri>().ok();
        uri.and_then(|uri| uri.authority().map(|a| a.as_str().to_ascii_lowercase())).unwrap_or_default()
    }

    /// Billing APIs stand at the site's root even where the base URL ends in a version.
    fn url(&self, path: &str) -> String {
        let base = &self.endpoint.base;
        let root =
            if self.endpoint.versioned { base.rsplit_once('/').map_or(base.as_str(), |(root, _)| root) } else { base };
        format!("{root}{path}")
    }

    async fn ask(&self, path: &'static str, query: &str, headers: HeaderMap) -> Result<Value, AskError> {
        let site = self.site();
        let now = self.shared.now();
        self.shared.billing.budgets.lock().awake(&site, now).map_err(|until| resting(now, until))?;
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = Method::GET;
        *request.uri_mut() =
            self.url(&format!("{path}{query}")).parse().map_err(|_| AskError::broken(path, "its URL is none"))?;
        *request.headers_mut() = headers;
        let answer = self.endpoint.client.call(request).await.map_err(|why| AskError::Unreachable(why.to_string()))?;
        let status = answer.status();
        if status == StatusCode::TOO_MANY_REQUESTS {
            let now = self.shared.now();
            let until = self.shared.billing.budgets.lock().rest(&site, now);
            return Err(resting(now, until));
        }
        let (head, body) = answer.into_parts();
        let mut source = Source::new(&head.headers, body);
        let mut all = BytesMut::new();
        while let Some(chunk) = source.next().await {
            all.extend_from_slice(&chunk.map_err(|why| AskError::Unreachable(why.message.to_string()))?);
            if all.len() > SIZE {
                return Err(AskError::broken(path, format!("it is larger than {} MiB", SIZE >> 20)));
            }
        }
        let value = serde_json::from_slice::<Value>(&all);
        if status != StatusCode::OK {
            let said = value.ok().as_ref().and_then(said).map(|said| format!(": {said}")).unwrap_or_default();
            return Err(AskError::Status { path, status: status.as_u16(), said });
        }
        value.map_err(|_| AskError::broken(path, "it is no JSON"))
    }

    fn headers(&self, credential: Option<&HeaderValue>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        headers.extend(self.endpoint.headers.clone());
        attach(&mut headers, Auth::Bearer, credential);
        headers
    }
}

fn resting(now: Time, until: Time) -> AskError {
    AskError::Resting { wait: now.until(until) }
}

/// What an error answer says in words.
fn said(body: &Value) -> Option<String> {
    let places = ["/error/message", "/message", "/error"];
    places.into_iter().find_map(|place| body.pointer(place)?.as_str()).map(|text| clip(text, 200))
}
