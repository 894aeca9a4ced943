//! OpenAI Responses, and what the Codex service makes of it.

pub(crate) mod codex;
mod decode;
mod encode;
mod input;
mod tools;

pub(crate) use self::{decode::decode, encode::encode, input::reasoning_item};
