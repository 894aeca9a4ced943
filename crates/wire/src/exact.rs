//! JSON whose integers may be of any size.
//!
//! A `Value` holds integers of 64 bits; larger ones become floating-point numbers and come out changed. Tools take ids
//! that are larger. Here they travel through a `Value` as texts, marked by a code point that is no character and so in
//! nobody's text, and are integers again when they are written.

use std::borrow::Cow;

use serde_json::Value;

/// A noncharacter: never part of any text.
const MARK: char = '\u{fdd0}';

/// An integer with fewer digits fits into 64 bits.
const LEAST: usize = 19;

/// Reads JSON.
pub(crate) fn read(json: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(&marked(json))
}

/// Writes a value that was read here, as text.
pub(crate) fn text(value: &Value) -> String {
    unmarked(value.to_string())
}

/// A value that a protocol gives a meaning: an integer is a number there, not a text, and as exact as numbers are.
pub(crate) fn rounded(value: Value) -> Value {
    let integer = value.as_str().and_then(|text| text.strip_prefix(MARK)).filter(|i| is_too_large(i.as_bytes()));
    integer.and_then(|integer| integer.parse::<f64>().ok()).map_or(value, Value::from)
}

/// An integer as JSON writes it, of more than 64 bits.
fn is_too_large(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let legal = digits.iter().all(u8::is_ascii_digit) && digits.first().is_some_and(|first| *first != b'0');
    let Ok(text) = std::str::from_utf8(token) else { return false };
    legal && digits.len() >= LEAST && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()
}

/// Whether there are digits enough in a row. One byte in nineteen is looked at.
fn may_hold_one(json: &[u8]) -> bool {
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| byte.is_ascii_digit()).count();
    (LEAST - 1..json.len()).step_by(LEAST).any(|at| {
        let (before, after) = json.split_at_checked(at).unwrap_or_default();
        after.first().is_some_and(u8::is_ascii_digit)
            && digits(&mut before.iter().rev()) + digits(&mut after.iter()) >= LEAST
    })
}

/// The JSON with the integers in question as marked texts.
fn marked(json: &[u8]) -> Cow<'_, [u8]> {
    if !may_hold_one(json) {
        return Cow::Borrowed(json);
    }
    let mut out = Vec::with_capacity(json.len() + 64);
    let mut rest = json;
    let mut inside = false;
    while let Some((byte, tail)) = rest.split_first() {
        if inside || !matches!(byte, b'-' | b'0'..=b'9') {
            let length = if inside && *byte == b'\\' { 2 } else { 1 };
            inside ^= *byte == b'"';
            let (taken, tail) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            out.extend_from_slice(taken);
            rest = tail;
            continue;
        }
        let end = tail.iter().position(|b| !matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
        let (number, tail) = rest.split_at_checked(end.map_or(rest.len(), |end| end + 1)).unwrap_or((rest, &[]));
        if is_too_large(number) {
            out.push(b'"');
            out.extend_from_slice(MARK.encode_utf8(&mut [0; 4]).as_bytes());
            out.extend_from_slice(number);
            out.push(b'"');
        } else {
            out.extend_from_slice(number);
        }
        rest = tail;
    }
    Cow::Owned(out)
}

fn unmarked(json: String) -> String {
    let mark = format!("\"{MARK}");
    let mut parts = json.split(mark.as_str());
    let mut out = parts.next().unwrap_or_default().to_owned();
    if out.len() == json.len() {
        return json;
    }
    for part in parts {
        match part.split_once('"') {
            Some((integer, rest)) if is_too_large(integer.as_bytes()) => {
                out.push_str(integer);
                out.push_str(rest);
            }
            _ => {
                out.push_str(&mark);
                out.push_str(part);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(json: &str) -> String {
        text(&read(json.as_bytes()).unwrap())
    }

    #[test]
    fn integers_of_any_size_come_out_as_they_went_in() {
        for json in [
            "123456789012345678901234567890",
            "-123456789012345678901234567890",
            "[18446744073709551615,18446744073709551616,-9223372036854775808,-9223372036854775809]",
            r#"{"a":{"b":[1,99999999999999999999]},"c":"99999999999999999999","d":"\"99999999999999999999"}"#,
            r#"{"99999999999999999999":"x\\","n":99999999999999999999}"#,
            r#"["]",1234567890123456789]"#,
        ] {
            assert_eq!(through(json), json);
        }
        assert_eq!(through("[ 99999999999999999999 ,1.5e3]"), "[99999999999999999999,1500.0]");
    }

    #[test]
    fn fractions_and_what_is_no_json_stay_what_they_are() {
        assert_eq!(through("0.699999988079071044921875"), "0.699999988079071");
        for broken in ["00000000000000000000001", "99999999999999999999x", "-", "{\"a\":99999999999999999999", "\"\\"] {
            assert!(read(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_text_with_the_mark_is_a_text_unless_an_integer_stands_behind_it() {
        for json in ["\"\u{fdd0}\"", "\"\u{fdd0}12\"", "[\"\u{fdd0}x\",\"\u{fdd0}99999999999999999999 \"]"] {
            assert_eq!(through(json), json);
        }
        assert_eq!(rounded(read(b"99999999999999999999").unwrap()), Value::from(1e20));
        assert_eq!(rounded(Value::from("\u{fdd0}1")), Value::from("\u{fdd0}1"));
    }
}
