//! The bytes of an upstream's answer, decompressed if it was compressed although nobody asked.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZstdDecoder};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use headgate_domain::{Class, Detail, Failure};
use http::{HeaderMap, header};
use http_body::Body as _;
use tokio_util::io::{ReaderStream, StreamReader};

use crate::outbound::{self, CallError};

/// Largest ratio of decompressed to compressed bytes.
const MAX_RATIO: u64 = 100;
/// Up to so many bytes any ratio is fine: small answers compress well.
const RATIO_FREE: u64 = 1 << 20;

/// A stream of chunks from an upstream.
pub struct Source {
    inner: Inner,
    /// Bytes handed out.
    pub bytes: u64,
}

enum Inner {
    Plain(outbound::Answer),
    Decoded(Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send + Sync>>),
    Ended,
}

impl Source {
    /// The body of an answer with these headers.
    pub fn new(headers: &HeaderMap, body: outbound::Answer) -> Self {
        let encoding = headers.get(header::CONTENT_ENCODING).and_then(|v| v.to_str().ok()).unwrap_or("identity");
        let inner = match encoding.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => decoded(body, |read| ReaderStream::new(GzipDecoder::new(read))),
            "zstd" => decoded(body, |read| ReaderStream::new(ZstdDecoder::new(read))),
            "br" => decoded(body, |read| ReaderStream::new(BrotliDecoder::new(read))),
            "identity" | "" => Inner::Plain(body),
            other => {
                let why =
                    format!("the upstream sent the encoding '{}', which nobody asked for", other.escape_default());
                Inner::Decoded(Box::pin(futures_util::stream::once(async move { Err(io::Error::other(why)) })))
            }
        };
        Self { inner, bytes: 0 }
    }

    /// Whether the answer was compressed although nobody asked.
    pub fn is_decoded(&self) -> bool {
        matches!(self.inner, Inner::Decoded(_))
    }

    /// The next chunk; `None` at a clean end.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        loop {
            let next = match &mut self.inner {
                Inner::Ended => return Poll::Ready(None),
                Inner::Plain(body) => match std::task::ready!(Pin::new(body).poll_frame(cx)) {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) if data.is_empty() => continue,
                        Ok(data) => Some(Ok(data)),
                        Err(_trailers) => continue,
                    },
                    Some(Err(why)) => Some(Err(lost(&why))),
                    None => None,
                },
                Inner::Decoded(stream) => match std::task::ready!(stream.poll_next_unpin(cx)) {
                    Some(Ok(data)) => Some(Ok(data)),
                    Some(Err(why)) => Some(Err(undecodable(&why))),
                    None => None,
                },
            };
            match &next {
                Some(Ok(data)) => self.bytes += data.len() as u64,
                _ => self.inner = Inner::Ended,
            }
            return Poll::Ready(next);
        }
    }

    /// The next chunk.
    pub async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }
}

fn lost(why: &CallError) -> Failure {
    Failure::new(Class::Cut, format!("the upstream's connection broke off inside the answer ({why})"))
}

fn undecodable(why: &io::Error) -> Failure {
    if let Some(inner) = why.get_ref().and_then(|e| e.downcast_ref::<CallError>()) {
        return lost(inner);
    }
    Failure::new(Class::Broken, format!("the upstream's answer could not be decompressed ({why})"))
        .with_detail(Detail::Encoding)
}

fn decoded<S>(body: outbound::Answer, decoder: impl FnOnce(Reader) -> S) -> Inner
where
    S: Stream<Item = io::Result<Bytes>> + Send + Sync + 'static,
{
    let read = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = std::sync::Arc::clone(&read);
    let compressed =
        http_body_util::BodyDataStream::new(body).map_err(io::Error::other).inspect_ok(move |chunk: &Bytes| {
            counter.fetch_add(chunk.len() as u64, std::sync::atomic::Ordering::Relaxed);
        });
    let boxed: Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send + Sync>> = Box::pin(compressed);
    let mut produced = 0;
    let bounded = decoder(StreamReader::new(boxed)).and_then(move |chunk| {
        produced += chunk.len() as u64;
        let consumed = read.load(std::sync::atomic::Ordering::Relaxed);
        let bomb = produced > RATIO_FREE && produced > consumed.saturating_mul(MAX_RATIO);
        std::future::ready(if bomb {
            Err(io::Error::other(format!("it grows by more than {MAX_RATIO} times")))
        } else {
            Ok(chunk)
        })
    });
    Inner::Decoded(Box::pin(bounded))
}

type Reader = StreamReader<Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send + Sync>>, Bytes>;
