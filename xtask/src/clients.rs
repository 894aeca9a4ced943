//! Real clients through the gateway: Codex and Claude Code, pinned, in a network namespace that has only loopback.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{
    command::{run_quietly, say, target, tools, which},
    test::Count,
};

/// Client programs: folder, npm package, version.
const CLIENTS: [(&str, &str, &str); 2] =
    [("codex", "@openai/codex", "0.171.0"), ("claude", "@anthropic-ai/claude-code", "2.1.332")];

/// Installs the clients and runs a turn of each. What cannot be done is skipped loudly, but never in CI.
pub(crate) fn run() -> Result<Count> {
    let ci = env::var_os("CI").is_some_and(|v| !v.is_empty());
    match prepare() {
        Ok(folder) => {
            say("real clients");
            let programs = target()?.join("debug");
            let mut inside = in_namespace()?;
            inside
                .arg(programs.join("real-clients"))
                .arg("--clients")
                .arg(folder)
                .arg("--headgate")
                .arg(programs.join("headgate"));
            let output =
                inside.stderr(std::process::Stdio::inherit()).output().context("unshare could not be started")?;
            let text = String::from_utf8_lossy(&output.stdout);
            print!("{text}");
            Ok(Count::of_sum(&text)
                .filter(|c| output.status.success() || c.failed > 0)
                .unwrap_or(Count { failed: 1, ..Count::default() }))
        }
        Err(why) if ci => Err(why.context("real clients cannot be run, which CI does not forgive")),
        Err(why) => {
            say(&format!("SKIPPED: real clients ({why:#})"));
            Ok(Count { skipped: CLIENTS.len() as u64, ..Count::default() })
        }
    }
}

/// A command that runs what is added to it in a network that has only loopback.
pub(crate) fn in_namespace() -> Result<Command> {
    let unshare: &[&[&str]] = &[&["--net"], &["--map-root-user", "--net"]];
    let works = |flags: &&&[&'static str]| {
        Command::new("unshare").args(**flags).args(["--", "true"]).output().is_ok_and(|o| o.status.success())
    };
    let namespace: &'static [&'static str] = match unshare.iter().find(|flags| works(flags)) {
        Some(&["--net"]) => &["--net"],
        Some(_) => &["--map-root-user", "--net"],
        None => anyhow::bail!("a network namespace needs root or user namespaces"),
    };
    let mut inside = Command::new("unshare");
    inside.args(namespace).args(["--", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
    Ok(inside)
}

/// Installs what is missing; gives the folder of the clients.
fn prepare() -> Result<PathBuf> {
    in_namespace()?;
    let npm = which("npm").context("npm is not installed; install Node.js 20.19 or newer")?;
    let folder = tools()?.with_file_name("clients");
    for (name, package, version) in CLIENTS {
        let place = folder.join(name);
        if !installed(&place, package, version) {
            say(&format!("installing {package} {version}"));
            std::fs::create_dir_all(&place)?;
            std::fs::write(place.join("package.json"), "{\"private\":true}\n")?;
            run_quietly(
                Command::new(&npm)
                    .current_dir(&place)
                    .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"])
                    .arg(format!("{package}@{version}")),
            )?;
        }
    }
    Ok(folder)
}

fn installed(place: &Path, package: &str, version: &str) -> bool {
    let manifest = place.join("node_modules").join(package).join("package.json");
    std::fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
}
