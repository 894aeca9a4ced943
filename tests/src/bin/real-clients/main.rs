//! Real clients through the real program against the fake upstream: a tool-calling turn of each at upstreams of every
//! protocol, with the first candidate failing. To be run in a network namespace that has only loopback, so that no
//! client reaches its vendor.

mod agents;
mod bench;
mod sdks;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, ValueEnum};

use self::bench::{Bench, Fault};

/// Runs real clients.
#[derive(Parser)]
struct Args {
    /// Which of them.
    #[arg(value_enum)]
    which: Which,
    /// The folder in which they are installed.
    #[arg(long)]
    clients: PathBuf,
    /// The folder of their scripts.
    #[arg(long)]
    scripts: PathBuf,
    /// The program under test.
    #[arg(long)]
    headgate: PathBuf,
    /// Every model name in every way, and every fault; otherwise each client once for each protocol of an upstream.
    #[arg(long)]
    full: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Codex, Claude Code, opencode.
    Agents,
    /// The SDKs for Node.
    Node,
    /// The SDKs for Python.
    Python,
}

/// How many did what.
#[derive(Default)]
struct Sum {
    passed: u32,
    failed: u32,
}

impl Sum {
    fn note(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => {
                self.passed += 1;
                println!("ok    {name}");
            }
            Err(why) => {
                self.failed += 1;
                println!("FAIL  {name}: {why:#}");
            }
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(sum) => {
            println!("{} passed, {} failed", sum.passed, sum.failed);
            ExitCode::from(u8::from(sum.failed > 0))
        }
        Err(why) => {
            eprintln!("real-clients: {why:#}");
            println!("0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<Sum> {
    let bench = Bench::start(args.clients, args.scripts, &args.headgate).await?;
    let mut sum = Sum::default();
    let faults: &[Fault] = if args.full { &[Fault::Refused, Fault::Early, Fault::Cut] } else { &[Fault::Refused] };
    for fault in faults {
        match args.which {
            Which::Agents => agents::run(&bench, *fault, args.full, &mut sum).await,
            Which::Node => sdks::run(&bench, *fault, "node", &mut sum).await,
            Which::Python => sdks::run(&bench, *fault, "python", &mut sum).await,
        }
    }
    Ok(sum)
}
