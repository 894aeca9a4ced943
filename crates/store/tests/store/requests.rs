use headgate_domain::{ErrorSource, GroupId, KeyId, Outcome, Protocol, UpstreamId, audit::Record};
use headgate_store::{
    Database,
    requests::{Filter, Paging, StatusWord},
};

use crate::{
    records::{array, ended, failover, noon, record},
    support,
};

/// Ten requests, a second apart; the comment is their number.
fn ten() -> Vec<Record> {
    let mut all = vec![
        record(0),
        failover(1),
        ended(2, Outcome::Failed, "rate_limited.quota"),
        ended(3, Outcome::Unavailable, "unavailable"),
        ended(4, Outcome::Partial, "broken"),
        ended(5, Outcome::Canceled, "canceled"),
        ended(6, Outcome::ClientError, "invalid"),
        record(7),
        record(8),
        record(9),
    ];
    all[7].request.endpoint = "/v1/messages/count_tokens".into();
    all[8].request.group_id = None;
    all[8].request.key_id = Some(KeyId(77));
    all[8].request.protocol = Some(Protocol::Chat);
    all[8].request.client = Some("codex".into());
    all[8].request.stream = false;
    all[9].request.model = Some("x".repeat(5000));
    all[9].request.user_agent = Some("Odd 100%_Agent".into());
    all[9].request.duration_ms = 60_000;
    all
}

async fn stored(database: &Database) -> Vec<Record> {
    database.maintain_partitions(noon(), None).await.unwrap();
    let all = ten();
    database.insert_records(&array(&all)).await.unwrap();
    all
}

#[tokio::test]
async fn a_request_comes_back_as_it_was_stored() {
    let database = support::database().await;
    for record in stored(&database).await {
        let (request, attempts) = database.request(record.request.id).await.unwrap().unwrap();
        assert_eq!((request, attempts), (record.request, record.attempts));
    }
    assert!(database.request(uuid::Uuid::max()).await.unwrap().is_none());
}

#[tokio::test]
async fn every_filter_finds_what_it_names() {
    let database = support::database().await;
    let all = stored(&database).await;
    let id = all[3].request.id.to_string();
    let at = |n: usize| all[n].request.started_at;
    let f = Filter::default;
    let status = |word| Filter { status: Some(word), ..f() };
    let cases: Vec<(Filter, Vec<usize>)> = vec![
        (f(), vec![9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        (Filter { since: Some(at(2)), until: Some(at(5)), ..f() }, vec![4, 3, 2]),
        (Filter { group: Some(GroupId(1)), since: Some(at(7)), ..f() }, vec![9, 7]),
        (Filter { key: Some(KeyId(77)), ..f() }, vec![8]),
        (Filter { upstream: Some(UpstreamId(2)), ..f() }, vec![1]),
        (Filter { upstream: Some(UpstreamId(1)), until: Some(at(2)), ..f() }, vec![1, 0]),
        (Filter { upstream: Some(UpstreamId(3)), ..f() }, vec![]),
        (Filter { model: Some("model-a".into()), since: Some(at(8)), ..f() }, vec![8]),
        (Filter { protocol: Some(Protocol::Chat), ..f() }, vec![8]),
        (Filter { client: Some("codex".into()), ..f() }, vec![8]),
        (status(StatusWord::DirectSuccess), vec![9, 8, 7, 0]),
        (status(StatusWord::FailoverSuccess), vec![1]),
        (status(StatusWord::Failed), vec![3, 2]),
        (status(StatusWord::Partial), vec![4]),
        (status(StatusWord::Canceled), vec![5]),
        (status(StatusWord::ClientError), vec![6]),
        (status(StatusWord::Ok), vec![9, 8, 7, 1, 0]),
        (status(StatusWord::Fail), vec![6, 4, 3, 2]),
        (Filter { error_kind: Some("rate_limited".into()), ..f() }, vec![2]),
        (Filter { error_kind: Some("rate%".into()), ..f() }, vec![]),
        (Filter { error_source: Some(ErrorSource::Upstream), until: Some(at(4)), ..f() }, vec![3, 2]),
        (Filter { stream: Some(false), ..f() }, vec![8]),
        (Filter { retried: Some(true), ..f() }, vec![1]),
        (Filter { retried: Some(false), until: Some(at(3)), ..f() }, vec![2, 0]),
        (Filter { slow_ms: Some(60_000), ..f() }, vec![9]),
        (Filter { id: Some(id.clone()), ..f() }, vec![3]),
        (Filter { id: Some("0199".into()), since: Some(at(8)), ..f() }, vec![9, 8]),
        (Filter { text: Some(id), ..f() }, vec![3]),
        (Filter { text: Some("100%_agent".into()), ..f() }, vec![9]),
        (Filter { text: Some("100__".into()), ..f() }, vec![]),
        (Filter { text: Some("127.0.0".into()), since: Some(at(9)), ..f() }, vec![9]),
        (Filter { text: Some("'; drop table headgate.requests; --".into()), ..f() }, vec![]),
        (Filter { model: Some("\0".into()), ..f() }, vec![]),
    ];
    for (filter, expected) in cases {
        let page = database.requests(&filter, Paging::After(None), 50).await.unwrap();
        let found: Vec<usize> =
            page.items.iter().map(|item| all.iter().position(|r| r.request.id == item.request.id).unwrap()).collect();
        assert_eq!(found, expected, "{filter:?}");
        assert_eq!(page.next, None);
    }
    let odd = Filter { id: Some("zzz".into()), ..f() };
    assert!(database.requests(&odd, Paging::After(None), 50).await.unwrap_err().to_string().contains("hexadecimal"));
}

#[tokio::test]
async fn a_row_carries_its_route() {
    let database = support::database().await;
    stored(&database).await;
    let filter = Filter { retried: Some(true), ..Filter::default() };
    let page = database.requests(&filter, Paging::After(None), 50).await.unwrap();
    let route: Vec<_> = page.items[0].route.iter().map(|s| (s.number, s.upstream_name.as_str(), s.outcome)).collect();
    assert_eq!(route, [(1, "relay-1", Outcome::Failed), (2, "relay-2", Outcome::Success)]);
}

#[tokio::test]
async fn pages_join_without_gap_or_repetition_even_at_equal_times() {
    let database = support::database().await;
    let mut all: Vec<Record> = (0..23).map(record).collect();
    for (n, record) in all.iter_mut().enumerate() {
        // Three to a moment, which has microseconds.
        record.request.started_at = noon() + chrono::Duration::microseconds(i64::try_from(n / 3).unwrap());
        record.attempts.clear();
    }
    database.insert_records(&array(&all)).await.unwrap();
    let filter = Filter::default();
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = database.requests(&filter, Paging::After(cursor), 5).await.unwrap();
        assert_eq!(page.total, None);
        seen.extend(page.items.iter().map(|item| item.request.id));
        cursor = page.next.map(|c| c.to_string().parse().unwrap());
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<_> = all.iter().rev().map(|r| r.request.id).collect();
    assert_eq!(seen, expected);
    let third = database.requests(&filter, Paging::Number(3), 10).await.unwrap();
    assert_eq!((third.items.len(), third.total, third.next), (3, Some(23), None));
    assert_eq!(third.items[0].request.id, expected[20]);
}

#[tokio::test]
async fn figures_add_up_and_leave_token_counting_out() {
    let database = support::database().await;
    let nothing = database.request_stats(&Filter::default()).await.unwrap();
    assert_eq!((nothing.total, nothing.success_rate, nothing.p50_ttft_ms), (0, None, None));
    stored(&database).await;
    let stats = database.request_stats(&Filter::default()).await.unwrap();
    assert_eq!(stats.total, 9);
    let parts =
        [stats.direct_success, stats.failover_success, stats.failed, stats.partial, stats.canceled, stats.client_error];
    assert_eq!(parts, [3, 1, 2, 1, 1, 1]);
    assert_eq!((stats.retried, stats.success_rate), (1, Some(4.0 / 9.0)));
    // Times to the first output: 100, 101, 108, 109.
    assert_eq!(stats.p50_ttft_ms, Some(104.5));
    assert_eq!(stats.p50_duration_ms, Some(1004.0));
    assert!(stats.p95_duration_ms.unwrap() > 30_000.0);
    assert_eq!((stats.tokens_fresh, stats.tokens_write, stats.tokens_output), (400, 28, 40));
    let one = Filter { upstream: Some(UpstreamId(2)), ..Filter::default() };
    assert_eq!(database.request_stats(&one).await.unwrap().total, 1);
}

#[tokio::test]
async fn what_there_is_to_filter_by_is_listed() {
    let database = support::database().await;
    stored(&database).await;
    let options = database.request_options(None, None).await.unwrap();
    assert_eq!(options.models, ["model-a".to_owned(), "x".repeat(200)]);
    assert_eq!(options.clients, ["claude-code", "codex"]);
    assert_eq!(options.error_kinds, ["broken", "canceled", "invalid", "rate_limited.quota", "unavailable"]);
    let none = database.request_options(Some(noon() + chrono::Duration::days(1)), None).await.unwrap();
    assert_eq!(none, headgate_store::requests::Options::default());
}
