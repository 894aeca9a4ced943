use std::time::Duration;

use headgate_domain::{Configuration, Revision};
use headgate_store::{
    Database,
    news::{News, NewsListener},
    revisions::AppendError,
};

use crate::support;

fn with_attempts(n: u32) -> Configuration {
    let mut configuration = Configuration::default();
    configuration.settings.max_attempts = Some(n);
    configuration
}

#[tokio::test]
async fn a_revision_is_made_on_top_of_the_one_that_was_read() {
    let database = support::database().await;
    assert!(database.latest().await.unwrap().is_none());
    let first = database.append(Revision(0), &with_attempts(4), "ann", "first").await.unwrap();
    assert_eq!(first, Revision(1));
    let second = database.append(first, &with_attempts(5), "bob", "second").await.unwrap();
    let conflict = database.append(first, &with_attempts(6), "ann", "late").await.unwrap_err();
    assert!(matches!(conflict, AppendError::Conflict { latest: Revision(2) }), "{conflict}");

    let (record, configuration) = database.latest().await.unwrap().unwrap();
    assert_eq!((record.id, record.author.as_str(), record.summary.as_str()), (second, "bob", "second"));
    assert_eq!(configuration, with_attempts(5));
    assert_eq!(database.revision(first).await.unwrap().unwrap().1, with_attempts(4));
    assert!(database.revision(Revision(99)).await.unwrap().is_none());
    let ids = |list: Vec<headgate_store::revisions::RevisionRecord>| list.iter().map(|r| r.id.0).collect::<Vec<_>>();
    assert_eq!(ids(database.revisions(10, None).await.unwrap()), [2, 1]);
    assert_eq!(ids(database.revisions(10, Some(second)).await.unwrap()), [1]);
}

#[tokio::test]
async fn of_many_writers_at_once_one_wins() {
    let database = support::database().await;
    let attempt = async |n| database.append(Revision(0), &with_attempts(n), "x", "y").await;
    let (a, b, c, d) = tokio::join!(attempt(1), attempt(2), attempt(3), attempt(4));
    let outcomes = [a, b, c, d];
    assert_eq!(outcomes.iter().filter(|o| o.is_ok()).count(), 1);
    assert!(outcomes.iter().all(|o| matches!(o, Ok(_) | Err(AppendError::Conflict { latest: Revision(1) }))));
}

#[tokio::test]
async fn old_revisions_are_forgotten_and_their_numbers_stay_taken() {
    let database = support::database().await;
    let mut at = Revision(0);
    for n in 0..510 {
        at = database.append(at, &with_attempts(n % 20 + 1), "x", "y").await.unwrap();
    }
    assert_eq!(database.revisions(1000, None).await.unwrap().len(), 500);
    let stale = database.append(Revision(3), &with_attempts(1), "x", "y").await;
    assert!(matches!(stale, Err(AppendError::Conflict { latest: Revision(510) })));
}

#[tokio::test]
async fn ids_are_given_once() {
    let database = support::database().await;
    let take = async |n| database.allocate_ids(n).await.unwrap();
    let (a, b) = tokio::join!(take(5), take(3));
    let c = take(1).await;
    assert_eq!((a.min(b), c), (1, 9));
    assert!(a == b + 3 || b == a + 5);
}

async fn next(listener: &mut NewsListener) -> Revision {
    match tokio::time::timeout(Duration::from_secs(30), listener.next()).await.expect("news") {
        News::Revision(revision) => revision,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn other_processes_learn_of_a_revision_even_after_a_lost_connection() {
    let target = support::target().await;
    let (ours, theirs) = (Database::connect(&target).await.unwrap(), Database::connect(&target).await.unwrap());
    let mut listener = ours.listen(Revision(0));
    let one = theirs.append(Revision(0), &with_attempts(1), "x", "y").await.unwrap();
    assert_eq!(next(&mut listener).await, one);
    let (told, two) =
        tokio::join!(next(&mut listener), async { theirs.append(one, &with_attempts(2), "x", "y").await.unwrap() });
    assert_eq!(told, two);
    // The connection is cut, and the news comes while nobody listens.
    sqlx::query("select pg_terminate_backend(pid) from pg_stat_activity where query like 'LISTEN%' and datname = current_database()")
        .execute(theirs.pool())
        .await
        .unwrap();
    let three = theirs.append(two, &with_attempts(3), "x", "y").await.unwrap();
    assert_eq!(next(&mut listener).await, three);
}
