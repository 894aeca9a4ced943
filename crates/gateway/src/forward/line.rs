//! Requests that wait for room in their group, and who of them is asked next.
//!
//! When room may have appeared (a request ended, a minute's quota came back, somebody joined), a *round* begins: the
//! first in the line looks, then the next, and so on; each looks for itself, since one may wait for another upstream
//! than the next. Nobody is passed over, and a newcomer stands behind everyone.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use headgate_domain::{GroupId, KeyId};
use headgate_routing::{Line, Ticket};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// The lines of all groups.
#[derive(Default)]
pub struct Lines {
    groups: Mutex<HashMap<GroupId, Group>>,
    /// How many wait altogether: looked at by every request that ends.
    count: AtomicUsize,
}

#[derive(Default)]
struct Group {
    line: Line,
    bells: HashMap<Ticket, Arc<Notify>>,
}

impl Group {
    fn ring(&self, ticket: Option<&Ticket>) {
        if let Some(bell) = ticket.and_then(|ticket| self.bells.get(ticket)) {
            bell.notify_one();
        }
    }

    fn ring_after(&self, ticket: Ticket) {
        let order = self.line.order();
        let at = order.iter().position(|other| *other == ticket);
        self.ring(at.and_then(|at| order.get(at + 1)));
    }
}

impl Lines {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether somebody waits in this group.
    pub fn has(&self, group: GroupId) -> bool {
        self.len() > 0 && self.groups.lock().get(&group).is_some_and(|g| !g.line.is_empty())
    }

    /// Joins the line of a group, unless `most` are in it. A round begins.
    pub fn join(self: &Arc<Self>, group: GroupId, key: KeyId, most: usize) -> Option<Place> {
        let mut groups = self.groups.lock();
        let g = groups.entry(group).or_default();
        let ticket = g.line.join(key, most)?;
        let bell = Arc::new(Notify::new());
        g.bells.insert(ticket, Arc::clone(&bell));
        self.count.fetch_add(1, Ordering::Relaxed);
        g.ring(g.line.order().first());
        drop(groups);
        Some(Place { lines: Arc::clone(self), group, ticket, bell, served: false })
    }

    /// There may be room: a round begins in every group.
    pub fn room(&self) {
        if self.len() > 0 {
            self.groups.lock().values().for_each(|g| g.ring(g.line.order().first()));
        }
    }
}

/// A place in the line. Whoever drops it has left.
pub struct Place {
    lines: Arc<Lines>,
    group: GroupId,
    ticket: Ticket,
    bell: Arc<Notify>,
    served: bool,
}

impl Place {
    /// Waits for its turn to look.
    pub async fn turn(&self) {
        self.bell.notified().await;
    }

    /// Nothing for this one: the next looks.
    pub fn pass(&self) {
        if let Some(g) = self.lines.groups.lock().get(&self.group) {
            g.ring_after(self.ticket);
        }
    }

    /// Leaves the line with what it waited for. There may be more for those behind.
    pub fn served(mut self) {
        self.served = true;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut groups = self.lines.groups.lock();
        let Some(g) = groups.get_mut(&self.group) else { return };
        if self.served {
            g.line.served(self.ticket);
            g.ring(g.line.order().first());
        } else {
            // It may have been its turn.
            g.ring_after(self.ticket);
            g.line.leave(self.ticket);
        }
        g.bells.remove(&self.ticket);
        if g.line.is_empty() {
            groups.remove(&self.group);
        }
        self.lines.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const GROUP: GroupId = GroupId(1);

    fn rung(place: &Place) -> bool {
        place.turn().now_or_never().is_some()
    }

    #[test]
    fn a_round_asks_each_in_turn_and_ends_with_who_is_served() {
        let lines = Arc::new(Lines::default());
        let join = |key| lines.join(GROUP, KeyId(key), 10).unwrap();
        let (a, b, c) = (join(1), join(1), join(2));
        assert!(rung(&a) && !rung(&b) && !rung(&c));
        a.pass();
        assert!(rung(&c), "the other key's turn comes before the same key's second");
        c.served();
        assert!(rung(&a), "there may be more");
        a.pass();
        assert!(rung(&b));
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn who_leaves_in_its_turn_passes_it_on() {
        let lines = Arc::new(Lines::default());
        let a = lines.join(GROUP, KeyId(1), 10).unwrap();
        let b = lines.join(GROUP, KeyId(2), 10).unwrap();
        drop(a);
        assert!(rung(&b));
        drop(b);
        assert!(!lines.has(GROUP) && lines.len() == 0);
    }

    #[test]
    fn room_is_told_to_the_first_and_a_full_line_takes_nobody() {
        let lines = Arc::new(Lines::default());
        lines.room();
        let a = lines.join(GROUP, KeyId(1), 1).unwrap();
        assert!(rung(&a));
        assert!(lines.join(GROUP, KeyId(2), 1).is_none());
        lines.room();
        assert!(rung(&a));
    }
}
