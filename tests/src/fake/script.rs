//! The fault script: which request meets which behaviour, and how often.

use serde::{Deserialize, Serialize};

/// A place in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// Before the status line.
    BeforeHeaders,
    /// After the headers, before any byte of body.
    AfterHeaders,
    /// After so many whole events (or, without a stream, in the middle of the body).
    Event(usize),
    /// In the middle of the event that follows so many whole ones.
    MidEvent(usize),
    /// After the last event but the completion event.
    BeforeCompletion,
    /// After the completion event, before the answer's end.
    AfterCompletion,
}

/// What an answer is like. The default is a normal one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Behaviour {
    /// Status; absent: 200.
    pub status: Option<u16>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// This body instead of the normal one.
    pub body: Option<String>,
    /// This content type instead of the normal one.
    pub content_type: Option<String>,
    /// Waits before the status line.
    pub delay_ms: u64,
    /// Waits between the headers and the first event.
    pub first_event_ms: u64,
    /// Waits between events.
    pub gap_ms: u64,
    /// Pieces of text in a normal answer; 0: two.
    pub pieces: usize,
    /// Falls silent there, with the connection open.
    pub stall: Option<Point>,
    /// Closes the connection there.
    pub cut: Option<Point>,
    /// Closing means a reset.
    pub reset: bool,
    /// Sends an error event there (streams).
    pub error_event: Option<Point>,
    /// The answer has no content.
    pub empty: bool,
    /// Thinks before it speaks.
    pub reasoning: bool,
    /// The body is compressed with gzip.
    pub gzip: bool,
    /// The body is a gzip bomb.
    pub bomb: bool,
    /// A byte that is no UTF-8 stands in the text.
    pub invalid_utf8: bool,
    /// The body is written so many bytes at a time.
    pub chunk: Option<usize>,
    /// Answers with a tool call while the request has no tool result.
    pub tool: bool,
    /// The model named in the answer; absent: the one asked for.
    pub model: Option<String>,
}

impl Behaviour {
    /// An error with this status and a usual body.
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with this body.
    #[must_use]
    pub fn body(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }
}

/// One line of the script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Only paths that begin so.
    pub path: Option<String>,
    /// Only this model.
    pub model: Option<String>,
    /// Only this credential.
    pub key: Option<String>,
    /// Only bodies with this text in them.
    pub containing: Option<String>,
    /// So many times; absent: for ever.
    pub times: Option<usize>,
    /// How.
    pub then: Behaviour,
}

impl Rule {
    /// For everything, for ever.
    pub fn always(then: Behaviour) -> Self {
        Self { then, ..Self::default() }
    }

    /// For everything, so many times.
    pub fn times(times: usize, then: Behaviour) -> Self {
        Self { times: Some(times), then, ..Self::default() }
    }

    /// For one credential, for ever.
    pub fn key(key: &str, then: Behaviour) -> Self {
        Self { key: Some(key.to_owned()), then, ..Self::default() }
    }

    /// For one model, for ever.
    pub fn model(model: &str, then: Behaviour) -> Self {
        Self { model: Some(model.to_owned()), then, ..Self::default() }
    }
}

/// Takes the behaviour for a request from the script.
pub(crate) fn take(rules: &mut [Rule], path: &str, model: &str, key: &str, body: &[u8]) -> Behaviour {
    let has = |text: &String| memchr::memmem::find(body, text.as_bytes()).is_some();
    let fits = |rule: &&mut Rule| {
        rule.times != Some(0)
            && rule.path.as_ref().is_none_or(|p| path.starts_with(p))
            && rule.model.as_ref().is_none_or(|m| m == model)
            && rule.key.as_ref().is_none_or(|k| k == key)
            && rule.containing.as_ref().is_none_or(has)
    };
    match rules.iter_mut().find(fits) {
        Some(rule) => {
            if let Some(times) = &mut rule.times {
                *times -= 1;
            }
            rule.then.clone()
        }
        None => Behaviour::default(),
    }
}
