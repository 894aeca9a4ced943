//! The programs of other gateways: one process each, set up as their makers advise for production. They run only while
//! they are compared, for an idle Python is not quiet.

use std::{
    env, fmt, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use anyhow::{Context as _, Result};
use tokio::process::Command;

use crate::{
    http::Target,
    suite::{
        children::{Children, tied},
        parties::{Party, Place, free_address},
        pause,
        start::answer,
    },
};

/// How long one may take to its first answer. LiteLLM reads much Python before.
const PATIENCE: Duration = Duration::from_secs(180);
/// LiteLLM's master key, which has to begin so; Portkey hands it on to the upstream, as its clients bring that one's key.
const KEY: &str = "sk-benchmarkbenchmarkbenchmark";

/// A gateway that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    kind: Kind,
    version: String,
    program: PathBuf,
}

/// Which gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// LiteLLM's proxy.
    LiteLlm,
    /// Portkey's gateway.
    Portkey,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(name, program)| Some((name.split_once('@')?, program)));
        let ((name, version), program) = parts.ok_or("NAME@VERSION=PROGRAM is wanted")?;
        let kind = match name {
            "litellm" => Kind::LiteLlm,
            "portkey" => Kind::Portkey,
            other => return Err(format!("{other} is not known; litellm and portkey are")),
        };
        Ok(Self { kind, version: version.to_owned(), program: PathBuf::from(program) })
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.version)
    }
}

impl Kind {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LiteLlm => "LiteLLM",
            Self::Portkey => "Portkey",
        }
    }

    /// As whom it takes part.
    pub fn party(self) -> Party {
        match self {
            Self::LiteLlm => Party::LiteLlm,
            Self::Portkey => Party::Portkey,
        }
    }

    /// Portkey is told by each request where it goes.
    fn headers(self, mock: SocketAddr) -> Vec<String> {
        match self {
            Self::LiteLlm => Vec::new(),
            Self::Portkey => {
                vec!["x-portkey-provider: openai".to_owned(), format!("x-portkey-custom-host: http://{mock}/v1")]
            }
        }
    }
}

impl Peer {
    /// Which one it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Starts it and waits until a request comes through; shows what it said if none does.
    pub async fn start(&self, children: &Children, folder: &Path, mock: SocketAddr) -> Result<Place> {
        let folder = folder.join(self.kind.name());
        fs::create_dir_all(&folder)?;
        let address = free_address()?;
        let mut command = match self.kind {
            Kind::LiteLlm => litellm(&self.program, address, mock, &folder)?,
            Kind::Portkey => portkey(&self.program, address, &folder),
        };
        let log = folder.join("log");
        command.stderr(fs::File::create(&log)?);
        let pid = children.start(&mut command)?;
        let place = Place { address, key: KEY, headers: self.kind.headers(mock), pid: Some(pid) };
        let target = Target { headers: place.headers.clone(), ..Target::to(address, KEY) };
        let ready = async {
            while let Err(why) = answer(&target).await {
                if children.has_ended(pid) {
                    return Err(why.context("it ended at its start"));
                }
                pause(0.1).await;
            }
            Ok(())
        };
        let ready = tokio::time::timeout(PATIENCE, ready).await;
        if let Err(why) = ready.context("no answer came through it in time").flatten() {
            eprint!("{}", fs::read_to_string(&log).unwrap_or_default());
            children.stop(pid).await;
            return Err(why);
        }
        Ok(place)
    }
}

/// One worker with one model, no database, no callbacks. It neither fetches its list of prices nor tells anybody of
/// itself.
fn litellm(program: &Path, address: SocketAddr, mock: SocketAddr, folder: &Path) -> Result<Command> {
    let file = folder.join("config.yaml");
    fs::write(&file, litellm_configuration(mock))?;
    let mut command = bare(program, folder);
    command.arg("--config").arg(file).args(["--num_workers", "1", "--telemetry", "False"]);
    command.args(["--host", &address.ip().to_string(), "--port", &address.port().to_string()]);
    command.env("LITELLM_MODE", "PRODUCTION").env("LITELLM_LOG", "ERROR");
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    Ok(command)
}

fn litellm_configuration(mock: SocketAddr) -> String {
    format!(
        "model_list:\n  - model_name: bench-1\n    litellm_params:\n      model: openai/bench-1\n      \
         api_base: http://{mock}/v1\n      api_key: sk-benchmark\ngeneral_settings:\n  master_key: {KEY}\n\
         litellm_settings:\n  set_verbose: false\n  request_timeout: 600\n"
    )
}

/// Without its console, which would be sent every request.
fn portkey(script: &Path, address: SocketAddr, folder: &Path) -> Command {
    let mut command = bare(Path::new("node"), folder);
    command.arg(script).arg(format!("--port={}", address.port())).arg("--headless");
    command.env("NODE_ENV", "production");
    command
}

/// A program with nothing of this process's settings: no proxy, no key, no log level, no home to write to.
fn bare(program: &Path, folder: &Path) -> Command {
    let mut command = tied(program);
    command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
    command.env("HOME", folder).env("LANG", "C.UTF-8").current_dir(folder);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_named_with_its_version_and_program() {
        let peer: Peer = "litellm@1.2.3=/opt/a=b/litellm".parse().unwrap();
        assert_eq!(peer.program, Path::new("/opt/a=b/litellm"));
        assert_eq!((peer.kind(), peer.to_string().as_str()), (Kind::LiteLlm, "LiteLLM 1.2.3"));
        for wrong in ["litellm=/opt/litellm", "litellm@1.2.3", "other@1=/opt/other"] {
            assert!(wrong.parse::<Peer>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn litellm_has_one_model_at_the_mock_and_neither_database_nor_calls_home() {
        let folder = tempfile::tempdir().unwrap();
        let [address, mock] = [4000, 5000].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let command = litellm(Path::new("/opt/litellm"), address, mock, folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join("config.yaml")).unwrap();
        assert_eq!(
            text,
            "model_list:\n  - model_name: bench-1\n    litellm_params:\n      model: openai/bench-1\n      api_base: \
             http://127.0.0.1:5000/v1\n      api_key: sk-benchmark\ngeneral_settings:\n  master_key: \
             sk-benchmarkbenchmarkbenchmark\nlitellm_settings:\n  set_verbose: false\n  request_timeout: 600\n"
        );
        assert_eq!(variable(&command, "LITELLM_LOCAL_MODEL_COST_MAP").as_deref(), Some("True"));
        let words = arguments(&command);
        assert!(words.ends_with("--num_workers 1 --telemetry False --host 127.0.0.1 --port 4000"), "{words}");
    }

    #[test]
    fn portkey_is_told_of_the_upstream_by_the_request() {
        let [address, mock] = [4000, 5000].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let command = portkey(Path::new("/opt/start-server.js"), address, Path::new("/tmp"));
        assert_eq!(variable(&command, "NODE_ENV").as_deref(), Some("production"));
        assert!(arguments(&command).ends_with("node /opt/start-server.js --port=4000 --headless"));
        assert_eq!(
            Kind::Portkey.headers(mock),
            ["x-portkey-provider: openai", "x-portkey-custom-host: http://127.0.0.1:5000/v1"]
        );
    }

    fn variable(command: &Command, name: &str) -> Option<String> {
        let mut all = command.as_std().get_envs();
        all.find(|(one, _)| *one == name)?.1.map(|value| value.to_string_lossy().into_owned())
    }

    fn arguments(command: &Command) -> String {
        command.as_std().get_args().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }
}
