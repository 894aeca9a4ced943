//! The gateways that Headgate is compared with: pinned, installed once.

use std::{ffi::OsString, path::PathBuf, process::Command};

use anyhow::{Context as _, Result, bail};

use crate::{
    command::say,
    isolated,
    packages::{from_npm, from_pypi},
    setup::{self, Need},
};

/// LiteLLM's proxy, from PyPI. Those after 1.108.7 ask for versions of its own parts (`litellm-proxy-extras`,
/// `litellm-enterprise`) that could not be had when this was written.
const LITELLM: (&str, &str) = ("litellm[proxy]", "1.108.6");
/// Portkey's gateway, from npm.
const PORTKEY: (&str, &str) = ("@portkey-ai/gateway", "1.15.2");
/// Its server's library: with a later one than this it answers every stream with 500 (its issue 1389).
const PORTKEY_SERVER: [(&str, &str); 2] = [("@hono/node-server", "1.14.1"), ("@hono/node-ws", "1.2.0")];

/// What the suite needs to compare them.
pub(crate) struct Peers {
    /// A command that runs what is added to it where only loopback is reachable: these programs call home.
    pub(crate) inside: Command,
    /// `NAME@VERSION=PROGRAM` of each.
    pub(crate) programs: Vec<OsString>,
}

/// Installs them. What cannot be had is told of, and left out.
pub(crate) fn ready() -> Option<Peers> {
    let inside = setup::ensure(&[Need::Network, Need::Python]).and_then(|()| isolated::command());
    let inside = told("the comparison with other gateways", inside)?;
    let programs = [
        told("LiteLLM's proxy", litellm()).map(|program| named("litellm", LITELLM.1, program)),
        told("Portkey's gateway", portkey()).map(|program| named("portkey", PORTKEY.1, program)),
    ];
    let programs: Vec<OsString> = programs.into_iter().flatten().collect();
    (!programs.is_empty()).then_some(Peers { inside, programs })
}

fn told<T>(what: &str, ready: Result<T>) -> Option<T> {
    ready.inspect_err(|why| say(&format!("NOT MEASURED: {what} ({why:#})"))).ok()
}

fn named(name: &str, version: &str, program: PathBuf) -> OsString {
    let mut text = OsString::from(format!("{name}@{version}="));
    text.push(program);
    text
}

fn litellm() -> Result<PathBuf> {
    let place = from_pypi("litellm", &[LITELLM]).context("it cannot be installed from PyPI")?;
    existing(place.join("bin").join("litellm"))
}

fn portkey() -> Result<PathBuf> {
    let [server, sockets] = PORTKEY_SERVER;
    let place = from_npm("portkey", &[PORTKEY, server, sockets]).context("it cannot be installed from npm")?;
    existing(place.join("node_modules").join(PORTKEY.0).join("build").join("start-server.js"))
}

fn existing(program: PathBuf) -> Result<PathBuf> {
    if !program.is_file() {
        bail!("the package has no {}", program.display());
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_left_out() {
        assert_eq!(told("a gateway", existing(PathBuf::from("/nowhere/gateway"))), None);
        let named = named("litellm", "1.2.3", PathBuf::from("/opt/litellm"));
        assert_eq!(named, OsString::from("litellm@1.2.3=/opt/litellm"));
    }
}
