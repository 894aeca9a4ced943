//! `<think>` at the beginning of a content, for vendors that mark reasoning so.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A piece of the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Reasoning(String),
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// Only white space, or a part of the opening tag, was seen.
    #[default]
    Before,
    Inside,
    /// White space behind the closing tag, which belongs to neither.
    Gap,
    After,
}

/// Tells reasoning from text as the content arrives.
#[derive(Debug, Default)]
pub(super) struct ThinkTags {
    state: State,
    /// What may still become a tag.
    held: String,
}

impl ThinkTags {
    /// Takes more content.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.held.push_str(text);
        if self.state == State::Before {
            let begun = self.held.trim_start();
            if let Some(rest) = begun.strip_prefix(OPEN) {
                self.held = rest.to_owned();
                self.state = State::Inside;
            } else if OPEN.starts_with(begun) {
                return pieces;
            } else {
                self.state = State::After;
            }
        }
        if self.state == State::Inside {
            if let Some((thought, rest)) = self.held.split_once(CLOSE) {
                pieces.push(Piece::Reasoning(thought.to_owned()));
                self.held = rest.to_owned();
                self.state = State::Gap;
            } else {
                let keep = (1..CLOSE.len()).rev().find(|n| CLOSE.get(..*n).is_some_and(|t| self.held.ends_with(t)));
                let kept = self.held.split_off(self.held.len() - keep.unwrap_or(0));
                pieces.push(Piece::Reasoning(std::mem::replace(&mut self.held, kept)));
            }
        }
        if self.state == State::Gap {
            self.held = self.held.trim_start().to_owned();
            if !self.held.is_empty() {
                self.state = State::After;
            }
        }
        if self.state == State::After {
            pieces.push(Piece::Text(std::mem::take(&mut self.held)));
        }
        pieces.retain(|piece| !matches!(piece, Piece::Text(t) | Piece::Reasoning(t) if t.is_empty()));
        pieces
    }

    /// The end of the content: what was held is what it is.
    pub(super) fn finish(self) -> Option<Piece> {
        let piece = if self.state == State::Inside { Piece::Reasoning(self.held) } else { Piece::Text(self.held) };
        (!matches!(&piece, Piece::Text(t) | Piece::Reasoning(t) if t.is_empty())).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&str]) -> (String, String) {
        let mut tags = ThinkTags::default();
        let mut pieces: Vec<Piece> = chunks.iter().flat_map(|c| tags.push(c)).collect();
        pieces.extend(tags.finish());
        let (mut thought, mut text) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Reasoning(t) => thought += &t,
                Piece::Text(t) => text += &t,
            }
        }
        (thought, text)
    }

    #[test]
    fn tags_are_found_however_they_are_cut() {
        let content = "\n<think>a </b> c</think>\n\nHi <think>x</think>";
        for cut in 0..=content.len() {
            let (a, b) = content.split_at(cut);
            assert_eq!(read(&[a, b]), ("a </b> c".into(), "Hi <think>x</think>".into()), "cut at {cut}");
        }
        assert_eq!(read(&["<thi", "s>"]), (String::new(), "<this>".into()));
        assert_eq!(read(&["<think>never closed</thi"]), ("never closed</thi".into(), String::new()));
        assert_eq!(read(&["  "]), (String::new(), "  ".into()));
    }
}
