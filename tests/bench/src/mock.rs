//! The upstream: answers at once or after a fixed time, and stamps every event with the time it was sent.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, Result, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::{clock, http::Head, stamp};

/// Flags.
#[derive(clap::Args)]
pub struct Args {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Microseconds between the request's end and the answer's beginning
    #[arg(long, default_value_t = 0)]
    service_time: u64,
    /// End when standard input is closed
    #[arg(long)]
    until_stdin_closes: bool,
}

/// Events of a stream, as the suite asks for them.
pub const EVENTS: u64 = 20;
/// Microseconds between two of them.
pub const INTERVAL: u64 = 10_000;

const ANSWER: &str = r#"{"id":"chatcmpl-bench0000000000000000000000","object":"chat.completion","created":1700000000,"model":"bench-1","choices":[{"index":0,"message":{"role":"assistant","content":"The quick brown fox jumps over the lazy dog, as it has done a thousand times before."},"finish_reason":"stop"}],"usage":{"prompt_tokens":250,"completion_tokens":21,"total_tokens":271},"system_fingerprint":"fp_bench"}"#;
/// The same in the other protocol.
const MESSAGE: &str = r#"{"id":"msg_bench000000000000000000000000","type":"message","role":"assistant","model":"bench-1","content":[{"type":"text","text":"The quick brown fox jumps over the lazy dog, as it has done a thousand times before."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":250,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":21}}"#;
const EVENTS_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const LAST: &str = concat!(
    r#"data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"bench-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":250,"completion_tokens":21,"total_tokens":271}}"#,
    "\n\ndata: [DONE]\n\n"
);

/// Serves until standard input is closed, or for ever.
pub async fn run(args: Args) -> Result<()> {
    let listener = TcpListener::bind(args.listen).await?;
    println!("ready on {}", listener.local_addr()?);
    let service_time = Duration::from_micros(args.service_time);
    tokio::select! {
        served = serve(listener, service_time) => served,
        () = input_closed(), if args.until_stdin_closes => Ok(()),
    }
}

/// Returns when standard input is closed. A thread of its own waits for that: the runtime's would keep it from ending.
pub async fn input_closed() {
    let (closed, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // An error is an end, too.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = closed.send(());
    });
    let _ = told.await;
}

async fn serve(listener: TcpListener, service_time: Duration) -> Result<()> {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // A client that leaves ends its connection with an error: nothing to tell.
        connections.spawn_local(async move { drop(connection(stream, service_time).await) });
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(mut stream: TcpStream, service_time: Duration) -> Result<()> {
    let mut received = Vec::with_capacity(16 * 1024);
    let whole = |body: &str| {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let (answer, message) = (whole(ANSWER), whole(MESSAGE));
    loop {
        let (head, body) = loop {
            if let Some(found) = Head::read(&received)? {
                break found;
            }
            if stream.read_buf(&mut received).await? == 0 {
                return Ok(());
            }
        };
        if head.chunked {
            bail!("chunked requests are not read");
        }
        let end = body + head.length;
        received.reserve(end.saturating_sub(received.len()));
        while received.len() < end {
            if stream.read_buf(&mut received).await? == 0 {
                return Ok(());
            }
        }
        let wanted = stream_wanted(&head.first, received.get(body..end).unwrap_or_default());
        received.drain(..end);
        if !service_time.is_zero() {
            tokio::time::sleep(service_time).await;
        }
        if !head.first.starts_with("POST ") {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await?;
        } else if let Some((count, interval)) = wanted {
            events(&mut stream, count, interval).await?;
        } else {
            let answer = if head.first.starts_with("POST /v1/messages") { &message } else { &answer };
            stream.write_all(answer.as_bytes()).await?;
        }
    }
}

/// Events of a stream, and the time between two of them. The request line says them; gateways that do not pass on a
/// query get the usual ones for a body that asks for a stream. (Larger bodies never do, and need not be searched.)
fn stream_wanted(line: &str, body: &[u8]) -> Option<(u64, Duration)> {
    if let Some(count) = parameter(line, "events=") {
        return Some((count, Duration::from_micros(parameter(line, "interval=").unwrap_or(0))));
    }
    let says = |text: &[u8]| memchr::memmem::find(body, text).is_some();
    let wanted = body.len() <= 64 * 1024 && (says(b"\"stream\":true") || says(b"\"stream\": true"));
    wanted.then_some((EVENTS, Duration::from_micros(INTERVAL)))
}

fn parameter(line: &str, name: &str) -> Option<u64> {
    let (_, value) = line.split_once(name)?;
    let digits = value.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

async fn events(stream: &mut TcpStream, count: u64, interval: Duration) -> Result<()> {
    let mut due = clock::now();
    for number in 0..count {
        if number > 0 && !interval.is_zero() {
            due += u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
            tokio::time::sleep(Duration::from_nanos(due.saturating_sub(clock::now()))).await;
        }
        let mut bytes = String::with_capacity(512);
        if number == 0 {
            bytes.push_str(EVENTS_HEAD);
        }
        let event = format!(
            r#"data: {{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"bench-1","choices":[{{"index":0,"delta":{{"content":"{} "}},"finish_reason":null}}]}}"#,
            stamp::write(clock::now())
        );
        bytes.push_str(&format!("{:x}\r\n{event}\n\n\r\n", event.len() + 2));
        stream.write_all(bytes.as_bytes()).await?;
    }
    let head = if count == 0 { EVENTS_HEAD } else { "" };
    stream.write_all(format!("{head}{:x}\r\n{LAST}\r\n0\r\n\r\n", LAST.len()).as_bytes()).await.context("the end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_from_the_request_line() {
        let line = "POST /v1/chat/completions?events=40&interval=5000 HTTP/1.1";
        assert_eq!(parameter(line, "events="), Some(40));
        assert_eq!(parameter(line, "interval="), Some(5000));
        assert_eq!(parameter("POST /v1/chat/completions HTTP/1.1", "events="), None);
    }

    #[test]
    fn a_stream_is_asked_for_in_the_request_line_or_the_body() {
        let usual = Some((EVENTS, Duration::from_micros(INTERVAL)));
        let line = "POST /v1/chat/completions HTTP/1.1";
        assert_eq!(stream_wanted(line, br#"{"model":"m","stream":true}"#), usual);
        assert_eq!(stream_wanted(line, br#"{"stream": true, "model": "m"}"#), usual);
        assert_eq!(stream_wanted(line, br#"{"model":"m","stream":false}"#), None);
        let line = "POST /v1/chat/completions?events=3&interval=5 HTTP/1.1";
        assert_eq!(stream_wanted(line, br#"{"stream":true}"#), Some((3, Duration::from_micros(5))));
    }
}
