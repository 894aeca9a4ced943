//! The OS keychain: one item per account, service `Headgate`.

use std::sync::Arc;

use headgate_domain::Secret;
use keyring_core::{CredentialStore, Error};
use parking_lot::Mutex;

use crate::{Backend, VaultError};

const SERVICE: &str = "Headgate";

/// Windows takes 2,560 bytes an item (as UTF-16: half as many characters); longer secrets go into numbered items.
const PART: usize = if cfg!(windows) { 1200 } else { 64 * 1024 };

/// Begins the first item of a secret in parts; the number of parts follows. No credential begins with it.
const PARTS_MARK: &str = "\u{1}headgate-parts:";

#[derive(Default)]
pub(crate) struct Keychain {
    store: Mutex<Option<Arc<CredentialStore>>>,
}

fn unavailable(why: &Error) -> VaultError {
    VaultError::Keychain(match why {
        Error::NoStorageAccess(inner) => format!("it is locked or refuses access: {inner}"),
        Error::PlatformFailure(inner) => inner.to_string(),
        other => other.to_string(),
    })
}

impl Keychain {
    /// The store; one that was absent before is looked for again.
    fn store(&self) -> Result<Arc<CredentialStore>, VaultError> {
        let mut slot = self.store.lock();
        if let Some(store) = &*slot {
            return Ok(Arc::clone(store));
        }
        #[cfg(target_os = "linux")]
        let store = zbus_secret_service_keyring_store::Store::new().map_err(|why| unavailable(&why))?;
        #[cfg(target_os = "macos")]
        let store = apple_native_keyring_store::keychain::Store::new().map_err(|why| unavailable(&why))?;
        #[cfg(windows)]
        let store = windows_native_keyring_store::Store::new().map_err(|why| unavailable(&why))?;
        let store: Arc<CredentialStore> = store;
        *slot = Some(Arc::clone(&store));
        Ok(store)
    }

    /// Runs one call; a store that failed is looked for anew the next time.
    fn call<T>(&self, work: impl FnOnce(&CredentialStore) -> Result<T, Error>) -> Result<T, VaultError> {
        let store = self.store()?;
        work(&*store).map_err(|why| {
            *self.store.lock() = None;
            unavailable(&why)
        })
    }
}

fn read(store: &CredentialStore, account: &str) -> Result<Option<String>, Error> {
    match store.build(SERVICE, account, None)?.get_password() {
        Ok(text) => Ok(Some(text)),
        Err(Error::NoEntry) => Ok(None),
        Err(why) => Err(why),
    }
}

fn write(store: &CredentialStore, account: &str, text: &str) -> Result<(), Error> {
    store.build(SERVICE, account, None)?.set_password(text)
}

fn remove(store: &CredentialStore, account: &str) -> Result<(), Error> {
    match store.build(SERVICE, account, None)?.delete_credential() {
        Ok(()) | Err(Error::NoEntry) => Ok(()),
        Err(why) => Err(why),
    }
}

fn part_name(account: &str, number: usize) -> String {
    format!("{account}/part-{number}")
}

fn parts_of(text: &str) -> Option<usize> {
    text.strip_prefix(PARTS_MARK).and_then(|n| n.parse().ok())
}

impl Backend for Keychain {
    fn get(&self, account: &str) -> Result<Option<Secret>, VaultError> {
        self.call(|store| {
            let Some(text) = read(store, account)? else { return Ok(None) };
            let Some(parts) = parts_of(&text) else { return Ok(Some(Secret::new(text))) };
            let mut whole = String::new();
            for number in 1..=parts {
                match read(store, &part_name(account, number))? {
                    Some(part) => whole.push_str(&part),
                    None => return Ok(None),
                }
            }
            Ok(Some(Secret::new(whole)))
        })
    }

    fn set(&self, account: &str, secret: &Secret) -> Result<(), VaultError> {
        let text = secret.expose();
        self.call(|store| {
            if text.len() <= PART {
                return write(store, account, text);
            }
            let characters: Vec<char> = text.chars().collect();
            let parts = characters.chunks(PART);
            let count = parts.len();
            for (at, part) in parts.enumerate() {
                write(store, &part_name(account, at + 1), &part.iter().collect::<String>())?;
            }
            write(store, account, &format!("{PARTS_MARK}{count}"))
        })
    }

    fn delete(&self, account: &str) -> Result<(), VaultError> {
        self.call(|store| {
            if let Some(parts) = read(store, account)?.as_deref().and_then(parts_of) {
                for number in 1..=parts {
                    remove(store, &part_name(account, number))?;
                }
            }
            remove(store, account)
        })
    }
}
