//! Hosted web searches and what is cited of them.

use headgate_domain::{
    Protocol::{Chat, Claude},
    UpstreamKind,
};
use serde_json::{Value, json};

use super::{
    driver::{Route, events},
    lifecycle::asked,
    normal::frames,
    oracle,
};

fn annotation() -> Value {
    json!({"type":"url_citation","start_index":0,"end_index":1,"title":"T","url":"https://a.test"})
}

fn said(place: u64, text: &str) -> Value {
    json!({"type":"response.output_text.delta","item_id":format!("m{place}"),"output_index":place,"content_index":0,"delta":text})
}

fn done(place: u64, text: &str, annotations: Value) -> Value {
    json!({"type":"response.output_item.done","output_index":place,"item":{"type":"message","id":format!("m{place}"),
        "content":[{"type":"output_text","text":text,"annotations":annotations}]}})
}

fn search(place: u64) -> Value {
    json!({"type":"response.output_item.done","output_index":place,
        "item":{"type":"web_search_call","id":"ws","action":{"type":"search","query":"q"}}})
}

fn completed() -> Value {
    json!({"type":"response.completed","response":{"status":"completed","output":[]}})
}

/// CLIProxyAPI #3132, #364.
#[test]
fn a_web_search_shows_0_results() {
    let cited = json!({"type":"response.output_text.annotation.added","item_id":"m2","output_index":2,"content_index":0,"annotation":annotation()});
    let list = [
        search(0),
        said(1, "Let me look."),
        done(1, "Let me look.", json!([])),
        said(2, "a"),
        cited,
        done(2, "a", json!([annotation()])),
        said(3, "b"),
        done(3, "b", json!([])),
        completed(),
    ];
    let answered =
        Route::new(Claude, UpstreamKind::OpenaiResponse).answer(&asked(Claude, true), events(&list).chunks(9));
    oracle::check(Claude, &answered.bytes, false).unwrap();
    let frames = frames(&answered.bytes);
    let started = frames.iter().filter(|f| f.data["type"] == "content_block_start");
    let blocks: Vec<&Value> = started.map(|f| &f.data["content_block"]).collect();
    let kinds: Vec<&Value> = blocks.iter().map(|b| &b["type"]).collect();
    // The pages are known when a text has cited them.
    assert_eq!(kinds, ["server_tool_use", "text", "text", "web_search_tool_result", "text"]);
    assert_eq!(blocks[3]["content"].as_array().unwrap().len(), 1);
    let delta = &frames.iter().find(|f| f.data["type"] == "message_delta").unwrap().data;
    assert_eq!(delta["usage"]["server_tool_use"]["web_search_requests"], 1);
}

#[test]
fn a_citation_that_only_an_event_of_its_own_tells_is_not_lost_and_one_told_twice_is_one() {
    let cited = json!({"type":"response.output_text.annotation.added","item_id":"m0","output_index":0,"content_index":0,"annotation":annotation()});
    for repeated in [json!([]), json!([annotation()])] {
        let list = [said(0, "a"), cited.clone(), done(0, "a", repeated), completed()];
        let route = Route::new(Chat, UpstreamKind::OpenaiResponse);
        let whole = route.answer_whole(&asked(Chat, false), &events(&list)).json();
        let annotations = &whole["choices"][0]["message"]["annotations"];
        assert_eq!(annotations.as_array().map(Vec::len), Some(1), "{whole}");
        assert_eq!(annotations[0]["url_citation"]["url"], "https://a.test");
        let streamed = String::from_utf8(route.answer_whole(&asked(Chat, true), &events(&list)).bytes).unwrap();
        assert_eq!(streamed.matches("https://a.test").count(), 1, "{streamed}");
    }
}
