//! Real clients through the real program against the fake upstream: a tool-calling turn of each, with the first
//! candidate failing. To be run in a network namespace that has only loopback, so that no client reaches its vendor.

use std::{
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Parser;
use headgate_tests::{
    fake::{Behaviour, Fake, answer},
    harness::{KEY, folder},
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

/// Runs every client once in each way.
#[derive(Parser)]
struct Args {
    /// Folder with `codex/` and `claude/`.
    #[arg(long)]
    clients: PathBuf,
    /// The program under test.
    #[arg(long)]
    headgate: PathBuf,
}

/// The longest one turn may take.
const TURN: Duration = Duration::from_secs(120);

/// What the upstreams speak: the client's own protocol, and each of the others.
const KINDS: [&str; 4] = ["passthrough", "openai", "openai-response", "claude"];

/// The access key of the group whose upstreams are of a kind.
fn key(kind: &str) -> String {
    format!("{KEY}-{kind}")
}

struct Bench {
    clients: PathBuf,
    url: String,
    first: Fake,
    second: Fake,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("real-clients: {why:#}");
            println!("0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<u32> {
    let (first, second) = (Fake::start().await, Fake::start().await);
    first.always(Behaviour::status(503));
    second.always(Behaviour { tool: true, ..Behaviour::default() });
    let place = folder();
    let (_headgate, url) = start(&args.headgate, place.path(), &first, &second).await?;
    let bench = Bench { clients: args.clients, url, first, second };
    let mut failed = 0;
    let mut passed = 0;
    let mut told = |name: &str, result: Result<()>| match result {
        Ok(()) => {
            passed += 1;
            println!("ok    {name}");
        }
        Err(why) => {
            failed += 1;
            println!("FAIL  {name}: {why:#}");
        }
    };
    told("codex, websocket first", bench.codex("gpt-5-codex", true, KINDS[0]).await);
    for kind in KINDS {
        for model in ["gpt-5-codex", "gpt-5.5", "gpt-6.2-sol"] {
            told(&format!("codex on {kind}, a tool turn as {model}"), bench.codex(model, false, kind).await);
        }
        for (model, token) in [("claude-sonnet-4-5", true), ("claude-sonnet-5", false), ("claude-opus-5-5", true)] {
            let how = if token { "bearer token" } else { "api key" };
            let name = format!("claude code on {kind}, a tool turn as {model}, {how}");
            told(&name, bench.claude(model, token, kind).await);
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed)
}

/// Starts the program with its embedded database, as a user would.
async fn start(headgate: &Path, place: &Path, first: &Fake, second: &Fake) -> Result<(Child, String)> {
    let file = place.join("headgate.yaml");
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
    let configuration = format!(
        "version: 1
settings: {{ breaker_open: 100ms, breaker_open_max: 100ms }}
upstreams:\n{upstreams}groups:\n{groups}keys:\n{keys}"
    );
    std::fs::write(&file, configuration)?;
    let mut child = Command::new(headgate)
        .args(["serve", "--listen", "127.0.0.1:0", "--vault", "memory", "--apply"])
        .arg(&file)
        .arg("--data-dir")
        .arg(place.join("data"))
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
    Ok((child, url.to_owned()))
}

impl Bench {
    /// The first candidate must have been tried, the second must have served.
    fn check_route(&self) -> Result<()> {
        ensure!(!self.second.seen().is_empty(), "the second candidate was never asked");
        let served = self.second.seen().iter().any(|s| answer::kind(&s.path).is_some());
        ensure!(served, "the second candidate served nothing");
        Ok(())
    }

    fn command(&self, program: &Path, home: &Path) -> Command {
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

    async fn output(&self, mut command: Command) -> Result<String> {
        self.first.forget();
        self.second.forget();
        let output = tokio::time::timeout(TURN, command.output()).await.context("the turn took too long")??;
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            bail!("exit {}: {}", output.status, tail(&text));
        }
        Ok(text)
    }

    async fn codex(&self, model: &str, websockets: bool, kind: &str) -> Result<()> {
        let program = find(&self.clients.join("codex/node_modules/@openai"), "bin/codex")?;
        let home = folder();
        let configuration = format!(
            "model = \"{model}\"\nmodel_provider = \"headgate\"\ncheck_for_update_on_startup = false\n\
             [analytics]\nenabled = false\n[features]\nplugins = false\n\
             [model_providers.headgate]\nname = \"headgate\"\nbase_url = \"{}/v1\"\nenv_key = \"HEADGATE_KEY\"\n\
             wire_api = \"responses\"\nsupports_websockets = {websockets}\n",
            self.url
        );
        std::fs::write(home.path().join("config.toml"), configuration)?;
        let mut command = self.command(&program, home.path());
        command
            .env("CODEX_HOME", home.path())
            .env("HEADGATE_KEY", key(kind))
            .args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"])
            .arg(format!("Run the shell command: echo {}   Then answer with one short sentence.", answer::MARK));
        let text = self.output(command).await?;
        let ran = text.lines().any(|l| {
            l.contains("\"type\":\"command_execution\"") && l.contains("\"exit_code\":0") && l.contains(answer::MARK)
        });
        ensure!(ran, "the shell command did not run: {}", tail(&text));
        ensure!(text.contains("\"type\":\"turn.completed\""), "the turn was not completed: {}", tail(&text));
        ensure!(text.contains(answer::TEXT), "the answer did not arrive: {}", tail(&text));
        ensure!(!text.contains("Reconnecting"), "codex had to reconnect: {}", tail(&text));
        self.check_route()
    }

    async fn claude(&self, model: &str, token: bool, kind: &str) -> Result<()> {
        let program = find(&self.clients.join("claude/node_modules/@anthropic-ai"), "claude")?;
        let home = folder();
        let mut command = self.command(&program, home.path());
        command
            .env(if token { "ANTHROPIC_AUTH_TOKEN" } else { "ANTHROPIC_API_KEY" }, key(kind))
            .env("ANTHROPIC_BASE_URL", &self.url)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("CLAUDE_CODE_MAX_RETRIES", "2")
            .arg("-p")
            .arg(format!("Run this with the Bash tool: echo {}   Then answer with one short sentence.", answer::MARK))
            .args(["--model", model, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"]);
        let text = self.output(command).await?;
        let ran = text.lines().any(|l| l.contains("\"type\":\"tool_result\"") && l.contains(answer::MARK));
        ensure!(ran, "the Bash tool did not run: {}", tail(&text));
        let last = text.lines().rev().find(|l| l.contains("\"is_error\"")).unwrap_or_default();
        ensure!(
            last.contains("\"is_error\":false") && last.contains(answer::TEXT),
            "the result is an error: {}",
            tail(&text)
        );
        self.check_route()
    }
}

/// The native program in a platform package below `folder`.
fn find(folder: &Path, ending: &str) -> Result<PathBuf> {
    let mut stack = vec![folder.to_owned()];
    while let Some(here) = stack.pop() {
        for entry in std::fs::read_dir(&here).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                stack.push(path);
            } else if path.ends_with(ending) && is_native(&path) {
                return Ok(path);
            }
        }
    }
    bail!("no program {ending} below {}; is the client installed?", folder.display())
}

fn is_native(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.len() > 4 && bytes[..4] == *b"\x7fELF")
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
