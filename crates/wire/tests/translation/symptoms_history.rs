//! What has gone wrong in other gateways with conversations, each under its symptom. The numbers are public issues.

use headgate_domain::{
    Protocol::{Chat, Claude, Responses},
    UpstreamKind,
};
use serde_json::{Value, json};

use super::{driver::Route, lifecycle::asked};

fn chat(messages: Value) -> Value {
    json!({"model":"m","max_tokens":9000,"messages":messages})
}

fn responses(input: Value) -> Value {
    json!({"model":"m","input":input})
}

fn claude(messages: Value) -> Value {
    json!({"model":"m","max_tokens":9000,"messages":messages})
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"role":"assistant","content":null,"tool_calls":[{"id":id,"type":"function","function":{"name":"f","arguments":arguments}}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role":"tool","tool_call_id":id,"content":text})
}

fn to_claude() -> Route {
    Route::new(Chat, UpstreamKind::Claude)
}

/// CLIProxyAPI #4656.
#[test]
fn parallel_results_split_over_several_user_messages() {
    let mut both = call("a", "{}");
    both["tool_calls"].as_array_mut().unwrap().push(call("b", "{}")["tool_calls"][0].clone());
    let body = chat(
        json!([{"role":"user","content":"x"}, both, result("b", "2"), {"role":"user","content":"and"}, result("a", "1")]),
    );
    let messages = to_claude().sent(&body)["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 3, "{messages}");
    let kinds: Vec<&Value> = messages[2]["content"].as_array().unwrap().iter().map(|b| &b["type"]).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "a");
}

/// CLIProxyAPI #497.
#[test]
fn a_result_without_its_call_is_refused_with_400() {
    let body = chat(json!([{"role":"user","content":"x"}, result("gone", "out")]));
    let messages = to_claude().sent(&body)["messages"].clone();
    assert_eq!(messages[0]["content"][1]["text"], "Tool result without a matching call (gone):\nout");
    assert_eq!(to_claude().warnings(&body), ["repaired:tool_result_without_call"]);
}

/// claude-code #5705, #1237, #2126.
#[test]
fn a_call_without_its_result_kills_the_conversation_for_good() {
    for upstream in [UpstreamKind::Openai, UpstreamKind::OpenaiResponse] {
        let body = claude(json!([{"role":"user","content":"x"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},
            {"role":"user","content":"go on"}]));
        let route = Route::new(Claude, upstream);
        let sent = route.sent(&body).to_string();
        assert!(sent.contains("[tool error] No result was recorded for this tool call."), "{sent}");
        assert_eq!(route.warnings(&body), ["repaired:tool_call_without_result"]);
    }
}

/// CLIProxyAPI #3052, #570.
#[test]
fn a_foreign_signature_replayed_to_claude_is_400_on_every_later_turn() {
    let route = Route::new(Responses, UpstreamKind::Claude);
    let body = responses(json!([
        {"role":"user","content":"x"},
        {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"gAAAA"},
        {"role":"assistant","content":"y"},{"role":"user","content":"z"}]));
    assert!(!route.sent(&body).to_string().contains("gAAAA"));
    assert_eq!(route.warnings(&body), ["dropped:reasoning_item"]);
    let back = Route::new(Claude, UpstreamKind::OpenaiResponse);
    let body = claude(json!([{"role":"user","content":"x"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"real"},{"type":"text","text":"y"}]},
        {"role":"user","content":"z"}]));
    assert!(!back.sent(&body).to_string().contains("real"));
    assert_eq!(back.warnings(&body), ["dropped:thinking_block"]);
}

/// openai-agents-python #1704, continue #4470, pydantic-ai #2075.
#[test]
fn expected_thinking_found_tool_use() {
    let mut body = chat(json!([{"role":"user","content":"x"}, call("a", "{}"), result("a", "1")]));
    body["reasoning_effort"] = json!("high");
    let manual = to_claude().with(json!({"thinking":"manual"}));
    assert!(manual.sent(&body).get("thinking").is_none());
    assert_eq!(manual.warnings(&body), ["dropped:thinking"]);
    assert!(to_claude().sent(&body).get("thinking").is_some(), "adaptive models accept such history");
}

/// hermes-agent #11906, LiteLLM #23835, anthropic-sdk-python #461.
#[test]
fn an_empty_text_block_is_refused_with_400() {
    let body = chat(
        json!([{"role":"user","content":" \n"},{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"a"}]},
        {"role":"assistant","content":""},{"role":"user","content":"b"}]),
    );
    let messages = to_claude().sent(&body)["messages"].clone();
    assert_eq!(messages, json!([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]));
}

/// cc-switch #2467.
#[test]
fn an_empty_system_message_is_refused() {
    for upstream in [UpstreamKind::Claude, UpstreamKind::OpenaiResponse] {
        let body = chat(
            json!([{"role":"system","content":"  "},{"role":"user","content":"x"},{"role":"system","content":""}]),
        );
        let sent = Route::new(Chat, upstream).sent(&body);
        assert!(sent.get("system").is_none() && sent.get("instructions").is_none(), "{sent}");
        assert!(!sent.to_string().contains("developer") && !sent.to_string().contains("reminder"), "{sent}");
    }
    let mut body = claude(json!([{"role":"user","content":"x"},{"role":"system","content":" "}]));
    body["system"] = json!("");
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&body);
    assert_eq!(sent["messages"], json!([{"role":"user","content":"x"}]));
}

/// bifrost #5097, forgecode #1142, command-code #323.
#[test]
fn tool_ids_such_as_functions_bash_0_are_refused() {
    let body = chat(json!([{"role":"user","content":"x"}, call("functions.f:0", "{}"), result("functions.f:0", "1")]));
    let sent = to_claude().sent(&body);
    let id = sent["messages"][1]["content"][0]["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("functions_f_0_") && id.len() == 22, "{id}");
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], id);
}

/// 9router #393, ungate #26, hermes-agent #72006, archestra #866.
#[test]
fn a_call_id_longer_than_the_upstream_takes_is_400() {
    let long = "toolu_".to_owned() + &"é".repeat(70);
    let body = claude(json!([{"role":"user","content":"x"},
        {"role":"assistant","content":[{"type":"tool_use","id":long,"name":"f","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":long,"content":"1"}]}]));
    for (upstream, call, result, most) in [
        (UpstreamKind::Openai, "/messages/1/tool_calls/0/id", "/messages/2/tool_call_id", 40),
        (UpstreamKind::OpenaiResponse, "/input/1/call_id", "/input/2/call_id", 64),
        (UpstreamKind::Codex, "/input/1/call_id", "/input/2/call_id", 64),
    ] {
        let sent = Route::new(Claude, upstream).sent(&body);
        let id = sent.pointer(call).unwrap().as_str().unwrap();
        assert!(id.chars().count() == most && sent.pointer(result).unwrap() == id, "{id}");
    }
}

/// CLIProxyAPI #4401, billion-context #242.
#[test]
fn an_item_id_longer_than_64_is_stored_by_the_client_for_ever() {
    let body = responses(json!([{"type":"message","id":"x".repeat(65),"role":"user","content":"a"},
        {"type":"message","id":"short","role":"user","content":"b"}]));
    let sent = Route::new(Responses, UpstreamKind::Codex).sent(&body);
    assert!(sent["input"][0].get("id").is_none() && sent["input"][1]["id"] == "short");
}

/// aichat #1217, LiteLLM #5064, openai-agents-js #664.
#[test]
fn no_arguments_are_sent_as_an_empty_text() {
    let body = chat(json!([{"role":"user","content":"x"}, call("a", " "), result("a", "1")]));
    assert_eq!(to_claude().sent(&body)["messages"][1]["content"][0]["input"], json!({}));
    let sent = Route::new(Chat, UpstreamKind::OpenaiResponse).sent(&body);
    assert_eq!(sent["input"][1]["arguments"], "{}");
    let broken = chat(json!([{"role":"user","content":"x"}, call("a", "{\"x\":"), result("a", "1")]));
    assert_eq!(to_claude().sent(&broken)["messages"][1]["content"][0]["input"], json!({"_invalid_json":"{\"x\":"}));
}

/// Proma #1496, new-api #5330, higress #3479.
#[test]
fn the_role_developer_is_refused() {
    let body = responses(
        json!([{"role":"developer","content":"a"},{"role":"user","content":"x"},{"role":"developer","content":"b"}]),
    );
    let route = Route::new(Responses, UpstreamKind::Openai);
    assert!(!route.sent(&body).to_string().contains("developer"));
    assert!(route.with(json!({"developer_role":true})).sent(&body).to_string().contains("developer"));
}

/// CLIProxyAPI #5879.
#[test]
fn instructions_are_sent_as_a_user_turn() {
    let body = json!({"model":"m","instructions":"Be brief.","input":"x"});
    let sent = Route::new(Responses, UpstreamKind::Openai).sent(&body);
    assert_eq!(sent["messages"], json!([{"role":"system","content":"Be brief."},{"role":"user","content":"x"}]));
    let sent = Route::new(Responses, UpstreamKind::Claude).sent(&body);
    assert_eq!(sent["system"], json!([{"type":"text","text":"Be brief."}]));
}

/// LiteLLM #38053.
#[test]
fn a_later_instruction_is_moved_to_the_front_and_the_cache_is_lost() {
    let body = chat(json!([{"role":"system","content":"s"},{"role":"user","content":"a"}, call("c", "{}"),
        {"role":"system","content":"later"}, result("c", "1"), {"role":"user","content":"b"}]));
    let sent = to_claude().sent(&body);
    assert_eq!(sent["system"], json!([{"type":"text","text":"s"}]));
    let last = &sent["messages"][2]["content"];
    assert_eq!(last[0]["type"], "tool_result");
    assert_eq!(last[1]["text"], "<system-reminder>\nlater\n</system-reminder>");
    assert_eq!(last[2]["text"], "b");
    let sent = Route::new(Chat, UpstreamKind::OpenaiResponse).sent(&body);
    assert_eq!(sent["input"][3]["role"], "developer");
}

/// forgecode #1872, crewAI #4430.
#[test]
fn a_final_assistant_text_that_ends_with_white_space_is_400() {
    let body = chat(json!([{"role":"user","content":"x"},{"role":"assistant","content":"Answer: \n"}]));
    assert_eq!(to_claude().sent(&body)["messages"][1]["content"][0]["text"], "Answer:");
}

/// CLIProxyAPI #1670.
#[test]
fn images_in_tool_results_are_lost() {
    let body = claude(json!([{"role":"user","content":"x"},
        {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
        {"role":"user","content":[
            {"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]},
            {"type":"tool_result","tool_use_id":"b","content":"t"},{"type":"text","text":"so?"}]}]));
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&body);
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages[2], json!({"role":"tool","tool_call_id":"a","content":"[image attached below]"}));
    assert_eq!(messages[3]["role"], "tool");
    let texts: Vec<&Value> = messages[4]["content"].as_array().unwrap().iter().map(|p| &p["type"]).collect();
    assert_eq!(texts, ["text", "image_url", "text"]);
    assert_eq!(messages[4]["content"][0]["text"], "Images from tool call a:");
    let sent = Route::new(Claude, UpstreamKind::OpenaiResponse).sent(&body);
    assert_eq!(sent["input"][3]["output"][0]["image_url"], "data:image/png;base64,AA==");
}

/// oai-compatible-copilot #215, opencode #24497, qwen-code #3715.
#[test]
fn reasoning_content_must_be_passed_back() {
    let body = responses(json!([{"role":"user","content":"x"},
        {"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"why"}]},
        {"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
        {"type":"function_call_output","call_id":"c","output":"1"},{"role":"assistant","content":"done"}]));
    let route = Route::new(Responses, UpstreamKind::Openai);
    assert!(!route.sent(&body).to_string().contains("reasoning_content"));
    for base in ["deepseek", "kimi"] {
        let sent = route.clone().with(json!({"base":base})).sent(&body);
        assert_eq!(sent["messages"][1]["reasoning_content"], "why");
        assert_eq!(sent["messages"][3]["reasoning_content"], "(none)");
    }
}

/// LiteLLM #20905.
#[test]
fn items_the_bridge_does_not_know_are_a_500() {
    let input = json!([{"role":"user","content":"x"},{"type":"apply_patch_call","call_id":"c","operation":{}},
        {"type":"apply_patch_call_output","call_id":"c","output":"1"},{"type":"compaction_trigger"}]);
    let route = Route::new(Responses, UpstreamKind::Claude);
    let expected = ["dropped:apply_patch_call", "dropped:apply_patch_call_output", "dropped:compaction_trigger"];
    assert_eq!(route.warnings(&responses(input)), expected);
    assert!(route.request(&responses(json!([{"type":"compaction_trigger"}]))).is_err(), "nothing is left");
}

/// Anthropic's versioning page for API version 2026-10-21.
#[test]
fn the_newest_api_version_refuses_sampling_and_documents_of_the_assistant() {
    let mut body = chat(json!([{"role":"user","content":"x"}]));
    body["temperature"] = json!(0.5);
    body["top_p"] = json!(0.5);
    let route = to_claude().with(json!({"anthropic_version":"2026-10-21"}));
    assert_eq!(route.warnings(&body), ["dropped:temperature", "dropped:top_p"]);
    assert_eq!(route.request(&body).unwrap().anthropic_version.as_deref(), Some("2026-10-21"));
    let assistant = json!([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,AA=="}}]}]);
    assert!(route.request(&chat(assistant)).is_err());
}

#[test]
fn texts_of_an_assistant_are_joined_by_what_stands_between_them() {
    let text = |text: &str| json!({"type":"text","text":text});
    let call = json!({"type":"tool_use","id":"t","name":"f","input":{}});
    let result = json!({"type":"tool_result","tool_use_id":"t"});
    let body = claude(json!([{"role":"user","content":"x"},
        {"role":"assistant","content":[text("a"), text("b"), call, text("c")]},{"role":"user","content":[result]}]));
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&body);
    assert_eq!(sent["messages"][1]["content"], "ab\n\nc");
    assert_eq!(sent["messages"][2]["content"], "(no output)");
    let sent = Route::new(Claude, UpstreamKind::OpenaiResponse).sent(&body);
    let kinds: Vec<&Value> = sent["input"].as_array().unwrap().iter().map(|i| &i["type"]).collect();
    assert_eq!(kinds, ["message", "message", "function_call", "message", "function_call_output"]);
    assert_eq!(sent["input"][1]["content"].as_array().unwrap().len(), 2);
    let apart = responses(
        json!([{"role":"user","content":"x"},{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}]),
    );
    assert_eq!(Route::new(Responses, UpstreamKind::Openai).sent(&apart)["messages"][1]["content"], "a\n\nb");
}

#[test]
fn an_unknown_block_is_dropped_beside_others_and_refused_alone() {
    let alien = json!({"type":"hologram"});
    let text = json!({"type":"text","text":"a"});
    for (client, upstream) in
        [(Claude, UpstreamKind::Openai), (Chat, UpstreamKind::Claude), (Responses, UpstreamKind::Claude)]
    {
        let route = Route::new(client, upstream);
        let body = |content: Value| match client {
            Responses => responses(json!([{"role":"user","content":content}])),
            _ => chat(json!([{"role":"user","content":content}])),
        };
        assert_eq!(route.warnings(&body(json!([alien, text]))), ["dropped:hologram"]);
        assert_eq!(route.request(&body(json!([alien]))).unwrap_err().code(), "unsupported_parameter");
    }
}

#[test]
fn documents_reach_every_upstream_in_its_own_shape() {
    let pdf = json!({"type":"document","title":"","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}});
    let plain = json!({"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"body"}});
    let search = json!({"type":"search_result","source":"https://a.test","title":"S","content":[{"type":"text","text":"found"}]});
    let body = claude(json!([{"role":"user","content":[pdf, plain, search]}]));
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&body);
    let parts = &sent["messages"][0]["content"];
    assert_eq!(parts[0]["file"], json!({"filename":"document.pdf","file_data":"data:application/pdf;base64,JVBERi0="}));
    assert_eq!((&parts[1]["text"], &parts[2]["text"]), (&json!("T\n\nbody"), &json!("S\n\nfound")));
    let sent = Route::new(Claude, UpstreamKind::OpenaiResponse).sent(&body);
    assert_eq!(sent["input"][0]["content"][0]["filename"], "document.pdf");
    let file = json!({"type":"input_file","file_url":"https://a.test/a.pdf"});
    let text = json!({"type":"input_file","filename":"a.csv","file_data":"data:text/csv;base64,YSxi"});
    let sent =
        Route::new(Responses, UpstreamKind::Claude).sent(&responses(json!([{"role":"user","content":[file, text]}])));
    assert_eq!(
        sent["messages"][0]["content"][0],
        json!({"type":"document","source":{"type":"url","url":"https://a.test/a.pdf"}})
    );
    assert_eq!(sent["messages"][0]["content"][1]["source"]["data"], "a,b");
}

#[test]
fn a_failed_tool_is_marked_for_protocols_that_have_no_field_for_it() {
    let body = claude(json!([{"role":"user","content":"x"},
        {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true},
            {"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"boom"},{"type":"image","source":{"type":"url","url":"https://a.test/i.png"}}]}]}]));
    let sent = Route::new(Claude, UpstreamKind::OpenaiResponse).sent(&body);
    assert_eq!(sent["input"][3]["output"], "[tool error] (no output)");
    assert_eq!(sent["input"][4]["output"][0]["text"], "[tool error] boom");
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&body);
    assert_eq!(sent["messages"][3]["content"], "[tool error] boom\n[image attached below]");
}

#[test]
fn the_clients_own_cache_marks_are_kept_wherever_it_put_them() {
    let mark = json!({"type":"ephemeral","ttl":"1h"});
    let body = chat(json!([{"role":"system","content":[{"type":"text","text":"s"}],"cache_control":mark},
        {"role":"user","content":[{"type":"text","text":"a","cache_control":mark},{"type":"text","text":"b"}]},
        {"role":"assistant","content":"c","cache_control":mark},{"role":"user","content":"d","cache_control":mark}]));
    let sent = to_claude().with(json!({"auto_cache":true})).sent(&body);
    assert_eq!(sent["system"][0]["cache_control"], mark);
    assert_eq!(sent["messages"][0]["content"][0]["cache_control"], mark);
    assert_eq!(sent["messages"][1]["content"][0]["cache_control"], mark);
    assert_eq!(sent["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(sent.to_string().matches("ephemeral").count(), 4);
    let sent = Route::new(Claude, UpstreamKind::Openai)
        .sent(&claude(json!([{"role":"user","content":[{"type":"text","text":"a","cache_control":mark}]}])));
    assert!(!sent.to_string().contains("cache_control"));
}

/// An id of more than 64 bits, as a tool may take one.
const LARGE: &str = r#"{"id":123456789012345678901234567890,"half":0.5}"#;

#[test]
fn an_integer_in_a_tools_input_keeps_its_digits_in_the_history() {
    let claude = format!(
        r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"x"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"c1","name":"f","input":{LARGE}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c1","content":"y"}}]}}]}}"#
    );
    for upstream in [UpstreamKind::Openai, UpstreamKind::OpenaiResponse, UpstreamKind::Codex] {
        let sent = Route::new(Claude, upstream).request_bytes(claude.as_bytes()).unwrap().body;
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        let arguments =
            sent.pointer("/messages/1/tool_calls/0/function/arguments").or(sent.pointer("/input/1/arguments"));
        assert_eq!(arguments, Some(&json!(LARGE)), "{upstream:?}");
    }
    let calls = [
        (
            Chat,
            json!({"model":"m","messages":[{"role":"user","content":"x"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":LARGE}}]},
            {"role":"tool","tool_call_id":"c1","content":"y"}]}),
        ),
        (
            Responses,
            json!({"model":"m","input":[{"role":"user","content":"x"},
            {"type":"function_call","call_id":"c1","name":"f","arguments":LARGE},
            {"type":"function_call_output","call_id":"c1","output":"y"}]}),
        ),
    ];
    for (client, body) in calls {
        let sent = Route::new(client, UpstreamKind::Claude).request(&body).unwrap().body;
        let sent = String::from_utf8(sent).unwrap();
        assert!(sent.contains(&format!("\"input\":{LARGE}")), "{sent}");
    }
    // A number of the protocol itself is a number.
    let odd = claude.replace("\"max_tokens\":9", "\"max_tokens\":99999999999999999999");
    let refused = Route::new(Claude, UpstreamKind::Openai).request_bytes(odd.as_bytes()).unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("max_tokens"));
}

#[test]
fn an_integer_in_a_tools_input_keeps_its_digits_in_an_answer() {
    let claude = format!(
        r#"{{"id":"m","type":"message","role":"assistant","model":"x","content":[{{"type":"tool_use","id":"c1","name":"f","input":{LARGE}}}],"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    );
    let chat = json!({"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,
        "tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":LARGE}}]}}]})
    .to_string();
    let quoted = serde_json::to_string(LARGE).unwrap();
    for (client, upstream, body, expected) in [
        (Chat, UpstreamKind::Claude, &claude, format!("\"arguments\":{quoted}")),
        (Responses, UpstreamKind::Claude, &claude, format!("\"arguments\":{quoted}")),
        (Claude, UpstreamKind::Openai, &chat, format!("\"input\":{LARGE}")),
    ] {
        let route = Route::new(client, upstream);
        let whole = route.answer_whole(&asked(client, false), body.as_bytes());
        assert!(String::from_utf8_lossy(&whole.bytes).contains(&expected), "{}", String::from_utf8_lossy(&whole.bytes));
        // The document replayed as a stream.
        let stream = route.answer_whole(&asked(client, true), body.as_bytes());
        let text = String::from_utf8(stream.bytes).unwrap().replace('\\', "");
        assert!(text.contains("123456789012345678901234567890"), "{text}");
    }
}
