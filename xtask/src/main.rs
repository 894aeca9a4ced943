//! Set-up and chores, the same on every machine: `cargo xtask --help`.

#![expect(clippy::print_stderr, reason = "a program for a person at a terminal")]

mod command;
mod postgres;
mod setup;
mod sqlx;

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
    /// Write what the statements' compile-time check needs (`.sqlx/`) from the migrations; needed after a change of either.
    Sqlx {
        /// Change nothing; fail if something would change.
        #[arg(long)]
        check: bool,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Sqlx { check } => sqlx::prepare(check),
    }
}
