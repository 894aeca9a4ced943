//! What every protocol can say survives every way through the others.

use headgate_domain::{Protocol, UpstreamKind};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::driver::Route;

const TEXTS: [&str; 6] = ["hello", "two\nlines", " é中😀 ", "<b>\"q\"</b>", "hg1.", "{\"a\":1}"];

fn pick<'t>(rng: &mut StdRng, from: &[&'t str]) -> &'t str {
    from[rng.random_range(0..from.len())]
}

fn user(rng: &mut StdRng) -> Value {
    let image = json!({"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}});
    let text = json!({"type":"text","text":pick(rng, &TEXTS)});
    let content = match rng.random_range(0..4) {
        0 => json!([text, image]),
        1 => json!([image, text, {"type":"text","text":"more"}]),
        _ => text["text"].clone(),
    };
    json!({"role":"user","content":content})
}

/// A Chat request within what all protocols share, in the spelling our encoder uses.
fn conversation(rng: &mut StdRng) -> Value {
    let mut messages = Vec::new();
    if rng.random::<bool>() {
        messages.push(json!({"role":"system","content":pick(rng, &TEXTS)}));
    }
    messages.push(user(rng));
    let mut calls = 0;
    for _ in 0..rng.random_range(0..4) {
        let mut assistant = json!({"role":"assistant","content":pick(rng, &TEXTS)});
        let mut results = Vec::new();
        if rng.random::<bool>() {
            if rng.random::<bool>() {
                assistant["content"] = Value::Null;
            }
            let mut made = Vec::new();
            for _ in 0..rng.random_range(1..4) {
                let id = format!("call_{calls}");
                calls += 1;
                let arguments = json!({"n":calls,"s":pick(rng, &TEXTS)}).to_string();
                made.push(json!({"id":id,"type":"function","function":{"name":pick(rng, &["f", "g-1"]),"arguments":arguments}}));
                results.push(json!({"role":"tool","tool_call_id":id,"content":pick(rng, &TEXTS)}));
            }
            assistant["tool_calls"] = json!(made);
        }
        messages.push(assistant);
        let called = !results.is_empty();
        messages.extend(results);
        if !called || rng.random::<bool>() {
            messages.push(user(rng));
        } else {
            messages.push(json!({"role":"assistant","content":"so"}));
            messages.push(user(rng));
        }
    }
    let schema = json!({"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["n"],"additionalProperties":false});
    let tool = |name: &str| json!({"type":"function","function":{"name":name,"description":"d","parameters":schema}});
    let mut body = json!({"model":"sent-model","messages":messages,"tools":[tool("f"), tool("g-1")],"max_tokens":rng.random_range(16..9000)});
    let mut maybe = |rng: &mut StdRng, member: &str, values: &[Value]| {
        if rng.random::<bool>() {
            body[member] = values[rng.random_range(0..values.len())].clone();
        }
    };
    let forced = json!({"type":"function","function":{"name":"f"}});
    maybe(rng, "tool_choice", &[json!("auto"), json!("required"), json!("none"), forced]);
    maybe(rng, "stream", &[json!(true)]);
    maybe(
        rng,
        "response_format",
        &[json!({"type":"json_schema","json_schema":{"name":"response","schema":schema,"strict":false}})],
    );
    if rng.random::<bool>() {
        body["temperature"] = json!(0.25);
    } else if body.get("tool_choice").is_none() {
        // Thinking excludes a forced tool and a temperature on some upstreams.
        body["reasoning_effort"] = json!(pick(rng, &["low", "medium", "high"]));
    }
    body
}

fn client_of(upstream: UpstreamKind) -> Protocol {
    match upstream {
        UpstreamKind::OpenaiResponse => Protocol::Responses,
        UpstreamKind::Claude => Protocol::Claude,
        _ => Protocol::Chat,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_all_protocols_share_is_lossless_on_every_way(seed in any::<u64>()) {
        use UpstreamKind::{Claude, Openai, OpenaiResponse};
        let mut rng = StdRng::seed_from_u64(seed);
        for _ in 0..4 {
            let original = conversation(&mut rng);
            for way in [vec![OpenaiResponse, Openai], vec![Claude, Openai], vec![OpenaiResponse, Claude, Openai], vec![Claude, OpenaiResponse, Openai]] {
                let mut body = original.clone();
                let mut client = Protocol::Chat;
                for upstream in &way {
                    let route = Route::new(client, *upstream);
                    let encoded = route.request(&body).expect("expressible");
                    prop_assert!(encoded.warnings.is_empty(), "{:?} {way:?} {body}", encoded.warnings);
                    body = serde_json::from_slice(&encoded.body).unwrap();
                    client = client_of(*upstream);
                }
                let mut expected = original.clone();
                if expected["stream"] == true {
                    expected["stream_options"] = json!({"include_usage":true});
                }
                prop_assert_eq!(&body, &expected, "{:?}", way);
            }
        }
    }
}
