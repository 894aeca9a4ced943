//! What the shell remembers between starts: its language, what it shows, and what it has explained already.

use std::{collections::BTreeSet, path::PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager as _};

use crate::{notices::Notice, words::Language};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    language: Option<Language>,
    close_explained: bool,
    /// Notices that were switched off.
    unwanted: BTreeSet<Notice>,
}

/// Preferences, in a file of their own.
pub struct Preferences {
    path: Option<PathBuf>,
    kept: Mutex<Kept>,
}

impl Preferences {
    /// Reads them; a file that cannot be read is only forgotten preferences.
    pub fn load(app: &AppHandle) -> Self {
        let path = app.path().app_config_dir().ok().map(|dir| dir.join("desktop.json"));
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        Self { path, kept: Mutex::new(serde_json::from_str(&text).unwrap_or_default()) }
    }

    /// The language: as chosen, or the system's.
    pub fn language(&self) -> Language {
        self.kept.lock().language.unwrap_or_else(Language::of_system)
    }

    /// Chooses it.
    pub fn set_language(&self, code: &str) {
        self.kept.lock().language = Some(Language::of(code));
        self.save();
    }

    /// Whether it has yet to be explained that closing the window leaves the gateway running; then it is from now on.
    pub fn explain_close_once(&self) -> bool {
        let first = !std::mem::replace(&mut self.kept.lock().close_explained, true);
        if first {
            self.save();
        }
        first
    }

    /// Whether a notice is wanted.
    pub fn shows(&self, notice: Notice) -> bool {
        !self.kept.lock().unwanted.contains(&notice)
    }

    /// Switches a notice.
    pub fn show(&self, notice: Notice, on: bool) {
        let changed = {
            let mut kept = self.kept.lock();
            if on { kept.unwanted.remove(&notice) } else { kept.unwanted.insert(notice) }
        };
        if changed {
            self.save();
        }
    }

    fn save(&self) {
        let Some(path) = &self.path else { return };
        let text = serde_json::to_string(&*self.kept.lock()).unwrap_or_default();
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, text));
        if let Err(why) = written {
            tracing::warn!(error = %why, file = %path.display(), "the preferences could not be saved");
        }
    }
}
