use chrono::{DateTime, Duration, Utc};
use headgate_domain::{
    CostColumns, GroupId, KeyId, Outcome, UpstreamId, UsageSource,
    audit::{Record, UsageColumns},
};
use headgate_store::{
    Database,
    prices::Repriced,
    requests::{Filter, Stats, StatusWord, TokensWord, Unnamed},
};
use rust_decimal::Decimal;

use crate::{
    records::{array, attempt, noon, record},
    support,
};

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn id(&mut self, end: u64) -> i64 {
        i64::try_from(self.below(end)).unwrap() + 1
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()].clone()
    }
}

/// A request of some time within three hours, with one to three attempts in one or two currencies.
fn random(n: i64, dice: &mut Dice) -> Record {
    let mut record = record(n);
    let at = noon() + Duration::milliseconds(dice.id(3 * 3_600_000));
    let request = &mut record.request;
    (request.started_at, request.completed_at) = (at, at + Duration::seconds(1));
    request.group_id = dice.pick(&[None, Some(GroupId(1)), Some(GroupId(2))]);
    let key = Some(KeyId(dice.id(3)));
    request.key_id = dice.pick(&[key, key, key, None]);
    request.model = dice.pick(&[None, Some("model-a".into()), Some("model-b".into())]);
    request.stream = dice.below(2) == 0;
    request.outcome = dice.pick(&[
        Outcome::Success,
        Outcome::Success,
        Outcome::Failed,
        Outcome::Partial,
        Outcome::Canceled,
        Outcome::ClientError,
        Outcome::Unavailable,
    ]);
    let ttft = dice.id(5_000);
    request.ttft_ms = dice.pick(&[None, Some(ttft)]);
    request.duration_ms = dice.id(60_000);
    if dice.below(20) == 0 {
        request.endpoint = "/v1/messages/count_tokens".into();
    }
    let count = i32::try_from(dice.id(3)).unwrap();
    request.attempt_count = count;
    let currencies = dice.pick(&[["USD", "USD"], ["CNY", "CNY"], ["USD", "CNY"]]);
    record.attempts = (1..=count)
        .map(|number| {
            let mut one = attempt(&record.request, number, dice.id(3), record.request.outcome);
            let cost = Decimal::new(dice.id(1_000_000), 9);
            one.cost = CostColumns {
                cost: dice.pick(&[None, Some(cost)]),
                cost_gaps: dice.pick(&[None, Some(vec!["no_price.cache_read".into()])]),
                ..CostColumns::default()
            };
            one.cost.cost_currency = one.cost.cost.map(|_| dice.pick(&currencies).into());
            one.usage.usage_source = dice.pick(&[None, Some(UsageSource::Reported), Some(UsageSource::Observed)]);
            one.usage.observed_output = dice.pick(&[None, Some(40)]);
            one.completed_at = at + Duration::milliseconds(dice.id(600_000));
            // What cannot have been charged for has no cost.
            if !one.may_be_charged() {
                one.cost = CostColumns::default();
            }
            one
        })
        .collect();
    record.request.cost =
        headgate_domain::RequestCost::of(record.attempts.iter().map(|a| (&a.cost, a.may_be_charged())));
    record
}

/// Whether a cost, a usage and an end are such as a filter asks for. `charged`: whether it is priced in full, if it may
/// have been charged for at all.
fn passes(filter: &Filter, charged: Option<bool>, usage: &UsageColumns, end: DateTime<Utc>) -> bool {
    let tokens = |word| match word {
        TokensWord::Reported => usage.usage_source == Some(UsageSource::Reported),
        TokensWord::Estimated => usage.usage_source == Some(UsageSource::Observed),
        TokensWord::Unknown => usage.usage_source.is_none(),
        TokensWord::Compared => usage.tokens_output.is_some() && usage.observed_output.is_some(),
    };
    filter.priced.is_none_or(|priced| charged == Some(priced))
        && filter.tokens.is_none_or(tokens)
        && filter.ended_after.is_none_or(|t| end > t)
        && filter.ended_by.is_none_or(|t| end <= t)
}

fn is_named(r: &headgate_domain::RequestRecord, what: Unnamed) -> bool {
    match what {
        Unnamed::Model => r.model.is_some(),
        Unnamed::Key => r.key_id.is_some(),
        Unnamed::Group => r.group_id.is_some(),
    }
}

/// What the figures of a filter should be, from the records themselves.
fn expected(records: &[Record], filter: &Filter) -> Stats {
    let mut stats = Stats::default();
    let mut costs = std::collections::BTreeMap::<String, Decimal>::new();
    for Record { request: r, attempts } in records {
        let of_upstream = |a: &&headgate_domain::AttemptRecord| {
            let charged = a.may_be_charged().then(|| a.cost.is_complete());
            filter.upstream.is_none_or(|u| a.upstream_id == u && passes(filter, charged, &a.usage, a.completed_at))
        };
        let outcome_fits = match filter.status {
            None => true,
            Some(StatusWord::Ok) => r.outcome == Outcome::Success,
            Some(StatusWord::FailoverSuccess) => r.outcome == Outcome::Success && r.attempt_count > 1,
            Some(_) => unreachable!("not asked for here"),
        };
        if r.endpoint.ends_with("count_tokens")
            || filter.since.is_some_and(|t| r.started_at < t)
            || filter.until.is_some_and(|t| r.started_at >= t)
            || filter.group.is_some_and(|g| r.group_id != Some(g))
            || filter.key.is_some_and(|k| r.key_id != Some(k))
            || filter.model.is_some() && r.model != filter.model
            || filter.without.is_some_and(|what| is_named(r, what))
            || filter.stream.is_some_and(|s| r.stream != s)
            || !outcome_fits
            || filter.upstream.is_some() && !attempts.iter().any(|a| of_upstream(&a))
            || filter.upstream.is_none() && !passes(filter, r.cost.cost_complete, &r.usage, r.completed_at)
        {
            continue;
        }
        stats.total += 1;
        match r.outcome {
            Outcome::Success if r.attempt_count > 1 => stats.failover_success += 1,
            Outcome::Success => stats.direct_success += 1,
            Outcome::Partial => stats.partial += 1,
            Outcome::Canceled => stats.canceled += 1,
            Outcome::ClientError => stats.client_error += 1,
            Outcome::Failed | Outcome::Unavailable | Outcome::Unsupported => stats.failed += 1,
        }
        stats.retried += i64::from(r.attempt_count > 1);
        stats.tokens_fresh += r.usage.tokens_fresh.unwrap_or_default();
        stats.tokens_write += r.usage.tokens_write_5m.unwrap_or_default();
        stats.tokens_output += r.usage.tokens_output.unwrap_or_default();
        for one in attempts.iter().filter(of_upstream) {
            if let Some((cost, currency)) = one.cost.cost.zip(one.cost.cost_currency.clone()) {
                *costs.entry(currency).or_default() += cost;
            }
            stats.calls.made += 1;
            stats.calls.charged += i64::from(one.may_be_charged());
            stats.calls.priced += i64::from(one.cost.is_complete());
            stats.calls.with_amount += i64::from(one.cost.cost.is_some());
            if let (Some(TokensWord::Compared), Some(reported), Some(observed)) =
                (filter.tokens, one.usage.tokens_output, one.usage.observed_output)
            {
                let sums = stats.compared.get_or_insert_default();
                sums.attempts += 1;
                sums.reported += reported;
                sums.observed += observed;
            }
            if filter.upstream.is_some() {
                stats.charged += i64::from(one.may_be_charged());
                stats.priced += i64::from(one.cost.cost.is_some() && one.cost.cost_gaps.is_none());
            }
        }
        if filter.upstream.is_none() {
            stats.charged += i64::from(r.cost.cost_complete.is_some());
            stats.priced += i64::from(r.cost.cost_complete == Some(true));
        }
    }
    let amount = |(currency, amount): (String, Decimal)| headgate_store::requests::Amount {
        currency,
        amount: amount.normalize(),
    };
    stats.costs = costs.into_iter().map(amount).collect();
    if filter.tokens == Some(TokensWord::Compared) {
        stats.compared.get_or_insert_default();
    }
    stats
}

async fn figures(database: &Database, filter: &Filter) -> Stats {
    let read = database.request_stats(filter).await.unwrap();
    // Times are read within bounds: see below.
    Stats {
        success_rate: None,
        p50_ttft_ms: None,
        p95_ttft_ms: None,
        p50_duration_ms: None,
        p95_duration_ms: None,
        ..read
    }
}

async fn changed(database: &Database) -> i64 {
    sqlx::query_scalar("select count(*) from headgate.rollup_changed").fetch_one(database.pool()).await.unwrap()
}

fn late() -> DateTime<Utc> {
    noon() + Duration::days(1)
}

#[tokio::test]
async fn sums_and_rows_together_are_what_rows_alone_are_for_any_time_and_filter() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    let mut dice = Dice(7);
    let mut stored: Vec<Record> = Vec::new();
    for round in 0..8 {
        let batch: Vec<Record> = (0..60).map(|n| random(round * 60 + n, &mut dice)).collect();
        database.insert_records(&array(&batch)).await.unwrap();
        stored.extend(batch);
        // Now and then a part is added up, and the next batch comes late for it.
        if round % 2 == 1 {
            database.roll_up(noon() + Duration::minutes(dice.id(200))).await.unwrap();
        }
        for _ in 0..24 {
            let since = noon() + Duration::seconds(dice.id(9_000));
            let aligned = dice.below(3) == 0;
            let (since, until) = if aligned {
                (noon(), noon() + Duration::hours(2))
            } else {
                (since, since + Duration::seconds(dice.id(9_000)))
            };
            let filter = Filter {
                since: dice.pick(&[None, Some(since)]),
                until: dice.pick(&[None, Some(until)]),
                group: dice.pick(&[None, None, Some(GroupId(2))]),
                key: dice.pick(&[None, None, Some(KeyId(1))]),
                upstream: dice.pick(&[None, None, Some(UpstreamId(2))]),
                model: dice.pick(&[None, None, Some("model-b".into())]),
                stream: dice.pick(&[None, None, Some(true)]),
                status: dice.pick(&[None, None, Some(StatusWord::Ok), Some(StatusWord::FailoverSuccess)]),
                priced: dice.pick(&[None, None, None, Some(true), Some(false)]),
                tokens: dice.pick(&[None, None, None, Some(TokensWord::Compared), Some(TokensWord::Estimated)]),
                ended_after: dice.pick(&[None, None, None, Some(since)]),
                ended_by: dice.pick(&[None, None, None, Some(until)]),
                without: dice.pick(&[None, None, None, Some(Unnamed::Model), Some(Unnamed::Key), Some(Unnamed::Group)]),
                ..Filter::default()
            };
            assert_eq!(figures(&database, &filter).await, expected(&stored, &filter), "round {round}: {filter:?}");
        }
    }
}

#[tokio::test]
async fn percentiles_of_sums_are_within_a_twentieth_of_those_of_rows() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    let mut dice = Dice(3);
    let all: Vec<Record> = (0..800).map(|n| random(n, &mut dice)).collect();
    database.insert_records(&array(&all)).await.unwrap();
    let exact = database.request_stats(&Filter::default()).await.unwrap();
    assert_eq!(database.roll_up(late()).await.unwrap(), 12);
    let summed = database.request_stats(&Filter::default()).await.unwrap();
    let pairs = [
        (exact.p50_ttft_ms, summed.p50_ttft_ms),
        (exact.p95_ttft_ms, summed.p95_ttft_ms),
        (exact.p50_duration_ms, summed.p50_duration_ms),
        (exact.p95_duration_ms, summed.p95_duration_ms),
    ];
    for (exact, summed) in pairs {
        let (exact, summed) = (exact.unwrap(), summed.unwrap());
        assert!((summed / exact - 1.0).abs() < 0.05, "{summed} instead of {exact}");
    }
    assert_eq!(summed.success_rate, exact.success_rate);
    let points = database.series(noon(), Duration::minutes(15), 12).await.unwrap();
    assert_eq!(points.iter().map(|p| p.requests).sum::<i64>(), exact.total);
    assert!(points.iter().all(|p| p.p50_ttft_ms.is_some()));
    let shares = database.shares(noon()).await.unwrap();
    let answered = |r: &&Record| {
        r.request.outcome == Outcome::Success
            && r.request.group_id.is_some()
            && !r.request.endpoint.ends_with("count_tokens")
            && r.attempts.iter().any(|a| Some(a.upstream_id) == r.request.upstream_id)
    };
    assert!(
        shares.iter().map(|s| s.requests).sum::<i64>() >= i64::try_from(all.iter().filter(answered).count()).unwrap()
    );
}

#[tokio::test]
async fn a_late_record_and_a_new_price_show_at_once_and_are_added_up_again() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    database.insert_records(&array(&[record(0), record(1)])).await.unwrap();
    assert_eq!((database.roll_up(noon()).await.unwrap(), changed(&database).await), (0, 1), "it has not ended yet");
    assert_eq!((database.roll_up(late()).await.unwrap(), changed(&database).await), (1, 0));
    assert_eq!(database.roll_up(late()).await.unwrap(), 0);
    database.insert_records(&array(&[record(2)])).await.unwrap();
    for changes in [1, 0] {
        let stats = database.request_stats(&Filter::default()).await.unwrap();
        assert_eq!((stats.total, stats.costs[0].amount, changed(&database).await), (3, Decimal::new(6, 3), changes));
        database.roll_up(late()).await.unwrap();
    }
    let one = &record(0).attempts[0];
    let cost = CostColumns { cost: Some(Decimal::TEN), ..one.cost.clone() };
    let repriced = Repriced { started_at: one.started_at, request_id: one.request_id, number: 1, cost };
    database.reprice(&[repriced]).await.unwrap();
    for changes in [1, 0] {
        let stats = database.request_stats(&Filter::default()).await.unwrap();
        assert_eq!((stats.costs[0].amount, changed(&database).await), (Decimal::new(10_005, 3), changes));
        database.roll_up(late()).await.unwrap();
    }
}

#[tokio::test]
async fn sums_outlive_their_rows_and_take_what_comes_after_them() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    database.insert_records(&array(&[record(0), record(1)])).await.unwrap();
    let after = noon() + Duration::days(9);
    let week = Some(std::time::Duration::from_secs(7 * 86_400));
    // Nobody has added them up before: the day does not go without.
    assert_eq!(database.maintain_partitions(after, week).await.unwrap().dropped, 8);
    let total = async || {
        let stats = database.request_stats(&Filter::default()).await.unwrap();
        (stats.total, stats.costs[0].amount)
    };
    assert_eq!(total().await, (2, Decimal::new(3, 3)));
    // A journal that was away all the time.
    database.insert_records(&array(&[record(2)])).await.unwrap();
    for n in 3..6 {
        database.roll_up(after).await.unwrap();
        database.insert_records(&array(&[record(n)])).await.unwrap();
    }
    database.maintain_partitions(after, week).await.unwrap();
    assert_eq!((total().await, changed(&database).await), ((6, Decimal::new(21, 3)), 0));
    let rows: i64 =
        sqlx::query_scalar("select count(*) from headgate.requests").fetch_one(database.pool()).await.unwrap();
    assert_eq!(rows, 0);
    database.forget_old_sums(noon() + Duration::days(402)).await.unwrap();
    assert_eq!(database.request_stats(&Filter::default()).await.unwrap().total, 0);
}

#[tokio::test]
async fn two_processes_that_write_and_add_up_at_once_lose_and_double_nothing() {
    let target = support::target().await;
    let databases = [Database::connect(&target).await.unwrap(), Database::connect(&target).await.unwrap()];
    databases[0].maintain_partitions(noon(), None).await.unwrap();
    let write = async |database: &Database, half: i64| {
        let mut dice = Dice(u64::try_from(half).unwrap());
        let mut written = Vec::new();
        for batch in 0..25 {
            let records: Vec<Record> = (0..8).map(|n| random(half * 1_000 + batch * 8 + n, &mut dice)).collect();
            database.insert_records(&array(&records)).await.unwrap();
            written.extend(records);
        }
        written
    };
    let sum = async |database: &Database| {
        for _ in 0..12 {
            database.roll_up(late()).await.unwrap();
        }
    };
    let (first, second, (), ()) =
        tokio::join!(write(&databases[0], 1), write(&databases[1], 2), sum(&databases[0]), sum(&databases[1]));
    let all: Vec<Record> = first.into_iter().chain(second).collect();
    let filter = Filter::default();
    assert_eq!(figures(&databases[0], &filter).await, expected(&all, &filter));
    databases[1].roll_up(late()).await.unwrap();
    assert_eq!(changed(&databases[0]).await, 0);
    assert_eq!(figures(&databases[0], &filter).await, expected(&all, &filter));
}
