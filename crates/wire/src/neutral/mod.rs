//! The neutral model: a request as a [`Conversation`], an answer as a sequence of [`Event`]s.
//!
//! Every protocol has one decoder and one encoder for each; nothing here knows a protocol's spelling. Reasoning that
//! only its maker can read travels as a [`Carrier`].

pub mod answer;
pub mod carrier;
pub mod conversation;
pub mod event;
pub mod tool;

pub use answer::{Answer, Piece};
pub use carrier::Carrier;
pub use conversation::*;
pub use event::*;
pub use tool::*;
