//! `cargo xtask simulate`: how a configuration behaves under a named course of faults.

#![expect(clippy::print_stdout, reason = "a program for a person at a terminal")]

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use headgate_domain::{Configuration, Group, Protocol, UpstreamId, standalone};
use headgate_routing::{Policy, Pool, PoolMember, Time};
use headgate_simulation::{Behaviour, Plain, Report, Script, Simulation, Stage, Workload};

/// Plays a course of faults against a configuration, in virtual time, and prints how it behaves.
#[derive(Parser)]
#[command(name = "cargo xtask simulate", bin_name = "cargo xtask simulate", after_help = scripts())]
struct Args {
    /// The configuration file
    file: PathBuf,
    /// The course of faults; all of them, one after the other, if none is named
    #[arg(long)]
    script: Option<String>,
    /// The group that serves; the first of the file if none is named
    #[arg(long)]
    group: Option<String>,
    /// The model asked for; one that the group's rules name if none is
    #[arg(long)]
    model: Option<String>,
    /// The clients' protocol: chat, responses or claude
    #[arg(long, default_value = "claude", value_parser = protocol)]
    protocol: Protocol,
    /// Requests per second
    #[arg(long, default_value_t = 20.0)]
    rate: f64,
    /// How long it lasts
    #[arg(long, default_value = "10m", value_parser = humantime::parse_duration)]
    length: Duration,
    /// Sessions the requests belong to, in turn; 0: none
    #[arg(long, default_value_t = 0)]
    sessions: u64,
    /// Estimated prompt in tokens
    #[arg(long, default_value_t = 1000)]
    input: u64,
    /// What a healthy upstream takes to its first output
    #[arg(long, default_value = "400ms", value_parser = humantime::parse_duration)]
    first: Duration,
    /// What it takes to the end of its answer
    #[arg(long, default_value = "3s", value_parser = humantime::parse_duration)]
    whole: Duration,
    /// The same seed gives the same run
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let text =
        std::fs::read_to_string(&args.file).with_context(|| format!("{} cannot be read", args.file.display()))?;
    let configuration = standalone::read(&text).map_err(|problems| {
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("{} is not legal:\n{}", args.file.display(), lines.join("\n"))
    })?;
    let scripts = match &args.script {
        None => Script::ALL.iter().collect(),
        Some(name) => match Script::named(name) {
            Some(script) => vec![script],
            None => bail!("there is no script {name:?}; {}", scripts()),
        },
    };
    let group = match &args.group {
        None => configuration.groups.first().context("the file has no group")?,
        Some(name) => {
            let is_it = |g: &&Group| g.name.as_str().eq_ignore_ascii_case(name);
            configuration.groups.iter().find(is_it).with_context(|| format!("the file has no group {name:?}"))?
        }
    };
    if !(0.001..=10_000.0).contains(&args.rate) {
        bail!("--rate takes 0.001 to 10000 requests per second");
    }
    for script in scripts {
        let report = play(script, &args, &configuration, group);
        if args.json {
            println!("{}", serde_json::json!({"script": script.name, "about": script.about, "report": report}));
        } else {
            println!("{}: {}\n{report}\n", script.name, script.about);
        }
    }
    Ok(())
}

fn play(script: &Script, args: &Args, configuration: &Configuration, group: &Group) -> Report {
    let members = group.spec.members.iter().filter_map(|member| {
        let upstream = configuration.upstream(member.upstream)?;
        Some(PoolMember::of(member, upstream, |_| false))
    });
    let own = Pool::of(group, members.collect());
    let literal = || own.members.iter().find_map(|m| m.models.literal_names().next());
    let model = args.model.as_deref().or_else(literal).unwrap_or("m").to_owned();
    let alias = group.spec.aliases.get(&model);
    let pool = alias.map_or_else(|| own.clone(), |alias| own.of_alias(alias));
    let settings = configuration.settings.effective();
    let (start, every) = (Time::secs(1), Duration::from_secs_f64(1.0 / args.rate));
    let count = u32::try_from(args.length.as_nanos() / every.as_nanos().max(1)).unwrap_or(u32::MAX);
    let workload = Workload {
        sessions: args.sessions,
        protocol: args.protocol,
        model,
        input: args.input,
        line: (group.spec.queue.size, group.spec.queue.wait.0),
        probes: true,
        ..Workload::new(start, every, count)
    };
    let healthy = Behaviour::Answers { first: args.first, whole: args.whole.max(args.first) };
    let faults = script.play(&Stage { pool: &pool, healthy, start, length: args.length });
    let router = Plain::new(Policy::from(&settings), args.seed);
    let (run, _) = Simulation::new(args.seed, router, pool.clone(), faults.clone(), workload).run();
    let name = |id: UpstreamId| configuration.upstream(id).map_or_else(|| id.to_string(), |u| u.name.to_string());
    Report::of(&run, &pool, &faults, (start, args.length), name)
}

fn protocol(name: &str) -> Result<Protocol, String> {
    serde_json::from_value(name.into()).map_err(|_| "chat, responses or claude".to_owned())
}

fn scripts() -> String {
    let lines: Vec<_> = Script::ALL.iter().map(|s| format!("  {:<22} {}", s.name, s.about)).collect();
    format!("Scripts:\n{}", lines.join("\n"))
}
