//! Values at the edge of what a header, a body or a start may hold: answered with a sentence, never with a closed
//! connection.

use std::time::{Duration, Instant};

use headgate_tests::{
    fake::{Behaviour, Fake, Point},
    harness::{Database, Headgate, KEY, PATHS, Setup, header, program, question, signal, until},
};
use reqwest::Method;
use tokio::process::Command;

fn configuration(fake: &Fake) -> String {
    format!(
        "version: 1\nupstreams: [ {{ name: a, base_url: '{}' }} ]\ngroups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]\n\
         keys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        fake.url()
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_value_of_our_own_headers_is_understood_or_refused() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let mut wrong = Vec::new();
    let huge = "9".repeat(19);
    for (name, value) in [
        ("x-headgate-timeout", "18446744073709551615s"),
        ("x-headgate-timeout", "584554530872y"),
        ("x-headgate-timeout", "99999999999d"),
        ("x-headgate-timeout", huge.as_str()),
        ("x-headgate-timeout", "0"),
        ("x-headgate-timeout", "0s"),
        ("x-headgate-timeout", "-5s"),
        ("x-headgate-timeout", ""),
        ("x-headgate-timeout", "30"),
        ("x-headgate-fallback", ""),
        ("x-headgate-fallback", "NONE"),
        ("x-headgate-region", ""),
        ("x-headgate-region", " , "),
        ("x-headgate-explain", "yes"),
        ("x-session-key", ""),
        ("x-job-id", " "),
    ] {
        for path in PATHS {
            match headgate.ask(path, "m", true).header(name, value).send().await {
                Ok(response) if [200, 400, 403, 504].contains(&response.status().as_u16()) => {
                    assert!(header(&response, "x-headgate-request-id").is_some());
                }
                Ok(response) => wrong.push(format!("{name}: '{value}' {path}: {}", response.status())),
                Err(why) => wrong.push(format!("{name}: '{value}' {path}: {why:?}")),
            }
        }
    }
    for bytes in [&b"\xff\xfe"[..], &b"caf\xc3\xa9"[..]] {
        for name in ["x-headgate-timeout", "x-headgate-region", "x-session-key", "user-agent", "x-api-key"] {
            let value = reqwest::header::HeaderValue::from_bytes(bytes).unwrap();
            let response = headgate.ask(PATHS[0], "m", false).header(name, value).send().await;
            match response {
                Ok(response) if response.status().as_u16() < 500 => {}
                other => wrong.push(format!("{name} {bytes:?}: {other:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", headgate.log());
    assert!(!headgate.log().contains("panic"), "{}", headgate.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_cannot_name_two_models_or_hide_one() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&format!(
        "version: 1\nupstreams: [ {{ name: a, base_url: '{}', models: {{ map: {{ cheap: sent-cheap }} }} }} ]\n\
         groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]\nkeys: [ {{ name: k, group: g, secret: {KEY}, models: [cheap] }} ]\n",
        fake.url()
    ))
    .await;
    for path in PATHS {
        let words = if path == PATHS[1] { "\"input\":\"x\"" } else { "\"max_tokens\":1,\"messages\":[]" };
        for (body, served) in [
            (format!("{{\"model\":\"cheap\",{words}}}"), true),
            (format!("{{{words},\"mod\\u0065l\":\"ch\\u0065ap\"}}"), true),
            (format!("{{\"model\":\"cheap\",{words},\"model\":\"dear\"}}"), false),
            (format!("{{\"model\":\"cheap\",{words},\"mod\\u0065l\":\"dear\"}}"), false),
            (format!("{{\"mod\\u0065l\":\"dear\",{words},\"model\":\"cheap\"}}"), false),
            (format!("{{\"model\":\"dear\",{words}}}"), false),
            (format!("{{\"model\":\"cheap \",{words}}}"), false),
            (format!("{{\"model\":\"cheap\\u0000\",{words}}}"), false),
            (format!("\u{feff}{{\"model\":\"cheap\",{words}}}"), false),
        ] {
            fake.forget();
            let request = headgate.client.post(format!("{}{path}", headgate.url)).bearer_auth(KEY);
            let response = request.header("content-type", "application/json").body(body.clone()).send().await.unwrap();
            assert_eq!(response.status() == 200, served, "{path} {body} {}", response.status());
            let seen = fake.seen();
            assert_eq!(seen.len(), usize::from(served), "{path} {body}");
            if served {
                assert_eq!(seen[0].json()["model"], "sent-cheap", "{path} {body}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bomb_of_a_body_is_refused_and_costs_nothing() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let bomb = zstd::encode_all(&vec![b' '; 512 << 20][..], 1).unwrap();
    for encoding in ["zstd", "gzip", "br", "deflate", "zstd, gzip"] {
        let request = headgate.client.post(format!("{}{}", headgate.url, PATHS[0])).bearer_auth(KEY);
        let request = request.header("content-type", "application/json").header("content-encoding", encoding);
        let response = request.body(bomb.clone()).send().await.unwrap();
        let expected = match encoding {
            "zstd" => 413,
            "gzip" => 400,
            _ => 415,
        };
        assert_eq!(response.status(), expected, "{encoding}");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", headgate.pid())).unwrap();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap().trim();
    let peak: u64 = peak.split(' ').next().unwrap().parse().unwrap();
    assert!(peak < 400 << 10, "{peak} kB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_does_not_hold_up_the_stop_and_a_second_signal_ends_at_once() {
    let fake = Fake::start().await;
    let mut headgate = Headgate::start(&configuration(&fake)).await;
    // A pooled connection, and one that never said anything.
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    let address = headgate.url.strip_prefix("http://").unwrap().to_owned();
    let _silent = tokio::net::TcpStream::connect(&address).await.unwrap();
    let begin = Instant::now();
    assert_eq!(headgate.terminate().await, Some(0));
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    headgate.restart().await;
    fake.forget();
    fake.always(Behaviour { stall: Some(Point::BeforeHeaders), ..Behaviour::default() });
    let request = headgate.ask(PATHS[2], "m", false);
    let waiting = tokio::spawn(async move { request.send().await });
    fake.asked(1).await;
    let pid = headgate.pid();
    signal(pid, libc::SIGTERM);
    until("it to say that it stops", || async { headgate.log().contains("stopping") }).await;
    let begin = Instant::now();
    until("it to be gone", || async {
        signal(pid, libc::SIGTERM);
        !std::path::Path::new(&format!("/proc/{pid}/exe")).exists()
    })
    .await;
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert!(waiting.await.unwrap().is_err());
}

/// Runs `serve` to its end; gives what it said.
async fn fails(arguments: &[&str], database: &str) -> String {
    let mut command = Command::new(program());
    command.arg("serve").args(arguments).env("HEADGATE_DATABASE_URL", database);
    let output = tokio::time::timeout(Duration::from_secs(30), command.kill_on_drop(true).output()).await;
    let output = output.expect("it ends").unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_cannot_succeed_says_why_and_what_to_do() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&configuration(&fake)).await;
    let place = headgate_tests::harness::folder();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let held = headgate.data_dir();
    let held = held.to_str().unwrap();
    let busy = headgate.url.strip_prefix("http://").unwrap();
    let bad = at("bad.yaml");
    std::fs::write(&bad, "version: 1\nupstreams: [ { name: a, base_url: 'ftp://x', colour: red } ]\n").unwrap();
    let pid = headgate.pid().to_string();
    let database = Database::create().await.url();
    for (arguments, parts) in [
        (vec!["--vault", "memory", "--listen", "127.0.0.1:0", "--data-dir", held], vec![pid.as_str()]),
        (vec!["--vault", "memory", "--listen", busy, "--data-dir", &at("a")], vec![busy.rsplit(':').next().unwrap()]),
        (
            vec!["--vault", "memory", "--listen", "127.0.0.1:0", "--data-dir", &at("b"), "--apply", &bad],
            vec!["bad.yaml"],
        ),
        (
            vec!["--vault", "memory", "--listen", "127.0.0.1:0", "--data-dir", &at("c"), "--apply", "/no/such"],
            vec!["/no/such"],
        ),
        (vec!["--vault", "memory", "--listen", "127.0.0.1:0", "--data-dir", &at("d")], vec!["127.0.0.1", "database"]),
        (vec!["--vault", "file", "--listen", "127.0.0.1:0", "--data-dir", &at("e")], vec!["HEADGATE_VAULT_KEY"]),
        (vec!["--vault", "memory", "--listen", "nonsense", "--data-dir", &at("f")], vec!["--listen"]),
    ] {
        let away = arguments.contains(&at("d").as_str());
        let said = fails(&arguments, if away { "postgres://x@127.0.0.1:1/x" } else { &database }).await;
        for part in parts {
            assert!(said.to_lowercase().contains(&part.to_lowercase()), "{arguments:?}: {part}: {said}");
        }
        assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{said}");
        assert!(said.lines().count() <= 8, "{arguments:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_that_is_not_in_the_environment_is_missing_and_nothing_else_is_wrong() {
    let (fake, other) = (Fake::start().await, Fake::start().await);
    let headgate = Setup::new(&format!(
        "version: 1
upstreams:
  - {{ name: a, base_url: '{}', credentials: [ {{ env: NO_SUCH_VARIABLE }} ] }}
  - {{ name: b, base_url: '{}', credentials: [ {{ env: HERE }}, {{ env: NO_SUCH_VARIABLE }} ] }}
groups:
  - {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }}
  - {{ name: h, members: [ {{ upstream: a }} ] }}
keys: [ {{ name: k, group: g, secret: {KEY} }}, {{ name: h, group: h, secret: {KEY}-h }} ]
",
        fake.url(),
        other.url()
    ))
    .env("HERE", "sk-here")
    .start()
    .await;
    for _ in 0..5 {
        let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
        assert_eq!(header(&response, "x-headgate-upstream"), Some("b"));
        assert_eq!(other.last().header("authorization"), Some("Bearer sk-here"));
    }
    let url = format!("{}{}", headgate.url, PATHS[0]);
    let request = headgate.client.post(url).bearer_auth(format!("{KEY}-h")).json(&question(PATHS[0], "m", false));
    let response = request.send().await.unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "x-headgate-error")), (502, Some("upstream_auth")));
    assert!(fake.seen().is_empty());
    let status = headgate.admin(Method::GET, "/status", None).await;
    assert_eq!(status["vault"]["missing_credentials"], 2, "{status}");
}
