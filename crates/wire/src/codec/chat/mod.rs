//! OpenAI Chat Completions.

mod decode;
mod encode;
mod messages;
mod reader;
mod think;
mod writer;

pub(crate) use self::{
    decode::decode,
    encode::encode,
    reader::Reader,
    writer::{Writer, document, keep_alive, opening},
};
