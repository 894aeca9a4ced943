//! The difference between two configurations, object by object and field by field, without any secret.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{configuration::Configuration, file};

/// What happens to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Action {
    Create,
    Update,
    Delete,
}

/// One field's change; an absent side means the field is not set there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    /// `timeouts.connect`, `members[1].priority`.
    pub path: String,
    /// The value before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub before: Option<Value>,
    /// The value after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub after: Option<Value>,
}

/// One object's change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// `settings`, `upstreams`, `groups`, `keys`, `monitors` or `alerts`.
    pub section: String,
    /// The object's name in its section.
    pub name: String,
    /// What happens to it.
    pub action: Action,
    /// Its fields.
    pub fields: Vec<FieldChange>,
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<FieldChange>) {
    match (before, after) {
        (a, b) if a == b => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(&path, a.get(key), b.get(key), out);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for at in 0..a.len().max(b.len()) {
                compare(&format!("{path}[{at}]"), a.get(at), b.get(at), out);
            }
        }
        (a, b) => out.push(FieldChange { path: path.to_owned(), before: a.cloned(), after: b.cloned() }),
    }
}

/// The difference between two configurations, object by object, without any secret.
pub fn diff(before: &Configuration, after: &Configuration) -> Vec<Change> {
    let old = file::objects(before);
    let new = file::objects(after);
    let mut changes = Vec::new();
    for key in old.keys().chain(new.keys().filter(|k| !old.contains_key(*k))) {
        let (a, b) = (old.get(key), new.get(key));
        let action = match (a, b) {
            (None, _) => Action::Create,
            (_, None) => Action::Delete,
            _ => Action::Update,
        };
        let mut fields = Vec::new();
        if action != Action::Delete {
            compare("", a.or(Some(&Value::Object(serde_json::Map::new()))), b, &mut fields);
        }
        if !fields.is_empty() || action == Action::Delete {
            changes.push(Change { section: key.0.to_owned(), name: key.1.clone(), action, fields });
        }
    }
    changes
}
