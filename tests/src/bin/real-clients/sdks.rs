//! The official SDKs of OpenAI and Anthropic: plain answers, streams, tool turns, and what they say of a broken stream.

use anyhow::{Result, ensure};
use headgate_tests::harness::folder;

use crate::{
    Sum,
    bench::{Bench, Fault, KINDS, key},
};

/// The size of the picture that the scripts for Python send, as base64.
const PICTURE: usize = 9 << 20;

/// Runs the SDKs for `language` at every kind of upstream.
pub async fn run(bench: &Bench, fault: Fault, language: &str, sum: &mut Sum) {
    for kind in KINDS {
        for protocol in ["chat", "responses", "claude"] {
            let name = format!("{language} SDK, {protocol} on {kind}, {}", fault.words());
            sum.note(&name, sdk(bench, fault, language, protocol, kind).await);
        }
    }
}

async fn sdk(bench: &Bench, fault: Fault, language: &str, protocol: &str, kind: &str) -> Result<()> {
    let python = bench.clients.join("python/bin/python");
    let (program, script) = match language {
        "python" => (python.as_path(), "sdks.py"),
        _ => ("node".as_ref(), "sdks.mjs"),
    };
    let home = folder();
    let mut command = bench.command(program, home.path());
    command
        .env("HEADGATE_URL", &bench.url)
        .env("HEADGATE_KEY", key(kind))
        .env("SDKS", bench.clients.join("sdk"))
        .arg(bench.scripts.join(script))
        .arg(protocol)
        .arg(if fault == Fault::Cut { "broken" } else { "turn" });
    bench.output(command, fault, (8, "say hi")).await?;
    let largest = bench.second.seen().iter().map(|seen| seen.body.len()).max().unwrap_or(0);
    let sent = language == "python" && fault != Fault::Cut;
    ensure!(!sent || largest > PICTURE, "the picture did not arrive: the largest body has {largest} bytes");
    bench.check_route()
}
