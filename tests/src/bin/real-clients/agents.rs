//! Codex, Claude Code and opencode: each is asked to run a command and does.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use headgate_tests::{fake::answer, harness::folder};

use crate::{
    Sum,
    bench::{Bench, Fault, KINDS, PATIENCE, key, tail},
};

const CODEX: [&str; 3] = ["gpt-5-codex", "gpt-5.5", "gpt-6.2-sol"];
/// Whether it is a bearer token that opens the gateway.
const CLAUDE: [(&str, bool); 3] = [("claude-sonnet-4-5", true), ("claude-sonnet-5", false), ("claude-opus-5-5", true)];
const OPENCODE: [&str; 3] = ["@ai-sdk/openai-compatible", "@ai-sdk/openai", "@ai-sdk/anthropic"];

/// The event of a tool's input, where a cut hurts most.
const INSIDE_THE_CALL: (usize, &str) = (2, answer::MARK);

pub async fn run(bench: &Bench, fault: Fault, full: bool, sum: &mut Sum) {
    let how = fault.words();
    if fault == Fault::Refused {
        sum.note("codex, websocket first", codex(bench, fault, CODEX[0], true, KINDS[0]).await);
        let silent = codex(bench, Fault::Silent, CODEX[0], false, "claude").await;
        sum.note("codex on claude, which is silent for longer than codex waits", silent);
    }
    for (at, kind) in KINDS.into_iter().enumerate() {
        for model in chosen(&CODEX, at, full) {
            let name = format!("codex on {kind}, a tool turn as {model}, {how}");
            sum.note(&name, codex(bench, fault, model, false, kind).await);
        }
        for (model, token) in chosen(&CLAUDE, at, full) {
            let with = if token { "bearer token" } else { "api key" };
            let name = format!("claude code on {kind}, a tool turn as {model}, {with}, {how}");
            sum.note(&name, claude(bench, fault, model, token, kind).await);
        }
        // Its packages are three clients.
        for package in OPENCODE {
            let name = format!("opencode with {package} on {kind}, a tool turn, {how}");
            sum.note(&name, opencode(bench, fault, package, kind).await);
        }
    }
}

/// One of the names for each upstream, or all of them.
fn chosen<T: Copy>(names: &[T], at: usize, full: bool) -> Vec<T> {
    if full { names.to_vec() } else { vec![names[at % names.len()]] }
}

fn prompt(tool: &str) -> String {
    format!("Run this with the {tool} tool: echo {}   Then answer with one short sentence.", answer::MARK)
}

async fn codex(bench: &Bench, fault: Fault, model: &str, websockets: bool, kind: &str) -> Result<()> {
    let program = find(&bench.clients.join("codex/node_modules/@openai"), "bin/codex")?;
    let home = folder();
    let configuration = format!(
        "model = \"{model}\"\nmodel_provider = \"headgate\"\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n[features]\nplugins = false\n\
         [model_providers.headgate]\nname = \"headgate\"\nbase_url = \"{}/v1\"\nenv_key = \"HEADGATE_KEY\"\n\
         wire_api = \"responses\"\nsupports_websockets = {websockets}\n\
         stream_idle_timeout_ms = {}\n",
        bench.url,
        if fault == Fault::Silent { PATIENCE } else { 300_000 },
    );
    std::fs::write(home.path().join("config.toml"), configuration)?;
    let mut command = bench.command(&program, home.path());
    command
        .env("CODEX_HOME", home.path())
        .env("HEADGATE_KEY", key(kind))
        .args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"])
        .arg(prompt("shell"));
    let text = bench.output(command, fault, INSIDE_THE_CALL).await?;
    let ran = text.lines().filter(|l| {
        l.contains("\"type\":\"command_execution\"") && l.contains("\"exit_code\":0") && l.contains(answer::MARK)
    });
    ensure!(ran.count() == 1, "the shell command did not run once: {}", tail(&text));
    ensure!(text.contains("\"type\":\"turn.completed\""), "the turn was not completed: {}", tail(&text));
    ensure!(text.contains(answer::TEXT), "the answer did not arrive: {}", tail(&text));
    ensure!(fault == Fault::Cut || !text.contains("Reconnecting"), "codex had to reconnect: {}", tail(&text));
    bench.check_route()
}

async fn claude(bench: &Bench, fault: Fault, model: &str, token: bool, kind: &str) -> Result<()> {
    let program = find(&bench.clients.join("claude/node_modules/@anthropic-ai"), "claude")?;
    let home = folder();
    let mut command = bench.command(&program, home.path());
    command
        .env(if token { "ANTHROPIC_AUTH_TOKEN" } else { "ANTHROPIC_API_KEY" }, key(kind))
        .env("ANTHROPIC_BASE_URL", &bench.url)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("CLAUDE_CODE_MAX_RETRIES", "2")
        .arg("-p")
        .arg(prompt("Bash"))
        .args(["--model", model, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"]);
    let text = bench.output(command, fault, INSIDE_THE_CALL).await?;
    let ran = text.lines().filter(|l| l.contains("\"type\":\"tool_result\"") && l.contains(answer::MARK));
    ensure!(ran.count() == 1, "the Bash tool did not run once: {}", tail(&text));
    let last = text.lines().rev().find(|l| l.contains("\"is_error\"")).unwrap_or_default();
    let told = last.contains("\"is_error\":false") && last.contains(answer::TEXT);
    ensure!(told, "the result is an error: {}", tail(&text));
    bench.check_route()
}

async fn opencode(bench: &Bench, fault: Fault, package: &str, kind: &str) -> Result<()> {
    // The build that every processor can run.
    let program = find(&bench.clients.join("opencode/node_modules/opencode-linux-x64-baseline"), "bin/opencode")
        .or_else(|_| find(&bench.clients.join("opencode/node_modules"), "bin/opencode"))?;
    let home = folder();
    let configuration = serde_json::json!({
        "autoupdate": false, "share": "disabled", "enabled_providers": ["headgate"], "model": "headgate/m",
        "small_model": "headgate/m", "permission": {"bash": "allow"},
        "provider": {"headgate": {
            "npm": package, "name": "headgate", "options": {"baseURL": format!("{}/v1", bench.url), "apiKey": key(kind)},
            "models": {"m": {"name": "m", "tool_call": true, "limit": {"context": 200_000, "output": 8000}}},
        }},
    });
    std::fs::write(home.path().join("opencode.json"), configuration.to_string())?;
    let mut command = bench.command(&program, home.path());
    for (variable, below) in [("DATA", "data"), ("CONFIG", "config"), ("CACHE", "cache"), ("STATE", "state")] {
        command.env(format!("XDG_{variable}_HOME"), home.path().join(below));
    }
    command
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .args(["run", "--format", "json"])
        .arg(prompt("bash"));
    let text = bench.output(command, fault, INSIDE_THE_CALL).await?;
    let ran = text
        .lines()
        .any(|l| l.contains("\"type\":\"tool_use\"") && l.contains(&format!("\"output\":\"{}", answer::MARK)));
    ensure!(ran, "the bash tool did not run: {}", tail(&text));
    let told = text.lines().any(|l| l.contains("\"type\":\"text\"") && l.contains(answer::TEXT));
    ensure!(told, "the answer did not arrive: {}", tail(&text));
    bench.check_route()
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
