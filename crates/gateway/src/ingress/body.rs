//! A client's body: bounded, never waited for without end, decoded once.

use std::time::Duration;

use async_compression::tokio::bufread::{GzipDecoder, ZstdDecoder};
use bytes::{Bytes, BytesMut};
use headgate_wire::envelope::Refusal;
use http::{HeaderMap, header};
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest silence inside a body.
const IDLE: Duration = Duration::from_secs(30);
/// Largest ratio of decoded to encoded bytes.
const MAX_RATIO: usize = 100;
/// What is set aside at once on a client's word.
const TRUSTED: usize = 1 << 20;

type Refused = (Refusal, String);

fn too_large(limit: usize) -> Refused {
    (Refusal::BodyTooLarge, format!("the body is larger than {limit} bytes (setting body_limit)"))
}

/// Reads a whole body of at most `limit` bytes, decoded.
pub async fn read<B>(headers: &HeaderMap, body: B, limit: usize) -> Result<Bytes, Refused>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let raw = collect(headers, body, limit).await?;
    let encoding = headers.get(header::CONTENT_ENCODING).map(|v| v.to_str().unwrap_or("?").trim().to_ascii_lowercase());
    match encoding.as_deref() {
        None | Some("" | "identity") => Ok(raw),
        Some("zstd") => decode(ZstdDecoder::new(&*raw), raw.len(), limit).await,
        Some("gzip" | "x-gzip") => decode(GzipDecoder::new(&*raw), raw.len(), limit).await,
        Some(_) => Err((Refusal::WrongContentType, "the content-encoding is none of zstd, gzip, identity".to_owned())),
    }
}

async fn collect<B>(headers: &HeaderMap, mut body: B, limit: usize) -> Result<Bytes, Refused>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let announced: usize =
        headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok()).unwrap_or(0);
    if announced > limit {
        return Err(too_large(limit));
    }
    let mut whole = BytesMut::new();
    let mut first: Option<Bytes> = None;
    loop {
        let frame = tokio::time::timeout(IDLE, body.frame()).await.map_err(|_| {
            (Refusal::RequestTimeout, format!("the body stopped for {} s before its end", IDLE.as_secs()))
        })?;
        match frame {
            None => break,
            Some(Err(why)) => return Err((Refusal::BadRequest, format!("the body could not be read: {why}"))),
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else { continue };
                if whole.len() + first.as_ref().map_or(0, Bytes::len) + data.len() > limit {
                    return Err(too_large(limit));
                }
                // A body that comes in one piece is not copied.
                match (first.take(), whole.is_empty()) {
                    (None, true) => first = Some(data),
                    (None, false) => whole.extend_from_slice(&data),
                    (Some(before), _) => {
                        whole.reserve(
                            announced.clamp(before.len() + data.len(), TRUSTED.max(before.len() + data.len())),
                        );
                        whole.extend_from_slice(&before);
                        whole.extend_from_slice(&data);
                    }
                }
            }
        }
    }
    Ok(first.unwrap_or_else(|| whole.freeze()))
}

async fn decode<R: AsyncRead + Unpin>(mut reader: R, encoded: usize, limit: usize) -> Result<Bytes, Refused> {
    let bound = limit.min(encoded.saturating_mul(MAX_RATIO).max(1 << 20));
    let mut whole = BytesMut::with_capacity(encoded.saturating_mul(4).min(TRUSTED));
    loop {
        let read = reader
            .read_buf(&mut whole)
            .await
            .map_err(|why| (Refusal::BadRequest, format!("the body cannot be decoded: {why}")))?;
        if whole.len() > bound {
            return Err(if bound == limit {
                too_large(limit)
            } else {
                (Refusal::BodyTooLarge, format!("the body grows by more than {MAX_RATIO} times when decoded"))
            });
        }
        if read == 0 {
            return Ok(whole.freeze());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use http_body_util::Full;

    use super::*;

    async fn read_as(encoding: &str, body: Vec<u8>, limit: usize) -> Result<Bytes, Refused> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, encoding.parse().unwrap());
        read(&headers, Full::new(Bytes::from(body)), limit).await
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[tokio::test]
    async fn encoded_bodies_are_decoded_once() {
        let text = b"{\"model\":\"m\"}".repeat(50);
        assert_eq!(read_as("gzip", gzip(&text), 1 << 20).await.unwrap(), text);
        assert_eq!(read_as("zstd", zstd::encode_all(&*text, 3).unwrap(), 1 << 20).await.unwrap(), text);
        assert_eq!(read_as("identity", text.clone(), 1 << 20).await.unwrap(), text);
    }

    #[tokio::test]
    async fn bombs_nonsense_and_unknown_encodings_are_refused() {
        let bomb = gzip(&vec![0; 40 << 20]);
        assert_eq!(read_as("gzip", bomb, 64 << 20).await.unwrap_err().0, Refusal::BodyTooLarge);
        assert_eq!(read_as("zstd", b"nonsense".to_vec(), 1 << 20).await.unwrap_err().0, Refusal::BadRequest);
        assert_eq!(read_as("br", b"x".to_vec(), 1 << 20).await.unwrap_err().0, Refusal::WrongContentType);
        assert_eq!(read_as("identity", vec![b' '; 2000], 1000).await.unwrap_err().0, Refusal::BodyTooLarge);
    }
}
