//! What to look for, and its translation into the parameters of the statements.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use headgate_domain::{ErrorSource, GroupId, KeyId, Protocol, UpstreamId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Longest search text, in characters; what is longer is cut.
const TEXT_MAX: usize = 200;

/// Which requests; every field narrows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Started at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Started before this time.
    pub until: Option<DateTime<Utc>>,
    /// Of this group.
    pub group: Option<GroupId>,
    /// By this access key.
    pub key: Option<KeyId>,
    /// With any attempt at this upstream.
    pub upstream: Option<UpstreamId>,
    /// Asked for exactly this model.
    pub model: Option<String>,
    /// In this protocol.
    pub protocol: Option<Protocol>,
    /// By this client program.
    pub client: Option<String>,
    /// That ended so.
    pub status: Option<StatusWord>,
    /// Error kind or the beginning of one (`rate_limited` finds `rate_limited.quota`, too).
    pub error_kind: Option<String>,
    /// With an error by this party.
    pub error_source: Option<ErrorSource>,
    /// Asked for a stream, or not.
    pub stream: Option<bool>,
    /// With more than one attempt, or without.
    pub retried: Option<bool>,
    /// Took this long or longer.
    pub slow_ms: Option<i64>,
    /// Id or its beginning.
    pub id: Option<String>,
    /// Beginning of the id, or part of client address or user agent.
    pub text: Option<String>,
    /// Priced in full, or not; what was not charged for is neither. This and what follows is asked of the attempts at
    /// the upstream where there is one in the filter, and of the whole request otherwise.
    pub priced: Option<bool>,
    /// Where its tokens are from.
    pub tokens: Option<TokensWord>,
    /// Ended later than this.
    pub ended_after: Option<DateTime<Utc>>,
    /// Ended at this time or earlier.
    pub ended_by: Option<DateTime<Utc>>,
    /// That names none of these.
    pub without: Option<Unnamed>,
}

/// What a request may name none of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unnamed {
    /// It asked for no model.
    Model,
    /// It showed no access key that is known.
    Key,
    /// It belongs to no group.
    Group,
}

impl Unnamed {
    /// The word of the statements.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Key => "key",
            Self::Group => "group",
        }
    }
}

/// Where tokens are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokensWord {
    /// The upstream reported them.
    Reported,
    /// They are estimated by what passed through.
    Estimated,
    /// Nobody knows them.
    Unknown,
    /// The output was both reported and counted here.
    Compared,
}

impl TokensWord {
    /// The word of the statements (`migrations/0010_traces.sql`).
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Estimated => "estimated",
            Self::Unknown => "unknown",
            Self::Compared => "compared",
        }
    }
}

/// The words of the status filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusWord {
    /// Success with one attempt.
    DirectSuccess,
    /// Success after more.
    FailoverSuccess,
    /// No answer: failed, nobody there, or nobody able.
    Failed,
    /// Broken off.
    Partial,
    /// The client left.
    Canceled,
    /// Refused for what it is.
    ClientError,
    /// Any success.
    Ok,
    /// Anything but success and leaving.
    Fail,
}

/// A filter that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFilter {
    /// Unknown word.
    #[error(
        "'{0}' is not a status; use direct_success, failover_success, failed, partial, canceled, client_error, ok or fail."
    )]
    Status(String),
    /// Not made by this program.
    #[error("'{0}' is not a cursor; pass the value of 'next' as it was returned, or none for the first page.")]
    Cursor(String),
    /// Not the beginning of an id.
    #[error("'{0}' is not a request id or the beginning of one; use hexadecimal digits and hyphens.")]
    Id(String),
}

impl FromStr for StatusWord {
    type Err = BadFilter;
    fn from_str(word: &str) -> Result<Self, BadFilter> {
        Ok(match word {
            "direct_success" => Self::DirectSuccess,
            "failover_success" => Self::FailoverSuccess,
            "failed" => Self::Failed,
            "partial" => Self::Partial,
            "canceled" => Self::Canceled,
            "client_error" => Self::ClientError,
            "ok" => Self::Ok,
            "fail" => Self::Fail,
            other => return Err(BadFilter::Status(other.to_owned())),
        })
    }
}

impl StatusWord {
    fn outcomes(self) -> &'static [&'static str] {
        match self {
            Self::DirectSuccess | Self::FailoverSuccess | Self::Ok => &["success"],
            Self::Failed => &["failed", "unavailable", "unsupported"],
            Self::Partial => &["partial"],
            Self::Canceled => &["canceled"],
            Self::ClientError => &["client_error"],
            Self::Fail => &["failed", "unavailable", "unsupported", "partial", "client_error"],
        }
    }
}

/// Where a page ended: the last row's time and id. Written `<microseconds>.<id>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(super) started_at: DateTime<Utc>,
    pub(super) id: Uuid,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The precision of the column: milliseconds would repeat or skip rows.
        write!(f, "{}.{}", self.started_at.timestamp_micros(), self.id)
    }
}

impl FromStr for Cursor {
    type Err = BadFilter;
    fn from_str(text: &str) -> Result<Self, BadFilter> {
        let parse = || {
            let (micros, id) = text.split_once('.')?;
            let started_at = DateTime::from_timestamp_micros(micros.parse().ok()?)?;
            Some(Self { started_at, id: id.parse().ok()? })
        };
        parse().ok_or_else(|| BadFilter::Cursor(clipped(text)))
    }
}

/// A filter as the statements take it.
#[derive(Debug, Default)]
pub(super) struct Bound {
    pub(super) model: Option<String>,
    pub(super) client: Option<String>,
    pub(super) outcomes: Option<Vec<String>>,
    pub(super) min_attempts: Option<i32>,
    pub(super) max_attempts: Option<i32>,
    pub(super) error_kind: Option<String>,
    pub(super) error_source: Option<&'static str>,
    pub(super) id_from: Option<Uuid>,
    pub(super) id_to: Option<Uuid>,
    /// The pattern of a part.
    pub(super) text: Option<String>,
    pub(super) text_id_from: Option<Uuid>,
    pub(super) text_id_to: Option<Uuid>,
}

impl Filter {
    pub(super) fn bind(&self) -> Result<Bound, BadFilter> {
        let mut bound = Bound {
            model: self.model.as_deref().map(clean),
            client: self.client.as_deref().map(clean),
            outcomes: self.status.map(|word| word.outcomes().iter().map(|o| (*o).to_owned()).collect()),
            error_kind: self.error_kind.as_deref().map(|kind| format!("{}%", escaped(kind))),
            error_source: self.error_source.map(|source| match source {
                ErrorSource::Client => "client",
                ErrorSource::Upstream => "upstream",
                ErrorSource::Gateway => "gateway",
            }),
            ..Bound::default()
        };
        let direct = match (self.status, self.retried) {
            (Some(StatusWord::DirectSuccess), _) => Some(true),
            (Some(StatusWord::FailoverSuccess), _) => Some(false),
            _ => None,
        };
        let (single, several) =
            (direct == Some(true) || self.retried == Some(false), direct == Some(false) || self.retried == Some(true));
        bound.max_attempts = single.then_some(1);
        bound.min_attempts = several.then_some(2);
        if let Some(id) = &self.id {
            let (from, to) = id_range(id).ok_or_else(|| BadFilter::Id(clipped(id)))?;
            (bound.id_from, bound.id_to) = (Some(from), Some(to));
        }
        if let Some(text) = self.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            bound.text = Some(format!("%{}%", escaped(text)));
            if let Some((from, to)) = id_range(text) {
                (bound.text_id_from, bound.text_id_to) = (Some(from), Some(to));
            }
        }
        Ok(bound)
    }
}

/// First and last id that begin with these digits.
fn id_range(prefix: &str) -> Option<(Uuid, Uuid)> {
    let digits: String = prefix.trim().chars().filter(|c| *c != '-').collect();
    if digits.is_empty() || digits.len() > 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Some((format!("{digits:0<32}").parse().ok()?, format!("{digits:f<32}").parse().ok()?))
}

/// A text cut to length, without what PostgreSQL cannot hold.
fn clean(text: &str) -> String {
    clipped(text).replace('\0', "")
}

fn clipped(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// A text that stands for itself in a pattern.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for c in clean(text).chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_of_an_id_is_a_range() {
        let (from, to) = id_range("0199-AB").unwrap();
        assert_eq!(from.to_string(), "0199ab00-0000-0000-0000-000000000000");
        assert_eq!(to.to_string(), "0199abff-ffff-ffff-ffff-ffffffffffff");
        assert!(id_range("curl").is_none() && id_range("").is_none() && id_range(&"0".repeat(33)).is_none());
    }

    #[test]
    fn a_cursor_reads_as_it_is_written_and_nothing_else_is_one() {
        let cursor =
            Cursor { started_at: DateTime::from_timestamp_micros(1_700_000_000_123_456).unwrap(), id: Uuid::max() };
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        for wrong in ["", "1", "x.y", "1.", "99999999999999999999.ffffffff-ffff-ffff-ffff-ffffffffffff"] {
            assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn search_text_stands_for_itself_and_is_short() {
        assert_eq!(escaped("50%_\\"), "50\\%\\_\\\\");
        assert_eq!(clean(&"x".repeat(1000)).len(), TEXT_MAX);
        assert_eq!(clean("a\0b"), "ab");
    }

    #[test]
    fn retried_and_status_narrow_together() {
        let filter = Filter { status: Some(StatusWord::DirectSuccess), retried: Some(true), ..Filter::default() };
        let bound = filter.bind().unwrap();
        assert_eq!((bound.min_attempts, bound.max_attempts), (Some(2), Some(1)));
    }
}
