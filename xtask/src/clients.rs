//! Real clients through the gateway, pinned, in a network namespace that has only loopback: Codex, Claude Code,
//! opencode and the official SDKs.

use std::{path::PathBuf, process::Command};

use anyhow::{Result, bail};

use crate::{
    command::{cargo, root, run_quietly, say, target},
    isolated,
    packages::{self, Packages},
    setup::{self, Need},
    test::Count,
};

/// Programs from npm: folder, packages, versions.
const AGENTS: [(&str, &Packages); 3] = [
    ("codex", &[("@openai/codex", "0.171.0")]),
    ("claude", &[("@anthropic-ai/claude-code", "2.1.332")]),
    ("opencode", &[("opencode-ai", "1.18.33")]),
];
/// The SDKs for Node.
const NODE: [(&str, &Packages); 1] = [("sdk", &[("openai", "7.59.0"), ("@anthropic-ai/sdk", "1.14.0")])];
/// The SDKs for Python.
const PYTHON: [(&str, &str); 2] = [("openai", "3.57.0"), ("anthropic", "2.14.0")];

/// `cargo xtask clients`: builds the programs and runs nothing else.
pub(crate) fn alone(full: bool) -> Result<()> {
    setup::ensure(&[Need::Compiler, Need::Postgres, Need::Network, Need::Python])?;
    say("building the programs");
    crate::command::run(cargo()?.args(["build", "--bins"]))?;
    let mut sum = validate()?;
    sum.add(run(full)?);
    println!("{} passed, {} failed, {} skipped", sum.passed, sum.failed, sum.skipped);
    if sum.failed > 0 { bail!("{} test(s) failed", sum.failed) } else { Ok(()) }
}

/// Installs the clients and runs a turn of each; with every model, and with every fault, if `full`.
pub(crate) fn run(full: bool) -> Result<Count> {
    let mut sum = some("real clients", "agents", 22, full, || from_npm(&AGENTS))?;
    sum.add(some("SDKs for Node", "node", 12, full, || from_npm(&NODE))?);
    sum.add(some("SDKs for Python", "python", 12, full, from_pypi)?);
    Ok(sum)
}

/// Runs those that `prepare` installs.
fn some(name: &str, which: &str, tests: u64, full: bool, prepare: impl FnOnce() -> Result<PathBuf>) -> Result<Count> {
    let add = |inside: &mut Command| {
        let folder = prepare()?;
        let programs = target()?.join("debug");
        inside.arg(programs.join("real-clients")).arg(which).arg("--clients").arg(folder);
        inside.arg("--scripts").arg(root()?.join("tests").join("clients"));
        inside.arg("--headgate").arg(programs.join("headgate"));
        if full {
            inside.arg("--full");
        }
        Ok(())
    };
    isolated::counted(name, tests, add, Count::of_sum)
}

/// Holds what the tests of the translation produce against the types of the official SDKs.
pub(crate) fn validate() -> Result<Count> {
    let produced = target()?.join("produced");
    let add = |inside: &mut Command| {
        let python = from_pypi()?.join("python").join("bin").join("python");
        if produced.exists() {
            std::fs::remove_dir_all(&produced)?;
        }
        let tests = ["test", "--quiet", "--package", "headgate-wire", "--test", "translation"];
        run_quietly(cargo()?.args(tests).env("HEADGATE_PRODUCED", std::path::absolute(&produced)?))?;
        inside.arg(python).arg(root()?.join("tests").join("clients").join("validate.py")).arg(&produced);
        Ok(())
    };
    isolated::counted("documents and the SDKs' types", 1, add, |text| {
        // Thousands of documents are one test.
        Count::of_sum(text).map(|count| Count::of(count.passed > 0 && count.failed == 0))
    })
}

/// Installs what is missing of some sets from npm; gives the folder of the clients.
fn from_npm(sets: &[(&str, &Packages)]) -> Result<PathBuf> {
    for (name, packages) in sets {
        packages::from_npm(name, packages)?;
    }
    packages::folder()
}

/// The same for the SDKs for Python.
fn from_pypi() -> Result<PathBuf> {
    packages::from_pypi("python", &PYTHON)?;
    packages::folder()
}
