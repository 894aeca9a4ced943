//! Anthropic Messages.

mod blocks;
mod cache;
mod decode;
mod encode;
mod messages;

pub(crate) use self::{decode::decode, encode::encode};
