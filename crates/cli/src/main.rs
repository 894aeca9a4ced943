//! `headgate`: the engine without a window, and the commands that speak to a running one.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program prints")]

mod admin;
mod check;
mod doctor;
mod serve;
mod whatif;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A local gateway for AI APIs: strict priority, failover, failback, a record of every attempt.
#[derive(Parser)]
#[command(name = "headgate", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the gateway
    Serve(serve::Args),
    /// Apply a configuration file to a running gateway: all or nothing, shows the difference
    Apply(admin::ApplyArgs),
    /// Print the configuration of a running gateway as a file; it holds no secret
    Export(admin::ExportArgs),
    /// Replay recorded traffic of a running gateway through another configuration file: who would have been chosen, what
    /// it would have cost, what would have failed
    Whatif(whatif::Args),
    /// Check a configuration file without a gateway
    Check(check::Args),
    /// Check port, data directory, database, vault, proxies and clock, and say what to do
    Doctor(doctor::Args),
}

fn main() -> ExitCode {
    headgate_gateway::prepare_process();
    let result = match Cli::parse().command {
        Command::Serve(args) => serve::run(args),
        Command::Apply(args) => admin::apply(args),
        Command::Export(args) => admin::export(args),
        Command::Whatif(args) => whatif::run(args),
        Command::Check(args) => check::run(&args),
        Command::Doctor(args) => doctor::run(args),
    };
    match result {
        Ok(code) => code,
        Err(why) => {
            eprintln!("headgate: {}", sentence(&why));
            ExitCode::FAILURE
        }
    }
}

/// The chain of causes as one sentence, without what a cause repeats.
fn sentence(why: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in why.chain() {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
    }
    text
}
