//! Client and upstream of one protocol, and what travels sealed through a client of another.

use bytes::Bytes;
use headgate_domain::{
    Class, Failure,
    Protocol::{Chat, Claude, Responses},
    UpstreamKind,
};
use headgate_wire::{
    observe::End,
    translate::{Answers, same},
};
use serde_json::{Value, json};

use super::{
    driver::{Route, chunks, events},
    lifecycle::{asked, event, head},
    normal::frames,
    oracle,
};

#[test]
fn a_codex_answer_is_relayed_with_the_name_asked_for_and_collected_if_no_stream_was_wanted() {
    let item = json!({"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"}]});
    let body = events(&[
        json!({"type":"response.created","sequence_number":0,"response":{"id":"r","model":"sent","status":"in_progress"}}),
        json!({"type":"response.output_text.delta","sequence_number":1,"item_id":"m","output_index":0,"delta":"Hi"}),
        json!({"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":item}),
        json!({"type":"response.completed","sequence_number":3,"response":{"id":"r","model":"sent","status":"completed","output":[]}}),
    ]);
    let route = Route::new(Responses, UpstreamKind::Codex);
    let streamed = route.answer(&asked(Responses, true), body.chunks(5));
    let expected = String::from_utf8(body.clone()).unwrap().replace("\"sent\"", "\"asked\"");
    assert_eq!((String::from_utf8(streamed.bytes).unwrap(), streamed.end), (expected, End::Complete));
    let collected = route.answer(&asked(Responses, false), body.chunks(5)).json();
    assert_eq!((&collected["output"], &collected["model"]), (&json!([item]), &json!("asked")));
    let cut = route.answer(&asked(Responses, true), [&body[..body.len() - 150]]);
    assert_eq!(cut.end, End::Cut);
    assert_eq!(frames(&cut.bytes).last().unwrap().data["type"], "response.failed");
    assert!(route.request(&asked(Responses, false)).unwrap().stream, "the service only streams");
    let answers = route.request(&asked(Responses, true)).unwrap().answers;
    assert!(!answers.keeps_alive() && !answers.translator(head(Responses)).is_finishing());
}

#[test]
fn carriers_are_restored_for_their_maker_and_removed_for_others() {
    let carrier = |json: &str| {
        use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
        format!("hg1.{}", URL_SAFE_NO_PAD.encode(json))
    };
    let openai = carrier(r#"{"o":"openai","d":{"id":"rs_1","encrypted_content":"gAAA"}}"#);
    let claude = carrier(r#"{"o":"claude","d":{"type":"thinking","thinking":"t","signature":"sig"}}"#);
    let body = json!({"model":"m","input":[{"role":"user","content":"x"},
        {"type":"reasoning","id":"a","summary":[],"encrypted_content":openai},
        {"type":"reasoning","id":"b","summary":[],"encrypted_content":claude}]});
    let restored: Value =
        serde_json::from_slice(&same::restore(Responses, body.to_string().as_bytes(), "sent").unwrap()).unwrap();
    assert_eq!(restored["input"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&restored["input"][1]["id"], &restored["input"][1]["encrypted_content"]),
        (&json!("rs_1"), &json!("gAAA"))
    );
    assert_eq!(restored["model"], "sent");
    let body = json!({"model":"m","messages":[{"role":"user","content":"x"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":openai}]},{"role":"assistant","content":[
        {"type":"thinking","thinking":"","signature":claude},{"type":"thinking","thinking":"","signature":openai},
        {"type":"server_tool_use","id":"srvtoolu_hg_1","name":"web_search","input":{}},
        {"type":"web_search_tool_result","tool_use_id":"srvtoolu_hg_1","content":[]},{"type":"text","text":"a"}]}]});
    let restored: Value =
        serde_json::from_slice(&same::restore(Claude, body.to_string().as_bytes(), "m").unwrap()).unwrap();
    assert_eq!(restored["messages"].as_array().unwrap().len(), 2, "a message left without blocks is removed");
    assert_eq!(
        restored["messages"][1]["content"],
        json!([{"type":"thinking","thinking":"t","signature":"sig"},{"type":"text","text":"a"}])
    );
    assert_eq!(
        same::restore(Claude, br#"{"model":"m","messages":[{"role":"user","content":"what is hg1. ?"}]}"#, "m"),
        None
    );
    let codex = Route::new(Responses, UpstreamKind::Codex);
    let body = json!({"model":"m","input":[{"type":"reasoning","summary":[],"encrypted_content":claude},{"role":"user","content":"x"}]});
    assert_eq!(codex.sent(&body)["input"].as_array().unwrap().len(), 1);
}

#[test]
fn sealed_reasoning_makes_the_round_trip_over_a_foreign_client() {
    // Claude's thinking, held by a Responses client, comes back to Claude exactly as it was.
    let route = Route::new(Responses, UpstreamKind::Claude);
    let block = json!({"type":"thinking","thinking":"why é","signature":"sig==","extra":1});
    let answer = json!({"type":"message","content":[block,{"type":"redacted_thinking","data":"ZZ"},{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"tool_use"});
    let collected = route.answer_whole(&asked(Responses, false), answer.to_string().as_bytes()).json();
    let mut input = vec![json!({"role":"user","content":"x"})];
    input.extend(collected["output"].as_array().unwrap().clone());
    input.push(json!({"type":"function_call_output","call_id":"t","output":"1"}));
    let sent = route
        .clone()
        .with(json!({"thinking":"manual"}))
        .sent(&json!({"model":"m","input":input,"reasoning":{"effort":"low"}}));
    assert_eq!(sent["messages"][1]["content"][0], block);
    assert_eq!(sent["messages"][1]["content"][1], json!({"type":"redacted_thinking","data":"ZZ"}));
    assert_eq!(sent["thinking"]["type"], "enabled", "signed reasoning lets the model think on");
    // OpenAI's, held by a Claude client.
    let route = Route::new(Claude, UpstreamKind::OpenaiResponse);
    let item = json!({"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"gAA"});
    let answer =
        json!({"status":"completed","output":[item,{"type":"message","content":[{"type":"output_text","text":"hi"}]}]});
    let collected = route.answer_whole(&asked(Claude, false), answer.to_string().as_bytes()).json();
    let messages = json!([{"role":"user","content":"x"},{"role":"assistant","content":collected["content"]},{"role":"user","content":"y"}]);
    let sent = route.sent(&json!({"model":"m","max_tokens":20,"messages":messages}));
    assert_eq!(
        sent["input"][1],
        json!({"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"a\n\nb"}],"encrypted_content":"gAA"})
    );
}

#[test]
fn a_codex_answer_that_is_one_document_or_an_error_is_recognised() {
    let route = Route::new(Responses, UpstreamKind::Codex);
    let usage = json!({"input_tokens":5,"output_tokens":2});
    let item = json!({"type":"message","content":[{"type":"output_text","text":"Hi"}]});
    let document = json!({"id":"r","model":"sent","status":"completed","output":[item],"usage":usage}).to_string();
    let answered = route.answer(&asked(Responses, false), document.as_bytes().chunks(9));
    assert_eq!(String::from_utf8_lossy(&answered.bytes), document.replace("\"sent\"", "\"asked\""));
    assert_eq!((answered.end, answered.usage.output), (End::Complete, Some(2)));
    for (body, status) in [
        ("{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"no\"}}", 429),
        ("<html>", 502),
        (
            "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"busy\"}}}\n\n",
            503,
        ),
    ] {
        for stream in [true, false] {
            let answered = route.answer_whole(&asked(Responses, stream), body.as_bytes());
            assert_eq!(answered.refused.map(|(status, _)| status), Some(status), "{body}");
        }
    }
    let mut translator = route.request(&asked(Responses, true)).unwrap().answers.translator(head(Responses));
    assert!(translator.push(event(&json!({"type":"response.created","sequence_number":0,"response":{}}))).is_empty());
    let delta = json!({"type":"response.output_text.delta","sequence_number":1,"delta":"a"});
    assert_eq!(
        translator.push(event(&delta)).windows(5).filter(|w| w == b"data:").count(),
        2,
        "held until the first output"
    );
    assert_eq!((translator.last_event(), translator.seen().output), (Some("response.output_text.delta"), true));
    assert!(translator.keep_alive().is_empty() && translator.warnings().is_empty());
    let failed = String::from_utf8(translator.fail(&Failure::new(Class::Cut, "broke off"))).unwrap();
    assert!(failed.contains("\"sequence_number\":2"), "{failed}");
    assert!(!translator.progress().is_open());
}

#[test]
fn only_what_another_upstream_left_behind_is_taken_out_of_a_body() {
    let body = json!({"model":"m","input":[{"type":"web_search_call","id":"ws_hg_1"},{"type":"web_search_call","id":"ws_1"},
        {"type":"reasoning","id":"r","summary":[],"encrypted_content":"gAAA"},{"role":"user","content":"x"}]});
    let restored: Value =
        serde_json::from_slice(&same::restore(Responses, body.to_string().as_bytes(), "m").unwrap()).unwrap();
    assert_eq!(restored["input"], json!(body["input"].as_array().unwrap()[1..]));
    let own = Route::new(Responses, UpstreamKind::Claude);
    assert!(
        own.warnings(
            &json!({"model":"m","input":[{"type":"web_search_call","id":"ws_hg_1"},{"role":"user","content":"x"}]})
        )
        .is_empty()
    );
    let body = json!({"model":"m","messages":[{"role":"assistant","content":[
        {"type":"thinking","thinking":"t","signature":"real"},{"type":"server_tool_use","id":"srvtoolu_1"},
        {"type":"server_tool_use","id":"srvtoolu_hg_1"},{"type":"thinking","thinking":"","signature":"hg1.broken"}]}]});
    let restored: Value =
        serde_json::from_slice(&same::restore(Claude, body.to_string().as_bytes(), "m").unwrap()).unwrap();
    let kept = &body["messages"][0]["content"].as_array().unwrap()[..2];
    assert_eq!(restored["messages"][0]["content"], json!(kept));
}

#[test]
fn codex_gets_the_roles_and_ids_it_takes() {
    let long = "call.".to_owned() + &"x".repeat(70);
    let body = json!({"model":"m","input":[{"role":"system","content":[{"type":"input_text","text":"s","prompt_cache_breakpoint":{}}]},
        {"type":"function_call","call_id":long,"name":"f","arguments":"{}"},{"type":"function_call_output","call_id":long,"output":"1"}]});
    let sent = Route::new(Responses, UpstreamKind::Codex).sent(&body);
    assert_eq!(sent["input"][0], json!({"role":"developer","content":[{"type":"input_text","text":"s"}]}));
    let id = sent["input"][1]["call_id"].as_str().unwrap();
    assert!(id.len() == 64 && sent["input"][2]["call_id"] == id, "{id}");
}

#[test]
fn ids_and_counts_that_an_upstream_takes_are_kept() {
    let body = json!({"model":"m","max_output_tokens":50.0,"input":[{"role":"user","content":"x"},
        {"type":"function_call","call_id":"functions.f:0","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"functions.f:0","output":"1"}]});
    let sent = Route::new(Responses, UpstreamKind::Openai).sent(&body);
    assert_eq!(
        (&sent["messages"][1]["tool_calls"][0]["id"], &sent["max_tokens"]),
        (&json!("functions.f:0"), &json!(50))
    );
    let mut half = body;
    half["max_output_tokens"] = json!(50.5);
    assert!(Route::new(Responses, UpstreamKind::Openai).request(&half).is_err());
    let chat = json!({"model":"m","messages":[{"role":"user","content":"x"}]});
    assert_eq!(Route::new(Chat, UpstreamKind::Openai).sent(&chat)["messages"], chat["messages"]);
}

#[test]
fn a_stream_of_the_clients_own_protocol_goes_on_behind_an_opening_of_ours() {
    let usage = json!({"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,
        "output_tokens_details":{"reasoning_tokens":0},"total_tokens":2});
    let item = json!({"id":"msg_9","type":"message","status":"completed","role":"assistant",
        "content":[{"type":"output_text","text":"Hi","annotations":[]}]});
    let begun = json!({"id":"msg_9","type":"message","status":"in_progress","role":"assistant","content":[]});
    let streams = [
        (
            Chat,
            chunks(&[
                json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"sent","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}),
                json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"sent","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}),
                json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"sent","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}),
            ]),
        ),
        (
            Claude,
            events(&[
                json!({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"sent","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}),
                json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
                json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}),
                json!({"type":"content_block_stop","index":0}),
                json!({"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":1,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":2}}),
                json!({"type":"message_stop"}),
            ]),
        ),
        (
            Responses,
            events(&[
                json!({"type":"response.created","sequence_number":0,"response":{"id":"r","model":"sent","status":"in_progress"}}),
                json!({"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":begun}),
                json!({"type":"response.content_part.added","sequence_number":2,"item_id":"msg_9","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}),
                json!({"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_9","output_index":0,"content_index":0,"delta":"Hi"}),
                json!({"type":"response.output_text.done","sequence_number":4,"item_id":"msg_9","output_index":0,"content_index":0,"text":"Hi"}),
                json!({"type":"response.content_part.done","sequence_number":5,"item_id":"msg_9","output_index":0,"content_index":0,"part":item["content"][0]}),
                json!({"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":item}),
                json!({"type":"response.completed","sequence_number":7,"response":{"id":"r","object":"response","created_at":1,"model":"sent","status":"completed","output":[item],"usage":usage}}),
            ]),
        ),
    ];
    for (client, body) in streams {
        let mut waiting = head(client);
        let mut bytes = waiting.keep_alive();
        let mut translator = Answers::relayed(client).translator(head(client).resumed(waiting.progress()));
        bytes.extend(translator.keep_alive());
        for chunk in body.chunks(7) {
            bytes.extend(translator.push(Bytes::copy_from_slice(chunk)));
        }
        assert!(translator.keep_alive().is_empty(), "in its own stream there is nothing of ours");
        bytes.extend(translator.finish());
        assert_eq!(translator.end(), Some(End::Complete));
        let text = String::from_utf8(bytes.clone()).unwrap();
        oracle::check(client, &bytes, false).unwrap_or_else(|why| panic!("{why} {text}"));
        assert!(text.contains("Hi") && !text.contains("\"sent\""), "{text}");
        // What breaks is told where the client's stream stands.
        let mut broken = Answers::relayed(client).translator(head(client).resumed(waiting.progress()));
        let mut bytes = head(client).keep_alive();
        bytes.extend(broken.push(Bytes::copy_from_slice(&body[..body.len() / 2])));
        bytes.extend(broken.finish());
        assert_eq!(broken.end(), Some(End::Cut));
        bytes.extend(broken.fail(&Failure::new(Class::Cut, "broke off")));
        let told = frames(&bytes).last().unwrap().data.to_string();
        assert!(told.contains("broke off"), "{told}");
        // A document has no place in a stream.
        let mut document = Answers::relayed(client).translator(head(client).resumed(waiting.progress()));
        let body = json!({"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],
            "content":[{"type":"text","text":"Hi"}],"output":[item],"status":"completed","stop_reason":"end_turn"});
        assert!(document.push(body.to_string().into()).is_empty() && document.finish().is_empty());
        assert!(matches!(document.end(), Some(End::Failed(_))), "{:?}", document.end());
    }
}

#[test]
fn sealed_reasoning_without_text_is_nothing_to_a_chat_client() {
    let body = json!({"id":"m","type":"message","role":"assistant","model":"x","stop_reason":"end_turn","content":[
        {"type":"redacted_thinking","data":"abc"},{"type":"text","text":"Hi"}],"usage":{"input_tokens":1,"output_tokens":1}});
    let route = Route::new(Chat, UpstreamKind::Claude);
    let message = &route.answer_whole(&asked(Chat, false), body.to_string().as_bytes()).json()["choices"][0]["message"];
    assert!(message["content"] == "Hi" && message.get("reasoning_content").is_none(), "{message}");
    let mut thought = body.clone();
    let thinking = json!({"type":"thinking","thinking":"Look.","signature":"s"});
    thought["content"].as_array_mut().unwrap().insert(1, thinking.clone());
    thought["content"].as_array_mut().unwrap().insert(2, thinking);
    let message =
        &route.answer_whole(&asked(Chat, false), thought.to_string().as_bytes()).json()["choices"][0]["message"];
    assert_eq!(message["reasoning_content"], "Look.\n\nLook.");
}

#[test]
fn a_document_of_the_clients_own_protocol_has_output_if_it_says_something() {
    let answer = |output: Value| json!({"id":"r","model":"sent","status":"completed","output":output}).to_string();
    let item = json!({"type":"message","content":[{"type":"output_text","text":"Hi"}]});
    let route = Route::new(Responses, UpstreamKind::Codex);
    for (output, said) in [(json!([item]), true), (json!([]), false)] {
        let mut translator = route.request(&asked(Responses, false)).unwrap().answers.translator(head(Responses));
        translator.push(answer(output).into());
        translator.finish();
        assert_eq!(translator.seen().output, said);
        assert_eq!(translator.end(), Some(if said { End::Complete } else { End::Empty }));
    }
}
