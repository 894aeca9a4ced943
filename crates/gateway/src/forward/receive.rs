//! An upstream's answer up to the commit boundary: until then every failure can still go to another candidate.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use headgate_domain::{Class, Detail, Failure, Protocol};
use headgate_routing::{Time, classify};
use headgate_wire::{
    observe::{Document, End, Observer},
    splice,
    sse::{self, Frame, Splitter},
};
use http::{HeaderMap, header};
use tokio::time::timeout_at;

use super::{source::Source, watch::Watch};
use crate::{clock::Clock, exchange::Attempt};

/// What is held before the first output.
pub const HOLD: usize = 64 * 1024;

/// Limits and facts of one attempt.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// What the client speaks.
    pub protocol: Protocol,
    /// The client asked for a stream.
    pub stream: bool,
    /// The name to put in the place of the model's, when it was mapped.
    pub asked: Option<&'a str>,
    /// When the attempt began.
    pub started: Time,
    /// First work of a stream, by then.
    pub first_work: Time,
    /// Whether passing `first_work` passes the limit as configured, not a tightened one.
    pub unadapted: bool,
    /// A whole answer that is not streamed, by then.
    pub whole: Time,
    /// The client's own deadline.
    pub deadline: Option<Time>,
    /// Silence inside an answer.
    pub idle: Duration,
    /// How long a stream's opening is held.
    pub hold: Duration,
    /// Largest event.
    pub event_limit: usize,
    /// The tokens of the answer's text are counted afterwards.
    pub counts: bool,
}

impl Terms<'_> {
    /// Who watches an answer that passes.
    fn observer(&self) -> Observer {
        let mut observer = Observer::new(self.protocol);
        if self.counts {
            observer.keep_text();
        }
        observer
    }
}

/// An answer at the commit boundary.
pub struct Ready {
    /// What was seen so far.
    pub watch: Watch,
    /// Bytes to send first.
    pub held: Vec<Bytes>,
    /// What comes after them; `None` when all is there.
    pub rest: Option<Rest>,
    /// The answer is an event stream.
    pub events: bool,
}

/// The part of an answer that has not arrived yet.
pub enum Rest {
    /// Events.
    Events(Source, Splitter),
    /// A large document; the bytes so far are kept to read its usage.
    Document(Source, BytesMut),
    /// Whatever the translator of the answer reads.
    Translated(Source),
}

/// An answer that cannot be delivered, or one that is empty and is only delivered if nobody has better.
pub struct Failed {
    /// What went wrong.
    pub failure: Failure,
    /// What was seen.
    pub watch: Option<Box<Watch>>,
    /// The answer itself, if it was empty but not without bytes.
    pub empty: Option<Bytes>,
    /// It was an event stream.
    pub events: bool,
    /// Body bytes received.
    pub bytes: u64,
}

impl Failed {
    fn new(failure: Failure, source: &Source) -> Self {
        Self { failure, watch: None, empty: None, events: false, bytes: source.bytes }
    }
}

/// Reads a successful answer up to the commit boundary.
pub async fn receive(
    headers: &HeaderMap,
    mut source: Source,
    terms: &Terms<'_>,
    clock: Clock,
    attempt: &mut Attempt,
) -> Result<Ready, Failed> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let content_type = content_type.trim().to_ascii_lowercase();
    if content_type.starts_with("text/event-stream") {
        return events(source, Bytes::new(), terms, clock, attempt).await;
    }
    let limit = if terms.stream { terms.first_work } else { terms.whole };
    let mut body = BytesMut::new();
    // A mapped name is somewhere in the document, and a bomb shows itself late: then all of it is held.
    let hold = if terms.asked.is_some() || source.is_decoded() { terms.event_limit } else { HOLD };
    loop {
        let next = timed(&mut source, clock, limit, terms).await.map_err(|failure| Failed::new(failure, &source))?;
        let Some(chunk) = next else { break };
        if body.is_empty() && sse::looks_like_events(&chunk) {
            return events(source, chunk, terms, clock, attempt).await;
        }
        body.extend_from_slice(&chunk);
        if body.len() > hold && (body.len() > terms.event_limit || !begins_like_error(&body)) {
            if looks_like_page(&content_type, &body) {
                return Err(Failed::new(page(), &source));
            }
            let held = vec![body.clone().freeze()];
            let watch = Watch::Relayed(terms.observer());
            return Ok(Ready { watch, held, rest: Some(Rest::Document(source, body)), events: false });
        }
    }
    document(body.freeze(), &content_type, &source, terms)
}

/// Whether a document begins with what would make it an error envelope; such a one is held until it can be judged.
fn begins_like_error(body: &[u8]) -> bool {
    fn after<'b>(bytes: &'b [u8], prefix: &[u8]) -> Option<&'b [u8]> {
        bytes.trim_ascii_start().strip_prefix(prefix)
    }
    let Some(inside) = after(body, b"{") else { return false };
    let value = |name: &[u8]| after(inside, name).and_then(|rest| after(rest, b":")).map(<[u8]>::trim_ascii_start);
    value(b"\"error\"").is_some_and(|v| !v.starts_with(b"null"))
        || value(b"\"type\"").is_some_and(|v| v.starts_with(b"\"error\""))
}

fn looks_like_page(content_type: &str, body: &[u8]) -> bool {
    content_type.starts_with("text/html") || body.trim_ascii_start().starts_with(b"<")
}

fn page() -> Failure {
    Failure::new(Class::Broken, "the upstream answered with a page instead of an API answer; check its base URL")
        .with_detail(Detail::NotAnApi)
}

/// Judges a whole document.
fn document(body: Bytes, content_type: &str, source: &Source, terms: &Terms<'_>) -> Result<Ready, Failed> {
    if body.is_empty() {
        return Err(Failed::new(Failure::new(Class::Empty, "the upstream's answer has no bytes"), source));
    }
    if looks_like_page(content_type, &body) {
        return Err(Failed::new(page(), source));
    }
    let mut observer = terms.observer();
    let failure = match observer.document(&body) {
        Document::Failed(error) => classify(&error),
        Document::Unreadable => {
            Failure::new(Class::Broken, "the upstream's answer is not JSON").with_detail(Detail::NotAnApi)
        }
        Document::Answer => {
            let body = terms.asked.and_then(|asked| splice::rename_answer(&body, asked)).unwrap_or(body);
            if observer.end() != End::Empty {
                return Ok(Ready { watch: observer.into(), held: vec![body], rest: None, events: false });
            }
            let failure = Failure::new(Class::Empty, "the upstream's answer has no content");
            return Err(Failed {
                failure,
                watch: Some(Box::new(observer.into())),
                empty: Some(body),
                events: false,
                bytes: source.bytes,
            });
        }
    };
    Err(Failed {
        failure: as_broken(failure),
        watch: Some(Box::new(observer.into())),
        empty: None,
        events: false,
        bytes: source.bytes,
    })
}

/// An error in a successful status that no code explains is `broken`, not a fault of the client.
pub fn as_broken(failure: Failure) -> Failure {
    let explained = failure.code.is_some() || failure.detail.is_some();
    match failure.class {
        Class::ClientFault if !explained => Failure { class: Class::Broken, ..failure },
        _ => failure,
    }
}

/// Reads events until the first output.
async fn events(
    mut source: Source,
    first: Bytes,
    terms: &Terms<'_>,
    clock: Clock,
    attempt: &mut Attempt,
) -> Result<Ready, Failed> {
    let mut observer = terms.observer();
    let mut splitter = Splitter::new(terms.event_limit);
    let mut held = Vec::new();
    let mut held_bytes = 0;
    let mut worked = false;
    let mut frames: Vec<Frame> = Vec::new();
    let mut next = Some(first);
    let hold_until = clock.now() + terms.hold;
    let fail = |failure: Failure, observer: Observer, source: &Source, empty: Option<Bytes>| {
        Err(Failed { failure, watch: Some(Box::new(observer.into())), empty, events: true, bytes: source.bytes })
    };
    loop {
        if let Some(chunk) = next.take() {
            if splitter.push(chunk, &mut frames).is_err() {
                return fail(too_large(terms.event_limit), observer, &source, None);
            }
        } else {
            let mut limit = if worked { clock.now() + terms.idle } else { terms.first_work };
            let may_commit = held_bytes > 0;
            if may_commit {
                limit = limit.min(hold_until);
            }
            match timed(&mut source, clock, limit, terms).await {
                Ok(Some(chunk)) => {
                    next = Some(chunk);
                    continue;
                }
                Ok(None) => {
                    frames.extend(splitter.finish());
                    take(&mut frames, &mut observer, terms.asked, &mut held);
                    let failure = match observer.end() {
                        End::Complete => return Ok(Ready { watch: observer.into(), held, rest: None, events: true }),
                        End::Failed(error) => as_broken(classify(&error)),
                        End::Cut if source.bytes == 0 => {
                            Failure::new(Class::Empty, "the upstream's answer has no bytes")
                        }
                        End::Cut => {
                            Failure::new(Class::Cut, "the upstream's stream ended without its completion event")
                        }
                        End::Empty => {
                            let all = held.concat().into();
                            let failure = Failure::new(Class::Empty, "the upstream's answer has no content");
                            return fail(failure, observer, &source, Some(all));
                        }
                    };
                    return fail(failure, observer, &source, None);
                }
                Err(failure) => {
                    let held_long_enough = failure.class == Class::SlowFirst && may_commit && clock.now() >= hold_until;
                    if held_long_enough && clock.now() < terms.first_work {
                        return Ok(Ready {
                            watch: observer.into(),
                            held,
                            rest: Some(Rest::Events(source, splitter)),
                            events: true,
                        });
                    }
                    attempt.tripped = failure.class == Class::SlowFirst && terms.unadapted;
                    let failure = match failure.class {
                        Class::SlowFirst if worked => {
                            Failure::new(Class::Stalled, "the upstream fell silent inside its stream")
                        }
                        _ => failure,
                    };
                    return fail(failure, observer, &source, None);
                }
            }
        }
        let seen = take(&mut frames, &mut observer, terms.asked, &mut held);
        held_bytes = held.iter().map(Bytes::len).sum::<usize>();
        worked |= seen.0;
        if seen.1 {
            attempt.ttft.get_or_insert(clock.now().since(terms.started));
            return Ok(Ready {
                watch: observer.into(),
                held,
                rest: Some(Rest::Events(source, splitter)),
                events: true,
            });
        }
        if let Some(error) = observer.error() {
            let failure = as_broken(classify(error));
            return fail(failure, observer, &source, None);
        }
        if held_bytes + splitter.waiting() > HOLD {
            return Ok(Ready {
                watch: observer.into(),
                held,
                rest: Some(Rest::Events(source, splitter)),
                events: true,
            });
        }
    }
}

/// Observes frames and moves their bytes, renamed if need be, to `out`. Gives whether there was work, and output.
pub fn take(
    frames: &mut Vec<Frame>,
    observer: &mut Observer,
    asked: Option<&str>,
    out: &mut Vec<Bytes>,
) -> (bool, bool) {
    let (mut work, mut output) = (false, false);
    for frame in frames.drain(..) {
        if let Some(data) = sse::data(&frame.raw) {
            let seen = observer.event(&data);
            work |= seen.work;
            output |= seen.output;
        }
        let renamed = match asked {
            Some(asked) if frame.flowed == 0 => splice::rename_answer(&frame.raw, asked),
            _ => None,
        };
        let bytes = renamed.unwrap_or_else(|| frame.unsent());
        if !bytes.is_empty() {
            out.push(bytes);
        }
    }
    (work, output)
}

/// One event exceeded the limit.
pub fn too_large(limit: usize) -> Failure {
    Failure::new(Class::Broken, format!("one event of the upstream is larger than {limit} bytes"))
        .with_detail(Detail::EventTooLarge)
}

/// The next chunk, by `limit` and by the client's deadline.
pub async fn timed(
    source: &mut Source,
    clock: Clock,
    limit: Time,
    terms: &Terms<'_>,
) -> Result<Option<Bytes>, Failure> {
    let until = terms.deadline.map_or(limit, |d| d.min(limit));
    match timeout_at(clock.instant(until), source.next()).await {
        Ok(next) => next.transpose(),
        Err(_) => Err(late(terms, until)),
    }
}

/// The failure of an answer that did not come in time.
pub fn late(terms: &Terms<'_>, until: Time) -> Failure {
    if terms.deadline.is_some_and(|d| d <= until) {
        return Failure::new(Class::Deadline, "the client's deadline passed");
    }
    Failure::new(
        Class::SlowFirst,
        format!("the upstream gave no answer within {:.1} s", until.since(terms.started).as_secs_f64()),
    )
}

/// An answer that has no body by its status (204).
pub fn nothing(protocol: Protocol) -> Ready {
    let mut observer = Observer::new(protocol);
    // Nothing was promised, so nothing is missing.
    observer.document(b"{}");
    Ready { watch: observer.into(), held: Vec::new(), rest: None, events: false }
}
