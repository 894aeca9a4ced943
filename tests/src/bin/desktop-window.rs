//! The real window against the fake upstream. To be run in a desktop session of its own (`tests/desktop/session.sh`),
//! in a network that has only loopback.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use headgate_tests::{
    desktop::{Setup, Window, free_port},
    fake::{Behaviour, Fake},
    harness::{PATHS, question},
};
use serde_json::{Value, json};

/// Drives the window.
#[derive(Parser)]
struct Args {
    /// The program under test.
    #[arg(long)]
    app: PathBuf,
    /// Where pictures go; absent: nowhere.
    #[arg(long)]
    pictures: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let (mut passed, mut failed) = (0, 0);
    macro_rules! scenario {
        ($name:ident) => {
            let begun = Instant::now();
            match Box::pin($name(&args)).await {
                Ok(()) => {
                    passed += 1;
                    eprintln!("desktop-window: {} ({:.1} s)", stringify!($name), begun.elapsed().as_secs_f64());
                }
                Err(why) => {
                    failed += 1;
                    println!("FAILED {}: {why:#}", stringify!($name));
                }
            }
        };
    }
    scenario!(it_opens_with_the_gateway_listening);
    scenario!(from_nothing_to_a_first_answer_and_everything_is_there_after_a_restart);
    scenario!(a_port_that_is_taken_is_told_with_its_remedy_and_a_retry);
    scenario!(another_address_is_offered_where_one_is_taken_and_kept);
    scenario!(upstreams_break_and_recover_while_the_overview_and_the_monitor_are_open);
    #[cfg(target_os = "linux")]
    scenario!(the_tray_shows_the_state_with_its_cause_and_does_what_its_menu_says);
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn setup(args: &Args, name: &str) -> Result<Setup> {
    let session = std::env::var("HEADGATE_SESSION").context("this runs inside tests/desktop/session.sh")?;
    let place = PathBuf::from(session).join(name);
    std::fs::create_dir_all(&place)?;
    // What the pages and the shell remember is this scenario's own.
    let environment = ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"]
        .map(|variable| (variable.to_owned(), place.join(variable).display().to_string()))
        .to_vec();
    Ok(Setup { app: args.app.clone(), data_dir: place.join("data"), port: free_port()?, environment })
}

async fn it_opens_with_the_gateway_listening(args: &Args) -> Result<()> {
    let setup = setup(args, "opens")?;
    let window = setup.open().await?;
    ensure!(window.address().await?.starts_with("tauri://localhost"), "not our pages: {}", window.address().await?);
    window.read(&format!("127.0.0.1:{}", setup.port)).await?;
    let health = reqwest::get(format!("http://127.0.0.1:{}/healthz", setup.port)).await?;
    ensure!(health.status() == 200);
    if let Some(folder) = &args.pictures {
        window.picture(&folder.join("opens.png")).await?;
    }
    window.close().await
}

async fn from_nothing_to_a_first_answer_and_everything_is_there_after_a_restart(args: &Args) -> Result<()> {
    const SECRET: &str = "sk-canary-7f3a9c51";
    let setup = setup(args, "first")?;
    let (first, second) = (Fake::start().await, Fake::start().await);
    let window = setup.open().await?;
    let picture = async |window: &Window, name: &str| match &args.pictures {
        Some(folder) => window.picture(&folder.join(format!("{name}.png"))).await,
        None => Ok(()),
    };
    window.write("#fr-address", &first.url()).await?;
    window.write("#fr-key", SECRET).await?;
    window.read("Reachable").await?;
    picture(&window, "first-run-upstream").await?;
    window.press("Continue").await?;
    window.press("Make both").await?;
    let key = window.see(".secret").await?.text().await?;
    let key = key.split_whitespace().next().unwrap_or_default().to_owned();
    ensure!(key.starts_with("hg-"), "no key is shown: {key}");
    picture(&window, "first-run-key").await?;
    window.press("Continue").await?;
    window.press("Send a test request").await?;
    window.read("It works").await?;
    // The record of the request follows.
    window.read("Direct").await?;
    picture(&window, "first-run-done").await?;
    let asked = first.last();
    ensure!(asked.header("authorization").or(asked.header("x-api-key")).is_some_and(|v| v.contains(SECRET)));
    window.press("Open Headgate").await?;
    window.read("The upstream in use is answering").await?;

    // A second upstream, by hand; then the first fails, and its lane shows it.
    let admin = Admin::of(&setup)?;
    let newest = admin.get("/revisions").await?["items"][0].clone();
    ensure!(newest["author"] == "window", "the window's change is kept as another's: {newest}");
    admin.post("/upstreams", json!({"name": "second", "base_url": second.url()})).await?;
    let group = admin.get("/groups").await?["items"][0].clone();
    let members = json!([{"upstream": admin.get("/upstreams").await?["items"][0]["name"], "priority": 10},
        {"upstream": "second", "priority": 20}]);
    let patch = json!({"revision": group["revision"], "members": members});
    admin.send(reqwest::Method::PATCH, &format!("/groups/{}", group["id"]), Some(patch)).await?;
    window.read("All 2 upstreams").await?;
    first.always(Behaviour::status(500));
    let ask = async || {
        let body = question(PATHS[0], "m", false);
        let url = format!("http://127.0.0.1:{}{}", setup.port, PATHS[0]);
        Ok::<_, reqwest::Error>(reqwest::Client::new().post(url).bearer_auth(&key).json(&body).send().await?.status())
    };
    for _ in 0..4 {
        ensure!(ask().await? == 200, "the second upstream did not take over");
    }
    window.read("Degraded").await?;
    window.read("Cooling").await?;
    picture(&window, "overview-degraded").await?;
    if args.pictures.is_some() {
        pictures_in_the_dark(&window, picture).await?;
    }

    // The credential is in the keychain and nowhere else.
    let page = window.script("return document.documentElement.outerHTML").await?.to_string();
    ensure!(!page.contains(SECRET), "the credential is in the page");
    let export = admin.get_text("/export").await?;
    ensure!(export.contains("base_url") && !export.contains(SECRET), "the credential is in the export");
    ensure!(admin.get("/status").await?["vault"]["kind"] == "keychain");
    window.close().await?;
    ensure!(!holds(&setup.data_dir, SECRET.as_bytes())?, "the credential is in the data directory");

    first.always(Behaviour::default());
    let window = setup.open().await?;
    if args.pictures.is_some() {
        // They took so long that the cooldown has been saved.
        window.press("Clear cooldown").await?;
    }
    window.read("All 2 upstreams").await?;
    ensure!(ask().await? == 200);
    window.close().await
}

/// Every page in the other theme and language.
async fn pictures_in_the_dark(window: &Window, picture: impl AsyncFn(&Window, &str) -> Result<()>) -> Result<()> {
    let set = |theme: &str, language: &str| {
        format!(
            "const key = 'headgate.preferences'; const kept = JSON.parse(localStorage.getItem(key) ?? '{{}}');
             localStorage.setItem(key, JSON.stringify({{ ...kept, theme: '{theme}', language: '{language}' }}));
             location.reload()"
        )
    };
    window.script(&set("dark", "zh")).await?;
    for (page, sees) in [
        ("overview", ".spark"),
        ("groups", "button[draggable]"),
        ("upstreams", "tr[data-id]"),
        ("requests", "tr[data-id]"),
        ("keys", "tr[data-id]"),
        ("settings", ".panel input"),
    ] {
        window.script(&format!("location.hash = '#/{page}'")).await?;
        window.see(sees).await?;
        picture(window, &format!("{page}-dark")).await?;
    }
    window.script("location.hash = '#/overview'").await?;
    window.script(&set("light", "en")).await?;
    // Longer ago than the cooldown by now: any state will do.
    window.read("Needs attention").await
}

/// Whether any file below a folder contains these bytes.
fn holds(folder: &Path, needle: &[u8]) -> Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let found = if path.is_dir() {
            holds(&path, needle)?
        } else {
            // Sockets and locks cannot be read.
            std::fs::read(&path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|w| w == needle))
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The admin API of a running application, from outside.
struct Admin {
    url: String,
    token: String,
}

impl Admin {
    fn of(setup: &Setup) -> Result<Self> {
        let token = std::fs::read_to_string(setup.data_dir.join("admin-token"))?.trim().to_owned();
        Ok(Self { url: format!("http://127.0.0.1:{}/admin/v1", setup.port), token })
    }

    async fn send(&self, method: reqwest::Method, path: &str, body: Option<Value>) -> Result<String> {
        let mut request =
            reqwest::Client::new().request(method, format!("{}{path}", self.url)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(text)
    }

    async fn get_text(&self, path: &str) -> Result<String> {
        self.send(reqwest::Method::GET, path, None).await
    }

    async fn get(&self, path: &str) -> Result<Value> {
        Ok(serde_json::from_str(&self.get_text(path).await?)?)
    }

    async fn post(&self, path: &str, body: Value) -> Result<String> {
        self.send(reqwest::Method::POST, path, Some(body)).await
    }
}

async fn a_port_that_is_taken_is_told_with_its_remedy_and_a_retry(args: &Args) -> Result<()> {
    let setup = setup(args, "port")?;
    let holder = tokio::net::TcpListener::bind(("127.0.0.1", setup.port)).await?;
    let window = setup.open().await?;
    window.read("in use by another program").await?;
    if let Some(folder) = &args.pictures {
        window.picture(&folder.join("port-taken.png")).await?;
    }
    drop(holder);
    window.press("Try again").await?;
    window.read(&format!("127.0.0.1:{}", setup.port)).await?;
    window.close().await
}

async fn another_address_is_offered_where_one_is_taken_and_kept(args: &Args) -> Result<()> {
    let setup = setup(args, "other-port")?;
    let holder = tokio::net::TcpListener::bind(("127.0.0.1", setup.port)).await?;
    let window = setup.open().await?;
    window.read("in use by another program").await?;
    let text = window.text().await?;
    let offered =
        text.lines().find_map(|line| line.trim().strip_prefix("Use 127.0.0.1:")).context("none is offered")?;
    let port: u16 = offered.parse()?;
    window.press(&format!("Use 127.0.0.1:{port}")).await?;
    window.read("The gateway is running").await?;
    ensure!(reqwest::get(format!("http://127.0.0.1:{port}/healthz")).await?.status() == 200);
    let variable = setup.environment.iter().find(|(name, _)| name == "XDG_CONFIG_HOME");
    let file = Path::new(&variable.context("a place for configuration")?.1).join("headgate/headgate.toml");
    ensure!(std::fs::read_to_string(&file)?.contains(&format!("listen = \"127.0.0.1:{port}\"")));
    drop(holder);
    window.close().await
}

async fn upstreams_break_and_recover_while_the_overview_and_the_monitor_are_open(args: &Args) -> Result<()> {
    const KEY: &str = "hg-broken-0123456789abcdefgh";
    let mut setup = setup(args, "breaking")?;
    let (first, second) = (Fake::start().await, Fake::start().await);
    let upstream = |name: &str, fake: &Fake| json!({"name": name, "base_url": fake.url(), "protocol": "openai", "credentials": [{"value": "sk-break-12345678"}]});
    let configuration = json!({
        "version": 1,
        "settings": {"breaker_open": "60s"},
        "upstreams": [upstream("one", &first), upstream("two", &second)],
        "groups": [{"name": "coding", "members": [{"upstream": "one", "priority": 1}, {"upstream": "two", "priority": 2}]}],
        "keys": [{"name": "k", "group": "coding", "secret": KEY}],
        "monitors": [{"upstream": "two", "model": "m-small", "interval": "1h"}],
    });
    let file = setup.data_dir.with_extension("yaml");
    std::fs::write(&file, configuration.to_string())?;
    setup.environment.push(("HEADGATE_APPLY".to_owned(), file.display().to_string()));
    let window = setup.open().await?;
    let picture = async |name: &str| match &args.pictures {
        Some(folder) => window.picture(&folder.join(format!("{name}.png"))).await,
        None => Ok(()),
    };
    let ask = async |times: usize| {
        let body = question(PATHS[0], "m", false);
        let url = format!("http://127.0.0.1:{}{}", setup.port, PATHS[0]);
        for _ in 0..times {
            let response = reqwest::Client::new().post(&url).bearer_auth(KEY).json(&body).send().await?;
            ensure!(response.status() == 200, "a request failed: {}", response.status());
        }
        Ok(())
    };
    window.read("All 2 upstreams").await?;

    // Its server fails: the second one carries on, and one press looks again before the minute is over.
    first.always(Behaviour::status(500));
    ask(4).await?;
    window.read("1 of 2 upstreams in coding cannot answer").await?;
    picture("breaking-server").await?;
    first.behave();
    window.press("Try now").await?;
    // Nobody asks anything: the gateway's own probes find it well.
    window.read("All 2 upstreams").await?;

    // Its key is refused: that needs a person.
    first.always(Behaviour::status(401));
    ask(1).await?;
    window.read("one: key refused").await?;
    picture("breaking-key").await?;
    first.behave();
    window.press("Try now").await?;
    ask(1).await?;
    window.read("All 2 upstreams").await?;

    // The monitor says what it finds.
    window.script("location.hash = '#/monitor'").await?;
    window.read("m-small").await?;
    second.always(Behaviour::status(503));
    window.press("Probe all").await?;
    window.read("Down").await?;
    picture("breaking-monitor").await?;
    second.behave();
    window.press("Probe all").await?;
    window.read("Healthy").await?;
    picture("breaking-monitor-well").await?;
    window.close().await
}

#[cfg(target_os = "linux")]
async fn the_tray_shows_the_state_with_its_cause_and_does_what_its_menu_says(args: &Args) -> Result<()> {
    use headgate_tests::desktop::tray::Tray;
    let mut setup = setup(args, "tray")?;
    let (first, second) = (Fake::start().await, Fake::start().await);
    const KEY: &str = "hg-tray-0123456789abcdefghij";
    let file = setup.data_dir.with_extension("yaml");
    let upstream = |name: &str, fake: &Fake| json!({"name": name, "base_url": fake.url(), "protocol": "openai", "credentials": [{"value": "sk-tray-12345678"}]});
    let configuration = json!({
        "version": 1,
        "upstreams": [upstream("one", &first), upstream("two", &second)],
        "groups": [{"name": "coding", "members": [{"upstream": "one", "priority": 1}, {"upstream": "two", "priority": 2}]}],
        "keys": [{"name": "k", "group": "coding", "secret": KEY}],
    });
    std::fs::write(&file, configuration.to_string())?;
    setup.environment.push(("HEADGATE_APPLY".to_owned(), file.display().to_string()));
    let window = setup.open().await?;
    // A panel that starts after us gets its icon all the same.
    window.read("All 2 upstreams").await?;
    let tray = Tray::start().await?;
    let drawing = |state: &str| {
        std::fs::read(format!("{}/../icons/tray-{state}-light.png", env!("CARGO_MANIFEST_DIR"))).context("an icon")
    };
    tray.shows(&format!("Healthy · 127.0.0.1:{}", setup.port), &drawing("healthy")?).await?;
    let ask = async || {
        let body = question(PATHS[0], "m", false);
        let url = format!("http://127.0.0.1:{}{}", setup.port, PATHS[0]);
        Ok::<_, reqwest::Error>(reqwest::Client::new().post(url).bearer_auth(KEY).json(&body).send().await?.status())
    };
    first.always(Behaviour::status(500));
    for _ in 0..4 {
        ensure!(ask().await? == 200);
    }
    tray.shows("coding: 1/2 upstreams are out", &drawing("degraded")?).await?;
    second.always(Behaviour::status(500));
    for _ in 0..4 {
        ask().await?;
    }
    tray.shows("coding: no upstream can answer", &drawing("down")?).await?;
    tray.shows("Requests today: 8", &drawing("down")?).await?;
    tray.press("Pause").await?;
    tray.shows("You paused it", &drawing("stopped")?).await?;
    ensure!(ask().await? == 503, "a paused gateway took a request");
    tray.press("Resume").await?;
    tray.shows("coding: no upstream can answer", &drawing("down")?).await?;
    window.end(async |_| tray.press("Quit").await).await
}
