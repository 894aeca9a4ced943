//! What is decided before the configuration: flags, over the environment, over `headgate.toml`.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use etcetera::BaseStrategy as _;
use serde::Deserialize;

/// `headgate.toml` in the OS's configuration directory.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct File {
    /// `--listen`
    pub listen: Option<SocketAddr>,
    /// `--database-url`
    #[serde(alias = "database-url")]
    pub database_url: Option<String>,
    /// `--data-dir`
    #[serde(alias = "data-dir")]
    pub data_dir: Option<PathBuf>,
    /// `--apply`
    pub apply: Option<PathBuf>,
    /// `--admin-token-file`
    #[serde(alias = "admin-token-file")]
    pub admin_token_file: Option<PathBuf>,
    /// `--admin-remote`
    #[serde(alias = "admin-remote")]
    pub admin_remote: Option<bool>,
    /// `--vault`
    pub vault: Option<String>,
    /// `--log-format`
    #[serde(alias = "log-format")]
    pub log_format: Option<String>,
}

impl File {
    /// Reads the file if there is one.
    pub fn load() -> Result<Self> {
        let Ok(base) = etcetera::choose_base_strategy() else { return Ok(Self::default()) };
        Self::read(&base.config_dir().join("headgate").join("headgate.toml"))
    }

    fn read(path: &Path) -> Result<Self> {
        match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text)
                .with_context(|| format!("{} cannot be understood; correct or remove it", path.display())),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(why) => Err(why).with_context(|| format!("{} cannot be read", path.display())),
        }
    }
}

/// The data directory when none is named.
pub fn default_data_dir() -> Result<PathBuf> {
    #[cfg(target_os = "linux")]
    if is_root() {
        return Ok(PathBuf::from("/var/lib/headgate"));
    }
    #[cfg(target_os = "macos")]
    let base = etcetera::base_strategy::Apple::new();
    #[cfg(not(target_os = "macos"))]
    let base = etcetera::choose_base_strategy();
    let base = base.context("there is no home directory; name the data directory with --data-dir")?.data_dir();
    Ok(base.join(if cfg!(any(windows, target_os = "macos")) { "Headgate" } else { "headgate" }))
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    #[expect(unsafe_code, reason = "geteuid has no preconditions and cannot fail")]
    let euid = unsafe { libc::geteuid() };
    euid == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_takes_both_spellings_and_refuses_unknown_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headgate.toml");
        std::fs::write(&path, "listen = \"127.0.0.1:9\"\ndatabase-url = \"postgres://x\"\nadmin_remote = true\n")
            .unwrap();
        let file = File::read(&path).unwrap();
        assert_eq!(file.listen.unwrap().port(), 9);
        assert_eq!(file.database_url.as_deref(), Some("postgres://x"));
        std::fs::write(&path, "lissten = 5\n").unwrap();
        let why = format!("{:#}", File::read(&path).unwrap_err());
        assert!(why.contains("lissten"), "{why}");
        assert!(File::read(&folder.path().join("none")).unwrap().listen.is_none());
    }
}
