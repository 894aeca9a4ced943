//! The newest lines of the log, kept in memory for the window.

use std::{
    collections::VecDeque,
    fmt::{self, Write as _},
    sync::LazyLock,
};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde::Serialize;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};
use utoipa::ToSchema;

/// Lines kept.
const MAX: usize = 2000;
/// Longest line, in characters.
const LENGTH: usize = 2000;

/// A line.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LogLine {
    /// Its number; ever increasing.
    pub number: u64,
    /// When.
    pub at: DateTime<Utc>,
    /// error, warn, info or debug.
    pub level: &'static str,
    /// The part of the program.
    pub target: String,
    /// What.
    pub message: String,
}

/// The process's own; as the log itself, there is one.
static LINES: LazyLock<Mutex<(u64, VecDeque<LogLine>)>> = LazyLock::new(Default::default);

/// Takes part in the log of the process; the binaries install it beside their own writer.
pub struct LogLayer;

impl<S: Subscriber> Layer<S> for LogLayer {
    #[expect(clippy::disallowed_methods, reason = "the log has no clock of the gateway: it is older")]
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut message = Text::default();
        event.record(&mut message);
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warn",
            Level::INFO => "info",
            _ => "debug",
        };
        let lines = &mut *LINES.lock();
        lines.0 += 1;
        if lines.1.len() >= MAX {
            lines.1.pop_front();
        }
        lines.1.push_back(LogLine {
            number: lines.0,
            at: Utc::now(),
            level,
            target: event.metadata().target().to_owned(),
            message: message.0.chars().take(LENGTH).collect(),
        });
    }
}

/// Lines after a number, oldest first.
pub fn after(number: u64) -> Vec<LogLine> {
    LINES.lock().1.iter().filter(|line| line.number > number).cloned().collect()
}

/// The message, then `name=value`.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }
}

impl Text {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if field.name() == "message" {
            self.0.insert_str(0, &value.to_string());
        } else {
            // Writing into a string cannot fail.
            let _ = write!(self.0, " {}={value}", field.name());
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn lines_are_kept_in_order_and_their_number_is_bounded() {
        tracing::subscriber::with_default(tracing_subscriber::registry().with(LogLayer), || {
            for n in 0..MAX + 10 {
                tracing::info!(n, "line");
            }
        });
        let all = after(0);
        assert_eq!(all.len(), MAX);
        let last = all.last().unwrap();
        assert_eq!((last.message.as_str(), last.level), (format!("line n={}", MAX + 9).as_str(), "info"));
        assert!(after(last.number).is_empty());
    }
}
