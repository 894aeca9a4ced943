//! Several processes on one database: an upstream that fails one of them is left alone by all.

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Database, KEY, PATHS, Setup, header, until},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_that_fails_one_process_is_open_in_the_others_and_looked_at_again_once_it_is_well() {
    let (primary, fallback) = (Fake::start().await, Fake::start().await);
    let file = format!(
        "version: 1
settings: {{ breaker_failures: 2, breaker_open: 3s, breaker_open_max: 60s, breaker_recovery_successes: 1 }}
upstreams:
  - {{ name: primary, base_url: '{}' }}
  - {{ name: fallback, base_url: '{}' }}
groups: [ {{ name: g, members: [ {{ upstream: primary, priority: 1 }}, {{ upstream: fallback, priority: 2 }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        primary.url(),
        fallback.url()
    );
    let database = Database::create().await;
    let one = Setup::new(&file).start_on(database.clone()).await;
    let two = Setup::new(&file).start_on(database).await;
    primary.always(Behaviour::status(500));
    for _ in 0..2 {
        let response = one.ask(PATHS[0], "m", false).send().await.unwrap();
        assert_eq!(header(&response, "x-headgate-upstream"), Some("fallback"));
    }
    until("the other process to hear of it", || async { two.health("primary").await["state"] == "open" }).await;
    let seen = primary.seen().len();
    let response = two.ask(PATHS[0], "m", false).send().await.unwrap();
    assert_eq!(
        (header(&response, "x-headgate-upstream"), header(&response, "x-headgate-attempts")),
        (Some("fallback"), Some("1"))
    );
    assert_eq!(primary.seen().len(), seen, "the other process did not have to find out");
    primary.behave();
    until("both to use it again", || async {
        one.health("primary").await["state"] == "closed" && two.health("primary").await["state"] == "closed"
    })
    .await;
}
