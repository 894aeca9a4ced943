//! HTTP at its edges: smuggling, odd heads, the addresses listened on.

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, question, raw},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const BODY: &str = r#"{"model":"m","messages":[]}"#;

/// How many answers came on the connection, and the first one's status.
async fn answers(headgate: &Headgate, bytes: &str) -> (usize, u16) {
    let answer = raw(&headgate.url, bytes.as_bytes()).await;
    (answer.text.matches("HTTP/1.1 ").count(), answer.status)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_a_length_and_a_coding_is_refused() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let chunked = format!("{:x}\r\n{BODY}\r\n0\r\n\r\n", BODY.len());
    let smuggled = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for order in [
        format!("content-length: {}\r\ntransfer-encoding: chunked\r\n", chunked.len()),
        format!("transfer-encoding: chunked\r\ncontent-length: {}\r\n", chunked.len()),
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n".to_owned(),
    ] {
        let (count, status) =
            answers(&headgate, &format!("{}{order}\r\n{chunked}{smuggled}", headgate.open_head())).await;
        assert!(count <= 1 && (status == 0 || status == 400), "{order}: {count} answers, {status}");
    }
    assert!(fake.seen().is_empty(), "{} requests got through", fake.seen().len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_whose_end_is_in_doubt_are_refused() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let (post, length) = (headgate.open_head(), BODY.len());
    let http10 = post.replace("HTTP/1.1", "HTTP/1.0");
    let chunked = "transfer-encoding: chunked\r\n";
    let mut wrong = Vec::new();
    for (name, bytes) in [
        ("different lengths", format!("{post}content-length: {length}\r\ncontent-length: 3\r\n\r\n{BODY}")),
        ("a list of lengths", format!("{post}content-length: {length}, 3\r\n\r\n{BODY}")),
        ("a negative length", format!("{post}content-length: -1\r\n\r\n{BODY}")),
        ("a huge length", format!("{post}content-length: 99999999999999999999999\r\n\r\n{BODY}")),
        ("a hexadecimal length", format!("{post}content-length: 0x1b\r\n\r\n{BODY}")),
        ("chunked in HTTP/1.0", format!("{http10}{chunked}\r\n{length:x}\r\n{BODY}\r\n0\r\n\r\n")),
        (
            "chunked is not last",
            format!("{post}transfer-encoding: chunked, gzip\r\n\r\n{length:x}\r\n{BODY}\r\n0\r\n\r\n"),
        ),
        (
            "chunked spelled oddly",
            format!("{post}transfer-encoding: xchunked\r\n\r\n{length:x}\r\n{BODY}\r\n0\r\n\r\n"),
        ),
        ("a negative chunk", format!("{post}{chunked}\r\n-1\r\n{BODY}\r\n0\r\n\r\n")),
        ("a huge chunk", format!("{post}{chunked}\r\nfffffffffffffffff\r\n{BODY}\r\n0\r\n\r\n")),
        ("a chunk without its end", format!("{post}{chunked}\r\n{length:x}\r\n{BODY}XX0\r\n\r\n")),
        ("a folded header", format!("{post}x-a: b\r\n c: d\r\ncontent-length: {length}\r\n\r\n{BODY}")),
        ("a header without a colon", format!("{post}x-a\r\ncontent-length: {length}\r\n\r\n{BODY}")),
        ("an empty name", format!("{post}: x\r\ncontent-length: {length}\r\n\r\n{BODY}")),
        ("a bare CR in a header", format!("{post}x-a: a\rb\r\ncontent-length: {length}\r\n\r\n{BODY}")),
        ("two hosts", format!("{post}host: evil.example\r\ncontent-length: {length}\r\n\r\n{BODY}")),
    ] {
        let (count, status) = answers(&headgate, &bytes).await;
        if count > 1 || !(status == 0 || (400..500).contains(&status)) || !fake.seen().is_empty() {
            wrong.push(format!("{name}: {count} answers, {status}, {} passed on", fake.seen().len()));
            fake.forget();
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn legal_but_rare_requests_are_served() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let (post, length) = (headgate.open_head(), BODY.len());
    let half = length / 2;
    let (first, second) = BODY.split_at(half);
    let close = "connection: close\r\n";
    for (name, bytes) in [
        (
            "chunks with extensions and a trailer",
            format!(
                "{post}{close}transfer-encoding: chunked\r\n\r\n{half:X};a=b\r\n{first}\r\n0{:x}\r\n{second}\r\n0\r\nx-t: 1\r\n\r\n",
                length - half
            ),
        ),
        ("HTTP/1.0", format!("{}content-length: {length}\r\n\r\n{BODY}", post.replace("HTTP/1.1", "HTTP/1.0"))),
        ("an absolute target", {
            let absolute = post.replace("POST /v1", &format!("POST {}/v1", headgate.url));
            format!("{absolute}{close}content-length: {length}\r\n\r\n{BODY}")
        }),
        ("empty lines before it", format!("\r\n\r\n{post}{close}content-length: {length}\r\n\r\n{BODY}")),
        ("upper-case names", format!("{post}{close}CONTENT-LENGTH: {length}\r\n\r\n{BODY}")),
    ] {
        let answer = raw(&headgate.url, bytes.as_bytes()).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        assert_eq!(fake.last().body, BODY.as_bytes(), "{name}");
    }
    // Two in one go are two answers, in order.
    fake.forget();
    let pair =
        format!("{post}content-length: {length}\r\n\r\n{BODY}{post}{close}content-length: {length}\r\n\r\n{BODY}");
    let answer = raw(&headgate.url, pair.as_bytes()).await;
    assert_eq!((answer.text.matches("HTTP/1.1 200").count(), fake.seen().len()), (2, 2), "{}", answer.text);
    // A client that waits to be told to go on.
    let mut stream = TcpStream::connect(headgate.host()).await.unwrap();
    let expect = format!("{post}{close}expect: 100-continue\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(expect.as_bytes()).await.unwrap();
    let mut buffer = vec![0; 1024];
    let n = stream.read(&mut buffer).await.unwrap();
    assert!(buffer[..n].starts_with(b"HTTP/1.1 100"), "{}", String::from_utf8_lossy(&buffer[..n]));
    stream.write_all(BODY.as_bytes()).await.unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert!(rest.starts_with("HTTP/1.1 200"), "{rest}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http2_without_tls_is_spoken_too() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let client = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
    for stream in [false, true] {
        let request = client.post(format!("{}{}", headgate.url, PATHS[2])).header("x-api-key", KEY);
        let response = request.json(&question(PATHS[2], "m", stream)).send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.version()), (200, reqwest::Version::HTTP_2));
        assert!(response.text().await.unwrap().contains("GATE-OK"));
    }
    let evil = client.get(format!("{}/healthz", headgate.url.replace("127.0.0.1", "localhost")));
    assert_eq!(evil.header("origin", "https://evil.example").send().await.unwrap().status(), 403);
    // A broken stream inside HTTP/2 does not take the connection with it.
    fake.always(Behaviour { cut: Some(headgate_tests::fake::Point::MidEvent(4)), ..Behaviour::default() });
    let request = client.post(format!("{}{}", headgate.url, PATHS[2])).header("x-api-key", KEY);
    let text = request.json(&question(PATHS[2], "m", true)).send().await.unwrap().text().await.unwrap();
    assert!(text.contains("event: error"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_is_too_large_is_told_so_in_the_clients_protocol() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let many: String = (0..150).map(|n| format!("x-{n}: 1\r\n")).collect();
    let long = format!("x-a: {}\r\n", "a".repeat(70_000));
    for (name, more) in [("many", many), ("long", long)] {
        let bytes = format!("{}{more}content-length: {}\r\n\r\n{BODY}", headgate.open_head(), BODY.len());
        let answer = raw(&headgate.url, bytes.as_bytes()).await;
        assert_eq!(answer.status, 431, "{name}: {}", answer.text);
        assert!(answer.text.contains("headers_too_large"), "{name}: {}", answer.text);
    }
    let fits: String = (0..80).map(|n| format!("x-{n}: {}\r\n", "v".repeat(500))).collect();
    let bytes =
        format!("{}{fits}connection: close\r\ncontent-length: {}\r\n\r\n{BODY}", headgate.open_head(), BODY.len());
    assert_eq!(raw(&headgate.url, bytes.as_bytes()).await.status, 200);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_listens_on_loopback_alone() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let port: u16 = headgate.host().rsplit(':').next().unwrap().parse().unwrap();
    let mut own = Vec::new();
    let sockets: std::collections::HashSet<String> = std::fs::read_dir(format!("/proc/{}/fd", headgate.pid()))
        .unwrap()
        .flatten()
        .filter_map(|fd| std::fs::read_link(fd.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned()))
        .collect();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/{}/net/{table}", headgate.pid())).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            // Listening sockets of this process only (UDP has no such state).
            if sockets.contains(words[9]) && (words[3] == "0A" || table.starts_with("udp")) {
                own.push(words[1].to_owned());
            }
        }
    }
    assert!(!own.is_empty());
    for address in &own {
        let (ip, at) = address.split_once(':').unwrap();
        assert_eq!(u16::from_str_radix(at, 16).unwrap(), port, "{own:?}");
        assert!(["0100007F", "00000000000000000000000001000000"].contains(&ip), "{own:?}");
    }
    let six = TcpStream::connect(("::1", port)).await;
    if let Ok(mut stream) = six {
        let get = format!("GET /healthz HTTP/1.1\r\nhost: [::1]:{port}\r\nconnection: close\r\n\r\n");
        stream.write_all(get.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    }
}
