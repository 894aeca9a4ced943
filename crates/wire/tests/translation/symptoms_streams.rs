//! What has gone wrong in other gateways with streams, each under its symptom. The numbers are public issues.

use headgate_domain::{
    Protocol::{Chat, Claude, Responses},
    UpstreamKind,
};
use headgate_wire::observe::End;
use serde_json::{Value, json};

use super::{
    driver::{Answered, Route, chunks, events, wire},
    normal::{Frame, frames},
    oracle,
};

fn asked(client: headgate_domain::Protocol) -> Value {
    match client {
        Chat => json!({"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}),
        Responses => json!({"model":"m","input":"x","stream":true}),
        Claude => json!({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":true}),
    }
}

/// Plays `body` to a streaming client; the stream is legal.
fn play(client: headgate_domain::Protocol, upstream: UpstreamKind, body: &[u8]) -> (Answered, Vec<Frame>) {
    play_asked(Route::new(client, upstream), &asked(client), body)
}

fn play_asked(route: Route, request: &Value, body: &[u8]) -> (Answered, Vec<Frame>) {
    let answered = route.answer(request, body.chunks(7));
    if !answered.bytes.is_empty() {
        oracle::check(route.client, &answered.bytes, answered.failed)
            .unwrap_or_else(|why| panic!("{why}\n{}", String::from_utf8_lossy(&answered.bytes)));
    }
    let frames = frames(&answered.bytes);
    (answered, frames)
}

fn delta(delta: Value) -> Value {
    json!({"id":"u","object":"chat.completion.chunk","choices":[{"index":0,"delta":delta,"finish_reason":null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices":[{"index":0,"delta":{},"finish_reason":reason}]})
}

fn tool(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    delta(json!({"tool_calls":[{"index":index,"id":id,"function":{"name":name,"arguments":arguments}}]}))
}

fn start(index: u64, block: Value) -> Value {
    json!({"type":"content_block_start","index":index,"content_block":block})
}

fn stop(index: u64) -> Value {
    json!({"type":"content_block_stop","index":index})
}

fn claude(blocks: &[Value], reason: &str) -> Vec<u8> {
    let mut list = vec![json!({"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}})];
    list.extend_from_slice(blocks);
    list.push(json!({"type":"message_delta","delta":{"stop_reason":reason},"usage":{"output_tokens":5}}));
    list.push(json!({"type":"message_stop"}));
    events(&list)
}

fn of_type<'f>(frames: &'f [Frame], kind: &str) -> Vec<&'f Value> {
    frames.iter().map(|f| &f.data).filter(|d| d["type"] == kind).collect()
}

/// CLIProxyAPI #5229, new-api #5229, #5095.
#[test]
fn the_first_call_arrives_as_index_1_and_is_lost() {
    let block = |n: u64| start(n, json!({"type":"tool_use","id":format!("t{n}"),"name":"f","input":{}}));
    let body = claude(
        &[start(0, json!({"type":"text","text":"a"})), stop(0), block(1), stop(1), block(2), stop(2)],
        "tool_use",
    );
    let (_, frames) = play(Chat, UpstreamKind::Claude, &body);
    let calls: Vec<&Value> =
        frames.iter().map(|f| &f.data["choices"][0]["delta"]["tool_calls"][0]).filter(|c| c.is_object()).collect();
    assert_eq!(calls.iter().map(|c| c["index"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!(calls[1]["function"]["arguments"], "{}", "a call without arguments");
}

/// CLIProxyAPI #3748.
#[test]
fn a_tool_block_is_lost_when_the_first_delta_has_an_empty_name() {
    let body =
        chunks(&[tool(0, "c", "", "{\"a\""), tool(0, "", "f", ":"), tool(0, "c", "f", "1}"), finish("tool_calls")]);
    let (_, frames) = play(Claude, UpstreamKind::Openai, &body);
    assert_eq!(of_type(&frames, "content_block_start")[0]["content_block"]["id"], "c");
    let input: String =
        of_type(&frames, "content_block_delta").iter().map(|d| d["delta"]["partial_json"].as_str().unwrap()).collect();
    assert_eq!(input, "{\"a\":1}");
}

/// CLIProxyAPI #4860.
#[test]
fn no_done_events_when_the_upstream_never_sends_a_finish_reason() {
    let (answered, frames) =
        play(Responses, UpstreamKind::Openai, &chunks(&[delta(json!({"content":"a"})), tool(0, "c", "f", "{}")]));
    assert_eq!(answered.end, End::Complete);
    assert_eq!(of_type(&frames, "response.output_item.done").len(), 2);
    assert_eq!(of_type(&frames, "response.completed").len(), 1);
}

/// CLIProxyAPI #747, #5956; new-api #4395, #2744.
#[test]
fn usage_of_message_start_is_never_corrected_or_cached_tokens_are_counted_as_input() {
    let usage = json!({"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10}}});
    let (answered, frames) =
        play(Claude, UpstreamKind::Openai, &chunks(&[delta(json!({"content":"a"})), finish("stop"), usage]));
    let usage = &of_type(&frames, "message_delta")[0]["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["cache_read_input_tokens"], &usage["cache_creation_input_tokens"]),
        (&json!(30), &json!(60), &json!(10))
    );
    assert_eq!((answered.usage.input(), answered.usage.output), (100, Some(7)));
}

/// claude-code-proxy (nielspeter) #17.
#[test]
fn a_thinking_block_without_a_signature_is_discarded() {
    let (_, frames) = play(
        Claude,
        UpstreamKind::Openai,
        &chunks(&[delta(json!({"reasoning":"why"})), delta(json!({"content":"a"})), finish("stop")]),
    );
    let seal = of_type(&frames, "content_block_delta")[1]["delta"]["signature"].as_str().unwrap();
    assert!(seal.starts_with("hg1."), "{seal}");
}

/// CLIProxyAPI #2803.
#[test]
fn think_tags_the_user_asked_for_are_swallowed_as_reasoning() {
    let body =
        chunks(&[delta(json!({"content":"<thi"})), delta(json!({"content":"nk>why</think>so"})), finish("stop")]);
    let (_, frames) = play(Claude, UpstreamKind::Openai, &body);
    assert_eq!(of_type(&frames, "content_block_start")[0]["content_block"]["type"], "text");
    let route = Route::new(Claude, UpstreamKind::Openai).with(json!({"think_tags":true}));
    let (_, frames) = play_asked(route, &asked(Claude), &body);
    let blocks: Vec<&Value> =
        of_type(&frames, "content_block_start").iter().map(|b| &b["content_block"]["type"]).collect();
    assert_eq!(blocks, ["thinking", "text"]);
}

/// agent-vision-toolkit #6, LiteLLM #28469.
#[test]
fn a_freeform_call_comes_back_as_a_function_call() {
    let tools = json!([{"type":"custom","name":"apply_patch"},{"type":"namespace","name":"n","description":"d","tools":[{"type":"custom","name":"exec"}]}]);
    let request = json!({"model":"m","input":"x","stream":true,"tools":tools});
    let block = |n: u64, name: &str, input: &str| {
        [
            start(n, json!({"type":"tool_use","id":format!("t{n}"),"name":name,"input":{}})),
            json!({"type":"content_block_delta","index":n,"delta":{"type":"input_json_delta","partial_json":input}}),
            stop(n),
        ]
    };
    let blocks =
        [block(0, "apply_patch", "{\"input\":\"*** Begin\\n\"}"), block(1, "n__exec", "{\"code\":\"x\"}")].concat();
    let (_, frames) = play_asked(Route::new(Responses, UpstreamKind::Claude), &request, &claude(&blocks, "tool_use"));
    let items: Vec<&Value> = of_type(&frames, "response.output_item.done").iter().map(|d| &d["item"]).collect();
    assert_eq!((&items[0]["type"], &items[0]["input"]), (&json!("custom_tool_call"), &json!("*** Begin\n")));
    assert_eq!(
        (&items[1]["name"], &items[1]["namespace"], &items[1]["input"]),
        (&json!("exec"), &json!("n"), &json!("x"))
    );
}

/// new-api #6075, openclaw #129905, Clawith #106, llm-gateway #2053, AIClient2API #695, CLIProxyAPI #2460.
#[test]
fn a_stream_without_spaces_and_with_comments_is_lost_or_echoed() {
    let body = b"\n: queued\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata:\n\n: ping\n\ndata: \n\ndata:[DONE]\n\n";
    for client in [Claude, Responses] {
        let (answered, frames) = play(client, UpstreamKind::Openai, body);
        assert_eq!(answered.end, End::Complete);
        assert!(!String::from_utf8_lossy(&answered.bytes).contains("queued"));
        assert!(frames.iter().all(|f| f.data.is_object()));
    }
}

/// CLIProxyAPI #4691.
#[test]
fn keepalive_events_break_strict_clients() {
    let list = [
        json!({"type":"response.created","response":{}}),
        json!({"type":"keepalive"}),
        json!({"type":"response.unheard.of","item_id":"z"}),
        json!({"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a","obfuscation":"zz"}),
        json!({"type":"response.completed","response":{"status":"completed","output":[]}}),
    ];
    let (answered, frames) = play(Claude, UpstreamKind::OpenaiResponse, &events(&list));
    assert_eq!(answered.end, End::Complete);
    assert_eq!(frames.len(), 6, "{frames:?}");
}

/// CLIProxyAPI #5028.
#[test]
fn a_missing_done_marker_on_a_finished_responses_stream_is_taken_for_a_failure() {
    let list = [
        json!({"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"a"}),
        json!({"type":"response.completed","response":{"status":"completed"}}),
    ];
    assert_eq!(play(Chat, UpstreamKind::OpenaiResponse, &events(&list)).0.end, End::Complete);
    let closed = wire(&[json!({"data":delta(json!({"content":"a"}))}), json!({"data":finish("stop")})]);
    assert_eq!(play(Claude, UpstreamKind::Openai, &closed).0.end, End::Complete, "a reason, then closed");
    let cut = events(&list[..1]);
    let (answered, _) = play(Claude, UpstreamKind::OpenaiResponse, &cut);
    assert_eq!(answered.end, End::Cut);
}

/// new-api #4362, CLIProxyAPI #2626, open-webui #27800.
#[test]
fn the_final_output_is_empty_although_items_were_streamed_or_only_it_has_them() {
    let item = json!({"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"whole","annotations":[]}]});
    let only_final = [json!({"type":"response.completed","response":{"status":"completed","output":[item]}})];
    let (_, frames) = play(Chat, UpstreamKind::OpenaiResponse, &events(&only_final));
    assert_eq!(frames[1].data["choices"][0]["delta"]["content"], "whole");
    let half = [
        json!({"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"who"}),
        json!({"type":"response.output_item.done","output_index":0,"item":item}),
        json!({"type":"response.completed","response":{"status":"completed","output":[]}}),
    ];
    let (_, frames) = play(Chat, UpstreamKind::OpenaiResponse, &events(&half));
    let text: String = frames.iter().filter_map(|f| f.data["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "whole");
}

/// CLIProxyAPI #2358, #636.
#[test]
fn codex_says_stream_closed_before_response_completed() {
    for reason in [
        "end_turn",
        "max_tokens",
        "refusal",
        "pause_turn",
        "stop_sequence",
        "model_context_window_exceeded",
        "unheard_of",
    ] {
        let body = claude(&[start(0, json!({"type":"text","text":"a"})), stop(0)], reason);
        let (_, frames) = play(Responses, UpstreamKind::Claude, &body);
        let last = &frames.last().unwrap().data;
        assert!(last["type"] == "response.completed" || last["type"] == "response.incomplete", "{last}");
    }
}

/// CLIProxyAPI #3720, 9router #2248.
#[test]
fn content_block_not_found() {
    let body = chunks(&[
        tool(0, "a", "f", "{"),
        tool(1, "b", "g", "{"),
        delta(json!({"content":"text between"})),
        tool(0, "", "", "}"),
        tool(1, "", "", "}"),
        delta(json!({"reasoning_content":"late"})),
        finish("tool_calls"),
    ]);
    let (_, frames) = play(Claude, UpstreamKind::Openai, &body);
    let blocks: Vec<&Value> =
        of_type(&frames, "content_block_start").iter().map(|b| &b["content_block"]["type"]).collect();
    assert_eq!(blocks, ["tool_use", "tool_use", "text", "thinking"]);
}

/// shell_gpt #738, claude-code-proxy (AntonioAEMartins) #20.
#[test]
fn the_usage_chunk_is_missing_although_asked_for_or_sent_although_not() {
    let body = claude(&[start(0, json!({"type":"text","text":"a"})), stop(0)], "end_turn");
    let (_, frames) = play(Chat, UpstreamKind::Claude, &body);
    assert!(frames.iter().all(|f| f.data.get("usage").is_none()));
    let mut request = asked(Chat);
    request["stream_options"] = json!({"include_usage":true});
    let (_, frames) = play_asked(Route::new(Chat, UpstreamKind::Claude), &request, &body);
    assert_eq!(frames[frames.len() - 2].data["usage"]["total_tokens"], 8);
}

/// CLIProxyAPI #1560, #2610.
#[test]
fn an_answer_is_200_with_an_empty_body() {
    for upstream in [UpstreamKind::Openai, UpstreamKind::OpenaiResponse, UpstreamKind::Claude] {
        let client = if upstream == UpstreamKind::Claude { Chat } else { Claude };
        let (answered, _) = play(client, upstream, b"");
        assert_eq!((answered.end, answered.bytes.len()), (End::Cut, 0));
    }
    let (answered, frames) =
        play(Claude, UpstreamKind::Openai, &chunks(&[delta(json!({"role":"assistant","content":""})), finish("stop")]));
    assert_eq!(answered.end, End::Empty);
    assert_eq!(frames.len(), 3, "an empty answer is delivered as it is, if no other candidate is tried");
    let (answered, _) = play(Claude, UpstreamKind::Openai, &chunks(&[finish("length")]));
    assert_eq!(answered.end, End::Complete, "a token limit is never empty");
}

/// maxx #284, GenericAgent #753, agent-os #2137, LiteLLM #41826, sub2api #5461.
#[test]
fn an_error_inside_a_stream_is_forwarded_as_content_skipped_or_told_in_the_wrong_shape() {
    let error = json!({"error":{"message":"Overloaded","type":"overloaded_error"},"choices":[{"index":0,"delta":{"content":"z"}}]});
    for (client, kind) in [(Claude, "overloaded_error"), (Responses, "server_is_overloaded")] {
        let (answered, frames) =
            play(client, UpstreamKind::Openai, &chunks(&[delta(json!({"content":"a"})), error.clone()]));
        assert!(matches!(answered.end, End::Failed(_)));
        let last = frames.last().unwrap().data.to_string();
        assert!(last.contains(kind) && last.contains("Overloaded") && !last.contains("\"z\""), "{last}");
    }
    let (answered, _) = play(Claude, UpstreamKind::Openai, &chunks(std::slice::from_ref(&error)));
    assert_eq!(answered.refused.unwrap().0, 529, "before the first output it is a real HTTP error");
    let failed = events(&[json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})]);
    let (answered, _) = play(Chat, UpstreamKind::Claude, &failed);
    assert_eq!(answered.refused.unwrap().0, 503);
}

/// envoy ai-gateway #2121, any-llm #1306.
#[test]
fn a_content_filter_is_seen_as_an_ordinary_end() {
    let body = chunks(&[delta(json!({"content":"a"})), finish("content_filter")]);
    let (_, frames) = play(Claude, UpstreamKind::Openai, &body);
    assert_eq!(of_type(&frames, "message_delta")[0]["delta"]["stop_reason"], "refusal");
    let (_, frames) = play(Responses, UpstreamKind::Openai, &body);
    assert_eq!(frames.last().unwrap().data["response"]["incomplete_details"]["reason"], "content_filter");
    let said = [
        json!({"type":"response.refusal.delta","item_id":"m","output_index":0,"delta":"No."}),
        json!({"type":"response.completed","response":{"status":"completed"}}),
    ];
    let (_, frames) = play(Claude, UpstreamKind::OpenaiResponse, &events(&said));
    assert_eq!(of_type(&frames, "message_delta")[0]["delta"]["stop_reason"], "refusal");
}

#[test]
fn parallel_calls_at_one_index_are_told_apart_by_a_new_id_with_a_name() {
    let body = chunks(&[tool(0, "a", "f", "{}"), tool(0, "b", "g", "{"), tool(0, "c", "", "}"), finish("stop")]);
    let (_, frames) = play(Claude, UpstreamKind::Openai, &body);
    let ids: Vec<&Value> = of_type(&frames, "content_block_start").iter().map(|b| &b["content_block"]["id"]).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(of_type(&frames, "message_delta")[0]["delta"]["stop_reason"], "tool_use", "calls beside `stop`");
    let nameless = chunks(&[delta(json!({"content":"a"})), tool(0, "a", "", "{}"), finish("tool_calls")]);
    let (_, frames) = play(Claude, UpstreamKind::Openai, &nameless);
    assert_eq!(of_type(&frames, "message_delta")[0]["delta"]["stop_reason"], "end_turn", "no usable call");
}

#[test]
fn a_call_without_an_id_gets_one_and_an_index_may_be_missing() {
    let part =
        |name: &str, arguments: &str| delta(json!({"tool_calls":[{"function":{"name":name,"arguments":arguments}}]}));
    let (_, frames) =
        play(Responses, UpstreamKind::Openai, &chunks(&[part("f", "{\"a\":"), part("", "1}"), finish("tool_calls")]));
    let item = &of_type(&frames, "response.output_item.done")[0]["item"];
    assert!(item["call_id"].as_str().unwrap().starts_with("call_") && item["arguments"] == "{\"a\":1}", "{item}");
}

#[test]
fn the_item_cut_off_by_the_limit_is_incomplete() {
    let body = claude(
        &[start(0, json!({"type":"text","text":"a"})), stop(0), start(1, json!({"type":"text","text":"b"})), stop(1)],
        "max_tokens",
    );
    let (_, frames) = play(Responses, UpstreamKind::Claude, &body);
    let states: Vec<&Value> =
        of_type(&frames, "response.output_item.done").iter().map(|d| &d["item"]["status"]).collect();
    assert_eq!(states, ["completed", "incomplete"]);
}

#[test]
fn a_delta_without_an_index_belongs_to_the_call_of_its_id() {
    let part = |id: &str, name: &str, arguments: &str| {
        delta(json!({"tool_calls":[{"id":id,"function":{"name":name,"arguments":arguments}}]}))
    };
    let body = chunks(&[
        part("a", "f", "{"),
        part("b", "g", "{"),
        part("a", "", "}"),
        part("", "", "}"),
        finish("tool_calls"),
    ]);
    let (_, frames) = play(Responses, UpstreamKind::Openai, &body);
    let items: Vec<&Value> = of_type(&frames, "response.output_item.done").iter().map(|d| &d["item"]).collect();
    assert_eq!(items.len(), 2);
    assert!(items.iter().all(|i| i["arguments"] == "{}"), "{items:?}");
}

#[test]
fn events_of_an_item_are_told_by_its_id_alone() {
    let more =
        |id: &str, text: &str| json!({"type":"response.output_text.delta","item_id":id,"content_index":0,"delta":text});
    let added = |id: &str| json!({"type":"response.output_item.added","item":{"type":"message","id":id}});
    let done = |id: &str, text: &str| json!({"type":"response.output_item.done","item":{"type":"message","id":id,"content":[{"type":"output_text","text":text}]}});
    let list = [
        added("a"),
        more("a", "1"),
        more("a", "2"),
        done("a", "12"),
        added("b"),
        more("b", "3"),
        done("b", "34"),
        json!({"type":"response.completed","response":{"status":"completed","output":[{"type":"message","id":"b","content":[{"type":"output_text","text":"34"}]}]}}),
    ];
    let (_, frames) = play(Claude, UpstreamKind::OpenaiResponse, &events(&list));
    let texts: Vec<&str> =
        of_type(&frames, "content_block_delta").iter().map(|d| d["delta"]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["1", "2", "3", "4"]);
    assert_eq!(of_type(&frames, "content_block_start").len(), 2);
}

#[test]
fn pages_cited_by_a_streamed_text_follow_it_for_a_chat_client() {
    let cite = |url: &str| json!({"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":url,"title":"T"}}});
    let text =
        |n: u64, text: &str| json!({"type":"content_block_delta","index":n,"delta":{"type":"text_delta","text":text}});
    let blocks = [
        start(0, json!({"type":"text","text":""})),
        text(0, "ab"),
        stop(0),
        start(1, json!({"type":"text","text":""})),
        text(1, "é"),
        cite("https://a.test"),
        text(1, "z"),
        stop(1),
    ];
    let (_, frames) = play(Chat, UpstreamKind::Claude, &claude(&blocks, "end_turn"));
    let cited: Vec<&Value> =
        frames.iter().map(|f| &f.data["choices"][0]["delta"]["annotations"]).filter(|a| a.is_array()).collect();
    assert_eq!(
        cited,
        [
            &json!([{"type":"url_citation","url_citation":{"start_index":2,"end_index":4,"title":"T","url":"https://a.test"}}])
        ]
    );
}

#[test]
fn a_native_freeform_call_passes_and_one_the_client_cannot_take_is_wrapped() {
    let custom = |input: &str| json!({"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"apply_patch","input":input}}]});
    let body = chunks(&[
        delta(custom("*** {\"input\":")),
        delta(json!({"tool_calls":[{"index":0,"custom":{"input":"1}"}}]})),
        finish("tool_calls"),
    ]);
    let request = json!({"model":"m","input":"x","stream":true,"tools":[{"type":"custom","name":"apply_patch"}]});
    let route = Route::new(Responses, UpstreamKind::Openai).with(json!({"custom_tools":true}));
    let (_, frames) = play_asked(route.clone(), &request, &body);
    let item = &of_type(&frames, "response.output_item.done")[0]["item"];
    assert_eq!((&item["type"], &item["input"]), (&json!("custom_tool_call"), &json!("*** {\"input\":1}")));
    let sent = route.sent(&json!({"model":"m","tools":request["tools"],"tool_choice":{"type":"custom","name":"apply_patch"},"input":[{"role":"user","content":"x"},
        {"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"raw"},{"type":"custom_tool_call_output","call_id":"c","output":"ok"}]}));
    assert_eq!(sent["messages"][1]["tool_calls"][0]["custom"]["input"], "raw");
    assert_eq!(sent["tool_choice"], json!({"type":"custom","custom":{"name":"apply_patch"}}));
    let (_, frames) = play(Claude, UpstreamKind::Openai, &body);
    assert_eq!(
        of_type(&frames, "content_block_delta")[0]["delta"]["partial_json"],
        "{\"input\":\"*** {\\\"input\\\":1}\"}"
    );
    let chat = json!({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"custom","custom":{"name":"apply_patch","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"s: X"}}}}]});
    let sent = Route::new(Chat, UpstreamKind::OpenaiResponse).sent(&chat);
    assert_eq!(sent["tools"][0]["format"], json!({"type":"grammar","syntax":"lark","definition":"s: X"}));
    let answer = json!({"status":"completed","output":[{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"raw"}]});
    let told = Route::new(Chat, UpstreamKind::OpenaiResponse).answer_whole(&chat, answer.to_string().as_bytes()).json();
    assert_eq!(
        told["choices"][0]["message"]["tool_calls"],
        json!([{"id":"c","type":"custom","custom":{"name":"apply_patch","input":"raw"}}])
    );
}

#[test]
fn every_search_has_its_result_also_when_no_page_is_cited() {
    let search = |n: u64, action: Value| json!({"type":"response.output_item.done","output_index":n,"item":{"type":"web_search_call","id":format!("ws{n}"),"action":action}});
    let list = [
        search(0, json!({"type":"search","queries":["q"]})),
        search(
            1,
            json!({"type":"search","query":"r","sources":[{"type":"url","url":"https://a.test"},{"type":"url","url":"https://a.test"}]}),
        ),
        search(2, json!({"type":"search","query":"s"})),
        json!({"type":"response.completed","response":{"status":"completed","output":[]}}),
    ];
    let (answered, frames) = play(Claude, UpstreamKind::OpenaiResponse, &events(&list));
    assert_eq!(answered.end, End::Complete, "a hosted search is output");
    let pages: Vec<usize> = of_type(&frames, "content_block_start")
        .iter()
        .filter_map(|b| Some(b["content_block"]["content"].as_array()?.len()))
        .collect();
    assert_eq!(pages, [0, 1, 0]);
    let queries: Vec<&str> =
        of_type(&frames, "content_block_delta").iter().map(|d| d["delta"]["partial_json"].as_str().unwrap()).collect();
    assert_eq!(queries, ["{\"query\":\"q\"}", "{\"query\":\"r\"}", "{\"query\":\"s\"}"]);
    let output: Vec<Value> = list[..3].iter().map(|e| e["item"].clone()).collect();
    let whole = Route::new(Claude, UpstreamKind::OpenaiResponse)
        .answer_whole(
            &json!({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}),
            json!({"status":"completed","output":output}).to_string().as_bytes(),
        )
        .json();
    let kinds: Vec<&Value> = whole["content"].as_array().unwrap().iter().map(|b| &b["type"]).collect();
    assert_eq!(
        kinds,
        [
            "server_tool_use",
            "web_search_tool_result",
            "server_tool_use",
            "web_search_tool_result",
            "server_tool_use",
            "web_search_tool_result"
        ]
    );
    assert_eq!(whole["usage"]["server_tool_use"]["web_search_requests"], 3);
}

#[test]
fn an_empty_content_beside_each_piece_of_reasoning_does_not_break_the_reasoning_up() {
    for nothing in [json!(""), Value::Null] {
        let thought = |text: &str| delta(json!({"content":nothing,"reasoning_content":text}));
        let said = delta(json!({"content":"Done.","reasoning_content":""}));
        let body = chunks(&[thought("Let "), thought("me "), thought("see."), said, finish("stop")]);
        let (_, frames) = play(Claude, UpstreamKind::Openai, &body);
        let kinds: Vec<&Value> =
            of_type(&frames, "content_block_start").iter().map(|b| &b["content_block"]["type"]).collect();
        assert_eq!(kinds, ["thinking", "text"]);
    }
}

#[test]
fn what_no_delta_brought_is_taken_from_the_event_that_ends_it() {
    let added = |item: Value| json!({"type":"response.output_item.added","output_index":0,"item":item});
    let done = |name: &str, member: &str, text: &str| json!({"type":format!("response.{name}.done"),"item_id":"i","output_index":0,"content_index":0,member:text});
    let completed = json!({"type":"response.completed","response":{"status":"completed","output":[]}});
    for (item, event, expected) in [
        (
            json!({"type":"function_call","id":"i","call_id":"c","name":"f","arguments":""}),
            done("function_call_arguments", "arguments", "{\"a\":1}"),
            "{\\\"a\\\":1}",
        ),
        (
            json!({"type":"custom_tool_call","id":"i","call_id":"c","name":"f","input":""}),
            done("custom_tool_call_input", "input", "raw"),
            "raw",
        ),
        (json!({"type":"message","id":"i","content":[]}), done("output_text", "text", "Hi."), "Hi."),
        (json!({"type":"message","id":"i","content":[]}), done("refusal", "refusal", "No."), "No."),
    ] {
        let body = events(&[added(item.clone()), event, completed.clone()]);
        let answered = Route::new(Chat, UpstreamKind::OpenaiResponse).answer(&asked(Chat), body.chunks(11));
        let text = String::from_utf8(answered.bytes).unwrap();
        assert!(text.contains(expected), "{item}: {text}");
    }
}
