//! The admin token: made once, in a file of its own.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use headgate_domain::Secret;
use headgate_store::state_file;

/// Why there is no admin token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file.
    #[error(transparent)]
    File(#[from] state_file::StateFileError),
    /// It is too short to be safe.
    #[error("{0} holds fewer than 20 characters; an admin token is longer (delete the file to have one made)")]
    Short(String),
    /// No random bytes.
    #[error("the system gave no random bytes")]
    Random,
}

/// Reads the token from its file, which is made (0600) if it does not exist.
pub fn admin_token(path: &Path) -> Result<Secret, TokenError> {
    if let Some(bytes) = state_file::read(path)? {
        let token = String::from_utf8_lossy(&bytes).trim().to_owned();
        return if token.len() < 20 {
            Err(TokenError::Short(path.display().to_string()))
        } else {
            Ok(Secret::new(token))
        };
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| TokenError::Random)?;
    let token = format!("hga-{}", URL_SAFE_NO_PAD.encode(bytes));
    state_file::write(path, format!("{token}\n").as_bytes())?;
    Ok(Secret::new(token))
}
