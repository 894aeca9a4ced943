//! A client's connection as bytes: how long it may be silent, and heads whose end is in doubt.
//!
//! The HTTP library times a head from the moment it waits for one, so that a kept connection would live no longer
//! than a slow head may; and of a request with both a length and a transfer coding it shows only the coding. Both are
//! seen here, before it.

use std::{
    io::{self, ErrorKind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use http_body::{Body, Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

/// How long a client may take for the head of a request, and for the first byte of a connection.
const HEAD: Duration = Duration::from_secs(10);
/// How long a connection that has served a request is kept for the next one; longer than clients keep one (90 s at most), so that they are the ones to close it.
const KEPT: Duration = Duration::from_secs(120);
/// Longest head that is looked at; a longer one is refused by the HTTP library.
const LOOK: usize = 256 * 1024;

/// What a connection's reader and the requests on it know of each other.
#[derive(Default)]
pub struct Watch {
    /// A request is being served: what is read is its body.
    serving: AtomicBool,
    /// Requests that have begun.
    begun: AtomicU32,
    /// The end of the request's body is in doubt.
    ambiguous: AtomicBool,
}

impl Watch {
    /// A request begins; tells whether its end is in doubt. It ends with the drop of [`Serving`].
    pub fn begin(self: &Arc<Self>) -> (Serving, bool) {
        self.serving.store(true, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
        (Serving(Arc::clone(self)), self.ambiguous.load(Ordering::Relaxed))
    }
}

/// A request that is being served.
pub struct Serving(Arc<Watch>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.serving.store(false, Ordering::Relaxed);
    }
}

/// A response's body, with the note that its request is still being served.
pub struct Served<B> {
    body: B,
    _serving: Serving,
}

impl<B> Served<B> {
    /// Binds both.
    pub fn new(body: B, serving: Serving) -> Self {
        Self { body, _serving: serving }
    }
}

impl<B: Body + Unpin> Body for Served<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Where the reader is.
enum Phase {
    /// Nothing of a head was read yet.
    Idle,
    /// Part of a head was read.
    Head,
    /// A head is complete; what follows is its body until the request has been served.
    Body,
    /// HTTP/2, which frames its requests itself.
    Frames,
}

/// A connection whose reading is watched.
pub struct Watched<S> {
    stream: S,
    watch: Arc<Watch>,
    phase: Phase,
    head: Vec<u8>,
    /// When the phase lasts too long.
    limit: Pin<Box<Sleep>>,
    /// Requests that have begun, before the last head.
    begun: u32,
}

impl<S> Watched<S> {
    /// Watches a new connection.
    pub fn new(stream: S, watch: Arc<Watch>) -> Self {
        let limit = Box::pin(tokio::time::sleep(HEAD));
        Self { stream, watch, phase: Phase::Idle, head: Vec::new(), limit, begun: 0 }
    }

    fn enter(&mut self, phase: Phase, limit: Duration) {
        self.limit.as_mut().reset(Instant::now() + limit);
        self.phase = phase;
    }

    /// Notices that the request of the last head has been served.
    fn settle(&mut self) {
        if !matches!(self.phase, Phase::Body) {
            return;
        }
        let begun = self.watch.begun.load(Ordering::Relaxed);
        if begun != self.begun && !self.watch.serving.load(Ordering::Relaxed) {
            self.begun = begun;
            self.enter(Phase::Idle, KEPT);
        }
    }

    fn look(&mut self, mut bytes: &[u8]) {
        if matches!(self.phase, Phase::Idle) {
            // Empty lines before a request are allowed.
            while let [b'\r' | b'\n', rest @ ..] = bytes {
                bytes = rest;
            }
            if bytes.is_empty() {
                return;
            }
            self.enter(Phase::Head, HEAD);
        }
        if !matches!(self.phase, Phase::Head) {
            return;
        }
        let from = self.head.len().saturating_sub(3);
        self.head.extend_from_slice(bytes);
        if self.head.starts_with(b"PRI * HTTP/2.0\r\n") {
            self.phase = Phase::Frames;
            self.head = Vec::new();
            return;
        }
        let end = memchr::memmem::find(self.head.get(from..).unwrap_or_default(), b"\r\n\r\n");
        if end.is_some() || self.head.len() > LOOK {
            self.watch.ambiguous.store(is_ambiguous(&self.head), Ordering::Relaxed);
            self.head = Vec::new();
            self.phase = Phase::Body;
        }
    }
}

/// Whether a request's body could be taken to end at two places, or its host be two.
fn is_ambiguous(head: &[u8]) -> bool {
    let mut headers = [httparse::EMPTY_HEADER; 256];
    let mut request = httparse::Request::new(&mut headers);
    if !matches!(request.parse(head), Ok(httparse::Status::Complete(_))) {
        // The HTTP library refuses it.
        return false;
    }
    let count = |name: &str| request.headers.iter().filter(|h| h.name.eq_ignore_ascii_case(name)).count();
    let (lengths, codings) = (count("content-length"), count("transfer-encoding"));
    lengths + codings > 1 || count("host") > 1
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.settle();
        let before = buffer.filled().len();
        match Pin::new(&mut this.stream).poll_read(context, buffer) {
            Poll::Ready(done) => {
                done?;
                this.look(buffer.filled().get(before..).unwrap_or_default());
                Poll::Ready(Ok(()))
            }
            Poll::Pending => {
                if matches!(this.phase, Phase::Idle | Phase::Head) {
                    ready!(this.limit.as_mut().poll(context));
                    return Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "the client sent no request in time")));
                }
                Poll::Pending
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
