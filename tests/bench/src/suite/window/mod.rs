//! Whether watching costs what is watched: the gateway alone, in the desktop program with its window open, and in the
//! desktop program out of sight, under the same requests.

pub mod section;
mod tray;

use std::{
    collections::HashMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use super::{
    ask_self,
    children::Children,
    measure::words,
    parties::{KEY, Party, apart, configuration, free_address, gateway, start_gateway, start_mock},
    pause,
    report::{Report, Unit},
    start::answer,
};
use crate::{
    clock,
    figures::{Wanted, difference, ratio},
    http::Target,
    load::Outcome,
    process,
};

/// Requests a second.
const RATE: u32 = 200;
/// The three that are compared, with the word for each.
const FORMS: [(Party, &str); 3] =
    [(Party::Headgate, "alone"), (Party::Window, "window open"), (Party::Hidden, "hidden")];
/// How long the first answer may take; the first start makes a database.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long what is done, in seconds.
struct Times {
    settle: f64,
    rest: f64,
    load: f64,
}

/// What is started, and with what.
struct Stage<'a> {
    children: &'a Children,
    folder: &'a Path,
    headgate: &'a Path,
    window: &'a Path,
    file: PathBuf,
}

/// Processor time of one form: of the gateway's process, and of the processes that it has started.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Used {
    gateway: Duration,
    /// WebKit's.
    view: Duration,
    /// PostgreSQL's.
    database: Duration,
}

/// One form in one round.
struct Turn {
    at_rest: Used,
    /// Seconds that it rested.
    rest: f64,
    under_load: Used,
    /// Seconds of the load with what follows it.
    load: f64,
    outcome: Outcome,
}

/// Measures all of it into the report's part about the window.
pub async fn measure(
    children: &Children,
    folder: &Path,
    programs: (&Path, &Path),
    rounds: usize,
    quick: bool,
    report: &mut Report,
) -> Result<()> {
    let times =
        if quick { Times { settle: 3.0, rest: 4.0, load: 4.0 } } else { Times { settle: 4.0, rest: 10.0, load: 8.0 } };
    let _tray = tray::start().await?;
    let mock = start_mock(children).await?;
    let file = configuration(folder, mock)?;
    let (headgate, window) = programs;
    let stage = Stage { children, folder, headgate, window, file };
    let mut direct = Vec::new();
    let mut turns: HashMap<&str, Vec<Turn>> = HashMap::new();
    for round in 0..rounds {
        eprintln!("headgate-bench: the window, round {} of {rounds}", round + 1);
        let outcome = ask(mock, &times).await?;
        report.saw("the window", Party::Direct, &outcome);
        direct.push(outcome);
        for (party, word) in FORMS.into_iter().cycle().skip(round % FORMS.len()).take(FORMS.len()) {
            let turn = stage.turn(party, &times).await.with_context(|| format!("{word}, round {}", round + 1))?;
            report.saw("the window", party, &turn.outcome);
            turns.entry(word).or_default().push(turn);
        }
    }
    tell(&direct, &turns, report);
    Ok(())
}

impl Stage<'_> {
    /// Starts one form, lets it settle, looks at it at rest and under load, ends it.
    async fn turn(&self, party: Party, times: &Times) -> Result<Turn> {
        let (pid, address) = self.start(party).await?;
        pause(times.settle).await;
        let has_view = family(pid).iter().any(|(_, part)| *part == Part::View);
        if has_view != (party == Party::Window) {
            bail!("there is {} web view", if has_view { "a" } else { "no" });
        }
        let (at_rest, rest, ()) = used(pid, async || {
            pause(times.rest).await;
            Ok(())
        })
        .await?;
        let (under_load, load, outcome) = used(pid, async || {
            let outcome = ask(address, times).await?;
            // What is left to do after the answers belongs to them.
            pause(0.3).await;
            Ok(outcome)
        })
        .await?;
        self.children.stop(pid).await;
        Ok(Turn { at_rest, rest, under_load, load, outcome })
    }

    async fn start(&self, party: Party) -> Result<(u32, SocketAddr)> {
        let data = self.folder.join(format!("{party:?}").to_lowercase());
        if party == Party::Headgate {
            let mut command = gateway(self.headgate, self.folder, &data, Some(&self.file))?;
            return start_gateway(self.children, command.env("HEADGATE_LOG", "warn"), self.folder).await;
        }
        let address = free_address()?;
        let mut command = apart(self.window, self.folder)?;
        command
            .env("HEADGATE_LOG", "warn")
            .env("HEADGATE_VAULT", "memory")
            .env("HEADGATE_LISTEN", address.to_string())
            .env("HEADGATE_DATA_DIR", &data)
            .env("HEADGATE_APPLY", &self.file);
        if party == Party::Hidden {
            command.arg("--hidden");
        }
        let pid = self.children.start(&mut command)?;
        let target = Target::to(address, KEY);
        let begun = clock::now();
        while answer(&target).await.is_err() {
            if self.children.has_ended(pid) || clock::now().saturating_sub(begun) > PATIENCE.as_nanos() as u64 {
                eprint!("{}", std::fs::read_to_string(self.folder.join("headgate.log")).unwrap_or_default());
                bail!("the desktop program gives no answer");
            }
            pause(0.1).await;
        }
        Ok((pid, address))
    }
}

async fn ask(address: SocketAddr, times: &Times) -> Result<Outcome> {
    let seconds = times.load;
    let line = format!("load --address {address} --key {KEY} --rate {RATE} --seconds {seconds} --warm-up 1");
    let outcome: Outcome = ask_self(&words(&line)).await?;
    if outcome.requests == 0 {
        bail!("no request was answered ({})", outcome.first_error.unwrap_or_default());
    }
    Ok(outcome)
}

/// Whose time a process's is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Gateway,
    View,
    Database,
}

/// The gateway's process and all that it has started, and what they have started.
fn family(gateway: u32) -> Vec<(u32, Part)> {
    let mut all = vec![(gateway, Part::Gateway)];
    let mut open = process::children(gateway);
    while let Some(pid) = open.pop() {
        open.extend(process::children(pid));
        let part = if process::name(pid).starts_with("WebKit") { Part::View } else { Part::Database };
        all.push((pid, part));
    }
    all
}

/// Does something and gives the processor time that was used meanwhile, and the seconds that it took.
async fn used<T>(pid: u32, work: impl AsyncFnOnce() -> Result<T>) -> Result<(Used, f64, T)> {
    let look = || -> HashMap<u32, (Part, Duration)> {
        // A process may end between the two looks.
        family(pid).into_iter().filter_map(|(pid, part)| Some((pid, (part, process::cpu(pid).ok()?)))).collect()
    };
    let (before, begun) = (look(), clock::now());
    let result = work().await?;
    let (after, ended) = (look(), clock::now());
    let mut used = Used::default();
    for (pid, (part, time)) in after {
        // One that is new has used all of its time since.
        let earlier = before.get(&pid).map_or(Duration::ZERO, |(_, time)| *time);
        *used.of(part) += time.saturating_sub(earlier);
    }
    Ok((used, ended.saturating_sub(begun) as f64 / 1e9, result))
}

impl Used {
    fn of(&mut self, part: Part) -> &mut Duration {
        match part {
            Part::Gateway => &mut self.gateway,
            Part::View => &mut self.view,
            Part::Database => &mut self.database,
        }
    }
}

/// A figure that is picked from an outcome, in milliseconds.
type Pick = fn(&Outcome) -> f64;

const P50: Pick = |outcome| outcome.latency.p50 / 1000.0;
const P99: Pick = |outcome| outcome.latency.p99 / 1000.0;

/// The rows: what is wanted, then what explains it.
fn tell(direct: &[Outcome], turns: &HashMap<&str, Vec<Turn>>, report: &mut Report) {
    let of = |word: &str| turns.get(word).map_or(&[][..], Vec::as_slice);
    let pick = |word: &str, pick: Pick| of(word).iter().map(|turn| pick(&turn.outcome)).collect::<Vec<f64>>();
    let wanted = Wanted::AtMost(1.1, 1.5);
    for (word, name, figure, wanted) in [
        ("window open", "p50", P50, wanted),
        ("hidden", "p50", P50, wanted),
        ("hidden", "p99", P99, wanted),
        ("window open", "p99", P99, Wanted::Nothing),
    ] {
        let times = ratio(&pick(word, figure), &pick("alone", figure));
        let quantity = format!("latency at {RATE} requests/s as a multiple of the gateway's alone, {name}: {word}");
        report.add_of_window(&quantity, Unit::Times, wanted, times);
    }
    let percent = |used: Duration, seconds: f64| used.as_secs_f64() / seconds * 100.0;
    for (word, wanted) in [("hidden", Wanted::AtMost(0.1, 0.2)), ("window open", Wanted::Nothing)] {
        for (when, figure) in [
            ("at rest", (|turn| (turn.at_rest.view, turn.rest)) as fn(&Turn) -> (Duration, f64)),
            ("under load", |turn| (turn.under_load.view, turn.load)),
        ] {
            let rounds = of(word).iter().map(figure).map(|(used, seconds)| percent(used, seconds)).collect();
            let quantity = format!("web view, share of one processor, {when}: {word}");
            report.add_of_window(&quantity, Unit::Percent, wanted, rounds);
        }
    }
    for (name, figure) in [("p50", P50), ("p99", P99)] {
        let through = direct.iter().map(figure).collect::<Vec<f64>>();
        for (_, word) in FORMS {
            let added = difference(&pick(word, figure), &through);
            report.add_of_window(&format!("added latency, {name}: {word}"), Unit::Milliseconds, Wanted::Nothing, added);
        }
    }
    for (_, word) in FORMS {
        let rest = of(word).iter().map(|turn| percent(turn.at_rest.gateway, turn.rest)).collect();
        let quantity = format!("gateway's process at rest, share of one processor: {word}");
        report.add_of_window(&quantity, Unit::Percent, Wanted::Nothing, rest);
    }
    for (_, word) in FORMS {
        let each = |turn: &Turn| turn.under_load.gateway.as_secs_f64() * 1e6 / turn.outcome.sent.max(1) as f64;
        let quantity = format!("CPU of the gateway's process per request: {word}");
        report.add_of_window(&quantity, Unit::Microseconds, Wanted::Nothing, of(word).iter().map(each).collect());
    }
    for (_, word) in FORMS {
        let rounds = of(word).iter().map(|turn| percent(turn.under_load.database, turn.load)).collect();
        let quantity = format!("PostgreSQL under load, share of one processor: {word}");
        report.add_of_window(&quantity, Unit::Percent, Wanted::Nothing, rounds);
    }
    for (_, word) in FORMS {
        let late = of(word).iter().map(|turn| turn.outcome.late_share * 100.0).collect();
        let quantity = format!("requests started more than 1 ms late: {word}");
        report.add_of_window(&quantity, Unit::Percent, Wanted::Nothing, late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Verdict;

    fn outcome(p50: f64, p99: f64) -> Outcome {
        let mut outcome = Outcome { sent: 100, requests: 100, ..Outcome::default() };
        (outcome.latency.p50, outcome.latency.p99) = (p50, p99);
        outcome
    }

    fn turn(p50: f64, p99: f64, view: u64) -> Turn {
        let used = Used { view: Duration::from_millis(view), gateway: Duration::from_millis(20), ..Used::default() };
        Turn { at_rest: used, rest: 10.0, under_load: used, load: 10.0, outcome: outcome(p50, p99) }
    }

    #[test]
    fn each_form_is_compared_with_the_gateway_alone_of_the_same_round() {
        let turns = HashMap::from([
            ("alone", vec![turn(200.0, 1000.0, 0), turn(400.0, 2000.0, 0)]),
            ("window open", vec![turn(240.0, 4000.0, 1300), turn(480.0, 8000.0, 1300)]),
            ("hidden", vec![turn(200.0, 1600.0, 0), turn(400.0, 3200.0, 0)]),
        ]);
        let mut report = Report::new("release", 2);
        tell(&[outcome(100.0, 500.0), outcome(100.0, 500.0)], &turns, &mut report);
        let row = |end: &str| {
            let found = report.window.iter().find(|row| row.quantity.ends_with(end));
            found.map(|row| (row.measured(), row.verdict)).unwrap()
        };
        assert_eq!(row("alone, p50: window open"), ("1.20 × (1.20 – 1.20)".to_owned(), Verdict::Missed));
        assert_eq!(row("alone, p50: hidden").1, Verdict::Met);
        assert_eq!(row("alone, p99: hidden").1, Verdict::Over);
        assert_eq!(row("alone, p99: window open"), ("4.00 × (4.00 – 4.00)".to_owned(), Verdict::None));
        assert_eq!(row("under load: window open").0, "13.0 % (13.0 – 13.0)");
        assert_eq!(row("processor, at rest: hidden").1, Verdict::Met);
        assert_eq!(row("added latency, p50: alone").0, "0.200 ms (0.150 – 0.250)");
        assert_eq!(row("per request: alone").0, "200 µs (200 – 200)");
    }

    #[tokio::test]
    async fn a_process_that_rests_uses_no_time_and_its_own_are_told_apart() {
        let (used, seconds, ()) = used(std::process::id(), async || {
            pause(0.02).await;
            Ok(())
        })
        .await
        .unwrap();
        assert!(used.view.is_zero() && seconds >= 0.02, "{used:?} in {seconds} s");
        assert_eq!(family(std::process::id()).first(), Some(&(std::process::id(), Part::Gateway)));
    }
}
