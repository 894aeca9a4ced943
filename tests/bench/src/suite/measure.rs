//! The measurements. Rounds are interleaved: each party once a round, so that a change of the machine meets all.

use std::time::Duration;

use anyhow::{Result, bail};

use super::{
    ask_self,
    parties::{KEY, Parties, Party},
    pause,
    report::{Report, Unit},
};
use crate::{
    figures::{Wanted, difference, ratio},
    load,
    mock::{EVENTS, INTERVAL},
    process, streams,
};

/// How much is measured.
pub struct Plan {
    /// Rounds of everything that has rounds.
    pub rounds: usize,
    /// Seconds of one measurement.
    pub seconds: f64,
    idle: f64,
    streams: u32,
}

impl Plan {
    /// The whole, or three short rounds.
    pub fn new(quick: bool) -> Self {
        if quick {
            Self { rounds: 3, seconds: 3.0, idle: 4.0, streams: 2000 }
        } else {
            Self { rounds: 7, seconds: 10.0, idle: 20.0, streams: 2000 }
        }
    }
}

/// Bytes.
pub const MIB: f64 = 1024.0 * 1024.0;

/// What was measured of one party, round by round.
#[derive(Default)]
struct Rounds {
    outcomes: Vec<load::Outcome>,
    /// Microseconds of processor time for one request.
    cpu: Vec<f64>,
}

/// A series of measurements for each party.
pub struct Series(Vec<(Party, Rounds)>);

impl Series {
    /// What came out for this party, round by round.
    pub fn of(&self, party: Party) -> &[load::Outcome] {
        self.0.iter().find(|(p, _)| *p == party).map_or(&[], |(_, rounds)| &rounds.outcomes)
    }

    /// Microseconds of processor time for one request of this party.
    pub fn cpu(&self, party: Party) -> Vec<f64> {
        self.0.iter().find(|(p, _)| *p == party).map_or_else(Vec::new, |(_, rounds)| rounds.cpu.clone())
    }

    /// What one party adds to another, a figure picked from each round.
    fn beside(&self, other: Party, party: Party, pick: impl Fn(&load::Outcome) -> f64) -> Vec<f64> {
        let all = |party| self.of(party).iter().map(&pick).collect::<Vec<_>>();
        difference(&all(party), &all(other))
    }

    /// What one party adds over direct.
    pub fn added(&self, party: Party, pick: impl Fn(&load::Outcome) -> f64) -> Vec<f64> {
        self.beside(Party::Direct, party, pick)
    }
}

/// Measures each of the parties once a round, beginning with another one each time.
pub async fn rounds(
    parties: &Parties,
    among: &[Party],
    plan: &Plan,
    what: &str,
    arguments: &[String],
    report: &mut Report,
) -> Result<Series> {
    let mut series = Series(among.iter().map(|party| (*party, Rounds::default())).collect());
    for round in 0..plan.rounds {
        eprintln!("headgate-bench: {what}, round {} of {}", round + 1, plan.rounds);
        let order = among.iter().cycle().skip(round % among.len()).take(among.len());
        for party in order.copied() {
            let place = parties.place(party)?;
            let mut all = vec!["load".into(), "--address".into(), place.address.to_string()];
            all.extend(["--key".into(), place.key.into()]);
            all.extend(place.headers.iter().flat_map(|header| ["--header".into(), header.clone()]));
            all.extend_from_slice(arguments);
            let pid = place.pid;
            let before = pid.map(process::cpu).transpose()?;
            let outcome: load::Outcome = ask_self(&all).await?;
            // What is left to do after the answers belongs to them.
            pause(0.3).await;
            let used = match (pid, before) {
                (Some(pid), Some(before)) => process::cpu(pid)?.saturating_sub(before),
                _ => Duration::ZERO,
            };
            if outcome.requests == 0 {
                let why = outcome.first_error.unwrap_or_default();
                bail!("{what}: {party:?} answered nothing ({why})");
            }
            report.saw(what, party, &outcome);
            let each = used.as_secs_f64() * 1e6 / outcome.sent.max(1) as f64;
            if let Some((_, rounds)) = series.0.iter_mut().find(|(p, _)| *p == party) {
                rounds.outcomes.push(outcome);
                rounds.cpu.push(each);
            }
        }
    }
    Ok(series)
}

/// Arguments from one line.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Added latency at 500 requests a second, and what a request costs.
pub async fn latency(parties: &Parties, plan: &Plan, report: &mut Report) -> Result<()> {
    let arguments = words(&format!("--rate 500 --seconds {} --warm-up 1", plan.seconds));
    let series = rounds(parties, &Party::PASSING, plan, "latency at 500 requests/s", &arguments, report).await?;
    let p50 = |o: &load::Outcome| o.latency.p50 / 1000.0;
    let wanted = [(0.30, 0.6), (1.5, 4.0), (5.0, 15.0)].map(|(target, bound)| Wanted::AtMost(target, bound));
    let names = ["p50", "p99", "p99.9"];
    let picks: [fn(&load::Outcome) -> f64; 3] =
        [|o| o.latency.p50 / 1000.0, |o| o.latency.p99 / 1000.0, |o| o.latency.p999 / 1000.0];
    for ((name, wanted), pick) in names.into_iter().zip(wanted).zip(picks) {
        let quantity = format!("passthrough, added latency at 500 requests/s, {name}");
        report.add(&quantity, Unit::Milliseconds, wanted, series.added(Party::Headgate, pick));
    }
    for (name, pick) in names.into_iter().zip(picks) {
        let quantity = format!("for comparison: added by nginx, {name}");
        report.add(&quantity, Unit::Milliseconds, Wanted::Nothing, series.added(Party::Nginx, pick));
    }
    for (name, pick) in names.into_iter().zip(picks) {
        let quantity = format!("for comparison: added by a bare proxy of the same library, {name}");
        report.add(&quantity, Unit::Milliseconds, Wanted::Nothing, series.added(Party::Bare, pick));
    }
    let floor = ratio(&series.added(Party::Bare, p50), &series.added(Party::Nginx, p50));
    report.add("for comparison: the bare proxy as a ratio to nginx, p50", Unit::Times, Wanted::Nothing, floor);
    let times = ratio(&series.added(Party::Headgate, p50), &series.added(Party::Nginx, p50));
    report.add("the same as a ratio to what nginx adds, p50", Unit::Times, Wanted::AtMost(2.0, 3.0), times);
    let cpu = Wanted::AtMost(120.0, 240.0);
    report.add("CPU per request, passthrough, at 500 requests/s", Unit::Microseconds, cpu, series.cpu(Party::Headgate));
    report.add("for comparison: CPU of nginx", Unit::Microseconds, Wanted::Nothing, series.cpu(Party::Nginx));
    report.add("for comparison: CPU of the bare proxy", Unit::Microseconds, Wanted::Nothing, series.cpu(Party::Bare));
    Ok(())
}

/// A request of 4 KiB that has to be translated, beside the same one that is passed on.
pub async fn translated(parties: &Parties, plan: &Plan, report: &mut Report) -> Result<()> {
    let among = [Party::Headgate, Party::Translated];
    let arguments = words(&format!("--rate 500 --prompt-bytes 4096 --seconds {} --warm-up 1", plan.seconds));
    let series = rounds(parties, &among, plan, "translation", &arguments, report).await?;
    let added = series.beside(Party::Headgate, Party::Translated, |o| o.latency.p50);
    let wanted = Wanted::AtMost(150.0, 500.0);
    report.add("translated request, 4 KiB, added to passthrough, p50", Unit::Microseconds, wanted, added);
    let cpu = Wanted::AtMost(350.0, 700.0);
    report.add("CPU per request, translated, 4 KiB", Unit::Microseconds, cpu, series.cpu(Party::Translated));
    Ok(())
}

/// A prompt of 2 MiB.
pub async fn large(parties: &Parties, plan: &Plan, report: &mut Report) -> Result<()> {
    let seconds = plan.seconds / 2.0;
    let arguments = words(&format!("--rate 10 --prompt-bytes 2097152 --seconds {seconds} --warm-up 1"));
    let series = rounds(parties, &Party::PASSING, plan, "a prompt of 2 MiB", &arguments, report).await?;
    let p50 = |o: &load::Outcome| o.latency.p50 / 1000.0;
    let added = series.added(Party::Headgate, p50);
    report.add("a 2 MiB prompt, passthrough: added latency, p50", Unit::Milliseconds, Wanted::AtMost(3.0, 10.0), added);
    let added = series.added(Party::Nginx, p50);
    report.add("for comparison: added by nginx, 2 MiB, p50", Unit::Milliseconds, Wanted::Nothing, added);
    Ok(())
}

/// Requests a second with 16 connections.
pub async fn throughput(parties: &Parties, plan: &Plan, report: &mut Report) -> Result<()> {
    let arguments = words(&format!("--connections 16 --seconds {} --warm-up 1", plan.seconds / 2.0));
    let series = rounds(parties, &Party::PASSING, plan, "throughput", &arguments, report).await?;
    let rates = |party| series.of(party).iter().map(|o| o.rate).collect::<Vec<_>>();
    let share = ratio(&rates(Party::Headgate), &rates(Party::Nginx)).iter().map(|r| r * 100.0).collect();
    let wanted = Wanted::AtLeast(60.0, 40.0);
    report.add(
        "throughput, 16 connections, non-stream, audit on: share of one nginx worker",
        Unit::Percent,
        wanted,
        share,
    );
    for (name, party) in [
        ("Headgate", Party::Headgate),
        ("the bare proxy", Party::Bare),
        ("nginx", Party::Nginx),
        ("direct", Party::Direct),
    ] {
        report.add(&format!("for comparison: {name}"), Unit::PerSecond, Wanted::Nothing, rates(party));
    }
    let cpu = Wanted::AtMost(120.0, 240.0);
    report.add("CPU per request, passthrough, at full load", Unit::Microseconds, cpu, series.cpu(Party::Headgate));
    Ok(())
}

/// Streams of twenty events, ten milliseconds apart, fifty begun a second.
pub async fn stream(parties: &Parties, plan: &Plan, report: &mut Report) -> Result<()> {
    let arguments = stream_arguments(50, 1, plan);
    let series = rounds(parties, &Party::PASSING, plan, "streams", &arguments, report).await?;
    let first: [fn(&load::Outcome) -> f64; 2] = [|o| o.first_event.p50 / 1000.0, |o| o.first_event.p99 / 1000.0];
    let wanted = [Wanted::AtMost(0.4, 1.0), Wanted::AtMost(2.0, 8.0)];
    for ((name, wanted), pick) in ["p50", "p99"].into_iter().zip(wanted).zip(first) {
        let added = series.added(Party::Headgate, pick);
        report.add(&format!("first token added (stream), {name}"), Unit::Milliseconds, wanted, added);
        let added = series.added(Party::Nginx, pick);
        report.add(&format!("for comparison: by nginx, {name}"), Unit::Milliseconds, Wanted::Nothing, added);
    }
    let p99 = |o: &load::Outcome| o.event_delay.p99 / 1000.0;
    let wanted = Wanted::AtMost(0.5, 2.0);
    let added = series.added(Party::Headgate, p99);
    report.add("delay of one event inside a stream, added, p99", Unit::Milliseconds, wanted, added);
    let added = series.added(Party::Nginx, p99);
    report.add("for comparison: of one event by nginx, p99", Unit::Milliseconds, Wanted::Nothing, added);
    Ok(())
}

/// A load of the usual streams, so many begun a second.
pub fn stream_arguments(rate: u32, warm_up: u32, plan: &Plan) -> Vec<String> {
    let seconds = plan.seconds;
    words(&format!("--rate {rate} --stream {EVENTS} --interval {INTERVAL} --seconds {seconds} --warm-up {warm_up}"))
}

/// Idle, then with many streams open: once, since memory does not come back to where it was.
pub async fn memory(parties: &Parties, plan: &Plan, report: &mut Report) -> Result<()> {
    eprintln!("headgate-bench: idle");
    pause(2.0).await;
    let pid = parties.pid(Party::Headgate)?;
    let before = process::cpu(pid)?;
    pause(plan.idle).await;
    let used = process::cpu(pid)?.saturating_sub(before);
    let resident = process::resident(pid)? as f64 / MIB;
    report.add(
        "idle: resident memory, without PostgreSQL",
        Unit::Mebibytes,
        Wanted::AtMost(45.0, 90.0),
        vec![resident],
    );
    let share = used.as_secs_f64() / plan.idle * 100.0;
    report.add("idle: CPU", Unit::Percent, Wanted::AtMost(0.2, 0.4), vec![share]);

    eprintln!("headgate-bench: {} streams at the same time", plan.streams);
    let arguments = format!(
        "streams --address {} --key {KEY} --count {} --pid {pid}",
        parties.place(Party::Headgate)?.address,
        plan.streams
    );
    let outcome: streams::Outcome = ask_self(&words(&arguments)).await?;
    if outcome.open < plan.streams {
        bail!("only {} of {} streams were open; {} failed", outcome.open, plan.streams, outcome.failed);
    }
    let each = outcome.per_stream as f64 / 1024.0;
    report.add("memory per open stream", Unit::Kibibytes, Wanted::AtMost(24.0, 48.0), vec![each]);
    let whole = outcome.with_streams as f64 / MIB;
    report.add("whole process with 2,000 open streams", Unit::Mebibytes, Wanted::AtMost(120.0, 240.0), vec![whole]);
    // The ends of all these streams are written down; that is no part of what comes next.
    pause(3.0).await;
    Ok(())
}
