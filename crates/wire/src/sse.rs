//! Server-sent events, cut out of a byte stream as it arrives.
//!
//! A chunk may end anywhere: inside a character, a line or an event. Lines end with LF, CRLF or CR. An event is handed
//! out with all its bytes, so that a relay can pass them on as they came.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

/// A complete event as it stood in the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// All its bytes, the blank line that ends it included.
    pub raw: Bytes,
    /// How many of them [`Splitter::flow`] has already handed out.
    pub flowed: usize,
}

impl Frame {
    /// The bytes that were not handed out yet.
    pub fn unsent(&self) -> Bytes {
        self.raw.slice(self.flowed.min(self.raw.len())..)
    }
}

/// One event exceeded the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLarge;

/// Cuts a byte stream into events.
#[derive(Debug)]
pub struct Splitter {
    pending: BytesMut,
    /// How much of `pending` was already handed out by [`Self::flow`].
    flowed: usize,
    limit: usize,
}

impl Splitter {
    /// A splitter that refuses events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { pending: BytesMut::new(), flowed: 0, limit }
    }

    /// Takes the next chunk; appends every event that is now complete to `frames`.
    pub fn push(&mut self, chunk: Bytes, frames: &mut Vec<Frame>) -> Result<(), EventTooLarge> {
        if self.pending.is_empty() {
            // The usual case: whole events in one chunk, handed on without copying.
            let mut start = 0;
            while let Some(end) = event_end(&chunk, start, start) {
                frames.push(Frame { raw: chunk.slice(start..end), flowed: 0 });
                start = end;
            }
            self.pending.extend_from_slice(chunk.get(start..).unwrap_or_default());
        } else {
            // A line end at the border may complete with this chunk: look again from three bytes before it.
            let mut from = self.pending.len().saturating_sub(3);
            self.pending.extend_from_slice(&chunk);
            while let Some(end) = event_end(&self.pending, 0, from) {
                let raw = self.pending.split_to(end).freeze();
                frames.push(Frame { raw, flowed: std::mem::take(&mut self.flowed) });
                from = 0;
            }
        }
        if self.pending.len() > self.limit { Err(EventTooLarge) } else { Ok(()) }
    }

    /// Bytes of an unfinished event that were not handed out.
    pub fn waiting(&self) -> usize {
        self.pending.len() - self.flowed
    }

    /// Hands out what there is of an unfinished event; the event itself still arrives whole later.
    pub fn flow(&mut self) -> Bytes {
        let part = Bytes::copy_from_slice(self.pending.get(self.flowed..).unwrap_or_default());
        self.flowed = self.pending.len();
        part
    }

    /// Whether a part of an unfinished event was handed out, so that nothing may be put after it.
    pub fn is_mid_event(&self) -> bool {
        self.flowed > 0
    }

    /// At the end of the stream: what is left, an event without its final blank line.
    pub fn finish(&mut self) -> Option<Frame> {
        if self.pending.is_empty() {
            return None;
        }
        let raw = std::mem::take(&mut self.pending).freeze();
        Some(Frame { raw, flowed: std::mem::take(&mut self.flowed) })
    }
}

/// The end of the event that begins at `start`, looking for line ends from `from` on.
fn event_end(bytes: &[u8], start: usize, from: usize) -> Option<usize> {
    let line_end = |at: usize| match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        (Some(b'\r' | b'\n'), _) => Some(at + 1),
        _ => None,
    };
    let mut at = from.max(start);
    loop {
        at += memchr::memchr2(b'\n', b'\r', bytes.get(at..)?)?;
        let next = line_end(at)?;
        if let Some(end) = line_end(next) {
            return Some(end);
        }
        at = next;
    }
}

/// The payload of an event: its `data` lines joined by LF; `None` without any, or when they are empty.
///
/// Comments are dropped, one space after the colon is optional, a byte-order mark at the start is skipped.
pub fn data(raw: &[u8]) -> Option<Cow<'_, [u8]>> {
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    let mut joined: Option<Cow<'_, [u8]>> = None;
    for line in lines(raw) {
        let Some(value) = line.strip_prefix(b"data") else { continue };
        let value = match value {
            [b':', b' ', rest @ ..] | [b':', rest @ ..] => rest,
            [] => value,
            _ => continue,
        };
        joined = Some(match joined {
            None => Cow::Borrowed(value),
            Some(before) => {
                let mut all = before.into_owned();
                all.push(b'\n');
                all.extend_from_slice(value);
                Cow::Owned(all)
            }
        });
    }
    joined.filter(|payload| !payload.trim_ascii().is_empty())
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let (line, tail) = rest.split_at(end);
        rest = match tail {
            [b'\r', b'\n', tail @ ..] | [_, tail @ ..] => tail,
            [] => tail,
        };
        Some(line)
    })
}

/// Whether the first non-blank bytes of a body look like an event stream rather than a document.
pub fn looks_like_events(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    [&b"data:"[..], b"event:", b":", b"id:", b"retry:"].iter().any(|start| body.starts_with(start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &[u8] =
        "\u{feff}: hello\n\nevent: a\ndata: {\"x\":\"é中\"}\n\ndata:1\r\ndata: 2\r\n\r\nid: 1\rdata: cr\r\rdata: end"
            .as_bytes();

    fn payloads(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut splitter = Splitter::new(1 << 20);
        let mut frames = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::copy_from_slice(chunk), &mut frames).unwrap();
        }
        frames.extend(splitter.finish());
        frames.iter().filter_map(|f| data(&f.raw).map(Cow::into_owned)).collect()
    }

    #[test]
    fn every_way_of_cutting_the_bytes_gives_the_same_events() {
        let expected: Vec<Vec<u8>> = vec!["{\"x\":\"é中\"}".into(), "1\n2".into(), "cr".into(), "end".into()];
        assert_eq!(payloads(&[STREAM]), expected);
        for cut in 0..=STREAM.len() {
            let (a, b) = STREAM.split_at(cut);
            assert_eq!(payloads(&[a, b]), expected, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = STREAM.chunks(1).collect();
        assert_eq!(payloads(&bytes), expected);
    }

    #[test]
    fn raw_bytes_add_up_to_the_stream_also_when_parts_flow_early() {
        let mut splitter = Splitter::new(1 << 20);
        let mut out = Vec::new();
        for chunk in STREAM.chunks(3) {
            let mut frames = Vec::new();
            splitter.push(Bytes::copy_from_slice(chunk), &mut frames).unwrap();
            for frame in frames {
                out.extend_from_slice(&frame.unsent());
            }
            if splitter.waiting() > 5 {
                out.extend_from_slice(&splitter.flow());
                assert!(splitter.waiting() == 0 && splitter.is_mid_event());
            }
        }
        out.extend_from_slice(&splitter.finish().unwrap().unsent());
        assert_eq!(out, STREAM);
    }

    #[test]
    fn an_event_over_the_limit_is_refused() {
        let mut splitter = Splitter::new(10);
        assert_eq!(splitter.push(Bytes::from_static(b"data: 0123456789"), &mut Vec::new()), Err(EventTooLarge));
    }

    #[test]
    fn comments_empty_data_and_fields_that_only_begin_like_data_are_nothing() {
        for raw in ["data:\n\n", "data\n\n", ": data: x\n\n", "database: x\n\n", "\n\n", "event: x\n\n"] {
            assert_eq!(data(raw.as_bytes()), None, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_survive_arbitrary_cuts(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200), cuts in proptest::collection::vec(0usize..200, 0..8)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let mut splitter = Splitter::new(1 << 20);
            let mut frames = Vec::new();
            let mut at = 0;
            for cut in cuts {
                splitter.push(Bytes::copy_from_slice(&bytes[at..cut]), &mut frames).unwrap();
                at = cut;
            }
            frames.extend(splitter.finish());
            let joined: Vec<u8> = frames.iter().flat_map(|f| f.raw.to_vec()).collect();
            prop_assert_eq!(joined, bytes);
        }
    }
}
