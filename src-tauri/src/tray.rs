//! The tray: the state of the whole as an icon, and a menu.

use std::{sync::Arc, time::Duration};

use headgate_gateway::{Event, Standing};
use parking_lot::Mutex;
use tauri::{
    AppHandle, Manager as _, Wry,
    image::Image,
    menu::{Menu, MenuBuilder, MenuItem, SubmenuBuilder},
    tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent},
};
use tauri_plugin_clipboard_manager::ClipboardExt as _;

use crate::{
    engine::{Engine, State},
    preferences::Preferences,
    window,
    words::{Language, Word},
};

/// The tray, if the system shows one.
pub struct Tray {
    icon: Option<TrayIcon>,
    shown: Mutex<Option<Standing>>,
}

/// Whether there is a tray a person can see.
pub fn is_shown(app: &AppHandle) -> bool {
    app.try_state::<Tray>().is_some_and(|tray| tray.icon.is_some())
}

/// Makes it, and keeps it true from then on.
pub fn make(app: &AppHandle) -> Tray {
    if !has_host() {
        tracing::info!("this desktop shows no tray; closing the window ends the program");
        return Tray { icon: None, shown: Mutex::default() };
    }
    let icon = menu(app, Standing::Stopped).and_then(|menu| {
        TrayIconBuilder::with_id("main")
            .icon(image(Standing::Stopped)?)
            .icon_as_template(true)
            .tooltip("Headgate")
            .menu(&menu)
            .show_menu_on_left_click(false)
            .on_menu_event(|app, event| chosen(app, event.id().as_ref()))
            .on_tray_icon_event(|tray, event| {
                if let TrayIconEvent::Click { button: MouseButton::Left, button_state: MouseButtonState::Up, .. } =
                    event
                {
                    window::show(tray.app_handle());
                }
            })
            .build(app)
    });
    let icon = icon.inspect_err(|why| tracing::warn!(error = %why, "the tray could not be made")).ok();
    if icon.is_some() {
        follow(app.clone());
    }
    Tray { icon, shown: Mutex::default() }
}

/// Whether anything would show it: on Linux a tray is drawn by another program.
fn has_host() -> bool {
    #[cfg(target_os = "linux")]
    {
        let ask = || -> zbus::Result<bool> {
            let bus = zbus::blocking::Connection::session()?;
            let names = zbus::blocking::fdo::DBusProxy::new(&bus)?;
            Ok(names.name_has_owner("org.kde.StatusNotifierWatcher".try_into()?)?)
        };
        ask().unwrap_or(false)
    }
    #[cfg(not(target_os = "linux"))]
    true
}

fn image(standing: Standing) -> tauri::Result<Image<'static>> {
    macro_rules! drawn {
        ($state:literal) => {
            if cfg!(target_os = "macos") {
                include_bytes!(concat!("../../icons/tray-", $state, "-dark.png")).as_slice()
            } else {
                include_bytes!(concat!("../../icons/tray-", $state, "-light.png")).as_slice()
            }
        };
    }
    Image::from_bytes(match standing {
        Standing::Healthy => drawn!("healthy"),
        Standing::Degraded => drawn!("degraded"),
        Standing::Down => drawn!("down"),
        Standing::Stopped => drawn!("stopped"),
    })
}

/// A tool whose environment can be copied.
struct Tool {
    id: &'static str,
    name: &'static str,
    /// The variable of the base URL, and what follows it there.
    url: (&'static str, &'static str),
    /// The variable of the key.
    key: &'static str,
}

const TOOLS: [Tool; 3] = [
    Tool { id: "env-claude", name: "Claude Code", url: ("ANTHROPIC_BASE_URL", ""), key: "ANTHROPIC_AUTH_TOKEN" },
    Tool { id: "env-openai", name: "OpenAI SDK", url: ("OPENAI_BASE_URL", "/v1"), key: "OPENAI_API_KEY" },
    Tool { id: "env-anthropic", name: "Anthropic SDK", url: ("ANTHROPIC_BASE_URL", ""), key: "ANTHROPIC_API_KEY" },
];

/// The lines for a tool. The key is the person's own: it is not known here.
fn environment(base: &str, tool: &Tool) -> String {
    let ((name, path), key) = (tool.url, tool.key);
    format!("export {name}={base}{path}\nexport {key}=hg-YOUR-KEY\n")
}

fn menu(app: &AppHandle, standing: Standing) -> tauri::Result<Menu<Wry>> {
    let language = app.state::<Preferences>().language();
    let engine = app.state::<Arc<Engine>>();
    let running = engine.running();
    let item = |id: &str, text: &str, enabled| MenuItem::with_id(app, id, text, enabled, None::<&str>);
    let say = |word| language.say(word);
    let mut tools = SubmenuBuilder::new(app, say(Word::CopyEnvironment)).enabled(running.is_some());
    for tool in &TOOLS {
        tools = tools.text(tool.id, tool.name);
    }
    let paused = running.is_some() && standing == Standing::Stopped;
    let toggle = if paused { Word::Resume } else { Word::Pause };
    MenuBuilder::new(app)
        .item(&item("status", &status_line(language, standing, running.as_ref().map(|r| r.url.as_str())), false)?)
        .separator()
        .item(&item("open", say(Word::Open), true)?)
        .item(&item(if paused { "resume" } else { "pause" }, say(toggle), running.is_some())?)
        .item(&item("copy-url", say(Word::CopyUrl), running.is_some())?)
        .item(&tools.build()?)
        .separator()
        .item(&item("quit", say(Word::Quit), true)?)
        .build()
}

fn status_line(language: Language, standing: Standing, url: Option<&str>) -> String {
    let word = language.say(match standing {
        Standing::Healthy => Word::Healthy,
        Standing::Degraded => Word::Degraded,
        Standing::Down => Word::Down,
        Standing::Stopped => Word::Stopped,
    });
    match url.and_then(|url| url.strip_prefix("http://")) {
        Some(address) => format!("{word} · {address}"),
        None => word.to_owned(),
    }
}

fn chosen(app: &AppHandle, id: &str) {
    let running = app.state::<Arc<Engine>>().running();
    match (id, running) {
        ("open", _) => window::show(app),
        ("quit", _) => crate::quit(app),
        ("pause", Some(running)) => drop(running.with(|gateway| gateway.pause(true))),
        ("resume", Some(running)) => drop(running.with(|gateway| gateway.pause(false))),
        ("copy-url", Some(running)) => copy(app, running.url.clone()),
        (id, Some(running)) => {
            if let Some(tool) = TOOLS.iter().find(|tool| tool.id == id) {
                copy(app, environment(&running.url, tool));
            }
        }
        _ => {}
    }
}

fn copy(app: &AppHandle, text: String) {
    if let Err(why) = app.clipboard().write_text(text) {
        tracing::warn!(error = %why, "nothing could be copied");
    }
}

/// Draws it anew: another language, another state.
pub fn refresh(app: &AppHandle) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    let Some(icon) = &tray.icon else { return };
    let standing = app
        .state::<Arc<Engine>>()
        .running()
        .and_then(|running| running.with(headgate_gateway::GatewayHandle::standing))
        .unwrap_or(Standing::Stopped);
    *tray.shown.lock() = Some(standing);
    let drawn = image(standing).and_then(|image| icon.set_icon(Some(image)));
    let drawn = drawn.and_then(|()| icon.set_menu(Some(menu(app, standing)?)));
    if let Err(why) = drawn {
        tracing::warn!(error = %why, "the tray could not be changed");
    }
}

/// Redraws it whenever the state of the whole has changed.
fn follow(app: AppHandle) {
    let engine = Arc::clone(&app.state::<Arc<Engine>>());
    let mut state = engine.state();
    engine.clone().spawn(async move {
        loop {
            let events = engine.running().and_then(|running| running.with(|gateway| gateway.events()));
            on_main(&app);
            match events {
                Some(mut events) => {
                    tokio::select! {
                        changed = state.changed() => if changed.is_err() { return },
                        () = turn(&mut events) => {}
                    }
                    // A storm of turns is one redrawing.
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
                None if matches!(*state.borrow(), State::Stopping) => return,
                None => {
                    if state.changed().await.is_err() {
                        return;
                    }
                }
            }
        }
    });
}

/// Waits for something that may change the state; a cooldown ends without an event, so not for ever.
async fn turn(events: &mut tokio::sync::broadcast::Receiver<Event>) {
    let wait = async {
        while let Ok(event) = events.recv().await {
            let traffic =
                matches!(event, Event::RequestStarted { .. } | Event::RequestFinished { .. } | Event::RequestsStored);
            if !traffic {
                return;
            }
        }
    };
    // Closed or lagged: look again at leisure.
    let _ = tokio::time::timeout(Duration::from_secs(30), wait).await;
}

fn on_main(app: &AppHandle) {
    let target = app.clone();
    // Menus belong to the main thread.
    let _ = app.run_on_main_thread(move || refresh(&target));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_names_word_and_address() {
        let line = status_line(Language::En, Standing::Degraded, Some("http://127.0.0.1:8642"));
        assert_eq!(line, "Degraded · 127.0.0.1:8642");
        assert_eq!(status_line(Language::Zh, Standing::Stopped, None), "已停止");
    }

    #[test]
    fn the_environment_of_a_tool_names_the_port_and_no_key() {
        let text = environment("http://127.0.0.1:8642", &TOOLS[1]);
        assert_eq!(text, "export OPENAI_BASE_URL=http://127.0.0.1:8642/v1\nexport OPENAI_API_KEY=hg-YOUR-KEY\n");
    }

    #[test]
    fn every_state_has_its_drawing() {
        for standing in [Standing::Healthy, Standing::Degraded, Standing::Down, Standing::Stopped] {
            assert_eq!(image(standing).unwrap().width(), 32);
        }
    }
}
