//! What a vault promises, for every kind that a test can have.
#![expect(clippy::unwrap_used, reason = "tests")]

use headgate_domain::Secret;
use headgate_vault::{SealKey, Vault, VaultError};

fn passphrase(text: &str) -> SealKey {
    SealKey::Passphrase(Secret::new(text))
}

async fn keeps_replaces_and_removes(vault: &Vault) {
    assert!(vault.get("credential/1").await.unwrap().is_none());
    vault.set("credential/1", Secret::new("one")).await.unwrap();
    vault.set("credential/2", Secret::new("two")).await.unwrap();
    vault.set("credential/1", Secret::new("one again")).await.unwrap();
    assert_eq!(vault.get("credential/1").await.unwrap().unwrap().expose(), "one again");
    vault.delete("credential/1").await.unwrap();
    vault.delete("credential/1").await.unwrap();
    assert!(vault.get("credential/1").await.unwrap().is_none());
    assert_eq!(vault.get("credential/2").await.unwrap().unwrap().expose(), "two");
    vault.probe().await.unwrap();
}

#[tokio::test]
async fn memory_keeps_replaces_and_removes() {
    keeps_replaces_and_removes(&Vault::memory()).await;
}

#[tokio::test]
async fn the_sealed_file_keeps_replaces_removes_and_survives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.sealed");
    keeps_replaces_and_removes(&Vault::file(path.clone(), &passphrase("correct horse")).unwrap()).await;
    let again = Vault::file(path.clone(), &passphrase("correct horse")).unwrap();
    assert_eq!(again.get("credential/2").await.unwrap().unwrap().expose(), "two");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("two"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_wrong_passphrase_is_an_error_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.sealed");
    let vault = Vault::file(path.clone(), &passphrase("right")).unwrap();
    vault.set("credential/1", Secret::new("one")).await.unwrap();
    let before = std::fs::read(&path).unwrap();
    let Err(error) = Vault::file(path.clone(), &passphrase("wrong")) else { panic!("opened with a wrong passphrase") };
    assert!(matches!(error, VaultError::WrongKey(_)), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn an_item_moved_to_another_account_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.sealed");
    let key = SealKey::Key(Secret::new("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));
    Vault::file(path.clone(), &key).unwrap().set("credential/1", Secret::new("one")).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap().replace("credential/1", "credential/9");
    std::fs::write(&path, text).unwrap();
    let error = Vault::file(path, &key).unwrap().get("credential/9").await.err().unwrap();
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[test]
fn keys_of_the_wrong_size_and_files_of_another_kind_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.sealed");
    let short = SealKey::Key(Secret::new("c2hvcnQ="));
    assert!(matches!(Vault::file(path.clone(), &short), Err(VaultError::BadKey)));
    assert!(!path.exists(), "a bad key made a file");
    std::fs::write(&path, "hello").unwrap();
    assert!(matches!(Vault::file(path, &passphrase("x")), Err(VaultError::File { .. })));
    assert!(matches!(SealKey::from_environment(|_| None), Err(VaultError::NoKey)));
}

/// Without a session bus there is no keychain, and the error names the choice.
#[tokio::test]
async fn without_a_keychain_the_error_names_the_choice() {
    if std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some() || !cfg!(target_os = "linux") {
        return;
    }
    let error = Vault::keychain().get("credential/1").await.err().unwrap().to_string();
    assert!(error.contains("--vault file") && error.contains("--vault memory"), "{error}");
}
