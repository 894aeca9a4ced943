//! The languages: what bytes of a protocol mean, without knowing about sockets, upstreams or settings.
//!
//! - [`request`]: what a client's body asks for, found without copying it.
//! - [`sse`]: server-sent events cut out of arbitrary chunks.
//! - [`observe`]: what an answer says as it passes: output, completion, usage, errors.
//! - [`error`] and [`envelope`]: refusals of upstreams read, refusals to clients written.
//! - [`splice`]: the one change made to a same-protocol body, the model's name.
//! - [`translate`]: a request of one protocol made into another's, and the answer made back; by way of the [`neutral`]
//!   model, with one decoder and one encoder per protocol (`codec`), what an upstream is like ([`profile`]) and what
//!   could not be carried ([`loss`]).

mod codec;
pub mod envelope;
pub mod error;
mod exact;
mod extensions;
pub mod head;
mod ids;
mod json;
pub mod loss;
pub mod models;
pub mod neutral;
pub mod observe;
mod prepare;
pub mod profile;
mod repair;
pub mod request;
pub mod retry_after;
mod schema;
pub mod splice;
pub mod sse;
pub mod translate;
pub mod usage;
