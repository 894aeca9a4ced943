//! The bounded waiting line of a group: fair between access keys, in order within one.

use std::collections::{BTreeMap, VecDeque};

use headgate_domain::KeyId;

/// One who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    key: KeyId,
    number: u64,
}

/// Who waits, in which order. Keys take turns: one with a hundred requests waiting does not keep another's single one.
#[derive(Debug, Default)]
pub struct Line {
    waiting: BTreeMap<KeyId, VecDeque<u64>>,
    /// Keys with someone waiting; the first one's turn is next.
    turns: VecDeque<KeyId>,
    count: usize,
    numbers: u64,
}

impl Line {
    /// Nobody waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Joins the line, unless `most` wait already.
    pub fn join(&mut self, key: KeyId, most: usize) -> Option<Ticket> {
        if self.count >= most {
            return None;
        }
        self.numbers += 1;
        self.count += 1;
        let own = self.waiting.entry(key).or_default();
        if own.is_empty() {
            self.turns.push_back(key);
        }
        own.push_back(self.numbers);
        Some(Ticket { key, number: self.numbers })
    }

    /// Leaves the line without having been served: its key keeps its turn.
    pub fn leave(&mut self, ticket: Ticket) {
        self.remove(ticket);
    }

    /// Leaves the line served: its key's next turn comes after everyone else's.
    pub fn served(&mut self, ticket: Ticket) {
        if self.remove(ticket) && self.waiting.contains_key(&ticket.key) {
            self.turns.retain(|key| *key != ticket.key);
            self.turns.push_back(ticket.key);
        }
    }

    fn remove(&mut self, ticket: Ticket) -> bool {
        let Some(own) = self.waiting.get_mut(&ticket.key) else { return false };
        let Some(at) = own.iter().position(|number| *number == ticket.number) else { return false };
        own.remove(at);
        self.count -= 1;
        if own.is_empty() {
            self.waiting.remove(&ticket.key);
            self.turns.retain(|key| *key != ticket.key);
        }
        true
    }

    /// The order in which those who wait are asked: the first of each key in turn, then the second of each.
    pub fn order(&self) -> Vec<Ticket> {
        let longest = self.waiting.values().map(VecDeque::len).max().unwrap_or(0);
        (0..longest)
            .flat_map(|at| self.turns.iter().map(move |key| (at, *key)))
            .filter_map(|(at, key)| Some(Ticket { key, number: *self.waiting.get(&key)?.get(at)? }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: KeyId = KeyId(1);
    const B: KeyId = KeyId(2);

    #[test]
    fn keys_take_turns_however_many_each_has_waiting() {
        let mut line = Line::new();
        let a: Vec<_> = (0..3).map(|_| line.join(A, 10).unwrap()).collect();
        let b = line.join(B, 10).unwrap();
        assert_eq!(line.order(), [a[0], b, a[1], a[2]]);
        line.served(a[0]);
        assert_eq!(line.order(), [b, a[1], a[2]]);
        line.served(b);
        assert_eq!(line.order(), [a[1], a[2]]);
    }

    #[test]
    fn who_leaves_does_not_cost_its_key_the_turn() {
        let mut line = Line::new();
        let (first, second) = (line.join(A, 10).unwrap(), line.join(A, 10).unwrap());
        let other = line.join(B, 10).unwrap();
        line.leave(first);
        assert_eq!(line.order(), [second, other]);
    }

    #[test]
    fn a_full_line_takes_nobody() {
        let mut line = Line::new();
        let first = line.join(A, 1).unwrap();
        assert_eq!(line.join(B, 1), None);
        line.leave(first);
        line.leave(first);
        assert!(line.is_empty());
        assert!(line.join(B, 1).is_some());
    }

    proptest! {
        #[test]
        fn nobody_is_forgotten_and_no_key_is_served_twice_before_another_that_waits(
            joins in prop::collection::vec(0i64..4, 1..60),
        ) {
            let mut line = Line::new();
            for key in &joins {
                line.join(KeyId(*key), usize::MAX).unwrap();
            }
            let mut left = joins.len();
            let mut since: BTreeMap<KeyId, usize> = BTreeMap::new();
            while let Some(next) = line.order().first().copied() {
                prop_assert_eq!(line.len(), left);
                prop_assert_eq!(line.order().len(), left);
                for (key, waited) in &mut since {
                    if *key != next.key { *waited += 1; }
                }
                let waiting: Vec<_> = line.waiting.keys().copied().collect();
                prop_assert!(since.iter().filter(|(k, _)| waiting.contains(k)).all(|(_, waited)| *waited < 4));
                since.insert(next.key, 0);
                line.served(next);
                left -= 1;
            }
            prop_assert_eq!(left, 0);
        }
    }
}
