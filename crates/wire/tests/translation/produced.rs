//! What the tests produce, written down for a look at it with the SDKs' own types: `HEADGATE_PRODUCED` names a folder.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::Write as _,
    path::PathBuf,
    sync::{LazyLock, Mutex},
};

use headgate_domain::Protocol;
use serde_json::Value;

use super::normal::frames;

/// Of every kind, so many documents are enough.
const ENOUGH: usize = 20_000;

static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let folder = PathBuf::from(std::env::var_os("HEADGATE_PRODUCED")?);
    fs::create_dir_all(&folder).unwrap();
    Some(folder)
});

/// A file and what was written to it.
type Notes = (File, HashSet<String>);

/// Notes a document: `request`, `answer` or `event`. Each only once.
pub fn note(what: &str, protocol: Protocol, document: &Value) {
    static FILES: LazyLock<Mutex<HashMap<String, Notes>>> = LazyLock::new(Mutex::default);
    let Some(folder) = &*FOLDER else { return };
    let name = format!("{what}-{}", protocol.as_str());
    let mut files = FILES.lock().unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    let (file, written) = files.entry(name).or_insert_with(|| (File::create(path).unwrap(), HashSet::new()));
    if written.len() < ENOUGH && written.insert(document.to_string()) {
        writeln!(file, "{document}").unwrap();
    }
}

/// Notes what a client got.
pub fn note_answer(protocol: Protocol, bytes: &[u8]) {
    if FOLDER.is_none() {
        return;
    }
    if let Ok(document) = serde_json::from_slice::<Value>(bytes) {
        return note("answer", protocol, &document);
    }
    for frame in frames(bytes) {
        // An error event is not among an SDK's events: it is what the SDK throws.
        if frame.data.is_object() && frame.data.get("error").is_none_or(Value::is_null) {
            note("event", protocol, &frame.data);
        }
    }
}
