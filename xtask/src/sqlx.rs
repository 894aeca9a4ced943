//! The data by which the SQL statements are checked without a database.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{
    command::{root, run, run_quietly, say, tools, which},
    postgres::{Reach, Scratch},
    setup::{Need, ensure},
};

/// SQL stands in this package only.
const PACKAGE: &str = "headgate-store";

/// Applies the migrations to a scratch cluster and checks every statement against it.
pub(crate) fn prepare(check: bool) -> Result<()> {
    ensure(&[Need::Compiler, Need::Postgres])?;
    let root = root()?;
    let tool = tool()?;
    say("starting a scratch cluster");
    let scratch = Scratch::start(Reach::Loopback)?;
    say("applying the migrations");
    run_quietly(
        Command::new(&tool)
            .args(["sqlx", "migrate", "run", "--source"])
            .arg(root.join("migrations"))
            .arg("--database-url")
            .arg(scratch.url()),
    )?;
    say("checking the statements");
    let mut command = Command::new(&tool);
    command.args(["sqlx", "prepare", "--workspace", "--database-url"]).arg(scratch.url());
    if check {
        command.arg("--check");
    }
    command.args(["--", "--package", PACKAGE]);
    run(command.env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).current_dir(&root))
}

/// `cargo-sqlx`, installed beside the caches when it is nowhere.
fn tool() -> Result<PathBuf> {
    if let Some(found) = which("cargo-sqlx") {
        return Ok(found);
    }
    let tools = tools()?;
    let tool = tools.join("bin").join(format!("cargo-sqlx{}", env::consts::EXE_SUFFIX));
    if !tool.is_file() {
        say("installing sqlx-cli; this takes some minutes, once");
        run(Command::new("cargo")
            .args(["install", "--quiet", "--locked", "sqlx-cli", "--version", "~0.9", "--no-default-features"])
            .args(["--features", "postgres,rustls", "--root"])
            .arg(&tools)
            .env("CARGO_TARGET_DIR", Path::new(&tools).with_file_name("tools-target")))
        .context("sqlx-cli could not be installed")?;
    }
    Ok(tool)
}
