//! The tray: the state of the whole as an icon, and a menu.

use std::{sync::Arc, time::Duration};

use headgate_gateway::{Cause, Event, Glance, Standing, Today};
use parking_lot::Mutex;
use rust_decimal::Decimal;
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
    tray_host, window,
    words::{Language, Word},
};

/// The tray, if the system shows one.
#[derive(Default)]
pub struct Tray {
    icon: Mutex<Option<TrayIcon>>,
    /// What it shows now: a menu that is open is not replaced without need.
    shown: Mutex<Option<Shown>>,
    today: Mutex<Option<Today>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    language: Language,
    /// The URL while the gateway runs.
    url: Option<String>,
    glance: Glance,
    today: Option<Today>,
}

impl Shown {
    /// Of a gateway that does not run.
    fn nothing(language: Language) -> Self {
        Self { language, url: None, glance: Glance { standing: Standing::Stopped, cause: None }, today: None }
    }

    fn now(app: &AppHandle) -> Self {
        let mut shown = Self::nothing(app.state::<Preferences>().language());
        if let Some(running) = app.state::<Arc<Engine>>().running()
            && let Some(glance) = running.with(headgate_gateway::GatewayHandle::glance)
        {
            shown.glance = glance;
            shown.url = Some(running.url.clone());
            shown.today = app.try_state::<Tray>().and_then(|tray| tray.today.lock().clone());
        }
        shown
    }
}

/// Whether there is a tray a person can see.
pub fn is_shown(app: &AppHandle) -> bool {
    app.try_state::<Tray>().is_some_and(|tray| tray.icon.lock().is_some())
}

/// Makes it, and keeps it true from then on. Where nobody shows one yet it is made when somebody does: a panel may
/// start after us.
pub fn make(app: &AppHandle) -> Tray {
    let tray = Tray::default();
    if tray_host::is_there() {
        *tray.icon.lock() = build(app);
        follow(app.clone());
    } else {
        tracing::info!("this desktop shows no tray yet; until it does, closing the window ends the program");
        let app = app.clone();
        tray_host::wait(move || {
            let target = app.clone();
            // Menus belong to the main thread; it is gone when the program ends.
            let _ = app.run_on_main_thread(move || build_late(&target));
        });
    }
    tray
}

fn build(app: &AppHandle) -> Option<TrayIcon> {
    let icon = menu(app, &Shown::nothing(app.state::<Preferences>().language())).and_then(|menu| {
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
    icon.inspect_err(|why| tracing::warn!(error = %why, "the tray could not be made")).ok()
}

/// Makes it late.
fn build_late(app: &AppHandle) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    if tray.icon.lock().is_some() {
        return;
    }
    let built = build(app);
    let made = built.is_some();
    *tray.icon.lock() = built;
    if made {
        follow(app.clone());
    }
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

fn menu(app: &AppHandle, shown: &Shown) -> tauri::Result<Menu<Wry>> {
    let runs = shown.url.is_some();
    let item = |id: &str, text: &str, enabled| MenuItem::with_id(app, id, text, enabled, None::<&str>);
    let say = |word| shown.language.say(word);
    let mut tools = SubmenuBuilder::new(app, say(Word::CopyEnvironment)).enabled(runs);
    for tool in &TOOLS {
        tools = tools.text(tool.id, tool.name);
    }
    let paused = shown.glance.cause == Some(Cause::Paused);
    let toggle = if paused { Word::Resume } else { Word::Pause };
    let mut menu = MenuBuilder::new(app);
    for (n, line) in lines(shown).iter().enumerate() {
        menu = menu.item(&item(&format!("line-{n}"), line, false)?);
    }
    menu.separator()
        .item(&item("open", say(Word::Open), true)?)
        .item(&item(if paused { "resume" } else { "pause" }, say(toggle), runs)?)
        .item(&item("copy-url", say(Word::CopyUrl), runs)?)
        .item(&tools.build()?)
        .separator()
        .item(&item("quit", say(Word::Quit), true)?)
        .build()
}

/// What the menu says before it offers anything: word and address, the cause, what came and was spent today.
fn lines(shown: &Shown) -> Vec<String> {
    let say = |word| shown.language.say(word);
    let word = say(match shown.glance.standing {
        Standing::Healthy => Word::Healthy,
        Standing::Degraded => Word::Degraded,
        Standing::Down => Word::Down,
        Standing::Stopped => Word::Stopped,
    });
    let mut lines = vec![match shown.url.as_deref().and_then(|url| url.strip_prefix("http://")) {
        Some(address) => format!("{word} · {address}"),
        None => word.to_owned(),
    }];
    lines.extend(shown.glance.cause.as_ref().map(|cause| match cause {
        Cause::Paused => say(Word::Paused).to_owned(),
        Cause::GroupDown(name) => format!("{name}: {}", say(Word::NobodyServes)),
        Cause::GroupDegraded { name, out, of } => format!("{name}: {out}/{of} {}", say(Word::MembersOut)),
        Cause::CredentialRejected(name) => format!("{name}: {}", say(Word::KeyRejected)),
        Cause::ModelGone { name, model } => format!("{name}: {} {model}", say(Word::ModelGone)),
        Cause::BudgetSpent(name) => format!("{name}: {}", say(Word::BudgetSpent)),
        Cause::OverCap(name) => format!("{name}: {}", say(Word::OverCap)),
        Cause::MultiplierUnknown(name) => format!("{name}: {}", say(Word::MultiplierUnknown)),
        Cause::BalanceEmpty(name) => format!("{name}: {}", say(Word::BalanceEmpty)),
        Cause::CredentialsMissing(name) => format!("{name}: {}", say(Word::KeyMissing)),
    }));
    if let Some(today) = &shown.today {
        lines.push(format!("{}: {}", say(Word::Today), grouped(today.requests)));
        if !today.spent.is_empty() {
            let spent: Vec<_> = today.spent.iter().map(|(currency, amount)| money(currency, *amount)).collect();
            lines.push(format!("{}: {}", say(Word::SpentToday), spent.join(" + ")));
        }
    }
    lines
}

/// $1.25, 0.06 CNY; more digits of what is less than a cent.
fn money(currency: &str, amount: Decimal) -> String {
    let digits = if amount.is_zero() || amount >= Decimal::new(1, 2) { 2 } else { 5 };
    let amount = amount.round_dp(digits);
    let fixed = if digits == 2 { format!("{amount:.2}") } else { amount.normalize().to_string() };
    if currency == "USD" { format!("${fixed}") } else { format!("{fixed} {currency}") }
}

/// 12,345
fn grouped(count: i64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// Draws it anew where something has changed: the language, the state, today's requests.
pub fn refresh(app: &AppHandle) {
    let Some(tray) = app.try_state::<Tray>() else { return };
    let Some(icon) = tray.icon.lock().clone() else { return };
    let now = Shown::now(app);
    let before = tray.shown.lock().replace(now.clone());
    if before.as_ref() == Some(&now) {
        return;
    }
    let drawn = if before.is_some_and(|before| before.glance.standing == now.glance.standing) {
        Ok(())
    } else {
        image(now.glance.standing).and_then(|image| icon.set_icon(Some(image)))
    };
    let drawn = drawn
        .and_then(|()| icon.set_tooltip(Some(format!("Headgate\n{}", lines(&now).join("\n")))))
        .and_then(|()| icon.set_menu(Some(menu(app, &now)?)));
    if let Err(why) = drawn {
        tracing::warn!(error = %why, "the tray could not be changed");
    }
}

/// What made it worth looking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The state may have changed.
    State,
    /// Requests were stored.
    Stored,
}

/// The longest between two looks: a cooldown ends without an event, and so does a day.
const LOOK: Duration = Duration::from_secs(30);
/// Today's requests are counted at most this often.
const COUNT: Duration = Duration::from_secs(10);

/// Redraws it whenever the state of the whole has changed.
fn follow(app: AppHandle) {
    let engine = Arc::clone(&app.state::<Arc<Engine>>());
    let mut state = engine.state();
    engine.clone().spawn(async move {
        let mut counted: Option<tokio::time::Instant> = None;
        let mut stale = true;
        // Kept from round to round: what happens while it is redrawn must not be missed.
        let mut events = None;
        loop {
            let running = engine.running();
            if stale
                && counted.is_none_or(|at| at.elapsed() >= COUNT)
                && let Some(today) = running.as_ref().and_then(|r| r.with(|gateway| gateway.today()))
            {
                let today = today.await;
                if let Some(tray) = app.try_state::<Tray>() {
                    *tray.today.lock() = today;
                }
                (counted, stale) = (Some(tokio::time::Instant::now()), false);
            }
            events = events.or_else(|| running.and_then(|running| running.with(|gateway| gateway.events())));
            on_main(&app);
            if let Some(heard) = &mut events {
                let wait = if stale { COUNT } else { LOOK };
                tokio::select! {
                    changed = state.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        events = None;
                    }
                    // Closed, lagged or long quiet: look again.
                    turned = tokio::time::timeout(wait, turn(heard, stale)) => stale |= turned != Ok(Turn::State),
                }
                // A storm of turns is one redrawing.
                tokio::time::sleep(Duration::from_millis(300)).await;
            } else if matches!(*state.borrow(), State::Stopping) || state.changed().await.is_err() {
                return;
            }
        }
    });
}

/// Waits for something that may change what is shown; news of stored requests only while they are not waited for.
async fn turn(events: &mut tokio::sync::broadcast::Receiver<Event>, stale: bool) -> Turn {
    loop {
        match events.recv().await {
            Ok(Event::RequestStarted { .. } | Event::RequestFinished { .. }) => {}
            Ok(Event::RequestsStored) if stale => {}
            Ok(Event::RequestsStored) => return Turn::Stored,
            Ok(_) | Err(_) => return Turn::State,
        }
    }
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
    fn the_menu_says_word_and_address_cause_and_what_came_and_was_spent_today() {
        let mut shown = Shown::nothing(Language::Zh);
        assert_eq!(lines(&shown), ["已停止"]);
        shown.language = Language::En;
        shown.url = Some("http://127.0.0.1:8642".to_owned());
        let spent = vec![("CNY".to_owned(), Decimal::new(34, 4)), ("USD".to_owned(), Decimal::new(123_456, 4))];
        shown.today = Some(Today { requests: 1_234_567, spent });
        let name = headgate_domain::Name::new("coding").unwrap();
        shown.glance =
            Glance { standing: Standing::Degraded, cause: Some(Cause::GroupDegraded { name, out: 1, of: 3 }) };
        let said = [
            "Degraded · 127.0.0.1:8642",
            "coding: 1/3 upstreams are out",
            "Requests today: 1,234,567",
            "Spent today: 0.0034 CNY + $12.35",
        ];
        assert_eq!(lines(&shown), said);
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
