//! The report as a document. What a person wrote below its last heading stays.

use std::{fs, ops::Range, path::Path};

use anyhow::{Context, Result};

use super::{
    report::{Report, Row},
    window::section as window,
};
use crate::figures::{LATE_SHARE, Verdict, Wanted};

/// Everything from here on is written by hand.
const REMARKS: &str = "## Why, where a target is missed";

/// Before it stands what is measured apart: other gateways, the window.
const MEASURED: &str = "## How it is measured";

const METHOD: &str = "\
A mock upstream in its own process answers at once: about 400 bytes of JSON, or a stream whose events carry the time
at which they were sent (one clock for all processes). The generator is a process, too. At a fixed rate it is an open
loop: a request's latency counts from the time it should have started, whatever happened to earlier ones, so a pause is
seen by every request that it delays. Throughput is a closed loop of 16 connections. The same requests go straight to
the mock upstream, through nginx (one worker, kept connections to the upstream, no buffering, no log), through a bare
proxy of the library that Headgate is built on (two threads, no key, no choice, no record), and through Headgate
with its embedded PostgreSQL, every request being recorded (audit cannot be switched off, so there is no
figure for that). \"Added\" is a percentile through the gateway less the same percentile direct, round by round; rounds
are interleaved and begin with another party each time. Figures are the median of the rounds, with their quartiles in
brackets; memory and idle CPU are taken once. Percentiles come from HDR histograms. CPU is user and system time of the
process in /proc without PostgreSQL's; memory is VmRSS. Streams: twenty events, 10 ms apart, fifty begun a second. The
cold start is the time from the start of the process to the first answer of the upstream through it, with a database
that an earlier start has made.

`cargo xtask bench` measures all of it and writes this file; `--quick` is for a first look, and a NAME (`latency`,
`translation`, `throughput`, `stream`, `memory`, `start`, `routing`, `peers`) measures one part. `peers` writes its own
section of this file; `--without-peers` leaves the other gateways out. `window` has a section of its own, too, and is
measured only when it is asked for by name.
";

/// The section about other gateways, which has a date of its own.
const PEERS: &str = "## Beside other gateways";

const PEERS_METHOD: &str = "\
The same mock upstream, the same generator, the same run: each round asks direct, Headgate and each of the others, at a
rate that all of them hold without a queue; \"as a multiple\" is the quotient of what both add, round by round. All of it
runs in a network that has only loopback. Each is one process with one worker, as its makers advise for production:
LiteLLM with `LITELLM_MODE=PRODUCTION` and `LITELLM_LOG=ERROR`, one model, a master key, no database, no callback, the
price list that it comes with; Portkey with `NODE_ENV=production` and `--headless`, told by headers where to go, and with
the newest version of its server's library with which it can stream. Headgate records every request in its embedded
PostgreSQL; neither of the others records anything. They run during these measurements only. Portkey's code waits 25 ms on
purpose before it passes on the first event of a stream, which is in its figures for the first token.
";

/// Writes it.
pub fn write(path: &Path, report: &Report) -> Result<()> {
    let before = fs::read_to_string(path).unwrap_or_default();
    let remarks = before.find(REMARKS).and_then(|at| before.get(at..)).unwrap_or("");
    // Without other gateways in this run, the figures of the last run that had them stay, with their date.
    let peers = if report.peers.names.is_empty() {
        section(&before, PEERS).and_then(|place| before.get(place)).unwrap_or("").to_owned()
    } else {
        of_peers(report)
    };
    // The window is never part of a whole run.
    let window = section(&before, window::HEADING).and_then(|place| before.get(place)).unwrap_or("");
    save(path, &document(report, &format!("{peers}{window}"), remarks))
}

/// Writes anew what stands in it about other gateways, and leaves the rest.
pub fn write_peers(path: &Path, report: &Report) -> Result<()> {
    let before = fs::read_to_string(path).unwrap_or_default();
    save(path, &with_section(&before, PEERS, &of_peers(report)))
}

/// Writes anew what stands in it about the window, and leaves the rest.
pub fn write_window(path: &Path, report: &Report) -> Result<()> {
    let before = fs::read_to_string(path).unwrap_or_default();
    save(path, &with_section(&before, window::HEADING, &window::text(report)))
}

fn save(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Where the section with this heading is: to the next one, or the end.
fn section(text: &str, heading: &str) -> Option<Range<usize>> {
    let begin = text.find(&format!("\n{heading}\n"))? + 1;
    let rest = text.get(begin..)?;
    Some(begin..rest.find("\n## ").map_or(text.len(), |length| begin + length + 1))
}

fn with_section(text: &str, heading: &str, new: &str) -> String {
    let mut text = text.to_owned();
    // Where there is none yet, it comes before what tells how is measured.
    let place = section(&text, heading).or_else(|| section(&text, MEASURED).map(|place| place.start..place.start));
    match place {
        Some(place) => text.replace_range(place, new),
        None => text.push_str(&format!("\n{new}")),
    }
    text
}

/// When and on what, as the first paragraph of figures.
pub fn occasion(report: &Report) -> String {
    let machine = &report.machine;
    let (before, after) = report.load_average;
    let provisional = if report.provisional {
        "**These figures are provisional**: the machine was busy with other work, and requests started late.\n\n"
    } else {
        ""
    };
    format!(
        "Measured on {} with the profile `{}`: {} cores ({}), {:.0} GiB of memory, Linux {}. \
         {} rounds. Load average of one minute: {before:.2} before, {after:.2} after (the benchmark's own included). {} \
         Failed requests: {}.\n\n{provisional}",
        report.date,
        report.profile,
        machine.cores,
        machine.processor,
        machine.memory,
        machine.kernel,
        report.rounds,
        report.lateness(),
        report.errors
    )
}

/// Figures with a target, then those without.
pub fn tables(rows: &[Row]) -> String {
    let mut text =
        String::from("| quantity | target | never ship above | measured | |\n| --- | --- | --- | --- | --- |\n");
    let compared = |row: &&Row| row.wanted == Wanted::Nothing;
    for row in rows.iter().filter(|row| !compared(row)) {
        let (target, bound) = row.limits();
        text.push_str(&format!("| {} | {target} | {bound} | {} | {} |\n", row.quantity, row.measured(), row.word()));
    }
    text.push_str("\nFor comparison, in the same run:\n\n| quantity | measured |\n| --- | --- |\n");
    for row in rows.iter().filter(compared) {
        let quantity = row.quantity.trim_start_matches("for comparison: ");
        text.push_str(&format!("| {quantity} | {} |\n", row.measured()));
    }
    text
}

/// The section about other gateways.
fn of_peers(report: &Report) -> String {
    let names = report.peers.names.join(" and ");
    let tables = tables(&report.peers.rows);
    format!("{PEERS}\n\n{names}. {}{tables}\n{PEERS_METHOD}\n", occasion(report))
}

fn document(report: &Report, apart: &str, remarks: &str) -> String {
    let mut text = format!("# How fast it is\n\n{}{}\n{apart}", occasion(report), tables(&report.rows));
    text.push_str(&format!(
        "{MEASURED}\n\n{METHOD}\nA run discards itself when in more than a quarter of the open-loop \
         measurements over {:.0} % of the requests started more than a millisecond late.\n\n## Missed targets\n\n{}",
        LATE_SHARE * 100.0,
        missed(&report.rows)
    ));
    if !remarks.is_empty() {
        text.push_str(&format!("\n{}", remarks.trim_end()));
        text.push('\n');
    }
    text
}

fn missed(rows: &[Row]) -> String {
    let lines: String =
        rows.iter().filter(|row| matches!(row.verdict, Verdict::Missed | Verdict::Over)).map(miss).collect();
    if lines.is_empty() { "None.\n".to_owned() } else { lines }
}

fn miss(row: &Row) -> String {
    let (Wanted::AtMost(target, _) | Wanted::AtLeast(target, _)) = row.wanted else { return String::new() };
    let short = row.unit.show((row.spread.median - target).abs());
    let beyond = if row.verdict == Verdict::Over { ", beyond what may be shipped" } else { "" };
    format!(
        "- {}: {} instead of {}, {short} off{beyond}.\n",
        row.quantity,
        row.unit.show(row.spread.median),
        row.limits().0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::report::Unit;

    #[test]
    fn what_was_written_by_hand_stays_and_misses_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docs/performance.md");
        let mut report = Report::new("dist", 1);
        report.add("latency", Unit::Milliseconds, Wanted::AtMost(0.3, 0.6), vec![0.7]);
        write(&path, &report).unwrap();
        let first = fs::read_to_string(&path).unwrap();
        assert!(first.contains("- latency: 0.700 ms instead of ≤ 0.3 ms, 0.400 ms off, beyond"), "{first}");
        fs::write(&path, format!("{first}\n{REMARKS}\n\nBecause.\n")).unwrap();
        write(&path, &report).unwrap();
        let second = fs::read_to_string(&path).unwrap();
        assert!(second.ends_with(&format!("{REMARKS}\n\nBecause.\n")), "{second}");
    }

    #[test]
    fn a_run_of_other_gateways_alone_changes_their_section_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("performance.md");
        let mut whole = Report::new("dist", 1);
        whole.add("latency", Unit::Milliseconds, Wanted::AtMost(0.3, 0.6), vec![0.2]);
        write(&path, &whole).unwrap();
        let without = fs::read_to_string(&path).unwrap();
        assert!(!without.contains(PEERS));

        let of_peers = |name: &str, times| {
            let mut report = Report::new("dist", 1);
            report.peers.names.push(name.to_owned());
            report.add_of_peers("multiple", Unit::Times, Wanted::AtLeast(10.0, 10.0), vec![times]);
            report
        };
        for (name, times) in [("LiteLLM 1", 30.0), ("LiteLLM 2", 9.0)] {
            write_peers(&path, &of_peers(name, times)).unwrap();
        }
        let with = fs::read_to_string(&path).unwrap();
        assert!(with.contains("LiteLLM 2. Measured on") && !with.contains("LiteLLM 1"), "{with}");
        assert!(with.contains("| multiple | ≥ 10 × | below 10 × | 9.00 × | OVER |"), "{with}");
        let place = section(&with, PEERS).unwrap();
        assert_eq!([&with[..place.start], &with[place.end..]].concat(), without);

        write(&path, &whole).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), with, "a run without them keeps their figures");
    }

    #[test]
    fn a_run_of_the_window_changes_its_section_only_and_every_other_run_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("performance.md");
        let mut whole = Report::new("dist", 1);
        whole.add("latency", Unit::Milliseconds, Wanted::AtMost(0.3, 0.6), vec![0.2]);
        whole.peers.names.push("LiteLLM 1".to_owned());
        write(&path, &whole).unwrap();
        let without = fs::read_to_string(&path).unwrap();

        for times in [1.3, 1.05] {
            let mut report = Report::new("release", 1);
            report.add_of_window("multiple", Unit::Times, Wanted::AtMost(1.1, 1.5), vec![times]);
            write_window(&path, &report).unwrap();
        }
        let with = fs::read_to_string(&path).unwrap();
        assert!(with.contains("| multiple | ≤ 1.1 × | 1.5 × | 1.05 × | met |"), "{with}");
        assert!(!with.contains("1.30 ×"), "{with}");
        let place = section(&with, window::HEADING).unwrap();
        assert_eq!([&with[..place.start], &with[place.end..]].concat(), without);

        write(&path, &whole).unwrap();
        write_peers(&path, &whole).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), with);
    }
}
