//! What the readers of answers have in common: blocks that are counted, and bounds on what an upstream can make us keep.

use headgate_domain::UpstreamError;

use crate::neutral::{Block, CallHead, CallKind, Citation, Event};

/// Most blocks of one answer.
const MAX_BLOCKS: u32 = 4096;

/// Most bytes kept for blocks that cannot be told yet (arguments before their name, sealed reasoning).
const MAX_KEPT: usize = 16 << 20;

/// Where readers put events.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub(crate) events: Vec<Event>,
    blocks: u32,
    kept: usize,
    closed: bool,
}

impl Sink {
    /// Whether the answer is over; later events are ignored.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Appends an event.
    pub(crate) fn push(&mut self, event: Event) {
        if self.closed {
            return;
        }
        self.closed = matches!(event, Event::End | Event::Failed(_) | Event::Cut);
        self.events.push(event);
    }

    /// The number of a new block.
    pub(crate) fn block(&mut self) -> Block {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            self.refuse("the upstream's answer has too many parts");
        }
        self.blocks - 1
    }

    /// Accounts for bytes that a reader keeps.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.kept += bytes;
        if self.kept > MAX_KEPT {
            self.refuse("the upstream's answer keeps too much open");
        }
    }

    fn refuse(&mut self, message: &str) {
        self.push(Event::Failed(UpstreamError { message: message.to_owned(), ..UpstreamError::default() }));
    }

    /// A page that a text cites.
    pub(crate) fn cite(&mut self, block: Block, citation: Citation) {
        self.keep(64 + citation.url.len() + citation.title.len());
        self.push(Event::Citation { block, citation });
    }

    /// Text of a block; nothing for nothing.
    pub(crate) fn text(&mut self, block: Block, text: String) {
        if !text.is_empty() {
            self.push(Event::Text { block, text });
        }
    }

    /// Reasoning of a block; nothing for nothing.
    pub(crate) fn reasoning(&mut self, block: Block, text: String) {
        if !text.is_empty() {
            self.push(Event::Reasoning { block, text });
        }
    }

    /// Input of a call; nothing for nothing.
    pub(crate) fn input(&mut self, block: Block, text: String) {
        if !text.is_empty() {
            self.push(Event::CallInput { block, text });
        }
    }

    /// The beginning of a call.
    pub(crate) fn call(&mut self, block: Block, call_id: String, name: String, kind: CallKind) {
        self.push(Event::CallStart { block, call: CallHead { call_id, name, namespace: None, kind } });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(sink: &Sink) -> bool {
        matches!(sink.events.last(), Some(Event::Failed(_)))
    }

    #[test]
    fn an_answer_of_too_many_parts_is_given_up() {
        let mut sink = Sink::default();
        let blocks: Vec<Block> = (0..MAX_BLOCKS).map(|_| sink.block()).collect();
        assert!(blocks.iter().copied().eq(0..MAX_BLOCKS) && !sink.is_closed());
        sink.block();
        assert!(sink.is_closed() && failed(&sink));
    }

    #[test]
    fn what_an_answer_keeps_open_is_bounded_citations_with_their_texts() {
        let mut sink = Sink::default();
        sink.keep(MAX_KEPT);
        assert!(!sink.is_closed());
        sink.keep(1);
        assert!(failed(&sink));
        let page = |length: usize| Citation { url: "u".repeat(length), title: "t".repeat(length), span: None };
        let mut sink = Sink::default();
        for _ in 0..15 {
            sink.cite(0, page(MAX_KEPT / 32));
        }
        assert!(!sink.is_closed(), "fifteen of sixteen parts");
        sink.cite(0, page(MAX_KEPT / 32));
        assert!(failed(&sink));
    }

    #[test]
    fn nothing_follows_the_end_and_empty_pieces_are_nothing() {
        let mut sink = Sink::default();
        sink.text(0, String::new());
        sink.reasoning(0, String::new());
        sink.input(0, String::new());
        assert!(sink.events.is_empty());
        for (number, end) in [Event::End, Event::Cut, Event::Failed(UpstreamError::default())].into_iter().enumerate() {
            let mut sink = Sink::default();
            sink.push(end);
            sink.text(0, "late".to_owned());
            assert!(sink.is_closed() && sink.events.len() == 1, "{number}");
        }
    }
}
