//! Model lists: an upstream's read, the gateway's own written in the asker's dialect.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// The ids of an upstream's model list (`data[].id`, `models[].id|slug|name`, or a bare list of texts).
pub fn read(body: &[u8]) -> Option<BTreeSet<String>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(&value).as_array()?;
    let id = |item: &Value| {
        let text =
            item.as_str().or_else(|| ["id", "slug", "name"].iter().find_map(|n| item.get(n).and_then(Value::as_str)));
        text.map(|t| t.trim_start_matches("models/").to_owned()).filter(|t| !t.is_empty() && t.len() <= 256)
    };
    Some(list.iter().filter_map(id).collect())
}

/// One model in the asker's dialect.
fn entry(id: &str, anthropic: bool) -> Value {
    if anthropic {
        json!({"type":"model","id":id,"display_name":id,"created_at":"1970-01-01T00:00:00Z"})
    } else {
        json!({"id":id,"object":"model","created":0,"owned_by":"headgate"})
    }
}

/// The list in the asker's dialect. The OpenAI one carries an empty `models` for Codex, which expects that member.
pub fn list(ids: &BTreeSet<String>, anthropic: bool) -> Value {
    let data: Vec<Value> = ids.iter().map(|id| entry(id, anthropic)).collect();
    if anthropic {
        json!({"data":data,"has_more":false,"first_id":ids.first(),"last_id":ids.last()})
    } else {
        json!({"object":"list","data":data,"models":[]})
    }
}

/// One model of the list, if it is there.
pub fn one(ids: &BTreeSet<String>, id: &str, anthropic: bool) -> Option<Value> {
    ids.contains(id).then(|| entry(id, anthropic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_shape_are_read() {
        let expected: BTreeSet<String> = ["a".to_owned(), "b".to_owned()].into();
        for body in
            [r#"{"data":[{"id":"a"},{"id":"b"}]}"#, r#"{"models":[{"name":"models/a"},{"slug":"b"}]}"#, r#"["a","b"]"#]
        {
            assert_eq!(read(body.as_bytes()), Some(expected.clone()), "{body}");
        }
        let odd = format!(r#"["","models/","a","{}",7,{{"id":8}},"b"]"#, "x".repeat(257));
        assert_eq!(read(odd.as_bytes()), Some(expected), "ids that are none are left out");
        assert_eq!(read(b"<html>"), None);
        assert_eq!(read(b"{\"x\":1}"), None);
    }

    #[test]
    fn a_list_is_in_the_dialect_of_whoever_asks() {
        let ids: BTreeSet<String> = ["a".to_owned(), "b".to_owned()].into();
        let openai = list(&ids, false);
        assert_eq!((&openai["object"], &openai["models"]), (&json!("list"), &json!([])));
        assert_eq!((&openai["data"][1]["id"], &openai["data"][1]["object"]), (&json!("b"), &json!("model")));
        let anthropic = list(&ids, true);
        assert_eq!(
            (&anthropic["first_id"], &anthropic["last_id"], &anthropic["has_more"]),
            (&json!("a"), &json!("b"), &json!(false))
        );
        assert_eq!((&anthropic["data"][0]["id"], &anthropic["data"][0]["type"]), (&json!("a"), &json!("model")));
        assert_eq!(one(&ids, "b", true).as_ref(), Some(&anthropic["data"][1]));
        assert_eq!(one(&ids, "c", true), None);
    }
}
