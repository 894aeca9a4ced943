//! An upstream: an API endpoint with its credentials and rules.

use std::{collections::BTreeSet, net::IpAddr};

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::{
    id::{CredentialId, Revision, UpstreamId},
    masked::{Masked, MaskedUrl},
    name::Name,
    pattern::ModelRules,
    protocol::UpstreamKind,
    span::Span,
};

/// How the credential is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// `Authorization: Bearer …`
    Bearer,
    /// `x-api-key: …`
    XApiKey,
    /// A header of this name with the bare credential.
    Header(String),
}

/// What an upstream can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Conversations at all.
    Chat,
    /// Streaming answers.
    Stream,
    /// Tool calls.
    Tools,
    /// Images in the request.
    Images,
    /// Documents in the request.
    Documents,
    /// A JSON schema for the answer.
    StructuredOutput,
    /// Visible reasoning.
    Reasoning,
}

impl Capability {
    /// The word used in files and reasons.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Stream => "stream",
            Self::Tools => "tools",
            Self::Images => "images",
            Self::Documents => "documents",
            Self::StructuredOutput => "structured_output",
            Self::Reasoning => "reasoning",
        }
    }
}

/// One main tag and any number of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tags {
    /// Groups upstreams in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
    /// Policies of keys may name these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// Limits of an upstream or key; absent: none. Counted per process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Requests a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpm: Option<u32>,
    /// Tokens a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm: Option<u64>,
}

/// Overrides of the settings' timeouts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// DNS, TCP, TLS and proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<Span>,
    /// First work of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_response: Option<Span>,
    /// Silence inside a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Span>,
    /// A whole answer that is not streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_stream: Option<Span>,
}

/// Which billing API the upstream has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BillingKind {
    /// None.
    #[default]
    None,
    /// Found out by asking.
    Auto,
    /// sub2api.
    Sub2api,
    /// new-api.
    Newapi,
}

/// How the upstream bills.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Billing {
    /// The billing API.
    pub kind: BillingKind,
    /// Credits bought with one unit of money; absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_ratio: Option<rust_decimal::Decimal>,
    /// How often it is asked; absent: every ten minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// A balance below it is told as low, in the currency the site shows; absent: what would not last a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_balance: Option<rust_decimal::Decimal>,
    /// An access token of the account, by which single charges can be read (new-api); kept in the vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token: Option<Masked>,
    /// The account's number, which belongs to the access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<u64>,
}

/// What differs between upstreams of one kind: a named base and overrides of single keys (`docs/configuration.md`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the translation contract's, described in docs/configuration.md")]
pub struct ProfileSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efforts: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mid_system: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_reasoning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_system: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_cache: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anthropic_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_effort: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_chunk: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub developer_role: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_tags: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_tool_stops_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_rules: Option<String>,
}

/// How a Claude upstream is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// `thinking: {type: adaptive}` with an effort.
    Adaptive,
    /// `thinking: {type: enabled, budget_tokens}`.
    Manual,
    /// Not at all.
    None,
}

/// Everything of an upstream but its identity and credentials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpstreamSpec {
    /// Absolute http(s) URL. A last segment of `v` and digits stands for the route's own `/v1`.
    pub base_url: String,
    /// What it speaks.
    #[serde(default)]
    pub protocol: UpstreamKind,
    /// How the credential is sent; absent: `x-api-key` for `claude`, `bearer` otherwise, and for `passthrough` that of the route called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// `http`, `https`, `socks5` or `socks5h` URL, `direct`, or absent: the environment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<MaskedUrl>,
    /// Permits `http://` beyond loopback.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_plain_http: bool,
    /// Tags.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tags: Tags,
    /// Region; an upstream without one never satisfies a region constraint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// What it can do; absent: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<BTreeSet<Capability>>,
    /// Longest prompt in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_context: Option<u64>,
    /// Limits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// Overrides of the settings' timeouts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeouts: Timeouts,
    /// Which models, under which names.
    #[serde(default, skip_serializing_if = "ModelRules::is_empty")]
    pub models: ModelRules,
    /// Headers of its own, sent with every request.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub headers: IndexMap<String, Masked>,
    /// The affinity key's value is sent in this header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_header: Option<String>,
    /// Translation profile.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "profile")]
    pub profile: Option<ProfileSpec>,
    /// Billing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub billing: Billing,
    /// Switched on.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
}

pub(crate) fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
pub(crate) fn is_true(value: &bool) -> bool {
    *value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A profile is a map of overrides, or only the name of its base.
fn profile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ProfileSpec>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    match value {
        serde_json::Value::Null => Ok(None),
        serde_json::Value::String(base) => Ok(Some(ProfileSpec { base: Some(base), ..ProfileSpec::default() })),
        other => serde_json::from_value(other).map(Some).map_err(serde::de::Error::custom),
    }
}

/// Where a credential's text is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CredentialSource {
    /// In this environment variable of the serving process.
    Env(String),
    /// In the vault, account `credential/<id>`.
    Vault,
}

/// One credential of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Credential {
    /// Identity in the vault and in records.
    pub id: CredentialId,
    /// The `n` in `NAME/n`: given once and never reused.
    pub number: u32,
    /// Where its text is.
    pub source: CredentialSource,
    /// The last four characters, shown in the window (vault only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Credential {
    /// The account under which the vault keeps it.
    pub fn account(&self) -> String {
        format!("credential/{}", self.id)
    }
}

/// An upstream as it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Upstream {
    /// Identity for history.
    pub id: UpstreamId,
    /// Identity for files.
    pub name: Name,
    /// The revision that last changed it.
    pub revision: Revision,
    /// The name under which a file last listed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_name: Option<Name>,
    /// Its credentials, rotated.
    pub credentials: Vec<Credential>,
    /// The number of the next credential.
    pub next_credential: u32,
    /// Everything else.
    pub spec: UpstreamSpec,
}

impl Upstream {
    /// The vault's account of the proxy URL with its user information.
    pub fn proxy_account(&self) -> String {
        format!("upstream/{}/proxy", self.id)
    }

    /// The vault's account of the billing API's access token.
    pub fn access_token_account(&self) -> String {
        format!("upstream/{}/billing.access_token", self.id)
    }

    /// The vault's account of one own header's value.
    pub fn header_account(&self, header: &str) -> String {
        format!("upstream/{}/headers.{}", self.id, header.to_ascii_lowercase())
    }
}

/// Whether a host is a loopback name or address.
pub fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether an address must never be called: link-local, unspecified, multicast, and the metadata services of clouds.
pub fn is_forbidden_address(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => {
            v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_multicast()
                || v4.is_broadcast()
                || v4.octets() == [100, 100, 100, 200]
        }
        IpAddr::V6(v6) => {
            if let Some(v4) = v6.to_ipv4_mapped() {
                return is_forbidden_address(IpAddr::V4(v4));
            }
            v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unicast_link_local()
                || v6.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]
        }
    }
}

/// Checks an upstream's base URL: http(s) only, no user information, plain http only to loopback unless allowed,
/// no link-local or metadata address.
pub fn check_base_url(text: &str, allow_plain_http: bool) -> Result<Url, String> {
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("a base URL has no white space and no control characters".to_owned());
    }
    let url =
        Url::parse(text).map_err(|why| format!("'{text}' is not a URL ({why}); write it like https://host/v1"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the scheme of a base URL is http or https, not '{}'", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a base URL may not contain a user name or password; put the key into credentials".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("a base URL has no query and no fragment".to_owned());
    }
    let host = url.host_str().unwrap_or_default();
    let address = match url.host() {
        Some(url::Host::Ipv4(v4)) => Some(IpAddr::V4(v4)),
        Some(url::Host::Ipv6(v6)) => Some(IpAddr::V6(v6)),
        _ => None,
    };
    if address.is_some_and(is_forbidden_address) || host.eq_ignore_ascii_case("metadata.google.internal") {
        return Err(format!("{host} is a link-local or metadata address, which is never an upstream"));
    }
    if url.scheme() == "http" && !allow_plain_http && !is_loopback_host(host) {
        return Err(format!(
            "plain http to {host} would send the key readable; use https, or set allow_plain_http: true"
        ));
    }
    Ok(url)
}

/// Checks a proxy: a URL of a supported scheme, or `direct`.
pub fn check_proxy(text: &str) -> Result<(), String> {
    if text == "direct" {
        return Ok(());
    }
    let url = Url::parse(text).map_err(|why| format!("the proxy is not a URL ({why})"))?;
    if !matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") {
        return Err(format!("a proxy is http, https, socks5, socks5h or 'direct', not '{}'", url.scheme()));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("the proxy has no host".to_owned());
    }
    Ok(())
}

/// Checks an upstream's own header: a legal name that does not belong to the gateway or the connection, a legal value.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(legal) {
        return Err(format!("'{name}' is not a header name"));
    }
    let lower = name.to_ascii_lowercase();
    let reserved = matches!(
        lower.as_str(),
        "authorization"
            | "proxy-authorization"
            | "proxy-authenticate"
            | "x-api-key"
            | "x-goog-api-key"
            | "cookie"
            | "host"
            | "connection"
            | "keep-alive"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "via"
            | "expect"
            | "accept-encoding"
    ) || lower.starts_with("content-")
        || lower.starts_with("x-headgate-");
    if reserved {
        return Err(format!("'{name}' may not be set: it belongs to authentication, the connection or Headgate"));
    }
    if value.bytes().any(|b| (b < 0x20 && b != b'\t') || b == 0x7f) {
        return Err(format!("the value of '{name}' has a control character"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_that_leak_or_reach_inside_are_refused() {
        for bad in [
            "ftp://x",
            "https://user:pw@host/v1",
            "https://user@host/v1",
            "http://relay.example/v1",
            "http://169.254.169.254/latest",
            "https://[fe80::1]/v1",
            "https://[::ffff:169.254.169.254]/",
            "https://100.100.100.200/",
            "https://0.0.0.0/",
            "https://metadata.google.internal/",
            "https://host/v1?key=1",
            "not a url",
            "https://relay.example/\r\nx: y",
            "https://relay.example/a\tb",
        ] {
            assert!(check_base_url(bad, false).is_err(), "{bad}");
        }
        for good in ["https://relay.example/v1", "http://127.0.0.1:9/v1", "http://[::1]:9", "http://localhost:1"] {
            assert!(check_base_url(good, false).is_ok(), "{good}");
        }
        assert!(check_base_url("http://relay.example", true).is_ok());
    }

    #[test]
    fn own_headers_may_not_name_what_belongs_to_others() {
        for bad in ["Authorization", "x-api-key", "Host", "Content-Length", "X-Headgate-Region", "te", "bad name", ""] {
            assert!(check_header(bad, "1").is_err(), "{bad}");
        }
        assert!(check_header("x-vendor", "1").is_ok());
        assert!(check_header("x-vendor", "1\r\nx-evil: 2").is_err());
    }
}
