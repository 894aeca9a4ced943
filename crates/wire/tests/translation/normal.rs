//! One spelling for requests and streams that mean the same.

use headgate_domain::{Protocol, UpstreamKind};
use serde_json::{Map, Value, json};

/// An event as a client sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub event: Option<String>,
    pub data: Value,
}

/// Frames of a stream that we wrote: exactly `event:`, `data:`, blank line.
pub fn frames(bytes: &[u8]) -> Vec<Frame> {
    let text = std::str::from_utf8(bytes).expect("a stream is UTF-8");
    let mut frames = Vec::new();
    for block in text.split_inclusive("\n\n") {
        let block = block.strip_suffix("\n\n").expect("a stream ends with a whole event");
        let (event, rest) = match block.strip_prefix("event: ") {
            Some(rest) => {
                let (name, rest) = rest.split_once('\n').expect("data behind the event's name");
                (Some(name.to_owned()), rest)
            }
            None => (None, block),
        };
        let data = rest.strip_prefix("data: ").expect("a data line");
        assert!(!data.contains('\n') && !data.is_empty(), "one line of data: {data}");
        let data = if data == "[DONE]" { json!("[DONE]") } else { serde_json::from_str(data).expect("JSON data") };
        frames.push(Frame { event, data });
    }
    frames
}

fn texts(value: &mut Value, kind: &str) {
    if let Value::String(text) = value {
        *value = json!([{"type":kind,"text":text}]);
    }
}

/// One spelling of a request.
pub fn request(kind: UpstreamKind, body: &mut Value) {
    match kind {
        UpstreamKind::Claude => {
            if let Some(system) = body.get_mut("system") {
                texts(system, "text");
            }
            for message in body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
                let Some(content) = message.get_mut("content") else { continue };
                texts(content, "text");
                for block in content.as_array_mut().into_iter().flatten() {
                    if block["type"] == "tool_result"
                        && let Some(inner) = block.get_mut("content")
                    {
                        texts(inner, "text");
                    }
                }
            }
        }
        UpstreamKind::Openai => {
            for message in body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
                let Some(content) = message.get_mut("content") else { continue };
                if let Some([one]) = content.as_array().map(Vec::as_slice)
                    && one["type"] == "text"
                {
                    *content = one["text"].clone();
                }
            }
        }
        _ => {
            if let Some(Value::String(text)) = body.get("input") {
                body["input"] = json!([{"type":"message","role":"user","content":text}]);
            }
            for item in body.get_mut("input").and_then(Value::as_array_mut).into_iter().flatten() {
                if item.get("role").is_some() && item.get("type").is_none() {
                    item["type"] = json!("message");
                }
                let assistant = item["role"] == "assistant";
                if let Some(content) = item.get_mut("content") {
                    texts(content, if assistant { "output_text" } else { "input_text" });
                }
                if let Some(output) = item.get_mut("output")
                    && let Some([one]) = output.as_array().map(Vec::as_slice)
                    && one["type"] == "input_text"
                {
                    *output = one["text"].clone();
                }
            }
        }
    }
}

/// One spelling of a stream.
pub fn stream(protocol: Protocol, frames: &[Frame]) -> Vec<Value> {
    match protocol {
        Protocol::Chat => chat(frames),
        Protocol::Claude => claude(frames),
        Protocol::Responses => responses(frames),
    }
}

fn chat(frames: &[Frame]) -> Vec<Value> {
    let mut operations: Vec<Value> = Vec::new();
    for Frame { data, .. } in frames {
        if *data == "[DONE]" {
            operations.push(json!({"op":"done"}));
            continue;
        }
        if let Some(error) = data.get("error") {
            operations.push(json!({"op":"error","error":error}));
        }
        for choice in data["choices"].as_array().into_iter().flatten() {
            let delta = &choice["delta"];
            for op in ["reasoning_content", "content", "refusal"] {
                if let Some(text) = delta[op].as_str().filter(|t| !t.is_empty()) {
                    operations.push(json!({"op":op,"text":text}));
                }
            }
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                if call.get("id").is_some() {
                    operations.push(
                        json!({"op":"start","index":call["index"],"id":call["id"],"name":call["function"]["name"]}),
                    );
                }
                if let Some(text) = call["function"]["arguments"].as_str().filter(|t| !t.is_empty()) {
                    operations.push(json!({"op":"arguments","index":call["index"],"text":text}));
                }
            }
            if let Some(reason) = choice["finish_reason"].as_str() {
                operations.push(json!({"op":"finish","reason":reason}));
            }
        }
        if data["usage"].is_object() {
            operations.push(json!({"op":"usage","usage":data["usage"]}));
        }
    }
    // Runs of tool operations are grouped by index.
    let is_tool = |v: &Value| v["op"] == "start" || v["op"] == "arguments";
    for run in operations.chunk_by_mut(|a, b| is_tool(a) && is_tool(b)) {
        if is_tool(&run[0]) {
            run.sort_by_key(|v| v["index"].as_u64());
        }
    }
    join(operations, &["op", "index"], "text")
}

/// Joins neighbours that agree in `keys` and have the text `member`.
fn join(values: Vec<Value>, keys: &[&str], member: &str) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for value in values {
        match joined.last_mut() {
            Some(last)
                if last[member].is_string()
                    && value[member].is_string()
                    && keys.iter().all(|k| last[*k] == value[*k]) =>
            {
                last[member] = json!(last[member].as_str().unwrap().to_owned() + value[member].as_str().unwrap());
            }
            _ => joined.push(value),
        }
    }
    joined
}

/// The text of a Claude delta.
const DELTAS: [&str; 3] = ["text", "thinking", "partial_json"];

fn claude(frames: &[Frame]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for Frame { event, data } in frames.iter().filter(|f| f.data["type"] != "ping") {
        let member = DELTAS.iter().find(|m| data["delta"].get(**m).is_some());
        if let (Some(member), Some(last)) = (member, out.last_mut())
            && last["data"]["type"] == data["type"]
            && last["data"]["index"] == data["index"]
            && last["data"]["delta"]["type"] == data["delta"]["type"]
        {
            let text = last["data"]["delta"][*member].as_str().unwrap().to_owned();
            last["data"]["delta"][*member] = json!(text + data["delta"][*member].as_str().unwrap());
            continue;
        }
        out.push(json!({"event":event,"data":data}));
    }
    out.retain(|frame| {
        let delta = &frame["data"]["delta"];
        let empty = DELTAS.iter().any(|m| delta[*m] == "");
        !(empty || delta["partial_json"] == "{}")
    });
    out
}

fn responses(frames: &[Frame]) -> Vec<Value> {
    let mut out = Vec::new();
    for Frame { event, data } in frames.iter().filter(|f| f.data["type"] != "response.in_progress") {
        let mut data = data.clone();
        let object: &mut Map<String, Value> = data.as_object_mut().unwrap();
        object.remove("sequence_number");
        object.remove("obfuscation");
        let delta = object.remove("delta").unwrap_or_default();
        out.push(json!({"event":event,"data":data,"delta":delta}));
    }
    join(out, &["event", "data"], "delta")
}
