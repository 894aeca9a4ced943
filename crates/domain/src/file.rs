//! The configuration file: reading it, and writing the configuration back as one.
//!
//! Names are the identity here; ids never appear. Every problem names the path where it is.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::{
    alert::AlertSpec,
    configuration::Configuration,
    group::GroupSpec,
    id::UpstreamId,
    key::KeySpec,
    monitor::MonitorSpec,
    name::Name,
    secret::Secret,
    settings::SettingsPatch,
    upstream::{CredentialSource, Upstream, UpstreamSpec},
};

/// Something wrong in a file or in a configuration: where, and a sentence with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// `upstreams[0].base_url`, or `upstreams[relay-a].base_url` once names are known.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Problem {
    /// A problem at a path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

/// How a file spells a credential.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialEntry {
    /// `{ env: NAME }`: a reference to an environment variable of the serving process.
    Env(String),
    /// `{ value: … }`: goes into the vault.
    Value(Secret),
    /// `{ vault: NAME/1 }`: keeps what is stored.
    Vault(String),
}

/// An upstream as a file lists it.
#[derive(Clone)]
pub struct UpstreamEntry {
    /// Its name.
    pub name: Name,
    /// Absent: what is stored stays.
    pub credentials: Option<Vec<CredentialEntry>>,
    /// Everything else.
    pub spec: UpstreamSpec,
}

/// A group as a file lists it.
#[derive(Clone)]
pub struct GroupEntry {
    /// Its name.
    pub name: Name,
    /// Everything else.
    pub spec: GroupSpec<Name>,
}

/// A key as a file lists it.
#[derive(Clone)]
pub struct KeyEntry {
    /// Its name.
    pub name: Name,
    /// Absent: an existing key keeps its secret, a new one gets one.
    pub secret: Option<Secret>,
    /// Everything else.
    pub spec: KeySpec<Name>,
}

/// A file that was read without problems of form.
#[derive(Clone, Default)]
pub struct ConfigFile {
    /// Settings that are set.
    pub settings: SettingsPatch,
    /// Upstreams.
    pub upstreams: Vec<UpstreamEntry>,
    /// Groups.
    pub groups: Vec<GroupEntry>,
    /// Keys.
    pub keys: Vec<KeyEntry>,
    /// Monitors.
    pub monitors: Vec<MonitorSpec<Name>>,
    /// Alert targets; `None` if the file has no such section.
    pub alerts: Option<Vec<AlertSpec>>,
}

/// Deserialises one value; a failure becomes a problem at its exact path.
fn read<T: DeserializeOwned>(value: Value, path: &str, problems: &mut Vec<Problem>) -> Option<T> {
    match serde_path_to_error::deserialize(value) {
        Ok(value) => Some(value),
        Err(error) => {
            let inner = error.path().to_string();
            let path = if inner == "." || inner.is_empty() {
                path.to_owned()
            } else if path.is_empty() {
                inner
            } else if inner.starts_with('[') {
                format!("{path}{inner}")
            } else {
                format!("{path}.{inner}")
            };
            problems.push(Problem::new(path, error.into_inner().to_string()));
            None
        }
    }
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    /// The entries of a list section, each a map with its path.
    fn entries(
        &mut self,
        document: &mut Map<String, Value>,
        section: &str,
    ) -> Option<Vec<(String, Map<String, Value>)>> {
        match document.shift_remove(section) {
            None => None,
            Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(items)) => Some(
                items
                    .into_iter()
                    .enumerate()
                    .filter_map(|(at, item)| {
                        let path = format!("{section}[{at}]");
                        match item {
                            Value::Object(map) => Some((path, map)),
                            _ => {
                                self.problems.push(Problem::new(path, "is not a map"));
                                None
                            }
                        }
                    })
                    .collect(),
            ),
            Some(_) => {
                self.problems.push(Problem::new(section, "is not a list"));
                None
            }
        }
    }

    fn name(&mut self, map: &mut Map<String, Value>, path: &str) -> Option<Name> {
        match map.shift_remove("name") {
            None => {
                self.problems.push(Problem::new(path, "has no name"));
                None
            }
            Some(value) => read(value, format!("{path}.name").trim_start_matches('.'), &mut self.problems),
        }
    }

    fn upstream(&mut self, mut map: Map<String, Value>, path: &str) -> Option<UpstreamEntry> {
        let name = self.name(&mut map, path);
        let credentials = match map.shift_remove("credentials").filter(|c| !c.is_null()) {
            Some(list) => read(list, format!("{path}.credentials").trim_start_matches('.'), &mut self.problems),
            None => None,
        };
        let spec = self.rest(map, path);
        Some(UpstreamEntry { name: name?, credentials, spec: spec? })
    }

    fn group(&mut self, mut map: Map<String, Value>, path: &str) -> Option<GroupEntry> {
        let name = self.name(&mut map, path);
        let spec = self.rest(map, path);
        Some(GroupEntry { name: name?, spec: spec? })
    }

    fn key(&mut self, mut map: Map<String, Value>, path: &str) -> Option<KeyEntry> {
        let name = self.name(&mut map, path);
        let secret = match map.shift_remove("secret").filter(|s| !s.is_null()) {
            Some(secret) => read(secret, format!("{path}.secret").trim_start_matches('.'), &mut self.problems),
            None => None,
        };
        let spec = self.rest(map, path);
        Some(KeyEntry { name: name?, secret, spec: spec? })
    }

    fn rest<T: DeserializeOwned>(&mut self, map: Map<String, Value>, path: &str) -> Option<T> {
        read(Value::Object(map), path, &mut self.problems)
    }
}

/// Reads a configuration file (YAML, of which JSON is a part). All problems of form are collected.
pub fn parse(text: &str) -> Result<ConfigFile, Vec<Problem>> {
    let value: Value =
        serde_saphyr::from_str(text).map_err(|why| vec![Problem::new("", format!("not YAML: {why}"))])?;
    let Value::Object(mut document) = value else {
        return Err(vec![Problem::new("", "the file is not a map; it begins with 'version: 1'")]);
    };
    let mut reader = Reader { problems: Vec::new() };
    let mut file = ConfigFile::default();

    match document.shift_remove("version") {
        Some(Value::Number(n)) if n.as_u64() == Some(1) => {}
        Some(other) => {
            reader.problems.push(Problem::new("version", format!("is {other}; this program reads version 1")))
        }
        None => reader.problems.push(Problem::new("version", "is missing; write 'version: 1'")),
    }
    if let Some(settings) = document.shift_remove("settings").filter(|s| !s.is_null())
        && let Some(settings) = read(settings, "settings", &mut reader.problems)
    {
        file.settings = settings;
    }
    for (path, map) in reader.entries(&mut document, "upstreams").unwrap_or_default() {
        file.upstreams.extend(reader.upstream(map, &path));
    }
    for (path, map) in reader.entries(&mut document, "groups").unwrap_or_default() {
        file.groups.extend(reader.group(map, &path));
    }
    for (path, map) in reader.entries(&mut document, "keys").unwrap_or_default() {
        file.keys.extend(reader.key(map, &path));
    }
    for (path, map) in reader.entries(&mut document, "monitors").unwrap_or_default() {
        if let Some(spec) = reader.rest(map, &path) {
            file.monitors.push(spec);
        }
    }
    if let Some(entries) = reader.entries(&mut document, "alerts") {
        let specs = entries.into_iter().filter_map(|(path, map)| reader.rest(map, &path)).collect();
        file.alerts = Some(specs);
    }
    for unknown in document.keys() {
        reader.problems.push(Problem::new(
            unknown.clone(),
            "unknown field; the file has version, settings, upstreams, groups, keys, monitors and alerts",
        ));
    }
    if reader.problems.is_empty() { Ok(file) } else { Err(reader.problems) }
}

/// A single object as a file with nothing else: `section` is `upstreams`, `groups` or `keys`.
pub fn parse_one(section: &str, entry: Map<String, Value>) -> Result<ConfigFile, Vec<Problem>> {
    let mut reader = Reader { problems: Vec::new() };
    let mut file = ConfigFile::default();
    match section {
        "upstreams" => file.upstreams.extend(reader.upstream(entry, "")),
        "groups" => file.groups.extend(reader.group(entry, "")),
        "keys" => file.keys.extend(reader.key(entry, "")),
        other => reader.problems.push(Problem::new(other, "is no section of objects")),
    }
    if reader.problems.is_empty() { Ok(file) } else { Err(reader.problems) }
}

/// The credentials of an upstream as a file spells them.
fn credentials(upstream: &Upstream) -> Value {
    upstream
        .credentials
        .iter()
        .map(|c| match &c.source {
            CredentialSource::Env(name) => json!({ "env": name }),
            CredentialSource::Vault => json!({ "vault": format!("{}/{}", upstream.name, c.number) }),
        })
        .collect()
}

fn object(fields: impl IntoIterator<Item = (&'static str, Value)>, spec: impl Serialize) -> Value {
    let mut map: Map<String, Value> = fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    if let Ok(Value::Object(rest)) = serde_json::to_value(spec) {
        map.extend(rest);
    }
    Value::Object(map)
}

/// Every object of a configuration as a file spells it, under its section and name. No secret is in it.
pub fn objects(configuration: &Configuration) -> IndexMap<(&'static str, String), Value> {
    let upstream_name = |id: UpstreamId| -> Result<String, std::convert::Infallible> {
        Ok(configuration.upstream(id).map_or_else(|| format!("(deleted {id})"), |u| u.name.to_string()))
    };
    let name_of = |id: UpstreamId| match upstream_name(id) {
        Ok(name) => name,
        Err(never) => match never {},
    };
    let mut all = IndexMap::new();
    if let Ok(Value::Object(map)) = serde_json::to_value(&configuration.settings)
        && !map.is_empty()
    {
        all.insert(("settings", String::new()), Value::Object(map));
    }
    for u in &configuration.upstreams {
        let value = object([("name", json!(u.name)), ("credentials", credentials(u))], &u.spec);
        all.insert(("upstreams", u.name.to_string()), value);
    }
    for g in &configuration.groups {
        let spec = match g.spec.clone().try_map(upstream_name) {
            Ok(spec) => spec,
            Err(never) => match never {},
        };
        all.insert(("groups", g.name.to_string()), object([("name", json!(g.name))], spec));
    }
    for k in &configuration.keys {
        let group = configuration
            .group(k.spec.group)
            .map_or_else(|| format!("(deleted {})", k.spec.group), |g| g.name.to_string());
        let spec = k.spec.clone().with_group(group);
        all.insert(("keys", k.name.to_string()), object([("name", json!(k.name))], spec));
    }
    for m in &configuration.monitors {
        let name = name_of(m.spec.upstream);
        let key = format!("{name} {}", m.spec.model);
        all.insert(("monitors", key), object([], m.spec.clone().with_upstream(name)));
    }
    for (at, a) in configuration.alerts.iter().enumerate() {
        all.insert(("alerts", at.to_string()), object([], &a.spec));
    }
    all
}

/// The configuration as a file, without any secret.
pub fn export(configuration: &Configuration) -> String {
    let mut document = Map::new();
    document.insert("version".to_owned(), json!(1));
    for ((section, _), value) in objects(configuration) {
        if section == "settings" {
            document.insert(section.to_owned(), value);
        } else if let Value::Array(list) = document.entry(section).or_insert_with(|| json!([])) {
            list.push(value);
        }
    }
    serde_saphyr::to_string(&Value::Object(document)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_field_names_its_path() {
        let problems = parse(
            "version: 1\nupstreams:\n  - name: a\n    base_url: https://x\n    timeouts: { connekt: 1s }\nwhat: 1\n",
        )
        .err()
        .unwrap();
        let text: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert!(text[0].starts_with("upstreams[0].timeouts"), "{text:?}");
        assert!(text[0].contains("connekt"), "{text:?}");
        assert!(text[1].starts_with("what: unknown field"), "{text:?}");
    }

    #[test]
    fn all_problems_of_form_are_told_at_once() {
        let problems = parse("version: 2\ngroups: 5\nkeys: [ 1, { group: g } ]\n").err().unwrap();
        let paths: Vec<_> = problems.iter().map(|p| p.path.as_str()).collect();
        assert_eq!(paths, ["version", "groups", "keys[0]", "keys[1]"]);
    }

    #[test]
    fn nonsense_is_told_as_such() {
        for bad in ["", "- a", "a: [", "5", "\u{0}"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
