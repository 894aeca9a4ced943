//! Upstreams that come and go while others depend on them: what clients notice of it, and how soon they are back.
//!
//! `HEADGATE_FAULT_LENGTH` (seconds) and `HEADGATE_FAULT_PERIOD` make the courses longer; `cargo xtask faults` plays them
//! for ten minutes each and prints the figures.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, Setup, header, until},
};
use reqwest::Method;

/// Requests a second.
const RATE: u32 = 100;

fn seconds(name: &str, default: f64) -> Duration {
    Duration::from_secs_f64(std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default))
}

/// What a client saw.
#[derive(Debug)]
struct Answer {
    sent: Instant,
    took: Duration,
    status: u16,
    upstream: String,
    attempts: u32,
    whole: bool,
}

struct World {
    top: Fake,
    headgate: Arc<Headgate>,
    _second: Fake,
}

/// Two tiers of one upstream each.
fn configuration(settings: &str, top: &Fake, second: &Fake) -> String {
    format!(
        "version: 1
settings: {{ {settings} }}
upstreams: [ {{ name: top, base_url: '{}' }}, {{ name: second, base_url: '{}' }} ]
groups: [ {{ name: g, members: [ {{ upstream: top, priority: 1 }}, {{ upstream: second, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        top.url(),
        second.url()
    )
}

async fn world(settings: &str) -> World {
    let (top, second) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&configuration(settings, &top, &second)).await;
    World { top, headgate: Arc::new(headgate), _second: second }
}

/// Sends requests at the rate until told to stop, half of them streams, whatever becomes of earlier ones.
fn load(headgate: &Arc<Headgate>, stop: &Arc<AtomicBool>) -> tokio::task::JoinHandle<Vec<Answer>> {
    let (headgate, stop) = (Arc::clone(headgate), Arc::clone(stop));
    tokio::spawn(async move {
        let mut asked = Vec::new();
        let mut tick = tokio::time::interval(Duration::from_secs(1) / RATE);
        for n in 0.. {
            tick.tick().await;
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let request = headgate.ask(PATHS[n % 3], "m", n % 2 == 0);
            asked.push(tokio::spawn(async move {
                let sent = Instant::now();
                let response = request.send().await.unwrap();
                let text = |name| header(&response, name).unwrap_or_default().to_owned();
                let (upstream, attempts) = (text("x-headgate-upstream"), text("x-headgate-attempts"));
                let status = response.status().as_u16();
                let whole = response.bytes().await.is_ok();
                let attempts = attempts.parse().unwrap_or(0);
                Answer { sent, took: sent.elapsed(), status, upstream, attempts, whole }
            }));
        }
        let mut answers = Vec::new();
        for one in asked {
            answers.push(one.await.unwrap());
        }
        answers
    })
}

/// Moments at which the breaker of `top` was seen to close.
fn closings(headgate: &Arc<Headgate>, stop: &Arc<AtomicBool>) -> tokio::task::JoinHandle<Vec<Instant>> {
    let (headgate, stop) = (Arc::clone(headgate), Arc::clone(stop));
    tokio::spawn(async move {
        let (mut closed, mut seen) = (Vec::new(), true);
        while !stop.load(Ordering::Relaxed) {
            let now = headgate.health("top").await["state"] == "closed";
            if now && !seen {
                closed.push(Instant::now());
            }
            seen = now;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        closed
    })
}

fn failures(answers: &[Answer]) -> Vec<&Answer> {
    answers.iter().filter(|a| a.status != 200 || !a.whole).collect()
}

fn share(answers: &[Answer]) -> f64 {
    answers.iter().filter(|a| a.upstream == "top").count() as f64 / answers.len() as f64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_top_upstream_that_is_killed_and_revived_costs_no_request_and_gets_the_next_one_once_it_is_well() {
    let length = seconds("HEADGATE_FAULT_LENGTH", 9.0);
    let period = seconds("HEADGATE_FAULT_PERIOD", 3.0);
    // In the long course a breaker is as patient as it is by default.
    let settings = if period > Duration::from_secs(20) { "" } else { "breaker_open: 300ms, breaker_open_max: 600ms" };
    let world = world(settings).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (load, closings) = (load(&world.headgate, &stop), closings(&world.headgate, &stop));
    let begin = Instant::now();
    let mut deaths = Vec::new();
    while begin.elapsed() < length {
        tokio::time::sleep(period / 3).await;
        deaths.push(Instant::now());
        world.top.close().await;
        tokio::time::sleep(period / 3).await;
        world.top.open().await;
        tokio::time::sleep(period / 3).await;
    }
    stop.store(true, Ordering::Relaxed);
    let (answers, closings) = (load.await.unwrap(), closings.await.unwrap());
    let failed = failures(&answers);
    assert!(failed.is_empty(), "{} of {}: {:?}", failed.len(), answers.len(), failed.first());
    assert!(closings.len() + 1 >= deaths.len(), "{} deaths, {} recoveries", deaths.len(), closings.len());
    // From its recovery to its next death every request goes there: one may have been decided before it was seen.
    let mut strayed = 0;
    for closed in &closings {
        let next = deaths.iter().find(|death| *death > closed).copied().unwrap_or_else(Instant::now);
        let between = answers.iter().filter(|a| a.sent > *closed && a.sent + a.took < next);
        strayed += between.filter(|a| a.upstream != "top").count();
    }
    assert_eq!(strayed, 0, "requests that went elsewhere after a recovery");
    let slowest = answers.iter().map(|a| a.took).max().unwrap_or_default();
    println!(
        "killed: {} requests, {} deaths, {} recoveries, 0 failures, {:.1} % at the top, {} after failover, slowest {slowest:?}",
        answers.len(),
        deaths.len(),
        closings.len(),
        share(&answers) * 100.0,
        answers.iter().filter(|a| a.attempts > 1).count(),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_top_upstream_that_flaps_costs_no_request() {
    let length = seconds("HEADGATE_FAULT_LENGTH", 6.0);
    let half = seconds("HEADGATE_FAULT_PERIOD", 1.0).min(Duration::from_secs(10)) / 2;
    let settings = if half > Duration::from_secs(2) { "" } else { "breaker_open: 200ms, breaker_open_max: 2s" };
    let world = world(settings).await;
    let stop = Arc::new(AtomicBool::new(false));
    let load = load(&world.headgate, &stop);
    let begin = Instant::now();
    let mut flips = 0;
    while begin.elapsed() < length {
        tokio::time::sleep(half).await;
        world.top.always(Behaviour::status(500));
        tokio::time::sleep(half).await;
        world.top.behave();
        flips += 1;
    }
    stop.store(true, Ordering::Relaxed);
    let answers = load.await.unwrap();
    let failed = failures(&answers);
    assert!(failed.is_empty(), "{} of {}: {:?}", failed.len(), answers.len(), failed.first());
    let overview = world.headgate.admin(Method::GET, "/overview", None).await;
    let turns = overview["incidents"].as_array().unwrap();
    let opened = turns.iter().filter(|turn| turn["kind"] == "opened").count();
    assert!((1..=flips + 1).contains(&opened), "{opened} openings in {flips} flips");
    println!(
        "flapping: {} requests, {flips} flips, breaker opened {opened} times, 0 failures, {:.1} % at the top, {} after failover",
        answers.len(),
        share(&answers) * 100.0,
        answers.iter().filter(|a| a.attempts > 1).count(),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cooldown_goes_on_where_it_was_after_a_restart() {
    let (top, second) = (Fake::start().await, Fake::start().await);
    let mut headgate =
        Headgate::start(&configuration("breaker_failures: 1, breaker_open: 20s, breaker_open_max: 20s", &top, &second))
            .await;
    top.always(Behaviour::status(500));
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    let before = headgate.health("top").await["open_ms"].as_u64().unwrap();
    assert_eq!(headgate.terminate().await, Some(0));
    headgate.restart().await;
    let after = headgate.health("top").await;
    let left = after["open_ms"].as_u64().unwrap();
    assert!(left < before && left > 5_000, "{before} ms before, {left} ms after");
    let asked = top.seen().len();
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!(header(&response, "x-headgate-upstream"), Some("second"));
    assert_eq!(top.seen().len(), asked, "it is left alone");
}

/// The library that lets a program see another time of day; its own clock for spans of time stays.
fn clock_that_jumps(control: &std::path::Path) -> [(&'static str, String); 4] {
    let mut found = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .map(|arch| std::path::PathBuf::from(format!("/usr/lib/{arch}/faketime/libfaketimeMT.so.1")))
        .into_iter();
    let library = found.find(|path| path.exists()).expect("libfaketime (cargo xtask test installs it)");
    [
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", control.display().to_string()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_by_an_hour_leaves_nothing_stuck_and_loses_nothing() {
    let folder = headgate_tests::harness::folder();
    let control = folder.path().join("clock");
    std::fs::write(&control, "+0").unwrap();
    let (top, second) = (Fake::start().await, Fake::start().await);
    let mut setup =
        Setup::new(&configuration("breaker_failures: 1, breaker_open: 1s, breaker_open_max: 1s", &top, &second));
    for (name, value) in clock_that_jumps(&control) {
        setup = setup.env(name, &value);
    }
    let headgate = setup.start().await;
    let mut asked = 0;
    for (round, offset) in ["+3600", "-3600", "+90000", "+0"].into_iter().enumerate() {
        top.always(Behaviour::status(500));
        let response = headgate.ask(PATHS[round % 3], "m", true).send().await.unwrap();
        assert_eq!(header(&response, "x-headgate-upstream"), Some("second"), "{offset}");
        response.bytes().await.unwrap();
        std::fs::write(&control, offset).unwrap();
        top.behave();
        let begin = Instant::now();
        until("the breaker to close", || async { headgate.health("top").await["state"] == "closed" }).await;
        assert!(begin.elapsed() < Duration::from_secs(8), "{offset}: {:?}", begin.elapsed());
        for path in PATHS {
            let response = headgate.ask(path, "m", false).send().await.unwrap();
            assert_eq!((response.status().as_u16(), header(&response, "x-headgate-upstream")), (200, Some("top")));
        }
        asked += 4;
    }
    until("every record to be stored", || async {
        headgate.database.count("select count(*) from headgate.requests where outcome = 'success'").await == asked
    })
    .await;
    let ahead = "select count(*) from headgate.requests where started_at > now() + interval '50 minutes'";
    assert_eq!(headgate.database.count(ahead).await, 8, "the gateway did see another time of day");
    let status = headgate.admin(Method::GET, "/status", None).await;
    assert_eq!(status["journal"]["lost"], 0, "{status}");
}
