//! What the shell remembers between starts: its language, and what it has explained already.

use std::path::PathBuf;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager as _};

use crate::words::Language;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    language: Option<Language>,
    close_explained: bool,
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

    fn save(&self) {
        let Some(path) = &self.path else { return };
        let text = serde_json::to_string(&*self.kept.lock()).unwrap_or_default();
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, text));
        if let Err(why) = written {
            tracing::warn!(error = %why, file = %path.display(), "the preferences could not be saved");
        }
    }
}
