//! An upstream's state in one word, with what it is due to and how long it lasts.

use headgate_domain::{Class, Group, Member, Upstream, UpstreamId, audit::BreakerState};
use headgate_routing::{CoolingView, UpstreamHealth, Withheld, meaning};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{billing::withheld, snapshot::Snapshot};

/// The word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It serves.
    Healthy,
    /// It is left alone for a while.
    Cooling,
    /// It is being tried again.
    Trying,
    /// It needs a person: no usable credential.
    Down,
    /// It costs more than the group allows, or nobody knows what it costs and the group does not allow that.
    OverCap,
    /// It is switched off.
    Off,
}

impl State {
    /// Whether requests may be sent to it.
    pub(super) fn serves(self) -> bool {
        matches!(self, Self::Healthy | Self::Trying)
    }
}

/// A state and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Condition {
    /// The word.
    pub(super) state: State,
    /// What it is due to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) class: Option<Class>,
    /// Milliseconds until it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remaining_ms: Option<u64>,
    /// It has credentials, and none of their secrets was found.
    pub(super) credentials_missing: bool,
    /// Why the group does not use it for its money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) withheld: Option<Withheld>,
}

/// An upstream's condition.
pub(super) fn condition(snapshot: &Snapshot, upstream: &Upstream, health: &UpstreamHealth) -> Condition {
    let found = snapshot.upstreams.get(&upstream.id).map_or(0, |e| e.credentials.len());
    of(upstream.spec.enabled, upstream.credentials.len(), found, health)
}

/// The condition of a group's member: that of its upstream, unless the group itself does not use it.
pub(super) fn of_member(
    snapshot: &Snapshot,
    group: &Group,
    member: &Member<UpstreamId>,
    upstream: &Upstream,
    health: &UpstreamHealth,
) -> Condition {
    let known = condition(snapshot, upstream, health);
    let instead = |state| Condition { state, class: None, remaining_ms: None, ..known };
    if !member.enabled {
        return instead(State::Off);
    }
    let Some(why) = withheld(snapshot, group.id, upstream.id).filter(|_| known.state.serves()) else { return known };
    let condition = match why {
        Withheld::OverCap { .. } | Withheld::MultiplierUnknown => instead(State::OverCap),
        Withheld::BalanceEmpty => Condition { class: Some(Class::Exhausted), ..instead(State::Down) },
    };
    Condition { withheld: Some(why), ..condition }
}

fn of(enabled: bool, credentials: usize, found: usize, health: &UpstreamHealth) -> Condition {
    let is = |state, class, remaining_ms| Condition {
        state,
        class,
        remaining_ms,
        credentials_missing: false,
        withheld: None,
    };
    if !enabled {
        return is(State::Off, None, None);
    }
    if credentials > 0 && found == 0 {
        return Condition { credentials_missing: true, ..is(State::Down, Some(Class::Credential), None) };
    }
    if let Some(first) = all_cooling(health, found.max(1)) {
        let state = if meaning(first.class).needs_attention { State::Down } else { State::Cooling };
        return is(state, Some(first.class), Some(first.remaining_ms));
    }
    if let Some(cooling) = &health.cooling {
        return is(State::Cooling, Some(cooling.class), Some(cooling.remaining_ms));
    }
    match health.state {
        BreakerState::Open => is(State::Cooling, health.last_failure, health.open_ms),
        BreakerState::HalfOpen => is(State::Trying, health.last_failure, None),
        _ => is(State::Healthy, None, None),
    }
}

/// If every credential cools down: the cooldown that ends first.
fn all_cooling(health: &UpstreamHealth, credentials: usize) -> Option<&CoolingView> {
    let whole = |c: &&CoolingView| c.model.is_none();
    let each: Vec<&CoolingView> = health.credentials.iter().filter_map(|c| c.cooling.iter().find(whole)).collect();
    if each.len() < credentials { None } else { each.into_iter().min_by_key(|c| c.remaining_ms) }
}

#[cfg(test)]
mod tests {
    use headgate_domain::UpstreamId;
    use headgate_routing::{CredentialHealth, Health, Policy, Time};

    use super::*;

    fn health() -> UpstreamHealth {
        Health::new(Policy::default()).view(UpstreamId(1), Time::default())
    }

    fn cooling(class: Class, remaining_ms: u64) -> CredentialHealth {
        CredentialHealth { id: None, cooling: vec![CoolingView { class, model: None, remaining_ms }] }
    }

    #[test]
    fn the_word_is_that_of_the_worst_that_stops_it() {
        assert_eq!(of(false, 1, 1, &health()).state, State::Off);
        assert_eq!(of(true, 1, 1, &health()).state, State::Healthy);
        assert_eq!(of(true, 0, 0, &health()).state, State::Healthy);
        let missing = of(true, 1, 0, &health());
        assert!(missing.state == State::Down && missing.credentials_missing);
        let open =
            UpstreamHealth { state: BreakerState::Open, last_failure: Some(Class::Cut), open_ms: Some(9), ..health() };
        let open = of(true, 1, 1, &open);
        assert_eq!((open.state, open.class, open.remaining_ms), (State::Cooling, Some(Class::Cut), Some(9)));
        assert!(!open.state.serves());
        let trying = UpstreamHealth { state: BreakerState::HalfOpen, ..health() };
        assert!(of(true, 1, 1, &trying).state.serves());
    }

    #[test]
    fn one_credential_of_two_is_enough_to_serve() {
        let one = UpstreamHealth { credentials: vec![cooling(Class::RateLimited, 5)], ..health() };
        assert_eq!(of(true, 2, 2, &one).state, State::Healthy);
        assert_eq!(of(true, 1, 1, &one).state, State::Cooling);
        let two = vec![cooling(Class::Exhausted, 7), cooling(Class::Exhausted, 3)];
        let both = of(true, 2, 2, &UpstreamHealth { credentials: two, ..health() });
        assert_eq!((both.state, both.remaining_ms), (State::Down, Some(3)));
    }
}
