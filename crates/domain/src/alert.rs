//! Alerts: what people are told of, and where they are told.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::{
    id::{AlertId, Revision},
    masked::Masked,
    name::Name,
    span::Span,
    upstream::{is_forbidden_address, is_true, yes},
};

/// A turn that people are told of: something stopped serving or needs a person, or it is well again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertEvent {
    /// An upstream's breaker opened.
    UpstreamOpened,
    /// It closed: the upstream serves again.
    UpstreamClosed,
    /// An upstream refuses a credential.
    CredentialRejected,
    /// A credential's quota, balance or plan is used up.
    CredentialExhausted,
    /// A credential is accepted again.
    CredentialAccepted,
    /// An upstream said twice that it does not have a model.
    ModelGone,
    /// It has the model again.
    ModelBack,
    /// No upstream of a group can answer.
    GroupDown,
    /// One can again.
    GroupBack,
    /// A budget is used to 80, 95 or 100 hundredths.
    Budget,
    /// Little or nothing is left at an upstream.
    BalanceLow,
    /// An upstream states another multiplier than before.
    MultiplierChanged,
    /// An upstream costs more than a group allows.
    OverCap,
    /// An upstream's billing could not be read for longer than half an hour.
    CollectionFailing,
    /// An upstream charges, or states, more than is explained.
    BillingWarning,
    /// One of these, but for a changed multiplier, is over.
    BillingCleared,
    /// A person pressed the button. Every target takes it; none can list it.
    Test,
}

impl AlertEvent {
    /// All that a target can list.
    pub const ALL: [Self; 16] = [
        Self::UpstreamOpened,
        Self::UpstreamClosed,
        Self::CredentialRejected,
        Self::CredentialExhausted,
        Self::CredentialAccepted,
        Self::ModelGone,
        Self::ModelBack,
        Self::GroupDown,
        Self::GroupBack,
        Self::Budget,
        Self::BalanceLow,
        Self::MultiplierChanged,
        Self::OverCap,
        Self::CollectionFailing,
        Self::BillingWarning,
        Self::BillingCleared,
    ];

    /// Its word in documents and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UpstreamOpened => "upstream_opened",
            Self::UpstreamClosed => "upstream_closed",
            Self::CredentialRejected => "credential_rejected",
            Self::CredentialExhausted => "credential_exhausted",
            Self::CredentialAccepted => "credential_accepted",
            Self::ModelGone => "model_gone",
            Self::ModelBack => "model_back",
            Self::GroupDown => "group_down",
            Self::GroupBack => "group_back",
            Self::Budget => "budget",
            Self::BalanceLow => "balance_low",
            Self::MultiplierChanged => "multiplier_changed",
            Self::OverCap => "over_cap",
            Self::CollectionFailing => "collection_failing",
            Self::BillingWarning => "billing_warning",
            Self::BillingCleared => "billing_cleared",
            Self::Test => "test",
        }
    }

    /// Whether it says that something is well again.
    pub fn is_recovery(self) -> bool {
        matches!(
            self,
            Self::UpstreamClosed | Self::CredentialAccepted | Self::ModelBack | Self::GroupBack | Self::BillingCleared
        )
    }
}

/// How an alert is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AlertKind {
    /// A JSON document by POST.
    Webhook,
}

/// What the body of a webhook looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AlertTemplate {
    /// Our own document, with every field.
    #[default]
    Json,
    /// A custom bot of Feishu or Lark.
    Feishu,
    /// A custom robot of DingTalk.
    Dingtalk,
    /// A group robot of WeCom.
    Wecom,
    /// An incoming webhook of Slack, or of what understands its form.
    Slack,
    /// A webhook of a Discord channel.
    Discord,
}

impl AlertTemplate {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Where alerts go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AlertSpec {
    /// How it is delivered.
    pub kind: AlertKind,
    /// What people call it; its identity in files is its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The address; kept in the vault.
    pub url: Masked,
    /// The signing secret; kept in the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Masked>,
    /// What the body looks like.
    #[serde(default, skip_serializing_if = "AlertTemplate::is_default")]
    pub template: AlertTemplate,
    /// What is told; absent: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<AlertEvent>>,
    /// Quiet time between two alerts of one kind about the same thing; absent: the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debounce: Option<Span>,
    /// Switched on.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
}

impl AlertSpec {
    /// Whether this target is told of an event.
    pub fn wants(&self, event: AlertEvent) -> bool {
        self.enabled && self.events.as_ref().is_none_or(|events| events.contains(&event))
    }
}

/// An alert target as it is configured; its identity in files is its place in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Alert {
    /// Identity for history.
    pub id: AlertId,
    /// The revision that last changed it.
    pub revision: Revision,
    /// Everything else.
    pub spec: AlertSpec,
}

impl Alert {
    /// The vault's account of one field.
    pub fn account(&self, field: &str) -> String {
        format!("alert/{}/{field}", self.id)
    }
}

/// Checks the address of a webhook. What is said about a wrong one does not repeat it: it is a secret.
///
/// # Errors
/// A sentence with what is wrong and what to do.
pub fn check_webhook_url(text: &str) -> Result<Url, String> {
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("has white space or control characters".to_owned());
    }
    let url = Url::parse(text).map_err(|why| format!("is not a URL ({why}); write it like https://host/path"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("is not an http(s) URL".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user name or password, which is not sent; sign with 'secret' instead".to_owned());
    }
    let address = match url.host() {
        Some(url::Host::Ipv4(v4)) => Some(IpAddr::V4(v4)),
        Some(url::Host::Ipv6(v6)) => Some(IpAddr::V6(v6)),
        _ => None,
    };
    let is_metadata = url.host_str().is_some_and(|host| host.eq_ignore_ascii_case("metadata.google.internal"));
    if is_metadata || address.is_some_and(is_forbidden_address) {
        return Err("is a link-local or metadata address, which is never called".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_spelled_as_it_is_serialised() {
        for event in AlertEvent::ALL {
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
        }
    }

    #[test]
    fn an_address_that_must_not_be_called_is_refused_without_being_repeated() {
        for bad in [
            "ftp://canary.example/x",
            "canary",
            "https://me:canary@hook.example/x",
            "http://169.254.169.254/canary",
            "http://[::ffff:169.254.169.254]/canary",
            "http://[fe80::1]/canary",
            "http://metadata.google.internal/canary",
            "https://hook.example/ca nary",
        ] {
            let why = check_webhook_url(bad).unwrap_err();
            assert!(!why.contains("canary"), "{why}");
        }
        assert!(check_webhook_url("https://hook.example/x?key=1").is_ok());
        assert!(check_webhook_url("http://127.0.0.1:9/x").is_ok());
    }

    #[test]
    fn a_target_is_told_everything_unless_it_lists_what() {
        let read = |text: &str| serde_json::from_str::<AlertSpec>(text).unwrap();
        let all = read(r#"{"kind":"webhook","url":"https://h.example"}"#);
        assert!(AlertEvent::ALL.iter().all(|event| all.wants(*event)));
        let some = read(r#"{"kind":"webhook","url":"https://h.example","events":["group_down"]}"#);
        assert!(some.wants(AlertEvent::GroupDown) && !some.wants(AlertEvent::GroupBack));
        assert!(!AlertSpec { enabled: false, ..some }.wants(AlertEvent::GroupDown));
        assert!(serde_json::from_str::<AlertSpec>(r#"{"kind":"webhook","url":"u","what":1}"#).is_err());
    }
}
