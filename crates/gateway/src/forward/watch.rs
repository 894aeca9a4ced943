//! What is known of an answer that passes: relayed as it is, or translated.

use headgate_domain::Usage;
use headgate_wire::{
    observe::{End, Observer},
    translate::Translator,
};

/// Who reads an answer.
#[expect(clippy::large_enum_variant, reason = "the large variant is the usual one")]
pub enum Watch {
    /// The client speaks what the upstream speaks: its bytes pass, and are only looked at.
    Relayed(Observer),
    /// The client speaks another protocol.
    Translated(Box<Translator>),
}

impl From<Observer> for Watch {
    fn from(observer: Observer) -> Self {
        Self::Relayed(observer)
    }
}

impl Watch {
    /// The tokens reported so far.
    pub fn usage(&self) -> Usage {
        match self {
            Self::Relayed(observer) => *observer.usage(),
            Self::Translated(translator) => *translator.usage(),
        }
    }

    /// Bytes of text that the model wrote so far.
    pub fn text(&self) -> u64 {
        match self {
            Self::Relayed(observer) => observer.text(),
            Self::Translated(translator) => translator.text(),
        }
    }

    /// The text that the model wrote, where it is kept to be counted and all of it is there.
    pub fn heard(&self) -> Option<&str> {
        match self {
            Self::Relayed(observer) => observer.heard(),
            Self::Translated(translator) => translator.heard(),
        }
    }

    /// Whether the completion event was seen.
    pub fn completed(&self) -> bool {
        match self {
            Self::Relayed(observer) => observer.completed(),
            Self::Translated(translator) => matches!(translator.end(), Some(End::Complete | End::Empty)),
        }
    }

    /// The name of the upstream's last event.
    pub fn last_event(&self) -> Option<&str> {
        match self {
            Self::Relayed(observer) => observer.last_event(),
            Self::Translated(translator) => translator.last_event(),
        }
    }

    /// Codes of what translating the answer lost.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Relayed(_) => Vec::new(),
            Self::Translated(translator) => translator.warnings().codes().iter().map(ToString::to_string).collect(),
        }
    }
}
