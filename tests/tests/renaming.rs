//! A mapped model's name in odd answers: replaced where it is the answer's, left alone where it only looks like it.

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, header, question},
};

async fn start(fake: &Fake) -> Headgate {
    Headgate::start(&format!(
        "version: 1
upstreams: [ {{ name: a, base_url: '{}', models: {{ map: {{ asked: sent, 'w-*': 'v/*-x', 'q\"uote': sent }} }} }} ]
groups: [ {{ name: g, members: [ {{ upstream: a }} ] }} ]
keys: [ {{ name: k, group: g, secret: {KEY} }} ]
",
        fake.url()
    ))
    .await
}

/// Sends a question for `asked`; the upstream answers with these bytes.
async fn through(headgate: &Headgate, fake: &Fake, path: &str, stream: bool, answer: &str) -> String {
    let kind = if stream { "text/event-stream" } else { "application/json" };
    fake.always(Behaviour { content_type: Some(kind.to_owned()), ..Behaviour::default() }.body(answer));
    let response = headgate.ask(path, "asked", stream).send().await.unwrap();
    assert_eq!(response.status(), 200, "{answer}");
    response.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_answers_own_model_is_renamed() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let inner = r#"{\"model\":\"sent\"}"#;
    for (path, document) in [
        (
            PATHS[0],
            format!(
                r#"{{ "choices":[{{"index":0,"message":{{"role":"assistant","model":"sent","content":"{inner} sent"}},"finish_reason":"stop"}}], "model" : "sent" , "x":{{"model":"sent"}},"usage":{{"completion_tokens":1.0e0}} }}"#
            ),
        ),
        (
            PATHS[2],
            format!(
                r#"{{"type":"message","content":[{{"type":"text","text":"{inner}"}},{{"type":"tool_use","id":"t","name":"n","input":{{"model":"sent"}}}}],"model":"sent","stop_reason":"end_turn"}}"#
            ),
        ),
        (
            PATHS[1],
            format!(
                r#"{{"object":"response","status":"completed","output":[{{"type":"message","content":[{{"type":"output_text","text":"{inner}"}}],"model":"sent"}}],"model":"sent"}}"#
            ),
        ),
    ] {
        // The answer's own is the only one that stands behind `"model"` at depth one.
        let got = through(&headgate, &fake, path, false, &document).await;
        assert_eq!(got.matches("asked").count(), 1, "{path}: {got}");
        assert_eq!(got.replace("\"asked\"", "\"sent\""), document, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_any_spelling_are_renamed_and_keep_their_spelling() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let chunk = r#"{"id":"1","model":"sent","choices":[{"index":0,"delta":{"content":"hi \"model\":\"sent\""},"finish_reason":null}]}"#;
    let last = r#"{"id":"1","model":"sent","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    for (name, text) in [
        ("LF", format!("data: {chunk}\n\ndata: {last}\n\ndata: [DONE]\n\n")),
        ("CRLF", format!("data: {chunk}\r\n\r\ndata: {last}\r\n\r\ndata: [DONE]\r\n\r\n")),
        ("no space", format!("data:{chunk}\n\ndata:{last}\n\ndata:[DONE]\n\n")),
        ("comments", format!(": hello\n\ndata: {chunk}\n\n: ping\n\ndata: {last}\n: x\n\ndata: [DONE]\n\n")),
        ("BOM", format!("\u{feff}data: {chunk}\n\ndata: {last}\n\ndata: [DONE]\n\n")),
        ("event and id lines", format!("event: x\nid: 7\nretry: 5\ndata: {chunk}\n\ndata: {last}\n\ndata: [DONE]\n\n")),
        ("no blank line at the end", format!("data: {chunk}\n\ndata: {last}\n\ndata: [DONE]")),
        ("CR", format!("data: {chunk}\r\rdata: {last}\r\rdata: [DONE]\r\r")),
    ] {
        let got = through(&headgate, &fake, PATHS[0], true, &text).await;
        assert_eq!(got.replace("\"asked\"", "\"sent\""), text, "{name}");
        assert_eq!(got.matches("\"model\":\"asked\"").count(), 2, "{name}: {got}");
    }
    // Several data lines make one event.
    let (first, second) = chunk.split_at(10);
    let text = format!("data: {first}\ndata: {second}\n\ndata: {last}\n\ndata: [DONE]\n\n");
    let got = through(&headgate, &fake, PATHS[0], true, &text).await;
    assert!(
        got.contains("[DONE]") && got.contains("\"model\":\"asked\",\"choices\":[{\"index\":0,\"delta\":{}"),
        "{got}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_megabyte_in_one_event_passes_and_names_of_any_letters_do() {
    let fake = Fake::start().await;
    let headgate = start(&fake).await;
    let long = "x".repeat(1 << 20);
    let text = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{long}\"}}}}],\"model\":\"sent\"}}\n\n\
         data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}],\"model\":\"sent\"}}\n\ndata: [DONE]\n\n"
    );
    let got = through(&headgate, &fake, PATHS[0], true, &text).await;
    assert_eq!(got.len() - text.len(), got.matches("asked").count(), "only names differ");
    assert!(got.contains("[DONE]") && got.matches("asked").count() >= 1);
    fake.behave();
    for (asked, sent) in
        [("w-1", "v/1-x"), ("w-", "v/-x"), ("q\"uote", "sent"), ("asked[1m]", "sent"), ("other/ünï", "other/ünï")]
    {
        for path in PATHS {
            for stream in [false, true] {
                let response = headgate.post(path, &question(path, asked, stream)).send().await.unwrap();
                assert_eq!(response.status(), 200, "{asked}");
                let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
                let text = response.text().await.unwrap();
                assert_eq!(fake.last().json()["model"], sent, "{path} {asked}");
                let named = format!("\"model\":{}", serde_json::Value::from(asked));
                assert!(text.contains(&named), "{path} {stream} {asked}: {text}");
                assert_eq!(headgate.record(&id).await.1[0]["mapped_model"], sent);
            }
        }
    }
}
