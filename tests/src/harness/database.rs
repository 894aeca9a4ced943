//! PostgreSQL for tests: one cluster per test process, a fresh database per test.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU32, Ordering},
};

use headgate_store::{Cluster, ClusterOptions, DataDir};
use serde_json::Value;
use sqlx::{Connection as _, PgConnection, types::Json};
use tokio::{sync::OnceCell, task::JoinHandle};
use uuid::Uuid;

use super::until;

/// The cluster of this process; it ends with it.
struct Running {
    _data_dir: DataDir,
    _cluster: Cluster,
    /// Where its socket is.
    sockets: String,
    password: String,
    pid: i32,
}

static RUNNING: OnceCell<Running> = OnceCell::const_new();
static NUMBER: AtomicU32 = AtomicU32::new(0);

async fn running() -> &'static Running {
    RUNNING
        .get_or_init(|| async {
            // Left to the system's own tidying: the process's end is the cluster's end.
            let folder = super::folder().keep();
            let data_dir = DataDir::open(folder.join("pg")).unwrap();
            let cluster = Cluster::start(&data_dir, ClusterOptions::default(), |_| {}).await.unwrap();
            let password = std::fs::read_to_string(data_dir.join("postgres-password")).unwrap().trim().to_owned();
            let pid_file = std::fs::read_to_string(data_dir.join("postgres/postmaster.pid")).unwrap();
            let mut lines = pid_file.lines();
            let pid = lines.next().unwrap().trim().parse().unwrap();
            let sockets = lines.nth(3).unwrap().trim().to_owned();
            Running { _data_dir: data_dir, _cluster: cluster, sockets, password, pid }
        })
        .await
}

/// A database of its own.
#[derive(Clone)]
pub struct Database {
    name: String,
    running: &'static Running,
}

impl Database {
    /// Makes one.
    pub async fn create() -> Self {
        let running = running().await;
        let name = format!("t{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut admin = PgConnection::connect(&url(running, "postgres")).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("create database {name}"))).execute(&mut admin).await.unwrap();
        Self { name, running }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        url(self.running, &self.name)
    }

    /// Its URL by a TCP address, where it only answers after [`Self::open_at`].
    pub fn url_at(&self, address: SocketAddr) -> String {
        format!("postgres://headgate:{}@{address}/{}", self.running.password, self.name)
    }

    /// Makes it answer at a TCP address, until the handle is dropped.
    pub async fn open_at(&self, address: SocketAddr) -> JoinHandle<()> {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let socket = format!("{}/.s.PGSQL.5432", self.running.sockets);
        tokio::spawn(async move {
            while let Ok((mut caller, _)) = listener.accept().await {
                let socket = socket.clone();
                tokio::spawn(async move {
                    let mut server = tokio::net::UnixStream::connect(socket).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut caller, &mut server).await;
                });
            }
        })
    }

    /// The process that owns the whole cluster.
    pub fn postmaster(&self) -> i32 {
        self.running.pid
    }

    /// A connection.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.unwrap()
    }

    /// One number.
    pub async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&mut self.connect().await).await.unwrap()
    }

    /// Rows as JSON.
    pub async fn rows(&self, sql: &'static str) -> Vec<Value> {
        let rows: Vec<Json<Value>> = sqlx::query_scalar(sql).fetch_all(&mut self.connect().await).await.unwrap();
        rows.into_iter().map(|row| row.0).collect()
    }

    /// The record of a request, once it is stored, with its attempts.
    pub async fn record(&self, id: &str) -> (Value, Vec<Value>) {
        let id: Uuid = id.parse().unwrap();
        let connection = tokio::sync::Mutex::new(self.connect().await);
        let found = parking_lot::Mutex::new(None);
        until("a record to be stored", || async {
            let row: Option<Json<Value>> =
                sqlx::query_scalar("select to_jsonb(r) from headgate.requests r where id = $1")
                    .bind(id)
                    .fetch_optional(&mut *connection.lock().await)
                    .await
                    .unwrap();
            *found.lock() = row.map(|r| r.0);
            found.lock().is_some()
        })
        .await;
        let attempts: Vec<Json<Value>> =
            sqlx::query_scalar("select to_jsonb(a) from headgate.attempts a where request_id = $1 order by number")
                .bind(id)
                .fetch_all(&mut *connection.lock().await)
                .await
                .unwrap();
        let request = found.lock().take().unwrap();
        (request, attempts.into_iter().map(|a| a.0).collect())
    }
}

fn url(running: &Running, name: &str) -> String {
    let sockets = running.sockets.replace('/', "%2F");
    format!("postgres://headgate:{}@localhost/{name}?host={sockets}", running.password)
}
