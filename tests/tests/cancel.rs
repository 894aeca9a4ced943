//! The client leaves: the upstream is let go at once, nobody's health changes, the row says so.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake, answer},
    harness::{Headgate, KEY, question},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const PATH: &str = "/v1/messages";

async fn start(fake: &Fake) -> Headgate {
    Headgate::start(&format!(
        "version: 1\nupstreams: [ {{ name: a, base_url: '{}' }} ]\ngroups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]\n\
         keys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        fake.url()
    ))
    .await
}

/// Asks for a stream on a socket of its own and reads so many bytes of body; gives the request's id.
async fn read_part(headgate: &Headgate, bytes: usize) -> (String, TcpStream) {
    let address = headgate.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = question(PATH, "m", true).to_string();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: {address}\r\nx-api-key: {KEY}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).await.unwrap();
        seen.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&seen).into_owned();
    let id = head.lines().find_map(|l| l.strip_prefix("x-headgate-request-id: ")).expect("an id").trim().to_owned();
    let mut part = vec![0; bytes];
    if tokio::time::timeout(Duration::from_secs(5), stream.read_exact(&mut part)).await.is_err() {
        panic!("the body is shorter than {bytes} bytes");
    }
    (id, stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaving_anywhere_in_a_stream_closes_the_upstream_and_hurts_nobody() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let behaviour = Behaviour { pieces: 36, ..Behaviour::default() };
    // Everything but the end comes at once, then it is silent: the client leaves somewhere before.
    fake.always(Behaviour { stall: Some(headgate_tests::fake::Point::BeforeCompletion), ..behaviour.clone() });
    let events = answer::events(answer::Kind::Claude, &question(PATH, "m", true), &behaviour);
    let mut offsets = Vec::new();
    let mut border = 0;
    for event in &events[..events.len() - 1] {
        border += event.len();
        offsets.extend([border - 1, border]);
    }
    let mut rng = StdRng::seed_from_u64(5);
    offsets.extend((0..40).map(|_| rng.random_range(1..border)));
    let mut slowest = Duration::ZERO;
    for (n, offset) in offsets.iter().enumerate() {
        // Chunk sizes stand between the bytes: what is left out at the end is no event more.
        let (id, stream) = read_part(&headgate, *offset).await;
        fake.asked(n + 1).await;
        let mut asked = fake.last();
        drop(stream);
        let left = Instant::now();
        asked.caller_left().await;
        slowest = slowest.max(left.elapsed());
        let (request, attempts) = headgate.record(&id).await;
        assert_eq!(request["outcome"], "canceled", "at {offset}: {request}");
        assert_eq!(attempts[0]["error_kind"], "client_gone", "at {offset}");
    }
    assert!(slowest < Duration::from_millis(100), "{slowest:?}");
    let health = headgate.health("a").await;
    assert_eq!(
        (&health["state"], &health["failures"], &health["in_flight"]),
        (&"closed".into(), &0.into(), &0.into()),
        "{health}"
    );
}

#[tokio::test]
async fn leaving_before_the_answer_begins_is_a_cancel_too() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    fake.always(Behaviour { delay_ms: 60_000, ..Behaviour::default() });
    let request = headgate.ask(PATH, "m", false).timeout(Duration::from_millis(300)).send().await;
    assert!(request.unwrap_err().is_timeout());
    fake.last().caller_left().await;
    headgate_tests::harness::until("the record of a canceled request", || async {
        headgate
            .database
            .count("select count(*) from headgate.requests where outcome = 'canceled' and status = 499")
            .await
            == 1
    })
    .await;
    assert_eq!(headgate.health("a").await["in_flight"], 0);
}

#[tokio::test]
async fn leaving_right_after_the_completion_event_is_a_success() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let whole: usize = answer::events(answer::Kind::Claude, &question(PATH, "m", true), &Behaviour::default())
        .iter()
        .map(String::len)
        .sum();
    let (id, stream) = read_part(&headgate, whole).await;
    drop(stream);
    let (request, _) = headgate.record(&id).await;
    assert_eq!(request["outcome"], "success", "{request}");
}
