//! A disk that is full, or cannot be written to. Needs a user who may mount; elsewhere it says so.

use headgate_tests::{
    fake::Fake,
    harness::{Headgate, PATHS, Setup, header, program, until},
};
use reqwest::Method;

/// Whether file systems can be mounted here.
async fn may_mount() -> bool {
    let tried = tokio::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", "mount -t tmpfs none /mnt"])
        .stderr(std::process::Stdio::null())
        .status()
        .await;
    let may = tried.is_ok_and(|status| status.success());
    if !may {
        eprintln!("SKIPPED: file systems cannot be mounted here");
    }
    may
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_fails_no_request_and_what_it_could_not_hold_is_stored_once_there_is_room() {
    if !may_mount().await {
        return;
    }
    let fake = Fake::start().await;
    let configuration = Headgate::configuration_before(&fake);
    // Room for about a hundred records: the database takes them away, the segment they are in stays until it is full.
    let room = "mkdir -p \"$DATA/journal\"; mount -t tmpfs -o size=128k none \"$DATA/journal\"";
    let mut headgate = Setup::new(&configuration).mounting(room).start().await;
    let mut ids = Vec::new();
    for n in 0..600 {
        let response = headgate.ask(PATHS[n % 3], "m", false).send().await.unwrap();
        assert_eq!(response.status(), 200);
        ids.push(header(&response, "x-headgate-request-id").unwrap().to_owned());
        response.bytes().await.unwrap();
    }
    let database = &headgate.database;
    until("every record to be stored", || async {
        database.count("select count(*) from headgate.requests").await == 600
    })
    .await;
    let status = headgate.admin(Method::GET, "/status", None).await;
    assert_eq!(status["journal"]["lost"], 0, "{status}");
    assert_eq!(headgate.terminate().await, Some(0));
}

#[tokio::test]
async fn a_data_directory_that_cannot_be_written_to_is_named_with_a_remedy() {
    if !may_mount().await {
        return;
    }
    let folder = headgate_tests::harness::folder();
    let mut command = tokio::process::Command::new("unshare");
    command.args([
        "--mount",
        "sh",
        "-ec",
        "mount -t tmpfs -o ro none \"$DATA\"; exec \"$0\" serve --data-dir \"$DATA\"",
    ]);
    command.arg(program()).env("DATA", folder.path()).env("HEADGATE_VAULT", "memory");
    let done = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success(), "{said}");
    let path = folder.path().to_string_lossy().into_owned();
    assert!(said.contains(&path) && said.contains("Read-only file system"), "{said}");
    assert!(!said.contains("internal error"), "{said}");
}
