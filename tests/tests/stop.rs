//! Stopping in good order with streams open.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, PATHS, signal, until},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_open_streams_finish_and_then_it_exits_with_success() {
    let fake = Fake::start().await;
    let mut headgate = Headgate::before(&fake).await;
    // About two seconds each.
    fake.always(Behaviour { pieces: 40, gap_ms: 50, ..Behaviour::default() });
    let open = Arc::new(AtomicUsize::new(0));
    let streams: Vec<_> = (0..100)
        .map(|n| {
            let (request, open) = (headgate.ask(PATHS[n % 3], "m", true), Arc::clone(&open));
            tokio::spawn(async move {
                let response = request.send().await.unwrap();
                assert_eq!(response.status(), 200);
                open.fetch_add(1, Ordering::Relaxed);
                response.text().await.unwrap()
            })
        })
        .collect();
    until("a hundred streams to be open", || async { open.load(Ordering::Relaxed) == 100 }).await;
    let url = headgate.url.clone();
    assert_eq!(headgate.terminate().await, Some(0));
    for stream in streams {
        let text = stream.await.unwrap();
        let whole = ["[DONE]", "response.completed", "message_stop"].iter().any(|end| text.contains(end));
        let told = ["data: {\"error\":", "response.failed", "event: error"].iter().any(|end| text.contains(end));
        assert!(whole || told, "{text}");
    }
    assert!(headgate.client.get(format!("{url}/healthz")).send().await.is_err());
    let stored =
        headgate.database.count("select count(*) from headgate.requests where outcome in ('success', 'partial')").await;
    assert_eq!(stored, 100);
    assert!(!headgate.data_dir().join("instance.json").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_outlives_the_deadline_is_ended_with_its_protocols_own_error_event() {
    let fake = Fake::start().await;
    let mut headgate = Headgate::before(&fake).await;
    // Never silent, and not done for minutes.
    fake.always(Behaviour { pieces: 1000, gap_ms: 300, ..Behaviour::default() });
    let open = Arc::new(AtomicUsize::new(0));
    let streams: Vec<_> = PATHS
        .iter()
        .map(|path| {
            let (request, open) = (headgate.ask(path, "m", true), Arc::clone(&open));
            tokio::spawn(async move {
                let response = request.send().await.unwrap();
                open.fetch_add(1, Ordering::Relaxed);
                response.text().await.unwrap()
            })
        })
        .collect();
    until("the streams to be open", || async { open.load(Ordering::Relaxed) == 3 }).await;
    let begin = std::time::Instant::now();
    assert_eq!(headgate.terminate().await, Some(0));
    assert!(begin.elapsed() > std::time::Duration::from_secs(15));
    let ends = ["data: {\"error\":", "event: response.failed", "event: error"];
    for (stream, end) in streams.into_iter().zip(ends) {
        let text = stream.await.unwrap();
        let last = text.trim_end().rsplit("\n\n").find(|event| !event.contains("[DONE]")).unwrap_or_default();
        assert!(last.contains(end) && text.contains("is stopping"), "{end}: {last}");
    }
    let stored = headgate.database.count("select count(*) from headgate.requests where outcome = 'partial'").await;
    assert_eq!(stored, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_right_after_the_first_ends_it_at_once() {
    let fake = Fake::start().await;
    let mut headgate = Headgate::before(&fake).await;
    fake.always(Behaviour { stall: Some(Point::BeforeHeaders), ..Behaviour::default() });
    let waiting = tokio::spawn(headgate.ask(PATHS[0], "m", false).send());
    fake.asked(1).await;
    let pid = headgate.pid();
    signal(pid, libc::SIGINT);
    assert_eq!(headgate.terminate().await, Some(130));
    assert!(waiting.await.unwrap().is_err());
}
