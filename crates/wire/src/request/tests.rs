use super::*;

fn ok(protocol: Protocol, body: &str) -> Asked {
    read(protocol, body.as_bytes()).unwrap()
}

#[test]
fn the_models_place_is_that_of_its_value() {
    let body = r#"{ "messages":[{"model":"not this"}], "model" : "gpt-5" , "stream":true}"#;
    let asked = ok(Protocol::Chat, body);
    assert_eq!(asked.model, "gpt-5");
    assert_eq!(&body[asked.model_span.clone()], "\"gpt-5\"");
    assert!(asked.stream);
    assert_eq!(splice::replace(body.as_bytes(), &asked.model_span, "x"), body.replace("\"gpt-5\"", "\"x\""));
}

#[test]
fn features_are_found_where_they_mean_something() {
    let asked = ok(
        Protocol::Claude,
        r#"{"model":"m","tools":[{"name":"t","input_schema":{"properties":{"a":{"type":"image"}}}}],
           "messages":[{"role":"user","content":[{"type":"document","source":{"data":"AAAA","media_type":"application/pdf"}}]}],
           "thinking":{"type":"adaptive"},"output_config":{"format":{"type":"json_schema","schema":{}}}}"#,
    );
    let expected = [Capability::Tools, Capability::Documents, Capability::StructuredOutput, Capability::Reasoning];
    assert_eq!(asked.features, expected.into_iter().collect());
    let none = ok(Protocol::Claude, r#"{"model":"m","tools":[],"thinking":{"type":"disabled"},"messages":[]}"#);
    assert!(none.features.is_empty());
}

#[test]
fn base64_counts_by_what_it_holds() {
    let image = format!("data:image/png;base64,{}", "A".repeat(100_000));
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"{image}"}}}},{{"type":"text","text":"{}"}}]}}]}}"#,
        "x".repeat(400)
    );
    let asked = ok(Protocol::Chat, &body);
    assert_eq!(asked.estimated_input, 1700);
    assert!(asked.features.contains(&Capability::Images));
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":[{{"source":{{"data":"{}","media_type":"image/png","type":"base64"}},"type":"image"}}]}}]}}"#,
        "A".repeat(100_000)
    );
    assert_eq!(ok(Protocol::Claude, &body).estimated_input, 1600);
}

#[test]
fn a_document_counts_by_its_pages_and_a_text_by_its_length() {
    let source = |mime: &str, length: usize| {
        let data = "A".repeat(length);
        let source = format!(r#"{{"type":"base64","data":"{data}","media_type":"{mime}"}}"#);
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"document","source":{source}}}]}}]}}"#)
    };
    let input = |mime: &str, length: usize| ok(Protocol::Claude, &source(mime, length)).estimated_input;
    let other = input("audio/wav", 0);
    // 3 KiB are 4 KiB of base64.
    assert_eq!(input("application/pdf", 4096) - other, 1500);
    assert_eq!(input("application/pdf", 4096 * 10 + 4) - other, 1500 * 11);
    assert_eq!(input("text/plain", 4000), 1000 + other);
    assert_eq!(input("audio/wav", 4000), 750 + other);
    // Members of that name elsewhere are text like any other.
    let plain = |name: &str| {
        let text = "b".repeat(400);
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"text","{name}":"{text}"}}]}}]}}"#
        );
        ok(Protocol::Claude, &body).estimated_input
    };
    assert_eq!((plain("data"), plain("media_type")), (plain("text"), plain("text")));
}

#[test]
fn sessions_of_real_clients_are_found() {
    let codex = ok(Protocol::Responses, r#"{"model":"m","client_metadata":{"session_id":"s"},"prompt_cache_key":"k"}"#);
    assert_eq!(codex.session.as_deref(), Some("k"));
    let code = r#"{"model":"m","metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"abc\"}"}}"#;
    assert_eq!(ok(Protocol::Claude, code).session.as_deref(), Some("abc"));
    let older = r#"{"model":"m","metadata":{"user_id":"user_1_account__session_xyz"}}"#;
    assert_eq!(ok(Protocol::Claude, older).session.as_deref(), Some("xyz"));
}

#[test]
fn bad_bodies_are_told_what_is_wrong() {
    let deep = format!(r#"{{"model":"m","messages":{}1{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    let deep_other = format!(r#"{{"model":"m","x":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for (body, part) in [
        (&b""[..], "empty"),
        (b"[1]", "JSON object"),
        (b"{\"model\":\"m\"", "not a legal request"),
        (b"{\"model\":\"m\"} x", "trailing"),
        (b"{\"model\":5}", "'model' is not a text"),
        (b"{\"model\":\"\"}", "empty"),
        (b"{}", "no 'model'"),
        (b"{\"model\":\"m\",\"model\":\"n\"}", "twice"),
        (b"{\"model\":\"\xff\"}", "UTF-8"),
        (b"{\"model\":\"m\",\"stream\":\"yes\"}", "not a legal request"),
        (deep.as_bytes(), "deeper than 128"),
        (deep_other.as_bytes(), "deeper than 128"),
    ] {
        let error = read(Protocol::Chat, body).unwrap_err().0;
        assert!(error.contains(part), "{error:?} should contain {part:?}");
    }
}
