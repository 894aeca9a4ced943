use std::{fs, time::Duration};

use headgate_store::{Cluster, ClusterOptions, ClusterState, DataDir, Database, DatabaseError, Target};

use crate::support::{Folder, of_name, options};

async fn start(data_dir: &DataDir) -> Cluster {
    Cluster::start(data_dir, ClusterOptions::default(), |_| {}).await.unwrap()
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

fn pid(cluster: &Cluster) -> u32 {
    match *cluster.state().borrow() {
        ClusterState::Ready { pid, .. } => pid,
        ref other => panic!("not ready: {other:?}"),
    }
}

#[tokio::test]
async fn a_cluster_is_made_once_private_and_durable_and_keeps_its_data() {
    let folder = Folder::new();
    {
        let data_dir = DataDir::open(folder.join("data")).unwrap();
        let steps = std::sync::Mutex::new(Vec::new());
        let cluster = Cluster::start(&data_dir, ClusterOptions::default(), |step| {
            steps.lock().unwrap().push(step.to_owned());
        })
        .await
        .unwrap();
        assert_eq!(steps.lock().unwrap().len(), 2);
        let database = Database::connect(&cluster.target()).await.unwrap();
        for (name, value) in [("fsync", "on"), ("listen_addresses", ""), ("password_encryption", "scram-sha-256")] {
            let found: String =
                sqlx::query_scalar("select current_setting($1)").bind(name).fetch_one(database.pool()).await.unwrap();
            assert_eq!(found, value, "{name}");
        }
        let first = database.migrate().await.unwrap();
        let again = database.migrate().await.unwrap();
        assert_eq!(first.pepper, again.pepper);
        database.ping().await.unwrap();
        database.close().await;
        cluster.stop().await;
        assert!(!data_dir.join("postgres/postmaster.pid").exists());
        for (name, mode) in [
            ("postgres", 0o700),
            ("run", 0o700),
            ("postgres-password", 0o600),
            ("postgres.log", 0o600),
            ("lock", 0o600),
        ] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(data_dir.join(name)).unwrap().permissions().mode() & 0o777, mode, "{name}");
        }
    }
    let data_dir = DataDir::open(folder.join("data")).unwrap();
    let cluster = start(&data_dir).await;
    let database = Database::connect(&cluster.target()).await.unwrap();
    let tables: i64 =
        sqlx::query_scalar("select count(*) from headgate.instance").fetch_one(database.pool()).await.unwrap();
    assert_eq!(tables, 1);
    cluster.stop().await;
}

#[tokio::test]
async fn a_killed_postmaster_is_started_again_and_the_pool_finds_it() {
    let folder = Folder::new();
    let data_dir = DataDir::open(folder.path()).unwrap();
    let cluster = start(&data_dir).await;
    let database = Database::connect(&cluster.target()).await.unwrap();
    database.migrate().await.unwrap();
    let mut state = cluster.state();
    for round in 1..=2 {
        kill(pid(&cluster));
        tokio::time::timeout(
            Duration::from_secs(60),
            state.wait_for(|s| matches!(s, ClusterState::Ready { restarts, .. } if *restarts == round)),
        )
        .await
        .expect("it comes back")
        .unwrap();
        crate::support::until("an answer", async || database.ping().await.ok()).await;
    }
    cluster.stop().await;
}

#[tokio::test]
async fn a_stale_pid_file_of_a_process_that_is_somebody_else_is_no_hindrance() {
    let folder = Folder::new();
    {
        let data_dir = DataDir::open(folder.path()).unwrap();
        start(&data_dir).await.stop().await;
    }
    let path = folder.join("postgres/postmaster.pid");
    for stranger in [std::process::id(), 1, 4_000_000] {
        let data_dir = DataDir::open(folder.path()).unwrap();
        fs::write(&path, format!("{stranger}\n/elsewhere\n0\n5432\n\n\n0 0\nready\n")).unwrap();
        start(&data_dir).await.stop().await;
    }
}

#[tokio::test]
async fn a_postmaster_whose_program_was_killed_is_waited_for() {
    let folder = Folder::new();
    let data_dir = DataDir::open(folder.path()).unwrap();
    let first = start(&data_dir).await;
    let orphan = pid(&first);
    // What a killed program leaves: a server that nobody waits for.
    drop(first);
    drop(data_dir);
    let data_dir = DataDir::open(folder.path()).unwrap();
    let second = start(&data_dir).await;
    assert_ne!(pid(&second), orphan);
    let database = Database::connect(&second.target()).await.unwrap();
    database.ping().await.unwrap();
    second.stop().await;
}

#[tokio::test]
async fn a_second_process_is_told_who_holds_the_data_directory() {
    let folder = Folder::new();
    let _held = DataDir::open(folder.path()).unwrap();
    let refused = DataDir::open(folder.path()).unwrap_err().to_string();
    assert!(refused.contains(&format!("in use by process {}", std::process::id())), "{refused}");
}

#[tokio::test]
async fn a_data_directory_has_one_cluster() {
    let folder = Folder::new();
    let data_dir = DataDir::open(folder.path()).unwrap();
    let cluster = start(&data_dir).await;
    let refused = Cluster::start(&data_dir, ClusterOptions::default(), |_| {}).await.unwrap_err();
    assert!(refused.to_string().contains("has its cluster already"));
    cluster.stop().await;
}

#[tokio::test]
async fn a_long_path_is_no_hindrance() {
    let folder = Folder::new();
    let data_dir = DataDir::open(folder.join(&"long".repeat(30))).unwrap();
    let cluster = start(&data_dir).await;
    Database::connect(&cluster.target()).await.unwrap().ping().await.unwrap();
    let socket = options(&cluster).get_socket().unwrap().clone();
    assert!(!socket.starts_with(data_dir.path()));
    cluster.stop().await;
    fs::remove_dir_all(socket).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_the_clusters_user_cannot_enter_is_named() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = Folder::new();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let data_dir = DataDir::open(folder.join("data")).unwrap();
    let refused = Cluster::start(&data_dir, ClusterOptions::default(), |_| {}).await.unwrap_err().to_string();
    assert!(refused.contains(&format!("cannot enter {}", folder.path().display())), "{refused}");
}

#[tokio::test]
async fn what_is_wrong_with_a_connection_is_named() {
    let folder = Folder::new();
    let data_dir = DataDir::open(folder.path()).unwrap();
    let cluster = start(&data_dir).await;
    let wrong = Target::Embedded(Box::new(options(&cluster).password("wrong")));
    assert!(matches!(Database::connect(&wrong).await, Err(DatabaseError::Refused { .. })));
    // Only the embedded cluster's database is made when it is missing.
    let socket = options(&cluster).get_socket().unwrap().display().to_string();
    let password = fs::read_to_string(data_dir.join("postgres-password")).unwrap();
    let encoded: String = socket.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let url = format!("postgres://headgate:{password}@localhost/nothing-here?host={encoded}");
    let missing = Database::connect(&Target::Url(url)).await.unwrap_err();
    assert!(missing.to_string().contains("createdb nothing-here"), "{missing}");
    cluster.stop().await;
    let away = Target::Url("postgres://somebody:secret@127.0.0.1:1/x".into());
    let unreachable = Database::connect(&away).await.unwrap_err().to_string();
    assert!(unreachable.contains("127.0.0.1:1") && !unreachable.contains("secret"), "{unreachable}");
    assert!(matches!(Database::connect(&Target::Url("nonsense:".into())).await, Err(DatabaseError::Url)));
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_a_sentence() {
    let folder = Folder::new();
    let data_dir = DataDir::open(folder.path()).unwrap();
    let cluster = start(&data_dir).await;
    let database = Database::connect(&of_name(&cluster, "newer")).await.unwrap();
    database.migrate().await.unwrap();
    sqlx::raw_sql(
        "insert into headgate.migrations (version, description, success, checksum, execution_time)
        values (9999, 'of the future', true, '', 0)",
    )
    .execute(database.pool())
    .await
    .unwrap();
    let refused = database.migrate().await.unwrap_err().to_string();
    assert!(refused.contains("schema version 9999, made by a newer Headgate"), "{refused}");
    cluster.stop().await;
}

/// Not a test: the program that [`a_killed_program_leaves_nothing_in_the_way`] kills.
#[tokio::test]
#[ignore = "started by another test"]
async fn program_to_be_killed() {
    let Some(path) = std::env::var_os("HEADGATE_TEST_DATA_DIR") else { return };
    let data_dir = DataDir::open(path).unwrap();
    let cluster = start(&data_dir).await;
    let database = Database::connect(&cluster.target()).await.unwrap();
    database.migrate().await.unwrap();
    fs::write(data_dir.join("pid"), pid(&cluster).to_string()).unwrap();
    std::future::pending().await
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_killed_program_leaves_nothing_in_the_way() {
    let folder = Folder::new();
    let mut program = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cluster::program_to_be_killed", "--ignored"])
        .env("HEADGATE_TEST_DATA_DIR", folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let orphan = crate::support::until("the program's cluster", async || {
        fs::read_to_string(folder.join("pid")).ok()?.parse::<u32>().ok()
    })
    .await;
    let holder = DataDir::open(folder.path()).unwrap_err().to_string();
    assert!(holder.contains(&format!("process {}", program.id())), "{holder}");
    program.kill().unwrap();
    program.wait().unwrap();

    let data_dir = DataDir::open(folder.path()).unwrap();
    let cluster = start(&data_dir).await;
    let database = Database::connect(&cluster.target()).await.unwrap();
    database.ping().await.unwrap();
    assert_ne!(pid(&cluster), orphan);
    // The one of the killed program has ended in good order.
    assert!(fs::read_to_string(data_dir.join("postgres.log")).unwrap().contains("received fast shutdown request"));
    cluster.stop().await;
}
