//! One delivery on the wire: shaped, signed, sent once, judged.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use headgate_domain::{Secret, audit::clip};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use serde_json::Value;
use sha2::Sha256;

use super::{
    document::AlertDocument,
    shape::{Shape, Signing, shape},
    target::{Target, Way},
};
use crate::outbound::Answer;

/// The longest a delivery takes, its answer included.
const LIMIT: Duration = Duration::from_secs(5);
/// The longest connecting takes.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// What is read of an answer.
const ANSWER: usize = 16 << 10;
/// The longest text of an error.
const ERROR: usize = 300;

/// How a delivery ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The status of the answer; none when none came.
    pub status: Option<u16>,
    /// What went wrong; none: it arrived.
    pub error: Option<String>,
    /// Whether it may go better another time.
    pub again: bool,
}

impl Posted {
    fn arrived(status: StatusCode) -> Self {
        Self { status: Some(status.as_u16()), error: None, again: false }
    }

    fn failed(status: Option<StatusCode>, error: String, again: bool) -> Self {
        Self { status: status.map(|s| s.as_u16()), error: Some(error), again }
    }
}

/// Sends a document to a target, once.
pub async fn post(target: &Target, document: &AlertDocument, now: DateTime<Utc>) -> Posted {
    let way = match &target.way {
        Ok(way) => way,
        Err(why) => return Posted::failed(None, why.clone(), false),
    };
    let shape = shape(target.spec.template);
    let request = match request(way, shape, document, now) {
        Ok(request) => request,
        Err(why) => return Posted::failed(None, format!("no request can be made of it: {why}"), false),
    };
    let mut posted = match tokio::time::timeout(LIMIT, exchange(way, shape, request)).await {
        Ok(posted) => posted,
        Err(_) => Posted::failed(None, format!("it did not answer within {} s", LIMIT.as_secs()), true),
    };
    posted.error = posted.error.map(|why| clip(&without_secrets(&why, way), ERROR));
    posted
}

async fn exchange(way: &Way, shape: &Shape, request: Request<Bytes>) -> Posted {
    let answer = match way.client.call(request).await {
        Ok(answer) => answer,
        Err(why) => return Posted::failed(None, format!("it could not be reached: {why}"), true),
    };
    let status = answer.status();
    if status.is_redirection() {
        return Posted::failed(Some(status), format!("it answered {status}; redirects are not followed"), false);
    }
    if !status.is_success() {
        let again = status.is_server_error() || [408, 425, 429].contains(&status.as_u16());
        return Posted::failed(Some(status), format!("it answered {status}"), again);
    }
    let Some((code, reason)) = shape.verdict else { return Posted::arrived(status) };
    let said = read(answer.into_body()).await;
    match said.get(code).and_then(Value::as_i64) {
        // Robots that say nothing have taken it.
        None | Some(0) => Posted::arrived(status),
        Some(number) => {
            let reason = said.get(reason).and_then(Value::as_str).unwrap_or("no reason given");
            let reason = clip(&reason.replace(char::is_control, " "), ERROR);
            Posted::failed(Some(status), format!("it refused the message: {reason} ({code} {number})"), false)
        }
    }
}

/// The answer as JSON; what is none, or is too long, says nothing.
async fn read(body: Answer) -> Value {
    let whole = Limited::new(body, ANSWER).collect().await;
    whole.ok().and_then(|whole| serde_json::from_slice(&whole.to_bytes()).ok()).unwrap_or_default()
}

fn request(
    way: &Way,
    shape: &Shape,
    document: &AlertDocument,
    now: DateTime<Utc>,
) -> Result<Request<Bytes>, http::Error> {
    let mut url = way.url.clone();
    let mut body = shape.body(document);
    match (&way.secret, shape.signing) {
        (Some(secret), Signing::Query) => {
            let timestamp = now.timestamp_millis().to_string();
            let sign = hmac(secret.expose(), format!("{timestamp}\n{}", secret.expose()).as_bytes());
            url.query_pairs_mut()
                .append_pair("timestamp", &timestamp)
                .append_pair("sign", &BASE64_STANDARD.encode(sign));
        }
        (Some(secret), Signing::Body) => {
            // Here the text is the key, and nothing is signed with it.
            let timestamp = now.timestamp().to_string();
            let sign = hmac(&format!("{timestamp}\n{}", secret.expose()), b"");
            if let Value::Object(fields) = &mut body {
                fields.insert("timestamp".to_owned(), timestamp.into());
                fields.insert("sign".to_owned(), BASE64_STANDARD.encode(sign).into());
            }
        }
        (_, Signing::Header) | (None, _) => {}
    }
    let body = Bytes::from(body.to_string());
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(url.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, concat!("headgate/", env!("CARGO_PKG_VERSION")))
        .header("x-headgate-event", document.kind.as_str())
        .header("x-headgate-delivery", document.id.to_string())
        .header("x-headgate-timestamp", now.timestamp());
    if let (Some(secret), Signing::Header) = (&way.secret, shape.signing) {
        request = request.header("x-headgate-signature", signature(secret, &body)?);
    }
    request.body(body)
}

fn signature(secret: &Secret, body: &[u8]) -> Result<HeaderValue, http::Error> {
    let hex: String = hmac(secret.expose(), body).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(HeaderValue::try_from(format!("sha256={hex}"))?)
}

fn hmac(key: &str, text: &[u8]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return [0; 32] };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// What others say may repeat what they were called with.
fn without_secrets(text: &str, way: &Way) -> String {
    let mut text = text.replace(way.url.as_str(), "***");
    let words = way.url.path().split('/').chain(way.url.query().into_iter().flat_map(|q| q.split(['&', '='])));
    // Shorter ones are words such as `hook` and `send`.
    for word in words.chain(way.secret.as_ref().map(Secret::expose)).filter(|word| word.len() >= 8) {
        text = text.replace(word, "***");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{alerts::shape, outbound::Clients};
    use headgate_domain::alert::AlertTemplate;

    fn way(url: &str, secret: Option<&str>) -> Way {
        let client = Clients::default().fetching(url, None, Duration::from_secs(1));
        Way { url: url.parse().unwrap(), secret: secret.map(Secret::new), client }
    }

    fn made(template: AlertTemplate, url: &str, secret: Option<&str>) -> (Request<Bytes>, Value) {
        let at = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let request = request(&way(url, secret), shape::shape(template), &AlertDocument::test(at), at).unwrap();
        let body = serde_json::from_slice(request.body()).unwrap();
        (request, body)
    }

    #[test]
    fn a_secret_signs_the_body_and_without_one_nothing_is_signed() {
        let (request, _) = made(AlertTemplate::Json, "https://h.example/x", Some("s"));
        let shown = request.headers()["x-headgate-signature"].to_str().unwrap();
        let expected: String = hmac("s", request.body()).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(shown, format!("sha256={expected}"));
        assert_eq!(request.headers()["x-headgate-timestamp"], "1800000000");
        let (request, _) = made(AlertTemplate::Json, "https://h.example/x", None);
        assert!(!request.headers().contains_key("x-headgate-signature"));
    }

    // Expected values by an independent implementation of HMAC-SHA256.
    #[test]
    fn dingtalk_is_signed_in_the_query_and_feishu_in_the_body() {
        let (request, body) = made(AlertTemplate::Dingtalk, "https://d.example/send?access_token=t", Some("SECabc"));
        let query = request.uri().query().unwrap();
        assert_eq!(
            query,
            "access_token=t&timestamp=1800000000000&sign=s70k7%2FiqeFJrhlEAPSnI9WrGLqC5YHz9Hg5m2rQkeQk%3D"
        );
        assert!(body.get("sign").is_none());
        let (request, body) = made(AlertTemplate::Feishu, "https://f.example/hook/t", Some("abc"));
        assert_eq!(request.uri().query(), None);
        assert_eq!(
            (&body["timestamp"], &body["sign"]),
            (&"1800000000".into(), &"k6Gl/pMDkwuD7w7ZO9/pSmi1y5b/D4+oOlX/VGXpUyE=".into())
        );
        let (request, body) = made(AlertTemplate::Feishu, "https://f.example/hook/t", None);
        assert!(request.uri().query().is_none() && body.get("sign").is_none());
    }

    #[test]
    fn what_is_said_of_a_failure_has_no_part_of_the_address() {
        let way = way("https://h.example/hook/canary-path?key=canary-query", Some("canary-secret"));
        let text = "no /hook/canary-path?key=canary-query or canary-query, canary-secret";
        let said = without_secrets(text, &way);
        assert!(!said.contains("canary"), "{said}");
    }
}
