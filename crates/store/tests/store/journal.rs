use std::{fs, io::Write, path::Path, time::Duration};

use headgate_domain::Outcome;
use headgate_store::{
    Cluster, ClusterOptions, DataDir, Database, Journal, JournalHandle, Shipper, journal::DEFAULT_CAP,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    records::{ended, failover, record},
    support::{self, Folder, until},
};

struct Running {
    handle: JournalHandle,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

#[expect(clippy::disallowed_methods, reason = "the test owns the task")]
fn run(shipper: Shipper, database: &Database) -> (CancellationToken, JoinHandle<()>) {
    let stop = CancellationToken::new();
    (stop.clone(), tokio::spawn(shipper.run(database.clone(), stop)))
}

fn open(folder: &Path, database: &Database) -> Running {
    let (handle, shipper) = Journal::open(folder, DEFAULT_CAP).unwrap();
    let (stop, task) = run(shipper, database);
    Running { handle, stop, task }
}

impl Running {
    async fn flush(&self) {
        tokio::time::timeout(Duration::from_secs(60), self.handle.flush()).await.expect("stored in time").unwrap();
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

async fn counts(database: &Database) -> (i64, i64) {
    let count = async |statement: &'static str| -> i64 {
        sqlx::query_scalar(statement).fetch_one(database.pool()).await.unwrap()
    };
    (count("select count(*) from headgate.requests").await, count("select count(*) from headgate.attempts").await)
}

#[tokio::test]
async fn what_is_appended_is_stored_and_the_journal_is_trimmed() {
    let (folder, database) = (Folder::new(), support::database().await);
    let journal = open(&folder.join("journal"), &database);
    for n in 0..1000 {
        journal.handle.append(if n % 2 == 0 { record(n) } else { failover(n) });
    }
    journal.flush().await;
    assert_eq!(counts(&database).await, (1000, 1500));
    let stats = journal.handle.stats();
    assert_eq!((stats.shipped, stats.waiting_records, stats.waiting_bytes, stats.lost), (1000, 0, 0, 0));
    for entry in fs::read_dir(folder.join("journal")).unwrap().flatten() {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
    journal.stop().await;
    // A start with nothing to do does nothing, and tidies up.
    let journal = open(&folder.join("journal"), &database);
    journal.flush().await;
    assert_eq!(journal.handle.stats().shipped, 0);
    assert_eq!(fs::read_dir(folder.join("journal")).unwrap().count(), 2);
    journal.stop().await;
}

#[tokio::test]
async fn what_a_killed_process_had_written_is_stored_exactly_once() {
    let (folder, database) = (Folder::new(), support::database().await);
    let path = folder.join("journal");
    let first = open(&path, &database);
    for n in 0..300 {
        first.handle.append(record(n));
    }
    first.flush().await;
    // It is noted on disk when there is nothing more to do.
    while !path.join("ack").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Killed: in the middle of shipping, in the middle of a line, and before the note of what is stored.
    first.task.abort();
    let ack = fs::read(path.join("ack")).unwrap();
    for n in 300..700 {
        first.handle.append(record(n));
    }
    first.handle.written().await.unwrap();
    drop(first);
    let newest = fs::read_dir(&path).unwrap().flatten().map(|e| e.path()).filter(|p| p.extension().is_some()).max();
    let mut torn = fs::OpenOptions::new().append(true).open(newest.unwrap()).unwrap();
    torn.write_all(b"{\"request\":{\"id\":\"0199").unwrap();

    let second = open(&path, &database);
    // What was stored within the last second may be sent again; it counts once.
    assert!((400..=700).contains(&second.handle.stats().waiting_records));
    second.handle.append(record(700));
    second.flush().await;
    assert_eq!(counts(&database).await, (701, 701));
    second.stop().await;
    fs::write(path.join("ack"), ack).unwrap();

    // The note is lost altogether.
    fs::remove_file(path.join("ack")).unwrap();
    let third = open(&path, &database);
    third.handle.append(record(701));
    third.flush().await;
    assert_eq!(counts(&database).await, (702, 702));
    assert_eq!(third.handle.stats().rejected, 0);
    third.stop().await;
}

#[tokio::test]
async fn records_wait_on_disk_while_the_database_is_away() {
    let folder = Folder::new();
    let data_dir = DataDir::open(folder.join("data")).unwrap();
    let cluster = Cluster::start(&data_dir, ClusterOptions::default(), |_| {}).await.unwrap();
    let database = Database::connect(&cluster.target()).await.unwrap();
    database.migrate().await.unwrap();
    let journal = open(&data_dir.join("journal"), &database);
    journal.handle.append(record(0));
    journal.flush().await;
    cluster.stop().await;
    drop(data_dir);
    for n in 1..200 {
        journal.handle.append(record(n));
    }
    journal.handle.written().await.unwrap();
    let stats = until("the failure to be noted", async || {
        Some(journal.handle.stats()).filter(|stats| stats.last_error.is_some())
    })
    .await;
    assert_eq!((stats.waiting_records, stats.lost), (199, 0));
    assert!(stats.oldest.is_some() && stats.waiting_bytes > 0);
    let data_dir = DataDir::open(folder.join("data")).unwrap();
    let cluster = Cluster::start(&data_dir, ClusterOptions::default(), |_| {}).await.unwrap();
    journal.flush().await;
    assert_eq!(counts(&database).await, (200, 200));
    assert_eq!(journal.handle.stats().last_error, None);
    journal.stop().await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_record_the_database_refuses_is_put_aside_and_holds_up_no_other() {
    let (folder, database) = (Folder::new(), support::database().await);
    let path = folder.join("journal");
    let (handle, shipper) = Journal::open(&path, DEFAULT_CAP).unwrap();
    for n in 0..100 {
        let mut record = record(n);
        if n == 37 {
            record.request.error_text = Some("a\0b".into());
        }
        handle.append(record);
    }
    handle.written().await.unwrap();
    drop((handle, shipper));
    // What no program of ours writes: not JSON, not UTF-8, an attempt to close the array, another shape.
    let mut segment = fs::OpenOptions::new().append(true).open(path.join("0000000001.jsonl")).unwrap();
    segment.write_all(b"not json\n\xff\xfe\n1],[2\n{\"request\":5}\n\n").unwrap();
    let journal = open(&path, &database);
    journal.handle.append(ended(100, Outcome::Failed, "broken"));
    journal.flush().await;
    assert_eq!(counts(&database).await, (100, 100));
    let stats = journal.handle.stats();
    assert_eq!((stats.shipped, stats.rejected, stats.waiting_records), (100, 6, 0));
    let rejected = fs::read(path.join("rejected.jsonl")).unwrap();
    assert_eq!(rejected.iter().filter(|byte| **byte == b'\n').count(), 6);
    journal.stop().await;
}

#[tokio::test]
async fn at_its_size_limit_the_journal_keeps_the_oldest_and_counts_the_rest() {
    let (folder, database) = (Folder::new(), support::database().await);
    let (handle, shipper) = Journal::open(&folder.join("journal"), 64 * 1024).unwrap();
    for n in 0..200 {
        handle.append(record(n));
        handle.written().await.unwrap();
    }
    let stats = handle.stats();
    assert!(stats.lost > 0 && stats.waiting_bytes <= 64 * 1024);
    assert_eq!(stats.lost + stats.waiting_records, 200);
    let (stop, task) = run(shipper, &database);
    handle.flush().await.unwrap();
    let kept = i64::try_from(stats.waiting_records).unwrap();
    let oldest: i64 = sqlx::query_scalar("select max(duration_ms) - 1000 from headgate.requests")
        .fetch_one(database.pool())
        .await
        .unwrap();
    assert_eq!((counts(&database).await.0, oldest), (kept, kept - 1));
    stop.cancel();
    task.await.unwrap();
}

#[tokio::test]
async fn segments_are_bounded_and_go_when_they_are_shipped() {
    let (folder, database) = (Folder::new(), support::database().await);
    let path = folder.join("journal");
    let (handle, shipper) = Journal::open(&path, DEFAULT_CAP).unwrap();
    let mut large = record(0);
    large.request.error_text = Some("x".repeat(100_000));
    for n in 0..200 {
        let mut record = large.clone();
        let id = crate::records::record(n).request.id;
        record.request.id = id;
        record.attempts.iter_mut().for_each(|a| a.request_id = id);
        handle.append(record);
    }
    handle.written().await.unwrap();
    let sizes: Vec<u64> = fs::read_dir(&path).unwrap().flatten().map(|e| e.metadata().unwrap().len()).collect();
    assert!(sizes.len() >= 3 && sizes.iter().all(|size| *size <= 8 << 20), "{sizes:?}");
    let (stop, task) = run(shipper, &database);
    handle.flush().await.unwrap();
    assert_eq!(counts(&database).await, (200, 200));
    let left = fs::read_dir(&path).unwrap().flatten().filter(|e| e.path().extension().is_some()).count();
    assert_eq!(left, 1);
    stop.cancel();
    task.await.unwrap();
}
