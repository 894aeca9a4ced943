//! What applying a file would change: pure, so that `--dry-run`, `apply` and the tests see the same thing.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    alert::{Alert, AlertSpec, check_webhook_url},
    configuration::Configuration,
    diff::{Action, Change, FieldChange, diff},
    file::{self, ConfigFile, CredentialEntry, Problem, UpstreamEntry},
    group::Group,
    id::{AlertId, CredentialId, GroupId, KeyId, MonitorId, Revision, UpstreamId},
    key::{self, AccessKey, KeyHash},
    masked::{MASK, Masked, MaskedUrl},
    monitor::Monitor,
    name::Name,
    secret::Secret,
    settings::FETCH_PROXY_ACCOUNT,
    upstream::{Credential, CredentialSource, Upstream},
};

/// How a file is applied.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Also remove what the file does not list.
    pub prune: bool,
    /// Make a listed name anew although its object was renamed since the last apply.
    pub allow_recreate: bool,
}

/// What planning needs from outside.
pub struct Inputs<'a> {
    /// Ids that nothing uses yet; at least [`ids_needed`] of them.
    pub ids: &'a mut dyn FnMut() -> i64,
    /// The vault's present text of the accounts named by [`accounts_needed`].
    pub stored: &'a HashMap<String, Secret>,
    /// HMAC of an access key.
    pub hash_key: &'a dyn Fn(&Secret) -> KeyHash,
    /// A new random access key.
    pub generate_key: &'a mut dyn FnMut() -> Secret,
}

/// What applying a file would do.
pub struct Plan {
    /// The configuration afterwards.
    pub next: Configuration,
    /// The difference.
    pub changes: Vec<Change>,
    /// Texts to put into the vault before the revision is stored: account and secret.
    pub secrets: Vec<(String, Secret)>,
    /// Keys that were made: name and secret, to be told once.
    pub new_keys: Vec<(Name, Secret)>,
}

/// An upper bound of the ids a file can need.
pub fn ids_needed(file: &ConfigFile) -> usize {
    let credentials: usize = file.upstreams.iter().map(|u| u.credentials.as_ref().map_or(0, Vec::len)).sum();
    file.upstreams.len()
        + credentials
        + file.groups.len()
        + file.keys.len()
        + file.monitors.len()
        + file.alerts.as_ref().map_or(0, Vec::len)
}

/// The vault accounts whose text is needed to see whether a value in the file is a new one.
pub fn accounts_needed(current: &Configuration, file: &ConfigFile) -> Vec<String> {
    let mut accounts = Vec::new();
    for entry in &file.upstreams {
        let Some(known) = current.upstream_named(&entry.name) else { continue };
        if entry.credentials.iter().flatten().any(|c| matches!(c, CredentialEntry::Value(_))) {
            let vault = known.credentials.iter().filter(|c| c.source == CredentialSource::Vault);
            accounts.extend(vault.map(Credential::account));
        }
        accounts.extend(entry.spec.headers.iter().filter(|(_, v)| !v.is_mask()).map(|(h, _)| known.header_account(h)));
        if entry.spec.proxy.as_ref().and_then(MaskedUrl::secret).is_some() {
            accounts.push(known.proxy_account());
        }
        if entry.spec.billing.access_token.as_ref().is_some_and(|token| !token.is_mask()) {
            accounts.push(known.access_token_account());
        }
    }
    for (at, entry) in file.alerts.iter().flatten().enumerate() {
        if let Some(known) = current.alerts.get(at) {
            accounts.extend((!entry.url.is_mask()).then(|| known.account("url")));
            accounts.extend(entry.secret.as_ref().filter(|s| !s.is_mask()).map(|_| known.account("secret")));
        }
    }
    if file.settings.sealed_fetch_proxy().is_some() {
        accounts.push(FETCH_PROXY_ACCOUNT.to_owned());
    }
    accounts
}

struct Planner<'a, 'i> {
    current: &'a Configuration,
    inputs: Inputs<'i>,
    options: Options,
    revision: Revision,
    problems: Vec<Problem>,
    secrets: Vec<(String, Secret)>,
    new_keys: Vec<(Name, Secret)>,
    /// Objects whose secret changed although nothing visible did.
    touched: Vec<(&'static str, String, String)>,
}

/// Plans the application of a file to the current configuration. All problems are collected; none means all is legal.
///
/// `revision` is the number the new revision would get; objects that change carry it afterwards.
pub fn plan(
    current: &Configuration,
    file: ConfigFile,
    options: Options,
    inputs: Inputs<'_>,
    revision: Revision,
) -> Result<Plan, Vec<Problem>> {
    let mut planner = Planner {
        current,
        inputs,
        options,
        revision,
        problems: Vec::new(),
        secrets: Vec::new(),
        new_keys: Vec::new(),
        touched: Vec::new(),
    };
    planner.duplicates(&file);
    let mut next = Configuration::default();
    planner.settings(&file, &mut next);
    planner.upstreams(file.upstreams, &mut next);
    planner.groups(file.groups, &mut next);
    planner.keys(file.keys, &mut next);
    planner.monitors(file.monitors, &mut next);
    planner.alerts(file.alerts, &mut next);
    planner.problems.extend(crate::configuration::validate(&next));
    if !planner.problems.is_empty() {
        return Err(planner.problems);
    }
    let mut changes = diff(current, &next);
    for (section, name, path) in planner.touched {
        let field = FieldChange { path, before: Some(MASK.into()), after: Some(MASK.into()) };
        match changes.iter_mut().find(|c| c.section == section && c.name == name) {
            Some(change) => change.fields.push(field),
            None => {
                changes.push(Change { section: section.to_owned(), name, action: Action::Update, fields: vec![field] });
            }
        }
    }
    Ok(Plan { next, changes, secrets: planner.secrets, new_keys: planner.new_keys })
}

/// Whether a listed name may be made anew: not if its object lives on under another name.
fn renamed<'n>(objects: impl Iterator<Item = (&'n Option<Name>, &'n Name)>, listed: &Name) -> Option<&'n Name> {
    objects
        .filter(|(applied, now)| {
            applied.as_ref().is_some_and(|a| a.fold() == listed.fold()) && now.fold() != listed.fold()
        })
        .map(|(_, now)| now)
        .next()
}

impl Planner<'_, '_> {
    fn problem(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    fn duplicates(&mut self, file: &ConfigFile) {
        let sections: [(&str, Vec<&Name>); 3] = [
            ("upstreams", file.upstreams.iter().map(|u| &u.name).collect()),
            ("groups", file.groups.iter().map(|g| &g.name).collect()),
            ("keys", file.keys.iter().map(|k| &k.name).collect()),
        ];
        for (section, names) in sections {
            let mut seen = HashSet::new();
            for name in names {
                if !seen.insert(name.fold()) {
                    self.problem(
                        format!("{section}[{name}]"),
                        "is listed twice; names are unique without regard to case",
                    );
                }
            }
        }
    }

    fn refuse_renamed(&mut self, section: &str, listed: &Name, now: Option<Name>) {
        if let Some(now) = now
            && !self.options.allow_recreate
        {
            self.problem(
                format!("{section}[{listed}]"),
                format!("was renamed to '{now}' since the last apply; list it under that name, or make a new one with --allow-recreate"),
            );
        }
    }

    /// Keeps, replaces or refuses one masked text; afterwards only the mask is left in `text`.
    fn seal(&mut self, text: &mut Masked, account: String, had: bool, section: &'static str, name: &str, path: &str) {
        if text.is_mask() {
            if !had {
                self.problem(
                    format!("{section}[{name}].{path}"),
                    "is '***', but nothing is stored to keep; write the value",
                );
            }
            return;
        }
        let value = Secret::new(text.expose());
        if self.inputs.stored.get(&account) != Some(&value) {
            if had {
                self.touched.push((section, name.to_owned(), path.to_owned()));
            }
            self.secrets.push((account, value));
        }
        text.reveal(MASK);
    }

    fn seal_url(
        &mut self,
        url: &mut MaskedUrl,
        account: String,
        had: Option<&MaskedUrl>,
        section: &'static str,
        name: &str,
        path: &str,
    ) {
        if url.is_mask() {
            if !had.is_some_and(MaskedUrl::is_mask) {
                self.problem(
                    format!("{section}[{name}].{path}"),
                    "has '***', but nothing is stored to keep; write the user and password",
                );
            }
            return;
        }
        let Some(value) = url.secret() else { return };
        if self.inputs.stored.get(&account) != Some(&value) {
            if had.is_some_and(|h| h.masked() == url.masked()) {
                self.touched.push((section, name.to_owned(), path.to_owned()));
            }
            self.secrets.push((account, value));
        }
        let masked = url.masked();
        url.reveal(&masked);
    }

    fn settings(&mut self, file: &ConfigFile, next: &mut Configuration) {
        next.settings = if self.options.prune { Default::default() } else { self.current.settings.clone() };
        if self.options.prune {
            // The machine's zone was written at the first start; only a file that names another one changes it.
            next.settings.time_zone.clone_from(&self.current.settings.time_zone);
        }
        let mut listed = file.settings.clone();
        let had = self.current.settings.fetch_proxy.clone().flatten();
        if let Some(Some(proxy)) = &mut listed.fetch_proxy {
            self.seal_url(proxy, FETCH_PROXY_ACCOUNT.to_owned(), had.as_ref(), "settings", "", "fetch_proxy");
        }
        next.settings.merge(&listed);
        next.settings_revision = if next.settings == self.current.settings && self.touched.is_empty() {
            self.current.settings_revision
        } else {
            self.revision
        };
    }

    fn credentials(
        &mut self,
        entry: &UpstreamEntry,
        known: Option<&Upstream>,
        next_number: &mut u32,
    ) -> Vec<Credential> {
        let stored: &[Credential] = known.map_or(&[], |u| &u.credentials);
        let Some(listed) = &entry.credentials else { return stored.to_vec() };
        let mut result: Vec<Credential> = Vec::with_capacity(listed.len());
        for (at, spelled) in listed.iter().enumerate() {
            let path = format!("upstreams[{}].credentials[{at}]", entry.name);
            let mut new = |source, hint| {
                let number = *next_number;
                *next_number += 1;
                Credential { id: CredentialId((self.inputs.ids)()), number, source, hint }
            };
            let credential = match spelled {
                CredentialEntry::Env(name) if name.is_empty() || name.contains(['=', '\0']) => {
                    self.problem(path, "is not the name of an environment variable");
                    continue;
                }
                CredentialEntry::Env(name) => {
                    let source = CredentialSource::Env(name.clone());
                    stored.iter().find(|c| c.source == source).cloned().unwrap_or_else(|| new(source, None))
                }
                CredentialEntry::Value(secret) if secret.expose().trim().is_empty() => {
                    self.problem(path, "is empty");
                    continue;
                }
                CredentialEntry::Value(secret) if secret.expose().bytes().any(|b| b < 0x20 || b == 0x7f) => {
                    self.problem(path, "has a control character, which no header can carry");
                    continue;
                }
                CredentialEntry::Value(secret) => {
                    let same = stored.iter().find(|c| {
                        c.source == CredentialSource::Vault && self.inputs.stored.get(&c.account()) == Some(secret)
                    });
                    match same {
                        Some(credential) => credential.clone(),
                        None => {
                            let text = secret.expose();
                            let tail: String = text.chars().rev().take(4).collect();
                            let hint = (text.chars().count() >= 16).then(|| tail.chars().rev().collect());
                            let credential = new(CredentialSource::Vault, hint);
                            self.secrets.push((credential.account(), secret.clone()));
                            credential
                        }
                    }
                }
                CredentialEntry::Vault(name) => {
                    let number = name.rsplit_once('/').and_then(|(_, n)| n.parse::<u32>().ok());
                    match stored.iter().find(|c| c.source == CredentialSource::Vault && Some(c.number) == number) {
                        Some(credential) => credential.clone(),
                        None => {
                            self.problem(
                                path,
                                format!("no credential '{name}' is stored; write {{ value: … }} or {{ env: NAME }}"),
                            );
                            continue;
                        }
                    }
                }
            };
            if result.iter().any(|c| c.id == credential.id) {
                self.problem(path, "is the same credential as an earlier one");
            } else {
                result.push(credential);
            }
        }
        result
    }

    fn upstreams(&mut self, entries: Vec<UpstreamEntry>, next: &mut Configuration) {
        let mut listed = HashSet::new();
        let mut made = Vec::new();
        for mut entry in entries {
            listed.insert(entry.name.fold());
            let known = self.current.upstream_named(&entry.name);
            if known.is_none() {
                let now =
                    renamed(self.current.upstreams.iter().map(|u| (&u.applied_name, &u.name)), &entry.name).cloned();
                self.refuse_renamed("upstreams", &entry.name, now);
            }
            let mut next_number = known.map_or(1, |u| u.next_credential);
            let credentials = self.credentials(&entry, known, &mut next_number);
            let mut upstream = Upstream {
                id: known.map_or_else(|| UpstreamId((self.inputs.ids)()), |u| u.id),
                name: entry.name.clone(),
                revision: self.revision,
                applied_name: Some(entry.name.clone()),
                credentials,
                next_credential: next_number,
                spec: entry.spec.clone(),
            };
            let before = self.touched.len();
            let name = entry.name.to_string();
            for (header, value) in &mut entry.spec.headers {
                if let Err(why) = crate::upstream::check_header(header, value.expose()) {
                    self.problem(format!("upstreams[{name}].headers"), why);
                }
                let had = known.is_some_and(|u| u.spec.headers.keys().any(|h| h.eq_ignore_ascii_case(header)));
                let account = upstream.header_account(header);
                self.seal(value, account, had, "upstreams", &name, &format!("headers.{header}"));
            }
            if let Some(proxy) = &mut entry.spec.proxy {
                if let Err(why) = crate::upstream::check_proxy(proxy.expose()) {
                    self.problem(format!("upstreams[{name}].proxy"), why);
                }
                let account = upstream.proxy_account();
                self.seal_url(proxy, account, known.and_then(|u| u.spec.proxy.as_ref()), "upstreams", &name, "proxy");
            }
            if let Some(token) = &mut entry.spec.billing.access_token {
                if token.expose().is_empty() || !token.expose().bytes().all(|b| b.is_ascii_graphic()) {
                    let path = format!("upstreams[{name}].billing.access_token");
                    self.problem(path, "is empty, or has characters that no header can carry");
                }
                let had = known.is_some_and(|u| u.spec.billing.access_token.is_some());
                let account = upstream.access_token_account();
                self.seal(token, account, had, "upstreams", &name, "billing.access_token");
            }
            upstream.spec = entry.spec;
            if let Some(known) = known
                && self.touched.len() == before
                && (known.name == upstream.name
                    && known.spec == upstream.spec
                    && known.credentials == upstream.credentials)
            {
                upstream.revision = known.revision;
            }
            made.push(upstream);
        }
        // What was there keeps its place, so that a list does not jump.
        for known in &self.current.upstreams {
            match made.iter().position(|u| u.id == known.id) {
                Some(at) => next.upstreams.push(made.remove(at)),
                None if self.options.prune => {}
                None => next.upstreams.push(known.clone()),
            }
        }
        next.upstreams.append(&mut made);
    }

    fn groups(&mut self, entries: Vec<file::GroupEntry>, next: &mut Configuration) {
        let by_name: BTreeMap<String, UpstreamId> = next.upstreams.iter().map(|u| (u.name.fold(), u.id)).collect();
        let mut made = Vec::new();
        for entry in entries {
            let known = self.current.group_named(&entry.name);
            if known.is_none() {
                let now = renamed(self.current.groups.iter().map(|g| (&g.applied_name, &g.name)), &entry.name).cloned();
                self.refuse_renamed("groups", &entry.name, now);
            }
            let spec = entry.spec.try_map(|name| by_name.get(&name.fold()).copied().ok_or(name));
            let spec = match spec {
                Ok(spec) => spec,
                Err(missing) => {
                    self.problem(
                        format!("groups[{}]", entry.name),
                        format!("names the upstream '{missing}', which is not configured"),
                    );
                    continue;
                }
            };
            let mut group = Group {
                id: known.map_or_else(|| GroupId((self.inputs.ids)()), |g| g.id),
                name: entry.name.clone(),
                revision: self.revision,
                applied_name: Some(entry.name),
                spec,
            };
            if let Some(known) = known
                && known.name == group.name
                && known.spec == group.spec
            {
                group.revision = known.revision;
            }
            made.push(group);
        }
        for known in &self.current.groups {
            match made.iter().position(|g| g.id == known.id) {
                Some(at) => next.groups.push(made.remove(at)),
                None if self.options.prune => {}
                None => next.groups.push(known.clone()),
            }
        }
        next.groups.append(&mut made);
        if self.options.prune {
            let alive: HashSet<UpstreamId> = next.upstreams.iter().map(|u| u.id).collect();
            for group in &mut next.groups {
                group.spec.members.retain(|m| alive.contains(&m.upstream));
            }
        }
    }

    fn keys(&mut self, entries: Vec<file::KeyEntry>, next: &mut Configuration) {
        let mut made = Vec::new();
        for entry in entries {
            let path = format!("keys[{}]", entry.name);
            let known = self.current.key_named(&entry.name);
            if known.is_none() {
                let now = renamed(self.current.keys.iter().map(|k| (&k.applied_name, &k.name)), &entry.name).cloned();
                self.refuse_renamed("keys", &entry.name, now);
            }
            let Some(group) = next.group_named(&entry.spec.group).map(|g| g.id) else {
                self.problem(format!("{path}.group"), format!("the group '{}' is not configured", entry.spec.group));
                continue;
            };
            let (hash, prefix) = match (&entry.secret, known) {
                (Some(secret), _) => {
                    if let Err(why) = key::check_secret(secret.expose()) {
                        self.problem(format!("{path}.secret"), why);
                    }
                    ((self.inputs.hash_key)(secret), key::display_prefix(secret.expose()))
                }
                (None, Some(known)) => (known.hash, known.prefix.clone()),
                (None, None) => {
                    let secret = (self.inputs.generate_key)();
                    let made = ((self.inputs.hash_key)(&secret), key::display_prefix(secret.expose()));
                    self.new_keys.push((entry.name.clone(), secret));
                    made
                }
            };
            let mut access = AccessKey {
                id: known.map_or_else(|| KeyId((self.inputs.ids)()), |k| k.id),
                name: entry.name.clone(),
                revision: self.revision,
                applied_name: Some(entry.name),
                hash,
                prefix,
                spec: entry.spec.with_group(group),
            };
            if let Some(known) = known {
                if known.hash != access.hash {
                    self.touched.push(("keys", access.name.to_string(), "secret".to_owned()));
                } else if known.name == access.name && known.spec == access.spec {
                    access.revision = known.revision;
                }
            }
            made.push(access);
        }
        for known in &self.current.keys {
            match made.iter().position(|k| k.id == known.id) {
                Some(at) => next.keys.push(made.remove(at)),
                None if self.options.prune => {}
                None => next.keys.push(known.clone()),
            }
        }
        next.keys.append(&mut made);
    }

    fn monitors(&mut self, entries: Vec<crate::monitor::MonitorSpec<Name>>, next: &mut Configuration) {
        let mut made = Vec::new();
        for entry in entries {
            let Some(upstream) = next.upstream_named(&entry.upstream).map(|u| u.id) else {
                let path = format!("monitors[{} {}].upstream", entry.upstream, entry.model);
                self.problem(path, format!("the upstream '{}' is not configured", entry.upstream));
                continue;
            };
            let spec = entry.with_upstream(upstream);
            let known =
                self.current.monitors.iter().find(|m| m.spec.upstream == upstream && m.spec.model == spec.model);
            let revision = known.filter(|m| m.spec == spec).map_or(self.revision, |m| m.revision);
            made.push(Monitor { id: known.map_or_else(|| MonitorId((self.inputs.ids)()), |m| m.id), revision, spec });
        }
        for known in &self.current.monitors {
            match made.iter().position(|m| m.id == known.id) {
                Some(at) => next.monitors.push(made.remove(at)),
                None if self.options.prune => {}
                None => next.monitors.push(known.clone()),
            }
        }
        next.monitors.append(&mut made);
    }

    fn alerts(&mut self, entries: Option<Vec<AlertSpec>>, next: &mut Configuration) {
        let Some(entries) = entries else {
            if !self.options.prune {
                next.alerts.clone_from(&self.current.alerts);
            }
            return;
        };
        for (at, mut spec) in entries.into_iter().enumerate() {
            let known = self.current.alerts.get(at);
            let mut alert = Alert {
                id: known.map_or_else(|| AlertId((self.inputs.ids)()), |a| a.id),
                revision: self.revision,
                spec: spec.clone(),
            };
            let before = self.touched.len();
            let name = at.to_string();
            if !spec.url.is_mask()
                && let Err(why) = check_webhook_url(spec.url.expose())
            {
                self.problem(format!("alerts[{at}].url"), why);
            }
            if spec.secret.as_ref().is_some_and(|secret| secret.expose().is_empty()) {
                self.problem(format!("alerts[{at}].secret"), "is empty; leave it out to send without a signature");
            }
            self.seal(&mut spec.url, alert.account("url"), known.is_some(), "alerts", &name, "url");
            if let Some(secret) = &mut spec.secret {
                let had = known.is_some_and(|a| a.spec.secret.is_some());
                self.seal(secret, alert.account("secret"), had, "alerts", &name, "secret");
            }
            alert.spec = spec;
            if let Some(known) = known
                && self.touched.len() == before
                && known.spec == alert.spec
            {
                alert.revision = known.revision;
            }
            next.alerts.push(alert);
        }
    }
}
