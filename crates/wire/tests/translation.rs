//! Requests and answers carried from protocol to protocol, as a gateway does it.

#[cfg(test)]
#[path = "translation/mod.rs"]
mod translation;
