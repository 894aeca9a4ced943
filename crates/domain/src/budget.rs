//! Whose budget it is, over which span, and how far it is used: the words of budgets.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{GroupId, KeyId};

/// Whose budget it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "owner", content = "id", rename_all = "snake_case")]
pub enum BudgetOwner {
    /// An access key's.
    Key(KeyId),
    /// A group's.
    Group(GroupId),
}

impl BudgetOwner {
    /// Its word in the database.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Group(_) => "group",
        }
    }

    /// Its number.
    pub fn id(self) -> i64 {
        match self {
            Self::Key(id) => id.0,
            Self::Group(id) => id.0,
        }
    }

    /// The owner of these words; none if the kind is of a newer program.
    pub fn of(kind: &str, id: i64) -> Option<Self> {
        match kind {
            "key" => Some(Self::Key(KeyId(id))),
            "group" => Some(Self::Group(GroupId(id))),
            _ => None,
        }
    }
}

/// How long a budget lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetSpan {
    /// A day in the setting `time_zone`.
    Day,
    /// A month of it.
    Month,
    /// For ever.
    Total,
}

impl BudgetSpan {
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::Day, Self::Month, Self::Total];

    /// Its word in documents and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Total => "total",
        }
    }

    /// The span of a word; none if it is of a newer program.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.as_str() == word)
    }
}

/// Shares of a budget that people are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BudgetLevel {
    /// Four fifths.
    Most,
    /// Nineteen twentieths.
    Nearly,
    /// All of it.
    Spent,
}

impl BudgetLevel {
    /// All of them, the lowest first.
    pub const ALL: [Self; 3] = [Self::Most, Self::Nearly, Self::Spent];

    /// In hundredths.
    pub fn percent(self) -> i16 {
        match self {
            Self::Most => 80,
            Self::Nearly => 95,
            Self::Spent => 100,
        }
    }
}
