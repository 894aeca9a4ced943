//! The suite: starts everything, measures in interleaved rounds, writes the report, ends everything.

mod children;
mod decisions;
mod document;
mod measure;
mod parties;
mod peers;
mod report;
mod start;
mod window;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use self::{
    children::Children,
    measure::Plan,
    parties::{Parties, Party},
    peers::Peer,
    report::Report,
};
use crate::{figures, mock::input_closed};

/// Flags.
#[derive(clap::Args)]
pub struct Args {
    /// What to measure; everything but the window when absent
    #[arg(value_enum)]
    name: Option<Name>,
    /// Three short rounds: to see whether it works, not to compare
    #[arg(long)]
    quick: bool,
    /// The program to measure
    #[arg(long)]
    headgate: PathBuf,
    /// Its build profile, for the report
    #[arg(long, default_value = "dist")]
    profile: String,
    /// A PostgreSQL that is up, for the cold start
    #[arg(long, env = "HEADGATE_BENCH_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// Where the results go
    #[arg(long)]
    results: PathBuf,
    /// The document to write after a whole run that counts; its part about other gateways or the window after one of those alone
    #[arg(long)]
    document: Option<PathBuf>,
    /// Another gateway to compare with, as NAME@VERSION=PROGRAM; NAME is litellm or portkey
    #[arg(long = "peer", value_name = "PEER")]
    peers: Vec<Peer>,
    /// The desktop program, for the part about its window
    #[arg(long)]
    window: Option<PathBuf>,
    /// Keep the figures of a run that started late, marked as provisional
    #[arg(long)]
    provisional: bool,
    /// Stop when standard input is closed
    #[arg(long)]
    until_stdin_closes: bool,
}

/// What can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// Added latency, processor time, a large prompt
    Latency,
    /// Added latency of requests that are translated
    Translation,
    /// Requests a second
    Throughput,
    /// First event and delay of events
    Stream,
    /// Idle, and with 2,000 streams open
    Memory,
    /// Cold start to the first answer
    Start,
    /// Decisions of routing
    Routing,
    /// Other gateways beside this one
    Peers,
    /// The gateway with its window open and out of sight; inside a desktop session
    Window,
}

/// Runs it. The exit code is a failure when the run does not count.
pub async fn run(args: Args) -> Result<ExitCode> {
    raise_file_limit();
    let children = Children::default();
    let result = tokio::select! {
        result = Box::pin(measure_all(&args, &children)) => result,
        () = stop_asked(args.until_stdin_closes) => Err(anyhow::anyhow!("stopped")),
    };
    children.stop_all().await;
    result
}

async fn measure_all(args: &Args, children: &Children) -> Result<ExitCode> {
    let plan = Plan::new(args.quick);
    let mut report = Report::new(&args.profile, plan.rounds);
    if args.name.is_none_or(|only| only == Name::Routing) {
        decisions::decisions(&plan, &mut report)?;
    }
    match args.name {
        Some(Name::Routing) => {}
        Some(Name::Window) => measure_window(args, children, &plan, &mut report).await?,
        _ => measure_parties(args, children, &plan, &mut report).await?,
    }
    report.finish(args.provisional, args.quick);
    print!("{}", report.table());
    std::fs::create_dir_all(&args.results)?;
    let file = args.results.join(match args.name {
        Some(name) => format!("{name:?}.json").to_lowercase(),
        None => "all.json".to_owned(),
    });
    std::fs::write(&file, serde_json::to_string_pretty(&report)?)
        .with_context(|| format!("{} cannot be written", file.display()))?;
    println!("\nEverything in numbers: {}", file.display());
    if report.discarded {
        eprintln!(
            "headgate-bench: this run does not count: in more than a quarter of the measurements over {} % of the \
             requests started more than a millisecond late. Make the machine quieter and run it again.",
            figures::LATE_SHARE * 100.0
        );
        if !args.provisional {
            return Ok(ExitCode::FAILURE);
        }
    }
    if let (Some(path), false) = (&args.document, args.quick) {
        match args.name {
            None => document::write(path, &report)?,
            Some(Name::Peers) => document::write_peers(path, &report)?,
            Some(Name::Window) => document::write_window(path, &report)?,
            Some(_) => return Ok(ExitCode::SUCCESS),
        }
        println!("Written: {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The gateway with and without its window.
async fn measure_window(args: &Args, children: &Children, plan: &Plan, report: &mut Report) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("headgate-bench-").tempdir()?;
    open_folder(folder.path())?;
    let window = args.window.as_deref().context("the desktop program is not given (--window)")?;
    window::measure(children, folder.path(), (&args.headgate, window), plan.rounds, args.quick, report).await?;
    // They have to be gone before their folder is.
    children.stop_all().await;
    Ok(())
}

/// What goes through sockets: the mock upstream, nginx, Headgate and other gateways.
async fn measure_parties(args: &Args, children: &Children, plan: &Plan, report: &mut Report) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("headgate-bench-").tempdir()?;
    // The embedded PostgreSQL runs as another user when this one is root, and has to get in.
    open_folder(folder.path())?;
    let wants = |name: Name| args.name.is_none_or(|only| only == name);
    eprintln!("headgate-bench: starting the mock upstream, nginx and Headgate");
    let mut parties = Parties::start(children, folder.path(), &args.headgate).await?;
    if wants(Name::Memory) {
        measure::memory(&parties, plan, report).await?;
    }
    if wants(Name::Latency) {
        measure::latency(&parties, plan, report).await?;
        measure::large(&parties, plan, report).await?;
    }
    if wants(Name::Translation) {
        measure::translated(&parties, plan, report).await?;
    }
    if wants(Name::Throughput) {
        measure::throughput(&parties, plan, report).await?;
    }
    if wants(Name::Stream) {
        measure::stream(&parties, plan, report).await?;
    }
    if wants(Name::Peers) {
        peers::measure(&args.peers, &mut parties, children, folder.path(), plan, report).await?;
        if args.name.is_some() && report.peers.names.is_empty() {
            bail!("no other gateway was measured");
        }
    }
    children.stop(parties.pid(Party::Headgate)?).await;
    if wants(Name::Start) {
        let url = args.database_url.as_deref();
        start::cold(children, folder.path(), &args.headgate, parties.place(Party::Direct)?.address, url, plan, report)
            .await?;
    }
    Ok(())
}

/// Ctrl-C, a request to end, or, if wanted, the end of standard input.
async fn stop_asked(until_stdin_closes: bool) {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::hangup()) => {}
        () = input_closed(), if until_stdin_closes => {}
    }
}

/// Thousands of streams need two descriptors each; what is started here inherits the limit.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Without it the memory figures say how many streams failed.
    let _ = setrlimit(Resource::Nofile, raised);
}

fn open_folder(path: &std::path::Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Runs this program once more and reads the line of JSON that it prints.
async fn ask_self<T: serde::de::DeserializeOwned>(arguments: &[String]) -> Result<T> {
    let output = tokio::process::Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await?;
    if !output.status.success() {
        bail!("headgate-bench {} failed ({})", arguments.join(" "), output.status);
    }
    serde_json::from_slice(&output.stdout).context("the load generator's result cannot be read")
}

async fn pause(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}
