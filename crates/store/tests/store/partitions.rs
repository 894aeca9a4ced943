use std::time::Duration;

use chrono::Days;
use headgate_store::{Database, partitions::Maintained};

use crate::{
    records::{array, noon, record},
    support,
};

async fn count(database: &Database, table: &str) -> i64 {
    let statement = format!("select count(*) from headgate.{table}");
    sqlx::query_scalar(sqlx::AssertSqlSafe(statement)).fetch_one(database.pool()).await.unwrap()
}

#[tokio::test]
async fn partitions_are_made_ahead_once() {
    let database = support::database().await;
    let first = database.maintain_partitions(noon(), None).await.unwrap();
    assert_eq!(first, Maintained { created: 8, dropped: 0, deleted: 0 });
    assert_eq!(database.maintain_partitions(noon(), None).await.unwrap(), Maintained::default());
    let next_day = noon().checked_add_days(Days::new(1)).unwrap();
    assert_eq!(database.maintain_partitions(next_day, None).await.unwrap().created, 2);
    database.insert_records(&array(&[record(1)])).await.unwrap();
    assert_eq!((count(&database, "requests_20260310").await, count(&database, "requests_default").await), (1, 0));
    assert_eq!(count(&database, "attempts_20260310").await, 1);
}

#[tokio::test]
async fn rows_that_came_before_their_partition_move_into_it() {
    let database = support::database().await;
    let (today, later) = (record(1), record(5 * 86_400));
    database.insert_records(&array(&[today.clone(), later])).await.unwrap();
    assert_eq!(count(&database, "requests_default").await, 2);
    database.maintain_partitions(noon(), None).await.unwrap();
    assert_eq!((count(&database, "requests_20260310").await, count(&database, "requests_default").await), (1, 1));
    // What is stored stays stored, and only once.
    database.insert_records(&array(std::slice::from_ref(&today))).await.unwrap();
    assert_eq!(count(&database, "requests").await, 2);
    assert_eq!(database.request(today.request.id).await.unwrap().unwrap().1, today.attempts);
}

#[tokio::test]
async fn what_is_older_than_the_retention_goes() {
    let database = support::database().await;
    database.maintain_partitions(noon(), None).await.unwrap();
    let before_all = {
        let mut record = record(2);
        record.request.started_at = noon() - Duration::from_secs(30 * 86_400);
        record.attempts.iter_mut().for_each(|a| a.started_at = record.request.started_at);
        record
    };
    database.insert_records(&array(&[record(1), record(86_400), before_all])).await.unwrap();
    let week = Some(Duration::from_secs(7 * 86_400));
    // The newest row of the first day is a second too young.
    let at = noon().checked_add_days(Days::new(7)).unwrap();
    let done = database.maintain_partitions(at, week).await.unwrap();
    // The empty days after the second go, too.
    assert_eq!((done.dropped, done.deleted), (4, 2));
    assert_eq!(count(&database, "requests").await, 2);
    let done = database.maintain_partitions(at + Duration::from_secs(2), week).await.unwrap();
    assert_eq!((done.dropped, done.deleted), (2, 0));
    assert_eq!((count(&database, "requests").await, count(&database, "attempts").await), (1, 1));
}
