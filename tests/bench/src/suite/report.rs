//! What was measured: rows with their targets, and whether the run counts.

use std::fs;

use serde::Serialize;
use serde_json::json;

use super::parties::Party;
use crate::{
    clock,
    figures::{Spread, Verdict, Wanted, is_discarded},
    load,
};

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// ms
    Milliseconds,
    /// µs
    Microseconds,
    /// s
    Seconds,
    /// %
    Percent,
    /// ×
    Times,
    /// 1/s
    PerSecond,
    /// KiB
    Kibibytes,
    /// MiB
    Mebibytes,
}

impl Unit {
    /// A value with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Milliseconds => format!("{value:.3} ms"),
            Self::Microseconds if value < 10.0 => format!("{value:.1} µs"),
            Self::Microseconds => format!("{value:.0} µs"),
            Self::Seconds => format!("{value:.2} s"),
            Self::Percent => format!("{value:.1} %"),
            Self::Times => format!("{value:.2} ×"),
            Self::PerSecond => format!("{value:.0} /s"),
            Self::Kibibytes => format!("{value:.1} KiB"),
            Self::Mebibytes => format!("{value:.1} MiB"),
        }
    }

    /// A limit, without digits that mean nothing.
    pub fn show_limit(self, value: f64) -> String {
        let shown = self.show(value);
        match shown.split_once(' ') {
            Some((number, unit)) if number.contains('.') => {
                format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => shown,
        }
    }
}

/// One line of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What it is.
    pub quantity: String,
    /// What it is counted in.
    pub unit: Unit,
    /// What is wanted of it.
    pub wanted: Wanted,
    /// How it stands.
    pub verdict: Verdict,
    /// The figure.
    pub spread: Spread,
}

impl Row {
    /// Target and bound as text.
    pub fn limits(&self) -> (String, String) {
        match self.wanted {
            Wanted::AtMost(target, bound) => {
                (format!("≤ {}", self.unit.show_limit(target)), self.unit.show_limit(bound))
            }
            Wanted::AtLeast(target, bound) => {
                (format!("≥ {}", self.unit.show_limit(target)), format!("below {}", self.unit.show_limit(bound)))
            }
            Wanted::Nothing => ("–".into(), "–".into()),
        }
    }

    /// The median, and the quartiles where there is more than one round.
    pub fn measured(&self) -> String {
        let Spread { lower, median, upper, rounds } = &self.spread;
        let shown = self.unit.show(*median);
        if rounds.len() < 2 {
            return shown;
        }
        let bare = |value: f64| self.unit.show(value).split(' ').next().unwrap_or_default().to_owned();
        format!("{shown} ({} – {})", bare(*lower), bare(*upper))
    }

    /// The verdict as a word.
    pub fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::Over => "OVER",
            Verdict::None => "",
        }
    }
}

/// The machine.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Processors.
    pub cores: usize,
    /// What they call themselves.
    pub processor: String,
    /// GiB.
    pub memory: f64,
    /// The kernel's release.
    pub kernel: String,
}

/// What came out beside other gateways.
#[derive(Debug, Default, Serialize)]
pub struct OfPeers {
    /// They, with their versions; none if they were not measured.
    pub names: Vec<String>,
    /// The table.
    pub rows: Vec<Row>,
}

/// All of it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// When it began, UTC.
    pub date: String,
    /// Where.
    pub machine: Machine,
    /// How Headgate was built.
    pub profile: String,
    /// Rounds of what has rounds.
    pub rounds: usize,
    /// The load averages of one minute, before and after.
    pub load_average: (f64, f64),
    /// Share of late starts in each open-loop measurement.
    pub late_shares: Vec<f64>,
    /// The latest start of all, milliseconds.
    pub latest_start: f64,
    /// Requests that failed.
    pub errors: u64,
    /// Whether starts were too late for the figures to count.
    pub discarded: bool,
    /// Whether the figures are kept although the run does not count, or stem from a short run.
    pub provisional: bool,
    /// The table.
    pub rows: Vec<Row>,
    /// The table beside other gateways.
    pub peers: OfPeers,
    /// The table about the window.
    pub window: Vec<Row>,
    /// Every measurement.
    pub measurements: Vec<serde_json::Value>,
}

impl Report {
    /// An empty one.
    pub fn new(profile: &str, rounds: usize) -> Self {
        let date = chrono::DateTime::from_timestamp(clock::wall(), 0);
        Self {
            date: date.map(|date| date.format("%Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default(),
            machine: machine(),
            profile: profile.to_owned(),
            rounds,
            load_average: (load_average(), 0.0),
            late_shares: Vec::new(),
            latest_start: 0.0,
            errors: 0,
            discarded: false,
            provisional: false,
            rows: Vec::new(),
            peers: OfPeers::default(),
            window: Vec::new(),
            measurements: Vec::new(),
        }
    }

    /// Takes one figure, a value for each round. Values that are no numbers are told of instead.
    pub fn add(&mut self, quantity: &str, unit: Unit, wanted: Wanted, rounds: Vec<f64>) {
        self.rows.extend(row(quantity, unit, wanted, rounds));
    }

    /// The same for what belongs to the comparison with other gateways.
    pub fn add_of_peers(&mut self, quantity: &str, unit: Unit, wanted: Wanted, rounds: Vec<f64>) {
        self.peers.rows.extend(row(quantity, unit, wanted, rounds));
    }

    /// The same for what is about the window.
    pub fn add_of_window(&mut self, quantity: &str, unit: Unit, wanted: Wanted, rounds: Vec<f64>) {
        self.window.extend(row(quantity, unit, wanted, rounds));
    }

    /// Takes the outcome of one measurement.
    pub fn saw(&mut self, what: &str, party: Party, outcome: &load::Outcome) {
        self.errors += outcome.errors;
        if let Some(why) = &outcome.first_error {
            eprintln!("headgate-bench: {what}, {party:?}: {} requests failed, the first with: {why}", outcome.errors);
        }
        // A closed loop has no schedule to be late for.
        if outcome.late.max > 0.001 {
            self.late_shares.push(outcome.late_share);
            self.latest_start = self.latest_start.max(outcome.late.max / 1000.0);
        }
        self.measurements
            .push(json!({ "what": what, "party": format!("{party:?}").to_lowercase(), "outcome": outcome }));
    }

    /// Decides whether it counts.
    pub fn finish(&mut self, kept_anyway: bool, short: bool) {
        self.load_average.1 = load_average();
        self.discarded = is_discarded(&self.late_shares);
        self.provisional = short || (kept_anyway && self.discarded);
    }

    /// How late starts were, as a sentence.
    pub fn lateness(&self) -> String {
        if self.late_shares.is_empty() {
            return "Nothing was measured against a schedule.".to_owned();
        }
        let mut sorted = self.late_shares.clone();
        sorted.sort_by(f64::total_cmp);
        let median = crate::figures::quantile(&sorted, 0.5).unwrap_or(0.0);
        format!(
            "Starts more than 1 ms late: {:.2} % in the median measurement, {:.2} % in the worst; the latest by {:.1} ms.",
            median * 100.0,
            sorted.last().unwrap_or(&0.0) * 100.0,
            self.latest_start
        )
    }

    /// The table for a terminal.
    pub fn table(&self) -> String {
        let mut lines = vec![["quantity", "target", "never above", "measured", ""].map(str::to_owned)];
        for row in self.rows.iter().chain(&self.peers.rows).chain(&self.window) {
            let (target, bound) = row.limits();
            lines.push([row.quantity.clone(), target, bound, row.measured(), row.word().to_owned()]);
        }
        let mut widths = [0; 5];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = String::new();
        for line in &lines {
            let cells: Vec<String> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        let (before, after) = self.load_average;
        text.push_str(&format!(
            "\nprofile {}, {} rounds, median (quartiles); load average {before:.2} before, {after:.2} after; {} failed \
             requests.\n{}\n",
            self.profile,
            self.rounds,
            self.errors,
            self.lateness()
        ));
        text
    }
}

fn row(quantity: &str, unit: Unit, wanted: Wanted, rounds: Vec<f64>) -> Option<Row> {
    let Some(spread) = Spread::of(rounds) else {
        eprintln!("headgate-bench: no figure for: {quantity}");
        return None;
    };
    Some(Row { quantity: quantity.to_owned(), unit, wanted, verdict: wanted.verdict(spread.median), spread })
}

fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

fn machine() -> Machine {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
    };
    let kibibytes = field(&read("/proc/meminfo"), "MemTotal");
    let kibibytes = kibibytes.and_then(|value| value.split(' ').next()?.parse::<f64>().ok());
    Machine {
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        memory: kibibytes.unwrap_or(0.0) / 1024.0 / 1024.0,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_show_their_limits_and_quartiles() {
        let mut report = Report::new("dist", 3);
        report.add("latency", Unit::Milliseconds, Wanted::AtMost(0.3, 0.6), vec![0.2, 0.4, 0.5]);
        report.add("throughput", Unit::Percent, Wanted::AtLeast(60.0, 40.0), vec![70.0]);
        report.add("no number", Unit::Times, Wanted::Nothing, vec![f64::NAN]);
        let [latency, throughput] = &report.rows[..] else { panic!("{:?}", report.rows) };
        assert_eq!(latency.limits(), ("≤ 0.3 ms".into(), "0.6 ms".into()));
        assert_eq!((latency.measured().as_str(), latency.word()), ("0.400 ms (0.300 – 0.450)", "missed"));
        assert_eq!(throughput.limits(), ("≥ 60 %".into(), "below 40 %".into()));
        assert_eq!((throughput.measured().as_str(), throughput.word()), ("70.0 %", "met"));
        assert_eq!(Unit::Microseconds.show_limit(120.0), "120 µs");
    }

    #[test]
    fn late_starts_discard_a_run_and_closed_loops_do_not_count() {
        let mut report = Report::new("dist", 3);
        let late = load::Distribution { max: 2000.0, ..Default::default() };
        let outcome = load::Outcome { late, late_share: 0.5, ..Default::default() };
        report.saw("latency", Party::Direct, &outcome);
        report.saw("throughput", Party::Direct, &load::Outcome::default());
        report.finish(false, false);
        assert_eq!(report.late_shares, [0.5]);
        assert!(report.discarded && !report.provisional);
        report.finish(true, false);
        assert!(report.provisional);
    }
}
