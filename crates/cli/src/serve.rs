//! `headgate serve`.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use headgate_gateway::{Applied, File, Launch, LogLayer};
use headgate_store::state_file;
use headgate_vault::Kind;

use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// Flags; each is also `HEADGATE_…` in the environment and a key of `headgate.toml`.
#[derive(clap::Args)]
pub struct Args {
    /// Address to listen on; a loopback address also opens [::1] on the same port [default: 127.0.0.1:8642]
    #[arg(long, env = "HEADGATE_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// PostgreSQL to use instead of the embedded one
    #[arg(long, env = "HEADGATE_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
    /// Where everything is kept
    #[arg(long, env = "HEADGATE_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Apply this configuration file before the first request is accepted
    #[arg(long, env = "HEADGATE_APPLY", value_name = "FILE")]
    apply: Option<PathBuf>,
    /// File with the admin token; made in the data directory when absent
    #[arg(long, env = "HEADGATE_ADMIN_TOKEN_FILE", value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// Open the admin API to peers beyond this machine
    #[arg(long, env = "HEADGATE_ADMIN_REMOTE")]
    admin_remote: bool,
    /// Where credentials are kept: keychain, file or memory [default: keychain]
    #[arg(long, env = "HEADGATE_VAULT", value_name = "VAULT")]
    vault: Option<Kind>,
    /// How the log on standard error looks
    #[arg(long, env = "HEADGATE_LOG_FORMAT", value_enum)]
    log_format: Option<LogFormat>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

fn start_log(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::try_from_env("HEADGATE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let log = match format {
        LogFormat::Text => log.with_ansi(terminal).boxed(),
        LogFormat::Json => log.json().boxed(),
    };
    tracing_subscriber::registry().with(filter).with(log).with(LogLayer).init();
}

/// Runs the gateway until a signal ends it.
pub fn run(args: Args) -> Result<ExitCode> {
    let file = File::load()?;
    let format = match (args.log_format, file.log_format.as_deref()) {
        (Some(format), _) => format,
        (None, Some(word)) => LogFormat::from_str(word, true)
            .map_err(|_| anyhow::anyhow!("log_format in headgate.toml is text or json, not '{word}'"))?,
        (None, None) => LogFormat::Text,
    };
    start_log(format);
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .context("the runtime could not be started")?;
    let code = runtime.block_on(Box::pin(serve(args, file)));
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    code
}

async fn serve(args: Args, file: File) -> Result<ExitCode> {
    let launch = Launch {
        listen: args.listen,
        database_url: args.database_url,
        data_dir: args.data_dir,
        apply: args.apply,
        admin_token_file: args.admin_token_file,
        admin_remote: args.admin_remote,
        vault: args.vault,
        passphrase: None,
    }
    .over(file)?;
    let (listen, data_path) = (launch.address(), launch.data_dir()?);
    if !listen.ip().is_loopback() {
        eprintln!(
            "headgate: listening on {listen} shares this gateway with the network; every request needs an access key"
        );
    }
    let handle = launch.start(|line| eprintln!("headgate: {line}")).await?;
    if let Some(applied) = &handle.applied {
        report(applied, &data_path)?;
    }
    println!("headgate ready on http://{}", handle.address());
    let mut signals = Signals::listen()?;
    signals.next().await?;
    eprintln!("headgate: stopping; open requests may finish (a second signal ends at once)");
    tokio::select! {
        () = Box::pin(handle.shutdown()) => {}
        again = signals.next() => {
            again?;
            std::process::exit(130);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells what `--apply` did; new keys go to a file of their own, never to the log.
fn report(applied: &Applied, data_dir: &std::path::Path) -> Result<()> {
    for note in &applied.notes {
        eprintln!("headgate: note: {note}");
    }
    if applied.new_keys.is_empty() {
        return Ok(());
    }
    let path = data_dir.join("new-keys.txt");
    let mut text = state_file::read(&path)?.unwrap_or_default();
    for key in &applied.new_keys {
        text.extend_from_slice(format!("{}\t{}\n", key.name, key.secret).as_bytes());
    }
    state_file::write(&path, &text)?;
    eprintln!(
        "headgate: {} new access key(s) are in {}; copy them and delete the file",
        applied.new_keys.len(),
        path.display()
    );
    Ok(())
}

/// SIGINT and SIGTERM (Ctrl-C elsewhere), heard from the first call on: none is lost between two waits.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn listen() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(not(unix))]
    fn listen() -> Result<Self> {
        Ok(Self {})
    }

    #[cfg(unix)]
    async fn next(&mut self) -> Result<()> {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        Ok(())
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Result<()> {
        Ok(tokio::signal::ctrl_c().await?)
    }
}
