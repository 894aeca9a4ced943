//! Secrets that are gone with the process.

use std::collections::HashMap;

use headgate_domain::Secret;
use parking_lot::Mutex;

use crate::{Backend, VaultError};

#[derive(Default)]
pub(crate) struct Memory(Mutex<HashMap<String, Secret>>);

impl Backend for Memory {
    fn get(&self, account: &str) -> Result<Option<Secret>, VaultError> {
        Ok(self.0.lock().get(account).cloned())
    }

    fn set(&self, account: &str, secret: &Secret) -> Result<(), VaultError> {
        self.0.lock().insert(account.to_owned(), secret.clone());
        Ok(())
    }

    fn delete(&self, account: &str) -> Result<(), VaultError> {
        self.0.lock().remove(account);
        Ok(())
    }
}
