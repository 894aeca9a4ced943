//! What clients are told: every refusal and every class of failure, in the words of the client's protocol.

use std::time::Duration;

use headgate_domain::{Class, Detail, Failure, Protocol};
use headgate_wire::envelope::{self, Refusal, RetryHint};
use serde_json::Value;

#[test]
fn every_refusal_has_its_status_and_the_types_that_clients_know() {
    let bad = "invalid_request_error";
    let rows = [
        (Refusal::InvalidKey, 401, "authentication_error", bad, "invalid_api_key"),
        (Refusal::PolicyNoRoute, 403, "permission_error", bad, "policy_no_route"),
        (Refusal::ModelNotFound, 404, "not_found_error", bad, "model_not_found"),
        (Refusal::CapabilityNoRoute, 422, bad, bad, "capability_no_route"),
        (Refusal::TranslationLoss, 422, bad, bad, "translation_loss"),
        (Refusal::BudgetNoRoute, 402, "billing_error", "insufficient_quota", "budget_no_route"),
        (Refusal::UpstreamsExhausted, 429, "rate_limit_error", "insufficient_quota", "insufficient_quota"),
        (Refusal::RateLimited, 429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded"),
        (Refusal::Saturated, 429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded"),
        (Refusal::CoolingDown, 503, "overloaded_error", "server_error", "overloaded"),
        (Refusal::UpstreamAuth, 502, "api_error", "server_error", "upstream_auth"),
        (Refusal::NoUpstream, 503, "api_error", "server_error", "no_upstream"),
        (Refusal::LoopDetected, 508, "api_error", "server_error", "loop_detected"),
        (Refusal::ContextTooLong, 400, bad, bad, "context_length_exceeded"),
        (Refusal::UnsupportedParameter, 400, bad, bad, "unsupported_parameter"),
        (Refusal::BadRequest, 400, bad, bad, "bad_request"),
        (Refusal::MethodNotAllowed, 405, bad, bad, "method_not_allowed"),
        (Refusal::RequestTimeout, 408, bad, bad, "request_timeout"),
        (Refusal::BodyTooLarge, 413, bad, bad, "body_too_large"),
        (Refusal::WrongContentType, 415, bad, bad, "wrong_content_type"),
        (Refusal::WrongHost, 421, bad, bad, "wrong_host"),
        (Refusal::WebsocketUnsupported, 426, bad, bad, "websocket_unsupported"),
        (Refusal::HeadersTooLarge, 431, bad, bad, "headers_too_large"),
        (Refusal::ForeignOrigin, 403, "permission_error", bad, "foreign_origin"),
        (Refusal::NotFound, 404, "not_found_error", bad, "not_found"),
        (Refusal::Deadline, 504, "timeout_error", "server_error", "deadline"),
        (Refusal::Stopping, 503, "api_error", "server_error", "stopping"),
        (Refusal::InternalError, 500, "api_error", "server_error", "internal_error"),
    ];
    for (refusal, status, claude, kind, code) in rows {
        let words = refusal.words(Protocol::Claude);
        assert_eq!((words.status, words.kind), (status, claude), "{refusal:?}");
        for protocol in [Protocol::Chat, Protocol::Responses] {
            let words = refusal.words(protocol);
            assert_eq!((words.status, words.kind, &*words.code), (status, kind, code), "{refusal:?}");
        }
        let known = matches!(refusal.retry(), RetryHint::WhenKnown);
        assert_eq!(known, matches!(status, 429) || refusal == Refusal::CoolingDown, "{refusal:?}");
    }
    assert_eq!(Refusal::Stopping.retry(), RetryHint::After(2));
    assert_eq!(Refusal::BadRequest.retry(), RetryHint::Never);
}

#[test]
fn every_class_of_failure_has_its_row() {
    let bad = "invalid_request_error";
    let failure = |class, status| Failure { status, ..Failure::new(class, "no") };
    let detailed = |class, detail| failure(class, Some(400)).with_detail(detail);
    let rows = [
        (failure(Class::ClientFault, Some(400)), 400, bad, 400, bad, "bad_request"),
        (failure(Class::ClientFault, Some(422)), 400, bad, 400, bad, "bad_request"),
        (failure(Class::ClientFault, Some(409)), 409, bad, 409, bad, "bad_request"),
        (failure(Class::ClientFault, Some(503)), 400, bad, 400, bad, "bad_request"),
        (failure(Class::ClientFault, None), 400, bad, 400, bad, "bad_request"),
        (detailed(Class::ClientFault, Detail::ContextLength), 400, bad, 400, bad, "context_length_exceeded"),
        (detailed(Class::ClientFault, Detail::TooLarge), 413, bad, 413, bad, "request_too_large"),
        (detailed(Class::ClientFault, Detail::NoSuchModel), 404, "not_found_error", 404, bad, "model_not_found"),
        (failure(Class::ModelMissing, Some(404)), 404, "not_found_error", 404, bad, "model_not_found"),
        (failure(Class::ContentPolicy, Some(400)), 400, bad, 400, bad, "content_filter"),
        (
            failure(Class::RateLimited, Some(429)),
            429,
            "rate_limit_error",
            429,
            "rate_limit_error",
            "rate_limit_exceeded",
        ),
        (
            failure(Class::Exhausted, Some(402)),
            429,
            "rate_limit_error",
            429,
            "insufficient_quota",
            "insufficient_quota",
        ),
        (failure(Class::Credential, Some(401)), 502, "api_error", 502, "server_error", "upstream_auth"),
        (failure(Class::Overloaded, Some(529)), 529, "overloaded_error", 503, "server_error", "overloaded"),
        (failure(Class::SlowFirst, None), 504, "timeout_error", 504, "server_error", "timeout"),
        (failure(Class::Stalled, None), 504, "timeout_error", 504, "server_error", "timeout"),
        (detailed(Class::Server, Detail::Timeout), 504, "timeout_error", 504, "server_error", "timeout"),
        (failure(Class::Server, Some(500)), 502, "api_error", 502, "server_error", "upstream_error"),
        (failure(Class::Connect, None), 502, "api_error", 502, "server_error", "upstream_error"),
        (failure(Class::Cut, None), 502, "api_error", 502, "server_error", "upstream_error"),
        (failure(Class::Broken, None), 502, "api_error", 502, "server_error", "upstream_error"),
        (failure(Class::Empty, None), 502, "api_error", 502, "server_error", "upstream_error"),
        (failure(Class::Gateway, None), 500, "api_error", 500, "server_error", "internal_error"),
    ];
    for (failure, status_claude, claude, status, kind, code) in rows {
        let words = envelope::failure_words(&failure, Protocol::Claude);
        assert_eq!((words.status, words.kind), (status_claude, claude), "{failure:?}");
        let words = envelope::failure_words(&failure, Protocol::Responses);
        assert_eq!((words.status, words.kind, &*words.code), (status, kind, code), "{failure:?}");
        // The same words inside a stream.
        for protocol in [Protocol::Chat, Protocol::Claude] {
            let event = String::from_utf8(envelope::stream_error(protocol, &failure, "m", "r", 0)).unwrap();
            let data: Value = serde_json::from_str(event.split("data: ").nth(1).unwrap().trim()).unwrap();
            let expected = if protocol == Protocol::Claude { claude } else { kind };
            assert_eq!(data["error"]["type"], expected, "{event}");
        }
    }
    let coded = Failure { code: Some("invalid_value".to_owned()), ..failure(Class::ClientFault, Some(400)) };
    assert_eq!(envelope::failure_words(&coded, Protocol::Chat).code, "invalid_value");
}

#[test]
fn a_failed_response_has_the_codes_that_codex_knows() {
    for (class, detail, code) in [
        (Class::RateLimited, None, "rate_limit_exceeded"),
        (Class::Exhausted, None, "insufficient_quota"),
        (Class::ClientFault, Some(Detail::ContextLength), "context_length_exceeded"),
        (Class::Overloaded, None, "server_is_overloaded"),
        (Class::Cut, None, "server_error"),
        (Class::Credential, None, "server_error"),
    ] {
        let failure = Failure { detail, retry_after: Some(Duration::from_secs(9)), ..Failure::new(class, "no") };
        let (told, message) = envelope::failed_response(&failure);
        assert_eq!(told, code);
        assert_eq!(message.contains("Please try again in 9s."), class == Class::RateLimited, "{message}");
    }
}
