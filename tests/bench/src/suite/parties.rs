//! Who is compared: the mock upstream reached directly, through nginx, through Headgate, and through other gateways.

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
    /// LiteLLM's proxy.
    LiteLlm,
    /// Portkey's gateway.
    Portkey,
    /// The desktop program, its window open.
    Window,
    /// The desktop program out of sight.
    Hidden,
}

impl Party {
    /// Who only passes on.
    pub const PASSING: [Self; 4] = [Self::Direct, Self::Nginx, Self::Bare, Self::Headgate];
}

/// How a party is reached.
#[derive(Debug, Clone)]
pub struct Place {
    /// Where it listens.
    pub address: SocketAddr,
    /// The access key that a request has.
    pub key: &'static str,
    /// Further headers that a request has, `name: value`.
    pub headers: Vec<String>,
    /// The process whose resources count as the party's; none where they do not.
    pub pid: Option<u32>,
}

/// Everybody who runs.
pub struct Parties(Vec<(Party, Place)>);

impl Parties {
    /// Starts all that every part of the suite needs.
    pub async fn start(children: &Children, folder: &Path, program: &Path) -> Result<Self> {
        let mock = start_mock(children).await?;
        let (nginx, master) = start_nginx(children, folder, mock).await?;
        let nginx_pid = process::children(master).first().copied().unwrap_or(master);
        let mut bare = tokio::process::Command::new(std::env::current_exe()?);
        bare.args(["bare", "--until-stdin-closes", "--to", &mock.to_string()]).stdin(Stdio::piped()).kill_on_drop(true);
        let (bare_pid, address) = children.start_until(&mut bare, "ready on", Duration::from_secs(10)).await?;
        let bare = address.parse().context("the bare proxy's address")?;
        let data = folder.join("gateway");
        let mut gateway = gateway(program, folder, &data, Some(&configuration(folder, mock)?))?;
        let (headgate_pid, headgate) = start_gateway(children, &mut gateway, folder).await?;
        let place = |address, key, pid| Place { address, key, headers: Vec::new(), pid };
        Ok(Self(vec![
            (Party::Direct, place(mock, KEY, None)),
            (Party::Nginx, place(nginx, KEY, Some(nginx_pid))),
            (Party::Bare, place(bare, KEY, Some(bare_pid))),
            (Party::Headgate, place(headgate, KEY, Some(headgate_pid))),
            (Party::Translated, place(headgate, TRANSLATED_KEY, Some(headgate_pid))),
        ]))
    }

    /// How to reach this party; an error if it does not run.
    pub fn place(&self, party: Party) -> Result<&Place> {
        let place = self.0.iter().find(|(one, _)| *one == party).map(|(_, place)| place);
        place.with_context(|| format!("{party:?} does not run"))
    }

    /// The process of this party.
    pub fn pid(&self, party: Party) -> Result<u32> {
        self.place(party)?.pid.with_context(|| format!("{party:?} has no process"))
    }

    /// Takes one more.
    pub fn add(&mut self, party: Party, place: Place) {
        self.0.push((party, place));
    }

    /// Leaves this one out from now on.
    pub fn remove(&mut self, party: Party) {
        self.0.retain(|(one, _)| *one != party);
    }
}

/// Starts the mock upstream.
pub async fn start_mock(children: &Children) -> Result<SocketAddr> {
    let mut mock = tokio::process::Command::new(std::env::current_exe()?);
    // Its input stays open as long as this process lives.
    mock.args(["mock", "--until-stdin-closes"]).stdin(Stdio::piped()).kill_on_drop(true);
    let (_, address) = children.start_until(&mut mock, "ready on", Duration::from_secs(10)).await?;
    address.parse().context("the mock upstream's address")
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

/// The command that serves.
pub fn gateway(program: &Path, folder: &Path, data: &Path, apply: Option<&Path>) -> Result<tokio::process::Command> {
    let mut command = apart(program, folder)?;
    command.args(["serve", "--vault", "memory", "--listen"]).arg(free_address()?.to_string());
    command.arg("--data-dir").arg(data);
    if let Some(file) = apply {
        command.arg("--apply").arg(file);
    }
    Ok(command)
}

/// A program of ours that knows the upstream's key, with nothing taken over from this process's own settings.
pub fn apart(program: &Path, folder: &Path) -> Result<tokio::process::Command> {
    let mut command = tied(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("HEADGATE_") && !name.starts_with("HEADGATE_PG_") {
            command.env_remove(&*name);
        }
    }
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("headgate.log"))?;
    command.env(UPSTREAM_KEY, "sk-benchmark").current_dir(folder).stderr(log);
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
pub fn free_address() -> Result<SocketAddr> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_run_cannot_be_asked_and_who_was_removed_neither() {
        let mut parties = Parties(Vec::new());
        let why = parties.place(Party::LiteLlm).unwrap_err().to_string();
        assert_eq!(why, "LiteLlm does not run");
        let address = SocketAddr::from(([127, 0, 0, 1], 4000));
        parties.add(Party::LiteLlm, Place { address, key: KEY, headers: Vec::new(), pid: Some(7) });
        assert_eq!(
            (parties.place(Party::LiteLlm).unwrap().address, parties.pid(Party::LiteLlm).unwrap()),
            (address, 7)
        );
        parties.remove(Party::LiteLlm);
        assert!(parties.place(Party::LiteLlm).is_err());
    }
}
