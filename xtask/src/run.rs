//! `cargo xtask run`: from a fresh checkout to a working port, in a window where there is a display.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{
    command::{cargo, root, say, target},
    setup::{self, Need},
    ui, window,
};

/// The configuration file that is applied when the current folder has it.
const CONFIGURATION: &str = "headgate.yaml";

/// Builds the application and runs it until it is stopped: the window, or, without a display or when asked to,
/// `headgate serve`, which `rest` goes to.
pub(crate) fn run(release: bool, headless: bool, rest: &[String]) -> Result<()> {
    if !headless && rest.is_empty() && window::has_display() {
        return with_window(release);
    }
    setup::ensure(&[Need::Compiler, Need::Postgres])?;
    ui::build()?;
    say("building (the first time takes some minutes)");
    let mut serve = Command::new(built("headgate", release)?);
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

/// Builds a package's program of the same name and tells where it is.
fn built(package: &str, release: bool) -> Result<PathBuf> {
    let mut build = cargo()?;
    build.args(["build", "--package", package]);
    if release {
        build.arg("--release");
    }
    crate::command::run(&mut build)?;
    let profile = if release { "release" } else { "debug" };
    Ok(target()?.join(profile).join(format!("{package}{}", env::consts::EXE_SUFFIX)))
}

/// The application in its window.
fn with_window(release: bool) -> Result<()> {
    setup::ensure(&[Need::Compiler, Need::Postgres, Need::WebView])?;
    ui::build()?;
    say("building (the first time takes some minutes)");
    let mut window = Command::new(built("headgate-desktop", release)?);
    if Path::new(CONFIGURATION).is_file() && env::var_os("HEADGATE_APPLY").is_none() {
        say(&format!("applying {CONFIGURATION}"));
        window.env("HEADGATE_APPLY", CONFIGURATION);
    }
    replace(&mut window)
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
