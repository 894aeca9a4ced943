//! Making the cluster, once.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{ClusterError, account::Account, binaries::Binaries, tail};
use crate::data_dir::{private_options, set_mode};

/// The superuser's name in the cluster.
pub(super) const USER: &str = "headgate";

/// Makes the cluster in `folder` if there is none. It is made elsewhere and renamed, so that a half-made one is never
/// taken for a whole one.
pub(super) fn ensure(
    folder: &Path,
    password_file: &Path,
    binaries: &Binaries,
    account: &Account,
) -> Result<(), ClusterError> {
    if folder.join("PG_VERSION").exists() {
        return Ok(());
    }
    if folder.exists() {
        return Err(ClusterError::Damaged { folder: folder.to_owned() });
    }
    let password = match read_password(password_file) {
        Ok(password) => password,
        Err(ClusterError::Password { .. }) => new_password(password_file)?,
        Err(other) => return Err(other),
    };
    let fresh = beside(folder, "new");
    let passed = beside(folder, "password");
    let outcome = make(&fresh, &passed, &password, binaries, account);
    // The copy of the password is for `initdb` alone, however that ended.
    let _ = fs::remove_file(&passed);
    outcome?;
    fs::rename(&fresh, folder).map_err(|source| ClusterError::File { path: folder.to_owned(), source })
}

fn make(
    fresh: &Path,
    passed: &Path,
    password: &str,
    binaries: &Binaries,
    account: &Account,
) -> Result<(), ClusterError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| ClusterError::File { path, source }
    };
    if fresh.exists() {
        fs::remove_dir_all(fresh).map_err(at(fresh))?;
    }
    fs::create_dir(fresh).map_err(at(fresh))?;
    set_mode(fresh, 0o700).and_then(|()| account.give(fresh)).map_err(at(fresh))?;
    let _ = fs::remove_file(passed);
    private_options()
        .write(true)
        .create_new(true)
        .open(passed)
        .and_then(|mut file| file.write_all(password.as_bytes()))
        .and_then(|()| account.give(passed))
        .map_err(at(passed))?;
    let program = binaries.program("initdb");
    let mut command = Command::new(&program);
    command
        .args(["--auth=scram-sha-256", "--locale=C", "--encoding=UTF8", "--username", USER])
        .arg("--pwfile")
        .arg(passed)
        .arg("--pgdata")
        .arg(fresh)
        .env_remove("PGDATA")
        .current_dir(fresh)
        .stdin(Stdio::null());
    account.apply(&mut command);
    let output = command.output().map_err(at(&program))?;
    if output.status.success() {
        Ok(())
    } else {
        let said = tail(&String::from_utf8_lossy(&output.stderr));
        Err(ClusterError::Init { folder: fresh.to_owned(), said })
    }
}

/// The password of the superuser.
pub(super) fn read_password(path: &Path) -> Result<String, ClusterError> {
    match fs::read_to_string(path) {
        Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Ok(_) => Err(ClusterError::Password { path: path.to_owned() }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(ClusterError::Password { path: path.to_owned() }),
        Err(source) => Err(ClusterError::File { path: path.to_owned(), source }),
    }
}

fn new_password(path: &Path) -> Result<String, ClusterError> {
    let file_error = |source| ClusterError::File { path: path.to_owned(), source };
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(|e| file_error(e.into()))?;
    let password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    crate::state_file::replace(path, password.as_bytes(), true).map_err(file_error)?;
    Ok(password)
}

fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    folder.with_file_name(name)
}
