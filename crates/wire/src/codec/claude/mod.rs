//! Anthropic Messages.

mod blocks;
mod cache;
mod decode;
mod encode;
mod messages;
mod reader;
mod writer;

pub(crate) use self::{
    blocks::OWN_SEARCH,
    decode::decode,
    encode::encode,
    reader::Reader,
    writer::{Writer, document, keep_alive, opening},
};
