//! Who is compared: the mock upstream reached directly, through nginx, and through Headgate.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result};

use super::children::{Children, tied};
use crate::process;

/// The access key of the benchmark's own configuration; it opens nothing else.
pub const KEY: &str = "hg-benchmarkbenchmarkbenchmark";
/// The key of the group whose upstream speaks another protocol.
const TRANSLATED_KEY: &str = "hg-benchmarkbenchmarktranslated";
const UPSTREAM_KEY: &str = "HEADGATE_BENCH_UPSTREAM_KEY";

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// Straight to the upstream.
    Direct,
    /// nginx as a bare reverse proxy.
    Nginx,
    /// A bare proxy of the same library.
    Bare,
    /// The gateway.
    Headgate,
    /// The gateway, where it has to translate.
    Translated,
}

impl Party {
    /// Who only passes on.
    pub const PASSING: [Self; 4] = [Self::Direct, Self::Nginx, Self::Bare, Self::Headgate];

    /// The access key that a request has.
    pub fn key(self) -> &'static str {
        match self {
            Self::Translated => TRANSLATED_KEY,
            Self::Direct | Self::Nginx | Self::Bare | Self::Headgate => KEY,
        }
    }
}

/// Everybody, running.
pub struct Parties {
    /// The upstream's address.
    pub mock: SocketAddr,
    nginx: SocketAddr,
    bare: SocketAddr,
    headgate: SocketAddr,
    /// The gateway's process.
    pub headgate_pid: u32,
    /// The worker of nginx.
    pub nginx_pid: u32,
    /// The bare proxy.
    pub bare_pid: u32,
}

impl Parties {
    /// Starts all of them.
    pub async fn start(children: &Children, folder: &Path, program: &Path) -> Result<Self> {
        let mut mock = tokio::process::Command::new(std::env::current_exe()?);
        // Its input stays open as long as this process lives.
        mock.args(["mock", "--until-stdin-closes"]).stdin(Stdio::piped()).kill_on_drop(true);
        let (_, address) = children.start_until(&mut mock, "ready on", Duration::from_secs(10)).await?;
        let mock = address.parse().context("the mock upstream's address")?;
        let (nginx, master) = start_nginx(children, folder, mock).await?;
        let nginx_pid = process::children(master).first().copied().unwrap_or(master);
        let mut bare = tokio::process::Command::new(std::env::current_exe()?);
        bare.args(["bare", "--until-stdin-closes", "--to", &mock.to_string()]).stdin(Stdio::piped()).kill_on_drop(true);
        let (bare_pid, address) = children.start_until(&mut bare, "ready on", Duration::from_secs(10)).await?;
        let bare = address.parse().context("the bare proxy's address")?;
        let data = folder.join("gateway");
        let mut gateway = gateway(program, folder, &data, Some(&configuration(folder, mock)?))?;
        let (headgate_pid, address) = start_gateway(children, &mut gateway, folder).await?;
        Ok(Self { mock, nginx, bare, headgate: address, headgate_pid, nginx_pid, bare_pid })
    }

    /// Where to ask for this party.
    pub fn address(&self, party: Party) -> SocketAddr {
        match party {
            Party::Direct => self.mock,
            Party::Nginx => self.nginx,
            Party::Bare => self.bare,
            Party::Headgate | Party::Translated => self.headgate,
        }
    }
}

/// The mock as an upstream of the client's protocol and of another, a group and a key for each; the credential comes
/// from the environment.
pub fn configuration(folder: &Path, mock: SocketAddr) -> Result<PathBuf> {
    let path = folder.join("bench.yaml");
    let mut lists = ["upstreams", "groups", "keys"].map(|list| format!("{list}:\n"));
    for (name, protocol, key) in [("bench", "openai", KEY), ("translated", "claude", TRANSLATED_KEY)] {
        let [upstreams, groups, keys] = &mut lists;
        upstreams.push_str(&format!(
            "  - {{ name: {name}, base_url: \"http://{mock}\", protocol: {protocol}, proxy: direct, credentials: [ {{ env: {UPSTREAM_KEY} }} ] }}\n"
        ));
        groups.push_str(&format!("  - {{ name: {name}, members: [ {{ upstream: {name} }} ] }}\n"));
        keys.push_str(&format!("  - {{ name: {name}, group: {name}, secret: \"{key}\" }}\n"));
    }
    fs::write(&path, format!("version: 1\n{}", lists.concat()))?;
    Ok(path)
}

/// The command that serves, with nothing taken over from this process's own settings.
pub fn gateway(program: &Path, folder: &Path, data: &Path, apply: Option<&Path>) -> Result<tokio::process::Command> {
    let mut command = tied(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("HEADGATE_") && !name.starts_with("HEADGATE_PG_") {
            command.env_remove(&*name);
        }
    }
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("headgate.log"))?;
    command
        .args(["serve", "--vault", "memory", "--listen"])
        .arg(free_address()?.to_string())
        .arg("--data-dir")
        .arg(data)
        .env(UPSTREAM_KEY, "sk-benchmark")
        .current_dir(folder)
        .stderr(log);
    if let Some(file) = apply {
        command.arg("--apply").arg(file);
    }
    Ok(command)
}

/// Starts it and waits until it is ready; shows its log if that fails.
pub async fn start_gateway(
    children: &Children,
    command: &mut tokio::process::Command,
    folder: &Path,
) -> Result<(u32, SocketAddr)> {
    let started = children.start_until(command, "headgate ready on http://", Duration::from_secs(180)).await;
    if started.is_err() {
        eprint!("{}", fs::read_to_string(folder.join("headgate.log")).unwrap_or_default());
    }
    let (pid, address) = started?;
    Ok((pid, address.parse().context("Headgate's address")?))
}

/// A port that nobody has at the moment.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

async fn start_nginx(children: &Children, folder: &Path, mock: SocketAddr) -> Result<(SocketAddr, u32)> {
    let address = free_address()?;
    let prefix = folder.join("nginx");
    fs::create_dir_all(&prefix)?;
    let file = prefix.join("nginx.conf");
    fs::write(&file, nginx_configuration(address, mock, rustix::process::geteuid().is_root()))?;
    let mut command = tied(&nginx_program());
    command.arg("-p").arg(&prefix).arg("-c").arg(&file).stderr(fs::File::create(prefix.join("log"))?);
    let pid = children.start(&mut command)?;
    for _ in 0..500 {
        if tokio::net::TcpStream::connect(address).await.is_ok() {
            return Ok((address, pid));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let said = fs::read_to_string(prefix.join("log")).unwrap_or_default();
    anyhow::bail!("nginx did not start: {said}")
}

/// Outside root's search path on some systems.
fn nginx_program() -> PathBuf {
    let usual = Path::new("/usr/sbin/nginx");
    if usual.exists() { usual.to_owned() } else { PathBuf::from("nginx") }
}

fn nginx_configuration(address: SocketAddr, mock: SocketAddr, root: bool) -> String {
    let user = if root { "user root;\n" } else { "" };
    let folders: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path temp_{name};\n"))
        .concat();
    format!(
        "{user}daemon off;\nworker_processes 1;\nworker_rlimit_nofile 16384;\npid nginx.pid;\nerror_log stderr warn;\n\
         events {{ worker_connections 8192; }}\nhttp {{\n{folders}  access_log off;\n  tcp_nodelay on;\n  \
         client_max_body_size 64m;\n  client_body_buffer_size 4m;\n  keepalive_requests 1000000000;\n  \
         keepalive_timeout 3600s;\n  upstream mock {{ server {mock}; keepalive 256; keepalive_requests 1000000000; }}\n  \
         server {{\n    listen {address};\n    location / {{\n      proxy_pass http://mock;\n      \
         proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n      proxy_buffering off;\n    }}\n  }}\n}}\n"
    )
}
