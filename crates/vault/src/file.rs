//! A sealed file: each secret encrypted on its own (XChaCha20-Poly1305, the account as associated data), the key from
//! the environment or from a passphrase (Argon2id).
//!
//! The file holds a check value: a wrong key is an error and never makes a new file.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use argon2::Argon2;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305,
    aead::{Aead as _, Payload},
};
use headgate_domain::Secret;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{Backend, VaultError};

const NONCE: usize = 24;
const CHECK: (&str, &str) = ("headgate/check", "headgate vault 1");

/// What opens a sealed file.
pub enum SealKey {
    /// 32 bytes, base64 (`HEADGATE_VAULT_KEY`).
    Key(Secret),
    /// A passphrase (`HEADGATE_VAULT_PASSPHRASE`).
    Passphrase(Secret),
}

impl SealKey {
    /// From the environment's two variables, the key first.
    pub fn from_environment(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, VaultError> {
        let filled = |name| lookup(name).filter(|text| !text.is_empty()).map(Secret::new);
        filled("HEADGATE_VAULT_KEY")
            .map(Self::Key)
            .or_else(|| filled("HEADGATE_VAULT_PASSPHRASE").map(Self::Passphrase))
            .ok_or(VaultError::NoKey)
    }

    fn derive(&self, salt: &[u8]) -> Result<Zeroizing<[u8; 32]>, VaultError> {
        let mut key = Zeroizing::new([0; 32]);
        match self {
            Self::Key(text) => {
                let bytes = BASE64.decode(text.expose().trim()).map(Zeroizing::new).map_err(|_| VaultError::BadKey)?;
                if bytes.len() != key.len() {
                    return Err(VaultError::BadKey);
                }
                key.copy_from_slice(&bytes);
            }
            Self::Passphrase(text) => {
                Argon2::default()
                    .hash_password_into(text.expose().as_bytes(), salt, &mut *key)
                    .map_err(|_| VaultError::NoKey)?;
            }
        }
        Ok(key)
    }
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    version: u32,
    salt: String,
    check: String,
    #[serde(default)]
    items: BTreeMap<String, String>,
}

pub(crate) struct SealedFile {
    path: PathBuf,
    cipher: XChaCha20Poly1305,
    sealed: Mutex<Sealed>,
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|why| why.to_string())?;
    Ok(bytes)
}

fn seal(cipher: &XChaCha20Poly1305, account: &str, text: &str) -> Result<String, String> {
    let nonce = random::<NONCE>()?;
    let payload = Payload { msg: text.as_bytes(), aad: account.as_bytes() };
    let sealed = cipher.encrypt(&nonce.into(), payload).map_err(|_| "sealing failed".to_owned())?;
    let mut bytes = nonce.to_vec();
    bytes.extend_from_slice(&sealed);
    Ok(BASE64.encode(bytes))
}

fn unseal(cipher: &XChaCha20Poly1305, account: &str, sealed: &str) -> Option<Secret> {
    let bytes = BASE64.decode(sealed).ok()?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
    let payload = Payload { msg: sealed, aad: account.as_bytes() };
    let text = Zeroizing::new(cipher.decrypt(&(*nonce).into(), payload).ok()?);
    std::str::from_utf8(&text).ok().map(Secret::new)
}

impl SealedFile {
    pub(crate) fn open(path: PathBuf, key: &SealKey) -> Result<Self, VaultError> {
        let failed = |why: String| VaultError::File { path: path.clone(), why };
        match fs::read(&path) {
            Ok(bytes) => {
                let sealed: Sealed =
                    serde_json::from_slice(&bytes).map_err(|why| failed(format!("it is not a vault file ({why})")))?;
                let salt = BASE64.decode(&sealed.salt).map_err(|_| failed("its salt is damaged".to_owned()))?;
                let cipher = XChaCha20Poly1305::new((&*key.derive(&salt)?).into());
                if unseal(&cipher, CHECK.0, &sealed.check).is_none_or(|text| text.expose() != CHECK.1) {
                    return Err(VaultError::WrongKey(path));
                }
                Ok(Self { path, cipher, sealed: Mutex::new(sealed) })
            }
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                let salt = random::<16>().map_err(failed)?;
                let cipher = XChaCha20Poly1305::new((&*key.derive(&salt)?).into());
                let check = seal(&cipher, CHECK.0, CHECK.1).map_err(failed)?;
                let sealed = Sealed { version: 1, salt: BASE64.encode(salt), check, items: BTreeMap::new() };
                let file = Self { path, cipher, sealed: Mutex::new(sealed) };
                file.save(&file.sealed.lock())?;
                Ok(file)
            }
            Err(why) => Err(failed(why.to_string())),
        }
    }

    fn save(&self, sealed: &Sealed) -> Result<(), VaultError> {
        write_private(&self.path, &serde_json::to_vec_pretty(sealed).unwrap_or_default())
            .map_err(|why| VaultError::File { path: self.path.clone(), why: why.to_string() })
    }
}

/// Replaces a file as a whole: written beside it with 0600, synced, renamed.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

impl Backend for SealedFile {
    fn get(&self, account: &str) -> Result<Option<Secret>, VaultError> {
        let sealed = self.sealed.lock();
        let Some(item) = sealed.items.get(account) else { return Ok(None) };
        unseal(&self.cipher, account, item).map(Some).ok_or_else(|| VaultError::File {
            path: self.path.clone(),
            why: format!("the item '{account}' is damaged"),
        })
    }

    fn set(&self, account: &str, secret: &Secret) -> Result<(), VaultError> {
        let item = seal(&self.cipher, account, secret.expose())
            .map_err(|why| VaultError::File { path: self.path.clone(), why })?;
        let mut sealed = self.sealed.lock();
        let before = sealed.items.insert(account.to_owned(), item);
        self.save(&sealed).inspect_err(|_| match before {
            Some(item) => drop(sealed.items.insert(account.to_owned(), item)),
            None => drop(sealed.items.remove(account)),
        })
    }

    fn delete(&self, account: &str) -> Result<(), VaultError> {
        let mut sealed = self.sealed.lock();
        if sealed.items.remove(account).is_some() {
            self.save(&sealed)?;
        }
        Ok(())
    }
}
