//! Identities. A database id is the identity for history and the vault; it never appears in a configuration file.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )*};
}

id! {
    /// An upstream, for ever: renaming keeps it, deleting and making anew does not.
    UpstreamId,
    /// A group.
    GroupId,
    /// An access key.
    KeyId,
    /// One credential of an upstream; `credential/<id>` is its account in the vault.
    CredentialId,
    /// A monitor.
    MonitorId,
    /// An alert target.
    AlertId,
    /// A numbered state of the configuration; 0 is the empty one before the first change.
    Revision,
}

/// A client request: UUIDv7, made at ingress. An attempt is (request id, number).
pub type RequestId = uuid::Uuid;
