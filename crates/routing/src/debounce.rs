//! How often the same thing is told: once in a quiet time, and in the end as it is.
//!
//! Each event of each subject has a quiet time of its own, so that an upstream that opens and closes within it is told
//! once in each direction. What is suppressed is counted, and the next that is told says how many there were. When the
//! quiet time has passed and the last that happened is not the last that was told, it is told then: nobody is left
//! with a wrong picture.

use std::{collections::BTreeMap, time::Duration};

use headgate_domain::AlertEvent;

use crate::{
    alert::{Subject, Turn},
    time::Time,
};

/// Subjects remembered; those that were quiet for longest are let go first.
const SUBJECTS: usize = 4096;

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What happened.
    pub turn: Turn,
    /// How often its subject turned, since it was last told of, without being told.
    pub suppressed: u32,
}

#[derive(Debug)]
struct Known {
    /// When each event was last told.
    told: BTreeMap<AlertEvent, Time>,
    /// The last that was told.
    last: AlertEvent,
    at: Time,
    suppressed: u32,
    /// What happened last, if it was not told, and when it will be.
    waiting: Option<(Turn, Time)>,
}

/// What one listener was told, and when.
#[derive(Debug, Default)]
pub struct Debounce(BTreeMap<Subject, Known>);

impl Debounce {
    /// Takes a turn. `None`: it is counted, and perhaps told later.
    pub fn take(&mut self, turn: Turn, quiet: Duration, now: Time) -> Option<Told> {
        let Some(known) = self.0.get_mut(&turn.subject) else {
            self.make_room();
            let told = BTreeMap::from([(turn.event, now)]);
            let known = Known { told, last: turn.event, at: now, suppressed: 0, waiting: None };
            self.0.insert(turn.subject.clone(), known);
            return Some(Told { turn, suppressed: 0 });
        };
        match known.told.get(&turn.event).map(|at| *at + quiet).filter(|end| now < *end) {
            Some(end) => {
                known.suppressed = known.suppressed.saturating_add(1);
                known.waiting = (turn.event != known.last).then_some((turn, end));
                None
            }
            None => Some(known.tell(turn, now, 0)),
        }
    }

    /// What is to be told now that its quiet time has passed.
    pub fn due(&mut self, now: Time) -> Vec<Told> {
        let due = self.0.values_mut().filter_map(|known| {
            let (turn, _) = known.waiting.take_if(|(_, at)| *at <= now)?;
            // It is itself one of those that were counted.
            Some(known.tell(turn, now, 1))
        });
        due.collect()
    }

    /// When [`Self::due`] next has something.
    pub fn next(&self) -> Option<Time> {
        self.0.values().filter_map(|known| known.waiting.as_ref().map(|(_, at)| *at)).min()
    }

    /// Lets go what nobody speaks of any more.
    fn make_room(&mut self) {
        while self.0.len() >= SUBJECTS {
            let oldest = self.0.iter().min_by_key(|(_, known)| known.at).map(|(subject, _)| subject.clone());
            let Some(oldest) = oldest else { return };
            self.0.remove(&oldest);
        }
    }
}

impl Known {
    fn tell(&mut self, turn: Turn, now: Time, itself: u32) -> Told {
        self.told.insert(turn.event, now);
        self.last = turn.event;
        self.at = now;
        self.waiting = None;
        Told { turn, suppressed: std::mem::take(&mut self.suppressed).saturating_sub(itself) }
    }
}

#[cfg(test)]
mod tests {
    use AlertEvent::{CredentialRejected, UpstreamClosed, UpstreamOpened};
    use headgate_domain::UpstreamId;

    use super::*;

    const QUIET: Duration = Duration::from_secs(60);

    struct Listener(Debounce);

    impl Listener {
        fn at(&mut self, second: u64, event: AlertEvent) -> Option<u32> {
            let turn = Turn { subject: Subject::Upstream(UpstreamId(1)), event, class: None };
            self.0.take(turn, QUIET, Time::secs(second)).map(|told| told.suppressed)
        }

        fn due(&mut self, second: u64) -> Vec<(AlertEvent, u32)> {
            self.0.due(Time::secs(second)).iter().map(|told| (told.turn.event, told.suppressed)).collect()
        }
    }

    #[test]
    fn a_pair_within_the_quiet_time_is_told_once_in_each_direction_and_the_rest_is_counted() {
        let mut listener = Listener(Debounce::default());
        assert_eq!(listener.at(0, UpstreamOpened), Some(0));
        assert_eq!(listener.at(1, UpstreamClosed), Some(0));
        for second in [2, 4, 6] {
            assert_eq!(listener.at(second, UpstreamOpened), None);
            assert_eq!(listener.at(second + 1, UpstreamClosed), None);
        }
        // It ended as it was last told.
        assert_eq!(listener.0.next(), None);
        assert_eq!(listener.at(100, UpstreamOpened), Some(6));
        assert_eq!(listener.at(101, UpstreamClosed), Some(0));
    }

    #[test]
    fn what_is_suppressed_and_stays_so_is_told_at_the_end_of_the_quiet_time() {
        let mut listener = Listener(Debounce::default());
        assert_eq!(listener.at(0, UpstreamOpened), Some(0));
        assert_eq!(listener.at(10, UpstreamClosed), Some(0));
        assert_eq!(listener.at(20, UpstreamOpened), None);
        assert_eq!(listener.0.next(), Some(Time::secs(60)));
        assert!(listener.due(59).is_empty());
        assert_eq!(listener.due(60), [(UpstreamOpened, 0)]);
        assert!(listener.due(200).is_empty());
        assert_eq!(listener.at(65, UpstreamClosed), None);
        assert_eq!(listener.due(70), [(UpstreamClosed, 0)]);
    }

    #[test]
    fn other_events_and_other_subjects_have_quiet_times_of_their_own() {
        let mut listener = Listener(Debounce::default());
        assert_eq!(listener.at(0, UpstreamOpened), Some(0));
        assert_eq!(listener.at(0, CredentialRejected), Some(0));
        let other = Turn { subject: Subject::Upstream(UpstreamId(2)), event: UpstreamOpened, class: None };
        assert!(listener.0.take(other, QUIET, Time::secs(1)).is_some());
    }

    #[test]
    fn without_a_quiet_time_everything_is_told() {
        let mut debounce = Debounce::default();
        for second in 0..10 {
            let turn = Turn { subject: Subject::Upstream(UpstreamId(1)), event: UpstreamOpened, class: None };
            assert!(debounce.take(turn, Duration::ZERO, Time::secs(second)).is_some());
        }
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let mut debounce = Debounce::default();
        for n in 0..10_000 {
            let subject = Subject::Upstream(UpstreamId(n));
            debounce.take(Turn { subject, event: UpstreamOpened, class: None }, QUIET, Time::secs(n.unsigned_abs()));
        }
        assert_eq!(debounce.0.len(), SUBJECTS);
    }
}
