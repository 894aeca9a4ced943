//! Small files of state (the last good snapshot, health), replaced as a whole.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

use crate::data_dir::private_options;

/// Why a state file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The file system refused.
    #[error("The state file {} cannot be accessed ({source}); check its permissions and the free space.", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Its content is not what it should be.
    #[error("The state file {} is damaged ({source}); delete it, it is written anew.", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
}

/// Replaces the file atomically, 0600: a reader sees the old content or the new, also after a power failure.
pub fn write(path: &Path, content: &[u8]) -> Result<(), StateFileError> {
    replace(path, content, true).map_err(|source| StateFileError::File { path: path.to_owned(), source })
}

/// The file's content; none if there is no such file.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, StateFileError> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StateFileError::File { path: path.to_owned(), source }),
    }
}

/// [`write`](write()) of a value as JSON.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StateFileError> {
    let content =
        serde_json::to_vec(value).map_err(|source| StateFileError::Content { path: path.to_owned(), source })?;
    write(path, &content)
}

/// [`read`] of a value as JSON.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StateFileError> {
    let Some(content) = read(path)? else { return Ok(None) };
    serde_json::from_slice(&content)
        .map(Some)
        .map_err(|source| StateFileError::Content { path: path.to_owned(), source })
}

/// `durable` forces the content to the disk before the name: without it a power failure may leave an empty file.
pub(crate) fn replace(path: &Path, content: &[u8], durable: bool) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let fresh = path.with_file_name(name);
    let mut file = private_options().write(true).create(true).truncate(true).open(&fresh)?;
    file.write_all(content)?;
    if durable {
        file.sync_data()?;
    }
    fs::rename(&fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_file_is_private_and_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("health.json");
        assert!(read_json::<Vec<u32>>(&path).unwrap().is_none());
        write_json(&path, &vec![1, 2]).unwrap();
        write_json(&path, &vec![3]).unwrap();
        assert_eq!(read_json::<Vec<u32>>(&path).unwrap(), Some(vec![3]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(&path, "{").unwrap();
        assert!(read_json::<Vec<u32>>(&path).unwrap_err().to_string().contains("damaged"));
    }
}
