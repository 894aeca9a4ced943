//! What holds for every input.

use headgate_domain::{Protocol, UpstreamKind};
use headgate_wire::{observe::End, profile::Profile, translate::Plan};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    cases,
    driver::{Route, wire},
    invariants::{CLIENTS, UPSTREAMS, check_request, check_stream, crosses, question},
    mutate,
};

proptest! {
    // `PROPTEST_CASES` asks for more than the usual 256.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a client sends is refused, or becomes a request that is legal for the upstream.
    #[test]
    fn a_damaged_request_is_refused_or_becomes_a_legal_one(seed in any::<u64>()) {
        let mut rng = StdRng::seed_from_u64(seed);
        let cases = cases::all();
        for _ in 0..20 {
            let case = &cases[rng.random_range(0..cases.len())];
            let client: Protocol = serde_json::from_value(case["client"].clone()).unwrap();
            let mut body = case["request"].clone();
            for _ in 0..rng.random_range(1..4) {
                mutate::mutate(&mut body, &mut rng);
            }
            for upstream in UPSTREAMS.into_iter().filter(|u| crosses(client, *u)) {
                let thinking = ["manual", "adaptive", "none"][rng.random_range(0..3)];
                let keys = json!({"thinking":thinking,"auto_cache":rng.random::<bool>(),"mid_system":rng.random::<bool>()});
                check_request(&Route::new(client, upstream).with(keys), body.to_string().as_bytes());
            }
        }
    }

    /// Whatever an upstream streams, the client's stream is whole or ends with a failure, and how the bytes were cut
    /// changes nothing.
    #[test]
    fn a_damaged_stream_never_becomes_a_half_legal_one(seed in any::<u64>()) {
        let mut rng = StdRng::seed_from_u64(seed);
        let cases = cases::all();
        let streams: Vec<&Value> = cases.iter().filter(|c| c["upstream_sse"].is_array()).collect();
        for _ in 0..10 {
            let case = streams[rng.random_range(0..streams.len())];
            let upstream: UpstreamKind = serde_json::from_value(case["upstream"].clone()).unwrap();
            let mut frames = case["upstream_sse"].clone();
            for _ in 0..rng.random_range(0..6) {
                mutate::mutate(&mut frames, &mut rng);
            }
            let Some(frames) = frames.as_array().map(|f| f.iter().filter(|f| {
                ["raw", "event"].iter().all(|m| f.get(m).is_none_or(Value::is_string)) && f["event"].as_str().is_none_or(|e| !e.contains('\u{0}'))
            }).cloned().collect::<Vec<_>>()) else { continue };
            let mut bytes = wire(&frames);
            if rng.random::<bool>() {
                mutate::damage(&mut bytes, &mut rng);
            }
            for client in CLIENTS.into_iter().filter(|c| crosses(*c, upstream)) {
                let route = Route::new(client, upstream);
                let request = question(client, true);
                let whole = route.answer(&request, [bytes.as_slice()]);
                check_stream(&route, &whole);
                let cut = route.answer(&request, mutate::cut(&bytes, &mut rng));
                check_stream(&route, &cut);
                prop_assert_eq!(&whole.end, &cut.end);
                prop_assert_eq!(String::from_utf8_lossy(&whole.bytes), String::from_utf8_lossy(&cut.bytes));
                // The same answer, collected.
                let mut single = request.clone();
                single["stream"] = json!(false);
                let collected = route.answer(&single, [bytes.as_slice()]);
                prop_assert_eq!(&collected.end, &whole.end);
                if matches!(collected.end, End::Complete) {
                    collected.json();
                }
            }
        }
    }

    /// Arbitrary bytes of either side are survived.
    #[test]
    fn arbitrary_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for client in CLIENTS {
            for upstream in UPSTREAMS {
                let profile = Profile::resolve(upstream, None, "m");
                prop_assert!(Plan::new(client, upstream, &profile).request(&bytes, "m").is_err());
            }
        }
        let request = json!({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":true});
        let answered = Route::new(Protocol::Claude, UpstreamKind::Openai).answer_whole(&request, &bytes);
        prop_assert!(answered.failed && answered.bytes.is_empty());
    }

    /// A request for an upstream of the client's own protocol keeps every member but the model.
    #[test]
    fn the_same_protocol_keeps_everything(seed in any::<u64>()) {
        let mut rng = StdRng::seed_from_u64(seed);
        let cases = cases::all();
        for case in cases {
            let client: Protocol = serde_json::from_value(case["client"].clone()).unwrap();
            let upstream = match client {
                Protocol::Chat => UpstreamKind::Openai,
                Protocol::Responses => UpstreamKind::OpenaiResponse,
                Protocol::Claude => UpstreamKind::Claude,
            };
            let mut body = case["request"].clone();
            mutate::mutate(&mut body, &mut rng);
            if body.get("model").is_none() || body.to_string().contains("hg1.") {
                continue;
            }
            body["model"] = json!("sent-model");
            prop_assert_eq!(Route::new(client, upstream).sent(&body), body);
        }
    }
}
