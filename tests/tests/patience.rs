//! What takes as long as its limit: clients that dawdle, requests that cannot finish before the stop. In one file, so
//! that they wait beside each other.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, PATHS},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_stops_is_given_up_after_half_a_minute() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let mut stream = TcpStream::connect(headgate.host()).await.unwrap();
    stream
        .write_all(format!("{}content-length: 500\r\n\r\n{{\"model\":", headgate.open_head()).as_bytes())
        .await
        .unwrap();
    let begin = Instant::now();
    let mut all = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(40), stream.read_to_end(&mut all)).await;
    assert!(closed.is_ok());
    let text = String::from_utf8_lossy(&all);
    assert!(text.starts_with("HTTP/1.1 408") && text.contains("request_timeout"), "{text}");
    assert!(begin.elapsed() > Duration::from_secs(25));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_dawdle_over_their_request_are_cut_off_and_nobody_else_notices() {
    let fake = Fake::start().await;
    let headgate = Headgate::before(&fake).await;
    let address = headgate.host();
    let begin = Instant::now();
    // Heads that never end: one says nothing, one drips.
    let mut lazy = Vec::new();
    for n in 0..50 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        if n % 2 == 0 {
            stream.write_all(headgate.open_head().as_bytes()).await.unwrap();
        }
        lazy.push(stream);
    }
    for _ in 0..20 {
        let asked = Instant::now();
        assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
        assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    }
    for mut stream in lazy {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(15), stream.read_to_end(&mut rest)).await;
        assert!(closed.is_ok(), "a connection without a request is still open after {:?}", begin.elapsed());
    }
    assert!(begin.elapsed() > Duration::from_secs(8), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_finish_in_time_ends_with_the_gateway_and_is_told_so() {
    let fake = Fake::start().await;
    let mut headgate = Headgate::before(&fake).await;
    let mut waiting = Vec::new();
    for path in PATHS {
        for (stream, point) in
            [(false, Point::BeforeHeaders), (true, Point::BeforeHeaders), (true, Point::BeforeCompletion)]
        {
            fake.always(Behaviour { stall: Some(point), ..Behaviour::default() });
            let seen = fake.seen().len();
            let request = headgate.ask(path, "m", stream);
            waiting.push((
                path,
                stream,
                point,
                tokio::spawn(async move {
                    let response = request.send().await?;
                    let status = response.status().as_u16();
                    Ok::<_, reqwest::Error>((status, response.text().await?))
                }),
            ));
            fake.asked(seen + 1).await;
        }
    }
    assert_eq!(headgate.terminate().await, Some(0));
    let mut wrong = Vec::new();
    for (path, stream, point, task) in waiting {
        let told = |text: &str| match path {
            "/v1/messages" => text.contains("event: error"),
            "/v1/responses" => text.contains("response.failed"),
            _ => text.contains("data: {\"error\":"),
        };
        match task.await.unwrap() {
            Ok((200, text)) if point == Point::BeforeCompletion && told(&text) => {}
            Ok((503, text)) if point == Point::BeforeHeaders && text.contains("stopping") => {}
            other => wrong.push(format!("{path} stream {stream} {point:?}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let stored = headgate.database.count("select count(*) from headgate.requests").await;
    assert_eq!(stored, 9);
}
