//! Streams and documents of each protocol, whole, empty, cut and failed.

use headgate_domain::{
    Protocol::{Chat, Claude, Responses},
    ServiceTier,
};

use super::*;

fn watch(protocol: Protocol, events: &[&str]) -> (Observer, Vec<Seen>) {
    let mut observer = Observer::new(protocol);
    let seen = events.iter().map(|e| observer.event(e.as_bytes())).collect();
    (observer, seen)
}

const NOTHING: Seen = Seen { work: false, output: false };

#[test]
fn role_chunks_and_openings_are_neither_work_nor_output() {
    let (_, seen) = watch(Chat, &[r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#]);
    assert_eq!(seen, [NOTHING]);
    let (_, seen) = watch(
        Responses,
        &[r#"{"type":"response.created","response":{"output":[]}}"#, r#"{"type":"response.in_progress"}"#],
    );
    assert_eq!(seen, [NOTHING, NOTHING]);
    let (_, seen) = watch(Claude, &[r#"{"type":"message_start","message":{"content":[]}}"#, r#"{"type":"ping"}"#]);
    assert_eq!(seen, [NOTHING, NOTHING]);
}

#[test]
fn an_opened_block_is_work_and_its_text_is_output() {
    let (_, seen) = watch(
        Claude,
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}"#,
        ],
    );
    assert_eq!(seen, [Seen::WORK, Seen::OUTPUT, Seen::OUTPUT]);
    let (_, seen) = watch(
        Responses,
        &[
            r#"{"type":"response.output_item.added","item":{"type":"message","content":[]}}"#,
            r#"{"type":"response.output_text.delta","delta":"a"}"#,
            r#"{"type":"response.output_item.added","item":{"type":"function_call","name":"f","arguments":""}}"#,
            r#"{"type":"response.output_item.added","item":{"type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.output_item.done","item":{"type":"reasoning","summary":[],"encrypted_content":"x"}}"#,
        ],
    );
    assert_eq!(seen, [Seen::WORK, Seen::OUTPUT, Seen::OUTPUT, Seen::WORK, Seen::OUTPUT]);
    let (_, seen) = watch(
        Chat,
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
        ],
    );
    assert_eq!(seen, [Seen::WORK, Seen::OUTPUT, Seen::OUTPUT]);
}

#[test]
fn a_stream_is_complete_only_with_its_completion() {
    let text = r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#;
    let stop = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    assert_eq!(watch(Chat, &[text]).0.end(), End::Cut);
    assert_eq!(watch(Chat, &[text, stop]).0.end(), End::Complete);
    assert_eq!(watch(Chat, &[text, "[DONE]"]).0.end(), End::Complete);
    assert_eq!(watch(Chat, &[stop, "[DONE]"]).0.end(), End::Empty);

    let open = r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#;
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#;
    assert_eq!(watch(Claude, &[open]).0.end(), End::Cut);
    assert_eq!(watch(Claude, &[open, delta]).0.end(), End::Complete);
    assert_eq!(watch(Claude, &[delta, r#"{"type":"message_stop"}"#]).0.end(), End::Empty);

    let done = r#"{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":5,"output_tokens":2}}}"#;
    assert_eq!(watch(Responses, &[r#"{"type":"response.output_text.delta","delta":"a"}"#]).0.end(), End::Cut);
    assert_eq!(
        watch(Responses, &[r#"{"type":"response.output_text.delta","delta":"a"}"#, done]).0.end(),
        End::Complete
    );
    assert_eq!(watch(Responses, &[done]).0.end(), End::Empty);
    assert_eq!(watch(Responses, &[done]).0.usage().output, Some(2));
}

#[test]
fn an_end_for_a_cause_is_never_empty() {
    for (protocol, event) in [
        (Chat, r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#),
        (Claude, r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#),
        (Claude, r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}"#),
        (Responses, r#"{"type":"response.incomplete","response":{"status":"incomplete","output":[]}}"#),
    ] {
        let (observer, seen) = watch(protocol, &[event]);
        assert_eq!(observer.end(), End::Complete, "{event}");
        assert!(seen[0].output, "{event}");
    }
}

#[test]
fn tools_as_the_reason_without_a_usable_call_is_empty() {
    let (observer, _) =
        watch(Chat, &[r#"{"choices":[{"delta":{"tool_calls":[]},"finish_reason":"tool_calls"}]}"#, "[DONE]"]);
    assert_eq!(observer.end(), End::Empty);
}

#[test]
fn an_error_event_of_any_shape_fails_the_answer() {
    for (protocol, event, code) in [
        (Chat, r#"{"error":{"message":"m","code":"c"},"choices":[{"delta":{"content":"x"}}]}"#, Some("c")),
        (Claude, r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#, None),
        (
            Responses,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"c","message":"m"}}}"#,
            Some("c"),
        ),
        (Responses, r#"{"type":"error","code":"c","message":"m"}"#, Some("c")),
        (Chat, r#"{"code":1302,"msg":"m"}"#, Some("1302")),
    ] {
        let End::Failed(error) = watch(protocol, &[event]).0.end() else { panic!("{event}") };
        assert_eq!((error.message.as_str(), error.code.as_deref()), ("m", code), "{event}");
    }
}

#[test]
fn usage_is_the_largest_seen_per_counter() {
    let (observer, _) = watch(
        Claude,
        &[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":25,"cache_read_input_tokens":7,"output_tokens":1}}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":15}}"#,
        ],
    );
    assert_eq!((observer.usage().fresh, observer.usage().read, observer.usage().output), (Some(25), Some(7), Some(15)));
}

#[test]
fn documents_are_read_like_streams() {
    let read = |protocol, body: &str| {
        let mut observer = Observer::new(protocol);
        let document = observer.document(body.as_bytes());
        (document, observer.end(), observer.usage().output)
    };
    assert_eq!(
        read(
            Chat,
            r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"completion_tokens":4}}"#
        ),
        (Document::Answer, End::Complete, Some(4))
    );
    assert_eq!(read(Chat, r#"{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}"#).1, End::Empty);
    assert_eq!(read(Claude, r#"{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#).1, End::Complete);
    assert_eq!(read(Claude, r#"{"content":[],"stop_reason":"end_turn"}"#).1, End::Empty);
    assert_eq!(read(Claude, r#"{"content":[],"stop_reason":"max_tokens"}"#).1, End::Complete);
    assert_eq!(
        read(Responses, r#"{"status":"completed","output":[{"type":"function_call","name":"f"}]}"#).1,
        End::Complete
    );
    assert_eq!(read(Responses, r#"{"status":"completed","output":[]}"#).1, End::Empty);
    assert!(matches!(read(Chat, r#"{"error":{"message":"m"}}"#).0, Document::Failed(_)));
    assert_eq!(read(Chat, "<html>").0, Document::Unreadable);
    assert_eq!(read(Chat, r#"{"object":"something else"}"#).1, End::Complete);
}

#[test]
fn nonsense_inside_a_stream_is_ignored() {
    for protocol in [Chat, Responses, Claude] {
        let (observer, seen) =
            watch(protocol, &["", "{", "null", "5", "{}", "[]", r#"{"type":5}"#, r#"{"type":"unknown","x":1}"#]);
        assert!(seen.iter().all(|s| !s.output), "{protocol:?} {seen:?}");
        assert_eq!(observer.end(), End::Cut);
    }
}

#[test]
fn the_input_of_a_call_is_work_and_any_other_text_is_output() {
    let (_, seen) = watch(
        Responses,
        &[
            r#"{"type":"response.function_call_arguments.delta","delta":"{"}"#,
            r#"{"type":"response.custom_tool_call_input.delta","delta":"x"}"#,
            r#"{"type":"response.unheard_of.delta","delta":"x"}"#,
        ],
    );
    assert_eq!(seen, [Seen::WORK, Seen::WORK, Seen::OUTPUT]);
}

#[test]
fn what_the_model_wrote_is_counted_as_it_passes_and_once() {
    let text = |protocol, events: &[&str]| {
        let mut observer = Observer::new(protocol);
        for event in events {
            observer.event(event.as_bytes());
        }
        observer.text()
    };
    let chat = [
        r#"{"choices":[{"index":0,"delta":{"content":"four"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"reasoning":"abc","reasoning_content":"abc"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"go","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"another choice"}}]}"#,
    ];
    assert_eq!(text(Protocol::Chat, &chat), 4 + 3 + 4);
    let claude = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"go","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"no text"}}"#,
    ];
    assert_eq!(text(Protocol::Claude, &claude), 2 + 7 + 2);
    let responses = [
        r#"{"type":"response.output_text.delta","delta":"four"}"#,
        r#"{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"four"}]}]}}"#,
    ];
    assert_eq!(text(Protocol::Responses, &responses), 4);
    assert_eq!(text(Protocol::Responses, &responses[1..]), 4);
}

fn heard(protocol: Protocol, events: &[&str]) -> Option<String> {
    let mut observer = Observer::new(protocol);
    assert_eq!(observer.heard(), None, "nobody asked for it");
    observer.keep_text();
    for event in events {
        observer.event(event.as_bytes());
    }
    let text = observer.heard().map(str::to_owned);
    assert!(text.as_ref().is_none_or(|text| text.len() as u64 == observer.text()));
    text
}

#[test]
fn the_text_is_kept_for_who_counts_it_in_every_protocol() {
    let chat = [
        r#"{"choices":[{"index":0,"delta":{"reasoning_content":"hm ","reasoning":"hm "}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a\nb"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}"#,
    ];
    assert_eq!(heard(Protocol::Chat, &chat).as_deref(), Some("hm a\nbf{}"));
    let responses = [
        r#"{"type":"response.output_text.delta","delta":"a b"}"#,
        r#"{"type":"response.function_call_arguments.delta","delta":"{}"}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"text":"a b"}]}]}}"#,
    ];
    assert_eq!(heard(Protocol::Responses, &responses).as_deref(), Some("a b{}"));
    let claude = [
        r#"{"type":"content_block_start","content_block":{"type":"tool_use","name":"f"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}"#,
    ];
    assert_eq!(heard(Protocol::Claude, &claude).as_deref(), Some("f{}hi"));
}

#[test]
fn a_text_that_is_not_all_of_what_was_written_is_not_kept() {
    let second = r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#;
    let first = r#"{"choices":[{"index":0,"delta":{"content":"one"}}]}"#;
    assert_eq!(heard(Protocol::Chat, &[first, second, first]), None);
    let long = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(HEARD));
    assert_eq!(heard(Protocol::Chat, &[&long]).map(|text| text.len()), Some(HEARD));
    assert_eq!(heard(Protocol::Chat, &[&long, first]), None);
}

#[test]
fn the_service_an_answer_was_given_by_is_read_wherever_it_stands() {
    let of = |protocol, frames: &[&str]| watch(protocol, frames).0.usage().tier;
    let chat = r#"{"choices":[{"index":0,"delta":{"content":"a"}}],"service_tier":"priority"}"#;
    assert_eq!(of(Chat, &[chat]), Some(ServiceTier::Priority));
    let done = r#"{"type":"response.completed","response":{"status":"completed","output":[],"service_tier":"flex","usage":{"input_tokens":5,"output_tokens":2}}}"#;
    assert_eq!(of(Responses, &[done]), Some(ServiceTier::Flex));
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":25,"output_tokens":1,"service_tier":"standard"}}}"#;
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}"#;
    assert_eq!(of(Claude, &[start, delta]), Some(ServiceTier::Standard));
    for odd in [r#""auto""#, "null", "7", r#"{"a":1}"#] {
        let chunk = format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"a"}}}}],"service_tier":{odd},"usage":{{"completion_tokens":1}}}}"#
        );
        assert_eq!((of(Chat, &[&chunk]), watch(Chat, &[&chunk]).0.usage().output), (None, Some(1)), "{odd}");
    }
}
