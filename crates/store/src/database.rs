//! The connection pool, the migrations, and the row that all processes on one database share.

use std::{str::FromStr, time::Duration};

use chrono::{DateTime, Utc};
use sqlx::{
    Connection, PgConnection, PgPool,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};

const MIGRATIONS_TABLE: &str = "headgate.migrations";
const CONNECTIONS: u32 = 8;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Set on every connection. A plan made for the values at hand is what makes optional filters use their indexes;
/// compiling such a plan takes seconds where running it takes milliseconds.
const SESSION: &str = "set statement_timeout = '30s'; set lock_timeout = '10s'; \
    set idle_in_transaction_session_timeout = '60s'; set plan_cache_mode = force_custom_plan; \
    set jit = off; \
    set timezone = 'UTC'; set client_min_messages = warning";

/// Where the database is.
#[derive(Debug, Clone)]
pub enum Target {
    /// `postgres://user:password@host:port/database`.
    Url(String),
    /// The embedded cluster, see [`crate::Cluster::target`]; its database is made when it is missing.
    Embedded(Box<PgConnectOptions>),
}

/// Connected PostgreSQL. Clones share one pool.
#[derive(Debug, Clone)]
pub struct Database {
    pool: PgPool,
}

/// What all processes on one database share.
#[derive(Clone)]
pub struct Instance {
    /// Keys the hashes of access keys.
    pub pepper: [u8; 32],
    /// When the schema was made.
    pub created_at: DateTime<Utc>,
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance").field("created_at", &self.created_at).finish_non_exhaustive()
    }
}

/// What can go wrong with the database.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The URL cannot be read. The cause is left out: it may hold the password.
    #[error("The database URL is not valid; write it like postgres://user:password@host:5432/database.")]
    Url,
    /// Nobody answers.
    #[error("The database at {place} cannot be reached ({reason}); check that PostgreSQL runs there and the address.")]
    Unreachable {
        /// Host and port, or the socket.
        place: String,
        /// The cause.
        reason: String,
    },
    /// User or password is wrong.
    #[error("The database at {place} refused user '{user}' ({reason}); correct user and password in the database URL.")]
    Refused {
        /// Host and port, or the socket.
        place: String,
        /// The user.
        user: String,
        /// The server's words.
        reason: String,
    },
    /// There is no such database.
    #[error("There is no database '{name}' at {place}; create it with: createdb {name}")]
    Missing {
        /// Host and port, or the socket.
        place: String,
        /// The database.
        name: String,
    },
    /// The server is too old.
    #[error(
        "The database server is PostgreSQL {found}, but 15 or newer is needed; upgrade it or use the embedded one."
    )]
    TooOld {
        /// Its major version.
        found: i32,
    },
    /// The schema was made by a newer program.
    #[error(
        "The database has schema version {found}, made by a newer Headgate, and this one knows {known}; \
         start the newer Headgate or restore a backup made before the upgrade."
    )]
    Newer {
        /// Version in the database.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// A migration could not be applied.
    #[error("The database schema cannot be upgraded ({0}); nothing was changed, correct the cause and start again.")]
    Migration(#[source] MigrateError),
    /// A document in the database cannot be read.
    #[error("{what} in the database cannot be read ({reason}); it was written by another version of Headgate.")]
    Unreadable {
        /// Which one.
        what: String,
        /// The cause.
        reason: String,
    },
    /// The answer took too long.
    #[error("The database did not answer in time; check its load and its locks.")]
    Slow,
    /// A query failed.
    #[error("The database could not do it ({0}); check its log and its free disk space.")]
    Query(#[source] sqlx::Error),
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        let canceled = matches!(&error, sqlx::Error::Database(e) if e.code().as_deref() == Some("57014"));
        if canceled || matches!(error, sqlx::Error::PoolTimedOut) { Self::Slow } else { Self::Query(error) }
    }
}

impl DatabaseError {
    /// The SQLSTATE, where the server gave one.
    pub fn code(&self) -> Option<String> {
        match self {
            Self::Query(sqlx::Error::Database(e)) => e.code().map(|code| code.into_owned()),
            _ => None,
        }
    }
}

impl Database {
    /// Connects once, with an error that names what is wrong, then keeps a pool that reconnects by itself.
    pub async fn connect(target: &Target) -> Result<Self, DatabaseError> {
        let options = match target {
            // The parser would take any scheme.
            Target::Url(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                PgConnectOptions::from_str(url).map_err(|_| DatabaseError::Url)?
            }
            Target::Url(_) => return Err(DatabaseError::Url),
            Target::Embedded(options) => (**options).clone(),
        };
        let options = options.application_name("headgate");
        match probe(&options).await {
            Err(DatabaseError::Missing { name, .. }) if matches!(target, Target::Embedded(_)) => {
                create_database(&options, &name).await?;
                probe(&options).await?;
            }
            other => other?,
        }
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(CONNECT_TIMEOUT)
            .after_connect(|connection, _| {
                Box::pin(async move { sqlx::raw_sql(SESSION).execute(connection).await.map(drop) })
            })
            .connect_lazy_with(options);
        Ok(Self { pool })
    }

    /// Brings the schema up to date, one process at a time, and returns the shared row. Repeating it changes nothing.
    pub async fn migrate(&self) -> Result<Instance, DatabaseError> {
        let mut migrator = sqlx::migrate!("../../migrations");
        migrator.dangerous_set_table_name(MIGRATIONS_TABLE);
        migrator.create_schema("headgate");
        // A migration may take its time; the connection is closed afterwards and takes its lock with it.
        let mut connection = self.pool.acquire().await?.detach();
        sqlx::raw_sql("set statement_timeout = 0; set lock_timeout = 0").execute(&mut connection).await?;
        let outcome = migrator.run_direct(None, &mut connection, false).await;
        // The outcome stands, whether the goodbye arrives or not.
        let _ = connection.close().await;
        outcome.map_err(|error| newer_or(error, &migrator))?;
        self.instance().await
    }

    async fn instance(&self) -> Result<Instance, DatabaseError> {
        let mut fresh = [0_u8; 32];
        getrandom::fill(&mut fresh).map_err(|e| DatabaseError::Query(sqlx::Error::Io(e.into())))?;
        sqlx::query!("insert into headgate.instance (pepper) values ($1) on conflict do nothing", &fresh[..])
            .execute(&self.pool)
            .await?;
        let row = sqlx::query!("select pepper, created_at from headgate.instance").fetch_one(&self.pool).await?;
        let pepper = row.pepper.try_into().map_err(|_| DatabaseError::Unreadable {
            what: "The pepper".into(),
            reason: "it is not 32 bytes long".into(),
        })?;
        Ok(Instance { pepper, created_at: row.created_at })
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), DatabaseError> {
        tokio::time::timeout(CONNECT_TIMEOUT, sqlx::query_scalar!("select 1").fetch_one(&self.pool))
            .await
            .map_err(|_| DatabaseError::Slow)??;
        Ok(())
    }

    /// The server's version as it calls it.
    pub async fn server_version(&self) -> Result<String, DatabaseError> {
        let version = sqlx::query_scalar!("select current_setting('server_version')").fetch_one(&self.pool).await?;
        Ok(version.unwrap_or_default())
    }

    /// Ends all connections; waits for those in use.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// The pool, for tests that look into tables.
    #[doc(hidden)]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }
}

/// A single connection tells the cause of a failure; a pool would only tell that time ran out.
async fn probe(options: &PgConnectOptions) -> Result<(), DatabaseError> {
    let mut connection = connect_once(options).await?;
    let version = sqlx::query_scalar!("select current_setting('server_version_num')::int / 10000")
        .fetch_one(&mut connection)
        .await?
        .unwrap_or_default();
    let _ = connection.close().await;
    if version < 15 { Err(DatabaseError::TooOld { found: version }) } else { Ok(()) }
}

async fn connect_once(options: &PgConnectOptions) -> Result<PgConnection, DatabaseError> {
    match tokio::time::timeout(CONNECT_TIMEOUT, PgConnection::connect_with(options)).await {
        Ok(connected) => connected.map_err(|error| refusal(error, options)),
        Err(_) => Err(DatabaseError::Unreachable { place: place(options), reason: "no answer in 10 s".into() }),
    }
}

fn refusal(error: sqlx::Error, options: &PgConnectOptions) -> DatabaseError {
    let place = place(options);
    match &error {
        sqlx::Error::Database(e) => match e.code().as_deref() {
            Some("3D000") => {
                let name = options.get_database().unwrap_or(options.get_username()).to_owned();
                DatabaseError::Missing { place, name }
            }
            Some("28P01" | "28000" | "42501") => DatabaseError::Refused {
                place,
                user: options.get_username().to_owned(),
                reason: e.message().to_owned(),
            },
            _ => DatabaseError::Unreachable { place, reason: e.message().to_owned() },
        },
        other => DatabaseError::Unreachable { place, reason: other.to_string() },
    }
}

fn place(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

async fn create_database(options: &PgConnectOptions, name: &str) -> Result<(), DatabaseError> {
    let mut connection = connect_once(&options.clone().database("postgres")).await?;
    let quoted = name.replace('"', "\"\"");
    let made =
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("create database \"{quoted}\""))).execute(&mut connection).await;
    let _ = connection.close().await;
    match made {
        Err(sqlx::Error::Database(e)) if e.code().as_deref() == Some("42P04") => Ok(()),
        other => Ok(other.map(drop)?),
    }
}

fn newer_or(error: MigrateError, migrator: &Migrator) -> DatabaseError {
    match error {
        MigrateError::VersionMissing(found) => {
            DatabaseError::Newer { found, known: migrator.iter().map(|m| m.version).max().unwrap_or(0) }
        }
        other => DatabaseError::Migration(other),
    }
}
