//! What has gone wrong in other gateways with tools and options, each under its symptom. The numbers are public issues.

use headgate_domain::{
    Protocol::{Chat, Claude, Responses},
    UpstreamKind,
};
use serde_json::{Value, json};

use super::driver::Route;

fn with(mut body: Value, members: Value) -> Value {
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    body
}

fn chat(members: Value) -> Value {
    with(json!({"model":"m","messages":[{"role":"user","content":"x"}]}), members)
}

fn responses(members: Value) -> Value {
    with(json!({"model":"m","input":"x"}), members)
}

fn claude(members: Value) -> Value {
    with(json!({"model":"m","max_tokens":9000,"messages":[{"role":"user","content":"x"}]}), members)
}

fn function(parameters: Value) -> Value {
    json!([{"type":"function","function":{"name":"f","parameters":parameters}}])
}

fn to_claude() -> Route {
    Route::new(Chat, UpstreamKind::Claude)
}

/// CLIProxyAPI #4146.
#[test]
fn thinking_text_is_always_empty_with_only_a_signature() {
    let sent = to_claude().sent(&chat(json!({"reasoning_effort":"low"})));
    assert_eq!(sent["thinking"], json!({"type":"adaptive","display":"summarized"}));
    let route = Route::new(Responses, UpstreamKind::Claude);
    let sent = route.sent(&responses(json!({"reasoning":{"effort":"low","summary":"auto"}})));
    assert_eq!(sent["thinking"]["display"], "summarized");
    assert!(route.sent(&responses(json!({"reasoning":{"effort":"low"}})))["thinking"].get("display").is_none());
}

/// CLIProxyAPI #1540.
#[test]
fn effort_is_silently_dropped() {
    for (effort, adaptive, budget) in [
        ("minimal", "low", 1024),
        ("low", "low", 2048),
        ("medium", "medium", 8192),
        ("high", "high", 16_384),
        ("xhigh", "xhigh", 24_576),
        ("max", "max", 30_976),
    ] {
        let body = chat(json!({"reasoning_effort":effort}));
        let all = json!({"efforts":["low","medium","high","xhigh","max"]});
        assert_eq!(to_claude().with(all).sent(&body)["output_config"]["effort"], adaptive);
        let manual = to_claude().with(json!({"thinking":"manual"})).sent(&body);
        assert_eq!(manual["thinking"], json!({"type":"enabled","budget_tokens":budget}));
    }
    for (budget, effort) in [(1024, "low"), (4096, "medium"), (12_288, "high"), (20_480, "xhigh")] {
        let body = claude(json!({"thinking":{"type":"enabled","budget_tokens":budget}}));
        assert_eq!(Route::new(Claude, UpstreamKind::OpenaiResponse).sent(&body)["reasoning"]["effort"], effort);
    }
    let route = Route::new(Chat, UpstreamKind::OpenaiResponse).with(json!({"default_effort":"medium"}));
    assert_eq!(route.sent(&chat(json!({})))["reasoning"]["effort"], "medium", "only when the client says nothing");
    assert_eq!(route.sent(&chat(json!({"reasoning_effort":"low"})))["reasoning"]["effort"], "low");
}

/// CLIProxyAPI #5280, #5533.
#[test]
fn structured_output_is_dropped() {
    let schema = json!({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]});
    let body = claude(json!({"output_config":{"format":{"type":"json_schema","schema":schema}}}));
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&body);
    assert_eq!(sent["response_format"]["json_schema"], json!({"name":"response","schema":schema,"strict":false}));
    let route = Route::new(Claude, UpstreamKind::Openai).with(json!({"structured_output":false}));
    assert_eq!(route.warnings(&body), ["dropped:response_format"]);
    assert_eq!(
        to_claude().warnings(&chat(json!({"response_format":{"type":"json_object"}}))),
        ["dropped:response_format"]
    );
}

/// LiteLLM #26444, copilot-sdk #1557, ComfyUI #13923.
#[test]
fn temperature_is_deprecated_for_this_model() {
    let body = chat(json!({"temperature":0.3,"top_p":0.9}));
    for upstream in [UpstreamKind::Claude, UpstreamKind::OpenaiResponse] {
        let route = Route::new(Chat, upstream).with(json!({"sampling":false}));
        assert_eq!(route.warnings(&body), ["dropped:temperature", "dropped:top_p"]);
    }
    let mut known = to_claude();
    known.model = "claude-opus-4-8".into();
    assert!(known.sent(&body).get("temperature").is_none(), "without any profile");
}

/// CLIProxyAPI #1125, #193.
#[test]
fn temperature_and_top_p_together_are_400() {
    let sent = to_claude().sent(&chat(json!({"temperature":0.3,"top_p":0.9})));
    assert!(sent["temperature"] == 0.3 && sent.get("top_p").is_none());
    assert_eq!(to_claude().sent(&chat(json!({"top_p":0.9})))["top_p"], 0.9);
}

/// antigravity2api-nodejs #149, clove #39.
#[test]
fn a_budget_not_below_max_tokens_is_400() {
    let manual = to_claude().with(json!({"thinking":"manual"}));
    for (limit, budget) in [(100_000, Some(30_976)), (4000, Some(2976)), (2048, Some(1024)), (2047, None)] {
        let body = chat(json!({"reasoning_effort":"max","max_tokens":limit}));
        let sent = manual.sent(&body);
        assert_eq!(sent["thinking"]["budget_tokens"].as_u64(), budget, "{sent}");
        assert_eq!(sent["max_tokens"], limit);
    }
}

/// mastra #7507, claude-code #19414; DeepSeek and Qwen: eino #994, opencode-mem #253.
#[test]
fn thinking_with_a_forced_tool_is_400() {
    let options = json!({"reasoning_effort":"high","tools":function(json!({})),"tool_choice":"required"});
    let sent = to_claude().sent(&chat(options));
    assert!(sent.get("thinking").is_none() && sent["output_config"]["effort"] == "high", "the tool wins");
    let options =
        json!({"thinking":{"type":"adaptive"},"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"any"}});
    let route = Route::new(Claude, UpstreamKind::Openai);
    assert_eq!(route.sent(&claude(options.clone()))["reasoning_effort"], "high");
    for base in ["deepseek", "qwen"] {
        let vendor = route.clone().with(json!({"base":base}));
        assert!(vendor.sent(&claude(options.clone())).get("reasoning_effort").is_none());
        assert!(vendor.warnings(&claude(options.clone())).contains(&"dropped:thinking".to_owned()));
    }
}

/// cc-switch #4783, #4901, #4793.
#[test]
fn parameters_null_got_type_null() {
    for upstream in [UpstreamKind::Claude, UpstreamKind::OpenaiResponse] {
        let sent = Route::new(Chat, upstream).sent(&chat(json!({"tools":function(Value::Null)}))).to_string();
        assert!(sent.contains(r#"{"type":"object","properties":{}}"#), "{sent}");
    }
}

/// cc-switch #4360, #7548.
#[test]
fn required_null_is_not_of_type_array() {
    let schema =
        json!({"type":"object","properties":{"a":{"type":"object","properties":null,"required":null}},"required":null});
    let sent = Route::new(Chat, UpstreamKind::OpenaiResponse).sent(&chat(json!({"tools":function(schema)})));
    assert_eq!(
        sent["tools"][0]["parameters"],
        json!({"type":"object","properties":{"a":{"type":"object","properties":{}}}})
    );
}

/// cc-switch #5263, claude-code #27337, opencode #35516.
#[test]
fn a_top_level_union_without_a_type_is_refused() {
    let schema = json!({"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]});
    let merged = json!({"type":"object","properties":{"a":{},"b":{}}});
    assert_eq!(to_claude().sent(&chat(json!({"tools":function(schema.clone())})))["tools"][0]["input_schema"], merged);
    let tools = json!([{"type":"function","name":"f","parameters":schema}]);
    let sent = Route::new(Responses, UpstreamKind::Openai).sent(&responses(json!({"tools":tools})));
    assert_eq!(sent["tools"][0]["function"]["parameters"], merged);
}

/// cc-switch #6861, #7028.
#[test]
fn a_stricter_schema_dialect_refuses_a_reference_beside_a_type() {
    let schema = json!({"type":"object","properties":{"a":{"$ref":"#/$defs/x","type":"string"}},"$defs":{"x":{"type":"string"}}});
    let body = claude(json!({"tools":[{"name":"f","input_schema":schema}]}));
    let route = Route::new(Claude, UpstreamKind::Openai);
    let parameters = |route: &Route| route.sent(&body)["tools"][0]["function"]["parameters"]["properties"]["a"].clone();
    assert_eq!(parameters(&route), json!({"$ref":"#/$defs/x","type":"string"}));
    assert_eq!(parameters(&route.with(json!({"base":"kimi"}))), json!({"$ref":"#/$defs/x"}));
}

/// ccx #43, cc-switch #3549, #3552; sub2api #4710.
#[test]
fn apply_patch_becomes_a_function_without_properties_and_namespaces_are_filtered_out() {
    let grammar = json!({"type":"grammar","syntax":"lark","definition":"start: X"});
    let tools = json!([{"type":"custom","name":"apply_patch","description":"Edit.","format":grammar},
        {"type":"namespace","name":"n__","tools":[{"type":"custom","name":"exec"},{"type":"function","name":"wait","strict":true}]}]);
    for (upstream, schema, name) in [
        (UpstreamKind::Claude, "/tools/0/input_schema", "/tools/1/name"),
        (UpstreamKind::Openai, "/tools/0/function/parameters", "/tools/1/function/name"),
    ] {
        let sent = Route::new(Responses, upstream).sent(&responses(json!({"tools":tools})));
        assert_eq!(sent.pointer(schema).unwrap()["required"], json!(["input"]));
        assert_eq!(sent.pointer(name).unwrap(), "n__exec");
        assert!(sent.to_string().contains("lark grammar:\\nstart: X"), "{sent}");
        let described = |n: usize| {
            let tool = &sent["tools"][n];
            tool.get("function").unwrap_or(tool)["description"].as_str().unwrap().to_owned()
        };
        assert!(described(0).starts_with("Edit.\n\nThe member `input`"), "{}", described(0));
        assert!(described(1).starts_with("The member `input`"), "{}", described(1));
    }
    let lite = json!([{"type":"additional_tools","role":"developer","tools":tools},{"role":"user","content":"x"}]);
    let sent = Route::new(Responses, UpstreamKind::Claude).sent(&json!({"model":"m","input":lite}));
    assert_eq!(sent["tools"].as_array().unwrap().len(), 3, "tools inside the input");
    let native = Route::new(Responses, UpstreamKind::Openai).with(json!({"custom_tools":true}));
    assert_eq!(
        native.sent(&responses(json!({"tools":tools})))["tools"][0]["custom"]["format"]["grammar"]["syntax"],
        "lark"
    );
}

/// oh-my-claudecode #241, claude-mem #360.
#[test]
fn tool_names_over_64_are_refused() {
    let long = "mcp__".to_owned() + &"x".repeat(80);
    let tools = json!([{"name":long,"input_schema":{}},{"name":long.clone() + "y","input_schema":{}},{"name":"with space","input_schema":{}}]);
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&claude(json!({"tools":tools})));
    let names: Vec<&str> = (0..3).map(|n| sent["tools"][n]["function"]["name"].as_str().unwrap()).collect();
    assert!(names.iter().all(|n| n.len() <= 64 && !n.contains(' ')) && names[0] != names[1], "{names:?}");
}

/// ChatMock #103, suna #5124, sub2api #3954, BYOKEY #69, software-agent-sdk #2797.
#[test]
fn codex_refuses_a_token_limit_a_temperature_and_much_else() {
    let body = chat(json!({"max_tokens":5,"temperature":1,"service_tier":"flex","user":"u","metadata":{}}));
    let route = Route::new(Chat, UpstreamKind::Codex);
    let sent = route.sent(&body);
    for member in ["max_output_tokens", "temperature", "service_tier", "user", "metadata"] {
        assert!(sent.get(member).is_none(), "{member}");
    }
    assert_eq!((&sent["store"], &sent["stream"]), (&json!(false), &json!(true)));
    assert_eq!(route.warnings(&body), ["dropped:max_tokens", "dropped:temperature", "dropped:service_tier"]);
    assert!(route.request(&body).unwrap().stream && !sent.to_string().contains("\"system\""));
    let own = json!({"model":"m","input":"x","temperature":1,"max_output_tokens":5});
    assert!(Route::new(Responses, UpstreamKind::Codex).warnings(&own).is_empty(), "silent for its own clients");
}

/// Cogtrix #2376.
#[test]
fn the_usage_of_a_vendor_is_never_requested() {
    let body = claude(json!({"stream":true}));
    let route = Route::new(Claude, UpstreamKind::Openai);
    assert_eq!(route.sent(&body)["stream_options"], json!({"include_usage":true}));
    assert!(route.with(json!({"usage_chunk":false})).sent(&body).get("stream_options").is_none());
}

/// LiteLLM #3286.
#[test]
fn a_stop_entry_of_only_white_space_is_400() {
    let body = chat(json!({"stop":["\n\n","END"]}));
    assert_eq!(to_claude().sent(&body)["stop_sequences"], json!(["END"]));
    assert_eq!(to_claude().warnings(&body), ["dropped:stop"]);
    let body = claude(json!({"stop_sequences":["a","b","c","d","e"]}));
    assert_eq!(Route::new(Claude, UpstreamKind::Openai).sent(&body)["stop"], json!(["a", "b", "c", "d"]));
}

/// Claude Code sends these with its newest models.
#[test]
fn the_billing_header_and_effort_of_a_single_turn_do_not_get_lost_or_in_the_way() {
    let body = json!({"model":"m","max_tokens":5,"system":[{"type":"text","text":"x-anthropic-billing-header: a"},{"type":"text","text":"s"}],
        "messages":[{"role":"user","content":"x"},{"role":"system","content":"now","output_config":{"effort":"low"}}],
        "output_config":{"effort":"high"},"context_management":{"edits":[]}});
    let sent = Route::new(Claude, UpstreamKind::Openai).sent(&body);
    assert_eq!(sent["messages"][0], json!({"role":"system","content":"s"}));
    assert_eq!(sent["messages"][2], json!({"role":"system","content":"now"}));
    assert_eq!(sent["reasoning_effort"], "low");
}

#[test]
fn a_forced_tool_that_has_to_be_dropped_refuses_the_request() {
    let body = claude(
        json!({"tools":[{"type":"bash_20250124","name":"bash"},{"name":"f","input_schema":{}}],"tool_choice":{"type":"tool","name":"bash"}}),
    );
    let refused = Route::new(Claude, UpstreamKind::Openai).request(&body).unwrap_err();
    assert_eq!((refused.code(), refused.param.as_deref()), ("unsupported_parameter", Some("tool_choice")));
    let body = claude(json!({"tools":[{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"any"}}));
    let route = Route::new(Claude, UpstreamKind::Openai);
    assert!(route.sent(&body).get("tool_choice").is_none());
    assert_eq!(route.warnings(&body), ["dropped:tool:bash_20250124"]);
}

#[test]
fn a_choice_among_some_tools_reduces_the_tools() {
    let tools = json!([{"type":"function","name":"a"},{"type":"function","name":"b"}]);
    let choice = json!({"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"b"}]});
    let sent =
        Route::new(Responses, UpstreamKind::Claude).sent(&responses(json!({"tools":tools,"tool_choice":choice})));
    assert_eq!(sent["tools"].as_array().unwrap().len(), 1);
    assert_eq!(sent["tool_choice"], json!({"type":"any"}));
}

#[test]
fn thinking_switched_off_is_said_where_it_can_be_and_told_where_it_cannot() {
    let off = claude(json!({"thinking":{"type":"disabled"}}));
    let chat_route = Route::new(Claude, UpstreamKind::Openai);
    assert!(chat_route.sent(&off).get("reasoning_effort").is_none());
    assert_eq!(chat_route.warnings(&off), ["dropped:effort"]);
    let route = Route::new(Claude, UpstreamKind::OpenaiResponse);
    assert_eq!(route.sent(&off)["reasoning"], json!({"effort":"none"}));
    assert!(route.warnings(&off).is_empty());
    let none = chat(json!({"reasoning_effort":"none"}));
    assert_eq!(to_claude().sent(&none)["thinking"], json!({"type":"disabled"}));
    assert!(to_claude().with(json!({"thinking":"none"})).sent(&none).get("thinking").is_none());
    assert_eq!(to_claude().warnings(&chat(json!({"reasoning_effort":"ultra"}))), ["dropped:effort"]);
}

#[test]
fn a_web_search_keeps_its_domains_and_place() {
    let location = json!({"type":"approximate","country":"FR"});
    let tool = json!([{"type":"web_search","filters":{"allowed_domains":["a.test"],"blocked_domains":["b.test"]},"user_location":location}]);
    let sent = Route::new(Responses, UpstreamKind::Claude).sent(&responses(json!({"tools":tool})));
    let expected = json!({"type":"web_search_20250305","name":"web_search","allowed_domains":["a.test"],"blocked_domains":["b.test"],"user_location":location});
    assert_eq!(sent["tools"], json!([expected]));
    let bare =
        Route::new(Responses, UpstreamKind::Claude).sent(&responses(json!({"tools":[{"type":"web_search_preview"}]})));
    assert_eq!(bare["tools"], json!([{"type":"web_search_20250305","name":"web_search"}]));
    let route = Route::new(Claude, UpstreamKind::OpenaiResponse);
    assert_eq!(route.warnings(&claude(json!({"tools":[expected]}))), ["dropped:blocked_domains"]);
    let sent = route.sent(&claude(json!({"tools":[expected],"tool_choice":{"type":"tool","name":"web_search"}})));
    assert_eq!(
        sent["tools"],
        json!([{"type":"web_search","filters":{"allowed_domains":["a.test"]},"user_location":location}])
    );
    // The SDKs' types have no other way to name it.
    let only = json!({"type":"allowed_tools","mode":"required","tools":[{"type":"web_search"}]});
    assert_eq!(sent["tool_choice"], only);
}

#[test]
fn sampling_fields_go_where_they_are_known() {
    let body = chat(json!({"top_k":5,"top_p":0.96,"reasoning_effort":"low","temperature":1}));
    let sent = to_claude().sent(&body);
    assert!(sent["temperature"] == 1 && sent.get("top_k").is_none(), "{sent}");
    assert_eq!(to_claude().warnings(&body), ["dropped:top_p", "dropped:top_k"]);
    let plain = chat(json!({"top_k":5}));
    assert_eq!(to_claude().sent(&plain)["top_k"], 5);
    assert_eq!(Route::new(Chat, UpstreamKind::OpenaiResponse).warnings(&plain), ["dropped:top_k"]);
    let thinking = chat(json!({"top_p":0.96,"reasoning_effort":"low"}));
    assert_eq!(to_claude().sent(&thinking)["top_p"], 0.96);
    assert_eq!(to_claude().warnings(&chat(json!({"top_p":0.9,"reasoning_effort":"low"}))), ["dropped:top_p"]);
}

#[test]
fn identity_and_tier_are_carried_over() {
    let sent = to_claude().sent(&chat(json!({"user":"u","service_tier":"default"})));
    assert_eq!((&sent["metadata"]["user_id"], &sent["service_tier"]), (&json!("u"), &json!("standard_only")));
    assert_eq!(to_claude().sent(&chat(json!({"service_tier":"auto"})))["service_tier"], "auto");
    let route = Route::new(Chat, UpstreamKind::OpenaiResponse);
    let sent = route.sent(&chat(json!({"user":"u","service_tier":"flex","prompt_cache_key":"k"})));
    assert_eq!(
        (&sent["user"], &sent["service_tier"], &sent["prompt_cache_key"]),
        (&json!("u"), &json!("flex"), &json!("k"))
    );
    for (user_id, key) in [("user_1_account__session_xyz", "xyz"), ("plain", "a116c9ed46d6207734a43317d30fd88f")] {
        let body = claude(json!({"metadata":{"user_id":user_id},"speed":"fast"}));
        let sent = Route::new(Claude, UpstreamKind::OpenaiResponse).sent(&body);
        assert_eq!(sent["service_tier"], "priority");
        assert_eq!(sent["prompt_cache_key"], key);
        assert_eq!(Route::new(Claude, UpstreamKind::Openai).sent(&body)["user"], user_id);
    }
    assert_eq!(
        Route::new(Claude, UpstreamKind::Openai).sent(&claude(json!({"service_tier":"standard_only"})))["service_tier"],
        "default"
    );
}

#[test]
fn an_effort_the_model_does_not_have_is_clamped_and_told() {
    let wished = |word: &str| chat(json!({"reasoning_effort":word}));
    assert_eq!(to_claude().sent(&wished("max"))["output_config"]["effort"], "high");
    assert_eq!(to_claude().warnings(&wished("max")), ["clamped:effort"]);
    assert!(to_claude().warnings(&wished("minimal")).is_empty(), "only another word for Claude's lowest");
    assert!(to_claude().with(json!({"default_effort":"max"})).warnings(&chat(json!({}))).is_empty(), "nobody asked");
    let route = Route::new(Responses, UpstreamKind::Openai);
    let body = responses(json!({"reasoning":{"effort":"xhigh"}}));
    assert_eq!(
        (&route.sent(&body)["reasoning_effort"], route.warnings(&body)),
        (&json!("high"), vec!["clamped:effort".to_owned()])
    );
}

#[test]
fn a_search_for_tools_is_a_function_for_others_and_comes_back_as_its_own_call() {
    let search = json!({"type":"tool_search","execution":"client","description":"Finds tools.","parameters":{"type":"object","properties":{"query":{"type":"string"}}}});
    let found = json!({"type":"function","name":"late","parameters":{"type":"object","properties":{}}});
    let body = json!({"model":"m","tools":[search, {"type":"tool_search","execution":"server"}],"input":[
        {"role":"user","content":"x"},
        {"type":"tool_search_call","call_id":"c","execution":"client","arguments":{"query":"q"}},
        {"type":"tool_search_output","call_id":"c","tools":[found]},
        {"type":"tool_search_call","call_id":"d","arguments":{}},{"type":"tool_search_output","call_id":"d","tools":[]}]});
    let route = Route::new(Responses, UpstreamKind::Openai);
    let sent = route.sent(&body);
    let names: Vec<&Value> = sent["tools"].as_array().unwrap().iter().map(|t| &t["function"]["name"]).collect();
    assert_eq!(names, ["tool_search", "late"]);
    assert_eq!(sent["messages"][1]["tool_calls"][0]["function"]["arguments"], "{\"query\":\"q\"}");
    assert_eq!(
        (&sent["messages"][2]["content"], &sent["messages"][4]["content"]),
        (&json!("Tools found: late"), &json!("Tools found: none"))
    );
    let call = json!({"choices":[{"index":0,"message":{"content":null,"tool_calls":[{"id":"e","function":{"name":"tool_search","arguments":"{\"query\":\"r\"}"}}]},"finish_reason":"tool_calls"}]});
    let item = route.answer_whole(&body, call.to_string().as_bytes()).json()["output"][0].clone();
    assert_eq!(
        (&item["type"], &item["call_id"], &item["arguments"]),
        (&json!("tool_search_call"), &json!("e"), &json!({"query":"r"}))
    );
}

#[test]
fn a_named_schema_keeps_its_name_description_and_strictness() {
    let schema = json!({"type":"object","properties":{},"additionalProperties":false});
    let format = json!({"name":"n","description":"d","schema":schema,"strict":true});
    let body = chat(json!({"response_format":{"type":"json_schema","json_schema":format}}));
    let sent = Route::new(Chat, UpstreamKind::OpenaiResponse).sent(&body);
    assert_eq!(
        sent["text"]["format"],
        json!({"type":"json_schema","name":"n","description":"d","schema":schema,"strict":true})
    );
    let back = responses(json!({"text":{"format":sent["text"]["format"]}}));
    assert_eq!(Route::new(Responses, UpstreamKind::Openai).sent(&back)["response_format"]["json_schema"], format);
    let object = responses(json!({"text":{"format":{"type":"json_object"}}}));
    assert_eq!(
        Route::new(Responses, UpstreamKind::Openai).sent(&object)["response_format"],
        json!({"type":"json_object"})
    );
    let object = chat(json!({"response_format":{"type":"json_object"}}));
    assert_eq!(
        Route::new(Chat, UpstreamKind::OpenaiResponse).sent(&object)["text"]["format"],
        json!({"type":"json_object"})
    );
}

#[test]
fn known_models_need_no_profile() {
    let mut route = Route::new(Claude, UpstreamKind::Openai);
    route.model = "gpt-5.5".into();
    let sent =
        route.sent(&claude(json!({"temperature":1,"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}})));
    assert_eq!((&sent["max_completion_tokens"], &sent["reasoning_effort"]), (&json!(9000), &json!("xhigh")));
    assert!(sent.get("max_tokens").is_none() && sent.get("temperature").is_none());
    let mut route = to_claude();
    route.model = "claude-haiku-4-5".into();
    assert_eq!(route.sent(&chat(json!({"reasoning_effort":"low"})))["thinking"]["budget_tokens"], 2048);
}

#[test]
fn a_limit_of_no_tokens_is_refused_before_any_upstream_is_called() {
    for (client, body, member) in [
        (Chat, chat(json!({"max_tokens":0})), "max_tokens"),
        (Chat, chat(json!({"max_completion_tokens":0})), "max_completion_tokens"),
        (Responses, responses(json!({"max_output_tokens":0})), "max_output_tokens"),
        (Claude, claude(json!({"max_tokens":0})), "max_tokens"),
    ] {
        let upstream = if client == Claude { UpstreamKind::Openai } else { UpstreamKind::Claude };
        let refused = Route::new(client, upstream).request(&body).unwrap_err();
        assert_eq!(refused.param.as_deref(), Some(member), "{refused:?}");
    }
}

#[test]
fn a_limit_below_what_responses_takes_is_raised_and_said_so() {
    for (limit, sent, warned) in [(5, 16, true), (15, 16, true), (16, 16, false), (17, 17, false)] {
        let body = chat(json!({"max_tokens":limit}));
        let route = Route::new(Chat, UpstreamKind::OpenaiResponse);
        assert_eq!(route.sent(&body)["max_output_tokens"], sent);
        assert_eq!(route.warnings(&body).contains(&"clamped:max_output_tokens".to_owned()), warned, "{limit}");
    }
}

#[test]
fn an_effort_of_none_is_only_sent_where_it_is_a_word() {
    let body = chat(json!({"reasoning_effort":"none"}));
    for (efforts, sent) in [
        (json!(["none", "low", "high"]), Some(json!("none"))),
        (json!(["low", "high"]), None),
        (json!(["none"]), Some(json!("none"))),
    ] {
        let route = Route::new(Chat, UpstreamKind::OpenaiResponse).with(json!({"efforts":efforts}));
        assert_eq!(route.sent(&body).pointer("/reasoning/effort").cloned(), sent, "{efforts}");
    }
}

#[test]
fn the_first_tool_of_a_name_counts_and_one_name_in_two_namespaces_is_two_tools() {
    let tool = |name: &str, description: &str| json!({"type":"function","name":name,"description":description});
    let inside = |space: &str| json!({"type":"namespace","name":space,"tools":[tool("f", space)]});
    let tools = json!([tool("f", "first"), tool("f", "second"), inside("a"), inside("b"), inside("a")]);
    let sent = Route::new(Responses, UpstreamKind::Claude).sent(&responses(json!({"tools":tools})));
    let told = |member: &str| {
        sent["tools"].as_array().unwrap().iter().map(|t| t[member].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told("name"), ["f", "a__f", "b__f"]);
    assert_eq!(told("description"), ["first", "a", "b"]);
}
