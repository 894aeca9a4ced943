//! `cargo xtask fuzz`: what clients and upstreams may send, made up by a fuzzer that begins with the worked examples.

use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;

use crate::command::{ask, cargo, root, run, run_quietly, say, target};

/// What can be fuzzed alone; see `crates/wire/tests/translation/invariants.rs` for what must hold.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Target {
    /// Bodies of clients, translated for every kind of upstream.
    Request,
    /// Streams of upstreams, translated for every client.
    Stream,
    /// Answers of upstreams that are not streamed to the client.
    Answer,
    /// Refusals of upstreams.
    Refusal,
    /// The framing of streams.
    Events,
}

/// Flags.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to fuzz; everything, one after the other, when absent.
    #[arg(value_enum)]
    target: Option<Target>,
    /// How long each.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Most memory of a target, in MiB.
const MEMORY: u32 = 512;

/// Fuzzes; an error if anything was found.
pub(crate) fn fuzz(args: &Args) -> Result<()> {
    if ask("rustup", &["run", "nightly", "cargo", "fuzz", "--version"]).is_none() {
        bail!(
            "the fuzzer needs a nightly compiler and cargo-fuzz: rustup toolchain install nightly; cargo install cargo-fuzz"
        );
    }
    let place = std::path::absolute(target()?.join("fuzz"))?;
    let seeds = place.join("seeds");
    say("writing the first inputs");
    let tests = ["test", "--quiet", "--package", "headgate-wire", "--test", "translation", "corpus"];
    run_quietly(cargo()?.args(tests).env("HEADGATE_SEEDS", &seeds))?;
    let chosen = args.target.as_ref();
    for target in Target::value_variants().iter().filter(|t| chosen.is_none_or(|c| c.name() == t.name())) {
        let name = target.name();
        let corpus = place.join("corpus").join(&name);
        std::fs::create_dir_all(&corpus)?;
        let mut fuzzer = Command::new("rustup");
        fuzzer.current_dir(root()?).env("CARGO_TARGET_DIR", place.join("build"));
        // There is no unsafe code for a sanitizer to look at, and without one ten times as much is tried.
        fuzzer.args(["run", "nightly", "cargo", "fuzz", "run", "--sanitizer", "none", "--fuzz-dir", "fuzz", &name]);
        fuzzer.arg(&corpus).arg(seeds.join(&name)).arg("--");
        fuzzer.arg(format!("-max_total_time={}", args.seconds)).arg(format!("-rss_limit_mb={MEMORY}"));
        fuzzer.arg(format!("-dict={}", seeds.join("words.dict").display()));
        fuzzer.args(["-max_len=20000", "-print_final_stats=1"]);
        run(&mut fuzzer).with_context(|| format!("{name}: the input is in fuzz/artifacts/{name}"))?;
    }
    Ok(())
}

impl Target {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
