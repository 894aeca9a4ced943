//! One answer from its first byte to its last, as the gateway drives it.

use std::time::Duration;

use bytes::Bytes;
use headgate_domain::{
    Class, Failure,
    Protocol::{Chat, Claude, Responses},
    UpstreamKind,
};
use headgate_wire::{head::Head, observe::End};
use serde_json::{Value, json};

use super::{
    driver::{CREATED, REQUEST_ID, Route, chunks, events, wire},
    normal::frames,
    oracle,
};

pub fn asked(client: headgate_domain::Protocol, stream: bool) -> Value {
    match client {
        Chat => json!({"model":"asked","messages":[{"role":"user","content":"x"}],"stream":stream}),
        Responses => json!({"model":"asked","input":"x","stream":stream}),
        Claude => json!({"model":"asked","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":stream}),
    }
}

pub fn text(text: &str) -> Value {
    json!({"choices":[{"index":0,"delta":{"content":text},"finish_reason":null}]})
}

fn finish() -> Value {
    json!({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})
}

pub fn event(data: &Value) -> Bytes {
    format!("data: {data}\n\n").into()
}

pub fn head(client: headgate_domain::Protocol) -> Head {
    Head::new(client, b"{}", "asked", REQUEST_ID, CREATED)
}

#[test]
fn keep_alives_open_the_stream_and_a_later_attempt_goes_on_where_they_stand() {
    for (client, upstream) in
        [(Claude, UpstreamKind::Openai), (Responses, UpstreamKind::Openai), (Chat, UpstreamKind::Claude)]
    {
        let route = Route::new(client, upstream);
        let answers = route.request(&asked(client, true)).unwrap().answers;
        assert!(answers.keeps_alive());
        let mut first = answers.translator(head(client));
        let mut bytes = first.keep_alive();
        let alive = first.keep_alive();
        assert!(frames(&alive).len() == 1 && alive != bytes, "a sign of life each time");
        bytes.extend(alive);
        // It fails before its first output: another attempt goes on from there.
        assert!(first.push(event(&json!({"error":{"message":"no"}}))).is_empty());
        assert!(matches!(first.end(), Some(End::Failed(_))) && !first.seen().output);
        assert!(first.progress().is_open());
        let mut second = answers.translator(head(client).resumed(first.progress()));
        bytes.extend(second.keep_alive());
        let body = match upstream {
            UpstreamKind::Claude => events(&[
                json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}),
                json!({"type":"message_delta","delta":{"stop_reason":"end_turn"}}),
                json!({"type":"message_stop"}),
            ]),
            _ => chunks(&[text("a"), finish()]),
        };
        bytes.extend(second.push(body.into()));
        bytes.extend(second.finish());
        assert_eq!(second.end(), Some(End::Complete));
        assert!(second.keep_alive().is_empty(), "nothing after the end");
        oracle::check(client, &bytes, false).unwrap_or_else(|why| panic!("{why} {}", String::from_utf8_lossy(&bytes)));
    }
}

#[test]
fn a_stream_that_only_keep_alives_have_opened_ends_with_the_clients_own_failure() {
    for client in [Chat, Responses, Claude] {
        let mut head = head(client);
        let mut bytes = head.keep_alive();
        bytes.extend(head.keep_alive());
        let mut failure = Failure::new(Class::RateLimited, "slow down");
        failure.retry_after = Some(Duration::from_secs(3));
        bytes.extend(head.fail(&failure));
        oracle::check(client, &bytes, true).unwrap();
        let last = frames(&bytes).last().unwrap().data.to_string();
        assert!(last.contains("slow down") && last.contains("rate_limit"), "{last}");
        assert_eq!(client == Responses, last.contains("Please try again in 3s."), "Codex reads the delay there");
    }
}

#[test]
fn a_failed_response_has_the_items_that_were_finished() {
    let route = Route::new(Responses, UpstreamKind::Claude);
    let mut translator = route.request(&asked(Responses, true)).unwrap().answers.translator(head(Responses));
    let block = |n: u64, text: &str| json!({"type":"content_block_start","index":n,"content_block":{"type":"text","text":text}});
    let body = events(&[block(0, "a"), json!({"type":"content_block_stop","index":0}), block(1, "b")]);
    let mut bytes = translator.push(body.into());
    bytes.extend(translator.finish());
    assert_eq!(translator.end(), Some(End::Cut));
    bytes.extend(translator.fail(&Failure::new(Class::Cut, "broke off")));
    oracle::check(Responses, &bytes, true).unwrap();
    assert_eq!(frames(&bytes).last().unwrap().data["response"]["output"].as_array().unwrap().len(), 1);
}

#[test]
fn nothing_is_written_before_the_first_output_and_every_event_after_it_at_once() {
    let route = Route::new(Claude, UpstreamKind::Openai);
    let mut translator = route.request(&asked(Claude, true)).unwrap().answers.translator(head(Claude));
    for early in [
        json!({"choices":[{"delta":{"role":"assistant","content":""}}]}),
        json!({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"arguments":"{"}}]}}]}),
    ] {
        assert!(translator.push(event(&early)).is_empty() && !translator.seen().output);
    }
    assert!(translator.seen().work, "a call without its name is work");
    for more in ["a", "b", "c"] {
        assert!(!translator.push(event(&text(more))).is_empty() && translator.seen().output);
    }
}

#[test]
fn an_answer_whose_usage_never_comes_is_concluded_without_it() {
    let route = Route::new(Claude, UpstreamKind::Openai);
    let mut translator = route.request(&asked(Claude, true)).unwrap().answers.translator(head(Claude));
    let mut bytes = translator.push(event(&text("a")));
    assert!(!translator.is_finishing() && translator.conclude().is_empty());
    bytes.extend(translator.push(event(&finish())));
    assert!(translator.is_finishing());
    bytes.extend(translator.conclude());
    assert_eq!(translator.end(), Some(End::Complete));
    assert!(translator.push(event(&text("late"))).is_empty() && translator.finish().is_empty());
    oracle::check(Claude, &bytes, false).unwrap();
}

#[test]
fn documents_and_streams_are_served_whatever_the_client_asked_for() {
    let document =
        json!({"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]})
            .to_string();
    let stream = chunks(&[text("Hi"), finish()]);
    for client in [Claude, Responses] {
        let route = Route::new(client, UpstreamKind::Openai);
        for body in [document.as_bytes(), stream.as_slice(), format!("\u{feff}\n {document}").as_bytes()] {
            let replayed = route.answer(&asked(client, true), body.chunks(3));
            oracle::check(client, &replayed.bytes, false).unwrap();
            let collected = route.answer(&asked(client, false), body.chunks(3)).json();
            assert!(collected.to_string().contains("\"Hi\""), "{collected}");
            assert_eq!(collected["model"], "asked");
        }
    }
}

#[test]
fn a_page_or_nonsense_instead_of_an_answer_is_a_failure() {
    for body in ["<html><body>Bad gateway</body></html>", "[1]", "{\"object\":\"list\",\"data\":[]}", "{\"choices\":"] {
        for stream in [true, false] {
            let answered =
                Route::new(Claude, UpstreamKind::Openai).answer_whole(&asked(Claude, stream), body.as_bytes());
            assert!(matches!(answered.end, End::Failed(_)), "{body}");
            let (status, told) = answered.refused.unwrap_or_else(|| panic!("{body}"));
            assert_eq!((status, &told["error"]["type"]), (502, &json!("api_error")), "{body}");
        }
    }
}

#[test]
fn an_event_larger_than_the_limit_is_a_failure_and_not_kept() {
    let route = Route::new(Claude, UpstreamKind::Openai);
    let mut translator = route.request(&asked(Claude, true)).unwrap().answers.translator(head(Claude));
    translator.push("data: ".into());
    let piece = Bytes::from(vec![b'x'; 1 << 20]);
    for _ in 0..20 {
        assert!(translator.push(piece.clone()).is_empty());
    }
    assert!(matches!(translator.end(), Some(End::Failed(_))));
}

#[test]
fn token_probabilities_map_between_chat_and_responses() {
    let mut request = asked(Chat, true);
    request["logprobs"] = json!(true);
    request["top_logprobs"] = json!(2);
    let route = Route::new(Chat, UpstreamKind::OpenaiResponse);
    let sent = route.sent(&request);
    assert_eq!((&sent["top_logprobs"], &sent["include"]), (&json!(2), &json!(["message.output_text.logprobs"])));
    let token = json!({"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[]});
    let body = events(&[
        json!({"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"a","logprobs":[token]}),
        json!({"type":"response.completed","response":{"status":"completed"}}),
    ]);
    let answered = route.answer_whole(&request, &body);
    let found = frames(&answered.bytes).iter().any(|f| f.data["choices"][0]["logprobs"]["content"] == json!([token]));
    assert!(found);
    request["stream"] = json!(false);
    assert_eq!(route.answer_whole(&request, &body).json()["choices"][0]["logprobs"]["content"], json!([token]));
    assert_eq!(Route::new(Chat, UpstreamKind::Claude).warnings(&request), ["dropped:logprobs"]);
}

#[test]
fn an_answer_repeats_the_request_of_a_responses_client() {
    let request = json!({"model":"asked","input":"x","tools":[{"type":"function","name":"f","parameters":{"n":1.50}}],"metadata":{"a":"b"},"temperature":0.2});
    let body = chunks(&[text("a"), finish()]);
    let answer = Route::new(Responses, UpstreamKind::Openai).answer_whole(&request, &body).json();
    for member in ["tools", "metadata", "temperature"] {
        assert_eq!(answer[member], request[member]);
    }
    assert_eq!((&answer["tool_choice"], &answer["usage"]), (&json!("auto"), &Value::Null));
}

#[test]
fn citations_without_a_counterpart_are_recorded() {
    let annotation = json!({"type":"url_citation","start_index":0,"end_index":1,"title":"T","url":"https://a.test"});
    let answer = json!({"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a","annotations":[annotation]}]}]});
    for stream in [true, false] {
        let answered = Route::new(Claude, UpstreamKind::OpenaiResponse)
            .answer_whole(&asked(Claude, stream), answer.to_string().as_bytes());
        assert_eq!(answered.warnings.codes(), ["dropped:citations"]);
    }
}

#[test]
fn claudes_citations_span_their_text_block() {
    let cited = json!({"type":"web_search_result_location","url":"https://a.test","title":"T","cited_text":"x"});
    let answer = json!({"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}},
        {"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"ab"},{"type":"text","text":"cde","citations":[cited]}],"stop_reason":"end_turn"}).to_string();
    let chat = Route::new(Chat, UpstreamKind::Claude).answer_whole(&asked(Chat, false), answer.as_bytes()).json();
    let span = &chat["choices"][0]["message"]["annotations"][0]["url_citation"];
    assert_eq!((&span["start_index"], &span["end_index"]), (&json!(2), &json!(5)));
    let responses =
        Route::new(Responses, UpstreamKind::Claude).answer_whole(&asked(Responses, false), answer.as_bytes()).json();
    assert_eq!(responses["output"][0]["action"]["query"], "q");
    assert_eq!(responses["output"][2]["content"][0]["annotations"][0]["end_index"], 3);
}

#[test]
fn http_errors_of_an_upstream_are_told_in_the_clients_shape() {
    use super::driver::refusal;
    for (status, body, claude, chat) in [
        (401, "{\"error\":{\"message\":\"bad key\"}}", (502, "api_error"), (502, "upstream_auth")),
        (402, "{\"error\":{\"message\":\"pay\"}}", (429, "rate_limit_error"), (429, "insufficient_quota")),
        (
            400,
            "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9\"}}",
            (400, "invalid_request_error"),
            (400, "context_length_exceeded"),
        ),
        (500, "", (502, "api_error"), (502, "upstream_error")),
    ] {
        let (code, told) = refusal(Claude, status, body.as_bytes());
        assert_eq!((code, told["error"]["type"].as_str().unwrap()), claude, "{body}");
        let (code, told) = refusal(Chat, status, body.as_bytes());
        assert_eq!((code, told["error"]["code"].as_str().unwrap()), chat, "{body}");
    }
}

#[test]
fn half_an_event_at_the_end_of_a_stream_counts_only_if_it_is_complete_json() {
    let route = Route::new(Claude, UpstreamKind::Openai);
    let mut body = wire(&[json!({"data":text("a")})]);
    body.extend_from_slice(format!("data: {}", finish()).as_bytes());
    assert_eq!(route.answer_whole(&asked(Claude, true), &body).end, End::Complete);
    body.pop();
    assert_eq!(route.answer_whole(&asked(Claude, true), &body).end, End::Cut);
}

#[test]
fn every_delta_reaches_the_client_when_it_comes() {
    let item = |kind: &str| json!({"type":"response.output_item.added","output_index":0,"item":{"type":kind,"id":"i","call_id":"c","name":"f"}});
    let delta = |name: &str| json!({"type":format!("response.{name}.delta"),"item_id":"i","output_index":0,"summary_index":0,"delta":"x"});
    let block = |block: Value| json!({"type":"content_block_start","index":0,"content_block":block});
    let part = |part: Value| json!({"type":"content_block_delta","index":0,"delta":part});
    let chunk = |delta: Value| json!({"choices":[{"index":0,"delta":delta}]});
    for (client, upstream, opening, delta) in [
        (Claude, UpstreamKind::OpenaiResponse, item("message"), delta("output_text")),
        (Claude, UpstreamKind::OpenaiResponse, item("message"), delta("refusal")),
        (Chat, UpstreamKind::OpenaiResponse, item("reasoning"), delta("reasoning_summary_text")),
        (Chat, UpstreamKind::OpenaiResponse, item("reasoning"), delta("reasoning_text")),
        (Claude, UpstreamKind::OpenaiResponse, item("function_call"), delta("function_call_arguments")),
        (
            Chat,
            UpstreamKind::Claude,
            block(json!({"type":"text","text":""})),
            part(json!({"type":"text_delta","text":"x"})),
        ),
        (
            Responses,
            UpstreamKind::Claude,
            block(json!({"type":"thinking","thinking":""})),
            part(json!({"type":"thinking_delta","thinking":"x"})),
        ),
        (
            Responses,
            UpstreamKind::Claude,
            block(json!({"type":"tool_use","id":"c","name":"f","input":{}})),
            part(json!({"type":"input_json_delta","partial_json":"x"})),
        ),
        (Responses, UpstreamKind::Openai, chunk(json!({"role":"assistant"})), chunk(json!({"content":"x"}))),
        (Responses, UpstreamKind::Openai, chunk(json!({"role":"assistant"})), chunk(json!({"refusal":"x"}))),
        (
            Claude,
            UpstreamKind::Openai,
            chunk(json!({"role":"assistant"})),
            chunk(json!({"reasoning_details":[{"text":"x"}]})),
        ),
        (
            Claude,
            UpstreamKind::Openai,
            chunk(json!({"tool_calls":[{"index":0,"id":"c","function":{"name":"f"}}]})),
            chunk(json!({"tool_calls":[{"index":0,"function":{"arguments":"x"}}]})),
        ),
    ] {
        let route = Route::new(client, upstream);
        let mut translator = route.request(&asked(client, true)).unwrap().answers.translator(head(client));
        translator.push(event(&opening));
        assert!(translator.seen().work || opening["choices"].is_array(), "{opening}");
        for _ in 0..3 {
            let bytes = String::from_utf8(translator.push(event(&delta))).unwrap();
            assert!(bytes.contains("\"x\""), "{delta} gives {bytes}");
        }
        assert!(translator.seen().output && !translator.has_ended());
        assert_eq!(translator.last_event(), Some(delta["type"].as_str().unwrap_or("chunk")));
    }
}

#[test]
fn an_end_that_has_a_cause_is_output_and_a_natural_one_is_not() {
    let body = |reason: &str| chunks(&[json!({"choices":[{"index":0,"delta":{},"finish_reason":reason}]})]);
    for (reason, output) in [("length", true), ("content_filter", true), ("stop", false), ("tool_calls", false)] {
        let route = Route::new(Claude, UpstreamKind::Openai);
        let mut translator = route.request(&asked(Claude, true)).unwrap().answers.translator(head(Claude));
        translator.push(body(reason).into());
        assert_eq!(translator.seen().output, output, "{reason}");
        assert_eq!(translator.end(), Some(if output { End::Complete } else { End::Empty }));
    }
}

#[test]
fn a_client_without_a_stream_gets_no_keep_alive() {
    let route = Route::new(Claude, UpstreamKind::Openai);
    let answers = route.request(&asked(Claude, false)).unwrap().answers;
    assert!(!answers.keeps_alive() && answers.translator(head(Claude)).keep_alive().is_empty());
}

#[test]
fn what_an_upstream_makes_us_keep_is_bounded() {
    let big = "x".repeat(1 << 20);
    let block = |block: Value| json!({"type":"content_block_start","index":0,"content_block":block});
    let part = |part: Value| json!({"type":"content_block_delta","index":0,"delta":part});
    let nameless = json!({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":big}}]}}]});
    for (client, upstream, opening, more) in [
        (
            Chat,
            UpstreamKind::Claude,
            block(json!({"type":"thinking","thinking":""})),
            part(json!({"type":"thinking_delta","thinking":big})),
        ),
        (
            Chat,
            UpstreamKind::Claude,
            block(json!({"type":"server_tool_use","name":"web_search"})),
            part(json!({"type":"input_json_delta","partial_json":big})),
        ),
        (Claude, UpstreamKind::Openai, json!({"choices":[]}), nameless),
    ] {
        let route = Route::new(client, upstream);
        let mut translator = route.request(&asked(client, true)).unwrap().answers.translator(head(client));
        translator.push(event(&opening));
        let ended = (0..20).position(|_| {
            translator.push(event(&more));
            translator.has_ended()
        });
        assert_eq!(ended, Some(16), "{opening}");
        assert!(matches!(translator.end(), Some(End::Failed(_))));
    }
}

#[test]
fn an_answer_of_too_many_parts_is_a_failure() {
    let route = Route::new(Responses, UpstreamKind::Claude);
    let mut translator = route.request(&asked(Responses, true)).unwrap().answers.translator(head(Responses));
    let block = |n: u32| json!({"type":"content_block_start","index":n,"content_block":{"type":"text","text":"a"}});
    let ended = (0..6000).position(|n| {
        translator.push(event(&block(n)));
        translator.has_ended()
    });
    assert_eq!(ended, Some(4096));
}

#[test]
fn a_refusal_is_carried_in_answers_and_in_history() {
    let part = json!({"type":"refusal","refusal":"No."});
    let answer = json!({"status":"completed","output":[{"type":"message","id":"m","content":[part]}]}).to_string();
    let chat =
        Route::new(Chat, UpstreamKind::OpenaiResponse).answer_whole(&asked(Chat, false), answer.as_bytes()).json();
    let message = &chat["choices"][0]["message"];
    assert_eq!((&message["content"], &message["refusal"]), (&Value::Null, &json!("No.")));
    assert_eq!(chat["choices"][0]["finish_reason"], "stop");
    let claude =
        Route::new(Claude, UpstreamKind::OpenaiResponse).answer_whole(&asked(Claude, false), answer.as_bytes()).json();
    assert_eq!((&claude["content"][0]["text"], &claude["stop_reason"]), (&json!("No."), &json!("refusal")));
    assert!(claude.as_object().unwrap().contains_key("stop_sequence"));
    let said =
        json!({"choices":[{"index":0,"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}).to_string();
    let responses =
        Route::new(Responses, UpstreamKind::Openai).answer_whole(&asked(Responses, false), said.as_bytes()).json();
    assert_eq!(responses["output"][0]["content"], json!([part]));
    let history = json!({"model":"m","input":[{"role":"user","content":"x"},{"role":"assistant","content":[part]},{"role":"user","content":"y"}]});
    let sent = Route::new(Responses, UpstreamKind::Openai).sent(&history);
    assert_eq!(sent["messages"][1], json!({"role":"assistant","content":null,"refusal":"No."}));
    let sent = Route::new(Responses, UpstreamKind::Claude).sent(&history);
    assert_eq!(sent["messages"][1]["content"][0]["text"], "No.");
    let back = json!({"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"refusal":"No."},{"role":"user","content":"y"}]});
    assert_eq!(Route::new(Chat, UpstreamKind::OpenaiResponse).sent(&back)["input"][1]["content"], json!([part]));
}

#[test]
fn a_citation_that_comes_after_its_item_is_complete_is_not_a_new_item() {
    let annotation = json!({"type":"url_citation","start_index":0,"end_index":1,"title":"T","url":"https://a.test"});
    let item = json!({"type":"message","id":"m","content":[{"type":"output_text","text":"a"}]});
    let body = events(&[
        json!({"type":"response.output_item.done","output_index":0,"item":item}),
        json!({"type":"response.output_text.annotation.added","item_id":"m","output_index":0,"annotation":annotation}),
        json!({"type":"response.completed","response":{"status":"completed"}}),
    ]);
    let chat = Route::new(Chat, UpstreamKind::OpenaiResponse).answer_whole(&asked(Chat, false), &body).json();
    assert!(chat["choices"][0]["message"].get("annotations").is_none(), "{chat}");
}

#[test]
fn a_text_block_that_only_cites_is_nothing() {
    let cited = json!({"type":"web_search_result_location","url":"https://a.test","title":"T"});
    let body = events(&[
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[cited]}}),
        json!({"type":"content_block_stop","index":0}),
        json!({"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}),
        json!({"type":"message_delta","delta":{"stop_reason":"end_turn"}}),
        json!({"type":"message_stop"}),
    ]);
    let answered = Route::new(Responses, UpstreamKind::Claude).answer_whole(&asked(Responses, true), &body);
    oracle::check(Responses, &answered.bytes, false).unwrap();
    let last = frames(&answered.bytes).last().unwrap().data.clone();
    assert_eq!(last["response"]["output"].as_array().unwrap().len(), 1, "{last}");
    let whole = Route::new(Responses, UpstreamKind::Claude).answer_whole(&asked(Responses, false), &body).json();
    assert_eq!(whole["output"].as_array().unwrap().len(), 1);
}

#[test]
fn an_event_that_never_ends_is_what_the_answer_failed_of_and_its_end_changes_nothing() {
    for (client, upstream) in [(Claude, UpstreamKind::Openai), (Responses, UpstreamKind::Codex)] {
        let route = Route::new(client, upstream);
        let mut translator = route.request(&asked(client, true)).unwrap().answers.translator(head(client));
        let mut first = translator.push(Bytes::from_static(b"data: {\"x\":\""));
        first.extend(translator.push(vec![b'x'; (16 << 20) + 1].into()));
        assert!(first.is_empty());
        let end = translator.end();
        assert!(matches!(&end, Some(End::Failed(error)) if error.message.contains("larger than the limit")), "{end:?}");
        assert!(translator.push(event(&text("late"))).is_empty() && translator.finish().is_empty());
        assert_eq!(translator.end(), end);
    }
}

#[test]
fn the_last_event_of_each_protocol_ends_an_answer_without_waiting_for_the_connection() {
    let block = json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}});
    let said = json!({"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"a"});
    for (client, upstream, body) in [
        (Chat, UpstreamKind::Claude, events(&[block, json!({"type":"message_stop"})])),
        (Claude, UpstreamKind::Openai, chunks(&[text("a")])),
        (
            Claude,
            UpstreamKind::OpenaiResponse,
            events(&[said, json!({"type":"response.completed","response":{"status":"completed"}})]),
        ),
    ] {
        let mut translator =
            Route::new(client, upstream).request(&asked(client, true)).unwrap().answers.translator(head(client));
        let bytes = translator.push(body.into());
        assert_eq!(translator.end(), Some(End::Complete), "{upstream:?}");
        oracle::check(client, &bytes, false).unwrap();
        assert!(translator.finish().is_empty());
    }
}
