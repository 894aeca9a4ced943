//! The nouns of Headgate: names, ids and validated types, without any I/O.
//!
//! Everything above this crate speaks in these types. A value that exists has been checked: parsing and
//! validation happen once, at the edge ([`file`], serde), so that the inside need not check again.

pub mod alert;
pub mod audit;
pub mod budget;
pub mod concern;
pub mod configuration;
pub mod cost;
pub mod diff;
pub mod failure;
pub mod file;
pub mod group;
pub mod id;
pub mod key;
pub mod masked;
pub mod monitor;
pub mod name;
pub mod pattern;
pub mod plan;
pub mod protocol;
pub mod secret;
pub mod settings;
pub mod span;
pub mod standalone;
pub mod upstream;
pub mod usage;

pub use alert::AlertEvent;
pub use audit::{AttemptRecord, ErrorSource, Outcome, RequestRecord};
pub use budget::{BudgetLevel, BudgetOwner, BudgetSpan};
pub use concern::Concern;
pub use configuration::Configuration;
pub use cost::{CostColumns, RequestCost, UsageSource};
pub use failure::{Class, Detail, Failure, UpstreamError};
pub use group::{Group, Member, Strategy};
pub use id::{AlertId, CredentialId, GroupId, KeyId, MonitorId, RequestId, Revision, UpstreamId};
pub use key::AccessKey;
pub use name::Name;
pub use protocol::{Protocol, UpstreamKind};
pub use secret::Secret;
pub use settings::{Settings, SettingsPatch};
pub use span::Span;
pub use upstream::Upstream;
pub use usage::{ServiceTier, Usage};
