//! Recovery is looked for: an upstream whose breaker is open is probed when its cooldown ends, monitors or not.

use std::{sync::Arc, time::Duration};

use headgate_domain::Class;
use headgate_routing::{Completion, ProbeClaim};

use crate::{
    question::{Question, Reply, own_protocol},
    shared::Shared,
    snapshot::Endpoint,
};

/// The longest a probe waits for its answer.
const PROBE: Duration = Duration::from_secs(30);
/// How often it is looked whether a probe is due; a cooldown that ends earlier is waited for exactly.
const LOOK: Duration = Duration::from_secs(1);

/// Probes what is due. Never ends.
pub async fn run(shared: Arc<Shared>) {
    loop {
        let now = shared.now();
        let (due, next) = {
            let routing = shared.routing.lock();
            (routing.health.due_probes(now), routing.health.next_probe_at(now))
        };
        let snapshot = shared.snapshot.load_full();
        for probe in due {
            let member = snapshot
                .groups
                .values()
                .flat_map(|g| &g.pool.members)
                .find(|m| m.upstream == probe.upstream && m.upstream_enabled);
            let (Some(member), Some(endpoint)) = (member, snapshot.upstreams.get(&probe.upstream)) else { continue };
            let claim = shared.routing.lock().health.claim_probe(member, shared.now());
            if let Some(claim) = claim {
                let (shared_too, endpoint) = (Arc::clone(&shared), Arc::clone(endpoint));
                shared.tasks.spawn(async move {
                    let done = ask(&shared_too, &endpoint, &claim).await;
                    tracing::info!(upstream.name = %endpoint.name, probe.class = done.class.as_str(), "recovery probe");
                    shared_too.complete(claim.lease, &done);
                });
            }
        }
        let until_next = next.map_or(LOOK, |at| now.until(at)).clamp(Duration::from_millis(20), LOOK);
        tokio::time::sleep(until_next).await;
    }
}

async fn ask(shared: &Shared, endpoint: &Endpoint, claim: &ProbeClaim) -> Completion {
    let protocol = own_protocol(endpoint.kind);
    let question = Question { protocol, model: &claim.model, message: "hi", max_tokens: 16, stream: false };
    let credential = claim.credential.and_then(|id| endpoint.credentials.get(&id));
    let reply = question.ask(shared, endpoint, credential, PROBE, drop).await;
    match &reply {
        // A question of ours that is refused for its form says that the upstream is there.
        Reply { result: Err(failure), .. } if matches!(failure.class, Class::ClientFault | Class::ContentPolicy) => {
            Completion::ok(None)
        }
        reply => reply.completion(),
    }
}
