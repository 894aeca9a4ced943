//! Many streams held open, and what that costs the process between.

use std::{cell::Cell, rc::Rc, time::Duration};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

use crate::{
    http::{Reader, Target},
    process,
    stamp::Stamps,
};

/// Flags.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Streams at the same time
    #[arg(long, default_value_t = 2000)]
    count: u32,
    /// Streams opened a second
    #[arg(long, default_value_t = 400)]
    pace: u32,
    /// Seconds that all are held open
    #[arg(long, default_value_t = 8)]
    seconds: u32,
    /// The process whose memory is looked at
    #[arg(long)]
    pid: u32,
}

/// What came out, as it is printed. Bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Streams that had an event and were open to the end.
    pub open: u32,
    /// Streams that failed.
    pub failed: u32,
    /// Resident before the first stream.
    pub before: u64,
    /// Resident with all streams open: the most that was seen.
    pub with_streams: u64,
    /// The most ever resident.
    pub peak: u64,
    /// The difference for one stream.
    pub per_stream: u64,
}

/// Opens the streams and prints the outcome as one line of JSON.
pub async fn run(mut args: Args) -> Result<()> {
    // Two seconds between events, and more of them than anybody waits for.
    args.target.stream.get_or_insert(1_000_000);
    if args.target.interval == 0 {
        args.target.interval = 2_000_000;
    }
    let request: Rc<[u8]> = args.target.request().into();
    let mut outcome = Outcome { before: process::resident(args.pid)?, ..Outcome::default() };
    let begun = Rc::new(Cell::new(0_u32));
    let mut running = JoinSet::new();
    let mut pace = tokio::time::interval(Duration::from_secs(1) / args.pace.max(1));
    for _ in 0..args.count {
        pace.tick().await;
        let (request, begun, address) = (Rc::clone(&request), Rc::clone(&begun), args.target.address);
        running.spawn_local(async move { stream(address, &request, &begun).await });
    }
    for _ in 0..600 {
        if begun.get() >= args.count || running.len() < args.count as usize {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for _ in 0..args.seconds {
        tokio::time::sleep(Duration::from_secs(1)).await;
        outcome.with_streams = outcome.with_streams.max(process::resident(args.pid)?);
    }
    outcome.peak = process::resident_peak(args.pid)?;
    while let Some(ended) = running.try_join_next() {
        outcome.failed += 1;
        if let Ok(Err(why)) = ended
            && outcome.failed == 1
        {
            eprintln!("headgate-bench: a stream ended: {why:#}");
        }
    }
    outcome.open = begun.get().saturating_sub(outcome.failed);
    outcome.per_stream = outcome.with_streams.saturating_sub(outcome.before) / u64::from(args.count.max(1));
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

/// Reads one stream until it ends, which it should not.
async fn stream(address: std::net::SocketAddr, request: &[u8], begun: &Cell<u32>) -> Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(request).await?;
    let (mut reader, mut stamps) = (Reader::default(), Stamps::default());
    let mut buffer = [0; 2048];
    let mut events = 0_u64;
    while !reader.is_done() {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            bail!("the connection was closed");
        }
        let before = events;
        reader.push(buffer.get(..length).unwrap_or_default(), |body| stamps.push(body, |_| events += 1))?;
        if reader.status() != 200 && reader.status() != 0 {
            bail!("status {}", reader.status());
        }
        if before == 0 && events > 0 {
            begun.set(begun.get() + 1);
        }
    }
    bail!("the stream ended")
}
