//! Names to addresses, by the system's resolver, without those that must never be called.

use std::{
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    vec,
};

use headgate_domain::upstream::is_forbidden_address;
use hyper_util::client::legacy::connect::dns::Name;
use reqwest::dns::{Addrs, Resolve, Resolving};

/// Resolves with the system's resolver and leaves out link-local and metadata addresses.
#[derive(Clone)]
pub struct Filtering;

/// A name behind which there are only refused addresses.
#[derive(Debug, thiserror::Error)]
#[error("{0} has only link-local or metadata addresses, which are never called")]
pub struct Forbidden(String);

type Found = Result<vec::IntoIter<SocketAddr>, Box<dyn std::error::Error + Send + Sync>>;

async fn resolve(name: String) -> Found {
    let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
    let allowed: Vec<SocketAddr> = found.filter(|a| !is_forbidden_address(a.ip())).collect();
    if allowed.is_empty() {
        return Err(Forbidden(name).into());
    }
    Ok(allowed.into_iter())
}

impl tower::Service<Name> for Filtering {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Found> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(resolve(name.as_str().to_owned()))
    }
}

impl Resolve for Filtering {
    fn resolve(&self, name: reqwest::dns::Name) -> Resolving {
        let name = name.as_str().to_owned();
        Box::pin(async move { resolve(name).await.map(|found| Box::new(found) as Addrs) })
    }
}
