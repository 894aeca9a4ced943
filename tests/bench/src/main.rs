//! Benchmarks of Headgate: a mock upstream, a load generator, and the suite that compares direct, nginx and Headgate.
//!
//! Each part runs in its own process and they share one clock, `CLOCK_MONOTONIC`. They need Linux: times come from
//! `timerfd`, resources from `/proc`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a person at a terminal")]
#![cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "the benchmarks need Linux"))]

mod figures;
mod http;
mod stamp;

#[cfg(target_os = "linux")]
mod bare;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod mock;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod suite;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[derive(clap::Parser)]
#[command(name = "headgate-bench", version)]
enum Cli {
    /// Run the upstream: fixed service time, stamped events
    Mock(mock::Args),
    /// Run a bare proxy of the library that Headgate is built on
    Bare(bare::Args),
    /// Send requests at a constant rate or as fast as K connections allow
    Load(load::Args),
    /// Hold many streams open and look at a process's memory
    Streams(streams::Args),
    /// Compare direct, nginx and Headgate and write the report
    Suite(suite::Args),
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use clap::Parser as _;
    let cli = Cli::parse();
    if let Cli::Bare(args) = &cli {
        return ended(bare::run(args).map(|()| ExitCode::SUCCESS));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let local = tokio::task::LocalSet::new();
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| match cli {
        Cli::Bare(_) => Ok(ExitCode::SUCCESS),
        Cli::Mock(args) => local.block_on(&runtime, mock::run(args)).map(|()| ExitCode::SUCCESS),
        Cli::Load(args) => local.block_on(&runtime, load::run(args)).map(|()| ExitCode::SUCCESS),
        Cli::Streams(args) => local.block_on(&runtime, streams::run(args)).map(|()| ExitCode::SUCCESS),
        Cli::Suite(args) => local.block_on(&runtime, Box::pin(suite::run(args))),
    });
    ended(result)
}

#[cfg(target_os = "linux")]
fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|why| {
        eprintln!("headgate-bench: {why:#}");
        ExitCode::FAILURE
    })
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("headgate-bench: the benchmarks need Linux");
    ExitCode::FAILURE
}
