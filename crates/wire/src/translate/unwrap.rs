//! Raw text taken out of `{"input": "…"}` while it arrives.

use crate::codec::freeform;

/// How far the wrapper was read.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// The wrapper's beginning is not complete.
    Before,
    /// Inside the text.
    Inside,
    /// The text has ended.
    After,
    /// It is no such wrapper; judged when it is complete.
    Other,
}

/// Unwraps one call's input.
#[derive(Debug)]
pub(super) struct Unwrap {
    state: State,
    /// What was not delivered: the wrapper's beginning, or an escape that is not complete.
    held: String,
}

impl Default for Unwrap {
    fn default() -> Self {
        Self { state: State::Before, held: String::new() }
    }
}

impl Unwrap {
    /// Takes more arguments; gives back more of the raw text.
    pub(super) fn push(&mut self, more: &str) -> String {
        self.held.push_str(more);
        if self.state == State::Before {
            match opening(&self.held) {
                Opening::Complete(end) => {
                    self.held.drain(..end);
                    self.state = State::Inside;
                }
                Opening::Partial => {}
                Opening::Other => self.state = State::Other,
            }
        }
        match self.state {
            State::Inside => self.decode(),
            State::After => {
                self.held.clear();
                String::new()
            }
            State::Before | State::Other => String::new(),
        }
    }

    /// The end of the input: what is missing of the raw text.
    pub(super) fn finish(self) -> String {
        match self.state {
            State::Before | State::Other => freeform::unwrap(&self.held),
            // Cut inside an escape: there is nothing more to know.
            State::Inside | State::After => String::new(),
        }
    }

    /// Decodes as much as is complete.
    fn decode(&mut self) -> String {
        let mut text = String::with_capacity(self.held.len());
        let mut rest = self.held.as_str();
        loop {
            let plain = rest.find(['"', '\\']).unwrap_or(rest.len());
            let (head, tail) = rest.split_at(plain);
            text.push_str(head);
            rest = tail;
            if rest.is_empty() {
                break;
            }
            if rest.starts_with('"') {
                self.state = State::After;
                rest = "";
                break;
            }
            match escape(rest) {
                Some((char, length)) => {
                    text.push(char);
                    rest = rest.get(length..).unwrap_or_default();
                }
                None => break,
            }
        }
        self.held = rest.to_owned();
        text
    }
}

enum Opening {
    /// It ends here.
    Complete(usize),
    Partial,
    Other,
}

/// Reads `{"input":"`, with white space anywhere.
fn opening(text: &str) -> Opening {
    let mut rest = text;
    for token in ["{", "\"input\"", ":", "\""] {
        rest = rest.trim_start();
        match rest.strip_prefix(token) {
            Some(after) => rest = after,
            None if token.starts_with(rest) => return Opening::Partial,
            None => return Opening::Other,
        }
    }
    Opening::Complete(text.len() - rest.len())
}

/// The character an escape stands for and its length; `None` while it is not complete.
fn escape(text: &str) -> Option<(char, usize)> {
    let code = |from: usize| u32::from_str_radix(text.get(from..from + 4)?, 16).ok();
    Some(match text.as_bytes().get(1)? {
        b'n' => ('\n', 2),
        b't' => ('\t', 2),
        b'r' => ('\r', 2),
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'u' => {
            text.get(5..6)?;
            let high = code(2).unwrap_or(0xfffd);
            if !(0xd800..0xdc00).contains(&high) {
                return Some((char::from_u32(high).unwrap_or('\u{fffd}'), 6));
            }
            // The other half of a pair may still come.
            match text.get(6..) {
                Some(next) if "\\u".starts_with(next) || (next.starts_with("\\u") && next.len() < 6) => return None,
                _ => {}
            }
            match code(8).filter(|low| text.get(6..8) == Some("\\u") && (0xdc00..0xe000).contains(low)) {
                Some(low) => {
                    let scalar = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    (char::from_u32(scalar).unwrap_or('\u{fffd}'), 12)
                }
                None => ('\u{fffd}', 6),
            }
        }
        _ => {
            let char = text.chars().nth(1)?;
            (char, 1 + char.len_utf8())
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn through(json: &str, cuts: &[usize]) -> String {
        let mut unwrap = Unwrap::default();
        let mut out = String::new();
        let mut at = 0;
        for cut in cuts.iter().copied().chain([json.len()]) {
            let cut = (at..=cut.clamp(at, json.len())).rev().find(|c| json.is_char_boundary(*c)).unwrap_or(at);
            out += &unwrap.push(&json[at..cut]);
            at = cut;
        }
        out + &unwrap.finish()
    }

    #[test]
    fn every_cut_gives_the_same_text() {
        let json = r#" { "input" : "*** Begin\n+\u00e9\"q\" \ud83d\ude00 \\ 中" , "x":1}"#;
        for cut in 0..json.len() {
            assert_eq!(through(json, &[cut]), "*** Begin\n+é\"q\" 😀 \\ 中", "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_wrapper_is_judged_as_a_whole() {
        for (json, raw) in
            [(r#"{"patch":"x"}"#, "x"), ("*** Begin", "*** Begin"), ("", ""), (r#"{"input":3}"#, r#"{"input":3}"#)]
        {
            for cut in 0..=json.len() {
                assert_eq!(through(json, &[cut]), raw);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in any::<String>(), cuts in proptest::collection::vec(0usize..300, 0..6)) {
            let json = serde_json::json!({"input":text}).to_string();
            let mut cuts = cuts;
            cuts.sort_unstable();
            prop_assert_eq!(through(&json, &cuts), text);
        }

        #[test]
        fn any_input_is_survived(text in "[{}\":u\\\\ni0-9a-f ]{0,60}", cut in 0usize..60) {
            through(&text, &[cut]);
        }
    }
}
