use chrono::Duration;
use headgate_domain::{CostColumns, UpstreamId, audit::Record};
use headgate_pricing::{Currency, Entry, Rule, Table};
use headgate_store::{
    prices::{Repriced, Repricing},
    requests::Filter,
};
use rust_decimal::Decimal;

use crate::{
    records::{array, failover, noon, record},
    support,
};

fn rule(model: &str) -> Rule {
    let entry = Entry::plain(Currency::USD, Decimal::new(15, 1), Decimal::new(75, 1));
    Rule { id: 0, model: model.to_owned(), upstream: Some(UpstreamId(3)), from: noon(), entry }
}

#[tokio::test]
async fn own_prices_are_kept_and_every_change_is_told() {
    let database = support::database().await;
    let changes = async || database.price_state().await.unwrap().changes;
    let before = changes().await;
    let mut made = rule("claude-*");
    made.id = database.add_price_rule(&made).await.unwrap();
    assert_eq!(database.price_rules().await.unwrap(), [made.clone()]);
    made.upstream = None;
    made.model = "gpt-*".to_owned();
    assert!(database.change_price_rule(&made).await.unwrap());
    assert_eq!(database.price_rules().await.unwrap(), [made.clone()]);
    assert!(database.remove_price_rule(made.id).await.unwrap());
    assert_eq!(changes().await, before + 3);
    assert!(!database.remove_price_rule(made.id).await.unwrap() && !database.change_price_rule(&made).await.unwrap());
}

#[tokio::test]
async fn a_list_comes_back_as_it_was_and_one_process_fetches_at_a_time() {
    let database = support::database().await;
    assert_eq!(database.latest_price_list().await.unwrap(), None);
    let day = Duration::hours(24);
    assert!(database.claim_price_check(noon(), noon() - day).await.unwrap());
    assert!(!database.claim_price_check(noon(), noon() - day).await.unwrap());
    database.price_check_failed(noon(), "nobody answers").await.unwrap();
    let state = database.price_state().await.unwrap();
    assert_eq!((state.error.as_deref(), state.succeeded_at), (Some("nobody answers"), None));
    let table = Table::embedded();
    database.store_price_list(table, noon() + day).await.unwrap();
    assert_eq!(database.latest_price_list().await.unwrap(), Some(table.to_text()));
    let state = database.price_state().await.unwrap();
    assert_eq!((state.error, state.succeeded_at), (None, Some(noon() + day)));
}

#[tokio::test]
async fn pricing_anew_changes_attempts_and_the_sums_of_their_requests() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    let all: Vec<Record> = (0..5).map(record).chain([failover(5)]).collect();
    database.insert_records(&array(&all)).await.unwrap();
    let until = noon() + Duration::hours(1);
    let first = database.attempts_to_price(noon(), until, None, 4).await.unwrap();
    let last = first.last().unwrap();
    let after = Some((last.started_at, last.request_id, last.number));
    let rest = database.attempts_to_price(noon(), until, after, 100).await.unwrap();
    let attempts: Vec<_> = first.iter().chain(&rest).collect();
    assert_eq!(attempts.len(), 7);
    assert!(attempts.iter().all(|a| all.iter().any(|r| r.attempts.contains(a))), "read as they were stored");
    let anew = |amount: i64| CostColumns {
        cost: Some(Decimal::new(amount, 0)),
        cost_currency: Some("USD".to_owned()),
        price_version: Some("new".to_owned()),
        ..CostColumns::default()
    };
    let repriced: Vec<Repriced> = attempts
        .iter()
        .map(|a| Repriced { started_at: a.started_at, request_id: a.request_id, number: a.number, cost: anew(2) })
        .collect();
    database.reprice(&repriced).await.unwrap();
    let (request, attempts) = database.request(all[5].request.id).await.unwrap().unwrap();
    assert_eq!((request.cost.cost, request.cost.cost_complete), (Some(Decimal::from(4)), Some(true)));
    assert_eq!(attempts[1].cost, anew(2));
    let stats = database.request_stats(&Filter::default()).await.unwrap();
    assert_eq!((stats.costs[0].amount, stats.charged, stats.priced), (Decimal::from(14), 6, 6));
    let done = Repricing { at: noon(), author: "test", since: noon(), until, version: "new", attempts: 7, changed: 7 };
    database.log_repricing(&done).await.unwrap();
}

#[tokio::test]
async fn sums_by_currency_and_of_one_upstream_are_those_of_its_attempts() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    let mut all = vec![record(0), record(1), failover(2)];
    all[1].request.cost.cost_currency = Some("CNY".to_owned());
    all[1].attempts[0].cost.cost_currency = Some("CNY".to_owned());
    database.insert_records(&array(&all)).await.unwrap();
    let costs = async |filter: Filter| {
        let stats = database.request_stats(&filter).await.unwrap();
        let costs: Vec<String> = stats.costs.iter().map(|c| format!("{} {}", c.amount, c.currency)).collect();
        (costs, stats.charged, stats.priced)
    };
    let of = |upstream| Filter { upstream: Some(UpstreamId(upstream)), ..Filter::default() };
    assert_eq!(costs(Filter::default()).await, (vec!["0.002 CNY".to_owned(), "0.004 USD".to_owned()], 3, 3));
    assert_eq!(costs(of(1)).await, (vec!["0.002 CNY".to_owned(), "0.001 USD".to_owned()], 3, 2));
    assert_eq!(costs(of(2)).await, (vec!["0.003 USD".to_owned()], 1, 0));
    let spend = database.spend(noon(), noon() + Duration::days(1)).await.unwrap();
    assert_eq!((spend.costs.len(), spend.charged, spend.priced), (2, 3, 3));
}
