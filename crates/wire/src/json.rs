//! Taking members out of a client's JSON object, with a refusal that names the member when its type is wrong.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use crate::{exact, loss::Rejection};

/// A JSON object whose members are taken one by one; what is left over stays in it.
#[derive(Debug)]
pub(crate) struct Fields {
    members: Map<String, Value>,
    /// Where the object stands, for messages: empty at the top.
    place: Cow<'static, str>,
}

impl Fields {
    /// The object `value`, which stands at `place`.
    pub(crate) fn new(value: Value, place: impl Into<Cow<'static, str>>) -> Result<Self, Rejection> {
        let place = place.into();
        match value {
            Value::Object(members) => Ok(Self { members, place }),
            _ => Err(Rejection::illegal(if place.is_empty() { "body".into() } else { place }, "is not an object")),
        }
    }

    fn name(&self, member: &str) -> String {
        if self.place.is_empty() { member.to_owned() } else { format!("{}.{member}", self.place) }
    }

    fn wrong(&self, member: &str, what: &str) -> Rejection {
        Rejection::illegal(self.name(member), what)
    }

    /// Whether a member is there, `null` or not.
    pub(crate) fn has(&self, member: &str) -> bool {
        self.members.contains_key(member)
    }

    /// A member of any type; `null` counts as absent.
    pub(crate) fn any(&mut self, member: &str) -> Option<Value> {
        self.members.swap_remove(member).filter(|v| !v.is_null()).map(exact::rounded)
    }

    /// A text.
    pub(crate) fn text(&mut self, member: &str) -> Result<Option<String>, Rejection> {
        match self.any(member) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(member, "is not a text")),
        }
    }

    /// A text that has to be there.
    pub(crate) fn required(&mut self, member: &str) -> Result<String, Rejection> {
        self.text(member)?.ok_or_else(|| self.wrong(member, "is missing"))
    }

    /// A text; anything else counts as absent.
    pub(crate) fn lenient(&mut self, member: &str) -> Option<String> {
        match self.any(member) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The `type` of the object, which is kept for unknown ones.
    pub(crate) fn kind(&mut self) -> Option<String> {
        self.lenient("type")
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&mut self, member: &str) -> Result<Option<bool>, Rejection> {
        match self.any(member) {
            None => Ok(None),
            Some(Value::Bool(yes)) => Ok(Some(yes)),
            Some(_) => Err(self.wrong(member, "is neither true nor false")),
        }
    }

    /// A number.
    pub(crate) fn number(&mut self, member: &str) -> Result<Option<Number>, Rejection> {
        match self.any(member) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number)),
            Some(_) => Err(self.wrong(member, "is not a number")),
        }
    }

    /// A count: a whole number that is not negative.
    pub(crate) fn count(&mut self, member: &str) -> Result<Option<u64>, Rejection> {
        let Some(number) = self.number(member)? else { return Ok(None) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
        let whole = |f: f64| (f.fract() == 0.0 && (0.0..1e15).contains(&f)).then_some(f as u64);
        let count = number.as_u64().or_else(|| number.as_f64().and_then(whole));
        count.map(Some).ok_or_else(|| self.wrong(member, "is not a count"))
    }

    /// A limit: a count of at least one.
    pub(crate) fn limit(&mut self, member: &str) -> Result<Option<u64>, Rejection> {
        match self.count(member)? {
            Some(0) => Err(self.wrong(member, "is zero")),
            count => Ok(count),
        }
    }

    /// A list.
    pub(crate) fn list(&mut self, member: &str) -> Result<Option<Vec<Value>>, Rejection> {
        match self.any(member) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(self.wrong(member, "is not a list")),
        }
    }

    /// A list of texts; other entries are passed over.
    pub(crate) fn texts(&mut self, member: &str) -> Vec<String> {
        let Some(Value::Array(list)) = self.any(member) else { return Vec::new() };
        let text = |v| if let Value::String(text) = v { Some(text) } else { None };
        list.into_iter().filter_map(text).collect()
    }

    /// An object.
    pub(crate) fn object(&mut self, member: &str) -> Result<Option<Self>, Rejection> {
        let place = self.name(member);
        self.any(member).map(|value| Self::new(value, place)).transpose()
    }

    /// An object; anything else counts as absent.
    pub(crate) fn loose_object(&mut self, member: &str) -> Option<Self> {
        let place = self.name(member);
        self.any(member).and_then(|value| Self::new(value, place).ok())
    }

    /// What was not taken.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.members
    }
}
