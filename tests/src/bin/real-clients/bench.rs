//! The program, its fake upstreams, and how a client is run before them.

use std::{path::Path, path::PathBuf, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use headgate_tests::{
    fake::{Behaviour, Fake, Point, Rule, answer},
    harness::{KEY, folder},
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

/// The longest one turn may take.
const TURN: Duration = Duration::from_secs(120);

/// What the upstreams speak: the client's own protocol, and each of the others.
pub const KINDS: [&str; 4] = ["passthrough", "openai", "openai-response", "claude"];

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The first candidate refuses: nobody notices.
    Refused,
    /// The first candidate breaks inside its stream, before its first output: nobody notices.
    Early,
    /// The second breaks off in the middle of its output, once: its client begins again, or says what happened.
    Cut,
    /// The second is silent for longer than its client waits for events: it hears from the gateway.
    Silent,
}

impl Fault {
    /// For the name of a test.
    pub fn words(self) -> &'static str {
        match self {
            Self::Refused => "first candidate refuses",
            Self::Early => "first candidate breaks early",
            Self::Cut => "cut in the middle",
            Self::Silent => "silent for long",
        }
    }
}

/// The access key of the group whose upstreams are of a kind.
pub fn key(kind: &str) -> String {
    format!("{KEY}-{kind}")
}

/// Everything a client needs.
pub struct Bench {
    pub clients: PathBuf,
    pub scripts: PathBuf,
    pub url: String,
    pub first: Fake,
    pub second: Fake,
    _headgate: Child,
    _place: tempfile::TempDir,
}

impl Bench {
    /// Starts the program with its embedded database, as a user would.
    pub async fn start(clients: PathBuf, scripts: PathBuf, headgate: &Path) -> Result<Self> {
        let (first, second) = (Fake::start().await, Fake::start().await);
        let place = folder();
        let file = place.path().join("headgate.yaml");
        std::fs::write(&file, configuration(&first, &second))?;
        let mut child = Command::new(headgate)
            .args(["serve", "--listen", "127.0.0.1:0", "--vault", "memory", "--apply"])
            .arg(&file)
            .arg("--data-dir")
            .arg(place.path().join("data"))
            .env("FIRST_KEY", "sk-first")
            .env("SECOND_KEY", "sk-second")
            .env("HEADGATE_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} could not be started", headgate.display()))?;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(Duration::from_secs(60), lines.next_line())
            .await
            .context("the gateway did not start")??;
        let url =
            line.as_deref().and_then(|l| l.strip_prefix("headgate ready on ")).context("the gateway did not start")?;
        Ok(Self { clients, scripts, url: url.to_owned(), first, second, _headgate: child, _place: place })
    }

    /// From now on the upstreams fail like this.
    fn script(&self, fault: Fault, (at, asked): (usize, &str)) {
        let normal = Behaviour { tool: true, pieces: 20, ..Behaviour::default() };
        self.first.always(match fault {
            Fault::Refused | Fault::Cut | Fault::Silent => Behaviour::status(503),
            Fault::Early => Behaviour { error_event: Some(Point::Event(1)), ..Behaviour::default() },
        });
        let rule = |path: &str, then: Behaviour| {
            let asked = Some(asked.to_owned());
            Rule { path: Some(path.to_owned()), containing: asked, times: Some(1), then, ..Rule::default() }
        };
        let cut = |path: &str, at| rule(path, Behaviour { cut: Some(Point::MidEvent(at)), ..normal.clone() });
        let once = match fault {
            Fault::Refused | Fault::Early => Vec::new(),
            // A Responses stream begins with one event more.
            Fault::Cut => vec![cut("/v1/chat/completions", at), cut("/v1/messages", at), cut("/v1/responses", at + 1)],
            Fault::Silent => vec![rule("/v1/", Behaviour { first_event_ms: SILENCE, ..normal.clone() })],
        };
        self.second.script(once.into_iter().chain([Rule::always(normal.clone())]));
        self.first.forget();
        self.second.forget();
    }

    /// The first candidate must have been tried, the second must have served.
    pub fn check_route(&self) -> Result<()> {
        let served = self.second.seen().iter().any(|s| answer::kind(&s.path).is_some());
        ensure!(!self.first.seen().is_empty(), "the first candidate was never asked");
        ensure!(served, "the second candidate served nothing");
        Ok(())
    }

    /// A client's program, with a home of its own and nothing of this process's environment.
    pub fn command(&self, program: &Path, home: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm")
            .env("HOME", home)
            .current_dir(home)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// What a client says. A cut comes inside the event that follows so many whole ones, in the answer to a request
    /// with this text: the gateway asks questions of its own, too.
    pub async fn output(&self, mut command: Command, fault: Fault, cut: (usize, &str)) -> Result<String> {
        self.script(fault, cut);
        // The breakers of the turn before have closed by then.
        tokio::time::sleep(BREAKER).await;
        let output = tokio::time::timeout(TURN, command.output()).await.context("the turn took too long")??;
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            bail!("{}: {}", output.status, tail(&text));
        }
        Ok(text)
    }
}

/// Longer than a client with [`PATIENCE`] waits, in milliseconds.
const SILENCE: u64 = 12_000;
/// How long a client is told to wait for the next event, in milliseconds.
pub const PATIENCE: u64 = 5000;

/// How long a breaker stays open.
const BREAKER: Duration = Duration::from_millis(100);

fn configuration(first: &Fake, second: &Fake) -> String {
    let (mut upstreams, mut groups, mut keys) = (String::new(), String::new(), String::new());
    for kind in KINDS {
        for (name, fake, variable) in [("first", first, "FIRST_KEY"), ("second", second, "SECOND_KEY")] {
            let url = fake.url();
            upstreams += &format!(
                "  - {{ name: {name}-{kind}, base_url: '{url}', protocol: {kind}, credentials: [ {{ env: {variable} }} ] }}\n"
            );
        }
        groups += &format!(
            "  - {{ name: {kind}, members: [ {{ upstream: first-{kind}, priority: 1 }}, {{ upstream: second-{kind}, priority: 2 }} ] }}\n"
        );
        keys += &format!("  - {{ name: {kind}, group: {kind}, secret: {} }}\n", key(kind));
    }
    format!(
        "version: 1
settings: {{ breaker_open: 100ms, breaker_open_max: 100ms, keep_alive: 3s }}
upstreams:\n{upstreams}groups:\n{groups}keys:\n{keys}"
    )
}

/// The end of what a client said.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
