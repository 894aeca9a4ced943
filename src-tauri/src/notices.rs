//! Notices of the desktop: what people are told of while they look elsewhere. The gateway has decided by then that it
//! is news, and that its quiet time has passed.

use std::{sync::Arc, time::Duration};

use headgate_domain::AlertEvent;
use headgate_gateway::Event;
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager as _};
use tauri_plugin_notification::NotificationExt as _;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    engine::{Engine, State},
    preferences::Preferences,
    words::Language,
};

/// What comes within so long is one notice: a group goes down with its last upstream.
const TOGETHER: Duration = Duration::from_millis(1500);
/// Sentences in one notice.
const LINES: usize = 4;

/// What can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// A group is down, or back.
    Group,
    /// An upstream is out, and others take over.
    UpstreamOpened,
    /// It is back.
    UpstreamClosed,
    /// A key is refused or used up, or accepted again.
    Credential,
    /// A model is gone, or back.
    Model,
    /// A budget is nearly spent, or is.
    Budget,
    /// Little or nothing is left at an upstream.
    Balance,
    /// An upstream's multiplier, cap or bill, or that its billing cannot be read.
    Billing,
}

impl Notice {
    /// All of them, in the order in which they matter.
    pub const ALL: [Self; 8] = [
        Self::Group,
        Self::UpstreamOpened,
        Self::UpstreamClosed,
        Self::Credential,
        Self::Model,
        Self::Budget,
        Self::Balance,
        Self::Billing,
    ];

    fn of(event: AlertEvent) -> Option<Self> {
        Some(match event {
            AlertEvent::GroupDown | AlertEvent::GroupBack => Self::Group,
            AlertEvent::UpstreamOpened => Self::UpstreamOpened,
            AlertEvent::UpstreamClosed => Self::UpstreamClosed,
            AlertEvent::CredentialRejected | AlertEvent::CredentialExhausted | AlertEvent::CredentialAccepted => {
                Self::Credential
            }
            AlertEvent::ModelGone | AlertEvent::ModelBack => Self::Model,
            AlertEvent::Budget => Self::Budget,
            AlertEvent::BalanceLow => Self::Balance,
            AlertEvent::MultiplierChanged
            | AlertEvent::OverCap
            | AlertEvent::CollectionFailing
            | AlertEvent::BillingWarning
            | AlertEvent::BillingCleared => Self::Billing,
            AlertEvent::Test => return None,
        })
    }
}

/// Shows them from now on, whichever gateway runs.
pub fn follow(app: AppHandle) {
    let engine = Arc::clone(&app.state::<Arc<Engine>>());
    let mut state = engine.state();
    engine.clone().spawn(async move {
        loop {
            let events = engine.running().and_then(|running| running.with(|gateway| gateway.events()));
            if let Some(mut events) = events {
                tokio::select! {
                    () = show_all(&app, &mut events) => {}
                    changed = state.changed() => if changed.is_err() { return },
                }
            } else if matches!(*state.borrow(), State::Stopping) || state.changed().await.is_err() {
                return;
            }
        }
    });
}

/// Until the gateway is gone.
async fn show_all(app: &AppHandle, events: &mut Receiver<Event>) {
    while let Some(first) = next(app, events).await {
        let mut lines = vec![first];
        let gathered = async {
            while let Some(line) = next(app, events).await {
                lines.push(line);
            }
        };
        // The time being up is the usual end.
        let _ = tokio::time::timeout(TOGETHER, gathered).await;
        let shown = app.notification().builder().title("Headgate").body(body(&lines)).show();
        if let Err(why) = shown {
            tracing::warn!(error = %why, "a notice could not be shown");
        }
    }
}

/// The next sentence that is wanted.
async fn next(app: &AppHandle, events: &mut Receiver<Event>) -> Option<String> {
    loop {
        match events.recv().await {
            Ok(Event::Alerted { alert }) => {
                let preferences = app.state::<Preferences>();
                if Notice::of(alert.kind).is_some_and(|notice| preferences.shows(notice)) {
                    return Some(match preferences.language() {
                        Language::En => alert.sentence.en,
                        Language::Zh => alert.sentence.zh,
                    });
                }
            }
            // What was missed stands in the log of the window.
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    }
}

fn body(lines: &[String]) -> String {
    let more = lines.len().saturating_sub(LINES);
    let mut text: Vec<String> = lines.iter().take(LINES).cloned().collect();
    if more > 0 {
        text.push(format!("+{more}"));
    }
    text.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_belongs_to_a_switch_and_a_test_to_none() {
        assert!(AlertEvent::ALL.iter().all(|event| Notice::of(*event).is_some()));
        assert_eq!(Notice::of(AlertEvent::Test), None);
    }

    #[test]
    fn a_storm_is_one_notice_of_a_few_lines() {
        let lines: Vec<String> = (1..=7).map(|n| format!("line {n}")).collect();
        assert_eq!(body(&lines[..2]), "line 1\nline 2");
        assert_eq!(body(&lines), "line 1\nline 2\nline 3\nline 4\n+3");
    }
}
