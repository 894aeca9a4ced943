//! The pages: installed, built when they have changed, tested.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    command::{ask, root, run_quietly, say, target, which},
    isolated,
    test::Count,
};

/// What the pages are made of, in `ui/`.
const SOURCES: [&str; 6] = ["src", "public", "index.html", "vite.config.ts", "package-lock.json", "openapi.json"];
/// The oldest Node that builds them.
const NODE: (u32, u32) = (20, 19);

fn folder() -> Result<PathBuf> {
    Ok(root()?.join("ui"))
}

fn npm() -> Result<Command> {
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    npm.current_dir(folder()?);
    Ok(npm)
}

/// Checks that Node is there and new enough.
pub(crate) fn ensure_node() -> Result<()> {
    let version = ask("node", &["--version"]).unwrap_or_default();
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|n| n.parse::<u32>().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < NODE || which(if cfg!(windows) { "npm.cmd" } else { "npm" }).is_none() {
        let (major, minor) = NODE;
        let what = if version.is_empty() { "it is not installed".to_owned() } else { format!("this is {version}") };
        bail!("Node {major}.{minor} or newer with npm is needed to build the pages ({what}); see https://nodejs.org");
    }
    Ok(())
}

/// Installs their packages if they have changed.
fn install() -> Result<()> {
    ensure_node()?;
    let folder = folder()?;
    let installed = modified(&folder.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= modified(&folder.join("package-lock.json")) {
        return Ok(());
    }
    say("installing the packages of the pages");
    run_quietly(npm()?.args(["ci", "--no-audit", "--no-fund"]))
}

/// Builds them if they have changed.
pub(crate) fn build() -> Result<()> {
    install()?;
    let folder = folder()?;
    let built = modified(&folder.join("dist/index.html"));
    // A blank page stands for them after a check of the code alone.
    let blank = !folder.join("dist/assets").is_dir();
    if !blank && SOURCES.iter().all(|name| newest(&folder.join(name)) <= built) {
        return Ok(());
    }
    say("building the pages");
    run_quietly(npm()?.args(["run", "build"]))
}

/// Their checks and component tests.
pub(crate) fn test() -> Result<Count> {
    install()?;
    say("pages: types, lints, format");
    let checked = npm()?.args(["run", "--silent", "check"]).status()?.success();
    say("pages: component tests");
    let mut sum = Count::of(checked);
    let report = target()?.join("vitest.json");
    let mut tests = npm()?;
    tests.args(["run", "--silent", "test:unit", "--", "--reporter=default", "--reporter=json"]);
    tests.arg(format!("--outputFile.json={}", report.display()));
    let ran = tests.status()?.success();
    let mut count = counted(&report)?;
    if !ran && count.failed == 0 {
        count.failed = 1;
    }
    sum.add(count);
    Ok(sum)
}

/// Every page in a browser, against a real gateway.
pub(crate) fn browser(full: bool) -> Result<Count> {
    let add = |inside: &mut Command| {
        let programs = target()?.join("debug");
        inside.arg("npm").args(["run", "--silent", "test:e2e"]).current_dir(folder()?);
        if full {
            inside.env("HEADGATE_UI_FULL", "1");
        }
        inside.env("HEADGATE_BIN", programs.join("headgate")).env("FAKE_UPSTREAM_BIN", programs.join("fake-upstream"));
        Ok(())
    };
    isolated::counted("pages: in a browser", 1, add, node_sum)
}

/// The sum that Node's test runner prints at its end: `# pass 12` or `ℹ pass 12`, and so on.
fn node_sum(text: &str) -> Option<Count> {
    let number = |word: &str| {
        let of = |line: &str| line.trim_start_matches(['#', 'ℹ', ' ']).strip_prefix(word)?.trim().parse().ok();
        text.lines().rev().find_map(of)
    };
    Some(Count { passed: number("pass ")?, failed: number("fail ")?, skipped: number("skipped ").unwrap_or(0) })
}

/// The sums of Vitest's report.
fn counted(report: &Path) -> Result<Count> {
    let text = fs::read_to_string(report).context("the component tests left no report")?;
    let report: serde_json::Value = serde_json::from_str(&text)?;
    let number = |name: &str| report.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ok(Count {
        passed: number("numPassedTests"),
        failed: number("numFailedTests"),
        skipped: number("numPendingTests") + number("numTodoTests"),
    })
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|m| m.modified()).ok()
}

/// The newest change under a path.
fn newest(path: &Path) -> Option<SystemTime> {
    let mut latest = modified(path);
    if let Ok(entries) = fs::read_dir(path) {
        for entry in entries.flatten() {
            latest = latest.max(newest(&entry.path()));
        }
    }
    latest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_nodes_test_runner_is_understood() {
        for mark in ["#", "ℹ"] {
            let text = format!("ok 1 - x\n{mark} tests 14\n{mark} pass 12\n{mark} fail 1\n{mark} skipped 1\n");
            assert_eq!(node_sum(&text), Some(Count { passed: 12, failed: 1, skipped: 1 }));
        }
        assert_eq!(node_sum("it died"), None);
    }
}
