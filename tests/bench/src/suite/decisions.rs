//! What a decision costs by itself: the code that routes, without any request around it.

use std::{hint::black_box, time::Duration};

use anyhow::{Result, bail};
use headgate_domain::{Class, CredentialId, GroupId, KeyId, Protocol, UpstreamId, UpstreamKind, upstream::Limits};
use headgate_routing::{Completion, Health, Need, Policy, Pool, PoolCredential, PoolMember, Time, Tried};
use rand::{SeedableRng as _, rngs::StdRng};

use super::{
    measure::Plan,
    report::{Report, Unit},
};
use crate::figures::Wanted;

const MEMBERS: i64 = 50;
const DECISIONS: u32 = 50_000;

/// Decisions in a pool of fifty members in ten tiers, each with two credentials, limits and rules for models; the first
/// tier's breakers are open. Every decision is completed with a success, as a request does.
pub fn decisions(plan: &Plan, report: &mut Report) -> Result<()> {
    let mut rounds = Vec::new();
    for round in 0..plan.rounds {
        let mut rng = StdRng::seed_from_u64(round as u64);
        let pool = pool();
        let mut health = Health::new(Policy::default());
        let need = Need {
            stream: true,
            key: Some(KeyId(1)),
            estimated_input: 5000,
            ..Need::new(Protocol::Claude, "claude-x")
        };
        let mut now = Time::secs(1);
        let mut begin = Duration::ZERO;
        for n in 0..DECISIONS {
            // The first ones open the first tier.
            if n == DECISIONS / 10 {
                begin = own_time();
            }
            now = now + Duration::from_micros(200);
            let decided = health.decide(&pool, black_box(&need), &Tried::new(), now, &mut rng);
            let Ok(choice) = black_box(decided) else { bail!("nobody was chosen") };
            let is_first_tier = pool.members.get(choice.candidate.member).is_some_and(|m| m.priority == 0);
            let done = if is_first_tier {
                Completion::new(Class::Server)
            } else {
                Completion::ok(Some(Duration::from_millis(300)))
            };
            health.complete(choice.lease, &done, now, &mut rng);
        }
        let spent = own_time().saturating_sub(begin).as_secs_f64();
        rounds.push(spent * 1e6 / f64::from(DECISIONS - DECISIONS / 10));
    }
    let quantity = "a routing decision among 50 members, with its completion";
    report.add(quantity, Unit::Microseconds, Wanted::AtMost(10.0, 20.0), rounds);
    Ok(())
}

/// Processor time of this thread: whatever else runs on the machine does not count.
fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn pool() -> Pool {
    let members = (0..MEMBERS).map(|id| {
        let credentials = [1, 2].map(|n| PoolCredential { id: CredentialId(id * 10 + n), missing: false });
        let mut member = PoolMember::new(UpstreamId(id), UpstreamKind::Claude);
        member.priority = i32::try_from(id / 5).unwrap_or(i32::MAX);
        member.credentials = credentials.to_vec();
        member.models.allow = vec!["claude-*".to_owned()];
        member.models.map.insert("claude-sonnet".to_owned(), "vendor-sonnet".to_owned());
        member.limits = Limits { concurrency: Some(100), rpm: Some(1_000_000), tpm: Some(u64::MAX) };
        member
    });
    Pool { members: members.collect(), ..Pool::new(GroupId(1)) }
}
