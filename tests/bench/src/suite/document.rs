//! The report as a document. What a person wrote below its last heading stays.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use super::report::{Report, Row};
use crate::figures::{LATE_SHARE, Verdict, Wanted};

/// Everything from here on is written by hand.
const REMARKS: &str = "## Why, where a target is missed";

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
`translation`, `throughput`, `stream`, `memory`, `start`, `routing`) measures one part.
";

/// Writes it.
pub fn write(path: &Path, report: &Report) -> Result<()> {
    let before = fs::read_to_string(path).unwrap_or_default();
    let remarks = before.find(REMARKS).and_then(|at| before.get(at..)).unwrap_or("");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, document(report, remarks)).with_context(|| format!("{} cannot be written", path.display()))
}

fn document(report: &Report, remarks: &str) -> String {
    let machine = &report.machine;
    let (before, after) = report.load_average;
    let mut text = format!(
        "# How fast it is\n\nMeasured on {} with the profile `{}`: {} cores ({}), {:.0} GiB of memory, Linux {}. \
         {} rounds. Load average of one minute: {before:.2} before, {after:.2} after (the benchmark's own included). {} \
         Failed requests: {}.\n\n",
        report.date,
        report.profile,
        machine.cores,
        machine.processor,
        machine.memory,
        machine.kernel,
        report.rounds,
        report.lateness(),
        report.errors
    );
    if report.provisional {
        text.push_str(
            "**These figures are provisional**: the machine was busy with other work, and requests started late.\n\n",
        );
    }
    text.push_str("| quantity | target | never ship above | measured | |\n| --- | --- | --- | --- | --- |\n");
    let compared = |row: &&Row| row.wanted == Wanted::Nothing;
    for row in report.rows.iter().filter(|row| !compared(row)) {
        let (target, bound) = row.limits();
        text.push_str(&format!("| {} | {target} | {bound} | {} | {} |\n", row.quantity, row.measured(), row.word()));
    }
    text.push_str("\nFor comparison, in the same run:\n\n| quantity | measured |\n| --- | --- |\n");
    for row in report.rows.iter().filter(compared) {
        let quantity = row.quantity.trim_start_matches("for comparison: ");
        text.push_str(&format!("| {quantity} | {} |\n", row.measured()));
    }
    text.push_str(&format!(
        "\n## How it is measured\n\n{METHOD}\nA run discards itself when in more than a quarter of the open-loop \
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
}
