//! The cold start: from the beginning of the process to the first answer of an upstream through it.

use std::{net::SocketAddr, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    children::Children,
    measure::Plan,
    parties::{KEY, configuration, gateway, start_gateway},
    report::{Report, Unit},
};
use crate::{
    clock,
    figures::Wanted,
    http::{Reader, Target},
};

/// With a PostgreSQL that is up, its schema made by an earlier start; and with the embedded one for comparison.
pub async fn cold(
    children: &Children,
    folder: &Path,
    program: &Path,
    mock: SocketAddr,
    database_url: Option<&str>,
    plan: &Plan,
    report: &mut Report,
) -> Result<()> {
    let file = configuration(folder, mock)?;
    let cases = [
        ("cold start to first answer, headless, PostgreSQL up", database_url, Wanted::AtMost(0.5, 1.0)),
        ("for comparison: with the start of the embedded PostgreSQL", None, Wanted::Nothing),
    ];
    for (place, (quantity, url, wanted)) in cases.into_iter().enumerate() {
        if place == 0 && url.is_none() {
            eprintln!("headgate-bench: no PostgreSQL is given, the cold start is left out");
            continue;
        }
        eprintln!("headgate-bench: {quantity}");
        let data = folder.join(format!("start-{place}"));
        let with_url = |command: &mut tokio::process::Command| {
            if let Some(url) = url {
                command.env("HEADGATE_DATABASE_URL", url);
            }
        };
        let mut first = gateway(program, folder, &data, Some(&file))?;
        with_url(&mut first);
        let (pid, _) = start_gateway(children, &mut first, folder).await?;
        children.stop(pid).await;
        let mut seconds = Vec::new();
        for _ in 0..plan.rounds {
            let mut command = gateway(program, folder, &data, None)?;
            with_url(&mut command);
            let begin = clock::now();
            let started = async {
                let (pid, address) = start_gateway(children, &mut command, folder).await?;
                answer(&Target::to(address, KEY)).await?;
                anyhow::Ok((pid, clock::now()))
            };
            let started = tokio::time::timeout(Duration::from_secs(60), started).await;
            let (pid, end) = started.context("no answer within a minute of the start")??;
            seconds.push(end.saturating_sub(begin) as f64 / 1e9);
            children.stop(pid).await;
        }
        report.add(quantity, Unit::Seconds, wanted, seconds);
    }
    Ok(())
}

/// One request, which has to succeed.
pub async fn answer(target: &Target) -> Result<()> {
    let mut stream = TcpStream::connect(target.address).await?;
    stream.write_all(&target.request()).await?;
    let mut reader = Reader::default();
    let mut buffer = [0; 4096];
    while !reader.is_done() {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            bail!("the connection was closed");
        }
        reader.push(buffer.get(..length).unwrap_or_default(), |_| {})?;
    }
    if reader.status() != 200 {
        bail!("the first answer has status {}", reader.status());
    }
    Ok(())
}
