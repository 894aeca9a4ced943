//! The real window against the fake upstream. To be run in a desktop session of its own (`tests/desktop/session.sh`),
//! in a network that has only loopback.

use std::{path::PathBuf, process::ExitCode, time::Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use headgate_tests::desktop::{Setup, free_port};

/// Drives the window.
#[derive(Parser)]
struct Args {
    /// The program under test.
    #[arg(long)]
    app: PathBuf,
    /// Where pictures go; absent: nowhere.
    #[arg(long)]
    pictures: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let (mut passed, mut failed) = (0, 0);
    macro_rules! scenario {
        ($name:ident) => {
            let begun = Instant::now();
            match Box::pin($name(&args)).await {
                Ok(()) => {
                    passed += 1;
                    eprintln!("desktop-window: {} ({:.1} s)", stringify!($name), begun.elapsed().as_secs_f64());
                }
                Err(why) => {
                    failed += 1;
                    println!("FAILED {}: {why:#}", stringify!($name));
                }
            }
        };
    }
    scenario!(it_opens_with_the_gateway_listening);
    scenario!(a_port_that_is_taken_is_told_with_its_remedy_and_a_retry);
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn setup(args: &Args, name: &str) -> Result<Setup> {
    let session = std::env::var("HEADGATE_SESSION").context("this runs inside tests/desktop/session.sh")?;
    let data_dir = PathBuf::from(session).join(name);
    std::fs::create_dir_all(&data_dir)?;
    Ok(Setup { app: args.app.clone(), data_dir: data_dir.join("data"), port: free_port()?, environment: Vec::new() })
}

async fn it_opens_with_the_gateway_listening(args: &Args) -> Result<()> {
    let setup = setup(args, "opens")?;
    let window = setup.open().await?;
    ensure!(window.address().await?.starts_with("tauri://localhost"), "not our pages: {}", window.address().await?);
    window.read(&format!("127.0.0.1:{}", setup.port)).await?;
    let health = reqwest::get(format!("http://127.0.0.1:{}/healthz", setup.port)).await?;
    ensure!(health.status() == 200);
    if let Some(folder) = &args.pictures {
        window.picture(&folder.join("opens.png")).await?;
    }
    window.close().await
}

async fn a_port_that_is_taken_is_told_with_its_remedy_and_a_retry(args: &Args) -> Result<()> {
    let setup = setup(args, "port")?;
    let holder = tokio::net::TcpListener::bind(("127.0.0.1", setup.port)).await?;
    let window = setup.open().await?;
    window.read("in use by another program").await?;
    drop(holder);
    window.press("Try again").await?;
    window.read(&format!("127.0.0.1:{}", setup.port)).await?;
    window.close().await
}
