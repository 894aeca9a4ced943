//! Real clients through the gateway: Codex and Claude Code, pinned, in a network namespace that has only loopback.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{
    command::{run_quietly, say, target, tools, which},
    isolated,
    test::Count,
};

/// Client programs: folder, npm package, version.
const CLIENTS: [(&str, &str, &str); 2] =
    [("codex", "@openai/codex", "0.171.0"), ("claude", "@anthropic-ai/claude-code", "2.1.332")];

/// Installs the clients and runs a turn of each.
pub(crate) fn run() -> Result<Count> {
    let add = |inside: &mut Command| {
        let folder = prepare()?;
        let programs = target()?.join("debug");
        inside.arg(programs.join("real-clients")).arg("--clients").arg(folder);
        inside.arg("--headgate").arg(programs.join("headgate"));
        Ok(())
    };
    isolated::counted("real clients", CLIENTS.len() as u64, add, Count::of_sum)
}

/// Installs what is missing; gives the folder of the clients.
fn prepare() -> Result<PathBuf> {
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
