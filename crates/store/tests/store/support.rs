//! One cluster per test process, one database per test.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use headgate_store::{Cluster, ClusterOptions, DataDir, Database, Target};
use sqlx::postgres::PgConnectOptions;

const PREFIX: &str = "headgate-store-test-";

struct Shared {
    cluster: Cluster,
    _data_dir: DataDir,
}

static SHARED: OnceLock<Shared> = OnceLock::new();
static NEXT: AtomicU32 = AtomicU32::new(1);

/// A migrated database of its own.
pub(crate) async fn database() -> Database {
    Database::connect(&target().await).await.unwrap()
}

/// Where a fresh copy of the migrated database is.
pub(crate) async fn target() -> Target {
    let shared = SHARED.get_or_init(start);
    let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let admin = Database::connect(&of_name(&shared.cluster, "postgres")).await.unwrap();
    let statement = format!("create database {name} template headgate_template");
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(admin.pool()).await.unwrap();
    admin.close().await;
    of_name(&shared.cluster, &name)
}

/// A database of the cluster by name.
pub(crate) fn of_name(cluster: &Cluster, name: &str) -> Target {
    Target::Embedded(Box::new(options(cluster).database(name)))
}

pub(crate) fn options(cluster: &Cluster) -> PgConnectOptions {
    match cluster.target() {
        Target::Embedded(options) => *options,
        Target::Url(_) => panic!("an embedded cluster has no URL"),
    }
}

fn start() -> Shared {
    // Its runtime must not be that of the first test, which ends with it.
    std::thread::spawn(|| {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            sweep();
            let root = std::env::temp_dir().join(format!("{PREFIX}{}", std::process::id()));
            let data_dir = DataDir::open(&root).unwrap();
            let cluster = Cluster::start(&data_dir, ClusterOptions::default(), |_| {}).await.unwrap();
            let template = Database::connect(&of_name(&cluster, "headgate_template")).await.unwrap();
            template.migrate().await.unwrap();
            template.close().await;
            Shared { cluster, _data_dir: data_dir }
        })
    })
    .join()
    .unwrap()
}

/// A test process cannot tidy up after its last test; the next one does it.
fn sweep() {
    for entry in fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix(PREFIX) else { continue };
        if !Path::new("/proc").join(pid).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder that the cluster's user can enter, removed at the end.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("headgate-").tempdir().unwrap();
        #[cfg(unix)]
        fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Waits until `check` gives a value, at most half a minute.
pub(crate) async fn until<T>(what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(value) = check().await {
            return value;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited in vain for {what}");
}
