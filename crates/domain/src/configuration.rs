//! The whole configuration as one document: what a revision stores.

use std::collections::HashSet;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    alert::{Alert, AlertEvent},
    file::Problem,
    group::{Budget, Group, OnSaturation, Strategy},
    id::{GroupId, KeyId, Revision, UpstreamId},
    key::AccessKey,
    monitor::Monitor,
    name::Name,
    protocol::Protocol,
    settings::SettingsPatch,
    span::Span,
    upstream::{self, Limits, Upstream, is_default},
};

/// Every object of one revision. It holds no secret: those are in the vault, under the ids that stand here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Configuration {
    /// Settings that were set.
    pub settings: SettingsPatch,
    /// The revision that last changed the settings.
    #[serde(default)]
    pub settings_revision: Revision,
    /// Upstreams.
    pub upstreams: Vec<Upstream>,
    /// Groups.
    pub groups: Vec<Group>,
    /// Access keys.
    pub keys: Vec<AccessKey>,
    /// Monitors.
    pub monitors: Vec<Monitor>,
    /// Alert targets.
    pub alerts: Vec<Alert>,
}

impl Configuration {
    /// The upstream of this id.
    pub fn upstream(&self, id: UpstreamId) -> Option<&Upstream> {
        self.upstreams.iter().find(|u| u.id == id)
    }

    /// The upstream of this name, without regard to case.
    pub fn upstream_named(&self, name: &Name) -> Option<&Upstream> {
        let fold = name.fold();
        self.upstreams.iter().find(|u| u.name.fold() == fold)
    }

    /// The group of this id.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.iter().find(|g| g.id == id)
    }

    /// The group of this name, without regard to case.
    pub fn group_named(&self, name: &Name) -> Option<&Group> {
        let fold = name.fold();
        self.groups.iter().find(|g| g.name.fold() == fold)
    }

    /// The key of this id.
    pub fn key(&self, id: KeyId) -> Option<&AccessKey> {
        self.keys.iter().find(|k| k.id == id)
    }

    /// The key of this name, without regard to case.
    pub fn key_named(&self, name: &Name) -> Option<&AccessKey> {
        let fold = name.fold();
        self.keys.iter().find(|k| k.name.fold() == fold)
    }
}

/// Checks every rule that a single object's form cannot express. All problems are collected.
pub fn validate(configuration: &Configuration) -> Vec<Problem> {
    let mut check = Check::default();
    for (name, message) in configuration.settings.effective().problems() {
        check.problem(format!("settings.{name}"), message);
    }
    for u in &configuration.upstreams {
        check.upstream(u);
    }
    for g in &configuration.groups {
        check.group(configuration, g);
    }
    for k in &configuration.keys {
        check.key(configuration, k);
    }
    for m in &configuration.monitors {
        check.monitor(configuration, m);
    }
    for (at, alert) in configuration.alerts.iter().enumerate() {
        check.alert(at, alert);
    }
    check.problems
}

#[derive(Default)]
struct Check {
    problems: Vec<Problem>,
    names: HashSet<(&'static str, String)>,
    hashes: HashSet<crate::key::KeyHash>,
}

impl Check {
    fn problem(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    fn unique(&mut self, section: &'static str, name: &Name) {
        if !self.names.insert((section, name.fold())) {
            self.problem(format!("{section}[{name}].name"), "is used twice; names are unique without regard to case");
        }
    }

    fn words(&mut self, path: &str, words: &[String]) {
        if words.iter().any(|w| w.trim().is_empty() || w.len() > 256 || w.chars().any(char::is_control)) {
            self.problem(path, "has an entry that is empty, longer than 256 bytes or has control characters");
        }
    }

    fn limits(&mut self, path: &str, limits: &Limits) {
        let zero = limits.concurrency == Some(0) || limits.rpm == Some(0) || limits.tpm == Some(0);
        if zero {
            self.problem(
                format!("{path}.limits"),
                "a limit is at least 1; leave it out for none, or switch off with enabled: false",
            );
        }
    }

    fn budget(&mut self, path: &str, budget: Option<&Budget>) {
        let negative = |d: &Option<Decimal>| d.is_some_and(|d| d.is_sign_negative() && !d.is_zero());
        if budget.is_some_and(|b| negative(&b.day) || negative(&b.month) || negative(&b.total)) {
            self.problem(format!("{path}.budget"), "a budget is not negative");
        }
        let is_code = |c: &str| (2..=8).contains(&c.len()) && c.bytes().all(|b| b.is_ascii_alphanumeric());
        if budget.and_then(|b| b.currency.as_deref()).is_some_and(|c| !is_code(c)) {
            self.problem(format!("{path}.budget.currency"), "is not a currency code such as USD or CNY");
        }
    }

    fn upstream(&mut self, u: &Upstream) {
        self.unique("upstreams", &u.name);
        let path = format!("upstreams[{}]", u.name);
        let spec = &u.spec;
        if let Err(why) = upstream::check_base_url(&spec.base_url, spec.allow_plain_http) {
            self.problem(format!("{path}.base_url"), why);
        }
        if let Some(proxy) = &spec.proxy
            && let Err(why) = upstream::check_proxy(proxy.expose())
        {
            self.problem(format!("{path}.proxy"), why);
        }
        for header in spec.headers.keys() {
            if let Err(why) = upstream::check_header(header, "") {
                self.problem(format!("{path}.headers"), why);
            }
        }
        let auth_header = match &spec.auth {
            Some(upstream::Auth::Header(name)) => Some(("auth", name)),
            _ => None,
        };
        for (field, header) in
            auth_header.into_iter().chain(spec.session_header.as_ref().map(|h| ("session_header", h)))
        {
            let own = field == "auth"
                && ["authorization", "x-api-key", "x-goog-api-key"].iter().any(|n| header.eq_ignore_ascii_case(n));
            if !own && let Err(why) = upstream::check_header(header, "") {
                self.problem(format!("{path}.{field}"), why);
            }
        }
        for (field, span) in [
            ("connect", spec.timeouts.connect),
            ("first_response", spec.timeouts.first_response),
            ("idle", spec.timeouts.idle),
            ("non_stream", spec.timeouts.non_stream),
        ] {
            if let Some(span) = span
                && (span < Span::millis(100) || span > Span::secs(3600))
            {
                self.problem(format!("{path}.timeouts.{field}"), format!("{span} is not between 100ms and 1h"));
            }
        }
        self.limits(&path, &spec.limits);
        self.words(&format!("{path}.models"), &spec.models.allow);
        self.words(&format!("{path}.tags"), &spec.tags.labels);
        for (from, to) in &spec.models.map {
            if from.is_empty() || to.is_empty() || to.matches('*').count() > from.matches('*').count() {
                self.problem(
                    format!("{path}.models.map"),
                    format!("'{from}: {to}': neither side is empty, and the target has no more '*' than the pattern"),
                );
            }
        }
        if spec.max_context == Some(0) {
            self.problem(format!("{path}.max_context"), "is 0; leave it out for no limit");
        }
        if spec.billing.credit_ratio.is_some_and(|r| r <= Decimal::ZERO) {
            self.problem(format!("{path}.billing.credit_ratio"), "is not greater than 0");
        }
    }

    fn group(&mut self, configuration: &Configuration, g: &Group) {
        self.unique("groups", &g.name);
        let path = format!("groups[{}]", g.name);
        let mut seen = HashSet::new();
        for m in &g.spec.members {
            let name =
                configuration.upstream(m.upstream).map_or_else(|| m.upstream.to_string(), |u| u.name.to_string());
            let at = format!("{path}.members[{name}]");
            if configuration.upstream(m.upstream).is_none() {
                self.problem(at.clone(), "the upstream is not configured");
            }
            if !seen.insert(m.upstream) {
                self.problem(at.clone(), "is listed twice in this group");
            }
            if m.weight == 0 {
                self.problem(format!("{at}.weight"), "is 0; a weight is at least 1, enabled: false takes a member out");
            }
            if m.min_input.zip(m.max_input).is_some_and(|(low, high)| low > high) {
                self.problem(at, "min_input is larger than max_input");
            }
        }
        for (alias, target) in &g.spec.aliases {
            let at = format!("{path}.aliases.{alias}");
            if target.candidates.is_empty() {
                self.problem(at.clone(), "has no candidates");
            }
            for t in target.candidates.iter().chain(&target.fallback) {
                if !seen.contains(&t.upstream) {
                    self.problem(at.clone(), "names an upstream that is not a member of the group");
                }
                if t.weight == 0 || t.model.is_empty() {
                    self.problem(at.clone(), "has a target without a model or with weight 0");
                }
            }
        }
        if g.spec.max_multiplier.is_some_and(|m| m <= Decimal::ZERO) {
            self.problem(format!("{path}.max_multiplier"), "is not greater than 0");
        }
        if let Some(regions) = &g.spec.regions {
            self.words(&format!("{path}.regions"), regions);
        }
        self.budget(&path, g.spec.budget.as_ref());
    }

    fn key(&mut self, configuration: &Configuration, k: &AccessKey) {
        self.unique("keys", &k.name);
        let path = format!("keys[{}]", k.name);
        if configuration.group(k.spec.group).is_none() {
            self.problem(format!("{path}.group"), "the group is not configured");
        }
        if !self.hashes.insert(k.hash) {
            self.problem(format!("{path}.secret"), "is the same as another key's");
        }
        for (field, words) in [("models", &k.spec.models), ("regions", &k.spec.regions), ("labels", &k.spec.labels)] {
            if let Some(words) = words {
                self.words(&format!("{path}.{field}"), words);
            }
        }
        self.limits(&path, &k.spec.limits);
        self.budget(&path, k.spec.budget.as_ref());
    }

    fn monitor(&mut self, configuration: &Configuration, m: &Monitor) {
        let name =
            configuration.upstream(m.spec.upstream).map_or_else(|| m.spec.upstream.to_string(), |u| u.name.to_string());
        let path = format!("monitors[{name} {}]", m.spec.model);
        if !self.names.insert(("monitors", format!("{} {}", m.spec.upstream, m.spec.model))) {
            self.problem(path.clone(), "is listed twice");
        }
        if configuration.upstream(m.spec.upstream).is_none() {
            self.problem(path.clone(), "the upstream is not configured");
        }
        if m.spec.model.is_empty() {
            self.problem(path.clone(), "has no model");
        }
        if m.spec.endpoint != "auto" && !Protocol::ALL.iter().any(|p| p.route() == m.spec.endpoint) {
            let routes = Protocol::ALL.map(Protocol::route).join(", ");
            self.problem(format!("{path}.endpoint"), format!("is none of auto, {routes}"));
        }
        if m.spec.message.trim().is_empty() {
            self.problem(format!("{path}.message"), "is empty");
        }
        if m.spec.max_tokens == 0 {
            self.problem(format!("{path}.max_tokens"), "is 0");
        }
        if m.spec.interval < Span::secs(5) {
            self.problem(format!("{path}.interval"), "is shorter than 5s");
        }
    }

    /// The address itself is checked before it goes into the vault: here there is only the mask.
    fn alert(&mut self, at: usize, alert: &Alert) {
        if alert.spec.events.as_ref().is_some_and(Vec::is_empty) {
            self.problem(
                format!("alerts[{at}].events"),
                "is empty; switch it off with enabled: false, or leave it out for everything",
            );
        }
        if alert.spec.events.iter().flatten().any(|event| *event == AlertEvent::Test) {
            self.problem(format!("alerts[{at}].events"), "lists test, which is sent by hand alone");
        }
        if alert.spec.debounce.is_some_and(|quiet| quiet > Span::secs(86_400)) {
            self.problem(format!("alerts[{at}].debounce"), "is longer than a day");
        }
    }
}

/// Keys that are set but have no effect beside the others: one sentence each, with the path.
pub fn without_effect(configuration: &Configuration) -> Vec<Problem> {
    let mut notes = Vec::new();
    for g in &configuration.groups {
        let spec = &g.spec;
        let mut note = |set: bool, field: &str, unless: &str| {
            if set {
                let path = format!("groups[{}].{field}", g.name);
                notes.push(Problem::new(path, format!("is set, but has no effect unless {unless}")));
            }
        };
        let is = |strategy| spec.strategy == strategy;
        note(!is_default(&spec.balance) && !is(Strategy::Balanced), "balance", "strategy is balanced");
        note(spec.across_tiers && !is(Strategy::Cheapest), "across_tiers", "strategy is cheapest");
        note(spec.wait.is_some() && spec.on_saturation != OnSaturation::Wait, "wait", "on_saturation is wait");
        let caps_nothing = !is_default(&spec.unknown_multiplier) && spec.max_multiplier.is_none();
        note(caps_nothing, "unknown_multiplier", "max_multiplier is set");
    }
    notes
}
