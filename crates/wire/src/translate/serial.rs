//! Blocks one after the other, for clients whose streams must not let them overlap: while one is open, the others wait
//! and follow in the order in which they began.

use std::collections::VecDeque;

use crate::neutral::{Block, Event};

/// Most bytes of waiting blocks.
const MAX_WAITING: usize = 64 << 20;

/// A block that waits.
#[derive(Debug)]
struct Waiting {
    block: Block,
    events: Vec<Event>,
    ended: bool,
}

/// The stage that puts blocks in a row.
#[derive(Debug, Default)]
pub(super) struct Serial {
    open: Option<Block>,
    waiting: VecDeque<Waiting>,
    bytes: usize,
}

impl Serial {
    /// Takes an event; appends what may be written now.
    pub(super) fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        let Some(block) = event.block() else {
            if matches!(event, Event::Finish(_)) {
                self.flush(out);
            }
            out.push(event);
            return;
        };
        let ends = matches!(event, Event::BlockEnd { .. });
        match self.open {
            None if ends => {}
            None => {
                self.open = Some(block);
                out.push(event);
            }
            Some(open) if open == block => {
                out.push(event);
                if ends {
                    self.open = None;
                    self.advance(out);
                }
            }
            Some(_) => self.wait(block, event, ends),
        }
    }

    /// Whether more waits than may be kept.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_WAITING
    }

    fn wait(&mut self, block: Block, event: Event, ends: bool) {
        // The latest block is the likeliest.
        let known = self.waiting.iter_mut().rev().find(|w| w.block == block);
        let waiting = match known {
            Some(waiting) => waiting,
            None if ends => return,
            None => {
                self.waiting.push_back(Waiting { block, events: Vec::new(), ended: false });
                let Some(last) = self.waiting.back_mut() else { return };
                last
            }
        };
        waiting.ended |= ends;
        self.bytes += event.text().map_or(0, str::len);
        match (waiting.events.last_mut(), event) {
            (Some(Event::CallInput { text, .. }), Event::CallInput { text: more, .. })
            | (Some(Event::Text { text, .. }), Event::Text { text: more, .. })
            | (Some(Event::Reasoning { text, .. }), Event::Reasoning { text: more, .. }) => text.push_str(&more),
            (_, event) => waiting.events.push(event),
        }
    }

    /// Lets waiting blocks out: all that have ended, and the first that has not.
    fn advance(&mut self, out: &mut Vec<Event>) {
        while let Some(next) = self.waiting.pop_front() {
            out.extend(next.events);
            if !next.ended {
                self.open = Some(next.block);
                break;
            }
        }
        if self.waiting.is_empty() {
            self.bytes = 0;
        }
    }

    /// At the end everything is let out and ended.
    fn flush(&mut self, out: &mut Vec<Event>) {
        while let Some(open) = self.open.take() {
            out.push(Event::BlockEnd { block: open });
            self.advance(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neutral::Finish;

    fn text(block: Block, text: &str) -> Event {
        Event::Text { block, text: text.to_owned() }
    }

    #[test]
    fn overlapping_blocks_follow_each_other() {
        let mut serial = Serial::default();
        let mut out = Vec::new();
        let end = |block| Event::BlockEnd { block };
        for event in
            [text(0, "a"), text(1, "x"), text(2, "p"), text(1, "y"), end(2), text(0, "b"), end(0), text(1, "z"), end(1)]
        {
            serial.event(event, &mut out);
        }
        assert_eq!(
            out,
            [text(0, "a"), text(0, "b"), end(0), text(1, "xy"), text(1, "z"), end(1), text(2, "p"), end(2)]
        );
    }

    #[test]
    fn what_waits_when_the_answer_ends_comes_before_its_end() {
        let mut serial = Serial::default();
        let mut out = Vec::new();
        for event in [text(0, "a"), text(1, "x"), text(2, "p"), Event::Finish(Finish::Natural)] {
            serial.event(event, &mut out);
        }
        let end = |block| Event::BlockEnd { block };
        let natural = Event::Finish(Finish::Natural);
        assert_eq!(out, [text(0, "a"), end(0), text(1, "x"), end(1), text(2, "p"), end(2), natural]);
    }

    #[test]
    fn the_end_of_a_block_that_never_began_is_nothing_and_what_waits_is_bounded() {
        let mut serial = Serial::default();
        let mut out = Vec::new();
        serial.event(Event::BlockEnd { block: 7 }, &mut out);
        assert!(out.is_empty());
        serial.event(text(0, "a"), &mut out);
        serial.event(Event::BlockEnd { block: 7 }, &mut out);
        assert_eq!(out, [text(0, "a")]);
        let large = "x".repeat(MAX_WAITING / 2);
        serial.event(text(1, &large), &mut out);
        serial.event(text(2, &large), &mut out);
        assert!(!serial.is_full());
        serial.event(text(1, "x"), &mut out);
        assert!(serial.is_full());
        // All of it is given back when it need not wait any longer.
        for block in 0..3 {
            serial.event(Event::BlockEnd { block }, &mut out);
        }
        assert!(!serial.is_full());
    }
}
