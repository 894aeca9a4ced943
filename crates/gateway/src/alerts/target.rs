//! A target as it is called: with its secrets.

use std::time::Duration;

use headgate_domain::{
    AlertId, Secret, Settings,
    alert::{Alert, AlertSpec, check_webhook_url},
};
use url::Url;

use super::post::CONNECT;
use crate::{
    outbound::{Client, Clients},
    snapshot::{Resolved, fetch_proxy},
};

/// Where alerts go, ready to be called. It has no `Debug`: address and secret must not be seen.
pub struct Target {
    /// Identity.
    pub id: AlertId,
    /// What is configured.
    pub spec: AlertSpec,
    /// Quiet time between two alerts of one kind about the same thing.
    pub quiet: Duration,
    /// What to call with what, or why it cannot be called.
    pub(super) way: Result<Way, String>,
}

/// What is needed to call a target.
pub(super) struct Way {
    pub(super) url: Url,
    pub(super) secret: Option<Secret>,
    pub(super) client: Client,
}

impl Target {
    /// Makes a target ready.
    pub fn of(alert: &Alert, settings: &Settings, secrets: &Resolved, clients: &Clients) -> Self {
        let spec = alert.spec.clone();
        let quiet = spec.debounce.unwrap_or(settings.alert_debounce).0;
        Self { id: alert.id, quiet, way: way(alert, settings, secrets, clients), spec }
    }

    /// Its address as far as it may be seen: the scheme and the host.
    pub fn shown(&self) -> Option<String> {
        let url = &self.way.as_ref().ok()?.url;
        let host = url.host_str()?;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("{}://{host}{port}/***", url.scheme()))
    }

    /// Why it cannot be called.
    pub fn trouble(&self) -> Option<&str> {
        self.way.as_ref().err().map(String::as_str)
    }
}

fn way(alert: &Alert, settings: &Settings, secrets: &Resolved, clients: &Clients) -> Result<Way, String> {
    let stored = |field: &str| secrets.get(&alert.account(field));
    let url = stored("url").ok_or("its address is not in the vault; write it again")?;
    let url = check_webhook_url(url.expose()).map_err(|why| format!("its address {why}"))?;
    let secret = match &alert.spec.secret {
        Some(_) => Some(stored("secret").ok_or("its signing secret is not in the vault; write it again")?.clone()),
        None => None,
    };
    let client = clients.fetching(url.as_str(), fetch_proxy(settings, secrets), CONNECT);
    Ok(Way { url, secret, client })
}
