//! Nothing is lost: PostgreSQL frozen, the gateway killed under load, the database away at the start.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use headgate_tests::{
    fake::{Behaviour, Fake, Rule},
    harness::{Database, Headgate, KEY, PATHS, Setup, header, question, until},
};

fn configuration(a: &Fake, b: &Fake) -> String {
    format!(
        "version: 1
upstreams:
  - {{ name: a, base_url: '{}' }}
  - {{ name: b, base_url: '{}' }}
groups:
  - {{ name: g, members: [ {{ upstream: a, priority: 1 }}, {{ upstream: b, priority: 2 }} ] }}
  - {{ name: h, members: [ {{ upstream: b }} ] }}
keys:
  - {{ name: k, group: g, secret: {KEY} }}
  - {{ name: l, group: h, secret: {KEY}-l }}
",
        a.url(),
        b.url()
    )
}

/// Asks one question after the other until told to stop; gives the ids of the answers that were read to their end.
async fn ask_until(url: String, stop: Arc<AtomicBool>) -> (Vec<String>, usize) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let (mut ids, mut failed) = (Vec::new(), 0);
    let mut n = 0;
    while !stop.load(Ordering::Relaxed) {
        let path = PATHS[n % 3];
        n += 1;
        let body = question(path, "m", n % 2 == 0);
        let Ok(response) = client.post(format!("{url}{path}")).bearer_auth(KEY).json(&body).send().await else {
            failed += 1;
            continue;
        };
        let ok = response.status() == 200;
        let id = header(&response, "x-headgate-request-id").unwrap_or_default().to_owned();
        match response.bytes().await {
            Ok(_) if ok => ids.push(id),
            _ => failed += 1,
        }
    }
    (ids, failed)
}

async fn stored(database: &Database) -> Vec<String> {
    let rows = database.rows("select to_jsonb(id::text) from headgate.requests").await;
    rows.iter().map(|row| row.as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_killed_under_load_has_stored_every_finished_request_exactly_once_after_its_next_start() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let mut headgate = Headgate::start(&configuration(&a, &b)).await;
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4).map(|_| tokio::spawn(ask_until(headgate.url.clone(), Arc::clone(&stop)))).collect();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    stop.store(true, Ordering::Relaxed);
    let mut finished = HashSet::new();
    for client in clients {
        let (ids, failed) = client.await.unwrap();
        assert_eq!(failed, 0);
        finished.extend(ids);
    }
    // Finished means 50 ms ago; the database need not have it yet.
    tokio::time::sleep(Duration::from_millis(50)).await;
    headgate.kill9().await;
    assert!(finished.len() > 100, "{}", finished.len());
    headgate.restart().await;
    until("the journal to be shipped", || async {
        headgate.admin(reqwest::Method::GET, "/status", None).await["journal"]["waiting_records"] == 0
    })
    .await;
    let all = stored(&headgate.database).await;
    let unique: HashSet<String> = all.iter().cloned().collect();
    assert_eq!(all.len(), unique.len());
    let lost: Vec<_> = finished.difference(&unique).collect();
    assert!(lost.is_empty(), "{} of {} lost", lost.len(), finished.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn traffic_goes_on_while_the_database_is_locked_and_everything_is_stored_afterwards() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let headgate = Headgate::start(&configuration(&a, &b)).await;
    let mut locker = headgate.database.connect().await;
    // Every insert waits for this, as it would for a frozen server.
    sqlx::raw_sql("begin; lock table headgate.requests in access exclusive mode").execute(&mut locker).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let client = tokio::spawn(ask_until(headgate.url.clone(), Arc::clone(&stop)));
    tokio::time::sleep(Duration::from_secs(3)).await;
    stop.store(true, Ordering::Relaxed);
    let (finished, failed) = client.await.unwrap();
    assert_eq!(failed, 0);
    assert!(finished.len() > 100, "{}", finished.len());
    sqlx::raw_sql("rollback").execute(&mut locker).await.unwrap();
    until("the journal to be shipped", || async {
        headgate.admin(reqwest::Method::GET, "/status", None).await["journal"]["waiting_records"] == 0
    })
    .await;
    let all: HashSet<String> = stored(&headgate.database).await.into_iter().collect();
    assert!(finished.iter().all(|id| all.contains(id)));
    let status = headgate.admin(reqwest::Method::GET, "/status", None).await;
    assert_eq!((&status["journal"]["lost"], &status["journal"]["rejected"]), (&0.into(), &0.into()), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_attempt_is_recorded_and_every_sum_is_the_same() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let mut headgate = Headgate::start(&configuration(&a, &b)).await;
    let price = serde_json::json!({"model": "*", "rates": [
        {"part": "input", "price": "3"}, {"part": "cache_read", "price": "0.3"}, {"part": "output", "price": "15"}]});
    headgate.admin(reqwest::Method::POST, "/prices/overrides", Some(price)).await;
    a.script([Rule::model("sometimes", Behaviour::status(400)), Rule::times(2, Behaviour::status(500))]);
    let mut tasks = Vec::new();
    for worker in 0..4 {
        let (url, client) = (headgate.url.clone(), headgate.client.clone());
        tasks.push(tokio::spawn(async move {
            for n in 0..2500 {
                let path = PATHS[n % 3];
                let key = if worker == 0 { format!("{KEY}-l") } else { KEY.to_owned() };
                let model = if n % 10 == 0 { "sometimes" } else { "m" };
                let body = question(path, model, n % 4 == 0);
                let response = client.post(format!("{url}{path}")).bearer_auth(key).json(&body).send().await.unwrap();
                response.bytes().await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let made = (a.seen().len() + b.seen().len()) as i64;
    assert_eq!(headgate.terminate().await, Some(0));
    let count = |sql| headgate.database.count(sql);
    assert_eq!(count("select count(*) from headgate.requests").await, 10_000);
    assert_eq!(count("select count(*) from headgate.attempts").await, made);
    assert_eq!(count("select coalesce(sum(attempt_count), 0)::bigint from headgate.requests").await, made);
    for column in [
        "select sum(n)::bigint from (select count(*) n from headgate.requests where key_id is not null group by key_id) x",
        "select sum(n)::bigint from (select count(*) n from headgate.requests where group_id is not null group by group_id) x",
        "select sum(n)::bigint from (select count(*) n from headgate.requests where upstream_id is not null group by upstream_id) x",
        "select sum(n)::bigint from (select count(*) n from headgate.requests where model is not null group by model) x",
    ] {
        assert_eq!(count(column).await, 10_000, "{column}");
    }
    // In billionths of a dollar, so that sums are whole numbers.
    let spent = count("select (sum(cost) * 1000000000)::bigint from headgate.attempts").await;
    assert!(spent > 0);
    for column in [
        "select (sum(cost) * 1000000000)::bigint from headgate.requests",
        "select sum(n)::bigint from (select sum(cost) * 1000000000 n from headgate.requests where key_id is not null group by key_id) x",
        "select sum(n)::bigint from (select sum(cost) * 1000000000 n from headgate.requests where group_id is not null group by group_id) x",
        "select sum(n)::bigint from (select sum(cost) * 1000000000 n from headgate.requests where model is not null group by model) x",
        "select sum(n)::bigint from (select sum(cost) * 1000000000 n from headgate.attempts group by upstream_id) x",
    ] {
        assert_eq!(count(column).await, spent, "{column}");
    }
    let unpriced = "select count(*) from headgate.attempts where usage_source is not null and cost is null";
    assert_eq!(count(unpriced).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_database_the_last_configuration_serves_and_the_records_are_stored_when_it_is_back() {
    let (a, b) = (Fake::start().await, Fake::start().await);
    let database = Database::create().await;
    let mut headgate = Setup::new(&configuration(&a, &b)).start_on(database.clone()).await;
    headgate.terminate().await;
    // Away: nobody listens at the database's address.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    headgate.set_env("HEADGATE_DATABASE_URL", &database.url_at(address));
    headgate.restart().await;
    let response = headgate.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
    let (status, answer) = headgate.admin_raw(reqwest::Method::GET, "/requests", None).await;
    assert_eq!((status, &answer["error"]["code"]), (503, &"database_unavailable".into()), "{answer}");
    let _way = database.open_at(address).await;
    headgate.record(&id).await;
}
