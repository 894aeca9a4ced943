//! What the fake upstream says: documents and events of each protocol.

use serde_json::{Value, json};

use super::Behaviour;

/// The text of every normal answer.
pub const TEXT: &str = "HEADGATE-OK";
/// The mark that a tool call prints.
pub const MARK: &str = "headgate-tool-ok";
/// What it thinks, when it is told to.
pub const THOUGHT: &str = "let me see";

/// A protocol, by the route called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
    /// Messages.
    Claude,
}

/// The protocol of a path.
pub fn kind(path: &str) -> Option<Kind> {
    if path.ends_with("/chat/completions") {
        Some(Kind::Chat)
    } else if path.ends_with("/responses") {
        Some(Kind::Responses)
    } else if path.ends_with("/messages") {
        Some(Kind::Claude)
    } else {
        None
    }
}

/// What is in an answer.
enum Content {
    Nothing,
    Text(Vec<String>),
    Call(Call),
}

struct Call {
    name: String,
    namespace: Option<String>,
    /// Freeform input, or JSON arguments.
    input: String,
    freeform: bool,
}

/// Whether the conversation already holds a tool's result.
fn has_result(body: &Value) -> bool {
    let text = body.to_string();
    ["\"role\":\"tool\"", "\"tool_result\"", "\"function_call_output\"", "\"custom_tool_call_output\""]
        .iter()
        .any(|m| text.contains(m))
}

/// A tool of the request that runs a shell command.
fn shell_tool(body: &Value) -> Option<Call> {
    let mut tools: Vec<(Value, Option<String>)> = Vec::new();
    let mut collect = |list: &Value| {
        for tool in list.as_array().into_iter().flatten() {
            if tool["type"] == "namespace" {
                let name = tool["name"].as_str().map(str::to_owned);
                tools.extend(tool["tools"].as_array().into_iter().flatten().map(|t| (t.clone(), name.clone())));
            } else {
                tools.push((tool.clone(), None));
            }
        }
    };
    collect(&body["tools"]);
    for item in body["input"].as_array().into_iter().flatten() {
        if item["type"] == "additional_tools" {
            collect(&item["tools"]);
        }
    }
    let command = format!("echo {MARK}");
    let script = format!("const r = await tools.exec_command({{cmd: \"{command}\"}}); text(JSON.stringify(r));");
    let call = |name: &str, namespace: Option<String>, input: String, freeform| {
        Some(Call { name: name.to_owned(), namespace, input, freeform })
    };
    for (tool, namespace) in tools {
        let name = tool["name"].as_str().or_else(|| tool["function"]["name"].as_str()).unwrap_or_default();
        // The last part of a name that was flattened out of its namespace.
        match name.rsplit("__").next().unwrap_or(name) {
            "exec_command" => return call(name, namespace, json!({"cmd": command}).to_string(), false),
            "Bash" | "bash" => {
                return call(name, namespace, json!({"command": command, "description": "say it"}).to_string(), false);
            }
            "exec" if tool["type"] == "custom" => return call(name, namespace, script, true),
            // A free-form tool in a protocol that has only functions.
            "exec" => return call(name, namespace, json!({"input": script}).to_string(), false),
            _ => {}
        }
    }
    None
}

fn content(body: &Value, behaviour: &Behaviour) -> Content {
    if behaviour.empty {
        return Content::Nothing;
    }
    if behaviour.tool
        && !has_result(body)
        && let Some(call) = shell_tool(body)
    {
        return Content::Call(call);
    }
    let pieces = behaviour.pieces.max(2);
    let mut text: Vec<String> = vec!["HEAD".to_owned(), "GATE-OK".to_owned()];
    text.extend((2..pieces).map(|n| format!(" {n}")));
    Content::Text(text)
}

fn model(body: &Value, behaviour: &Behaviour) -> String {
    behaviour.model.clone().unwrap_or_else(|| body["model"].as_str().unwrap_or_default().to_owned())
}

/// The answer as one document.
pub fn document(kind: Kind, body: &Value, behaviour: &Behaviour) -> Value {
    let model = model(body, behaviour);
    let content = content(body, behaviour);
    match kind {
        Kind::Chat => {
            let (mut message, finish) = match content {
                Content::Nothing => (json!({"role":"assistant","content":null}), "stop"),
                Content::Text(text) => (json!({"role":"assistant","content":text.concat(),"refusal":null}), "stop"),
                Content::Call(c) => (
                    json!({"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":c.name,"arguments":c.input}}]}),
                    "tool_calls",
                ),
            };
            if behaviour.reasoning {
                message["reasoning_content"] = json!(THOUGHT);
            }
            let output = if behaviour.empty { 0 } else { 7 };
            json!({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":model,
                "choices":[{"index":0,"message":message,"logprobs":null,"finish_reason":finish}],
                "usage":{"prompt_tokens":11,"completion_tokens":output,"total_tokens":11+output,"prompt_tokens_details":{"cached_tokens":3}}})
        }
        Kind::Claude => {
            let (block, stop) = match content {
                Content::Nothing => (None, "end_turn"),
                Content::Text(text) => (Some(json!({"type":"text","text":text.concat()})), "end_turn"),
                Content::Call(c) => (
                    Some(
                        json!({"type":"tool_use","id":"toolu_1","name":c.name,"input":serde_json::from_str::<Value>(&c.input).unwrap_or_default()}),
                    ),
                    "tool_use",
                ),
            };
            let thought = json!({"type":"thinking","thinking":THOUGHT,"signature":"c2VhbA=="});
            let blocks: Vec<Value> = behaviour.reasoning.then_some(thought).into_iter().chain(block).collect();
            let output = if behaviour.empty { 0 } else { 7 };
            json!({"id":"msg_1","type":"message","role":"assistant","model":model,"content":blocks,"stop_reason":stop,
                "stop_sequence":null,"usage":{"input_tokens":8,"cache_read_input_tokens":3,"cache_creation_input_tokens":0,"output_tokens":output}})
        }
        Kind::Responses => {
            let thought = behaviour.reasoning.then(thought_item);
            response(&model, "completed", thought.into_iter().chain(items(&content)).collect(), behaviour)
        }
    }
}

fn response(model: &str, status: &str, output: Vec<Value>, behaviour: &Behaviour) -> Value {
    let tokens = if behaviour.empty { 0 } else { 7 };
    let usage = if status == "in_progress" {
        Value::Null
    } else {
        json!({"input_tokens":11,"input_tokens_details":{"cached_tokens":3},"output_tokens":tokens,
            "output_tokens_details":{"reasoning_tokens":0},"total_tokens":11+tokens})
    };
    json!({"id":"resp_1","object":"response","created_at":1,"status":status,"model":model,"output":output,"error":null,
        "incomplete_details":null,"instructions":null,"metadata":{},"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":usage})
}

fn thought_item() -> Value {
    json!({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":THOUGHT}],"encrypted_content":"c2VhbA=="})
}

fn items(content: &Content) -> Vec<Value> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Text(text) => vec![json!({"id":"msg_1","type":"message","status":"completed","role":"assistant",
            "content":[{"type":"output_text","text":text.concat(),"annotations":[]}]})],
        Content::Call(c) => {
            let mut item = if c.freeform {
                json!({"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"call_1","name":c.name,"input":c.input})
            } else {
                json!({"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":c.name,"arguments":c.input})
            };
            if let Some(namespace) = &c.namespace {
                item["namespace"] = json!(namespace);
            }
            vec![item]
        }
    }
}

/// An event of the protocol.
fn event(kind: Kind, value: &Value) -> String {
    match kind {
        Kind::Chat => format!("data: {value}\n\n"),
        _ => format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default()),
    }
}

/// The answer as events; the last one (two for Chat) completes it.
pub fn events(kind: Kind, body: &Value, behaviour: &Behaviour) -> Vec<String> {
    let model = model(body, behaviour);
    let content = content(body, behaviour);
    let list: Vec<Value> = match kind {
        Kind::Chat => chat(&model, content, body, behaviour),
        Kind::Claude => claude(&model, content, behaviour),
        Kind::Responses => responses(&model, content, behaviour),
    };
    let mut events: Vec<String> = list.iter().map(|v| event(kind, v)).collect();
    if kind == Kind::Chat {
        events.push("data: [DONE]\n\n".to_owned());
    }
    events
}

fn chat(model: &str, content: Content, body: &Value, behaviour: &Behaviour) -> Vec<Value> {
    let chunk = |delta: Value, finish: Value| {
        json!({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":model,
            "choices":[{"index":0,"delta":delta,"logprobs":null,"finish_reason":finish}]})
    };
    let mut all = vec![chunk(json!({"role":"assistant","content":""}), Value::Null)];
    if behaviour.reasoning {
        all.push(chunk(json!({"reasoning_content":THOUGHT}), Value::Null));
    }
    let mut finish = "stop";
    match content {
        Content::Nothing => {}
        Content::Text(text) => all.extend(text.iter().map(|t| chunk(json!({"content":t}), Value::Null))),
        Content::Call(c) => {
            finish = "tool_calls";
            all.push(chunk(json!({"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":c.name,"arguments":""}}]}), Value::Null));
            all.push(chunk(json!({"tool_calls":[{"index":0,"function":{"arguments":c.input}}]}), Value::Null));
        }
    }
    all.push(chunk(json!({}), json!(finish)));
    if body["stream_options"]["include_usage"] == true {
        let output = if behaviour.empty { 0 } else { 7 };
        all.push(json!({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":model,"choices":[],
            "usage":{"prompt_tokens":11,"completion_tokens":output,"total_tokens":11+output,"prompt_tokens_details":{"cached_tokens":3}}}));
    }
    all
}

fn claude(model: &str, content: Content, behaviour: &Behaviour) -> Vec<Value> {
    let mut all = vec![
        json!({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":model,
        "content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":8,"cache_read_input_tokens":3,"cache_creation_input_tokens":0,"output_tokens":1}}}),
    ];
    let index = i32::from(behaviour.reasoning);
    if behaviour.reasoning {
        all.push(json!({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}));
        all.push(json!({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":THOUGHT}}));
        all.push(
            json!({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2VhbA=="}}),
        );
        all.push(json!({"type":"content_block_stop","index":0}));
    }
    let mut stop = "end_turn";
    match content {
        Content::Nothing => {}
        Content::Text(text) => {
            all.push(json!({"type":"content_block_start","index":index,"content_block":{"type":"text","text":""}}));
            all.extend(
                text.iter().map(
                    |t| json!({"type":"content_block_delta","index":index,"delta":{"type":"text_delta","text":t}}),
                ),
            );
            all.push(json!({"type":"content_block_stop","index":index}));
        }
        Content::Call(c) => {
            stop = "tool_use";
            all.push(json!({"type":"content_block_start","index":index,"content_block":{"type":"tool_use","id":"toolu_1","name":c.name,"input":{}}}));
            all.push(json!({"type":"content_block_delta","index":index,"delta":{"type":"input_json_delta","partial_json":c.input}}));
            all.push(json!({"type":"content_block_stop","index":index}));
        }
    }
    let output = if behaviour.empty { 0 } else { 7 };
    all.push(json!({"type":"message_delta","delta":{"stop_reason":stop,"stop_sequence":null},"usage":{"output_tokens":output}}));
    all.push(json!({"type":"message_stop"}));
    all
}

fn responses(model: &str, content: Content, behaviour: &Behaviour) -> Vec<Value> {
    let mut all = vec![
        json!({"type":"response.created","response":response(model, "in_progress", Vec::new(), behaviour)}),
        json!({"type":"response.in_progress","response":response(model, "in_progress", Vec::new(), behaviour)}),
    ];
    let index = i32::from(behaviour.reasoning);
    if behaviour.reasoning {
        all.push(json!({"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}));
        all.push(json!({"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}));
        all.push(json!({"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":THOUGHT}));
        all.push(json!({"type":"response.output_item.done","output_index":0,"item":thought_item()}));
    }
    let mut done = items(&content);
    if let (Some(item), Content::Text(text)) = (done.first(), &content) {
        all.push(json!({"type":"response.output_item.added","output_index":index,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}));
        all.push(json!({"type":"response.content_part.added","item_id":"msg_1","output_index":index,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}));
        all.extend(text.iter().map(|t| json!({"type":"response.output_text.delta","item_id":"msg_1","output_index":index,"content_index":0,"delta":t})));
        all.push(json!({"type":"response.output_text.done","item_id":"msg_1","output_index":index,"content_index":0,"text":text.concat()}));
        all.push(json!({"type":"response.content_part.done","item_id":"msg_1","output_index":index,"content_index":0,"part":item["content"][0]}));
        all.push(json!({"type":"response.output_item.done","output_index":index,"item":item}));
    } else if let Some(item) = done.first() {
        let mut opened = item.clone();
        opened["status"] = json!("in_progress");
        let (member, event) = match item["type"].as_str() {
            Some("custom_tool_call") => ("input", "response.custom_tool_call_input"),
            _ => ("arguments", "response.function_call_arguments"),
        };
        opened[member] = json!("");
        all.push(json!({"type":"response.output_item.added","output_index":index,"item":opened}));
        let id = &item["id"];
        all.push(json!({"type":format!("{event}.delta"),"item_id":id,"output_index":index,"delta":item[member]}));
        all.push(json!({"type":format!("{event}.done"),"item_id":id,"output_index":index,"name":item["name"],member:item[member]}));
        all.push(json!({"type":"response.output_item.done","output_index":index,"item":item}));
    }
    if behaviour.reasoning {
        done.insert(0, thought_item());
    }
    all.push(json!({"type":"response.completed","response":response(model, "completed", done, behaviour)}));
    for (number, event) in all.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    all
}

/// An error document with the usual words of a status.
pub fn error(kind: Kind, status: u16) -> Value {
    let (kind_word, code) = match status {
        400 | 422 => ("invalid_request_error", "invalid_value"),
        401 => ("authentication_error", "invalid_api_key"),
        402 => ("billing_error", "insufficient_quota"),
        403 => ("permission_error", "forbidden"),
        404 => ("not_found_error", "model_not_found"),
        413 => ("request_too_large", "request_too_large"),
        429 => ("rate_limit_error", "rate_limit_exceeded"),
        503 | 529 => ("overloaded_error", "server_is_overloaded"),
        _ => ("api_error", "server_error"),
    };
    let message = format!("the fake upstream says {status}");
    match kind {
        Kind::Claude => json!({"type":"error","error":{"type":kind_word,"message":message}}),
        _ => json!({"error":{"message":message,"type":kind_word,"param":null,"code":code}}),
    }
}

/// An error event in the middle of a stream.
pub fn error_event(kind: Kind) -> String {
    match kind {
        Kind::Chat => event(kind, &json!({"error":{"message":"it broke","type":"server_error","code":"server_error"}})),
        Kind::Claude => event(kind, &json!({"type":"error","error":{"type":"overloaded_error","message":"it broke"}})),
        Kind::Responses => event(
            kind,
            &json!({"type":"response.failed","sequence_number":99,"response":{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"it broke"}}}),
        ),
    }
}
