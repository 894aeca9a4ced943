//! PostgreSQL itself stands still or dies while requests come in. A file of its own: the cluster is shared by the
//! tests of one process.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use headgate_tests::{
    fake::Fake,
    harness::{Headgate, KEY, PATHS, header, question, signal, until},
};
use reqwest::Method;

/// Processes of the cluster: the postmaster and its children.
fn family(postmaster: i32) -> Vec<i32> {
    let mut all = vec![postmaster];
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
        if parent == Some(postmaster) {
            all.push(pid);
        }
    }
    all
}

struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<tokio::task::JoinHandle<(Vec<String>, Duration)>>,
}

/// Asks without a pause; every answer must be a success.
fn load(headgate: &Headgate, clients: usize) -> Load {
    let stop = Arc::new(AtomicBool::new(false));
    let clients = (0..clients)
        .map(|_| {
            let (url, stop, client) = (headgate.url.clone(), Arc::clone(&stop), headgate.client.clone());
            tokio::spawn(async move {
                let (mut ids, mut slowest) = (Vec::new(), Duration::ZERO);
                while !stop.load(Ordering::Relaxed) {
                    let path = PATHS[ids.len() % 3];
                    let body = question(path, "m", ids.len() % 2 == 0);
                    let begin = Instant::now();
                    let request = client.post(format!("{url}{path}")).bearer_auth(KEY).json(&body);
                    let response = request.send().await.unwrap();
                    assert_eq!(response.status(), 200);
                    ids.push(header(&response, "x-headgate-request-id").unwrap().to_owned());
                    response.bytes().await.unwrap();
                    slowest = slowest.max(begin.elapsed());
                }
                (ids, slowest)
            })
        })
        .collect();
    Load { stop, clients }
}

impl Load {
    async fn end(self) -> (HashSet<String>, Duration) {
        self.stop.store(true, Ordering::Relaxed);
        let (mut all, mut slowest) = (HashSet::new(), Duration::ZERO);
        for client in self.clients {
            let (ids, slow) = client.await.unwrap();
            all.extend(ids);
            slowest = slowest.max(slow);
        }
        (all, slowest)
    }
}

async fn shipped(headgate: &Headgate, finished: &HashSet<String>) {
    until("the journal to be shipped", || async {
        headgate.admin(Method::GET, "/status", None).await["journal"]["waiting_records"] == 0
    })
    .await;
    let rows = headgate.database.rows("select to_jsonb(id::text) from headgate.requests").await;
    let stored: Vec<&str> = rows.iter().map(|r| r.as_str().unwrap()).collect();
    let unique: HashSet<&str> = stored.iter().copied().collect();
    assert_eq!(stored.len(), unique.len());
    let lost = finished.iter().filter(|id| !unique.contains(id.as_str())).count();
    assert_eq!(lost, 0, "of {}", finished.len());
    let journal = headgate.admin(Method::GET, "/status", None).await["journal"].clone();
    assert_eq!((&journal["lost"], &journal["rejected"]), (&0.into(), &0.into()), "{journal}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_a_frozen_nor_a_killed_postgresql_is_noticed_by_any_client_and_nothing_is_lost() {
    let fake = Fake::start().await;
    let headgate = Headgate::start(&format!(
        "version: 1\nupstreams: [ {{ name: a, base_url: '{}' }} ]\ngroups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]\n\
         keys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
        fake.url()
    ))
    .await;
    let postmaster = headgate.database.postmaster();
    // Frozen: connections stay open and nobody answers on them.
    let clients = load(&headgate, 4);
    until("some traffic", || async { fake.seen().len() > 50 }).await;
    let processes = family(postmaster);
    processes.iter().for_each(|pid| signal(*pid, libc::SIGSTOP));
    let before = fake.seen().len();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let during = fake.seen().len() - before;
    // The gateway says so itself, and in time.
    let begin = Instant::now();
    let status = headgate.admin(Method::GET, "/status", None).await;
    let told = begin.elapsed();
    let (code, _) = headgate.admin_raw(Method::GET, "/requests", None).await;
    let refused = begin.elapsed();
    processes.iter().for_each(|pid| signal(*pid, libc::SIGCONT));
    let (finished, slowest) = clients.end().await;
    assert!(during > 100, "{during} requests while it was frozen");
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    assert_eq!(status["database"]["reachable"], false, "{status}");
    assert!(told < Duration::from_secs(4) && refused < Duration::from_secs(20), "{told:?} {refused:?}");
    assert!(code >= 500, "{code}");
    shipped(&headgate, &finished).await;
    // Killed: every connection breaks; it is started again.
    let clients = load(&headgate, 4);
    let seen = fake.seen().len();
    until("some traffic", || async { fake.seen().len() > seen + 50 }).await;
    family(postmaster).iter().for_each(|pid| signal(*pid, libc::SIGKILL));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (again, slowest) = clients.end().await;
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    let all: HashSet<String> = finished.union(&again).cloned().collect();
    until("PostgreSQL to be back", || async {
        headgate.admin(Method::GET, "/status", None).await["database"]["reachable"] == true
    })
    .await;
    shipped(&headgate, &all).await;
    // And the configuration can be changed again.
    let made = serde_json::json!({"name":"b","base_url":"https://b.example"});
    headgate.admin(Method::POST, "/upstreams", Some(made)).await;
}
