//! Set-up and chores, the same on every machine: `cargo xtask --help`.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a person at a terminal")]

mod bench;
mod clients;
mod command;
mod fuzz;
mod isolated;
mod packages;
mod peers;
mod postgres;
mod prices;
mod run;
mod setup;
mod sqlx;
mod test;
mod ui;
mod window;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Set-up and chores of the Headgate workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what is missing, build the application and run it, in its window where there is a display;
    /// headgate.yaml in the current folder is applied.
    Run {
        /// `headgate serve`, without a window.
        #[arg(long)]
        headless: bool,
        /// Optimised: slower to build, faster to run.
        #[arg(long)]
        release: bool,
        /// Flags of `headgate serve`, after `--`; with any, there is no window.
        #[arg(last = true)]
        serve: Vec<String>,
    },
    /// Install what is missing and run the tests that every change must pass.
    Test {
        /// Full sizes, and the checks of dependencies.
        #[arg(long)]
        full: bool,
    },
    /// Run the real clients alone: agents and SDKs through the gateway, and its documents against the SDKs' types.
    Clients {
        /// Every model name, and every fault.
        #[arg(long)]
        full: bool,
    },
    /// Measure what the gateway costs, compared with no proxy, with nginx and with other gateways.
    Bench(bench::Args),
    /// Send the translation what a fuzzer makes up; needs a nightly compiler and cargo-fuzz.
    Fuzz(fuzz::Args),
    /// Fetch the published prices of models and write them into `crates/pricing/data/`.
    Prices,
    /// Let a real upstream die and flap under a real load, for a long time, and print what clients noticed.
    Faults {
        /// How many minutes each course takes.
        #[arg(long, default_value_t = 10)]
        minutes: u32,
        /// How often the upstream is killed: every so many seconds.
        #[arg(long, default_value_t = 60)]
        period: u32,
    },
    /// Measure the list of requests, its filters and its figures on a table of many rows.
    Rows {
        /// How many requests; ten million take some ten gigabytes of disk and a quarter of an hour.
        #[arg(default_value_t = 10_000_000)]
        rows: u64,
    },
    /// Play faults against a configuration in virtual time and print how it behaves: `cargo xtask simulate FILE`.
    #[command(disable_help_flag = true)]
    Simulate {
        /// The file, and flags: `cargo xtask simulate --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Write what the statements' compile-time check needs (`.sqlx/`) from the migrations; needed after a change of either.
    Sqlx {
        /// Change nothing; fail if something would change.
        #[arg(long)]
        check: bool,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Run { release, headless, serve } => run::run(release, headless, &serve),
        Task::Test { full } => test::run(full),
        Task::Clients { full } => clients::alone(full),
        Task::Bench(args) => bench::bench(&args),
        Task::Fuzz(args) => fuzz::fuzz(&args),
        Task::Prices => prices::refresh(),
        Task::Faults { minutes, period } => faults(minutes, period),
        Task::Rows { rows } => measure_rows(rows),
        Task::Simulate { arguments } => simulate(&arguments),
        Task::Sqlx { check } => sqlx::prepare(check),
    }
}

/// Paths in the arguments are those of the caller's folder.
fn simulate(arguments: &[String]) -> Result<()> {
    let here = std::env::current_dir()?;
    let mut program = command::cargo()?;
    program.args(["run", "--quiet", "--release", "--package", "headgate-simulation", "--manifest-path"]);
    program.arg(command::root()?.join("Cargo.toml")).arg("--").args(arguments);
    command::run(program.current_dir(here))
}

fn faults(minutes: u32, period: u32) -> Result<()> {
    setup::ensure(&[setup::Need::Compiler, setup::Need::Postgres])?;
    command::run(command::cargo()?.args(["build", "--quiet", "--bins"]))?;
    let mut tests = command::cargo()?;
    tests.args(["test", "--quiet", "--package", "headgate-tests", "--test", "faults", "a_top_upstream", "--"]);
    tests.args(["--nocapture", "--test-threads", "1"]);
    tests.env("HEADGATE_FAULT_LENGTH", (minutes * 60).to_string()).env("HEADGATE_FAULT_PERIOD", period.to_string());
    command::run(&mut tests)
}

fn measure_rows(rows: u64) -> Result<()> {
    setup::ensure(&[setup::Need::Compiler, setup::Need::Postgres])?;
    let mut test = command::cargo()?;
    test.args(["test", "--quiet", "--release", "--package", "headgate-store", "--test", "store", "large::", "--"]);
    test.args(["--ignored", "--nocapture", "--test-threads", "1"]).env("HEADGATE_ROWS", rows.to_string());
    command::run(&mut test)
}
