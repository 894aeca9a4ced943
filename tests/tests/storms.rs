//! Much at once: kills while it writes, changes while it serves, clients that leave by the hundred, readers that do
//! not read, upstreams that all refuse.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Headgate, KEY, PATHS, header, question, until},
};
use reqwest::Method;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

async fn start(a: &Fake, b: &Fake, settings: &str) -> Headgate {
    Headgate::start(&format!(
        "version: 1
settings: {{ {settings} }}
upstreams: [ {{ name: a, base_url: '{}' }}, {{ name: b, base_url: '{}' }} ]
groups: [ {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        a.url(),
        b.url()
    ))
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_had_ended_fifty_milliseconds_before_a_kill_in_full_flight_is_stored_exactly_once() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let mut headgate = start(&a, &b, "request_retention: 7d").await;
    let mut ended: HashMap<String, Instant> = HashMap::new();
    let mut kills = Vec::new();
    for round in 0..3u64 {
        let clients: Vec<_> = (0..6)
            .map(|n| {
                let (url, client) = (headgate.url.clone(), headgate.client.clone());
                tokio::spawn(async move {
                    let mut mine = Vec::new();
                    for turn in n.. {
                        let path = PATHS[turn % 3];
                        let body = question(path, "m", turn % 2 == 0);
                        // Until it is dead.
                        let Ok(response) =
                            client.post(format!("{url}{path}")).bearer_auth(KEY).json(&body).send().await
                        else {
                            break;
                        };
                        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
                        if response.bytes().await.is_err() {
                            break;
                        }
                        mine.push((id, Instant::now()));
                    }
                    mine
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(700 + 130 * round)).await;
        let killed = Instant::now();
        headgate.kill9().await;
        for client in clients {
            let mine = client.await.unwrap();
            assert!(!mine.is_empty());
            ended.extend(mine.into_iter().filter(|(_, at)| *at + Duration::from_millis(50) < killed));
        }
        kills.push(killed);
        headgate.restart().await;
    }
    until("the journal to be shipped", || async {
        headgate.admin(Method::GET, "/status", None).await["journal"]["waiting_records"] == 0
    })
    .await;
    let rows = headgate.database.rows("select to_jsonb(id::text) from headgate.requests").await;
    let mut stored: HashMap<&str, u32> = HashMap::new();
    for row in &rows {
        *stored.entry(row.as_str().unwrap()).or_default() += 1;
    }
    let lost = ended.keys().filter(|id| !stored.contains_key(id.as_str())).count();
    assert!(ended.len() > 300, "{}", ended.len());
    assert_eq!((lost, stored.values().filter(|n| **n > 1).count()), (0, 0), "of {}", ended.len());
    let orphans = "select count(*) from headgate.requests r where attempt_count <> \
                   (select count(*) from headgate.attempts a where a.request_id = r.id)";
    assert_eq!(headgate.database.count(orphans).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_that_changes_twenty_times_a_second_costs_no_request() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b, "").await;
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (url, client, stop) = (headgate.url.clone(), headgate.client.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut n = 0;
                while !stop.load(Ordering::Relaxed) {
                    let path = PATHS[n % 3];
                    let request = client.post(format!("{url}{path}")).bearer_auth(KEY);
                    let response = request.json(&question(path, "m", n % 2 == 0)).send().await.unwrap();
                    assert_eq!(response.status(), 200);
                    assert!(response.text().await.unwrap().contains("GATE-OK"));
                    n += 1;
                }
                n
            })
        })
        .collect();
    let list = headgate.admin(Method::GET, "/upstreams", None).await;
    let (id, mut revision) = (list["items"][0]["id"].clone(), list["items"][0]["revision"].clone());
    let begin = Instant::now();
    let mut tick = tokio::time::interval(Duration::from_millis(50));
    let mut changes = 0;
    while begin.elapsed() < Duration::from_secs(5) {
        tick.tick().await;
        // The mapping and the limits change back and forth.
        let models = if changes % 2 == 0 { serde_json::json!({"map":{"m":"n"}}) } else { serde_json::json!({}) };
        let patch = serde_json::json!({"revision":revision,"models":models,"max_context":100_000 + changes});
        let saved = headgate.admin(Method::PATCH, &format!("/upstreams/{id}"), Some(patch)).await;
        revision = saved["revision"].clone();
        changes += 1;
    }
    stop.store(true, Ordering::Relaxed);
    let mut served = 0;
    for client in clients {
        served += client.await.unwrap();
    }
    assert!(changes > 40 && served > 200, "{changes} changes, {served} requests");
    assert!(b.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_clients_that_leave_exclude_nobody_and_leave_nothing_behind() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b, "breaker_failures: 1, breaker_min_results: 1").await;
    let points =
        [Point::BeforeHeaders, Point::AfterHeaders, Point::MidEvent(1), Point::Event(3), Point::BeforeCompletion];
    let leaving = if std::env::var_os("HEADGATE_TEST_FULL").is_some() { 400 } else { 60 };
    let mut asked = 0;
    for point in points {
        a.always(Behaviour { stall: Some(point), ..Behaviour::default() });
        let clients: Vec<_> = (0..leaving)
            .map(|n| {
                let request = headgate.ask(PATHS[n % 3], "m", true);
                tokio::spawn(async move {
                    let response = request.send().await.unwrap();
                    let _ = response.bytes().await;
                })
            })
            .collect();
        asked += clients.len();
        a.asked(asked).await;
        clients.iter().for_each(tokio::task::JoinHandle::abort);
        until("the gateway to be rid of them", || async {
            headgate.admin(Method::GET, "/status", None).await["in_flight"] == 0
        })
        .await;
    }
    for mut seen in a.seen() {
        tokio::time::timeout(Duration::from_secs(5), seen.caller_left()).await.unwrap();
    }
    let health = headgate.health("a").await;
    assert_eq!(
        (&health["state"], &health["failures"], &health["in_flight"]),
        (&"closed".into(), &0.into(), &0.into()),
        "{health}"
    );
    a.behave();
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!(header(&response, "x-headgate-upstream"), Some("a"));
    assert!(b.seen().is_empty());
    until("every record to be stored", || async {
        headgate.database.count("select count(*) from headgate.requests where outcome = 'canceled'").await
            == asked as i64
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_holds_up_the_upstream_and_not_our_memory() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b, "").await;
    // About 40 MB of events.
    a.always(Behaviour { pieces: 250_000, ..Behaviour::default() });
    let address = headgate.url.strip_prefix("http://").unwrap();
    let body = question(PATHS[0], "m", true).to_string();
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {address}\r\nx-api-key: {KEY}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        PATHS[0],
        body.len()
    );
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", headgate.pid())).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap().trim().to_owned();
        line.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let mut streams = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut some = [0; 4096];
        stream.read_exact(&mut some).await.unwrap();
        streams.push((stream, some.to_vec()));
    }
    // Others are served meanwhile, and what was not read is not hoarded.
    let before = resident();
    for _ in 0..100 {
        let request = headgate.ask(PATHS[1], "other", false);
        a.script([headgate_tests::fake::Rule::model("other", Behaviour::default())]);
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    let after = resident();
    assert!(after < before + (32 << 10), "{before} kB, then {after} kB");
    // Whoever reads on gets all of it.
    let (mut stream, mut all) = streams.remove(0);
    stream.read_to_end(&mut all).await.unwrap();
    assert!(String::from_utf8_lossy(&all).contains("data: [DONE]"));
    assert!(all.len() > 30 << 20, "{}", all.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_everybody_refuses_the_upstreams_are_left_alone() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = start(&a, &b, "breaker_failures: 3").await;
    a.always(Behaviour::status(503));
    b.always(Behaviour::status(503));
    let offered = Arc::new(AtomicUsize::new(0));
    let begin = Instant::now();
    let clients: Vec<_> = (0..8)
        .map(|n| {
            let (url, client, offered) = (headgate.url.clone(), headgate.client.clone(), Arc::clone(&offered));
            tokio::spawn(async move {
                while begin.elapsed() < Duration::from_secs(4) {
                    let path = PATHS[n % 3];
                    let request = client.post(format!("{url}{path}")).bearer_auth(KEY);
                    let response = request.json(&question(path, "m", false)).send().await.unwrap();
                    assert!([503, 529].contains(&response.status().as_u16()), "{}", response.status());
                    response.bytes().await.unwrap();
                    offered.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let (offered, load) = (offered.load(Ordering::Relaxed), a.seen().len() + b.seen().len());
    assert!(offered > 500, "{offered}");
    assert!(load * 4 <= offered * 5, "{load} of {offered}");
    // They recover: within one cooldown somebody is asked again, and clients are served.
    a.behave();
    b.behave();
    let list = headgate.admin(Method::GET, "/upstreams", None).await;
    for upstream in list["items"].as_array().unwrap() {
        headgate.admin(Method::POST, &format!("/upstreams/{}/reset", upstream["id"]), None).await;
    }
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("a")));
}
