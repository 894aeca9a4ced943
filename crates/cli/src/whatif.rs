//! `headgate whatif FILE`: recorded traffic through another configuration.

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use comfy_table::{CellAlignment, Table, presets};
use headgate_domain::Span;
use serde::Deserialize;

use crate::admin::{self, Find};

/// Flags of `whatif`.
#[derive(clap::Args)]
pub struct Args {
    /// The configuration file to compare with; - for standard input
    file: PathBuf,
    /// How much traffic, counted back from --until
    #[arg(long, default_value = "1d", value_name = "SPAN")]
    span: Span,
    /// Until when, such as 2026-11-30T12:00:00Z; now if absent
    #[arg(long, value_name = "TIME")]
    until: Option<DateTime<Utc>>,
    /// What the file does not list is left out
    #[arg(long)]
    prune: bool,
    /// Print the gateway's answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    find: Find,
}

/// What of the gateway's answer is printed.
#[derive(Deserialize)]
struct Comparison {
    recorded: i64,
    every: i64,
    left_out: u64,
    happened: Figures,
    current: Figures,
    draft: Figures,
    names: BTreeMap<String, String>,
    #[serde(default)]
    unreplayed: Vec<Unreplayed>,
}

#[derive(Deserialize)]
struct Unreplayed {
    of: String,
    name: String,
    settings: Vec<String>,
}

#[derive(Deserialize)]
struct Figures {
    requests: u64,
    direct: u64,
    after_failover: u64,
    failed: BTreeMap<String, u64>,
    cost: BTreeMap<String, Amount>,
    unpriced: u64,
    first_output_ms: Option<FirstOutput>,
    upstreams: BTreeMap<String, Share>,
    basis: BTreeMap<String, u64>,
    moved: u64,
}

#[derive(Deserialize)]
struct FirstOutput {
    median: u64,
    p95: u64,
}

#[derive(Deserialize)]
struct Share {
    attempts: u64,
    failed: u64,
    served: u64,
    cost: BTreeMap<String, Amount>,
}

#[derive(Deserialize)]
struct Amount {
    charged: String,
}

/// `headgate whatif FILE`.
pub fn run(args: Args) -> Result<ExitCode> {
    let text = admin::read(&args.file)?;
    let running = args.find.running()?;
    #[expect(clippy::disallowed_methods, reason = "what is asked about ends when the person asks")]
    let until = args.until.unwrap_or_else(Utc::now);
    let since = until - chrono::TimeDelta::from_std(args.span.0).context("--span is too long")?;
    let stamp = |at: DateTime<Utc>| at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let path = format!("/whatif?since={}&until={}&prune={}", stamp(since), stamp(until), args.prune);
    let answer = admin::block_on(admin::call(&running, reqwest::Method::POST, &path, Some(text)))?;
    if args.json {
        println!("{answer}");
        return Ok(ExitCode::SUCCESS);
    }
    print(&serde_json::from_str(&answer).context("the gateway's answer is not understood")?);
    Ok(ExitCode::SUCCESS)
}

fn print(comparison: &Comparison) {
    let Comparison { happened, current, draft, .. } = comparison;
    let all = [happened, current, draft];
    println!("{} requests recorded, {} replayed", comparison.recorded, draft.requests);
    if comparison.every > 1 {
        println!("  of every {} sessions one was taken", comparison.every);
    }
    if comparison.left_out > 0 {
        println!("  {} were left out: refused for what they were", comparison.left_out);
    }
    println!();
    let mut table = plain();
    table.set_header(["", "as it happened", "replayed as it is", "with this file"]);
    let mut row = |name: &str, of: &dyn Fn(&Figures) -> String| {
        table.add_row([name.to_owned()].into_iter().chain(all.map(of)));
    };
    row("answered by the first asked", &|f| f.direct.to_string());
    row("answered after failover", &|f| f.after_failover.to_string());
    row("failed", &|f| f.failed.values().sum::<u64>().to_string());
    row("cost", &|f| amounts(&f.cost));
    row("answers without a price", &|f| f.unpriced.to_string());
    row("first output, median / p95", &|f| {
        f.first_output_ms
            .as_ref()
            .map_or_else(|| "-".to_owned(), |first| format!("{} / {} ms", first.median, first.p95))
    });
    row("answered by another upstream", &|f| f.moved.to_string());
    align(&mut table);
    println!("{table}\n");
    let mut table = plain();
    table.set_header(["upstream", "answered", "replayed", "with this file", "failed", "", "", "cost", "", ""]);
    for (id, name) in &comparison.names {
        let shares = all.map(|f| f.upstreams.get(id));
        if shares.iter().flatten().all(|share| share.attempts == 0) {
            continue;
        }
        let of = |what: &dyn Fn(&Share) -> String| shares.map(|s| s.map_or_else(|| "-".to_owned(), what));
        let cells = of(&|s| s.served.to_string())
            .into_iter()
            .chain(of(&|s| s.failed.to_string()))
            .chain(of(&|s| amounts(&s.cost)));
        table.add_row([name.clone()].into_iter().chain(cells));
    }
    align(&mut table);
    println!("{table}\n");
    let known: u64 = draft.basis.values().sum();
    let part = |word: &str| draft.basis.get(word).copied().unwrap_or(0);
    println!(
        "With this file, {known} attempts: {} as the same upstream answered within five minutes, {} as it did at other \
         times, {} assumed.",
        part("near"),
        part("overall"),
        part("assumed")
    );
    println!("Costs are list prices times the multipliers of now.");
    if !comparison.unreplayed.is_empty() {
        println!("Not replayed, so that more may be answered here than would be:");
    }
    for one in &comparison.unreplayed {
        println!("  {} of {} {}", one.settings.join(" and "), one.of, one.name);
    }
}

fn amounts(costs: &BTreeMap<String, Amount>) -> String {
    let each = costs.iter().map(|(currency, amount)| {
        let exact: rust_decimal::Decimal = amount.charged.parse().unwrap_or_default();
        format!("{} {currency}", exact.round_dp(4).normalize())
    });
    let text = each.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "-".to_owned() } else { text }
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table
}

/// Figures to the right.
fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
