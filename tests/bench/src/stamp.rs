//! The time of sending inside an event's text: `@` and twenty digits, nanoseconds of the shared clock.

/// Bytes of a stamp.
pub const LENGTH: usize = 21;

/// A stamp for this time.
pub fn write(nanoseconds: u64) -> String {
    format!("@{nanoseconds:020}")
}

/// Finds stamps in a text that arrives in pieces.
#[derive(Default)]
pub struct Stamps {
    pending: Vec<u8>,
}

impl Stamps {
    /// Takes the next piece and reports each stamp that is complete with it.
    pub fn push(&mut self, bytes: &[u8], mut found: impl FnMut(u64)) {
        self.pending.extend_from_slice(bytes);
        let mut rest = self.pending.as_slice();
        while let Some(at) = memchr::memchr(b'@', rest) {
            rest = rest.get(at..).unwrap_or_default();
            let Some(stamp) = rest.get(..LENGTH) else { break };
            if let Some(time) = stamp.get(1..).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()) {
                found(time);
            }
            rest = rest.get(LENGTH..).unwrap_or_default();
        }
        // What is left is either the beginning of a stamp or free of one.
        let keep = if rest.first() == Some(&b'@') { rest.len() } else { 0 };
        self.pending.drain(..self.pending.len() - keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_found_wherever_the_text_is_cut() {
        let text = format!("data: {{\"content\":\"{} \"}}\n\ndata: {}\n\n", write(17), write(u64::MAX));
        for cut in 0..text.len() {
            let mut stamps = Stamps::default();
            let mut found = Vec::new();
            let (head, tail) = text.as_bytes().split_at(cut);
            stamps.push(head, |time| found.push(time));
            stamps.push(tail, |time| found.push(time));
            assert_eq!(found, [17, u64::MAX], "cut at {cut}");
        }
    }
}
