//! `cargo xtask test`: the tests that every change must pass, and their sum.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::{
    clients,
    command::{cargo, say, which},
    setup::{self, Need},
    ui, window,
};

/// How many tests did what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Passed.
    pub(crate) passed: u64,
    /// Failed.
    pub(crate) failed: u64,
    /// Not run.
    pub(crate) skipped: u64,
}

impl Count {
    /// Adds another part.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// The last line of the form `N passed, N failed`, with or without `, N skipped`.
    pub(crate) fn of_sum(text: &str) -> Option<Self> {
        let line = text.lines().rev().find(|l| l.contains(" passed, "))?;
        let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|w| !w.is_empty()).map(str::parse);
        let mut next = || numbers.next().and_then(Result::ok);
        Some(Self { passed: next()?, failed: next()?, skipped: next().unwrap_or(0) })
    }

    /// One check as a test.
    pub(crate) fn of(passed: bool) -> Self {
        Self { passed: u64::from(passed), failed: u64::from(!passed), skipped: 0 }
    }
}

/// Sizes of `--full`: variables that the tests read.
const FULL: [(&str, &str); 3] =
    [("PROPTEST_CASES", "100000"), ("SIMULATION_SEEDS", "200"), ("HEADGATE_TEST_FULL", "1")];

/// Runs everything; an error if anything failed.
pub(crate) fn run(full: bool) -> Result<()> {
    ui::ensure_node()?;
    let needs = [
        Need::Compiler,
        Need::Postgres,
        Need::Network,
        Need::Python,
        Need::WebView,
        Need::Display,
        Need::Browser,
        Need::Clock,
    ];
    setup::ensure(&needs)?;
    ui::build()?;
    let mut sum = Count::default();
    let mut broken = Vec::new();
    let mut part = |name: &str, count: Count| {
        if count.failed > 0 {
            broken.push(name.to_owned());
        }
        sum.add(count);
    };
    part("formatting", check("formatting", cargo()?.args(["fmt", "--all", "--check"]))?);
    part("lints", check("lints", cargo()?.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?);
    say("building the programs");
    crate::command::run(cargo()?.args(["build", "--workspace", "--bins"]))?;
    say("tests");
    let mut tests = cargo()?;
    tests.args(["test", "--workspace", "--no-fail-fast"]);
    if full {
        tests.envs(FULL);
    }
    part("tests", counted(&mut tests)?);
    part("pages", ui::test()?);
    part("pages in a browser", ui::browser(full)?);
    part("window", window::test()?);
    part("the SDKs' types", clients::validate()?);
    part("real clients", clients::run(full)?);
    if full {
        for tool in ["deny", "machete"] {
            part(tool, optional(tool)?);
        }
    }
    if !broken.is_empty() {
        say(&format!("failed: {}", broken.join(", ")));
    }
    println!("{} passed, {} failed, {} skipped", sum.passed, sum.failed, sum.skipped);
    if sum.failed > 0 { bail!("{} test(s) failed", sum.failed) } else { Ok(()) }
}

fn check(name: &str, command: &mut Command) -> Result<Count> {
    say(name);
    Ok(Count::of(command.status().with_context(|| format!("{name} could not be checked"))?.success()))
}

/// A cargo tool that need not be there.
fn optional(tool: &str) -> Result<Count> {
    if which(&format!("cargo-{tool}")).is_none() {
        say(&format!("SKIPPED: cargo-{tool} is not installed (cargo install cargo-{tool})"));
        return Ok(Count { skipped: 1, ..Count::default() });
    }
    let arguments: &[&str] = if tool == "deny" { &["deny", "check", "licenses", "bans", "sources"] } else { &[tool] };
    check(tool, cargo()?.args(arguments))
}

/// Runs `cargo test` and adds up the lines in which each test program says how it went.
fn counted(command: &mut Command) -> Result<Count> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cargo test could not be started")?;
    let mut sum = Count::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some(count) = result_line(&line) {
                sum.add(count);
            }
            // A test that passed needs no line of its own.
            if !line.ends_with("... ok") {
                println!("{line}");
            }
        }
    }
    let status = child.wait()?;
    if !status.success() && sum.failed == 0 {
        // A program that died, or did not build.
        sum.failed += 1;
    }
    Ok(sum)
}

/// `test result: ok. 18 passed; 0 failed; 1 ignored; …`
fn result_line(line: &str) -> Option<Count> {
    let rest = line.strip_prefix("test result: ")?;
    let number = |word: &str| {
        let before = rest.split(';').find_map(|part| part.trim().strip_suffix(word))?;
        before.split_whitespace().last()?.parse().ok()
    };
    Some(Count { passed: number("passed")?, failed: number("failed")?, skipped: number("ignored")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_counts_for_itself_is_understood() {
        assert_eq!(Count::of_sum("x\n7 passed, 1 failed\n"), Some(Count { passed: 7, failed: 1, skipped: 0 }));
        assert_eq!(Count::of_sum("3 passed, 0 failed, 2 skipped"), Some(Count { passed: 3, failed: 0, skipped: 2 }));
        assert_eq!(Count::of_sum("nothing"), None);
    }

    #[test]
    fn the_result_line_of_a_test_program_is_understood() {
        let line = "test result: FAILED. 18 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(result_line(line), Some(Count { passed: 18, failed: 2, skipped: 1 }));
        assert_eq!(result_line("test a ... ok"), None);
    }
}
