//! A run in figures.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    time::Duration,
};

use comfy_table::{CellAlignment, Table, presets};
use headgate_domain::{Class, UpstreamId};
use headgate_routing::{Pool, Time, Transition};
use serde::Serialize;

use crate::{behaviour::Faults, run::Run};

/// What a run says of one upstream.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UpstreamFigures {
    /// Its name.
    pub name: String,
    /// Smaller first.
    pub priority: i32,
    /// Attempts of requests at it.
    pub attempts: usize,
    /// Their share of all attempts, 0 to 1.
    pub share: f64,
    /// Those that succeeded.
    pub succeeded: usize,
    /// The others by class; clients that left included.
    pub failed: BTreeMap<&'static str, usize>,
    /// Recovery probes.
    pub probes: usize,
    /// How often its breaker opened.
    pub opened: usize,
    /// Milliseconds during which its breaker was not closed.
    pub not_closed_ms: u128,
    /// Milliseconds from the end of each fault to the next request that it served, the median and the longest.
    pub back_after_ms: Option<(u128, u128)>,
}

/// What a run says.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Requests.
    pub requests: usize,
    /// Served by the first upstream asked.
    pub direct: usize,
    /// Served by a later one.
    pub after_failover: usize,
    /// Answers that broke off.
    pub partial: usize,
    /// Clients that left.
    pub left: usize,
    /// Failures that clients saw, by class or code.
    pub failed: BTreeMap<&'static str, usize>,
    /// Attempts per request.
    pub attempts_per_request: f64,
    /// Milliseconds to the first output: median, 99th percentile, longest.
    pub first_output_ms: Option<(u128, u128, u128)>,
    /// Requests that waited in the group's line.
    pub waited: usize,
    /// Milliseconds that the longest of them waited.
    pub longest_wait_ms: u128,
    /// Of requests that belong to a session, the share whose upstream was known, 0 to 1.
    pub sessions_known: Option<f64>,
    /// The upstreams, in the order of the pool.
    pub upstreams: Vec<UpstreamFigures>,
    /// For each part of the run, requests arrived, failures seen by clients, and attempts at each upstream.
    pub parts: Vec<(u128, usize, usize, Vec<usize>)>,
}

/// Parts a run is shown in.
const PARTS: u32 = 10;

impl Report {
    /// The figures of a run over `length` from `start` on; `name` gives the upstreams' names.
    pub fn of(
        run: &Run,
        pool: &Pool,
        faults: &Faults,
        (start, length): (Time, Duration),
        name: impl Fn(UpstreamId) -> String,
    ) -> Self {
        let mut report = Self { requests: run.ends.len(), ..Self::default() };
        for end in &run.ends {
            match (end.class, end.first_output.is_some()) {
                (Some(Class::Ok), _) if end.attempts == 1 => report.direct += 1,
                (Some(Class::Ok), _) => report.after_failover += 1,
                (Some(Class::ClientGone), _) => report.left += 1,
                (Some(_), true) => report.partial += 1,
                (Some(class), false) => *report.failed.entry(class.as_str()).or_default() += 1,
                (None, _) => {
                    let code = end.refused.as_ref().map_or("none", |r| r.refusal.as_str());
                    *report.failed.entry(code).or_default() += 1;
                }
            }
            if end.waited > Duration::ZERO {
                report.waited += 1;
                report.longest_wait_ms = report.longest_wait_ms.max(end.waited.as_millis());
            }
        }
        let attempts = run.attempts.iter().filter(|a| a.request.is_some()).count();
        report.attempts_per_request = ratio(attempts, report.requests);
        let first: Vec<_> =
            run.ends.iter().filter_map(|e| Some(e.first_output?.since(e.arrived).as_millis())).collect();
        report.first_output_ms = quantiles(first);
        let (hits, misses) = run.affinity;
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let known = (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64);
        report.sessions_known = known;
        report.upstreams = pool
            .members
            .iter()
            .map(|member| {
                let id = member.upstream;
                let priority = member.priority;
                UpstreamFigures { name: name(id), priority, ..figures(run, faults, id, attempts, start + length) }
            })
            .collect();
        let part = length / PARTS;
        let within = |at: Time, n: u32| at >= start + part * n && (at < start + part * (n + 1) || n + 1 == PARTS);
        report.parts = (0..PARTS)
            .map(|n| {
                let ends = || run.ends.iter().filter(|e| within(e.arrived, n));
                let seen = |class: Option<Class>| !matches!(class, Some(Class::Ok | Class::ClientGone));
                let at = |id| run.attempts.iter().filter(move |a| a.upstream == id && within(a.at, n));
                let tried = pool.members.iter().map(|m| at(m.upstream).filter(|a| a.request.is_some()).count());
                let failures = ends().filter(|e| seen(e.class)).count();
                ((part * n).as_millis(), ends().count(), failures, tried.collect())
            })
            .collect();
        report
    }
}

fn figures(run: &Run, faults: &Faults, id: UpstreamId, all: usize, end: Time) -> UpstreamFigures {
    let of = || run.attempts.iter().filter(move |a| a.upstream == id && a.request.is_some());
    let mut figures = UpstreamFigures {
        attempts: of().count(),
        share: ratio(of().count(), all),
        succeeded: of().filter(|a| a.class == Class::Ok).count(),
        probes: run.attempts.iter().filter(|a| a.upstream == id && a.request.is_none()).count(),
        ..UpstreamFigures::default()
    };
    for attempt in of().filter(|a| a.class != Class::Ok) {
        *figures.failed.entry(attempt.class.as_str()).or_default() += 1;
    }
    let mut since = None;
    for turn in run.turns.iter().filter(|t| t.upstream == id) {
        match turn.transition {
            Transition::Opened { .. } => {
                figures.opened += 1;
                since = since.or(Some(turn.at));
            }
            Transition::Closed => {
                figures.not_closed_ms += since.take().map_or(0, |from| turn.at.since(from).as_millis());
            }
        }
    }
    figures.not_closed_ms += since.map_or(0, |from| end.since(from).as_millis());
    let back: Vec<_> = faults
        .recoveries(id)
        .into_iter()
        .filter_map(|at| Some(of().find(|a| a.at >= at && a.class == Class::Ok)?.at.since(at).as_millis()))
        .collect();
    figures.back_after_ms = quantiles(back).map(|(median, _, longest)| (median, longest));
    figures
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Median, 99th percentile, longest.
fn quantiles(mut values: Vec<u128>) -> Option<(u128, u128, u128)> {
    values.sort_unstable();
    let at = |percent: usize| values.get((values.len().checked_sub(1)?) * percent / 100).copied();
    Some((at(50)?, at(99)?, at(100)?))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen: usize = self.failed.values().sum();
        writeln!(f, "{} requests, {:.3} attempts each", self.requests, self.attempts_per_request)?;
        writeln!(
            f,
            "  served {} directly, {} after failover; broke off {}; clients left {}; failed {}{}",
            self.direct,
            self.after_failover,
            self.partial,
            self.left,
            seen,
            listed(&self.failed)
        )?;
        if let Some((median, p99, longest)) = self.first_output_ms {
            writeln!(f, "  first output after {median} ms (median), {p99} ms (p99), {longest} ms (longest)")?;
        }
        if self.waited > 0 {
            writeln!(f, "  {} waited for room, the longest {} ms", self.waited, self.longest_wait_ms)?;
        }
        if let Some(known) = self.sessions_known {
            writeln!(f, "  {:.1} % of requests found their session's upstream", known * 100.0)?;
        }
        writeln!(f)?;
        let mut table = plain_table();
        table.set_header([
            "upstream",
            "tier",
            "attempts",
            "share",
            "ok",
            "failed",
            "probes",
            "opened",
            "not closed",
            "back after",
        ]);
        for u in &self.upstreams {
            let failed: usize = u.failed.values().sum();
            table.add_row([
                u.name.clone(),
                u.priority.to_string(),
                u.attempts.to_string(),
                format!("{:.1} %", u.share * 100.0),
                u.succeeded.to_string(),
                format!("{failed}{}", listed(&u.failed)),
                u.probes.to_string(),
                u.opened.to_string(),
                format!("{:.1} s", seconds(u.not_closed_ms)),
                u.back_after_ms.map_or(String::new(), |(median, longest)| format!("{median} ms, at most {longest} ms")),
            ]);
        }
        align(&mut table, 1);
        writeln!(f, "{table}\n")?;
        let mut table = plain_table();
        let names = self.upstreams.iter().map(|u| u.name.as_str());
        table.set_header(["from", "requests", "failures seen"].into_iter().chain(names));
        for (from, requests, failures, attempts) in &self.parts {
            let counts = [*requests, *failures].into_iter().chain(attempts.iter().copied()).map(|n| n.to_string());
            table.add_row([format!("{:.0} s", seconds(*from))].into_iter().chain(counts));
        }
        align(&mut table, 0);
        write!(f, "{table}")
    }
}

fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table
}

/// Figures to the right.
fn align(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn listed(counts: &BTreeMap<&'static str, usize>) -> String {
    let mut text = String::new();
    for (at, (what, count)) in counts.iter().enumerate() {
        let _ = write!(text, "{}{what} {count}", if at == 0 { " (" } else { ", " });
    }
    if !text.is_empty() {
        text.push(')');
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a run")]
fn seconds(ms: u128) -> f64 {
    ms as f64 / 1000.0
}
