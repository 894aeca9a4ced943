//! One connection of the fake upstream: HTTP/1.1 by hand, so that every byte is ours.

use std::{io::Write as _, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, tcp::OwnedReadHalf, tcp::OwnedWriteHalf},
    sync::watch,
};

use super::{Behaviour, Point, Seen, State, answer, script};

/// Small on the wire, a thousand times as large when decoded; made once, since making it takes time.
static BOMB: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| gzip(&vec![b' '; 8 << 20]));

/// What comes after the answer.
enum After {
    Next,
    Close,
}

struct Reader {
    half: OwnedReadHalf,
    buffer: Vec<u8>,
}

impl Reader {
    async fn more(&mut self) -> Option<()> {
        let mut chunk = [0; 4 * 1024];
        match self.half.read(&mut chunk).await {
            Ok(0) | Err(_) => None,
            Ok(n) => {
                self.buffer.extend_from_slice(&chunk[..n]);
                Some(())
            }
        }
    }

    async fn request(&mut self) -> Option<(Seen, watch::Sender<bool>)> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
            // TLS is not spoken here.
            if self.buffer.first().is_some_and(|b| !b.is_ascii_alphabetic()) {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..end);
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?.to_owned(), first.next()?);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let length: usize = headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, v)| v.parse().ok())
            .unwrap_or(0);
        while self.buffer.len() < length {
            self.more().await?;
        }
        let body = self.buffer.drain(..length).collect();
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (target.to_owned(), None),
        };
        let (leave, left) = watch::channel(false);
        Some((Seen { method, path, query, headers, body, left }, leave))
    }

    /// Waits until the caller closes; bytes of a next request are kept.
    async fn closed(&mut self) {
        while self.more().await.is_some() {}
    }
}

pub(super) async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) {
    let _ = stream.set_nodelay(true);
    std::sync::LazyLock::force(&BOMB);
    let (half, mut write) = stream.into_split();
    let mut reader = Reader { half, buffer: Vec::new() };
    while let Some((seen, leave)) = reader.request().await {
        let behaviour = {
            let mut state = state.lock();
            let body = seen.json();
            let model = body["model"].as_str().unwrap_or_default().to_owned();
            let key = seen
                .header("authorization")
                .and_then(|v| v.strip_prefix("Bearer "))
                .or_else(|| seen.header("x-api-key"))
                .unwrap_or_default()
                .to_owned();
            if !seen.path.starts_with("/__") {
                state.seen.push(seen.clone());
            }
            script::take(&mut state.rules, &seen.path, &model, &key, &seen.body)
        };
        let answered = tokio::select! {
            after = respond(&mut write, &seen, &behaviour, &state) => after,
            () = reader.closed() => {
                let _ = leave.send(true);
                return;
            }
        };
        if let After::Close = answered {
            if behaviour.reset
                && let Ok(stream) = reader.half.reunite(write)
            {
                reset(&stream);
            }
            return;
        }
    }
}

/// Closing this stream sends RST instead of FIN.
fn reset(stream: &TcpStream) {
    #[expect(deprecated, reason = "zero does not block, it resets")]
    let _ = stream.set_linger(Some(Duration::ZERO));
}

async fn respond(write: &mut OwnedWriteHalf, seen: &Seen, b: &Behaviour, state: &Mutex<State>) -> After {
    if seen.path == "/__script" {
        let rules = serde_json::from_slice(&seen.body);
        let ok = rules.map(|rules| state.lock().rules = rules).is_ok();
        return whole(write, if ok { 200 } else { 400 }, "application/json", &[], b"{}").await;
    }
    tokio::time::sleep(Duration::from_millis(b.delay_ms)).await;
    match (b.cut, b.stall) {
        (Some(Point::BeforeHeaders), _) => return After::Close,
        (_, Some(Point::BeforeHeaders)) => std::future::pending().await,
        _ => {}
    }
    let body = seen.json();
    let Some(kind) = answer::kind(&seen.path) else { return other(write, seen, b, state).await };
    let status = b.status.unwrap_or(200);
    let stream = body["stream"] == true && b.body.is_none() && !b.bomb && status < 300;
    if stream {
        return events(write, kind, &body, b).await;
    }
    let mut bytes = match &b.body {
        Some(body) => body.clone().into_bytes(),
        None if status >= 300 => answer::error(kind, status).to_string().into_bytes(),
        None => answer::document(kind, &body, b).to_string().into_bytes(),
    };
    let mut headers = b.headers.clone();
    if b.invalid_utf8 {
        let at = bytes.windows(4).position(|w| w == b"GATE").unwrap_or(0);
        bytes[at] = 0xff;
    }
    if b.gzip || b.bomb {
        bytes = if b.bomb { BOMB.clone() } else { gzip(&bytes) };
        headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
    }
    let content_type = b.content_type.as_deref().unwrap_or("application/json");
    let cut = match (b.cut, b.stall) {
        (Some(point), _) => Some((point, true)),
        (None, Some(point)) => Some((point, false)),
        (None, None) => None,
    };
    let Some((point, close)) = cut else {
        return whole_slowly(write, status, content_type, &headers, &bytes, b.chunk).await;
    };
    let part = if point == Point::AfterHeaders { 0 } else { bytes.len() / 2 };
    let head = head(status, content_type, &headers, Some(bytes.len()));
    let _ = write.write_all(head.as_bytes()).await;
    let _ = write.write_all(&bytes[..part]).await;
    let _ = write.flush().await;
    if close { After::Close } else { std::future::pending().await }
}

/// `/v1/models`, `count_tokens`, and what does not exist.
async fn other(write: &mut OwnedWriteHalf, seen: &Seen, b: &Behaviour, state: &Mutex<State>) -> After {
    let (status, value) = if seen.path.ends_with("/models") {
        let models = state.lock().models.clone();
        (
            200,
            json!({"object":"list","data":models.iter().map(|id| json!({"id":id,"object":"model"})).collect::<Vec<Value>>()}),
        )
    } else if seen.path.ends_with("/messages/count_tokens") {
        (200, json!({"input_tokens":42}))
    } else {
        (404, json!({"error":{"message":"no such route","type":"invalid_request_error"}}))
    };
    let body = b.body.clone().unwrap_or_else(|| value.to_string());
    whole(write, b.status.unwrap_or(status), "application/json", &b.headers, body.as_bytes()).await
}

fn head(status: u16, content_type: &str, headers: &[(String, String)], length: Option<usize>) -> String {
    let mut head = format!("HTTP/1.1 {status} Status\r\ncontent-type: {content_type}\r\nx-request-id: req_fake\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match length {
        Some(length) => head.push_str(&format!("content-length: {length}\r\n\r\n")),
        None => head.push_str("transfer-encoding: chunked\r\n\r\n"),
    }
    head
}

async fn whole(
    write: &mut OwnedWriteHalf,
    status: u16,
    content_type: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> After {
    whole_slowly(write, status, content_type, headers, body, None).await
}

async fn whole_slowly(
    write: &mut OwnedWriteHalf,
    status: u16,
    content_type: &str,
    headers: &[(String, String)],
    body: &[u8],
    chunk: Option<usize>,
) -> After {
    let head = head(status, content_type, headers, Some(body.len()));
    if write.write_all(head.as_bytes()).await.is_err() {
        return After::Close;
    }
    for part in body.chunks(chunk.unwrap_or(usize::MAX).max(1)) {
        if write.write_all(part).await.is_err() {
            return After::Close;
        }
        if chunk.is_some() {
            tokio::task::yield_now().await;
        }
    }
    After::Next
}

async fn piece(write: &mut OwnedWriteHalf, bytes: &[u8], chunk: Option<usize>) -> bool {
    for part in bytes.chunks(chunk.unwrap_or(usize::MAX).max(1)) {
        let mut framed = format!("{:x}\r\n", part.len()).into_bytes();
        framed.extend_from_slice(part);
        framed.extend_from_slice(b"\r\n");
        if write.write_all(&framed).await.is_err() {
            return false;
        }
        if chunk.is_some() {
            tokio::task::yield_now().await;
        }
    }
    true
}

/// A stream, with the faults that happen inside one.
async fn events(write: &mut OwnedWriteHalf, kind: answer::Kind, body: &Value, b: &Behaviour) -> After {
    let content_type = b.content_type.as_deref().unwrap_or("text/event-stream");
    let mut headers = b.headers.clone();
    if b.gzip {
        headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
    }
    let _ = write.write_all(head(b.status.unwrap_or(200), content_type, &headers, None).as_bytes()).await;
    let events = answer::events(kind, body, b);
    if b.gzip {
        let _ = piece(write, &gzip(events.concat().as_bytes()), b.chunk).await;
        let _ = write.write_all(b"0\r\n\r\n").await;
        return After::Next;
    }
    let completion = if kind == answer::Kind::Chat { events.len() - 2 } else { events.len() - 1 };
    let here = |point: Option<Point>, at: usize| match point {
        Some(Point::AfterHeaders) => at == 0,
        Some(Point::Event(n)) => at == n,
        Some(Point::BeforeCompletion) => at == completion,
        _ => false,
    };
    if b.first_event_ms > 0 {
        let _ = write.flush().await;
        tokio::time::sleep(Duration::from_millis(b.first_event_ms)).await;
    }
    for (at, event) in events.iter().enumerate() {
        if here(b.cut, at) {
            return After::Close;
        }
        if here(b.stall, at) {
            std::future::pending::<()>().await;
        }
        if here(b.error_event, at) {
            let _ = piece(write, answer::error_event(kind).as_bytes(), b.chunk).await;
            let _ = write.write_all(b"0\r\n\r\n").await;
            return After::Next;
        }
        let mut bytes = event.clone().into_bytes();
        if b.invalid_utf8
            && let Some(at) = bytes.windows(4).position(|w| w == b"GATE")
        {
            bytes[at] = 0xff;
        }
        let half = bytes.len() / 2;
        if b.cut == Some(Point::MidEvent(at)) {
            let _ = piece(write, &bytes[..half], None).await;
            return After::Close;
        }
        if b.stall == Some(Point::MidEvent(at)) {
            let _ = piece(write, &bytes[..half], None).await;
            std::future::pending::<()>().await;
        }
        if at > 0 && b.gap_ms > 0 {
            tokio::time::sleep(Duration::from_millis(b.gap_ms)).await;
        }
        if !piece(write, &bytes, b.chunk).await {
            return After::Close;
        }
    }
    if b.cut == Some(Point::AfterCompletion) {
        return After::Close;
    }
    if b.stall == Some(Point::AfterCompletion) {
        std::future::pending::<()>().await;
    }
    let _ = write.write_all(b"0\r\n\r\n").await;
    After::Next
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
