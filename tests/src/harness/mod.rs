//! The real program with a real PostgreSQL: one cluster per test process, a database and a data directory per test.

mod database;
mod raw;

use std::{
    collections::HashMap,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, Command},
};

pub use self::{
    database::Database,
    raw::{RawAnswer, raw},
};

/// The key of most tests.
pub const KEY: &str = "hg-0123456789012345678901";
/// How long a test waits for what it was promised.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until something is so.
pub async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Where the program under test is.
pub fn program() -> PathBuf {
    if let Some(path) = std::env::var_os("HEADGATE_BIN") {
        return path.into();
    }
    let me = std::env::current_exe().unwrap();
    let found = me.ancestors().map(|folder| folder.join("headgate")).find(|path| path.is_file());
    found.expect("the program is built: run 'cargo build -p headgate' first, or set HEADGATE_BIN")
}

const FOLDERS: &str = "headgate-test-";

/// Removes what earlier test processes left: a cluster lives as long as its process, so its folder outlives both.
fn sweep() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for entry in std::fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
            let name = entry.file_name();
            let Some(rest) = name.to_str().and_then(|n| n.strip_prefix(FOLDERS)) else { continue };
            let pid = rest.split('-').next().and_then(|p| p.parse::<i32>().ok());
            if pid.is_some_and(|pid| !is_alive(pid)) {
                // Another test process may sweep at the same time.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    });
}

/// A folder that the database's user may enter.
pub fn folder() -> TempDir {
    sweep();
    let prefix = format!("{FOLDERS}{}-", std::process::id());
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// How a program is started.
pub struct Setup {
    configuration: String,
    environment: HashMap<String, String>,
    flags: Vec<String>,
    mounts: Option<String>,
}

impl Setup {
    /// With this configuration file.
    pub fn new(configuration: &str) -> Self {
        Self { configuration: configuration.to_owned(), environment: HashMap::new(), flags: Vec::new(), mounts: None }
    }

    /// With a variable in its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With a further flag.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// With file systems of its own: a line of shell that is run before it, with the data directory in `$DATA`.
    /// Needs a user who may mount.
    #[must_use]
    pub fn mounting(mut self, line: &str) -> Self {
        self.mounts = Some(line.to_owned());
        self
    }

    fn command(&self, data: &std::path::Path) -> Command {
        let Some(mounts) = &self.mounts else { return Command::new(program()) };
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-ec"]);
        command.arg(format!("mkdir -p \"$DATA\"; {mounts}; exec \"$0\" \"$@\"")).arg(program()).env("DATA", data);
        command
    }

    /// Starts it and waits until it is ready.
    pub async fn start(self) -> Headgate {
        let database = Database::create().await;
        self.start_on(database).await
    }

    /// Starts it on this database, which others may use, too.
    pub async fn start_on(self, database: Database) -> Headgate {
        let folder = folder();
        let mut headgate = Headgate {
            setup: self,
            folder,
            database,
            child: None,
            url: String::new(),
            log: std::sync::Arc::default(),
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
        };
        headgate.restart().await;
        headgate
    }
}

/// A running program.
pub struct Headgate {
    setup: Setup,
    folder: TempDir,
    /// Its database.
    pub database: Database,
    child: Option<Child>,
    /// `http://127.0.0.1:PORT`
    pub url: String,
    log: std::sync::Arc<parking_lot::Mutex<String>>,
    /// For requests to it.
    pub client: reqwest::Client,
}

impl Headgate {
    /// Starts with this configuration.
    pub async fn start(configuration: &str) -> Self {
        Setup::new(configuration).start().await
    }

    /// Its data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Everything it has logged.
    pub fn log(&self) -> String {
        self.log.lock().clone()
    }

    /// Changes a variable of its environment for its next start.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.setup.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Changes the configuration file it applies at its next start.
    pub fn set_configuration(&mut self, configuration: &str) {
        configuration.clone_into(&mut self.setup.configuration);
    }

    /// The process id.
    pub fn pid(&self) -> i32 {
        self.child.as_ref().and_then(Child::id).unwrap().try_into().unwrap()
    }

    /// Starts it (again) and waits until it is ready.
    pub async fn restart(&mut self) {
        let file = self.folder.path().join("headgate.yaml");
        std::fs::write(&file, &self.setup.configuration).unwrap();
        let mut command = self.setup.command(&self.data_dir());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(self.data_dir())
            .arg("--apply")
            .arg(&file)
            .args(&self.setup.flags)
            .env("HEADGATE_DATABASE_URL", self.database.url())
            .env("HEADGATE_VAULT", "memory")
            .envs(&self.setup.environment)
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut errors = child.stderr.take().unwrap();
        let log = std::sync::Arc::clone(&self.log);
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = errors.read(&mut buffer).await {
                log.lock().push_str(&String::from_utf8_lossy(&buffer[..n]));
            }
        });
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let line = line.ok().and_then(Result::ok).flatten();
        let Some(url) = line.as_deref().and_then(|l| l.strip_prefix("headgate ready on ")) else {
            let _ = child.kill().await;
            panic!("headgate did not become ready; it said:\n{}", self.log());
        };
        self.url = url.to_owned();
        self.child = Some(child);
    }

    /// Ends it at once, as a power cut would.
    pub async fn kill9(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().await.unwrap();
        }
    }

    /// Asks it to stop; gives its exit code.
    pub async fn terminate(&mut self) -> Option<i32> {
        let pid = self.pid();
        signal(pid, libc::SIGTERM);
        let mut child = self.child.take().unwrap();
        let status = tokio::time::timeout(Duration::from_secs(40), child.wait()).await.expect("it stops").unwrap();
        status.code()
    }

    /// The usual program in front of one upstream that takes every protocol.
    pub async fn before(fake: &crate::fake::Fake) -> Self {
        Self::start(&Self::configuration_before(fake)).await
    }

    /// The usual key, and behind it this upstream alone.
    pub fn configuration_before(fake: &crate::fake::Fake) -> String {
        format!(
            "version: 1\nupstreams: [ {{ name: a, base_url: '{}' }} ]\ngroups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]\n\
             keys: [ {{ name: k, group: g, secret: {KEY} }} ]\n",
            fake.url()
        )
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// The head of a request with the usual key, as bytes on the wire, still open at its end.
    pub fn open_head(&self) -> String {
        let host = self.host();
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nx-api-key: {KEY}\r\ncontent-type: application/json\r\n"
        )
    }

    /// The admin token.
    pub fn admin_token(&self) -> String {
        std::fs::read_to_string(self.data_dir().join("admin-token")).unwrap().trim().to_owned()
    }

    /// A POST with the usual key.
    pub fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.client.post(format!("{}{path}", self.url)).bearer_auth(KEY).json(body)
    }

    /// A question in the protocol of a path, with the usual key.
    pub fn ask(&self, path: &str, model: &str, stream: bool) -> reqwest::RequestBuilder {
        self.post(path, &question(path, model, stream))
    }

    /// A call of the admin API; its answer must be a success.
    pub async fn admin(&self, method: reqwest::Method, path: &str, body: Option<Value>) -> Value {
        let (status, value) = self.admin_raw(method, path, body).await;
        assert!(status < 300, "{path}: {status} {value}");
        value
    }

    /// A call of the admin API.
    pub async fn admin_raw(&self, method: reqwest::Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request =
            self.client.request(method, format!("{}/admin/v1{path}", self.url)).bearer_auth(self.admin_token());
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// The record of a request, once it is stored, with its attempts.
    pub async fn record(&self, id: &str) -> (Value, Vec<Value>) {
        self.database.record(id).await
    }

    /// The record of the request a response belongs to.
    pub async fn record_of(&self, response: &reqwest::Response) -> (Value, Vec<Value>) {
        self.record(header(response, "x-headgate-request-id").expect("the answer names its request")).await
    }

    /// The health of an upstream.
    pub async fn health(&self, upstream: &str) -> Value {
        let list = self.admin(reqwest::Method::GET, "/upstreams", None).await;
        let found = list["items"].as_array().unwrap().iter().find(|u| u["name"] == upstream).cloned();
        found.expect("the upstream is configured")["health"].clone()
    }

    /// The path of the configuration file it applies at its start.
    pub fn configuration_file(&self) -> PathBuf {
        self.folder.path().join("headgate.yaml")
    }
}

/// A header of an answer.
pub fn header<'r>(response: &'r reqwest::Response, name: &str) -> Option<&'r str> {
    response.headers().get(name).and_then(|v| v.to_str().ok())
}

/// A small question in the protocol of a path.
pub fn question(path: &str, model: &str, stream: bool) -> Value {
    let mut body = if path.ends_with("/responses") {
        serde_json::json!({"model":model,"input":"hi"})
    } else {
        serde_json::json!({"model":model,"max_tokens":16,"messages":[{"role":"user","content":"hi"}]})
    };
    if stream {
        body["stream"] = true.into();
    }
    body
}

/// Whether a process runs.
#[expect(unsafe_code, reason = "kill has no preconditions; signal 0 only asks")]
pub fn is_alive(pid: i32) -> bool {
    unsafe { libc::kill(pid, 0) == 0 }
}

/// Sends a signal.
#[expect(unsafe_code, reason = "kill has no preconditions")]
pub fn signal(pid: i32, signal: i32) {
    unsafe { libc::kill(pid, signal) };
}

/// Paths of the three protocols.
pub const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];
