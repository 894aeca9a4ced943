//! Expected documents: what a member must be, or a placeholder for it.

use std::collections::HashMap;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use regex::Regex;
use serde_json::{Map, Value};

/// Texts bound to names, the same throughout a case.
pub type Bindings = HashMap<String, String>;

/// Whether `text` matches as a whole.
pub fn full_match(pattern: &str, text: &str) -> bool {
    Regex::new(&format!("^(?:{pattern})$")).unwrap().is_match(text)
}

/// Matches `actual` against `expected`; says where it does not.
pub fn matches(expected: &Value, actual: Option<&Value>, at: &str, bound: &mut Bindings) -> Result<(), String> {
    let wrong =
        |what: &str| Err(format!("{at}: expected {what}, got {}", actual.map_or("nothing".into(), Value::to_string)));
    match expected {
        Value::String(text) if text.starts_with('$') => placeholder(text, actual, at, bound),
        Value::Null => {
            if actual.is_none_or(Value::is_null) {
                Ok(())
            } else {
                wrong("null")
            }
        }
        Value::Object(object) if object.len() == 1 && object.keys().all(|k| k.starts_with('$')) => {
            special(object, actual, at, bound)
        }
        Value::Object(object) => {
            let Some(Value::Object(members)) = actual else { return wrong("an object") };
            for (name, inner) in object {
                matches(inner, members.get(name), &format!("{at}/{name}"), bound)?;
            }
            Ok(())
        }
        Value::Array(list) => {
            let Some(Value::Array(items)) = actual else { return wrong("a list") };
            if list.len() != items.len() {
                return wrong(&format!("{} items", list.len()));
            }
            list.iter()
                .zip(items)
                .enumerate()
                .try_for_each(|(n, (e, a))| matches(e, Some(a), &format!("{at}/{n}"), bound))
        }
        Value::Number(number) => match actual.and_then(Value::as_f64) {
            Some(n) if Some(n) == number.as_f64() => Ok(()),
            _ => wrong(&number.to_string()),
        },
        other => {
            if actual == Some(other) {
                Ok(())
            } else {
                wrong(&other.to_string())
            }
        }
    }
}

fn placeholder(text: &str, actual: Option<&Value>, at: &str, bound: &mut Bindings) -> Result<(), String> {
    let spec = text.rsplit_once('|').map_or(text, |(spec, _)| spec);
    let (kind, argument) = spec.split_once(':').unwrap_or((spec, ""));
    let said = actual.and_then(Value::as_str);
    let good = match kind {
        "$any" => true,
        "$int" => actual.is_some_and(|v| v.is_i64() || v.is_u64()),
        "$number" => actual.is_some_and(Value::is_number),
        "$string" => said.is_some(),
        "$nonempty" => said.is_some_and(|s| !s.trim().is_empty()),
        "$re" => said.is_some_and(|s| full_match(argument, s)),
        "$id" => {
            said.is_some_and(|s| !s.is_empty() && bound.entry(argument.to_owned()).or_insert_with(|| s.to_owned()) == s)
        }
        _ => panic!("unknown placeholder {text}"),
    };
    if good { Ok(()) } else { Err(format!("{at}: {text} does not match {actual:?} ({bound:?})")) }
}

fn special(object: &Map<String, Value>, actual: Option<&Value>, at: &str, bound: &mut Bindings) -> Result<(), String> {
    let (kind, argument) = object.iter().next().unwrap();
    let said = actual.and_then(Value::as_str);
    let text = argument.as_str().unwrap_or_default();
    let good = match kind.as_str() {
        "$json" => said.and_then(|s| serde_json::from_str::<Value>(s).ok()).as_ref() == Some(argument),
        "$has" => said.is_some_and(|s| s.contains(text)),
        "$prefix" => said.is_some_and(|s| s.starts_with(text)),
        "$carrier" => {
            let bytes = said.and_then(|s| s.strip_prefix("hg1.")).and_then(|s| URL_SAFE_NO_PAD.decode(s).ok());
            let carried = bytes.and_then(|b| serde_json::from_slice::<Value>(&b).ok());
            return matches(argument, carried.as_ref(), &format!("{at}/$carrier"), bound);
        }
        "$contains" => {
            let mut left: Vec<&Value> = actual.and_then(Value::as_array).into_iter().flatten().collect();
            argument.as_array().unwrap().iter().all(|wanted| {
                let found = left.iter().position(|v| matches(wanted, Some(v), at, &mut bound.clone()).is_ok());
                found.map(|n| left.remove(n)).is_some()
            })
        }
        _ => panic!("unknown placeholder {kind}"),
    };
    if good { Ok(()) } else { Err(format!("{at}: {kind} {argument} does not match {actual:?}")) }
}

/// Puts bound texts in the place of `$id:` placeholders.
pub fn fill(value: &mut Value, bound: &Bindings) {
    match value {
        Value::String(text) if text.starts_with("$id:") => {
            let name = text.trim_start_matches("$id:").split('|').next().unwrap();
            *text = bound[name].clone();
        }
        Value::Array(list) => list.iter_mut().for_each(|v| fill(v, bound)),
        Value::Object(object) => object.values_mut().for_each(|v| fill(v, bound)),
        _ => {}
    }
}
