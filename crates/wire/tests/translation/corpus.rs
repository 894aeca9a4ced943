//! The worked examples as a fuzzer's first inputs: written for it where `HEADGATE_SEEDS` names a folder, and tried here.

use std::{fs, path::PathBuf};

use headgate_domain::{Protocol, UpstreamKind};
use serde_json::Value;

use super::{
    cases,
    driver::wire,
    invariants::{self, CLIENTS, UPSTREAMS},
};

type Check = fn(&[u8]);

/// What is fuzzed, and how.
const TARGETS: [(&str, Check); 5] = [
    ("request", invariants::request),
    ("stream", invariants::stream),
    ("answer", invariants::answer),
    ("refusal", invariants::refusal),
    ("events", invariants::events),
];

/// The bytes that choose a client and an upstream.
fn choice(client: Protocol, upstream: UpstreamKind) -> u8 {
    let client = CLIENTS.iter().position(|c| *c == client).unwrap();
    let upstream = UPSTREAMS.iter().position(|u| *u == upstream).unwrap();
    u8::try_from(client + 3 * upstream).unwrap()
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for case in cases::all() {
        let client: Protocol = serde_json::from_value(case["client"].clone()).unwrap();
        let upstream: UpstreamKind = serde_json::from_value(case["upstream"].clone()).unwrap();
        let stream = case["upstream_sse"].as_array().map(|frames| wire(frames));
        let document = case.pointer("/upstream_response/body").map(|body| body.to_string().into_bytes());
        let (routes, body): (Vec<u8>, Option<Vec<u8>>) = match target {
            "request" => {
                (UPSTREAMS.map(|u| choice(client, u)).to_vec(), Some(case["request"].to_string().into_bytes()))
            }
            "stream" => (CLIENTS.map(|c| choice(c, upstream)).to_vec(), stream),
            "answer" => (CLIENTS.map(|c| choice(c, upstream)).to_vec(), document.or(stream)),
            "refusal" => (vec![0, 1, 2], document.filter(|_| case["upstream_response"]["status"] != 200)),
            _ => (vec![7], stream),
        };
        let Some(body) = body else { continue };
        for (number, route) in routes.into_iter().enumerate() {
            // Options, and where a stream is cut.
            let option = u8::try_from(seeds.len() % 251).unwrap();
            let mut seed = vec![route, option];
            if target == "stream" {
                seed.push(u8::try_from(number * 5 + 1).unwrap());
            }
            seed.extend_from_slice(&body);
            seeds.push(seed);
        }
    }
    seeds
}

#[test]
fn what_a_fuzzer_begins_with_passes() {
    let folder = std::env::var_os("HEADGATE_SEEDS").map(PathBuf::from);
    for (target, check) in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target}");
        if let Some(folder) = folder.as_ref().map(|folder| folder.join(target)) {
            fs::create_dir_all(&folder).unwrap();
            for (number, seed) in seeds.iter().enumerate() {
                fs::write(folder.join(format!("{number:04}")), seed).unwrap();
            }
        }
        seeds.iter().for_each(|seed| check(seed));
    }
}

/// The words of the protocols, from which a fuzzer builds.
#[test]
fn a_fuzzers_words_are_those_of_the_cases() {
    fn words(value: &Value, all: &mut std::collections::BTreeSet<String>) {
        match value {
            Value::Object(object) => object.iter().for_each(|(name, value)| {
                all.insert(name.clone());
                words(value, all);
            }),
            Value::Array(list) => list.iter().for_each(|value| words(value, all)),
            Value::String(text) if text.len() <= 40 => {
                all.insert(text.clone());
            }
            _ => {}
        }
    }
    let mut all = std::collections::BTreeSet::new();
    cases::all().iter().for_each(|case| words(case, &mut all));
    all.retain(|word| word.len() > 2 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)));
    assert!(all.contains("tool_use") && all.contains("function_call"));
    if let Some(folder) = std::env::var_os("HEADGATE_SEEDS").map(PathBuf::from) {
        fs::create_dir_all(&folder).unwrap();
        let dictionary: String = all.iter().map(|word| format!("\"\\\"{word}\\\"\"\n")).collect();
        fs::write(folder.join("words.dict"), dictionary).unwrap();
    }
}
