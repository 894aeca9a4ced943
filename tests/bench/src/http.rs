//! As much of HTTP/1.1 as the two ends of a benchmark need, and no more: it must cost next to nothing.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};

/// Where and what to ask.
#[derive(Debug, Clone, clap::Args)]
pub struct Target {
    /// Address to connect to
    #[arg(long)]
    pub address: SocketAddr,
    /// Access key, sent as a bearer token
    #[arg(long, default_value = "none")]
    pub key: String,
    /// One more header, `name: value`; may be given several times
    #[arg(long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// Bytes of the prompt
    #[arg(long, default_value_t = 1024)]
    pub prompt_bytes: usize,
    /// Ask for a stream of this many events
    #[arg(long, value_name = "EVENTS")]
    pub stream: Option<u32>,
    /// Microseconds between two events
    #[arg(long, default_value_t = 0)]
    pub interval: u64,
}

impl Target {
    /// A small request.
    pub fn to(address: SocketAddr, key: &str) -> Self {
        Self { address, key: key.to_owned(), headers: Vec::new(), prompt_bytes: 1024, stream: None, interval: 0 }
    }

    /// The whole request as bytes.
    pub fn request(&self) -> Vec<u8> {
        let stream = self.stream.is_some();
        let prompt = "the quick brown fox ".repeat(self.prompt_bytes / 20 + 1);
        let prompt = prompt.get(..self.prompt_bytes).unwrap_or_default();
        let body =
            format!(r#"{{"model":"bench-1","stream":{stream},"messages":[{{"role":"user","content":"{prompt}"}}]}}"#);
        let query = match self.stream {
            Some(events) => format!("?events={events}&interval={}", self.interval),
            None => String::new(),
        };
        let headers: String = self.headers.iter().map(|header| format!("{header}\r\n")).collect();
        format!(
            "POST /v1/chat/completions{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{headers}\
             Content-Type: application/json\r\nAccept: */*\r\nUser-Agent: headgate-bench\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.key,
            body.len()
        )
        .into_bytes()
    }
}

/// The head of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// Its first line.
    pub first: String,
    /// Bytes of the body, as far as the head says.
    pub length: usize,
    /// Whether the body comes in chunks.
    pub chunked: bool,
}

impl Head {
    /// Reads a head; none while it is incomplete. Also says how many bytes it takes.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>> {
        let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default()).context("a head is not text")?;
        let mut lines = text.split("\r\n");
        let mut head = Self { first: lines.next().unwrap_or_default().to_owned(), length: 0, chunked: false };
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { bail!("a header has no colon") };
            if name.eq_ignore_ascii_case("content-length") {
                head.length = value.trim().parse().context("a length is no number")?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.chunked = value.trim().eq_ignore_ascii_case("chunked");
            }
        }
        Ok(Some((head, end + 4)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Body(usize),
    ChunkSize,
    Chunk(usize),
    ChunkEnd,
    Trailer,
    Done,
}

/// Reads one response that arrives in pieces.
#[derive(Debug)]
pub struct Reader {
    pending: Vec<u8>,
    state: State,
    status: u16,
}

impl Default for Reader {
    fn default() -> Self {
        Self { pending: Vec::new(), state: State::Head, status: 0 }
    }
}

impl Reader {
    /// Whether the response is complete.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The status; 0 before the head is there.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Takes the next piece and hands on what of it belongs to the body.
    pub fn push(&mut self, bytes: &[u8], mut body: impl FnMut(&[u8])) -> Result<()> {
        self.pending.extend_from_slice(bytes);
        let mut taken = 0;
        while let Some(step) = self.step(taken, &mut body)? {
            taken += step;
        }
        self.pending.drain(..taken.min(self.pending.len()));
        Ok(())
    }

    /// One step on from `taken`; none when more bytes are needed or nothing is left to do.
    fn step(&mut self, taken: usize, body: &mut impl FnMut(&[u8])) -> Result<Option<usize>> {
        let rest = self.pending.get(taken..).unwrap_or_default();
        match self.state {
            State::Head => {
                let Some((head, length)) = Head::read(rest)? else { return Ok(None) };
                self.status = head.first.split(' ').nth(1).and_then(|s| s.parse().ok()).context("no status")?;
                self.state = match head {
                    Head { chunked: true, .. } => State::ChunkSize,
                    Head { length: 0, .. } => State::Done,
                    Head { length, .. } => State::Body(length),
                };
                Ok(Some(length))
            }
            State::Body(missing) | State::Chunk(missing) => {
                let part = rest.get(..missing.min(rest.len())).unwrap_or_default();
                if part.is_empty() {
                    return Ok(None);
                }
                body(part);
                let left = missing - part.len();
                self.state = match (self.state, left) {
                    (State::Body(_), 0) => State::Done,
                    (State::Body(_), left) => State::Body(left),
                    (_, 0) => State::ChunkEnd,
                    (_, left) => State::Chunk(left),
                };
                Ok(Some(part.len()))
            }
            State::ChunkSize | State::ChunkEnd | State::Trailer => {
                let Some(end) = memchr::memmem::find(rest, b"\r\n") else { return Ok(None) };
                let line = rest.get(..end).unwrap_or_default();
                self.state = match self.state {
                    State::ChunkSize => {
                        let digits = std::str::from_utf8(line).unwrap_or_default();
                        match usize::from_str_radix(digits, 16).context("a chunk has no size")? {
                            0 => State::Trailer,
                            size => State::Chunk(size),
                        }
                    }
                    State::ChunkEnd => State::ChunkSize,
                    _ if line.is_empty() => State::Done,
                    _ => State::Trailer,
                };
                Ok(Some(end + 2))
            }
            State::Done => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_cut(text: &str, cut: usize) -> (u16, String, bool) {
        let mut reader = Reader::default();
        let mut body = Vec::new();
        let (head, tail) = text.as_bytes().split_at(cut);
        reader.push(head, |part| body.extend_from_slice(part)).unwrap();
        reader.push(tail, |part| body.extend_from_slice(part)).unwrap();
        (reader.status(), String::from_utf8(body).unwrap(), reader.is_done())
    }

    #[test]
    fn a_response_is_read_wherever_it_is_cut() {
        let plain = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
        for text in [plain, chunked] {
            for cut in 0..text.len() {
                assert_eq!(read_cut(text, cut), (200, "hello".into(), true), "cut at {cut}");
            }
        }
    }

    #[test]
    fn an_empty_body_ends_with_the_head() {
        assert_eq!(read_cut("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 9), (404, String::new(), true));
    }

    #[test]
    fn the_prompt_has_the_length_that_was_asked_for() {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let target = |prompt_bytes| Target { prompt_bytes, ..Target::to(address, "k") };
        assert_eq!(target(5000).request().len() - target(0).request().len(), 5000 + 2);
        let (head, at) = Head::read(&target(100).request()).unwrap().unwrap();
        assert_eq!(head.length, target(100).request().len() - at);
    }

    #[test]
    fn further_headers_stand_in_the_head() {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let headers = ["x-one: 1", "x-two: 2"].map(str::to_owned).to_vec();
        let request = String::from_utf8(Target { headers, ..Target::to(address, "k") }.request()).unwrap();
        let (head, _) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("\r\nAuthorization: Bearer k\r\nx-one: 1\r\nx-two: 2\r\nContent-Type"), "{head}");
    }
}
