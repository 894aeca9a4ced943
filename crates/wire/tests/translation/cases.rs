//! The worked examples in `tests/cases`, run as they are. Streams are cut in every way.

use std::{fs, path::Path, sync::LazyLock};

use headgate_domain::{Protocol, UpstreamKind};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    driver::{self, REQUEST_ID, Route, wire},
    normal::{self, Frame},
    oracle,
    pattern::{self, Bindings},
};

fn protocol(word: &Value) -> Protocol {
    serde_json::from_value(word.clone()).unwrap()
}

fn route(case: &Value) -> Route {
    let upstream: UpstreamKind = serde_json::from_value(case["upstream"].clone()).unwrap();
    let mut route = Route::new(protocol(&case["client"]), upstream);
    route.model = case["upstream_model"].as_str().unwrap().to_owned();
    route.with(case.get("profile").cloned().unwrap_or_else(|| json!({})))
}

fn run(case: &Value) -> Result<(), String> {
    let route = route(case);
    let mut bound = Bindings::new();
    let body = &case["request"];
    let encoded = match (route.request(body), case.get("reject")) {
        (Err(rejection), Some(expected)) => {
            let refused: Value = serde_json::from_slice(&rejection.body(route.client, REQUEST_ID)).unwrap();
            assert_eq!(expected["status"], 400);
            return pattern::matches(&expected["body"], Some(&refused), "reject", &mut bound);
        }
        (Ok(_), Some(_)) => return Err("the request should be refused".into()),
        (Err(rejection), None) => return Err(format!("refused: {rejection:?}")),
        (Ok(encoded), None) => encoded,
    };
    let mut sent: Value = serde_json::from_slice(&encoded.body).unwrap();
    for pointer in case["upstream_request_absent"].as_array().into_iter().flatten() {
        if let Some(found) = sent.pointer(pointer.as_str().unwrap()) {
            return Err(format!("{pointer} should be absent: {found}"));
        }
    }
    if let Some(expected) = case.get("upstream_request") {
        let mut expected = expected.clone();
        normal::request(route.upstream, &mut expected);
        normal::request(route.upstream, &mut sent);
        pattern::matches(&expected, Some(&sent), "sent", &mut bound).map_err(|why| format!("{why}\n{sent:#}"))?;
    }
    for code in case["warnings"].as_array().into_iter().flatten() {
        if !encoded.warnings.codes().iter().any(|c| code == c.as_ref()) {
            return Err(format!("{code} is not among {:?}", encoded.warnings));
        }
    }
    for (name, regex) in case["bindings"].as_object().into_iter().flatten() {
        if !pattern::full_match(regex.as_str().unwrap(), &bound[name]) {
            return Err(format!("{name} is bound to {}", bound[name]));
        }
    }
    answer(case, &route, &bound)
}

fn answer(case: &Value, route: &Route, bound: &Bindings) -> Result<(), String> {
    let body = match (case.get("upstream_response"), case["upstream_sse"].as_array()) {
        (Some(response), _) if response["status"] != 200 => return failure(case, route, response),
        (Some(response), _) => {
            let mut body = response["body"].clone();
            pattern::fill(&mut body, bound);
            body.to_string().into_bytes()
        }
        (None, Some(frames)) => wire(frames),
        (None, None) => return Ok(()),
    };
    let mut rng = StdRng::seed_from_u64(7);
    let mut expected_bytes: Option<usize> = None;
    for way in 0..12 {
        let cuts: Vec<usize> = match way {
            0 => Vec::new(),
            1 => (1..body.len()).collect(),
            _ => {
                let mut cuts: Vec<usize> = (0..way).map(|_| rng.random_range(0..=body.len())).collect();
                cuts.sort_unstable();
                cuts
            }
        };
        let mut at = 0;
        let mut chunks: Vec<&[u8]> = Vec::new();
        for cut in cuts {
            chunks.push(&body[at..cut]);
            at = cut;
        }
        chunks.push(&body[at..]);
        let answered = route.answer(&case["request"], chunks);
        compare(case, route, &answered, &mut bound.clone())
            .map_err(|why| format!("way {way}: {why}\n{}", String::from_utf8_lossy(&answered.bytes)))?;
        let length = *expected_bytes.get_or_insert(answered.bytes.len());
        assert_eq!(length, answered.bytes.len(), "the same bytes however they were cut");
    }
    Ok(())
}

fn compare(case: &Value, route: &Route, answered: &driver::Answered, bound: &mut Bindings) -> Result<(), String> {
    if let Some(expected) = case["client_sse"].as_array() {
        oracle::check(route.client, &answered.bytes, answered.failed)?;
        let frames = normal::frames(&answered.bytes);
        for absent in case["client_sse_absent"].as_array().into_iter().flatten() {
            if frames.iter().any(|f| f.data == *absent || f.data["type"] == *absent) {
                return Err(format!("{absent} should not occur"));
            }
        }
        let frame = |f: &Value| Frame { event: f["event"].as_str().map(str::to_owned), data: f["data"].clone() };
        let expected: Vec<Frame> = expected.iter().map(frame).collect();
        let expected = normal::stream(route.client, &expected);
        let got = normal::stream(route.client, &frames);
        return pattern::matches(&json!(expected), Some(&json!(got)), "stream", bound);
    }
    let Some(expected) = case.get("client_response") else { return Ok(()) };
    let (status, body) = match &answered.refused {
        Some((status, body)) => (*status, body.clone()),
        None => (200, answered.json()),
    };
    if expected["status"] != status {
        return Err(format!("status {status}: {body}"));
    }
    pattern::matches(&expected["body"], Some(&body), "answer", bound)
}

/// An HTTP error; its headers are the gateway's to pass on.
fn failure(case: &Value, route: &Route, response: &Value) -> Result<(), String> {
    let status = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
    let (status, body) = driver::refusal(route.client, status, response["body"].to_string().as_bytes());
    let expected = &case["client_response"];
    if expected["status"] != status {
        return Err(format!("status {status}: {body}"));
    }
    pattern::matches(&expected["body"], Some(&body), "refusal", &mut Bindings::new())
}

/// All cases, in the order of their names.
pub fn all() -> &'static [Value] {
    static CASES: LazyLock<Vec<Value>> = LazyLock::new(|| {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.retain(|path| path.extension().is_some_and(|e| e == "json"));
        files.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
    });
    &CASES
}

#[test]
fn every_worked_example_passes_unchanged() {
    let failures: Vec<String> =
        all().iter().filter_map(|case| run(case).err().map(|why| format!("{}: {why}", case["name"]))).collect();
    println!("{} of {} cases pass", all().len() - failures.len(), all().len());
    assert!(failures.is_empty() && all().len() >= 92, "{}", failures.join("\n\n"));
}

/// The keys that a person may set, as they are documented.
#[test]
fn every_key_of_a_profile_has_a_worked_example() {
    let document = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles.md")).unwrap();
    let rows = document.lines().skip_while(|line| !line.starts_with("| key |")).skip(2);
    let keys: Vec<&str> =
        rows.map_while(|line| line.strip_prefix("| `")).filter_map(|row| row.split('`').next()).collect();
    assert!(keys.len() >= 19, "{keys:?}");
    let shown = |key: &str| all().iter().any(|case| case["profile"].get(key).is_some());
    let missing: Vec<&str> = keys.into_iter().filter(|key| !shown(key)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
