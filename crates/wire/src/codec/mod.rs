//! One decoder and one encoder per protocol and direction. No function here knows two protocols.

pub(crate) mod chat;
pub(crate) mod claude;
pub(crate) mod effort;
pub(crate) mod freeform;
pub(crate) mod openai;
pub(crate) mod read;
pub(crate) mod responses;
pub(crate) mod usage;
pub(crate) mod words;

use serde_json::{Map, Value};

/// A JSON object being written, member by member.
#[derive(Debug, Default)]
pub(crate) struct Out(pub(crate) Map<String, Value>);

impl Out {
    /// Writes a member.
    pub(crate) fn put(&mut self, member: &str, value: impl Into<Value>) {
        self.0.insert(member.to_owned(), value.into());
    }

    /// Writes a member if there is a value.
    pub(crate) fn put_some<V: Into<Value>>(&mut self, member: &str, value: Option<V>) {
        if let Some(value) = value {
            self.put(member, value);
        }
    }
}

impl From<Out> for Value {
    fn from(out: Out) -> Self {
        Self::Object(out.0)
    }
}
