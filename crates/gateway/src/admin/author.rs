//! Who changed something, as revisions and histories name it.

use std::{borrow::Cow, convert::Infallible, net::IpAddr};

use axum::extract::FromRequestParts;
use http::request::Parts;

/// The name under which a change is kept: `window`, `browser`, `admin api`, with the address of one that is elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Author(Cow<'static, str>);

impl Author {
    /// In process: a request that no transport put a name on.
    const WINDOW: Self = Self(Cow::Borrowed("window"));

    /// A page in a browser, signed in.
    pub(super) fn browser(at: IpAddr) -> Self {
        Self::at("browser", at)
    }

    /// A program with the admin token.
    pub(super) fn api(at: IpAddr) -> Self {
        Self::at("admin api", at)
    }

    fn at(name: &'static str, address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self(if address.is_loopback() { Cow::Borrowed(name) } else { Cow::Owned(format!("{name} at {address}")) })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for Author {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or(Self::WINDOW))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_where_it_is_another_machine_s() {
        assert_eq!(Author::api("127.0.0.1".parse().unwrap()).as_str(), "admin api");
        assert_eq!(Author::browser("::ffff:127.0.0.1".parse().unwrap()).as_str(), "browser");
        assert_eq!(Author::browser("192.168.1.7".parse().unwrap()).as_str(), "browser at 192.168.1.7");
    }
}
