//! The forms of messages that chat robots take, as data: adding one is adding a row.
//!
//! Sources: the vendors' documentation of custom robots (Feishu, DingTalk, WeCom) and incoming webhooks (Slack, Discord).

use headgate_domain::alert::AlertTemplate;
use serde_json::Value;

use super::document::AlertDocument;

/// Where the text stands in a body.
const TEXT: &str = "{text}";

/// Which of the two sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    En,
    Zh,
}

/// How a secret proves who sends, beside the header that every signed delivery has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signing {
    /// By the header alone.
    Header,
    /// `timestamp` (milliseconds) and `sign` in the query.
    Query,
    /// `timestamp` (seconds) and `sign` in the body.
    Body,
}

/// What one template's messages look like.
#[derive(Debug)]
pub struct Shape {
    /// JSON with [`TEXT`] in it; `None`: the document itself.
    body: Option<&'static str>,
    language: Language,
    /// How it is signed.
    pub signing: Signing,
    /// The number in an answer that is 0 for a message that was taken: robots refuse with status 200. With it, where
    /// the reason stands.
    pub verdict: Option<(&'static str, &'static str)>,
    /// What would be markup or a mention. Names of models come from clients.
    escapes: &'static [(char, &'static str)],
}

const JSON: Shape = Shape { body: None, language: Language::En, signing: Signing::Header, verdict: None, escapes: &[] };

const FEISHU: Shape = Shape {
    body: Some(r#"{"msg_type":"text","content":{"text":"{text}"}}"#),
    language: Language::Zh,
    signing: Signing::Body,
    verdict: Some(("code", "msg")),
    escapes: &[('<', "‹"), ('>', "›")],
};

const DINGTALK: Shape = Shape {
    body: Some(r#"{"msgtype":"text","text":{"content":"{text}"},"at":{"isAtAll":false}}"#),
    language: Language::Zh,
    signing: Signing::Query,
    verdict: Some(("errcode", "errmsg")),
    escapes: &[],
};

const WECOM: Shape = Shape {
    body: Some(r#"{"msgtype":"text","text":{"content":"{text}"}}"#),
    language: Language::Zh,
    signing: Signing::Header,
    verdict: Some(("errcode", "errmsg")),
    escapes: &[('<', "‹"), ('>', "›")],
};

const SLACK: Shape = Shape {
    body: Some(r#"{"text":"{text}"}"#),
    language: Language::En,
    signing: Signing::Header,
    verdict: None,
    escapes: &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")],
};

const DISCORD: Shape = Shape {
    body: Some(r#"{"content":"{text}","allowed_mentions":{"parse":[]}}"#),
    language: Language::En,
    signing: Signing::Header,
    verdict: None,
    escapes: &[],
};

/// The shape of a template.
pub fn shape(template: AlertTemplate) -> &'static Shape {
    match template {
        AlertTemplate::Json => &JSON,
        AlertTemplate::Feishu => &FEISHU,
        AlertTemplate::Dingtalk => &DINGTALK,
        AlertTemplate::Wecom => &WECOM,
        AlertTemplate::Slack => &SLACK,
        AlertTemplate::Discord => &DISCORD,
    }
}

impl Shape {
    /// The body of a message.
    pub fn body(&self, document: &AlertDocument) -> Value {
        let Some(body) = self.body else { return serde_json::to_value(document).unwrap_or_default() };
        let mut body: Value = serde_json::from_str(body).unwrap_or_default();
        put(&mut body, &self.text(document));
        body
    }

    /// The sentence, after a word by which robots that filter by keyword let it pass.
    fn text(&self, document: &AlertDocument) -> String {
        let sentence = match self.language {
            Language::En => &document.sentence.en,
            Language::Zh => &document.sentence.zh,
        };
        let mut text = String::from("Headgate: ");
        for c in sentence.chars() {
            match self.escapes.iter().find(|(of, _)| *of == c) {
                Some((_, instead)) => text.push_str(instead),
                None => text.push(c),
            }
        }
        text
    }
}

fn put(value: &mut Value, text: &str) {
    match value {
        Value::String(word) if word == TEXT => text.clone_into(word),
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, text)),
        Value::Object(fields) => fields.values_mut().for_each(|field| put(field, text)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn document(text: &str) -> AlertDocument {
        let mut document = AlertDocument::test(DateTime::from_timestamp(1_800_000_000, 0).unwrap());
        document.sentence.en = text.to_owned();
        document.sentence.zh = text.to_owned();
        document
    }

    #[test]
    fn every_robot_gets_the_sentence_where_it_looks_for_it() {
        for (template, at) in [
            (AlertTemplate::Feishu, "/content/text"),
            (AlertTemplate::Dingtalk, "/text/content"),
            (AlertTemplate::Wecom, "/text/content"),
            (AlertTemplate::Slack, "/text"),
            (AlertTemplate::Discord, "/content"),
        ] {
            let body = shape(template).body(&document("it \"is\" so"));
            assert_eq!(body.pointer(at).and_then(Value::as_str), Some("Headgate: it \"is\" so"), "{template:?} {body}");
        }
        let body = shape(AlertTemplate::Json).body(&document("so"));
        assert_eq!((&body["kind"], &body["sentence"]["en"]), (&"test".into(), &"so".into()));
    }

    #[test]
    fn a_name_mentions_nobody() {
        for template in [AlertTemplate::Feishu, AlertTemplate::Slack, AlertTemplate::Wecom] {
            let body = shape(template).body(&document("<!channel> <at user_id=\"all\">")).to_string();
            assert!(!body.contains("<!channel>") && !body.contains("<at "), "{body}");
        }
        let body = shape(AlertTemplate::Discord).body(&document("@everyone"));
        assert_eq!(body["allowed_mentions"]["parse"], serde_json::json!([]));
    }
}
