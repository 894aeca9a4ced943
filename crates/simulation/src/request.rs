//! A request under way.

use headgate_domain::{KeyId, UpstreamId};
use headgate_routing::{Candidate, Completion, Lease, Need, Ticket, Time, Tried};

use crate::workload::Workload;

/// An attempt under way.
#[derive(Debug)]
pub struct Held {
    pub candidate: Candidate,
    pub lease: Lease,
    pub done: Completion,
    /// Output has reached the client: nobody else can take over.
    pub committed: bool,
    /// Index of the attempt in the run.
    pub attempt: usize,
}

/// A request from its arrival to its end.
#[derive(Debug)]
pub struct Request {
    pub arrived: Time,
    pub session: Option<u64>,
    pub key: KeyId,
    pub restricted: bool,
    pub tried: Tried,
    pub attempts: u32,
    pub held: Option<Held>,
    pub last: Option<(UpstreamId, Completion)>,
    /// When its first attempt began.
    pub began: Option<Time>,
    pub first_output: Option<Time>,
    /// Its place in the group's line.
    pub ticket: Option<Ticket>,
    /// Whether a full tier is still waited for.
    pub waits_for_tier: bool,
    /// Whether the session's upstream is, being full.
    pub waits_for_favourite: bool,
}

impl Request {
    pub fn need<'a>(&self, workload: &'a Workload, affinity: Option<UpstreamId>) -> Need<'a> {
        let waits = workload.line.0 > 0 && !self.tried.any();
        Need {
            stream: true,
            estimated_input: workload.input,
            affinity,
            key: Some(self.key),
            key_regions: self.restricted.then_some(&*workload.regions),
            may_wait: waits && self.waits_for_tier,
            may_wait_for_favourite: waits && self.waits_for_favourite,
            ..Need::new(workload.protocol, &workload.model)
        }
    }
}
