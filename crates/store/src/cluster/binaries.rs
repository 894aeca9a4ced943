//! Finding PostgreSQL's programs.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::ClusterError;

/// The oldest major version that is used.
pub(super) const OLDEST: u32 = 15;

/// A folder with `initdb` and `postgres`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// The folder.
    pub folder: PathBuf,
    /// The major version.
    pub major: u32,
}

impl Binaries {
    /// The programs for the cluster in `data_dir`: those of `HEADGATE_PG_BIN`, else bundled ones beside the
    /// executable, else the system's newest. A cluster that exists decides on the major version first.
    pub fn find(data_dir: &Path) -> Result<Self, ClusterError> {
        let wanted = cluster_major(&super::cluster_folder(data_dir))?;
        if let Some(given) = env::var_os("HEADGATE_PG_BIN").filter(|v| !v.is_empty()) {
            let given = PathBuf::from(given);
            let found = layouts(&given).find_map(|folder| Self::at(&folder));
            return match (found, wanted) {
                (None, _) => Err(ClusterError::NoPrograms { folder: given }),
                (Some(found), Some(wanted)) if found.major != wanted => {
                    Err(ClusterError::WrongMajor { wanted, found: found.major })
                }
                (Some(found), _) if found.major < OLDEST => Err(ClusterError::NotFound { wanted }),
                (Some(found), _) => Ok(found),
            };
        }
        let mut found: Vec<Self> = Vec::new();
        for folder in bundled().into_iter().chain(system()) {
            let fits = |b: &Self| wanted.map_or(b.major >= OLDEST, |w| b.major == w);
            if let Some(binaries) = Self::at(&folder).filter(fits) {
                // Bundled ones come first and are taken as they are; among the system's the newest wins.
                if bundled().contains(&folder) {
                    return Ok(binaries);
                }
                found.push(binaries);
            }
        }
        // The first of equals: the folders are in order of preference.
        found.into_iter().rev().max_by_key(|b| b.major).ok_or(ClusterError::NotFound { wanted })
    }

    fn at(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        if !program(&folder, "initdb").is_file() {
            return None;
        }
        let output = Command::new(program(&folder, "postgres")).arg("--version").stdin(Stdio::null()).output().ok()?;
        let major = parse_version(&String::from_utf8_lossy(&output.stdout))?;
        Some(Self { folder, major })
    }

    /// The path of one program.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        program(&self.folder, name)
    }
}

fn program(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`
fn parse_version(text: &str) -> Option<u32> {
    let version = text.split_once("(PostgreSQL)")?.1.trim_start();
    version.get(..version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len()))?.parse().ok()
}

/// The major version of the cluster in a folder; none if there is no cluster.
pub(super) fn cluster_major(folder: &Path) -> Result<Option<u32>, ClusterError> {
    let path = folder.join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map(Some).map_err(|_| ClusterError::Damaged { folder: folder.to_owned() }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ClusterError::File { path, source }),
    }
}

/// The folder itself, that of an installation, that of the npm package.
fn layouts(given: &Path) -> impl Iterator<Item = PathBuf> {
    [given.to_owned(), given.join("bin"), given.join("native").join("bin")].into_iter()
}

fn bundled() -> Vec<PathBuf> {
    let Some(beside) = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned)) else {
        return Vec::new();
    };
    layouts(&beside.join("postgresql")).collect()
}

fn system() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for root in ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"] {
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if root == "/usr/lib/postgresql" || name.to_string_lossy().starts_with("postgresql") {
                folders.push(entry.path().join("bin"));
            }
        }
    }
    folders.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_what_postgres_says() {
        assert_eq!(parse_version("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), Some(15));
        assert_eq!(parse_version("postgres (PostgreSQL) 19beta1\n"), Some(19));
        assert_eq!(parse_version("something else"), None);
    }
}
