//! The commands: a file with everything in it goes in and comes out again the same, and no secret comes with it.

use std::os::unix::fs::PermissionsExt as _;

use headgate_tests::{
    fake::Fake,
    harness::{Headgate, KEY, PATHS, Setup, folder, program, question},
};
use reqwest::Method;
use tokio::process::Command;

const SECRETS: [&str; 6] = [
    "sk-first-credential-01",
    "sk-second-credential-2",
    "vendor-header-value",
    "proxy-password",
    "hook-path",
    "hook-secret",
];

/// The interface's example, with everything that may be said.
fn everything() -> String {
    format!(
        "version: 1
settings: {{ max_attempts: 4, request_retention: 14d, first_response_timeout: 90s, adaptive_timeout: false, keep_alive: 20s,
  breaker_failures: 5, breaker_window: 2m, breaker_error_rate: 0.6, breaker_min_results: 20, breaker_open: 15s, breaker_open_max: 2m,
  breaker_recovery_successes: 3, retry_same: 1, retry_budget: 0.1, retry_after_max: 30s, affinity: false, affinity_ttl: 1h,
  affinity_max: 100, body_limit: 32MiB, event_limit: 8MiB, allowed_hosts: [gate.lan], allowed_origins: ['https://mine.example'],
  time_zone: Europe/Berlin, alert_debounce: 30s }}
upstreams:
  - name: relay-a
    base_url: https://relay-a.example
    protocol: claude
    auth: x-api-key
    credentials: [ {{ env: RELAY_A_KEY }}, {{ value: {} }}, {{ value: {} }} ]
    proxy: socks5://user:{}@127.0.0.1:1080
    allow_plain_http: false
    tags: {{ main: relay, labels: [cheap, trial] }}
    region: cn
    capabilities: [chat, stream, tools, images, documents, structured_output, reasoning]
    max_context: 200000
    limits: {{ concurrency: 8, rpm: 600, tpm: 2000000 }}
    timeouts: {{ connect: 10s, first_response: 120s, idle: 300s, non_stream: 600s }}
    models: {{ allow: ['claude-*'], map: {{ claude-sonnet-4-5: vendor-sonnet, 'x-*': 'y-*' }} }}
    headers: {{ x-vendor: {} }}
    session_header: x-vendor-session
    profile: {{ base: generic, default_max_tokens: 8192 }}
    billing: {{ kind: sub2api, credit_ratio: 1 }}
    enabled: true
  - {{ name: Übersee 北, base_url: 'http://127.0.0.1:9/v4', auth: {{ header: x-token }}, proxy: direct, enabled: false }}
groups:
  - name: coding
    strategy: balanced
    balance: {{ price: 0.25, latency: 0.30, quality: 0.30, load: 0.15 }}
    max_multiplier: 1.5
    unknown_multiplier: deny
    regions: [cn]
    require: [tools]
    strict: true
    on_saturation: wait
    wait: 10s
    queue: {{ size: 256, wait: 60s }}
    budget: {{ day: 20, month: 300, currency: USD }}
    members:
      - {{ upstream: relay-a, priority: 10, weight: 3 }}
      - {{ upstream: Übersee 北, priority: 20, enabled: true, min_input: 0, max_input: 22000 }}
    aliases:
      chat-fast:
        candidates: [ {{ upstream: relay-a, model: m-small, weight: 1 }} ]
        fallback: [ {{ upstream: Übersee 北, model: n-small }} ]
keys:
  - {{ name: laptop, group: coding, secret: {KEY}, enabled: true, expires_at: null, models: ['*'], regions: [cn], labels: [cheap],
      limits: {{ concurrency: 16, rpm: 600, tpm: 4000000 }}, budget: {{ day: 5, month: 100, total: 500, currency: USD }} }}
  - {{ name: generated, group: coding }}
monitors:
  - {{ upstream: relay-a, model: claude-haiku, interval: 5m, endpoint: auto, stream: true, message: hi, max_tokens: 16 }}
alerts:
  - {{ kind: webhook, url: 'https://hooks.example/{}', secret: {}, debounce: 60s }}
",
        SECRETS[0], SECRETS[1], SECRETS[3], SECRETS[2], SECRETS[4], SECRETS[5]
    )
}

/// Runs a command beside a gateway; success, standard output, standard error.
async fn run(headgate: &Headgate, words: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(program());
    command.args(words).arg("--data-dir").arg(headgate.data_dir()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_everything_in_it_comes_out_as_it_went_in_and_holds_no_secret() {
    let headgate = Headgate::start(&everything()).await;
    let revision = headgate.admin(Method::GET, "/status", None).await["revision"].clone();
    let (ok, export, said) = run(&headgate, &["export"]).await;
    assert!(ok, "{said}");
    for secret in SECRETS.iter().chain(&[KEY]) {
        assert!(!export.contains(secret), "{secret}: {export}");
    }
    for kept in [
        "RELAY_A_KEY",
        "***",
        "relay-a/",
        "Übersee 北",
        "chat-fast",
        "gate.lan",
        "Europe/Berlin",
        "y-*",
        "22000",
        "5m",
        "14d",
    ] {
        assert!(export.contains(kept), "{kept}: {export}");
    }
    // The exported file, the original one and the exported one as the whole truth change nothing.
    let place = folder();
    let (out, first) = (place.path().join("out.yaml"), place.path().join("first.yaml"));
    std::fs::write(&out, &export).unwrap();
    std::fs::write(&first, everything()).unwrap();
    let (out, first) = (out.to_str().unwrap(), first.to_str().unwrap());
    for words in
        [vec!["apply", out], vec!["apply", first], vec!["apply", out, "--prune"], vec!["apply", first, "--prune"]]
    {
        let (ok, told, said) = run(&headgate, &words).await;
        assert!(ok && format!("{told}{said}").contains("nothing to change"), "{words:?}: {told}{said}");
    }
    assert_eq!(headgate.admin(Method::GET, "/status", None).await["revision"], revision);
    let (_, again, _) = run(&headgate, &["export"]).await;
    assert_eq!(again, export);
    let checked = Command::new(program()).args(["check", out]).output().await.unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    // The generated key is in its file, and it works.
    let path = headgate.data_dir().join("new-keys.txt");
    let keys = std::fs::read_to_string(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let (name, secret) = keys.trim().split_once('\t').unwrap();
    assert_eq!((name, secret.len() >= 35, headgate.log().contains(secret)), ("generated", true, false));
    let models = headgate.client.get(format!("{}/v1/models", headgate.url)).bearer_auth(secret).send().await.unwrap();
    assert_eq!(models.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_applied_as_a_whole_or_not_at_all_and_every_problem_is_named_with_its_place() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&everything()).await;
    let (_, before, _) = run(&headgate, &["export"]).await;
    let place = folder();
    let file = place.path().join("bad.yaml");
    let path = file.to_str().unwrap();
    let url = fake.url();
    for (text, problems) in [
        ("version: 1\nupstreams: [ { name: new, base_url: 'https://x.example', colour: red } ]\n", vec!["colour"]),
        ("version: 2\n", vec!["version"]),
        ("version: 1\nversion: 1\n", vec!["version"]),
        ("nonsense", vec![""]),
        (
            "version: 1\nupstreams:\n  - { name: new, base_url: 'https://x.example' }\n  - { name: NEW, base_url: 'https://y.example' }\n",
            vec!["NEW"],
        ),
        (
            "version: 1\nsettings: { max_attempts: 0, breaker_open: 10ms }\nupstreams:\n  - { name: new, base_url: 'http://169.254.169.254/latest' }\n  - { name: plain, base_url: 'http://relay.example' }\n  - { name: user, base_url: 'https://u:p@relay.example' }\n",
            vec![
                "max_attempts",
                "breaker_open",
                "upstreams[new].base_url",
                "upstreams[plain].base_url",
                "upstreams[user].base_url",
            ],
        ),
        ("version: 1\ngroups: [ { name: new, members: [ { upstream: nobody } ] } ]\n", vec!["nobody"]),
        ("version: 1\nkeys: [ { name: new, group: nobody } ]\n", vec!["nobody"]),
        ("version: 1\nkeys: [ { name: new, group: coding, secret: short } ]\n", vec!["secret"]),
        (
            "version: 1\nupstreams: [ { name: new, base_url: 'https://x.example', headers: { authorization: v1, host: v2 } } ]\n",
            vec!["authorization", "host"],
        ),
        (
            "version: 1\nupstreams: [ { name: new, base_url: 'https://x.example', headers: { x-a: \"a\\r\\nb: c\" } } ]\n",
            vec!["x-a"],
        ),
        (
            "version: 1\nupstreams: [ { name: new, base_url: 'https://x.example', credentials: [ { value: \"a\\nb\" } ] } ]\n",
            vec!["credentials"],
        ),
        ("version: 1\nupstreams: [ { name: \"a\\nb\", base_url: 'https://x.example' } ]\n", vec!["name"]),
        (
            "version: 1\nupstreams: [ { name: new, base_url: 'https://x.example', session_header: 'x y' } ]\n",
            vec!["session_header"],
        ),
        (
            "version: 1\nupstreams: [ { name: new, base_url: 'https://x.example', auth: { header: host } } ]\n",
            vec!["auth"],
        ),
    ] {
        // Something good stands beside it: it must not come through.
        let text = text.replacen("upstreams: [ ", &format!("upstreams: [ {{ name: good, base_url: '{url}' }}, "), 1);
        std::fs::write(&file, &text).unwrap();
        for words in [vec!["apply", path], vec!["apply", path, "--dry-run"]] {
            let (ok, told, said) = run(&headgate, &words).await;
            let all = format!("{told}{said}");
            assert!(!ok, "{words:?}: {text}: {all}");
            for problem in &problems {
                assert!(all.contains(problem), "{problem}: {text}: {all}");
            }
            assert!(!all.contains("u:p@"), "{all}");
        }
    }
    let (_, after, _) = run(&headgate, &["export"]).await;
    assert_eq!(after, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_in_a_sealed_file_are_there_again_after_a_restart() {
    let fake = Fake::start().await;
    let text = format!(
        "version: 1\nupstreams: [ {{ name: a, base_url: '{}', credentials: [ {{ value: {} }} ] }} ]\n\
         groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]\nkeys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        fake.url(),
        SECRETS[0]
    );
    let mut headgate =
        Setup::new(&text).env("HEADGATE_VAULT_PASSPHRASE", "correct horse").env("HEADGATE_VAULT", "file").start().await;
    assert_eq!(headgate.ask(PATHS[0], "m", false).send().await.unwrap().status(), 200);
    let sealed = std::fs::read(headgate.data_dir().join("vault.sealed")).unwrap();
    assert!(!String::from_utf8_lossy(&sealed).contains(SECRETS[0]));
    // From now on the file only names what is stored.
    headgate.set_configuration(&text.replace(&format!("value: {}", SECRETS[0]), "vault: a/1"));
    assert_eq!(headgate.terminate().await, Some(0));
    headgate.restart().await;
    let response = headgate.post(PATHS[2], &question(PATHS[2], "m", true)).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(fake.last().header("x-api-key"), Some(SECRETS[0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_says_what_is_wrong_without_a_secret() {
    let place = folder();
    let run = |json: bool| {
        let mut command = Command::new(program());
        command
            .args(["doctor", "--listen", "127.0.0.1:0", "--vault", "memory", "--data-dir"])
            .arg(place.path())
            .args(["--database-url", "postgres://somebody:hunter2-secret@127.0.0.1:1/x"])
            .env("HTTPS_PROXY", "http://me:proxy-secret@127.0.0.1:3128");
        if json {
            command.arg("--json");
        }
        async move { command.output().await.unwrap() }
    };
    for json in [false, true] {
        let output = run(json).await;
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!output.status.success(), "{text}");
        assert!(text.contains("database") && text.contains("127.0.0.1:1"), "{text}");
        assert!(!text.contains("hunter2-secret") && !text.contains("proxy-secret"), "{text}");
        if json {
            let findings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(findings.as_array().unwrap().iter().any(|f| f["ok"] == false), "{findings}");
        }
    }
}
