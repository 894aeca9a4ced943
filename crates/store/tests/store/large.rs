//! Speed on a full table: `cargo xtask rows` (`HEADGATE_ROWS` for the size). Prints, asserts little.

use std::time::{Duration, Instant};

use headgate_domain::{GroupId, KeyId, UpstreamId, audit::Record};
use headgate_store::{
    costs::Dimension,
    requests::{Filter, Paging, StatusWord, TokensWord},
};

use crate::{
    records::{array, failover, noon, record},
    support,
};

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn now() -> Instant {
    Instant::now()
}

async fn timed<T>(what: &str, work: impl AsyncFn() -> T) -> T {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..5 {
        let begin = now();
        last = Some(work().await);
        times.push(begin.elapsed());
    }
    times.sort();
    println!("{what:<40} {:>8.1} ms", times[2].as_secs_f64() * 1000.0);
    last.unwrap()
}

/// One of 30,000.
fn within_a_quarter(n: i64) -> Record {
    let mut record = failover(n);
    let at = noon() + chrono::TimeDelta::milliseconds(n * 30);
    record.request.started_at = at;
    record.attempts.iter_mut().for_each(|attempt| attempt.started_at = at);
    record
}

/// A quarter of an hour under way on a busy day of which PostgreSQL knows nothing yet.
#[tokio::test]
#[ignore = "takes a minute"]
async fn large_quarter_that_was_never_analyzed() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    sqlx::raw_sql("alter table headgate.requests_20260310 set (autovacuum_enabled = false); alter table headgate.attempts_20260310 set (autovacuum_enabled = false)")
        .execute(database.pool())
        .await
        .unwrap();
    for batch in 0..60 {
        let records: Vec<_> = (0..500).map(|n| within_a_quarter(batch * 500 + n)).collect();
        database.insert_records(&array(&records)).await.unwrap();
    }
    let (since, until) = (noon() - Duration::from_secs(86_400), noon() + Duration::from_secs(3_600));
    let day = Filter { since: Some(since), until: Some(until), ..Filter::default() };
    println!("30,000 requests, 60,000 attempts, none added up:");
    assert_eq!(timed("stats", async || database.request_stats(&day).await.unwrap().total).await, 30_000);
    timed("who carries the load", async || database.shares(since).await.unwrap().len()).await;
    timed("spent", async || database.spend(since, until).await.unwrap()).await;
    timed("costs", async || database.spend_notes(since, until).await.unwrap().len()).await;
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn large_table() {
    let rows: i64 = std::env::var("HEADGATE_ROWS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let database = support::database().await;
    for day in 0..7 {
        database.maintain_partitions(noon() + Duration::from_secs(day * 86_400), None).await.unwrap();
    }
    database.insert_records(&array(&[record(0), failover(1)])).await.unwrap();
    let mut connection = database.pool().acquire().await.unwrap();
    // The first record, many times over a week.
    sqlx::raw_sql("set statement_timeout = 0").execute(&mut *connection).await.unwrap();
    sqlx::query(
        "insert into headgate.requests select x.*
        from generate_series(1, $1::bigint) n
        cross join lateral (select timestamptz '2026-03-10 12:00:10Z' + n * interval '6 days' / $1::bigint) t(at)
        cross join (select * from headgate.requests limit 1) r
        cross join jsonb_populate_record(null::headgate.requests, to_jsonb(r) || jsonb_build_object(
            'id', lpad(to_hex(extract(epoch from at)::bigint * 1000), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0'),
            'started_at', at, 'completed_at', at, 'group_id', n % 5 + 1, 'key_id', n % 50 + 1,
            'model', 'model-' || n % 30, 'client', 'client-' || n % 7,
            'outcome', case when n % 40 = 0 then 'failed' else 'success' end,
            'error_kind', case when n % 40 = 0 then 'timeout' || n % 3 end,
            'attempt_count', case when n % 20 = 0 then 2 else 1 end, 'cost_complete', n % 1000 <> 0,
            'duration_ms', 500 + n % 30000, 'ttft_ms', 100 + n % 3000)) x
        on conflict do nothing",
    )
    .bind(rows)
    .execute(&mut *connection)
    .await
    .unwrap();
    sqlx::query(
        "insert into headgate.attempts select x.* from headgate.requests r
        cross join (select * from headgate.attempts limit 1) a
        cross join jsonb_populate_record(null::headgate.attempts, to_jsonb(a) || jsonb_build_object(
            'cost_gaps', case when r.cost_complete = false then array['no_price.cache_read'] end, 'completed_at', r.started_at,
            'request_id', r.id, 'started_at', r.started_at, 'upstream_id', case when r.duration_ms % 10000 = 777 then 99 else r.key_id % 20 end)) x
        on conflict do nothing",
    )
    .execute(&mut *connection)
    .await
    .unwrap();
    sqlx::raw_sql("analyze headgate.requests; analyze headgate.attempts").execute(&mut *connection).await.unwrap();
    for table in ["requests", "attempts"] {
        let count = format!("select count(*) from headgate.{table}");
        let there: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(&mut *connection).await.unwrap();
        println!("{table:<40} {there:>8}");
    }
    drop(connection);
    let begin = now();
    // As the migration marks what is there, but for the quarter of an hour under way.
    sqlx::raw_sql(
        "insert into headgate.rollup_changed select distinct headgate.bucket(started_at) from headgate.requests
        on conflict do nothing",
    )
    .execute(database.pool())
    .await
    .unwrap();
    let until = noon() + Duration::from_secs(6 * 86_400);
    let buckets = database.roll_up(until - Duration::from_secs(5)).await.unwrap();
    println!("{:<40} {:>8.1} s for {buckets} buckets, rests included", "adding up", begin.elapsed().as_secs_f64());
    sqlx::raw_sql("analyze headgate.rollup_requests; analyze headgate.rollup_attempts")
        .execute(database.pool())
        .await
        .unwrap();

    let f = Filter::default;
    let since = until - Duration::from_secs(86_400);
    let cases = [
        ("everything", f()),
        ("group", Filter { group: Some(GroupId(3)), ..f() }),
        ("key", Filter { key: Some(KeyId(3)), ..f() }),
        ("nobody's key", Filter { key: Some(KeyId(3000)), ..f() }),
        ("model", Filter { model: Some("model-7".into()), ..f() }),
        ("client", Filter { client: Some("client-2".into()), ..f() }),
        ("upstream, frequent", Filter { upstream: Some(UpstreamId(3)), ..f() }),
        ("upstream, rare", Filter { upstream: Some(UpstreamId(99)), ..f() }),
        ("upstream, none", Filter { upstream: Some(UpstreamId(12345)), ..f() }),
        ("failed", Filter { status: Some(StatusWord::Failed), ..f() }),
        ("partial (none)", Filter { status: Some(StatusWord::Partial), ..f() }),
        ("failover", Filter { status: Some(StatusWord::FailoverSuccess), ..f() }),
        ("retried", Filter { retried: Some(true), ..f() }),
        ("error kind", Filter { error_kind: Some("timeout1".into()), ..f() }),
        ("error kind (none)", Filter { error_kind: Some("nothing".into()), ..f() }),
        ("slow", Filter { slow_ms: Some(30_000), ..f() }),
        ("slow (none)", Filter { slow_ms: Some(3_000_000), ..f() }),
        ("id", Filter { id: Some("019cd83c".into()), ..f() }),
        ("unpriced (rare)", Filter { priced: Some(false), ..f() }),
        ("unpriced at an upstream (rare)", Filter { priced: Some(false), upstream: Some(UpstreamId(3)), ..f() }),
        (
            "counted twice at an upstream",
            Filter { tokens: Some(TokensWord::Compared), upstream: Some(UpstreamId(3)), ..f() },
        ),
        ("model and failed", Filter { model: Some("model-7".into()), status: Some(StatusWord::Failed), ..f() }),
    ];
    for (name, filter) in &cases {
        timed(name, async || database.requests(filter, Paging::After(None), 50).await.unwrap().items.len()).await;
    }
    timed("page 3 with total", async || database.requests(&f(), Paging::Number(3), 50).await.unwrap().total).await;
    let day = Filter { since: Some(since), until: Some(until), ..f() };
    timed("stats of a day", async || database.request_stats(&day).await.unwrap().total).await;
    let of_key = Filter { key: Some(KeyId(3)), ..day.clone() };
    timed("stats of a key's day", async || database.request_stats(&of_key).await.unwrap().total).await;
    let of_upstream = Filter { upstream: Some(UpstreamId(3)), ..day.clone() };
    timed("stats of an upstream's day", async || database.request_stats(&of_upstream).await.unwrap().total).await;
    for (what, filter) in [
        ("unpriced", Filter { priced: Some(false), ..day.clone() }),
        ("unpriced at an upstream", Filter { priced: Some(false), ..of_upstream.clone() }),
        ("counted twice at an upstream", Filter { tokens: Some(TokensWord::Compared), ..of_upstream.clone() }),
        (
            "ended in an hour at an upstream",
            Filter {
                ended_after: Some(until - Duration::from_secs(7_200)),
                ended_by: Some(until - Duration::from_secs(3_600)),
                ..of_upstream.clone()
            },
        ),
    ] {
        timed(&format!("stats of a day: {what}"), async || database.request_stats(&filter).await.unwrap().total).await;
    }
    let off_the_quarter = Filter { since: Some(since + Duration::from_secs(200)), ..day.clone() };
    timed("stats of a day, ragged edge", async || database.request_stats(&off_the_quarter).await.unwrap().total).await;
    let week = Filter { since: Some(noon()), ..day.clone() };
    timed("stats of a week", async || database.request_stats(&week).await.unwrap().total).await;
    let step = chrono::TimeDelta::minutes(15);
    timed("series of a day", async || database.series(since, step, 96).await.unwrap().len()).await;
    timed("options of a day", async || database.request_options(day.since, day.until).await.unwrap()).await;

    for (span, from, hours) in [("day", since, 1), ("week", noon(), 6)] {
        let step = chrono::TimeDelta::hours(hours);
        for by in [Dimension::Model, Dimension::Key] {
            let what = format!("costs of a {span} by {}", by.as_str());
            timed(&what, async || database.spending(from, until, step, by).await.unwrap().len()).await;
        }
        timed(&format!("costs of a {span}, notes"), async || database.spend_notes(from, until).await.unwrap()).await;
        timed(&format!("costs of a {span}, all"), async || {
            let earlier = from - (until - from);
            tokio::try_join!(
                database.spending(from, until, step, Dimension::Model),
                database.spent(earlier, from),
                database.spend_notes(from, until)
            )
            .unwrap()
        })
        .await;
    }

    let batches: Vec<String> = (0..20)
        .map(|batch| array(&(0..500).map(|n| failover(1_000_000 + batch * 500 + n)).collect::<Vec<_>>()))
        .collect();
    let begin = now();
    for batch in &batches {
        database.insert_records(batch).await.unwrap();
    }
    println!("{:<40} {:>8.0} attempts/s", "writing", 20_000.0 / begin.elapsed().as_secs_f64());
}
