//! What the pages may ask of the shell.

use std::{io::Write as _, net::SocketAddr, sync::Arc};

use futures_util::StreamExt as _;
use headgate_domain::Secret;
use serde::Serialize;
use tauri::{AppHandle, State, ipc::Channel};
use tauri_plugin_dialog::DialogExt as _;
use tauri_plugin_opener::OpenerExt as _;

use crate::{
    bridge::AdminRequest,
    engine::{self, Engine},
    notices::Notice,
    preferences::Preferences,
    tray,
};

/// The shell, as the pages see it.
#[derive(Clone, Serialize)]
pub struct ShellState {
    version: &'static str,
    /// There is a tray, so closing the window hides it.
    tray: bool,
    #[serde(flatten)]
    engine: engine::State,
}

/// Tells the state of the shell, now and whenever it changes.
#[tauri::command]
pub fn shell_state(app: AppHandle, engine: State<'_, Arc<Engine>>, channel: Channel<ShellState>) {
    let mut watch = engine.state();
    engine.spawn(async move {
        loop {
            let engine = watch.borrow_and_update().clone();
            let state = ShellState { version: env!("CARGO_PKG_VERSION"), tray: tray::is_shown(&app), engine };
            if channel.send(state).is_err() || watch.changed().await.is_err() {
                return;
            }
        }
    });
}

/// Starts the gateway again.
#[tauri::command]
pub fn shell_retry(engine: State<'_, Arc<Engine>>) {
    engine.start();
}

/// Starts the gateway on another address, and keeps that for the next starts.
#[tauri::command]
pub fn shell_use_address(engine: State<'_, Arc<Engine>>, address: SocketAddr) -> Result<(), String> {
    if !engine.offers(address) {
        return Err("only the address that was offered can be taken".to_owned());
    }
    engine.start_at(address)
}

/// Starts the gateway with its secrets in a file sealed with this passphrase.
#[tauri::command]
pub fn shell_unseal(engine: State<'_, Arc<Engine>>, passphrase: String) -> Result<(), String> {
    if passphrase.chars().count() < 8 {
        return Err("a passphrase has 8 characters or more".to_owned());
    }
    engine.start_sealed(Secret::new(passphrase));
    Ok(())
}

/// The language of menus and notices of the shell: `en` or `zh`.
#[tauri::command]
pub fn shell_language(app: AppHandle, preferences: State<'_, Preferences>, language: String) {
    preferences.set_language(&language);
    tray::refresh(&app);
}

/// What the desktop shows a notice of.
#[tauri::command]
pub fn shell_notices(preferences: State<'_, Preferences>) -> Vec<Notice> {
    Notice::ALL.into_iter().filter(|notice| preferences.shows(*notice)).collect()
}

/// Switches one; gives what is shown from now on.
#[tauri::command]
pub fn shell_set_notice(preferences: State<'_, Preferences>, notice: Notice, on: bool) -> Vec<Notice> {
    preferences.show(notice, on);
    shell_notices(preferences)
}

/// Writes the answer of the admin API into a file that the person chooses; tells whether one was chosen.
#[tauri::command]
pub async fn save_file(
    app: AppHandle,
    engine: State<'_, Arc<Engine>>,
    path: String,
    name: String,
) -> Result<bool, String> {
    let running = engine.running().ok_or("the gateway does not run")?;
    let (chosen, choice) = tokio::sync::oneshot::channel();
    app.dialog().file().set_file_name(name).save_file(move |path| drop(chosen.send(path)));
    let Ok(Some(target)) = choice.await else { return Ok(false) };
    let target = target.into_path().map_err(|why| why.to_string())?;
    let (status, _, body) = AdminRequest::get(path).send(&running).await?;
    if status != 200 {
        return Err(format!("there is nothing to save (status {status})"));
    }
    let shown = target.display().to_string();
    let failed = |why: std::io::Error| format!("{shown} cannot be written: {why}");
    let mut file = std::fs::File::create(&target).map_err(failed)?;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        file.write_all(&chunk.map_err(|why| why.to_string())?).map_err(failed)?;
    }
    Ok(true)
}

/// Opens a page of the web in the person's browser.
#[tauri::command]
pub fn open_external(app: AppHandle, url: String) -> Result<(), String> {
    let parsed = url::Url::parse(&url).map_err(|_| "this is no address".to_owned())?;
    if parsed.scheme() != "https" {
        return Err("only https pages are opened".to_owned());
    }
    app.opener().open_url(parsed.as_str(), None::<&str>).map_err(|why| why.to_string())
}
