//! Documents changed at random, from a fixed seed: the vocabulary of the protocols in the wrong places.

use rand::{Rng, RngExt, rngs::StdRng};
use serde_json::{Value, json};

const WORDS: [&str; 44] = [
    "",
    " ",
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "text",
    "input_text",
    "output_text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "function",
    "custom",
    "function_call",
    "custom_tool_call",
    "function_call_output",
    "reasoning",
    "message",
    "image",
    "image_url",
    "document",
    "refusal",
    "namespace",
    "local_shell",
    "web_search",
    "additional_tools",
    "auto",
    "required",
    "none",
    "any",
    "high",
    "max",
    "enabled",
    "adaptive",
    "json_schema",
    "hg1.e30",
    "data:image/png;base64,AA==",
    "c1",
    "call_1",
    "\u{0}é\u{fffd}",
    "{\"a\":1}",
];

fn word(rng: &mut StdRng) -> Value {
    match rng.random_range(0..14) {
        0 => Value::Null,
        1 => json!(rng.random::<bool>()),
        2 => json!(rng.random_range(-3..40_000)),
        3 => json!(1e300),
        4 => json!([]),
        5 => json!({}),
        6 => json!([{"type":WORDS[rng.random_range(0..WORDS.len())]}]),
        _ => json!(WORDS[rng.random_range(0..WORDS.len())]),
    }
}

/// Changes one place of a document.
pub fn mutate(value: &mut Value, rng: &mut StdRng) {
    let go_on = rng.random_range(0..20) > 0;
    match value {
        Value::Object(object) if go_on && !object.is_empty() => {
            let at = rng.random_range(0..object.len());
            if rng.random_range(0..8) == 0 {
                let key = object.keys().nth(at).unwrap().clone();
                object.shift_remove(&key);
            } else {
                mutate(object.values_mut().nth(at).unwrap(), rng);
            }
        }
        Value::Array(list) if go_on && !list.is_empty() => {
            let at = rng.random_range(0..list.len());
            match rng.random_range(0..8) {
                0 => drop(list.remove(at)),
                1 => list.insert(at, list[at].clone()),
                2 => list.swap(0, at),
                _ => mutate(&mut list[at], rng),
            }
        }
        Value::String(text) if go_on => WORDS[rng.random_range(0..WORDS.len())].clone_into(text),
        other => *other = word(rng),
    }
}

/// Chunks of random sizes.
pub fn cut<'b>(bytes: &'b [u8], rng: &mut StdRng) -> Vec<&'b [u8]> {
    let most = [1, 3, 40, 400][rng.random_range(0..4)];
    let mut chunks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = (at + rng.random_range(1..=most)).min(bytes.len());
        chunks.push(&bytes[at..end]);
        at = end;
    }
    chunks
}

/// Bytes of a stream damaged in one place.
pub fn damage(bytes: &mut Vec<u8>, rng: &mut StdRng) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.random_range(0..bytes.len());
    match rng.random_range(0..3) {
        0 => bytes.truncate(at),
        1 => bytes[at] = (rng.next_u32() & 0xff) as u8,
        _ => drop(bytes.remove(at)),
    }
}
