//! The six contract cases of a gateway that fails over: no boundary is crossed, and every attempt is recorded.

use headgate_tests::{
    fake::{Behaviour, Fake},
    harness::{Headgate, KEY, PATHS, header},
};

struct Case {
    primary: Fake,
    fallback: Fake,
    /// In another region, and the last resort of nobody here.
    abroad: Fake,
    headgate: Headgate,
}

impl Case {
    async fn new() -> Self {
        let (primary, fallback, abroad) = (Fake::start().await, Fake::start().await, Fake::start().await);
        let headgate = Headgate::start(&format!(
            "version: 1
settings: {{ breaker_failures: 100, breaker_min_results: 10000 }}
upstreams:
  - {{ name: primary, base_url: '{}', region: eu, credentials: [ {{ value: one }} ] }}
  - {{ name: fallback, base_url: '{}', region: eu, credentials: [ {{ value: two }} ] }}
  - {{ name: abroad, base_url: '{}', region: us, credentials: [ {{ value: three }} ] }}
groups:
  - name: g
    members:
      - {{ upstream: primary, priority: 1 }}
      - {{ upstream: fallback, priority: 2 }}
      - {{ upstream: abroad, priority: 3 }}
keys:
  - {{ name: k, group: g, secret: {KEY}, regions: [eu] }}
  - {{ name: nowhere, group: g, secret: hg-nowhere00000000000000, regions: [asia] }}
",
            primary.url(),
            fallback.url(),
            abroad.url()
        ))
        .await;
        Self { primary, fallback, abroad, headgate }
    }

    /// What the upstreams were really asked.
    fn made(&self) -> [usize; 3] {
        [self.primary.seen().len(), self.fallback.seen().len(), self.abroad.seen().len()]
    }

    /// Checks an answer: who gave it, and that recorded and real attempts are the same ones.
    async fn check(&self, response: reqwest::Response, status: u16, by: Option<&str>, attempts: &[&str]) -> String {
        assert_eq!(response.status(), status);
        assert_eq!(header(&response, "x-headgate-upstream"), by);
        let told: usize = header(&response, "x-headgate-attempts").unwrap().parse().unwrap();
        let id = header(&response, "x-headgate-request-id").unwrap().to_owned();
        let text = response.text().await.unwrap();
        let (row, recorded) = self.headgate.record(&id).await;
        let names: Vec<&str> = recorded.iter().map(|a| a["upstream_name"].as_str().unwrap()).collect();
        assert_eq!(names, attempts, "{row}");
        assert_eq!((told, row["attempt_count"].as_u64()), (attempts.len(), Some(attempts.len() as u64)));
        let made: usize = self.made().iter().sum();
        assert_eq!(made, attempts.len(), "attempts made and recorded are the same");
        assert!(self.abroad.seen().is_empty(), "the boundary was crossed");
        for fake in [&self.primary, &self.fallback, &self.abroad] {
            fake.forget();
            fake.behave();
        }
        let resets = self.headgate.admin(reqwest::Method::GET, "/upstreams", None).await;
        for upstream in resets["items"].as_array().unwrap() {
            let path = format!("/upstreams/{}/reset", upstream["id"]);
            self.headgate.admin(reqwest::Method::POST, &path, None).await;
        }
        text
    }
}

#[tokio::test]
async fn the_primary_answers_and_nobody_else_is_asked() {
    let case = Case::new().await;
    for path in PATHS {
        let response = case.headgate.ask(path, "m", false).send().await.unwrap();
        let text = case.check(response, 200, Some("primary"), &["primary"]).await;
        assert!(text.contains("HEADGATE-OK"));
    }
}

#[tokio::test]
async fn a_rate_limit_or_a_server_error_of_the_primary_is_answered_by_the_fallback() {
    let case = Case::new().await;
    for status in [429, 500, 502, 503, 504, 529] {
        for path in PATHS {
            case.primary.always(Behaviour::status(status));
            let response = case.headgate.ask(path, "m", false).send().await.unwrap();
            let text = case.check(response, 200, Some("fallback"), &["primary", "fallback"]).await;
            assert!(text.contains("HEADGATE-OK"), "{status} {path}");
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_told_as_it_is_when_the_caller_forbids_the_fallback() {
    let case = Case::new().await;
    for path in PATHS {
        case.primary.always(Behaviour::status(429).header("retry-after", "7").body(" { \"error\":\"wait\" } "));
        let request = case.headgate.ask(path, "m", false).header("x-headgate-fallback", "none");
        let response = request.send().await.unwrap();
        assert_eq!(header(&response, "retry-after"), Some("7"));
        let text = case.check(response, 429, Some("primary"), &["primary"]).await;
        assert_eq!(text, " { \"error\":\"wait\" } ");
    }
}

#[tokio::test]
async fn nothing_outside_the_allowed_region_is_asked_even_when_everything_inside_fails() {
    let case = Case::new().await;
    for path in PATHS {
        for stream in [false, true] {
            let foreign = case.headgate.ask(path, "m", stream).header("x-headgate-region", "us").send().await.unwrap();
            assert_eq!(header(&foreign, "x-headgate-error"), Some("policy_no_route"));
            case.check(foreign, 403, None, &[]).await;
            let key = reqwest::header::HeaderValue::from_static("Bearer hg-nowhere00000000000000");
            let mut request = case.headgate.ask(path, "m", stream).build().unwrap();
            request.headers_mut().insert("authorization", key);
            let nowhere = case.headgate.client.execute(request).await.unwrap();
            assert_eq!(header(&nowhere, "x-headgate-error"), Some("policy_no_route"));
            case.check(nowhere, 403, None, &[]).await;
            case.primary.always(Behaviour::status(500));
            case.fallback.always(Behaviour::status(500));
            let failed = case.headgate.ask(path, "m", stream).send().await.unwrap();
            case.check(failed, 502, Some("fallback"), &["primary", "fallback"]).await;
        }
    }
}

#[tokio::test]
async fn a_stream_fails_over_like_any_other_answer() {
    let case = Case::new().await;
    for path in PATHS {
        for status in [None, Some(429), Some(500)] {
            if let Some(status) = status {
                case.primary.always(Behaviour::status(status));
            }
            let response = case.headgate.ask(path, "m", true).send().await.unwrap();
            assert_eq!(header(&response, "content-type"), Some("text/event-stream"));
            let (by, attempts): (_, &[&str]) =
                if status.is_some() { ("fallback", &["primary", "fallback"]) } else { ("primary", &["primary"]) };
            let text = case.check(response, 200, Some(by), attempts).await;
            let end = ["[DONE]", "response.completed", "message_stop"];
            assert!(end.iter().any(|e| text.contains(e)) && text.contains("GATE-OK"), "{path}: {text}");
        }
    }
}
