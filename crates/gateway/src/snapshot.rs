//! The configuration as requests see it: immutable, with every secret resolved, swapped as a whole.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use headgate_domain::{
    Configuration, CredentialId, GroupId, KeyId, Name, Protocol, Revision, Settings, UpstreamId, UpstreamKind,
    group::{Budget, Queue},
    key::{KeyHash, KeySpec},
    settings::FETCH_PROXY_ACCOUNT,
    upstream::{Auth, BillingKind, ProfileSpec, Upstream, UpstreamSpec},
};
use headgate_routing::{Pool, PoolMember};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    alerts::Target,
    billing::{Access, Known, Standing},
    outbound::{Client, Clients},
};

/// One state of the configuration, ready to serve requests.
pub struct Snapshot {
    /// Its number.
    pub revision: Revision,
    /// Effective settings.
    pub settings: Settings,
    /// The setting `fetch_proxy` with its secret.
    pub fetch_proxy: Option<String>,
    /// The document it was made from.
    pub configuration: Arc<Configuration>,
    /// Access keys by hash.
    pub keys: HashMap<KeyHash, Arc<Key>>,
    /// Groups.
    pub groups: HashMap<GroupId, Arc<Group>>,
    /// Upstreams.
    pub upstreams: HashMap<UpstreamId, Arc<Endpoint>>,
    /// What billing knows of upstreams, as their pools take it.
    pub standings: HashMap<UpstreamId, Standing>,
    /// Alert targets, in their order.
    pub alerts: Vec<Arc<Target>>,
}

/// An access key.
pub struct Key {
    /// Identity.
    pub id: KeyId,
    /// Name.
    pub name: Name,
    /// What it may do.
    pub spec: KeySpec<GroupId>,
    /// Its group.
    pub group: Arc<Group>,
}

/// A group with its pool.
pub struct Group {
    /// Identity.
    pub id: GroupId,
    /// Name.
    pub name: Name,
    /// Its members.
    pub pool: Pool,
    /// What may be spent through it.
    pub budget: Option<Budget>,
    /// A translation with losses is refused.
    pub strict: bool,
    /// How many may wait for room, and how long.
    pub queue: Queue,
    /// The pools of its virtual models.
    pub aliases: HashMap<String, Pool>,
    /// The upstreams of the pool's members, in their order.
    pub endpoints: Vec<Arc<Endpoint>>,
}

impl Group {
    /// The endpoint of an upstream of this group.
    pub fn endpoint(&self, upstream: UpstreamId) -> Option<&Arc<Endpoint>> {
        self.endpoints.iter().find(|e| e.id == upstream)
    }
}

/// An upstream, ready to be called.
pub struct Endpoint {
    /// Identity.
    pub id: UpstreamId,
    /// Name.
    pub name: Name,
    /// What it speaks.
    pub kind: UpstreamKind,
    /// Base URL without a trailing slash.
    pub base: String,
    /// Whether the base ends in a version of its own, so that routes lose their `/v1`.
    pub versioned: bool,
    /// The host is this machine or a private network.
    pub is_near: bool,
    /// How the credential is sent.
    pub auth: Option<Auth>,
    /// Credentials by id; one that could not be resolved is absent.
    pub credentials: HashMap<CredentialId, HeaderValue>,
    /// How its vendor's dialect differs.
    pub profile: Option<ProfileSpec>,
    /// Headers of its own.
    pub headers: HeaderMap,
    /// Its billing is asked: what it reports is checked.
    pub is_audited: bool,
    /// What opens the account at its billing API.
    pub billing_access: Option<Access>,
    /// The header for the affinity key's value.
    pub session_header: Option<HeaderName>,
    /// The proxy as it may be shown; `None` is direct or the environment's.
    pub proxy: Option<String>,
    /// Limits in time.
    pub limits: TimeLimits,
    /// The HTTP client of this upstream and proxy.
    pub client: Client,
}

/// An upstream's limits in time, with the settings for what it does not say.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimits {
    /// DNS, TCP, TLS and proxy.
    pub connect: Duration,
    /// First work of a stream.
    pub first_response: Duration,
    /// Silence inside an answer.
    pub idle: Duration,
    /// A whole answer that is not streamed.
    pub non_stream: Duration,
}

impl Endpoint {
    /// The URL of a route such as `/v1/messages`, with the client's query if there is one.
    pub fn url(&self, route: &str, query: Option<&str>) -> String {
        let route = if self.versioned { route.strip_prefix("/v1").unwrap_or(route) } else { route };
        match query {
            Some(query) => format!("{}{route}?{query}", self.base),
            None => format!("{}{route}", self.base),
        }
    }

    /// How the credential is sent on a route of `protocol`.
    pub fn auth_for(&self, protocol: Protocol) -> Auth {
        self.auth.clone().unwrap_or(match (self.kind, protocol) {
            (UpstreamKind::Claude, _) | (UpstreamKind::Passthrough, Protocol::Claude) => Auth::XApiKey,
            _ => Auth::Bearer,
        })
    }
}

/// Whether a base URL ends in `v` and digits, which then stands for the route's own `/v1`.
fn is_versioned(base: &str) -> bool {
    base.rsplit('/')
        .next()
        .and_then(|s| s.strip_prefix('v'))
        .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

fn is_near(base: &str) -> bool {
    let Ok(url) = url::Url::parse(base) else { return false };
    match url.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Some(url::Host::Domain(name)) => headgate_domain::upstream::is_loopback_host(name),
        None => false,
    }
}

/// The secrets a snapshot is made with, by vault account or `env:NAME`; what is absent is missing.
pub type Resolved = HashMap<String, headgate_domain::Secret>;

/// The key of an environment variable in [`Resolved`].
pub fn env_account(name: &str) -> String {
    format!("env:{name}")
}

impl Snapshot {
    /// Makes a snapshot of a configuration.
    pub fn build(
        revision: Revision,
        configuration: Arc<Configuration>,
        secrets: &Resolved,
        clients: &Clients,
        known: &Known,
    ) -> Self {
        let settings = configuration.settings.effective();
        let upstreams: HashMap<UpstreamId, Arc<Endpoint>> = configuration
            .upstreams
            .iter()
            .map(|u| (u.id, Arc::new(endpoint(u, &settings, secrets, clients))))
            .collect();
        let alerts =
            configuration.alerts.iter().map(|a| Arc::new(Target::of(a, &settings, secrets, clients))).collect();
        let fetch_proxy = fetch_proxy(&settings, secrets);
        Self {
            revision,
            settings,
            fetch_proxy,
            configuration,
            keys: HashMap::new(),
            groups: HashMap::new(),
            upstreams,
            standings: HashMap::new(),
            alerts,
        }
        .with_standings(known)
    }

    /// The same configuration with what billing knows now; connections and everything else stay.
    #[must_use]
    pub fn with_billing(&self, known: &Known) -> Self {
        Self {
            revision: self.revision,
            settings: self.settings.clone(),
            fetch_proxy: self.fetch_proxy.clone(),
            configuration: Arc::clone(&self.configuration),
            keys: HashMap::new(),
            groups: HashMap::new(),
            upstreams: self.upstreams.clone(),
            standings: HashMap::new(),
            alerts: self.alerts.clone(),
        }
        .with_standings(known)
    }

    /// Makes the pools, and the keys that lead to them.
    fn with_standings(mut self, known: &Known) -> Self {
        self.standings = known.standings(&self);
        let configuration = &self.configuration;
        self.groups = configuration
            .groups
            .iter()
            .map(|g| (g.id, Arc::new(group(g, configuration, &self.upstreams, &self.standings))))
            .collect();
        let key = |k: &headgate_domain::AccessKey| {
            let group = Arc::clone(self.groups.get(&k.spec.group)?);
            Some((k.hash, Arc::new(Key { id: k.id, name: k.name.clone(), spec: k.spec.clone(), group })))
        };
        self.keys = configuration.keys.iter().filter_map(key).collect();
        self
    }
}

/// The proxy through which lists are fetched and targets called, with its secret.
pub fn fetch_proxy(settings: &Settings, secrets: &Resolved) -> Option<String> {
    let proxy = settings.fetch_proxy.as_ref()?;
    Some(match secrets.get(FETCH_PROXY_ACCOUNT) {
        Some(whole) if proxy.is_mask() => whole.expose().to_owned(),
        _ => proxy.expose().to_owned(),
    })
}

fn endpoint(u: &Upstream, settings: &Settings, secrets: &Resolved, clients: &Clients) -> Endpoint {
    let UpstreamSpec { base_url, timeouts, .. } = &u.spec;
    let base = base_url.trim_end_matches('/').to_owned();
    let credentials = u
        .credentials
        .iter()
        .filter_map(|c| {
            let account = match &c.source {
                headgate_domain::upstream::CredentialSource::Env(name) => env_account(name),
                headgate_domain::upstream::CredentialSource::Vault => c.account(),
            };
            let mut value = HeaderValue::from_str(secrets.get(&account)?.expose().trim()).ok()?;
            value.set_sensitive(true);
            Some((c.id, value))
        })
        .collect();
    let mut headers = HeaderMap::new();
    for name in u.spec.headers.keys() {
        let value = secrets.get(&u.header_account(name)).and_then(|s| HeaderValue::from_str(s.expose()).ok());
        if let (Ok(name), Some(mut value)) = (HeaderName::try_from(name), value) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    let limits = TimeLimits {
        connect: timeouts.connect.unwrap_or(settings.connect_timeout).0,
        first_response: timeouts.first_response.unwrap_or(settings.first_response_timeout).0,
        idle: timeouts.idle.unwrap_or(settings.stream_idle_timeout).0,
        non_stream: timeouts.non_stream.unwrap_or(settings.non_stream_timeout).0,
    };
    let proxy = u.spec.proxy.as_ref();
    let proxy_url = proxy.map(|p| match secrets.get(&u.proxy_account()) {
        Some(whole) if p.is_mask() => whole.expose().to_owned(),
        _ => p.expose().to_owned(),
    });
    Endpoint {
        id: u.id,
        name: u.name.clone(),
        kind: u.spec.protocol,
        versioned: is_versioned(&base),
        is_near: is_near(&base),
        auth: u.spec.auth.clone(),
        credentials,
        profile: u.spec.profile.clone(),
        headers,
        is_audited: u.spec.billing.kind != BillingKind::None,
        billing_access: billing_access(u, secrets),
        session_header: u.spec.session_header.as_ref().and_then(|h| HeaderName::try_from(h).ok()),
        proxy: proxy.map(|p| p.masked()).filter(|p| p != "direct"),
        limits,
        client: clients.get(u.id, &base, proxy_url, limits.connect),
        base,
    }
}

/// An upstream that is not saved.
pub struct Trial<'a> {
    /// Base URL, checked.
    pub base_url: &'a str,
    /// What it is taken to speak.
    pub kind: UpstreamKind,
    /// How the credential is sent.
    pub auth: Option<Auth>,
    /// The credential.
    pub credential: Option<HeaderValue>,
    /// Proxy, checked.
    pub proxy: Option<String>,
}

fn billing_access(u: &Upstream, secrets: &Resolved) -> Option<Access> {
    u.spec.billing.access_token.as_ref()?;
    let mut token = HeaderValue::from_str(secrets.get(&u.access_token_account())?.expose()).ok()?;
    token.set_sensitive(true);
    Some(Access { token, user: u.spec.billing.user_id? })
}

impl Trial<'_> {
    /// Makes it ready to be called.
    pub fn endpoint(self, clients: &Clients) -> Endpoint {
        let base = self.base_url.trim_end_matches('/').to_owned();
        let limit = Duration::from_secs(10);
        let id = UpstreamId(0);
        let credential = self.credential.map(|mut value| {
            value.set_sensitive(true);
            (CredentialId(0), value)
        });
        Endpoint {
            id,
            name: Name::ours(),
            kind: self.kind,
            versioned: is_versioned(&base),
            is_near: is_near(&base),
            auth: self.auth,
            credentials: credential.into_iter().collect(),
            profile: None,
            headers: HeaderMap::new(),
            is_audited: false,
            billing_access: None,
            session_header: None,
            proxy: None,
            limits: TimeLimits { connect: limit, first_response: limit * 2, idle: limit * 2, non_stream: limit * 2 },
            client: clients.get(id, &base, self.proxy, limit),
            base,
        }
    }
}

fn group(
    g: &headgate_domain::Group,
    configuration: &Configuration,
    upstreams: &HashMap<UpstreamId, Arc<Endpoint>>,
    standings: &HashMap<UpstreamId, Standing>,
) -> Group {
    let (mut members, mut endpoints) = (Vec::new(), Vec::new());
    for m in &g.spec.members {
        let (Some(u), Some(endpoint)) = (configuration.upstream(m.upstream), upstreams.get(&m.upstream)) else {
            continue;
        };
        let Standing { multiplier, exhausted } = standings.get(&u.id).copied().unwrap_or_default();
        let missing = |credential| !endpoint.credentials.contains_key(&credential);
        members.push(PoolMember { multiplier, exhausted, ..PoolMember::of(m, u, missing) });
        endpoints.push(Arc::clone(endpoint));
    }
    let pool = Pool::of(g, members);
    let aliases = g.spec.aliases.iter().map(|(name, alias)| (name.clone(), pool.of_alias(alias))).collect();
    Group {
        id: g.id,
        name: g.name.clone(),
        pool,
        budget: g.spec.budget.clone(),
        strict: g.spec.strict,
        queue: g.spec.queue,
        aliases,
        endpoints,
    }
}

impl Group {
    /// The pool that serves a model: that of an alias, or the group's own.
    pub fn pool_for(&self, model: &str) -> &Pool {
        self.aliases.get(model).unwrap_or(&self.pool)
    }

    /// Model names that need no question to an upstream: aliases, literal `allow` entries and exact `map` keys of
    /// members that are switched on and in `allowed`.
    pub fn literal_models(&self, allowed: impl Fn(&PoolMember) -> bool) -> BTreeSet<String> {
        let members = self.pool.members.iter().filter(|m| m.upstream_enabled && m.member_enabled && allowed(m));
        let literal = members.flat_map(|m| m.models.literal_names()).map(str::to_owned);
        self.aliases.keys().cloned().chain(literal).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_segment_of_v_and_digits_stands_for_the_routes_own() {
        for (base, expected) in [
            ("https://a/v1", true),
            ("https://a/api/v4", true),
            ("https://a", false),
            ("https://a/v1beta", false),
            ("https://v1", true),
        ] {
            // A host called v1 alone is not a version, but no such host is an API either.
            assert_eq!(is_versioned(base), expected, "{base}");
        }
    }
}
