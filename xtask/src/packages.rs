//! Programs from npm and PyPI that no build needs: pinned, and kept beside the tools from one run to the next.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::command::{run_quietly, say, tools, which};

/// Packages with their versions.
pub(crate) type Packages = [(&'static str, &'static str)];

/// Where they are; each set has a folder of its own in it.
pub(crate) fn folder() -> Result<PathBuf> {
    Ok(tools()?.with_file_name("clients"))
}

/// Installs into the set's folder what is missing of it, without running the packages' scripts; gives that folder.
pub(crate) fn from_npm(set: &str, packages: &Packages) -> Result<PathBuf> {
    let npm = which("npm").context("npm is not installed; install Node.js 20.19 or newer")?;
    let place = folder()?.join(set);
    if packages.iter().all(|(package, version)| has_package(&place, package, version)) {
        return Ok(place);
    }
    let wanted: Vec<String> = packages.iter().map(|(package, version)| format!("{package}@{version}")).collect();
    say(&format!("installing {}", wanted.join(", ")));
    fs::create_dir_all(&place)?;
    fs::write(place.join("package.json"), "{\"private\":true}\n")?;
    run_quietly(
        Command::new(&npm)
            .current_dir(&place)
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"])
            .args(wanted),
    )?;
    Ok(place)
}

fn has_package(place: &Path, package: &str, version: &str) -> bool {
    let manifest = place.join("node_modules").join(package).join("package.json");
    fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
}

/// The same for Python, where the folder is an environment of its own.
pub(crate) fn from_pypi(set: &str, packages: &Packages) -> Result<PathBuf> {
    let place = folder()?.join(set);
    let wanted: Vec<String> = packages.iter().map(|(package, version)| format!("{package}=={version}")).collect();
    // Written when everything is there.
    let mark = place.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|text| text == wanted.join("\n")) {
        return Ok(place);
    }
    let python = which("python3").context("python3 is not installed")?;
    say(&format!("installing {}", wanted.join(", ")));
    run_quietly(Command::new(python).args(["-m", "venv"]).arg(&place))?;
    run_quietly(
        Command::new(place.join("bin").join("python"))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(&wanted),
    )?;
    fs::write(&mark, wanted.join("\n"))?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_counts_as_installed_only_in_its_pinned_version() {
        let place = tempfile::tempdir().unwrap();
        assert!(!has_package(place.path(), "@scope/gateway", "1.2.3"));
        let package = place.path().join("node_modules/@scope/gateway");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("package.json"), "{\n  \"version\": \"1.2.3\"\n}\n").unwrap();
        assert!(has_package(place.path(), "@scope/gateway", "1.2.3"));
        assert!(!has_package(place.path(), "@scope/gateway", "1.2.4"));
    }
}
