//! `headgate doctor`: what is needed, looked at one by one; it never prints a secret.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Result;
use headgate_gateway::{File, Launch};
use headgate_store::{Binaries, Database, Target};
use headgate_vault::{Kind, SealKey, Vault};
use serde::Serialize;

/// Flags.
#[derive(clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The data directory
    #[arg(long, env = "HEADGATE_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The address
    #[arg(long, env = "HEADGATE_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The database
    #[arg(long, env = "HEADGATE_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
    /// The vault
    #[arg(long, env = "HEADGATE_VAULT", value_name = "VAULT")]
    vault: Option<Kind>,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    ok: bool,
    text: String,
}

/// Looks at everything; fails if anything is wrong.
pub fn run(args: Args) -> Result<ExitCode> {
    let json = args.json;
    let findings = tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(look(args))?;
    if json {
        println!("{}", serde_json::to_string_pretty(&findings)?);
    } else {
        for finding in &findings {
            println!("{} {:<14} {}", if finding.ok { "ok  " } else { "FAIL" }, finding.what, finding.text);
        }
    }
    Ok(if findings.iter().all(|f| f.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn look(args: Args) -> Result<Vec<Finding>> {
    let given = Launch {
        listen: args.listen,
        database_url: args.database_url,
        data_dir: args.data_dir,
        vault: args.vault,
        ..Launch::default()
    };
    let launch = given.over(File::load()?)?;
    let (data_dir, listen) = (launch.data_dir()?, launch.address());
    let running = std::fs::read_to_string(data_dir.join("instance.json"))
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let finding = |what, ok, text: String| Finding { what, ok, text };
    let mut all = Vec::new();

    all.push(match std::net::TcpListener::bind(listen) {
        Ok(_) => finding("port", true, format!("{listen} is free")),
        Err(_) if running.is_some() => {
            finding("port", true, format!("{listen} is in use, and a gateway of this data directory runs"))
        }
        Err(why) => finding(
            "port",
            false,
            format!(
                "{listen} cannot be listened on ({why}); end the program that has it, or choose another with --listen"
            ),
        ),
    });
    let writable = std::fs::create_dir_all(&data_dir).and_then(|()| {
        let probe = data_dir.join(".doctor");
        std::fs::write(&probe, b"x")?;
        std::fs::remove_file(&probe)
    });
    all.push(match writable {
        Ok(()) => finding("data directory", true, format!("{} can be written", data_dir.display())),
        Err(why) => finding(
            "data directory",
            false,
            format!(
                "{} cannot be written ({why}); change its owner, or choose another with --data-dir",
                data_dir.display()
            ),
        ),
    });
    all.push(match launch.database_url {
        Some(url) => match tokio::time::timeout(Duration::from_secs(15), Database::connect(&Target::Url(url))).await {
            Ok(Ok(database)) => finding(
                "database",
                true,
                format!("PostgreSQL {} answers", database.server_version().await.unwrap_or_default()),
            ),
            Ok(Err(why)) => finding("database", false, why.to_string()),
            Err(_) => finding("database", false, "the database did not answer within 15 s".to_owned()),
        },
        None => match Binaries::find(&data_dir) {
            Ok(found) => {
                finding("database", true, format!("embedded, with the programs of PostgreSQL {}", found.major))
            }
            Err(why) => finding("database", false, why.to_string()),
        },
    });
    let kind = launch.vault.unwrap_or(Kind::Keychain);
    let vault = match kind {
        Kind::Keychain => Ok(Vault::keychain()),
        Kind::Memory => Ok(Vault::memory()),
        Kind::File => SealKey::from_environment(|name| std::env::var(name).ok())
            .and_then(|key| Vault::file(data_dir.join("vault.sealed"), &key)),
    };
    let probed = match vault {
        Ok(vault) => vault.probe().await,
        Err(why) => Err(why),
    };
    all.push(match probed {
        Ok(()) => finding("vault", true, format!("the {} can be written and read", kind.as_str())),
        Err(why) => finding("vault", false, why.to_string()),
    });
    let proxies: Vec<String> = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
        .iter()
        .filter(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()))
        .map(|name| (*name).to_owned())
        .collect();
    all.push(finding(
        "proxies",
        true,
        if proxies.is_empty() {
            "the environment names none".to_owned()
        } else {
            format!("upstreams without a proxy of their own use the environment's ({})", proxies.join(", "))
        },
    ));
    #[expect(clippy::disallowed_methods, reason = "the clock is what is looked at")]
    let year_is_plausible = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .is_ok_and(|since| (1_750_000_000..4_000_000_000).contains(&since.as_secs()));
    all.push(if year_is_plausible {
        finding("clock", true, "plausible".to_owned())
    } else {
        finding("clock", false, "the clock is years off; set it, or certificates and records will be wrong".to_owned())
    });
    Ok(all)
}
