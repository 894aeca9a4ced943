//! `headgate-desktop`: the gateway in a window.
//!
//! [`engine`] hosts the gateway in this process on a runtime of its own; [`bridge`] hands the pages' requests to its
//! admin API; [`window`], [`tray`] and [`notices`] are what a person sees; [`commands`] is all the pages may ask of the shell.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod bridge;
mod commands;
mod engine;
mod notices;
mod preferences;
mod tray;
mod tray_host;
mod window;
mod words;

use std::sync::Arc;

use headgate_gateway::{File, Launch, LogLayer};
use tauri::{Manager as _, RunEvent};
use tracing_subscriber::{layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::{engine::Engine, preferences::Preferences};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    headgate_gateway::prepare_process();
    let filter = tracing_subscriber::EnvFilter::try_from_env("HEADGATE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(filter).with(log).with(LogLayer).init();
    let hidden = std::env::args().any(|word| word == "--hidden");
    // A mistake in a file is shown in the window like every other reason not to start.
    let launch = File::load().and_then(|file| Launch::from_environment(|name| std::env::var(name).ok())?.over(file));
    let engine = Arc::new(Engine::new(launch)?);
    let mut builder = tauri::Builder::default();
    // A driven window is always the only one of its kind.
    if std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_none() {
        builder = builder.plugin(tauri_plugin_single_instance::init(|app, _, _| window::show(app)));
    }
    let app = builder
        .plugin(tauri_plugin_window_state::Builder::default().build())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_clipboard_manager::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_opener::init())
        .manage(Arc::clone(&engine))
        .manage(bridge::Streams::default())
        .manage(window::Hidden::default())
        .invoke_handler(tauri::generate_handler![
            bridge::admin_request,
            bridge::admin_stop,
            commands::shell_state,
            commands::shell_retry,
            commands::shell_use_address,
            commands::shell_unseal,
            commands::shell_language,
            commands::shell_notices,
            commands::shell_set_notice,
            commands::save_file,
            commands::open_external,
        ])
        .setup(move |app| {
            app.manage(Preferences::load(app.handle()));
            app.manage(tray::make(app.handle()));
            notices::follow(app.handle().clone());
            engine.start();
            stop_by_signal(app.handle().clone());
            if !hidden || !tray::is_shown(app.handle()) {
                window::show(app.handle());
            }
            Ok(())
        })
        .build(tauri::generate_context!())?;
    app.run(|app, event| {
        if let RunEvent::ExitRequested { api, code: None, .. } = event {
            // The last window is gone; the gateway is not.
            api.prevent_exit();
            if !tray::is_shown(app) {
                quit(app);
            }
        }
    });
    Ok(())
}

/// Lets open requests finish, then ends the program.
fn quit(app: &tauri::AppHandle) {
    let app = app.clone();
    let engine = Arc::clone(&app.state::<Arc<Engine>>());
    std::thread::spawn(move || {
        engine.stop();
        app.exit(0);
    });
}

/// A signal ends it in good order, a second one at once.
fn stop_by_signal(app: tauri::AppHandle) {
    #[cfg(unix)]
    {
        let engine = Arc::clone(&app.state::<Arc<Engine>>());
        engine.spawn(async move {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut interrupt), Ok(mut terminate)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
            else {
                return;
            };
            let mut first = true;
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if !std::mem::take(&mut first) {
                    std::process::exit(130);
                }
                quit(&app);
            }
        });
    }
    #[cfg(not(unix))]
    drop(app);
}
