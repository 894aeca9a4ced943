//! The answer's body after the commit boundary: bytes pass as they come, a tee observes them, and the record is
//! written with the last one.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use headgate_domain::{Class, Failure, Outcome, Protocol};
use headgate_routing::Time;
use headgate_wire::{envelope, observe::End, sse::Frame};
use http_body::{Body, Frame as BodyFrame, SizeHint};
use tokio::time::Sleep;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::{
    receive::{HOLD, Ready, Rest, take, too_large},
    source::Source,
    watch::Watch,
};
use crate::exchange::{Answer, Exchange};

/// Up to so many bytes of a large document are kept to read its usage at the end.
const TEE: usize = 8 << 20;

/// How long the end of the body may follow the completion event.
const AFTERGLOW: Duration = Duration::from_millis(250);
/// How long a stream that has said why it stopped is waited for to report its usage.
const USAGE: Duration = Duration::from_secs(5);

/// Facts of the answer.
pub struct Facts {
    /// What the client speaks.
    pub protocol: Protocol,
    /// HTTP status sent.
    pub status: u16,
    /// The name to put in the place of the model's.
    pub asked: Option<String>,
    /// The model asked for.
    pub model: String,
    /// Silence inside the answer.
    pub idle: Duration,
    /// A client whose stream is translated hears from us after so long a silence.
    pub keep_alive: Duration,
    /// The answer as a whole, by then.
    pub until: Option<Time>,
    /// The client's own deadline.
    pub deadline: Option<Time>,
    /// Bytes the client has got before.
    pub sent: u64,
    /// The upstream's own request id.
    pub upstream_request_id: Option<String>,
}

/// A response body that ends its exchange.
pub struct Relay {
    exchange: Exchange,
    watch: Watch,
    facts: Facts,
    queue: VecDeque<Bytes>,
    rest: Option<Rest>,
    events: bool,
    timer: Pin<Box<Sleep>>,
    /// When the timer means the client's deadline or the whole limit instead of silence.
    last_limit: Option<Time>,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    /// When the client of a translated stream has heard nothing for too long.
    quiet: Option<Pin<Box<Sleep>>>,
    received: u64,
    sent: u64,
    /// How it ends, once that is known: after the queue is empty.
    ending: Option<Ending>,
    size: Option<u64>,
    /// The connection must be broken off, since what was sent is not whole.
    abort: bool,
}

struct Ending {
    outcome: Outcome,
    failure: Option<Failure>,
}

/// What breaks a connection off in the middle of an answer.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off")]
pub struct BrokenOff;

impl Relay {
    /// The body of an answer that is ready to be sent.
    pub fn new(exchange: Exchange, ready: Ready, facts: Facts) -> Self {
        let Ready { watch, held, rest, events } = ready;
        let shared = exchange.shared();
        let stopped = Box::pin(shared.deadline.clone().cancelled_owned());
        let last_limit = [facts.until, facts.deadline].into_iter().flatten().min();
        let clock = shared.clock;
        let idle_end = clock.now() + facts.idle;
        let timer = Box::pin(tokio::time::sleep_until(clock.instant(last_limit.map_or(idle_end, |l| l.min(idle_end)))));
        let size = rest.is_none().then(|| held.iter().map(|b| b.len() as u64).sum());
        let received = match &rest {
            Some(Rest::Events(source, _) | Rest::Document(source, _) | Rest::Translated(source)) => source.bytes,
            None => size.unwrap_or(0),
        };
        // A relayed stream is the upstream's own, byte for byte: nothing of ours may be in it.
        let quiet =
            (events && matches!(watch, Watch::Translated(_))).then(|| Box::pin(tokio::time::sleep(facts.keep_alive)));
        let mut relay = Self {
            sent: facts.sent,
            exchange,
            watch,
            facts,
            queue: held.into(),
            rest,
            events,
            timer,
            last_limit,
            stopped,
            quiet,
            received,
            ending: None,
            size,
            abort: false,
        };
        if relay.rest.is_none() {
            relay.judge();
        } else {
            relay.look_inside();
        }
        relay
    }

    /// Ends the answer if the upstream has told of an error inside it.
    fn look_inside(&mut self) {
        let error = match &self.watch {
            Watch::Relayed(observer) => observer.error().cloned(),
            Watch::Translated(translator) => match translator.end() {
                Some(End::Failed(error)) => Some(error),
                _ => None,
            },
        };
        let Some(error) = error else { return };
        let message = format!("the upstream reported an error inside its stream: {}", error.message);
        let failure = Failure { code: error.code, retry_after: error.retry_after, ..Failure::new(Class::Cut, message) };
        if matches!(self.watch, Watch::Translated(_)) {
            return self.fail(failure);
        }
        // The event itself has passed, in the client's own protocol.
        self.rest = None;
        self.ending = Some(Ending { outcome: Outcome::Partial, failure: Some(failure) });
    }

    /// Judges an answer of which everything has arrived.
    fn judge(&mut self) {
        let end = match &self.watch {
            Watch::Relayed(observer) => observer.end(),
            Watch::Translated(translator) => translator.end().unwrap_or(End::Cut),
        };
        let ending = match end {
            End::Complete => Ending { outcome: Outcome::Success, failure: None },
            End::Empty => Ending {
                outcome: Outcome::Success,
                failure: Some(Failure::new(Class::Empty, "the upstream's answer has no content")),
            },
            End::Failed(_) => return self.look_inside(),
            End::Cut => {
                let failure = Failure::new(Class::Cut, "the upstream's stream ended without its completion event");
                return self.fail(failure);
            }
        };
        self.ending = Some(ending);
    }

    /// Ends the answer with a failure, told in the client's protocol where that is still possible.
    fn fail(&mut self, failure: Failure) {
        let mid_event = match &self.rest {
            Some(Rest::Events(_, splitter)) => splitter.is_mid_event(),
            _ => false,
        };
        self.rest = None;
        if self.events && !mid_event {
            let event = match &mut self.watch {
                Watch::Relayed(observer) => {
                    let id = self.exchange.record.id.to_string();
                    let sequence = observer.next_sequence();
                    envelope::stream_error(self.facts.protocol, &failure, &self.facts.model, &id, sequence)
                }
                Watch::Translated(translator) => translator.fail(&failure),
            };
            self.queue.push_back(event.into());
        } else {
            self.abort = true;
        }
        self.ending = Some(Ending { outcome: Outcome::Partial, failure: Some(failure) });
    }

    /// Writes the record.
    fn conclude(&mut self) {
        let Some(Ending { outcome, failure }) = self.ending.take() else { return };
        let answer = Answer {
            status: Some(self.facts.status),
            watch: Some(&self.watch),
            bytes: self.received,
            stream: self.events,
            request_id: self.facts.upstream_request_id.take(),
            model_scoped: false,
        };
        self.exchange.end_attempt(&answer, failure.as_ref(), outcome);
        self.exchange.finish(self.facts.status, outcome, failure.as_ref(), self.sent);
    }

    /// Takes what the upstream sent next.
    fn take_chunk(&mut self, chunk: Bytes) {
        self.received += chunk.len() as u64;
        match (&mut self.rest, &mut self.watch) {
            (Some(Rest::Events(_, splitter)), Watch::Relayed(observer)) => {
                let mut frames: Vec<Frame> = Vec::new();
                let fits = splitter.push(chunk, &mut frames);
                let mut out = Vec::with_capacity(frames.len());
                let (_, output) = take(&mut frames, observer, self.facts.asked.as_deref(), &mut out);
                self.queue.extend(out);
                if splitter.waiting() > HOLD {
                    self.queue.push_back(splitter.flow());
                }
                if output {
                    self.note_output();
                }
                self.look_inside();
                if fits.is_err() && self.ending.is_none() {
                    self.fail(too_large(TEE));
                }
            }
            (Some(Rest::Translated(_)), Watch::Translated(translator)) => {
                let out = translator.push(chunk);
                let output = translator.seen().output;
                self.give(out);
                if output {
                    self.note_output();
                }
                self.look_inside();
            }
            (Some(Rest::Document(_, tee)), _) => {
                if tee.len() + chunk.len() <= TEE {
                    tee.extend_from_slice(&chunk);
                }
                self.queue.push_back(chunk);
            }
            _ => {}
        }
    }

    fn give(&mut self, out: Vec<u8>) {
        if !out.is_empty() {
            self.queue.push_back(out.into());
        }
    }

    /// The first output may come after the commit boundary.
    fn note_output(&mut self) {
        let now = self.exchange.shared().now();
        if let Some(attempt) = &mut self.exchange.current {
            attempt.note_output(now);
        }
    }

    fn take_end(&mut self) {
        match (self.rest.take(), &mut self.watch) {
            (Some(Rest::Events(_, mut splitter)), Watch::Relayed(observer)) => {
                let mut frames: Vec<Frame> = splitter.finish().into_iter().collect();
                let mut out = Vec::new();
                take(&mut frames, observer, self.facts.asked.as_deref(), &mut out);
                self.queue.extend(out);
                self.judge();
            }
            (Some(Rest::Translated(_)), Watch::Translated(translator)) => {
                let out = translator.finish();
                self.give(out);
                self.judge();
            }
            (Some(Rest::Document(_, tee)), Watch::Relayed(observer)) => {
                // Too large to have been kept whole: its usage stays unknown.
                observer.document(&tee);
                self.ending = Some(Ending { outcome: Outcome::Success, failure: None });
            }
            _ => {}
        }
    }

    /// Nothing more is needed: the completion event was seen. What the connection does after it is no matter.
    fn is_whole(&self) -> bool {
        let failed = matches!(&self.watch, Watch::Relayed(observer) if observer.error().is_some());
        self.events && self.watch.completed() && !failed
    }

    /// The source failed, or nothing came in time: a fault, unless everything had come before.
    fn stop(&mut self, failure: Failure) {
        if self.is_whole() {
            self.rest = None;
            self.judge();
        } else {
            self.fail(failure);
        }
    }

    /// The timer went off: silence, the whole limit, or the client's deadline.
    fn late(&mut self) {
        if let Watch::Translated(translator) = &mut self.watch
            && translator.is_finishing()
        {
            // Only the usage is missing.
            let out = translator.conclude();
            self.give(out);
            self.rest = None;
            return self.judge();
        }
        let now = self.exchange.shared().now();
        let failure = if self.facts.deadline.is_some_and(|d| d <= now) {
            Failure::new(Class::Deadline, "the client's deadline passed")
        } else if self.facts.until.is_some_and(|u| u <= now) {
            Failure::new(Class::SlowFirst, "the upstream's answer took too long")
        } else {
            let seconds = self.facts.idle.as_secs_f64();
            Failure::new(Class::Stalled, format!("the upstream fell silent for {seconds} s inside its answer"))
        };
        self.stop(failure);
    }

    /// Whether it is time to let the client hear from us; then it does.
    fn break_silence(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(quiet) = &mut self.quiet else { return false };
        if quiet.as_mut().poll(cx).is_pending() {
            return false;
        }
        quiet.as_mut().reset(tokio::time::Instant::now() + self.facts.keep_alive);
        let out = match &mut self.watch {
            Watch::Translated(translator) => translator.keep_alive(),
            Watch::Relayed(_) => Vec::new(),
        };
        self.give(out);
        true
    }

    /// Whether only usage may follow.
    fn is_finishing(&self) -> bool {
        matches!(&self.watch, Watch::Translated(translator) if translator.is_finishing())
    }

    fn wait(&mut self, time: Duration) {
        let clock = self.exchange.shared().clock;
        self.timer.as_mut().reset(clock.instant(clock.now() + time));
    }

    fn rearm(&mut self, chunk: &Bytes) {
        if let Some(quiet) = &mut self.quiet {
            quiet.as_mut().reset(tokio::time::Instant::now() + self.facts.keep_alive);
        }
        if self.is_whole() {
            return;
        }
        // Comments are no sign of life.
        if self.events && chunk.starts_with(b":") && memchr::memmem::find(chunk, b"data").is_none() {
            return;
        }
        let clock = self.exchange.shared().clock;
        let idle_end = clock.now() + self.facts.idle;
        self.timer.as_mut().reset(clock.instant(self.last_limit.map_or(idle_end, |l| l.min(idle_end))));
    }
}

impl Body for Relay {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<BodyFrame<Bytes>, BrokenOff>>> {
        let this = self.get_mut();
        loop {
            if let Some(bytes) = this.queue.pop_front() {
                this.sent += bytes.len() as u64;
                if this.queue.is_empty() && this.ending.is_some() && !this.abort {
                    this.conclude();
                }
                return Poll::Ready(Some(Ok(BodyFrame::data(bytes))));
            }
            if this.ending.is_some() {
                this.conclude();
                return Poll::Ready(this.abort.then_some(Err(BrokenOff)));
            }
            let source: &mut Source = match &mut this.rest {
                Some(Rest::Events(source, _) | Rest::Document(source, _) | Rest::Translated(source)) => source,
                None => return Poll::Ready(None),
            };
            match source.poll_next(cx) {
                Poll::Ready(Some(Ok(chunk))) => {
                    this.rearm(&chunk);
                    let before = this.is_whole();
                    this.take_chunk(chunk);
                    if this.is_whole() && !before {
                        // The end of the body usually comes with it; a connection left open is not waited for.
                        this.wait(AFTERGLOW);
                    } else if this.is_finishing() {
                        this.wait(USAGE);
                    }
                }
                Poll::Ready(Some(Err(failure))) => this.stop(failure),
                Poll::Ready(None) => this.take_end(),
                Poll::Pending => {
                    if this.stopped.as_mut().poll(cx).is_ready() {
                        this.fail(Failure::new(Class::Gateway, "Headgate is stopping"));
                    } else if this.timer.as_mut().poll(cx).is_ready() {
                        this.late();
                    } else if !this.break_silence(cx) {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.size.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // A client that leaves after the completion event has had its answer.
        if self.ending.is_none() && self.exchange.current.is_some() && self.watch.completed() && self.queue.is_empty() {
            self.ending = Some(Ending { outcome: Outcome::Success, failure: None });
        } else if !self.queue.is_empty() || self.ending.is_none() {
            let gone = Failure::new(Class::ClientGone, "the client closed the connection");
            self.ending =
                self.exchange.current.is_some().then_some(Ending { outcome: Outcome::Canceled, failure: Some(gone) });
        }
        self.conclude();
    }
}
