//! Other gateways under the same requests: what they add beside what Headgate adds.

mod program;

use std::path::Path;

use anyhow::Result;

use self::program::Kind;
pub use self::program::Peer;
use super::{
    children::Children,
    measure::{MIB, Plan, Series, rounds, stream_arguments, words},
    parties::{Parties, Party},
    report::{Report, Unit},
};
use crate::{
    figures::{Wanted, ratio},
    load::Outcome,
    process,
};

/// Requests a second, and streams begun a second: what all of them hold without a queue.
const RATES: (u32, u32) = (20, 10);

impl Kind {
    /// How many times as much as Headgate it adds at least: the target, which is also the bound.
    fn wanted(self) -> Wanted {
        match self {
            Self::LiteLlm => Wanted::AtLeast(10.0, 10.0),
            Self::Portkey => Wanted::AtLeast(5.0, 5.0),
        }
    }
}

/// Starts them, measures each beside direct and Headgate, ends them. One that does not start is told of and left out.
pub async fn measure(
    peers: &[Peer],
    parties: &mut Parties,
    children: &Children,
    folder: &Path,
    plan: &Plan,
    report: &mut Report,
) -> Result<()> {
    let mock = parties.place(Party::Direct)?.address;
    let mut running = Vec::new();
    for peer in peers {
        eprintln!("headgate-bench: starting {peer}");
        match peer.start(children, folder, mock).await {
            Ok(place) => {
                parties.add(peer.kind().party(), place);
                report.peers.names.push(peer.to_string());
                running.push(peer.kind());
            }
            Err(why) => eprintln!("headgate-bench: NOT MEASURED: {peer} ({why:#})"),
        }
    }
    if !running.is_empty() {
        compare(&running, parties, plan, report).await?;
    }
    for kind in running {
        children.stop(parties.pid(kind.party())?).await;
        parties.remove(kind.party());
    }
    Ok(())
}

/// A figure that is picked from an outcome, in milliseconds.
type Pick = fn(&Outcome) -> f64;

async fn compare(running: &[Kind], parties: &Parties, plan: &Plan, report: &mut Report) -> Result<()> {
    let mut all = vec![("Headgate", Party::Headgate)];
    all.extend(running.iter().map(|kind| (kind.name(), kind.party())));
    let among: Vec<Party> = std::iter::once(Party::Direct).chain(all.iter().map(|(_, party)| *party)).collect();

    let (requests, streams) = RATES;
    let arguments = words(&format!("--rate {requests} --seconds {} --warm-up 2", plan.seconds));
    let what = format!("other gateways, {requests} requests/s");
    let series = rounds(parties, &among, plan, &what, &arguments, report).await?;
    let [p50, p99]: [Pick; 2] = [|o| o.latency.p50 / 1000.0, |o| o.latency.p99 / 1000.0];
    multiples("added latency", running, &series, p50, report);
    for (name, pick) in [("p50", p50), ("p99", p99)] {
        added(&format!("added latency at {requests} requests/s, {name}"), &all, &series, pick, report);
    }
    let cpu = all.iter().map(|(name, party)| (*name, series.cpu(*party))).collect::<Vec<_>>();

    let arguments = stream_arguments(streams, 2, plan);
    let what = format!("other gateways, {streams} streams/s");
    let series = rounds(parties, &among, plan, &what, &arguments, report).await?;
    let [p50, p99]: [Pick; 2] = [|o| o.first_event.p50 / 1000.0, |o| o.first_event.p99 / 1000.0];
    multiples("first token added (stream)", running, &series, p50, report);
    for (name, pick) in [("p50", p50), ("p99", p99)] {
        added(&format!("first token added at {streams} streams/s, {name}"), &all, &series, pick, report);
    }
    let [p50, p99]: [Pick; 2] = [|o| o.event_delay.p50 / 1000.0, |o| o.event_delay.p99 / 1000.0];
    for (name, pick) in [("p50", p50), ("p99", p99)] {
        added(&format!("delay of one event inside a stream, added, {name}"), &all, &series, pick, report);
    }

    for (name, rounds) in cpu {
        let quantity = format!("CPU per request, not streamed: {name}");
        report.add_of_peers(&quantity, Unit::Microseconds, Wanted::Nothing, rounds);
    }
    for (name, party) in all {
        let resident = process::resident(parties.pid(party)?)? as f64 / MIB;
        report.add_of_peers(
            &format!("resident memory afterwards: {name}"),
            Unit::Mebibytes,
            Wanted::Nothing,
            vec![resident],
        );
    }
    Ok(())
}

/// What each of them adds as a multiple of what Headgate adds, at the median.
fn multiples(quantity: &str, running: &[Kind], series: &Series, pick: Pick, report: &mut Report) {
    let ours = series.added(Party::Headgate, pick);
    for kind in running {
        let times = ratio(&series.added(kind.party(), pick), &ours);
        let quantity = format!("{quantity}, p50: {}'s as a multiple of Headgate's", kind.name());
        report.add_of_peers(&quantity, Unit::Times, kind.wanted(), times);
    }
}

fn added(quantity: &str, all: &[(&str, Party)], series: &Series, pick: Pick, report: &mut Report) {
    for (name, party) in all {
        let quantity = format!("{quantity}: {name}");
        report.add_of_peers(&quantity, Unit::Milliseconds, Wanted::Nothing, series.added(*party, pick));
    }
}
