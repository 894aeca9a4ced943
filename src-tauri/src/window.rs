//! The one window: made when it is wanted, hidden when it is closed, gone after some minutes out of sight.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tauri::{AppHandle, Manager as _, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_dialog::DialogExt as _;
use tokio::task::JoinHandle;

use crate::{bridge::Streams, engine::Engine, preferences::Preferences, tray, words::Word};

const LABEL: &str = "main";
/// How long a hidden window keeps its web view.
const KEPT: Duration = Duration::from_secs(5 * 60);

/// The timer that ends a hidden window.
#[derive(Default)]
pub struct Hidden(Mutex<Option<JoinHandle<()>>>);

/// Shows the window; makes it if there is none.
pub fn show(app: &AppHandle) {
    if let Some(timer) = app.state::<Hidden>().0.lock().take() {
        timer.abort();
    }
    let window = match app.get_webview_window(LABEL) {
        Some(window) => window,
        None => match make(app) {
            Ok(window) => window,
            Err(why) => {
                tracing::error!(error = %why, "the window could not be made; the gateway goes on");
                return;
            }
        },
    };
    // Each may fail with the window's manager; the window is there all the same.
    let _ = window.show();
    let _ = window.unminimize();
    let _ = window.set_focus();
}

fn make(app: &AppHandle) -> tauri::Result<WebviewWindow> {
    let window = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::App("index.html".into()))
        .title("Headgate")
        .inner_size(1280.0, 800.0)
        .min_inner_size(960.0, 640.0)
        .on_navigation(is_ours)
        .build()?;
    let handle = app.clone();
    window.on_window_event(move |event| match event {
        WindowEvent::CloseRequested { api, .. } if tray::is_shown(&handle) => {
            api.prevent_close();
            hide(&handle);
        }
        WindowEvent::Destroyed => handle.state::<Streams>().stop_all(),
        _ => {}
    });
    #[cfg(target_os = "linux")]
    revive(&window)?;
    Ok(window)
}

/// The window stays with our own pages.
fn is_ours(url: &url::Url) -> bool {
    let developing = cfg!(debug_assertions) && url.host_str() == Some("127.0.0.1");
    url.scheme() == "tauri" || url.host_str() == Some("tauri.localhost") || developing
}

/// A web view that crashed is loaded again; the gateway has not noticed.
#[cfg(target_os = "linux")]
fn revive(window: &WebviewWindow) -> tauri::Result<()> {
    use webkit2gtk::WebViewExt as _;
    window.with_webview(|view| {
        view.inner().connect_web_process_terminated(|view, reason| {
            tracing::warn!(?reason, "the web view ended; it is loaded again");
            view.reload();
        });
    })
}

/// Hides the window; explains once that the gateway goes on.
fn hide(app: &AppHandle) {
    let Some(window) = app.get_webview_window(LABEL) else { return };
    let preferences = app.state::<Preferences>();
    if preferences.explain_close_once() {
        let app = app.clone();
        let text = preferences.language().say(Word::CloseExplained);
        app.dialog().message(text).title("Headgate").parent(&window).show(move |_| out_of_sight(&window));
    } else {
        out_of_sight(&window);
    }
}

fn out_of_sight(window: &WebviewWindow) {
    let _ = window.hide();
    let app = window.app_handle();
    let window = window.clone();
    let timer = app.state::<Arc<Engine>>().spawn(async move {
        tokio::time::sleep(KEPT).await;
        // Its pages and their process are memory nobody looks at.
        let _ = window.destroy();
    });
    if let Some(before) = app.state::<Hidden>().0.lock().replace(timer) {
        before.abort();
    }
}
