//! OpenAI Chat Completions.

mod decode;
mod encode;
mod messages;

pub(crate) use self::{decode::decode, encode::encode};
