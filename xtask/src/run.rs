//! `cargo xtask run`: from a fresh checkout to a working port.

use std::{env, path::Path, process::Command};

use anyhow::Result;

use crate::{
    command::{cargo, root, say, target},
    setup::{self, Need},
};

/// The configuration file that is applied when the current folder has it.
const CONFIGURATION: &str = "headgate.yaml";

/// Builds the gateway and runs it until it is stopped. `rest` goes to `headgate serve`.
pub(crate) fn run(release: bool, rest: &[String]) -> Result<()> {
    setup::ensure(&[Need::Compiler, Need::Postgres])?;
    say("building (the first time takes some minutes)");
    let mut build = cargo()?;
    build.args(["build", "--package", "headgate"]);
    if release {
        build.arg("--release");
    }
    crate::command::run(&mut build)?;
    let program =
        target()?.join(if release { "release" } else { "debug" }).join(format!("headgate{}", env::consts::EXE_SUFFIX));
    let mut serve = Command::new(program);
    serve.arg("serve").args(rest);
    let names_file = rest.iter().any(|word| word == "--apply" || word.starts_with("--apply="));
    if !names_file && Path::new(CONFIGURATION).is_file() {
        say(&format!("applying {CONFIGURATION}"));
        serve.args(["--apply", CONFIGURATION]);
    } else if !names_file {
        say(&format!(
            "no {CONFIGURATION} in this folder: the gateway keeps the configuration it has; an example is {}",
            root()?.join("docs/examples/headgate.yaml").display()
        ));
    }
    replace(&mut serve)
}

/// Becomes the gateway, so that signals reach it directly.
#[cfg(unix)]
fn replace(serve: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt as _;
    Err(serve.exec().into())
}

#[cfg(not(unix))]
fn replace(serve: &mut Command) -> Result<()> {
    crate::command::run(serve)
}
