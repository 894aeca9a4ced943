//! `cargo xtask bench`: what the gateway costs, compared with no proxy, with nginx and with other gateways.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::{
    command::{ask, cargo, root, run, run_quietly, say, target, which},
    peers::{self, Peers},
    postgres::{Reach, Scratch},
    setup::{self, Need, is_root},
    ui, window,
};

/// What can be measured alone.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Name {
    /// Added latency, processor time, a large prompt.
    Latency,
    /// Added latency of requests that are translated.
    Translation,
    /// Requests a second.
    Throughput,
    /// First event and delay of events.
    Stream,
    /// Idle, and with 2,000 streams open.
    Memory,
    /// Cold start to the first answer.
    Start,
    /// Decisions of routing.
    Routing,
    /// LiteLLM's proxy and Portkey's gateway beside Headgate.
    Peers,
    /// The gateway with its window open and hidden, under a virtual display. Never part of the whole.
    Window,
}

/// How the gateway is built.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Profile {
    /// For day-to-day work: no link-time optimisation, built in a fraction of the time.
    Release,
    /// What is shipped.
    Dist,
}

/// Flags.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to measure; everything but `window` when absent, which also writes docs/performance.md (`peers`, `window`:
    /// their part of it).
    #[arg(value_enum)]
    name: Option<Name>,
    /// Three short rounds: to see whether it works, not to compare.
    #[arg(long)]
    quick: bool,
    /// How the gateway is built; when absent `dist`, and `release` for `window`.
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    /// Keep the figures of a run whose requests started late, marked as provisional.
    #[arg(long)]
    provisional: bool,
    /// Leave out LiteLLM's proxy and Portkey's gateway, which are installed otherwise.
    #[arg(long)]
    without_peers: bool,
}

impl Args {
    fn wants_peers(&self) -> bool {
        !self.without_peers && matches!(self.name, None | Some(Name::Peers))
    }

    fn is_of_window(&self) -> bool {
        matches!(self.name, Some(Name::Window))
    }

    fn profile(&self) -> Profile {
        let usual = if self.is_of_window() { Profile::Release } else { Profile::Dist };
        self.profile.unwrap_or(usual)
    }
}

/// Installs what is missing, builds, measures. An error if the run does not count.
pub(crate) fn bench(args: &Args) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("The benchmarks need Linux: they read /proc and compare with nginx.");
    }
    setup::ensure(&[Need::Compiler, Need::Postgres])?;
    if args.is_of_window() {
        setup::ensure(&[Need::WebView, Need::Display, Need::Network])?;
        ui::build()?;
    } else {
        ensure_nginx()?;
    }
    let peers = if args.wants_peers() { peers::ready() } else { None };
    if peers.is_none() && matches!(args.name, Some(Name::Peers)) {
        bail!("there is no other gateway to compare with");
    }
    let profile = word(&args.profile());
    build(args, &profile)?;
    let mut suite = suite(args, &profile, peers)?;
    // The cold start is measured with a PostgreSQL that is up already.
    let scratch = match args.name {
        None | Some(Name::Start) => Some(Scratch::start(Reach::Socket)?),
        Some(_) => None,
    };
    if let Some(scratch) = &scratch {
        suite.env("HEADGATE_BENCH_DATABASE_URL", scratch.url());
    }
    // Its end tells the suite to stop everything, should this process be gone before.
    let mut suite = suite.stdin(Stdio::piped()).spawn().context("headgate-bench could not be started")?;
    // `wait` would close it if it were still in there.
    let input = suite.stdin.take();
    let status = suite.wait()?;
    drop(input);
    if !status.success() {
        bail!("the benchmark failed or does not count ({status})");
    }
    Ok(())
}

fn build(args: &Args, profile: &str) -> Result<()> {
    say(&format!("building with the profile {profile} (with dist it takes several minutes)"));
    let mut build = cargo()?;
    build.args(["build", "--package", "headgate", "--profile", profile]);
    if args.is_of_window() {
        // Apart from it, so that neither gets the other's features.
        let mut desktop = cargo()?;
        desktop.args(["build", "--package", "headgate-desktop", "--profile", profile]);
        run(without_lto(&mut desktop, args))?;
    }
    run(without_lto(&mut build, args))?;
    let mut build = cargo()?;
    run(build.args(["build", "--package", "headgate-bench", "--release"]).env("CARGO_PROFILE_RELEASE_LTO", "off"))
}

/// Link-time optimisation is for what is shipped.
fn without_lto<'a>(build: &'a mut Command, args: &Args) -> &'a mut Command {
    if matches!(args.profile(), Profile::Release) {
        build.env("CARGO_PROFILE_RELEASE_LTO", "off");
    }
    build
}

/// The command that measures: where there are other gateways, in a network that has only loopback.
fn suite(args: &Args, profile: &str, peers: Option<Peers>) -> Result<Command> {
    let target = target()?;
    let program = target.join("release").join("headgate-bench");
    let (mut suite, programs) = match peers {
        Some(Peers { mut inside, programs }) => {
            inside.arg(program);
            (inside, programs)
        }
        None if args.is_of_window() => (window::session(program)?, Vec::new()),
        None => (Command::new(program), Vec::new()),
    };
    suite.args(["suite", "--until-stdin-closes", "--profile", profile]);
    suite.arg("--headgate").arg(target.join(profile).join("headgate"));
    suite.arg("--results").arg(target.join("bench"));
    suite.arg("--document").arg(root()?.join("docs").join("performance.md"));
    if args.is_of_window() {
        suite.arg("--window").arg(target.join(profile).join("headgate-desktop"));
    }
    for program in programs {
        suite.arg("--peer").arg(program);
    }
    if args.quick {
        suite.arg("--quick");
    }
    if args.provisional {
        suite.arg("--provisional");
    }
    if let Some(name) = &args.name {
        suite.arg(word(name));
    }
    Ok(suite)
}

fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

const POLICY: &str = "/usr/sbin/policy-rc.d";

/// nginx from the system's packages; its service neither starts now nor at the next boot.
fn ensure_nginx() -> Result<()> {
    let is_there = || which("nginx").is_some() || Path::new("/usr/sbin/nginx").is_file();
    if is_there() {
        return Ok(());
    }
    if which("apt-get").is_none() || !is_root() {
        bail!("nginx is missing, with which Headgate is compared. Install it with the system's package manager.");
    }
    say("installing nginx (its service is not started)");
    // A policy that is there already is somebody else's, and most likely forbids the same.
    let ours = !Path::new(POLICY).exists();
    if ours {
        write_policy()?;
    }
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(["-o", "DPkg::Lock::Timeout=300"]);
        command
    };
    let installed = run_quietly(apt().args(["update", "-q"]))
        .and_then(|()| run_quietly(apt().args(["install", "-y", "-q", "--no-install-recommends", "nginx"])));
    if ours {
        fs::remove_file(POLICY).with_context(|| format!("{POLICY} could not be removed; please do"))?;
    }
    installed?;
    // Where there is no systemd, there is nothing to switch off.
    let _ = ask("systemctl", &["disable", "--quiet", "nginx"]);
    if !is_there() {
        bail!("nginx is still missing after its installation");
    }
    Ok(())
}

/// Forbids maintainer scripts to start services.
fn write_policy() -> Result<()> {
    fs::write(POLICY, "#!/bin/sh\nexit 101\n").with_context(|| format!("{POLICY} could not be written"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(POLICY, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn other_gateways_are_part_of_the_whole_or_alone_unless_left_out() {
        let wants = |words: &[&str]| {
            let line = Line::try_parse_from(["bench"].iter().chain(words)).unwrap();
            line.args.wants_peers()
        };
        assert!(wants(&[]) && wants(&["peers"]) && wants(&["--quick", "peers"]));
        assert!(
            !wants(&["window"])
                && !wants(&["latency"])
                && !wants(&["--without-peers"])
                && !wants(&["peers", "--without-peers"])
        );
    }

    #[test]
    fn the_window_is_measured_only_by_name_and_without_link_time_optimisation() {
        let args = |words: &[&str]| Line::try_parse_from(["bench"].iter().chain(words)).unwrap().args;
        assert!(!args(&[]).is_of_window() && matches!(args(&[]).profile(), Profile::Dist));
        assert!(args(&["window"]).is_of_window() && matches!(args(&["window"]).profile(), Profile::Release));
        assert!(matches!(args(&["window", "--profile", "dist"]).profile(), Profile::Dist));
    }
}
