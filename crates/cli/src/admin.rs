//! Commands that speak to a running gateway: `apply` and `export`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use headgate_gateway::{File, Launch};
use serde_json::Value;

/// How a running gateway is found.
#[derive(clap::Args)]
pub struct Find {
    /// The gateway's address, such as http://127.0.0.1:8642; found by the data directory when absent
    #[arg(long, env = "HEADGATE_URL", value_name = "URL")]
    url: Option<String>,
    /// File with its admin token
    #[arg(long, env = "HEADGATE_ADMIN_TOKEN_FILE", value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// Its data directory
    #[arg(long, env = "HEADGATE_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// Flags of `apply`.
#[derive(clap::Args)]
pub struct ApplyArgs {
    /// The configuration file; - for standard input
    file: PathBuf,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Also remove what the file does not list
    #[arg(long)]
    prune: bool,
    /// Refuse if the configuration is at another revision
    #[arg(long, value_name = "N")]
    expect_revision: Option<i64>,
    /// Make a listed name anew although its object was renamed since the last apply
    #[arg(long)]
    allow_recreate: bool,
    #[command(flatten)]
    find: Find,
}

/// Flags of `export`.
#[derive(clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    find: Find,
}

/// A running gateway.
pub struct Running {
    url: String,
    token: String,
}

impl Find {
    pub fn running(self) -> Result<Running> {
        let data_dir = Launch { data_dir: self.data_dir, ..Launch::default() }.over(File::load()?)?.data_dir()?;
        let url = match self.url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => address_of(&data_dir)?,
        };
        let token_file = self.admin_token_file.unwrap_or_else(|| data_dir.join("admin-token"));
        let token = std::fs::read_to_string(&token_file).with_context(|| {
            format!(
                "the admin token cannot be read from {}; name its file with --admin-token-file",
                token_file.display()
            )
        })?;
        Ok(Running { url, token: token.trim().to_owned() })
    }
}

/// The address in `instance.json`.
fn address_of(data_dir: &Path) -> Result<String> {
    let path = data_dir.join("instance.json");
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!(
            "no gateway runs with the data directory {}; start one with 'headgate serve', or name it with --url",
            data_dir.display()
        )
    })?;
    let instance: Value = serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
    let address = instance
        .get("address")
        .and_then(Value::as_str)
        .with_context(|| format!("{} has no address", path.display()))?;
    Ok(format!("http://{address}"))
}

/// One call; an error answer becomes a sentence.
pub async fn call(running: &Running, method: reqwest::Method, path: &str, body: Option<String>) -> Result<String> {
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(300)).build()?;
    let mut request = client.request(method, format!("{}/admin/v1{path}", running.url)).bearer_auth(&running.token);
    if let Some(body) = body {
        request = request.header("content-type", "application/yaml").body(body);
    }
    let response = request.send().await.map_err(|why| {
        anyhow::anyhow!("{} does not answer ({}); is the gateway running?", running.url, why.without_url())
    })?;
    let status = response.status();
    let text = response.text().await?;
    if status.is_success() {
        return Ok(text);
    }
    let error = serde_json::from_str::<Value>(&text).ok().and_then(|v| v.get("error").cloned()).unwrap_or_default();
    let problems = error.get("problems").and_then(Value::as_array).cloned().unwrap_or_default();
    if !problems.is_empty() {
        for problem in &problems {
            let part = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            eprintln!("  {}: {}", part("path"), part("message"));
        }
        bail!("the file was refused, nothing was changed");
    }
    bail!("{}", error.get("message").and_then(Value::as_str).unwrap_or("the gateway refused"));
}

pub fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// The text of a file, or of standard input.
pub fn read(file: &Path) -> Result<String> {
    if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).context("standard input cannot be read")
    } else {
        std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
    }
}

/// `headgate apply FILE`.
pub fn apply(args: ApplyArgs) -> Result<ExitCode> {
    let text = read(&args.file)?;
    let running = args.find.running()?;
    let mut query = format!("?dry_run={}&prune={}&allow_recreate={}", args.dry_run, args.prune, args.allow_recreate);
    if let Some(revision) = args.expect_revision {
        query.push_str(&format!("&expect_revision={revision}"));
    }
    let answer = block_on(call(&running, reqwest::Method::POST, &format!("/apply{query}"), Some(text)))?;
    let answer: Value = serde_json::from_str(&answer).context("the gateway's answer is not understood")?;
    print_changes(answer.get("changes").and_then(Value::as_array).map_or(&[], Vec::as_slice));
    for note in answer.get("notes").and_then(Value::as_array).into_iter().flatten() {
        let part = |name: &str| note.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        eprintln!("note: {} {}", part("path"), part("message"));
    }
    for key in answer.get("new_keys").and_then(Value::as_array).into_iter().flatten() {
        let part = |name: &str| key.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        println!("new access key {}: {}   (shown once)", part("name"), part("secret"));
    }
    let revision = answer.get("revision").and_then(Value::as_i64).unwrap_or(0);
    let changed = answer.get("changed").and_then(Value::as_bool).unwrap_or(false);
    match (args.dry_run, changed) {
        (true, _) => println!("dry run: nothing was changed (revision {revision})"),
        (false, true) => println!("applied as revision {revision}"),
        (false, false) => println!("nothing to change (revision {revision})"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a difference, a line a field.
fn print_changes(changes: &[Value]) {
    for change in changes {
        let part = |name: &str| change.get(name).and_then(Value::as_str).unwrap_or_default();
        let mark = match part("action") {
            "create" => '+',
            "delete" => '-',
            _ => '~',
        };
        println!("{mark} {} {}", part("section"), part("name"));
        for field in change.get("fields").and_then(Value::as_array).into_iter().flatten() {
            let path = field.get("path").and_then(Value::as_str).unwrap_or_default();
            let side = |name: &str| field.get(name).map(ToString::to_string);
            match (mark, side("before"), side("after")) {
                ('+', _, Some(after)) => println!("    {path}: {after}"),
                (_, Some(before), Some(after)) => println!("    {path}: {before} -> {after}"),
                (_, None, Some(after)) => println!("    {path}: + {after}"),
                (_, Some(before), None) => println!("    {path}: - {before}"),
                _ => {}
            }
        }
    }
}

/// `headgate export`.
pub fn export(args: ExportArgs) -> Result<ExitCode> {
    let running = args.find.running()?;
    print!("{}", block_on(call(&running, reqwest::Method::GET, "/export", None))?);
    Ok(ExitCode::SUCCESS)
}
