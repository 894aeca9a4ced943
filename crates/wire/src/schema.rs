//! JSON schemas made acceptable: what clients send and upstreams refuse (`null` members, no type, unions at the top).

use serde_json::{Map, Value, json};

/// Whether a union at the top of a tool's schema is merged into one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unions {
    /// Kept.
    Keep,
    /// Merged, when the top has no properties of its own.
    MergeWithoutProperties,
    /// Always merged (Claude refuses them).
    Merge,
}

/// A rewriting that a vendor's stricter dialect needs, chosen by name in its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// `ref_alone`: nothing may stand beside `$ref`.
    RefAlone,
}

impl Rule {
    /// The rule of that name.
    pub fn named(name: &str) -> Option<Self> {
        (name == "ref_alone").then_some(Self::RefAlone)
    }
}

/// A tool's schema as every upstream takes it, and whether more than an absent one was changed.
pub(crate) fn repair(schema: Option<&Value>, unions: Unions, rule: Option<Rule>) -> (Value, bool) {
    let empty = || json!({"type":"object","properties":{}});
    let mut schema = match schema {
        None | Some(Value::Null) => return (empty(), false),
        Some(Value::Object(schema)) => schema.clone(),
        Some(_) => return (empty(), true),
    };
    let mut changed = false;
    for member in ["$schema", "$id"] {
        changed |= schema.shift_remove(member).is_some();
    }
    let mut value = Value::Object(schema);
    visit(&mut value, &mut |object| {
        if object.get("required").is_some_and(Value::is_null) {
            object.shift_remove("required");
            changed = true;
        }
        if let Some(properties) = object.get_mut("properties").filter(|p| p.is_null()) {
            *properties = json!({});
            changed = true;
        }
        if rule == Some(Rule::RefAlone) && object.len() > 1 && object.contains_key("$ref") {
            object.retain(|member, _| member == "$ref" || member == "$defs" || member == "definitions");
            changed = true;
        }
    });
    if let Value::Object(object) = &mut value {
        let merge = match unions {
            Unions::Keep => false,
            Unions::MergeWithoutProperties => !object.contains_key("properties"),
            Unions::Merge => true,
        };
        changed |= merge && merge_unions(object);
        if !object.contains_key("type") {
            object.insert("type".to_owned(), json!("object"));
            changed = true;
        }
        if object.get("type") == Some(&json!("object")) && !object.contains_key("properties") {
            object.insert("properties".to_owned(), json!({}));
            changed = true;
        }
    }
    (value, changed)
}

/// Merges the branches of a top-level `oneOf`, `anyOf` or `allOf` into the object itself.
fn merge_unions(top: &mut Map<String, Value>) -> bool {
    let mut changed = false;
    for combinator in ["oneOf", "anyOf", "allOf"] {
        let Some(branches) = top.get(combinator).and_then(Value::as_array).cloned() else { continue };
        top.shift_remove(combinator);
        changed = true;
        let mut properties = match top.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let own: Vec<Value> = top.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut required: Option<Vec<Value>> = None;
        for branch in &branches {
            for (name, schema) in branch.get("properties").and_then(Value::as_object).into_iter().flatten() {
                properties.entry(name.clone()).or_insert_with(|| schema.clone());
            }
            let theirs = branch.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            required = Some(match required {
                None => theirs,
                Some(mine) if combinator == "allOf" => union(mine, theirs),
                Some(mine) => mine.into_iter().filter(|name| theirs.contains(name)).collect(),
            });
        }
        let required = union(own, required.unwrap_or_default());
        top.insert("type".to_owned(), json!("object"));
        top.insert("properties".to_owned(), Value::Object(properties));
        if required.is_empty() {
            top.shift_remove("required");
        } else {
            top.insert("required".to_owned(), Value::Array(required));
        }
    }
    changed
}

fn union(mut mine: Vec<Value>, theirs: Vec<Value>) -> Vec<Value> {
    for name in theirs {
        if !mine.contains(&name) {
            mine.push(name);
        }
    }
    mine
}

/// Calls `change` for a schema and every schema inside it.
fn visit(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    change(object);
    for (member, value) in object.iter_mut() {
        match (member.as_str(), value) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(map)) => {
                map.values_mut().for_each(|inner| visit(inner, change));
            }
            ("items" | "additionalProperties" | "not", inner) => visit(inner, change),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                list.iter_mut().for_each(|inner| visit(inner, change));
            }
            _ => {}
        }
    }
}

fn is_object(schema: &Map<String, Value>) -> bool {
    schema.get("type") == Some(&json!("object")) || schema.contains_key("properties")
}

/// A schema for an answer in which every object is closed, as Claude demands.
pub(crate) fn closed(mut schema: Value) -> Value {
    visit(&mut schema, &mut |object| {
        if is_object(object) && !object.contains_key("additionalProperties") {
            object.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
    });
    schema
}

/// Whether OpenAI's strict mode would take a schema: every object is closed and requires all its properties.
pub(crate) fn is_strict(schema: &Value) -> bool {
    let mut strict = true;
    visit(&mut schema.clone(), &mut |object| {
        if is_object(object) {
            let required = object.get("required").and_then(Value::as_array);
            let all = object.get("properties").and_then(Value::as_object).is_none_or(|properties| {
                properties.keys().all(|name| required.is_some_and(|r| r.iter().any(|n| n == name)))
            });
            strict &= all && object.get("additionalProperties") == Some(&Value::Bool(false));
        }
    });
    strict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_schema_is_made_and_not_called_a_repair() {
        let expected = json!({"type":"object","properties":{}});
        assert_eq!(repair(None, Unions::Merge, None), (expected.clone(), false));
        assert_eq!(repair(Some(&Value::Null), Unions::Merge, None), (expected.clone(), false));
        assert_eq!(repair(Some(&expected), Unions::Merge, None), (expected, false));
    }

    #[test]
    fn a_top_level_union_is_merged_by_its_kind() {
        let all = json!({"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]});
        let (merged, changed) = repair(Some(&all), Unions::MergeWithoutProperties, None);
        assert!(changed);
        assert_eq!(merged, json!({"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}));
        let kept = json!({"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]}]});
        assert_eq!(repair(Some(&kept), Unions::MergeWithoutProperties, None), (kept.clone(), false));
        assert!(repair(Some(&kept), Unions::Merge, None).0.get("anyOf").is_none());
    }

    #[test]
    fn a_reference_stands_alone_where_the_vendor_wants_it_so() {
        let schema = json!({"type":"object","properties":{"a":{"$ref":"#/$defs/x","type":"string"}},"$defs":{"x":{"type":"string"}}});
        let (repaired, changed) = repair(Some(&schema), Unions::Keep, Some(Rule::RefAlone));
        assert!(changed);
        assert_eq!(repaired["properties"]["a"], json!({"$ref":"#/$defs/x"}));
        assert_eq!(repair(Some(&schema), Unions::Keep, None), (schema, false));
    }

    #[test]
    fn a_missing_type_is_a_repair_and_so_are_missing_properties() {
        let expected = json!({"type":"object","properties":{}});
        for schema in [json!({"properties":{}}), json!({"type":"object"}), json!({}), json!(true)] {
            let (repaired, changed) = repair(Some(&schema), Unions::Keep, None);
            assert_eq!((&repaired, changed), (&expected, true), "{schema}");
        }
        let text = json!({"type":"string"});
        assert_eq!(repair(Some(&text), Unions::Merge, None), (text.clone(), false));
    }

    #[test]
    fn strict_means_closed_and_complete() {
        let strict =
            json!({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false});
        assert!(is_strict(&strict));
        assert!(!is_strict(&json!({"type":"object","properties":{"a":{}},"additionalProperties":false})));
        assert!(!is_strict(&json!({"type":"object","properties":{}})));
        assert_eq!(closed(json!({"type":"object"})), json!({"type":"object","additionalProperties":false}));
    }
}
