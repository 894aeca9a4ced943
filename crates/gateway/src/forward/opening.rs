//! A client's stream that is opened before any candidate has given output, so that a client who waits does not give up.
//!
//! The opening is ours and carries nothing of an upstream: candidates go on being tried behind it, and a failure is told
//! inside the stream. Only an attempt that is translated opens a stream; from then on every attempt keeps it alive.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use headgate_routing::Time;
use headgate_wire::{
    head::{Head, Progress},
    translate::Translator,
};
use http::{HeaderMap, Response};
use http_body::Frame;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::clock::Clock;

/// What the client is told while it waits.
struct Said {
    /// The head of the response, with what opens the stream.
    head: Option<HeaderMap>,
    bytes: Bytes,
}

/// The client's stream while nothing of an upstream has been sent.
pub struct Waiting {
    said: UnboundedSender<Said>,
    clock: Clock,
    keep_alive: Duration,
    /// When the client has heard nothing for too long.
    due: Time,
    progress: Progress,
    bytes: u64,
    /// The head of the response, if the attempt under way may open the stream.
    head: Option<HeaderMap>,
}

impl Waiting {
    /// Whether the stream was opened.
    pub fn is_open(&self) -> bool {
        self.progress.is_open()
    }

    /// Bytes sent so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A head that goes on where the stream stands.
    pub fn resume(&self, head: Head) -> Head {
        head.resumed(self.progress)
    }

    /// From now on the stream may be opened with this head of a response; with none it may not be.
    pub fn offer(&mut self, head: Option<HeaderMap>) {
        self.head = head;
    }

    /// Waits for a part of an attempt; the client hears from us when that takes long.
    pub async fn during<T>(&mut self, translator: &mut Translator, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            if !self.is_open() && self.head.is_none() {
                return work.await;
            }
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep_until(self.clock.instant(self.due)) => self.speak(translator),
            }
        }
    }

    fn speak(&mut self, translator: &mut Translator) {
        self.due = self.clock.now() + self.keep_alive;
        let bytes = translator.keep_alive();
        if bytes.is_empty() {
            return;
        }
        self.progress = translator.progress();
        self.bytes += bytes.len() as u64;
        // Whoever listens is gone only when this is dropped as well.
        let _ = self.said.send(Said { head: self.head.take(), bytes: bytes.into() });
    }
}

/// Runs the `course` of a streaming request. Gives its response, or, if that takes too long, one that begins at once.
pub async fn serve(
    clock: Clock,
    keep_alive: Duration,
    course: impl FnOnce(Waiting) -> BoxFuture<'static, Response<Body>>,
) -> Response<Body> {
    let (said, mut heard) = mpsc::unbounded_channel();
    let waiting = Waiting {
        said,
        clock,
        keep_alive,
        due: clock.now() + keep_alive,
        progress: Progress::default(),
        bytes: 0,
        head: None,
    };
    let mut course = course(waiting);
    let opening = tokio::select! {
        biased;
        response = &mut course => return response,
        Some(opening) = heard.recv() => opening,
    };
    let body = Opened { first: Some(opening.bytes), heard, course: Some(course), rest: Body::empty() };
    let mut response = Response::new(Body::new(body));
    *response.headers_mut() = opening.head.unwrap_or_default();
    response
}

/// The body of a stream that was opened early.
struct Opened {
    first: Option<Bytes>,
    heard: UnboundedReceiver<Said>,
    /// What is going on behind it.
    course: Option<BoxFuture<'static, Response<Body>>>,
    rest: Body,
}

impl http_body::Body for Opened {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        loop {
            let said = this.first.take().or_else(|| this.heard.try_recv().ok().map(|said| said.bytes));
            if let Some(bytes) = said {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            let Some(course) = &mut this.course else { return Pin::new(&mut this.rest).poll_frame(cx) };
            match course.as_mut().poll(cx) {
                Poll::Ready(response) => {
                    this.course = None;
                    this.rest = response.into_body();
                }
                Poll::Pending if this.heard.is_empty() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }
}
