//! OpenAI Responses, and what the Codex service makes of it.

pub(crate) mod codex;
mod decode;
mod encode;
mod input;
mod items;
mod object;
mod reader;
mod tools;
mod writer;

pub(crate) use self::{
    decode::{OWN_SEARCH, decode},
    encode::encode,
    object::echo,
    reader::Reader,
    writer::{Writer, document, failed, keep_alive, opening},
};
