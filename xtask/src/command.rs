//! Running programs.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// Prints a line about what is being done.
pub(crate) fn say(line: &str) {
    eprintln!("xtask: {line}");
}

/// Runs a program and waits for it; its failure is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{} could not be started", name(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", name(command));
    }
    Ok(())
}

/// Runs a program and shows what it says only if it fails.
pub(crate) fn run_quietly(command: &mut Command) -> Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("{} could not be started", name(command)))?;
    if !output.status.success() {
        eprint!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("{} failed ({})", name(command), output.status);
    }
    Ok(())
}

/// What a program prints; none if it cannot be run or fails.
pub(crate) fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Where a program is, by the search path.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&file)).find(|path| path.is_file())
}

/// The root of the workspace: that of this run, for two checkouts may share a target folder and so this binary.
pub(crate) fn root() -> Result<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).parent().map(Path::to_owned).context("xtask lies in the workspace")
}

/// Cargo, in the workspace.
pub(crate) fn cargo() -> Result<Command> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()?);
    Ok(cargo)
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> Result<PathBuf> {
    Ok(match env::var_os("CARGO_TARGET_DIR").filter(|v| !v.is_empty()) {
        Some(folder) => root()?.join(folder),
        None => root()?.join("target"),
    })
}

/// Where tools that are not part of the build are kept.
pub(crate) fn tools() -> Result<PathBuf> {
    let cache = match env::var_os("XDG_CACHE_HOME").filter(|v| !v.is_empty()) {
        Some(cache) => PathBuf::from(cache),
        None => env::home_dir().context("no home directory; set XDG_CACHE_HOME")?.join(".cache"),
    };
    Ok(cache.join("headgate").join("tools"))
}

fn name(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
