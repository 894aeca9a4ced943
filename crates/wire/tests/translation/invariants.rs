//! What must hold for any bytes: for what the properties damage at random, and for what a fuzzer makes up (`fuzz/`).
//!
//! The first bytes of an input choose client, upstream and options; the rest is what a client or an upstream sends.

use headgate_domain::{Protocol, UpstreamKind};
use headgate_wire::{envelope, error, observe::End, request, sse, translate::Answers};
use serde_json::{Value, json};

use super::{
    driver::{Answered, REQUEST_ID, Route},
    legal, oracle,
};

pub const UPSTREAMS: [UpstreamKind; 4] =
    [UpstreamKind::Openai, UpstreamKind::OpenaiResponse, UpstreamKind::Codex, UpstreamKind::Claude];

pub const CLIENTS: [Protocol; 3] = [Protocol::Chat, Protocol::Responses, Protocol::Claude];

/// Whether a client is translated for an upstream.
pub fn crosses(client: Protocol, upstream: UpstreamKind) -> bool {
    let edited = client == Protocol::Responses && upstream == UpstreamKind::Codex;
    !upstream.speaks(client) && !edited
}

/// A route by two bytes, with a profile that differs from the usual one.
fn route(choice: u8, options: u8) -> Route {
    let client = CLIENTS[usize::from(choice % 3)];
    let upstream = UPSTREAMS[usize::from(choice / 3 % 4)];
    let bit = |n: u8| options >> n & 1 == 1;
    let thinking = ["adaptive", "manual", "none", "adaptive"][usize::from(options & 3)];
    Route::new(client, upstream).with(json!({
        "thinking":thinking,"auto_cache":bit(2),"mid_system":bit(3),"custom_tools":bit(4),"single_system":bit(5),
        "replay_reasoning":if bit(6) { "all" } else { "off" },"think_tags":bit(7)
    }))
}

/// The smallest request of a client, with tools of every kind it knows.
pub fn question(client: Protocol, stream: bool) -> Value {
    let tools = json!([{"type":"custom","name":"apply_patch"},{"type":"local_shell"}]);
    match client {
        Protocol::Chat => {
            json!({"model":"m","messages":[{"role":"user","content":"x"}],"stream":stream,"stream_options":{"include_usage":true}})
        }
        Protocol::Responses => json!({"model":"m","input":"x","stream":stream,"tools":tools}),
        Protocol::Claude => {
            json!({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":stream})
        }
    }
}

/// A body that can be sent is legal for the upstream, whatever the client said.
pub fn check_request(route: &Route, body: &[u8]) {
    let Ok(encoded) = route.request_bytes(body) else { return };
    let sent: Value = serde_json::from_slice(&encoded.body).expect("a request is JSON");
    assert_eq!(sent["model"], route.model.as_str());
    if crosses(route.client, route.upstream)
        && let Err(why) = legal::check(route.upstream, &sent)
    {
        panic!("{why}\nfrom {}", String::from_utf8_lossy(body));
    }
}

/// A stream to a client is whole, or ends with a failure.
pub fn check_stream(route: &Route, answered: &Answered) {
    if answered.bytes.is_empty() {
        assert!(answered.failed || answered.refused.is_some());
    } else if crosses(route.client, route.upstream)
        && let Err(why) = oracle::check(route.client, &answered.bytes, answered.failed)
    {
        panic!("{why}\n{}", String::from_utf8_lossy(&answered.bytes));
    }
}

/// A client's body.
pub fn request(input: &[u8]) {
    let [choice, options, body @ ..] = input else { return };
    let route = route(*choice, *options);
    let read = request::read(route.client, body);
    if let Ok(asked) = &read {
        let named: String = serde_json::from_slice(&body[asked.model_span.clone()]).expect("the model's place");
        assert_eq!(named, asked.model);
        check_request(&route, body);
    }
}

/// An upstream's stream, cut anywhere.
pub fn stream(input: &[u8]) {
    let [choice, options, step, body @ ..] = input else { return };
    let route = route(*choice, *options);
    let asked = question(route.client, true);
    if !crosses(route.client, route.upstream) {
        return continued(&route, &asked, body, usize::from(*step).max(1));
    }
    let whole = route.answer(&asked, [body]);
    check_stream(&route, &whole);
    let cut = route.answer(&asked, body.chunks(usize::from(*step).max(1)));
    check_stream(&route, &cut);
    assert_eq!(whole.end, cut.end, "however it is cut");
    assert_eq!(String::from_utf8_lossy(&whole.bytes), String::from_utf8_lossy(&cut.bytes), "however it is cut");
}

/// A stream of the client's own protocol behind an opening of ours: whatever it is, how it is cut changes nothing, and
/// nothing of it is half an event.
fn continued(route: &Route, asked: &Value, body: &[u8], step: usize) {
    let read = |step: usize| {
        let mut waiting = route.head(asked);
        let mut bytes = waiting.keep_alive();
        let mut translator = Answers::relayed(route.client).translator(route.head(asked).resumed(waiting.progress()));
        for chunk in body.chunks(step) {
            bytes.extend(translator.push(bytes::Bytes::copy_from_slice(chunk)));
        }
        bytes.extend(translator.finish());
        (translator.end(), bytes)
    };
    let (end, bytes) = read(body.len().max(1));
    assert!(bytes.ends_with(b"\n\n") && std::str::from_utf8(&bytes).is_ok());
    assert_eq!(read(step), (end, bytes), "however it is cut");
}

/// An upstream's answer for a client that wants no stream.
pub fn answer(input: &[u8]) {
    let [choice, options, body @ ..] = input else { return };
    let route = route(*choice, *options);
    let answered = route.answer(&question(route.client, false), [body]);
    if crosses(route.client, route.upstream) && matches!(answered.end, End::Complete | End::Empty) {
        check_document(route.client, &answered.json());
    }
}

/// A whole answer has what its protocol's clients rely on.
fn check_document(client: Protocol, answer: &Value) {
    match client {
        Protocol::Chat => {
            let choice = &answer["choices"][0];
            let arguments = choice["message"]["tool_calls"].as_array().into_iter().flatten();
            assert!(choice["message"]["role"] == "assistant" && choice["finish_reason"].is_string(), "{answer}");
            arguments.for_each(|call| assert!(call["id"].is_string() && call["type"].is_string(), "{call}"));
        }
        Protocol::Responses => {
            assert!(matches!(answer["status"].as_str(), Some("completed" | "incomplete")), "{answer}");
            for item in answer["output"].as_array().expect("output is a list") {
                assert!(item["type"].is_string() && item["id"].as_str().is_some_and(|id| id.len() <= 64), "{item}");
            }
        }
        Protocol::Claude => {
            assert!(answer["stop_reason"].is_string() && answer["usage"]["output_tokens"].is_u64(), "{answer}");
            for block in answer["content"].as_array().expect("content is a list") {
                assert!(block["type"] != "tool_use" || block["input"].is_object(), "{block}");
            }
        }
    }
}

/// An upstream's refusal.
pub fn refusal(input: &[u8]) {
    let [choice, high, body @ ..] = input else { return };
    let status = 300 + u16::from(*high);
    let read = error::read(Some(status), body);
    assert!(read.message.len() <= 2048 + "[masked]".len(), "{} bytes", read.message.len());
    let failure = headgate_routing::classify(&read);
    let client = CLIENTS[usize::from(choice % 3)];
    let words = envelope::failure_words(&failure, client);
    assert!((400..=599).contains(&words.status), "{words:?}");
    let told = envelope::body(client, &words, &envelope::failure_message(&failure, client), REQUEST_ID);
    let told: Value = serde_json::from_slice(&told).expect("an error is JSON");
    assert!(told["error"]["message"].is_string() && told["error"]["type"].is_string(), "{told}");
    let event = envelope::stream_error(client, &failure, "m", REQUEST_ID, 0);
    assert!(event.ends_with(b"\n\n") && std::str::from_utf8(&event).is_ok());
}

/// Events, cut anywhere, some of their parts let go early.
pub fn events(input: &[u8]) {
    let [step, flow, body @ ..] = input else { return };
    let cut = |step: usize, flow: Option<usize>| {
        let mut splitter = sse::Splitter::new(1 << 20);
        let (mut raw, mut payloads) = (Vec::new(), Vec::new());
        let mut take = |frames: Vec<sse::Frame>, raw: &mut Vec<u8>| {
            for frame in frames {
                payloads.extend(sse::data(&frame.raw).map(std::borrow::Cow::into_owned));
                raw.extend_from_slice(&frame.unsent());
            }
        };
        for chunk in body.chunks(step) {
            let mut frames = Vec::new();
            splitter.push(bytes::Bytes::copy_from_slice(chunk), &mut frames).expect("a small stream");
            take(frames, &mut raw);
            if flow.is_some_and(|most| splitter.waiting() > most) {
                raw.extend_from_slice(&splitter.flow());
            }
        }
        take(splitter.finish().into_iter().collect(), &mut raw);
        (raw, payloads)
    };
    let (raw, payloads) = cut(body.len().max(1), None);
    assert_eq!(raw, body, "not a byte is lost");
    assert_eq!(cut(usize::from(*step).max(1), None), (raw.clone(), payloads), "however it is cut");
    assert_eq!(cut(usize::from(*step).max(1), Some(usize::from(*flow))).0, raw, "also when parts flow early");
}
