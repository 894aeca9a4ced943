//! Upstreams whose HTTP is legal but unusual: early refusals, informational answers, bodies that end with the
//! connection, connections that are closed between two requests.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use headgate_tests::{
    fake::{Behaviour, Fake, answer},
    harness::{Headgate, KEY, PATHS, header, question},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// What is done with a connection once the head of a request is read.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Answers before the body is read, and then reads nothing more.
    EarlyAndStill,
    /// Answers before the body is read, and closes after a moment.
    EarlyAndGone,
    /// Reads the body, answers, and closes.
    Close,
    /// Reads the body, answers, keeps the connection, and closes it when the next request comes.
    CloseOnReuse,
}

/// An upstream that gives the same bytes to everybody; counts requests.
async fn upstream(answer: String, manner: Manner) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (answer, counted) = (answer.clone(), Arc::clone(&counted));
            tokio::spawn(async move {
                let mut served = 0;
                let mut seen = Vec::new();
                let mut byte = [0];
                while stream.read_exact(&mut byte).await.is_ok() {
                    seen.push(byte[0]);
                    if !seen.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    if manner == Manner::CloseOnReuse && served > 0 {
                        return;
                    }
                    counted.fetch_add(1, Ordering::Relaxed);
                    let head = String::from_utf8_lossy(&seen).to_lowercase();
                    let length =
                        head.lines().find_map(|l| l.strip_prefix("content-length: ")).unwrap().parse().unwrap();
                    if matches!(manner, Manner::Close | Manner::CloseOnReuse) {
                        let mut body = vec![0; length];
                        stream.read_exact(&mut body).await.unwrap();
                    }
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    match manner {
                        Manner::EarlyAndStill => std::future::pending::<()>().await,
                        Manner::EarlyAndGone => {
                            tokio::time::sleep(Duration::from_millis(50)).await;
                            return;
                        }
                        Manner::Close => return,
                        Manner::CloseOnReuse => {
                            served += 1;
                            seen.clear();
                        }
                    }
                }
            });
        }
    });
    (address, count)
}

async fn start(first: SocketAddr, second: &Fake) -> Headgate {
    Headgate::start(&format!(
        "version: 1
settings: {{ breaker_failures: 100, breaker_min_results: 10000 }}
upstreams: [ {{ name: a, base_url: 'http://{first}' }}, {{ name: b, base_url: '{}' }} ]
groups:
  - {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }}
  - {{ name: one, members: [ {{ upstream: a }} ] }}
keys: [ {{ name: k, group: g, secret: {KEY} }}, {{ name: one, group: one, secret: {KEY}-one }} ]
",
        second.url()
    ))
    .await
}

fn large(path: &str) -> serde_json::Value {
    let mut body = question(path, "m", false);
    body["padding"] = "x".repeat(12 << 20).into();
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_comes_before_the_body_was_read_is_understood() {
    let fake = Fake::start().await;
    for (status, manner) in [(429, Manner::EarlyAndStill), (503, Manner::EarlyAndGone), (413, Manner::EarlyAndStill)] {
        let words = r#"{"error":{"message":"too much","type":"x","code":"rate"}}"#;
        let text = format!(
            "HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{words}",
            words.len()
        );
        let (address, _) = upstream(text, manner).await;
        for path in PATHS {
            let headgate = start(address, &fake).await;
            let response = headgate.post(path, &large(path)).send().await.unwrap();
            let (_, attempts) = headgate.record_of(&response).await;
            if status == 413 {
                assert_eq!((response.status().as_u16(), attempts.len()), (413, 1), "{path}");
                assert_eq!(response.text().await.unwrap(), words);
            } else {
                assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("b")));
                if manner == Manner::EarlyAndStill {
                    assert_eq!(attempts[0]["status"], status, "{path}: {}", attempts[0]);
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn informational_answers_are_passed_over_and_a_body_may_end_with_the_connection() {
    let fake = Fake::start().await;
    for path in PATHS {
        let kind = answer::kind(path).unwrap();
        for stream in [false, true] {
            let body = question(path, "m", stream);
            let (content_type, text) = if stream {
                ("text/event-stream", answer::events(kind, &body, &Behaviour::default()).concat())
            } else {
                ("application/json", answer::document(kind, &body, &Behaviour::default()).to_string())
            };
            let early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
            let until_closed = format!("{early}HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n{text}");
            let old = format!("HTTP/1.0 200 OK\r\nContent-Type: {content_type}\r\nConnection: close\r\n\r\n{text}");
            for bytes in [until_closed, old] {
                let (address, count) = upstream(bytes, Manner::Close).await;
                let headgate = start(address, &fake).await;
                let response = headgate.ask(path, "m", stream).send().await.unwrap();
                assert_eq!(header(&response, "x-headgate-upstream"), Some("a"), "{path} {stream}");
                let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
                assert_eq!(response.text().await.unwrap(), text, "{path} {stream}");
                assert_eq!(headgate.record(&id).await.0["outcome"], "success", "{path} {stream}");
                assert_eq!(count.load(Ordering::Relaxed), 1);
            }
        }
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_connection_that_the_upstream_closes_on_reuse_costs_the_client_nothing_while_there_is_another() {
    let fake = Fake::start().await;
    let text = answer::document(answer::Kind::Chat, &question(PATHS[0], "m", false), &Behaviour::default()).to_string();
    let bytes =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    let (address, _) = upstream(bytes, Manner::CloseOnReuse).await;
    let headgate = start(address, &fake).await;
    for n in 0..6 {
        let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
        assert_eq!(response.status(), 200, "{n}");
    }
}
