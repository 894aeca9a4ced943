//! What real clients send, over upstreams of the other protocols.

use headgate_domain::{
    Protocol::{Chat, Claude, Responses},
    UpstreamKind,
};
use headgate_wire::{loss::Losses, profile::Profile, translate::Plan};
use serde_json::{Value, json};

use super::driver::Route;

/// A turn of Codex with a model name it does not know.
fn codex() -> Value {
    json!({
        "model":"gpt-5-codex","stream":true,
        "input":[
            {"type":"message","id":"i1","role":"developer","content":[{"type":"input_text","text":"You are Codex."}]},
            {"type":"message","id":"i2","role":"user","content":[{"type":"input_text","text":"<environment>"}]},
            {"type":"message","id":"i3","role":"user","content":[{"type":"input_text","text":"list"}, {"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"high"}]},
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"look"}],"content":null,"encrypted_content":null},
            {"type":"function_call","id":"fc_1","status":"completed","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"},
            {"type":"function_call","id":"fc_2","status":"completed","name":"spawn","namespace":"multi_agent_v1","arguments":"{}","call_id":"c2"},
            {"type":"function_call_output","id":"o1","call_id":"c1","output":"a"},
            {"type":"function_call_output","id":"o2","call_id":"c2","output":[{"type":"input_text","text":"b"}]}],
        "tools":[
            {"type":"function","name":"exec_command","strict":false,"parameters":{"type":"object","properties":{"cmd":{"type":"string"}}}},
            {"type":"namespace","name":"multi_agent_v1","description":"d","tools":[{"type":"function","name":"spawn","strict":false,"parameters":{"type":"object","properties":{}}}]},
            {"type":"web_search","external_web_access":true}],
        "tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"summary":"auto"},"store":false,
        "include":["reasoning.encrypted_content"],"prompt_cache_key":"k","client_metadata":{"session_id":"s"}
    })
}

/// Its "Lite" form: tools and instructions are items, the shell takes JavaScript.
fn codex_lite() -> Value {
    let exec = json!({"type":"custom","name":"exec","description":"Runs JavaScript.","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}});
    json!({
        "model":"gpt-6.2-sol","stream":true,"parallel_tool_calls":false,"reasoning":{"effort":"low","context":"all_turns"},
        "input":[
            {"type":"additional_tools","id":"a","role":"developer","tools":[
                {"type":"namespace","name":"functions","description":"","tools":[exec, {"type":"function","name":"wait","strict":false,"parameters":{"type":"object","properties":{}}}]},
                {"type":"namespace","name":"clock","tools":[{"type":"function","name":"sleep","parameters":{"type":"object","properties":{}}}]}]},
            {"type":"message","id":"b","role":"developer","content":[{"type":"input_text","text":"You are Codex."}]},
            {"type":"message","id":"c","role":"user","content":[{"type":"input_text","text":"ls"}]},
            {"type":"custom_tool_call","id":"d","call_id":"c1","name":"exec","input":"text(1)"},
            {"type":"custom_tool_call_output","id":"e","call_id":"c1","output":[{"type":"input_text","text":"1"}]}]
    })
}

fn claude_code() -> Value {
    json!({
        "model":"claude-opus-4-8","max_tokens":64000,"stream":true,
        "system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=1;"},
            {"type":"text","text":"You are Claude Code.","cache_control":{"type":"ephemeral"}}],
        "messages":[
            {"role":"user","content":[{"type":"text","text":"hi"}]},
            {"role":"system","content":[{"type":"text","text":"Mind the rules.","cache_control":{"type":"ephemeral"}}]},
            {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"abc"},{"type":"tool_use","id":"toolu_1","name":"ToolSearch","input":{"q":"x"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"tool_reference","tool_name":"Grep"}],"is_error":false},{"type":"text","text":"go"}]}],
        "tools":[{"name":"ToolSearch","description":"d","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"q":{"type":"string"}}}},
            {"name":"Grep","description":"d","input_schema":{"type":"object","properties":{}},"defer_loading":true}],
        "thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"high"},
        "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
        "metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"sess-1\"}"}
    })
}

#[test]
fn codex_with_an_unknown_model_name_over_chat_and_claude() {
    let route = Route::new(Responses, UpstreamKind::Openai);
    let sent = route.sent(&codex());
    let roles: Vec<&str> = sent["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "user", "assistant", "tool", "tool"]);
    assert_eq!(sent["messages"][3]["tool_calls"][1]["function"]["name"], "multi_agent_v1__spawn");
    assert_eq!(route.warnings(&codex()), ["dropped:tool:web_search"]);
    let route = Route::new(Responses, UpstreamKind::Claude);
    let sent = route.sent(&codex());
    let roles: Vec<&str> = sent["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(sent["tools"][2]["name"], "web_search");
    assert_eq!(route.warnings(&codex()), ["dropped:reasoning_item"]);
}

#[test]
fn codex_lite_over_chat_and_claude() {
    for (upstream, tools) in [(UpstreamKind::Openai, "/tools/0/function/name"), (UpstreamKind::Claude, "/tools/0/name")]
    {
        let route = Route::new(Responses, upstream);
        let sent = route.sent(&codex_lite());
        assert_eq!(sent.pointer(tools).unwrap(), "functions__exec");
        assert!(route.warnings(&codex_lite()).is_empty(), "{:?}", route.warnings(&codex_lite()));
        let history = sent["messages"].to_string();
        // The call left its namespace out; there is only one such tool.
        assert!(history.contains("functions__exec") && history.contains("text(1)"), "{history}");
        assert!(history.contains("You are Codex.") || sent["system"].to_string().contains("You are Codex."));
    }
}

#[test]
fn claude_code_over_chat_responses_and_codex() {
    let chat = Route::new(Claude, UpstreamKind::Openai);
    let sent = chat.sent(&claude_code());
    let roles: Vec<&str> = sent["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "system", "assistant", "tool", "user"]);
    assert_eq!(sent["messages"][4]["content"], "Tool available: Grep");
    assert_eq!(sent["reasoning_effort"], "high");
    assert_eq!(chat.warnings(&claude_code()), ["dropped:thinking_block", "repaired:tool_schema"]);
    for upstream in [UpstreamKind::OpenaiResponse, UpstreamKind::Codex] {
        let sent = Route::new(Claude, upstream).sent(&claude_code());
        assert_eq!(sent["prompt_cache_key"], "sess-1");
        assert_eq!(sent["reasoning"], json!({"effort":"high"}), "no summary when the client does not show it");
        assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]));
        assert!(!sent.to_string().contains("billing"));
    }
}

#[test]
fn opencode_sends_reasoning_back_over_chat() {
    let body = json!({"model":"m","max_tokens":8000,"stream":true,"stream_options":{"include_usage":true},"tool_choice":"auto","messages":[
        {"role":"user","content":"a"},{"role":"user","content":"b"},
        {"role":"assistant","content":"","reasoning_content":"why","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c","content":"1"}]});
    for upstream in [UpstreamKind::Claude, UpstreamKind::OpenaiResponse] {
        assert_eq!(Route::new(Chat, upstream).warnings(&body), ["dropped:reasoning_content"]);
    }
}

#[test]
fn a_candidate_that_cannot_express_a_request_is_told_apart_without_sending() {
    let body = json!({"model":"m","input":"x","previous_response_id":"r"}).to_string();
    let check = |upstream| {
        let profile = Profile::resolve(upstream, None, "m");
        Plan::new(Responses, upstream, &profile).check(body.as_bytes())
    };
    for upstream in [UpstreamKind::Openai, UpstreamKind::Claude, UpstreamKind::Codex] {
        assert_eq!(check(upstream).unwrap_err().param.as_deref(), Some("previous_response_id"));
    }
    for upstream in [UpstreamKind::OpenaiResponse, UpstreamKind::Passthrough] {
        assert_eq!(check(upstream), Ok(Losses::default()));
    }
}

#[test]
fn every_rejection_names_its_member() {
    let chat = |more: Value| {
        let mut body = json!({"model":"m","messages":[{"role":"user","content":"x"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let part = |part: Value| json!({"messages":[{"role":"user","content":[{"type":"text","text":"x"}, part]}]});
    for (more, param) in [
        (json!({"n":2}), "n"),
        (json!({"functions":[]}), "functions"),
        (json!({"modalities":["audio"]}), "modalities"),
        (json!({"messages":[{"role":"function","name":"f","content":"x"}]}), "functions"),
        (json!({"messages":[]}), "messages"),
        (json!({"messages":[{"role":"system","content":"only"}]}), "messages"),
        (part(json!({"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}})), "messages"),
        (part(json!({"type":"image_url","image_url":{"url":"data:image/bmp;base64,AA=="}})), "image"),
        (part(json!({"type":"file","file":{"file_data":"data:application/zip;base64,AA=="}})), "file"),
        (part(json!({"type":"file","file":{"file_id":"f"}})), "file_id"),
        (json!({"messages":[{"role":"user","content":[{"type":"video","url":"x"}]}]}), "messages"),
    ] {
        let refused = Route::new(Chat, UpstreamKind::Claude).request(&chat(more.clone())).expect_err(&more.to_string());
        assert_eq!((refused.code(), refused.param.as_deref()), ("unsupported_parameter", Some(param)), "{more}");
    }
    for (body, param) in [
        (json!({"model":"m","messages":"x"}), "messages"),
        (json!({"messages":[]}), "model"),
        (chat(json!({"temperature":"hot"})), "temperature"),
        (chat(json!({"max_tokens":-1})), "max_tokens"),
        (chat(json!({"stop":[1]})), "stop"),
        (chat(json!({"tools":[{"type":"function"}]})), "tools.function"),
        (chat(json!({"messages":[{"role":"alien","content":"x"}]})), "messages.role"),
        (json!([]), "body"),
    ] {
        let refused = Route::new(Chat, UpstreamKind::Claude).request(&body).expect_err(&body.to_string());
        assert_eq!((refused.code(), refused.param.as_deref()), ("bad_request", Some(param)), "{body}");
    }
    let claude = |more: Value| {
        let mut body = json!({"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let pdf = json!({"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://a.test/a.pdf"}}]}]});
    assert_eq!(
        Route::new(Claude, UpstreamKind::Openai).request(&claude(pdf.clone())).unwrap_err().param.as_deref(),
        Some("file_url")
    );
    assert!(Route::new(Claude, UpstreamKind::OpenaiResponse).request(&claude(pdf)).is_ok());
    assert_eq!(
        Route::new(Claude, UpstreamKind::Openai)
            .request(&claude(json!({"max_tokens":0})))
            .unwrap_err()
            .param
            .as_deref(),
        Some("max_tokens")
    );
    for member in ["conversation", "prompt"] {
        let body = json!({"model":"m","input":"x",member:{"id":"c"}});
        assert_eq!(
            Route::new(Responses, UpstreamKind::Claude).request(&body).unwrap_err().param.as_deref(),
            Some(member)
        );
    }
    let stored = json!({"model":"m","input":[{"type":"item_reference","id":"i"},{"role":"user","content":"x"}]});
    assert_eq!(
        Route::new(Responses, UpstreamKind::Claude).request(&stored).unwrap_err().param.as_deref(),
        Some("input")
    );
    let background = json!({"model":"m","input":"x","background":true});
    assert!(Route::new(Responses, UpstreamKind::Claude).request(&background).is_err());
}

#[test]
fn what_means_nothing_for_the_answer_is_dropped_without_a_word() {
    let chat = json!({"model":"m","messages":[{"role":"user","name":"n","content":"x"}],"store":true,"metadata":{},"safety_identifier":"s",
        "prompt_cache_retention":"24h","moderation":{},"presence_penalty":0,"n":1,"unheard_of":1,"modalities":["text"]});
    for upstream in [UpstreamKind::Claude, UpstreamKind::OpenaiResponse] {
        let encoded = Route::new(Chat, upstream).request(&chat).unwrap();
        assert!(encoded.warnings.is_empty() && encoded.warnings.unknown_fields() == 1, "{:?}", encoded.warnings);
    }
    let told = json!({"model":"m","messages":[{"role":"user","content":"x"}],"seed":1,"logit_bias":{"1":1},"presence_penalty":1,"frequency_penalty":1,"prediction":{},"verbosity":"low","service_tier":"flex"});
    let expected = [
        "dropped:frequency_penalty",
        "dropped:logit_bias",
        "dropped:prediction",
        "dropped:presence_penalty",
        "dropped:seed",
        "dropped:service_tier",
        "dropped:verbosity",
    ];
    let mut warnings = Route::new(Chat, UpstreamKind::Claude).warnings(&told);
    warnings.sort();
    assert_eq!(warnings, expected);
    let told =
        json!({"model":"m","input":"x","truncation":"auto","max_tool_calls":3,"include":["x"],"client_metadata":{}});
    let mut warnings = Route::new(Responses, UpstreamKind::Openai).warnings(&told);
    warnings.sort();
    assert_eq!(warnings, ["dropped:max_tool_calls", "dropped:truncation"]);
}

#[test]
fn keys_of_a_profile_change_what_they_say() {
    let body = json!({"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]});
    let claude = Route::new(Chat, UpstreamKind::Claude);
    assert_eq!(claude.sent(&body)["max_tokens"], 32_000);
    assert_eq!(claude.clone().with(json!({"default_max_tokens":8192})).sent(&body)["max_tokens"], 8192);
    assert!(!claude.sent(&body).to_string().contains("cache_control"));
    let marked = claude.clone().with(json!({"auto_cache":true})).sent(&body);
    assert_eq!(marked["system"][0]["cache_control"], json!({"type":"ephemeral"}));
    assert_eq!(marked["messages"][0]["content"][0]["cache_control"], json!({"type":"ephemeral"}));
    let off = claude.with(json!({"thinking":"none","default_effort":"high"}));
    assert_eq!(off.warnings(&body), ["dropped:thinking"]);
    let later = json!({"model":"m","max_output_tokens":50,"text":{"verbosity":"low"},"input":[{"role":"user","content":"a"},{"role":"developer","content":"b"}]});
    let openai = Route::new(Responses, UpstreamKind::Openai);
    assert_eq!(openai.sent(&later)["messages"][1], json!({"role":"system","content":"b"}));
    assert_eq!(openai.warnings(&later), ["dropped:verbosity"]);
    let strict = openai
        .with(json!({"single_system":true,"max_tokens_field":"max_completion_tokens","verbosity":true}))
        .sent(&later);
    assert_eq!(strict["messages"][1], json!({"role":"user","content":"<system-reminder>\nb\n</system-reminder>"}));
    assert_eq!((&strict["max_completion_tokens"], &strict["verbosity"]), (&json!(50), &json!("low")));
}

/// CLIProxyAPI #2172.
#[test]
fn a_thinking_signature_is_invalid_after_reserialisation_by_a_proxy() {
    let body = br#"{ "model":"m", "messages":[{"content":[{"signature":"s","type":"thinking","thinking":"\u0041"}],"role":"assistant"}] }"#;
    assert_eq!(headgate_wire::translate::same::restore(Claude, body, "m"), None, "its bytes are relayed as they are");
}

/// CLIProxyAPI #636, claude-code-proxy (fuergaosi233) #60.
#[test]
fn prompt_too_long_is_not_recognised() {
    for message in ["Input is longer than the context window", "This model's maximum context length is 8192 tokens"] {
        let body = json!({"error":{"message":message,"type":"invalid_request_error"}}).to_string();
        let (status, told) = super::driver::refusal(Claude, 400, body.as_bytes());
        let text = told["error"]["message"].as_str().unwrap();
        assert!(status == 400 && text.starts_with("prompt is too long"), "{text}");
    }
}

#[test]
fn the_built_in_shell_is_a_function_with_its_actions_members() {
    let action = json!({"type":"exec","command":["ls"],"env":{"A":"b"},"timeout_ms":5,"user":null});
    let body = json!({"model":"m","tools":[{"type":"local_shell"}],"input":[{"role":"user","content":"x"},
        {"type":"local_shell_call","id":"i","call_id":"c","action":action},{"type":"local_shell_call_output","id":"c","output":"{\"a\":1}"}]});
    let sent = Route::new(Responses, UpstreamKind::Claude).sent(&body);
    assert_eq!(sent["messages"][1]["content"][0]["input"], json!({"command":["ls"],"env":{"A":"b"},"timeout_ms":5}));
    assert_eq!(sent["messages"][2]["content"][0]["content"][0]["text"], "{\"a\":1}");
}

#[test]
fn what_a_model_adds_to_the_built_in_shells_action_is_left_out() {
    let body = json!({"model":"m","tools":[{"type":"local_shell"}],"input":[{"role":"user","content":"x"}]});
    let input = json!({"command":["ls"],"timeout_ms":5,"city":"Rome","type":"rm"});
    let answer = json!({"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use",
        "content":[{"type":"tool_use","id":"t","name":"local_shell","input":input}],"usage":{"input_tokens":1,"output_tokens":1}});
    let told = Route::new(Responses, UpstreamKind::Claude).answer_whole(&body, answer.to_string().as_bytes()).json();
    let action = &told["output"][0]["action"];
    assert_eq!(action, &json!({"type":"exec","command":["ls"],"timeout_ms":5,"env":{}}), "{told}");
}
