//! Chunks of an answer's body cut into what a reader takes: events, or one document. Which of the two it is, its first
//! byte decides.

use bytes::Bytes;

use crate::sse::{self, Splitter};

/// Most bytes of one event.
const MAX_EVENT: usize = 16 << 20;

/// Most bytes of a document.
const MAX_DOCUMENT: usize = 64 << 20;

/// One thing that was read.
#[derive(Debug)]
pub(super) enum Taken {
    /// An event: its bytes as they came, and its payload.
    Event { raw: Bytes, data: Vec<u8> },
    /// A whole body.
    Document(Vec<u8>),
}

/// More than may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Where the body has got to.
#[derive(Debug)]
pub(super) enum Intake {
    /// Only white space so far.
    Nothing(Vec<u8>),
    Events(Splitter),
    Document(Vec<u8>),
}

impl Intake {
    pub(super) fn new() -> Self {
        Self::Nothing(Vec::new())
    }

    /// Takes the next chunk.
    pub(super) fn push(&mut self, chunk: Bytes, taken: &mut Vec<Taken>) -> Result<(), TooLarge> {
        match self {
            Self::Nothing(held) => {
                held.extend_from_slice(&chunk);
                let bom: &[u8] = b"\xef\xbb\xbf";
                let rest = held.strip_prefix(bom).unwrap_or(held).trim_ascii_start();
                if rest.is_empty() || (held.len() < bom.len() && bom.starts_with(held)) {
                    // Blank lines before the first event are nothing.
                    if held.len() > MAX_EVENT {
                        return Err(TooLarge);
                    }
                    return Ok(());
                }
                let events = rest.first().is_some_and(|first| b"deir:".contains(first));
                let rest = Bytes::copy_from_slice(rest);
                *self = if events { Self::Events(Splitter::new(MAX_EVENT)) } else { Self::Document(Vec::new()) };
                self.push(rest, taken)
            }
            Self::Events(splitter) => {
                let mut frames = Vec::new();
                let result = splitter.push(chunk, &mut frames);
                taken.extend(frames.into_iter().map(|frame| event(frame.raw)));
                result.map_err(|_| TooLarge)
            }
            Self::Document(body) => {
                body.extend_from_slice(&chunk);
                if body.len() > MAX_DOCUMENT { Err(TooLarge) } else { Ok(()) }
            }
        }
    }

    /// The body is complete.
    pub(super) fn finish(&mut self, taken: &mut Vec<Taken>) {
        match std::mem::replace(self, Self::new()) {
            Self::Events(mut splitter) => taken.extend(splitter.finish().and_then(|frame| last(&frame.raw))),
            Self::Document(body) => taken.push(Taken::Document(body)),
            Self::Nothing(_) => {}
        }
    }
}

/// An event without its final blank line counts if it is complete.
fn last(raw: &Bytes) -> Option<Taken> {
    let data = sse::data(raw)?.into_owned();
    let whole = data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(&data).is_ok();
    whole.then(|| Taken::Event { raw: [raw.trim_ascii_end(), b"\n\n"].concat().into(), data })
}

fn event(raw: Bytes) -> Taken {
    let data = sse::data(&raw).map(std::borrow::Cow::into_owned).unwrap_or_default();
    Taken::Event { raw, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken of chunks, events and documents by their text.
    fn taken(chunks: &[&[u8]]) -> Vec<String> {
        let (mut intake, mut taken) = (Intake::new(), Vec::new());
        for chunk in chunks {
            intake.push(Bytes::copy_from_slice(chunk), &mut taken).unwrap();
        }
        intake.finish(&mut taken);
        let text = |taken| match taken {
            Taken::Event { data, .. } => format!("event {}", String::from_utf8(data).unwrap()),
            Taken::Document(body) => format!("document {}", String::from_utf8(body).unwrap()),
        };
        taken.into_iter().map(text).collect()
    }

    #[test]
    fn the_first_byte_decides_wherever_the_bytes_are_cut() {
        for (body, expected) in [
            (&b"\xef\xbb\xbf\r\n\n data: 1\n\n: x\n\ndata: 2"[..], &["event 1", "event ", "event 2"][..]),
            (b"event: a\ndata: 1\n\n", &["event 1"]),
            (b"id: 7\nretry: 8\n\n", &["event "]),
            (b"\xef\xbb\xbf {\"a\":1}", &["document {\"a\":1}"]),
            (b"<html>", &["document <html>"]),
            (b" \n\t", &[]),
            (b"\xef\xbb\xbf", &[]),
            (b"\xef\xbb", &[]),
        ] {
            for cut in 0..=body.len() {
                let (head, tail) = body.split_at(cut);
                assert_eq!(taken(&[head, tail]), expected, "{body:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn half_an_event_at_the_end_is_nothing() {
        assert!(taken(&[b"data: {\"a\":"]).is_empty());
        assert_eq!(taken(&[b"data: [DONE]"]), ["event [DONE]"]);
    }

    #[test]
    fn nothing_grows_without_bounds() {
        let refused = |first: &[u8], filler: u8, most: usize| {
            let (mut intake, mut taken) = (Intake::new(), Vec::new());
            let whole = [first, &vec![filler; most - first.len()]].concat();
            assert_eq!(intake.push(whole.into(), &mut taken), Ok(()), "{filler} up to the limit");
            intake.push(Bytes::copy_from_slice(&[filler]), &mut taken) == Err(TooLarge)
        };
        assert!(refused(b"", b'\n', MAX_EVENT), "blank lines");
        assert!(refused(b"data: ", b'x', MAX_EVENT), "an event");
        assert!(refused(b"{", b' ', MAX_DOCUMENT), "a document");
    }
}
