//! Choosing the next candidate, and waiting for room where room is all that is missing.

use std::{sync::Arc, time::Duration};

use headgate_domain::UpstreamId;
use headgate_routing::{Candidate, Choice, Need, Refusal, Refused, Time, Wait, other_name, repeat_delay};

use super::{Inbound, line::Place, prepare::Excluded};
use crate::{
    exchange::Exchange,
    shared::{Counters, Shared},
    snapshot::Snapshot,
};

/// Why nobody was chosen.
pub enum Unchosen {
    /// Nobody can be.
    Refused(Refused),
    /// The key was removed while the request waited.
    KeyGone,
    /// The gateway ends.
    Stopping,
}

/// What a request still waits for instead of using something else.
#[derive(Clone, Copy)]
struct Patience {
    favourite: bool,
    tier: bool,
}

/// Chooses and claims the next candidate; a first one is waited for if all that could serve are full.
pub async fn choose(
    shared: &Arc<Shared>,
    inbound: &mut Inbound,
    exchange: &mut Exchange,
    excluded: &Excluded,
) -> Result<Choice, Unchosen> {
    let first = !exchange.tried.any();
    let began = shared.now();
    let mut patience = Patience { favourite: first && is_patient(shared, inbound, exchange), tier: first };
    let mut contended = false;
    let mut alarm = began + inbound.group().queue.wait.0;
    // A newcomer stands behind those who wait already.
    let mut place = if first && shared.lines.has(inbound.group().id) { join(shared, inbound) } else { None };
    loop {
        if let Some(place) = &place {
            tokio::select! {
                () = place.turn() => {}
                () = tokio::time::sleep_until(shared.clock.instant(alarm)) => {}
                () = shared.deadline.cancelled() => return Err(Unchosen::Stopping),
            }
            renew(shared, inbound)?;
        }
        let looked = shared.now();
        let refused = match decide(shared, inbound, exchange, excluded, patience) {
            Ok(choice) => {
                note_contention(shared, inbound, exchange, contended, choice.candidate.upstream);
                if let Some(place) = place {
                    exchange.step("queue", began);
                    place.served();
                }
                exchange.step("route", looked);
                return Ok(choice);
            }
            Err(refused) if refused.refusal == Refusal::Saturated && first => refused,
            Err(refused) => return Err(Unchosen::Refused(refused)),
        };
        let now = shared.now();
        let limit = match refused.wait {
            Some(Wait::Favourite(limit) | Wait::Tier(limit)) => limit,
            None => inbound.group().queue.wait.0,
        };
        contended |= matches!(refused.wait, Some(Wait::Favourite(_)));
        let until = inbound.wishes.deadline.map_or(began + limit, |deadline| deadline.min(began + limit));
        let stays = match &place {
            _ if until <= now => false,
            Some(place) => {
                place.pass();
                true
            }
            None => {
                place = join(shared, inbound);
                place.is_some()
            }
        };
        match refused.wait {
            _ if stays => {}
            // Enough waited: the next best will do.
            Some(Wait::Favourite(_)) => patience.favourite = false,
            Some(Wait::Tier(_)) => patience.tier = false,
            None => return Err(Unchosen::Refused(refused)),
        }
        alarm = if stays { refused.retry_at.map_or(until, |at| at.min(until)).max(now) } else { now };
    }
}

fn join(shared: &Shared, inbound: &Inbound) -> Option<Place> {
    let group = inbound.group();
    shared.lines.join(group.id, inbound.key.id, usize::try_from(group.queue.size).unwrap_or(usize::MAX))
}

/// A request that has waited goes on with the newest configuration.
fn renew(shared: &Shared, inbound: &mut Inbound) -> Result<(), Unchosen> {
    let newest: Arc<Snapshot> = shared.snapshot.load_full();
    if Arc::ptr_eq(&newest, &inbound.snapshot) || inbound.is_ours {
        return Ok(());
    }
    let key = newest.keys.values().find(|key| key.id == inbound.key.id && key.spec.is_valid_at(shared.clock.wall()));
    inbound.key = Arc::clone(key.ok_or(Unchosen::KeyGone)?);
    inbound.snapshot = newest;
    Ok(())
}

fn is_patient(shared: &Shared, inbound: &Inbound, exchange: &Exchange) -> bool {
    let session = exchange.session.filter(|_| inbound.snapshot.settings.affinity);
    session.is_some_and(|session| shared.routing.lock().affinity.is_patient(inbound.group().id, session))
}

fn note_contention(shared: &Shared, inbound: &Inbound, exchange: &Exchange, contended: bool, chosen: UpstreamId) {
    let Some(session) = exchange.session.filter(|_| inbound.snapshot.settings.affinity) else { return };
    let affinity = &mut shared.routing.lock().affinity;
    if contended || affinity.get(inbound.group().id, session, shared.now()) == Some(chosen) {
        affinity.note_contended(inbound.group().id, session, contended);
    }
}

fn decide(
    shared: &Shared,
    inbound: &Inbound,
    exchange: &Exchange,
    excluded: &Excluded,
    patience: Patience,
) -> Result<Choice, Refused> {
    let now = shared.now();
    let group = inbound.group();
    let routing = &mut *shared.routing.lock();
    let session = exchange.session.filter(|_| inbound.snapshot.settings.affinity);
    let affinity = session.and_then(|session| routing.affinity.get(group.id, session, now));
    if exchange.session.is_some() && !exchange.tried.any() {
        let counters = &shared.counters;
        Counters::add(if affinity.is_some() { &counters.affinity_hits } else { &counters.affinity_misses });
    }
    let pool = group.pool_for(inbound.model());
    let (prices, wall) = (shared.prices.now(), shared.clock.wall());
    let decision = inbound.with_need(affinity, excluded, |need| {
        let need = Need {
            idle: session.and_then(|session| routing.affinity.idle(group.id, session, now)),
            pace: routing.affinity.pace(group.id, session, now),
            rates: &|upstream, model| prices.rates(upstream, model, inbound.asked.estimated_input, wall),
            may_wait: patience.tier,
            may_wait_for_favourite: patience.favourite,
            ..*need
        };
        routing.health.decide(pool, &need, &exchange.tried, now, &mut routing.rng)
    });
    if let (Ok(choice), Some(pinned)) = (&decision, affinity)
        && choice.candidate.upstream == pinned
    {
        Counters::add(&shared.counters.affinity_pinned);
    }
    decision
}

/// The upstream does not have the model: if it has it under another name, and nobody has given it one in the
/// configuration, that is tried by the same request.
pub fn rename(shared: &Shared, inbound: &Inbound, exchange: &mut Exchange, upstream: UpstreamId, sent_model: &str) {
    if sent_model != inbound.model() {
        return;
    }
    let listed = shared.model_lists.known(upstream);
    let Some(other) = other_name(sent_model, listed.as_deref()) else { return };
    if shared.routing.lock().health.rename(upstream, sent_model, &other, shared.now()) {
        tracing::info!(model = sent_model, other, "an upstream knows the model by another name, perhaps");
        exchange.tried.renamed(upstream);
    }
}

/// The longest an upstream may ask to be left alone and still be repeated on.
const REPEAT_WITHIN: Duration = Duration::from_secs(2);

/// Waits, then claims the candidate that has just failed once more, as far as the settings, the budget of repeats, the
/// upstream's own wish and the client's deadline allow it. `repeats`: how often it was repeated already.
pub async fn again(
    shared: &Arc<Shared>,
    inbound: &Inbound,
    excluded: &Excluded,
    failed: Candidate,
    sent_model: &str,
    repeats: u32,
    asked_to_wait: Option<Duration>,
) -> Option<Choice> {
    if repeats >= inbound.snapshot.settings.retry_same || asked_to_wait.is_some_and(|wait| wait > REPEAT_WITHIN) {
        return None;
    }
    let delay = {
        let routing = &mut *shared.routing.lock();
        let delay = repeat_delay(repeats, &mut routing.rng).max(asked_to_wait.unwrap_or_default());
        let in_time = inbound.wishes.deadline.is_none_or(|deadline| shared.now() + delay < deadline);
        (in_time && routing.repeats.take(shared.now())).then_some(delay)?
    };
    tokio::select! {
        () = tokio::time::sleep(delay) => {}
        () = shared.deadline.cancelled() => return None,
    }
    let now: Time = shared.now();
    let pool = inbound.group().pool_for(inbound.model());
    let routing = &mut *shared.routing.lock();
    inbound.with_need(None, excluded, |need| routing.health.decide_again(pool, need, failed, sent_model, now))
}
