//! Secrets: the OS keychain, a sealed file where there is none, memory for tests and trials.
//!
//! The choice is explicit: nothing falls back to another place by itself, and nothing is ever kept in plain text. An
//! error never creates or overwrites a secret; an account without an item is `None`, which the caller treats as a
//! *missing* credential.

mod file;
mod keychain;
mod memory;

use std::{path::PathBuf, sync::Arc, time::Duration};

use headgate_domain::Secret;

pub use file::SealKey;

/// The keychain may wait for a person; longer than this it counts as unavailable.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The OS keychain (Secret Service, Keychain, Credential Manager).
    Keychain,
    /// A sealed file in the data directory.
    File,
    /// Memory: gone with the process.
    Memory,
}

impl Kind {
    /// The word of `--vault`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keychain => "keychain",
            Self::File => "file",
            Self::Memory => "memory",
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "keychain" => Ok(Self::Keychain),
            "file" => Ok(Self::File),
            "memory" => Ok(Self::Memory),
            other => Err(format!("'{other}' is not a vault; choose keychain, file or memory")),
        }
    }
}

/// Why a secret could not be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// There is no keychain, or it does not answer.
    #[error(
        "no keychain can be used ({0}); unlock or install one, or choose '--vault file' (key from HEADGATE_VAULT_KEY or HEADGATE_VAULT_PASSPHRASE) or '--vault memory'"
    )]
    Keychain(String),
    /// The sealed file needs its key.
    #[error("the vault file needs a key: set HEADGATE_VAULT_KEY (32 bytes, base64) or HEADGATE_VAULT_PASSPHRASE")]
    NoKey,
    /// The key is not 32 bytes of base64.
    #[error("HEADGATE_VAULT_KEY is not 32 bytes of base64")]
    BadKey,
    /// The key does not open the file.
    #[error("the vault file {0} was sealed with another key or passphrase; give that one (nothing was changed)")]
    WrongKey(PathBuf),
    /// The file cannot be read or written.
    #[error("the vault file {path} cannot be used: {why}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
}

/// A place for secrets; blocking, called off the async threads.
trait Backend: Send + Sync {
    fn get(&self, account: &str) -> Result<Option<Secret>, VaultError>;
    fn set(&self, account: &str, secret: &Secret) -> Result<(), VaultError>;
    fn delete(&self, account: &str) -> Result<(), VaultError>;
}

/// A vault.
#[derive(Clone)]
pub struct Vault {
    kind: Kind,
    backend: Arc<dyn Backend>,
}

impl Vault {
    /// The OS keychain. It is looked for at each use, so that one that comes up later is found.
    pub fn keychain() -> Self {
        Self { kind: Kind::Keychain, backend: Arc::new(keychain::Keychain::default()) }
    }

    /// A sealed file: made if it does not exist, opened with `key` otherwise.
    pub fn file(path: PathBuf, key: &SealKey) -> Result<Self, VaultError> {
        Ok(Self { kind: Kind::File, backend: Arc::new(file::SealedFile::open(path, key)?) })
    }

    /// Memory.
    pub fn memory() -> Self {
        Self { kind: Kind::Memory, backend: Arc::new(memory::Memory::default()) }
    }

    /// Which vault this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Backend) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let backend = Arc::clone(&self.backend);
        let task = tokio::task::spawn_blocking(move || work(&*backend));
        match tokio::time::timeout(PATIENCE, task).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(VaultError::Keychain("the call failed".to_owned())),
            Err(_) => Err(VaultError::Keychain("it did not answer; perhaps it waits to be unlocked".to_owned())),
        }
    }

    /// The secret of an account; `None` if there is none.
    pub async fn get(&self, account: &str) -> Result<Option<Secret>, VaultError> {
        let account = account.to_owned();
        self.blocking(move |backend| backend.get(&account)).await
    }

    /// Keeps a secret, in the place of an earlier one of the same account.
    pub async fn set(&self, account: &str, secret: Secret) -> Result<(), VaultError> {
        let account = account.to_owned();
        self.blocking(move |backend| backend.set(&account, &secret)).await
    }

    /// Removes an account; one that is not there is fine.
    pub async fn delete(&self, account: &str) -> Result<(), VaultError> {
        let account = account.to_owned();
        self.blocking(move |backend| backend.delete(&account)).await
    }

    /// Finds out whether secrets can really be kept: puts one in, reads it, removes it.
    pub async fn probe(&self) -> Result<(), VaultError> {
        const ACCOUNT: &str = "probe/0";
        self.set(ACCOUNT, Secret::new("probe")).await?;
        let read = self.get(ACCOUNT).await?;
        self.delete(ACCOUNT).await?;
        match read {
            Some(secret) if secret.expose() == "probe" => Ok(()),
            _ => Err(VaultError::Keychain("what was kept could not be read back".to_owned())),
        }
    }
}
