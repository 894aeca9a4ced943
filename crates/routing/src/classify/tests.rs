//! Every row of the result table that an upstream's answer can give.

use std::time::Duration;

use super::*;

/// status, code, type, message, structured → class, detail.
type Row = (u16, &'static str, &'static str, &'static str, bool, Class, Option<Detail>);

fn answer(status: u16, code: &str, kind: &str, message: &str, structured: bool) -> UpstreamError {
    let text = |t: &str| (!t.is_empty()).then(|| t.to_owned());
    UpstreamError {
        status: (status != 0).then_some(status),
        code: text(code),
        kind: text(kind),
        message: message.to_owned(),
        structured,
        retry_after: None,
        model_scoped: false,
    }
}

const CONTEXT: Option<Detail> = Some(Detail::ContextLength);
const LARGE: Option<Detail> = Some(Detail::TooLarge);
const FILTER: Option<Detail> = Some(Detail::ContentFilter);
const MODEL: Option<Detail> = Some(Detail::NoSuchModel);
const NOT_API: Option<Detail> = Some(Detail::NotAnApi);
const TIMEOUT: Option<Detail> = Some(Detail::Timeout);

/// Status 0 stands for an error inside a 2xx.
const ROWS: &[Row] = &[
    // credential
    (401, "invalid_api_key", "invalid_request_error", "Incorrect API key provided", true, Class::Credential, None),
    (401, "", "", "", false, Class::Credential, None),
    (401, "", "", "insufficient quota", true, Class::Credential, None),
    (403, "", "permission_error", "Your API key does not have permission", true, Class::Credential, None),
    (403, "", "", "<html>Forbidden</html>", false, Class::Credential, None),
    (403, "", "", "load balancer refused", false, Class::Credential, None),
    (400, "api_key_invalid", "", "API key not valid", true, Class::Credential, None),
    (0, "", "authentication_error", "invalid x-api-key", true, Class::Credential, None),
    (0, "401", "", "no", true, Class::Credential, None),
    // exhausted
    (402, "", "", "", false, Class::Exhausted, None),
    (402, "", "", "Insufficient Balance", true, Class::Exhausted, None),
    (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota", true, Class::Exhausted, None),
    (429, "", "", "Your plan's limit has been reached", true, Class::Exhausted, None),
    (429, "", "usage_limit_reached", "The usage limit has been reached", true, Class::Exhausted, None),
    (403, "pre_consume_token_quota_failed", "new_api_error", "x", true, Class::Exhausted, None),
    (403, "insufficient_user_quota", "new_api_error", "用户额度不足, 剩余额度: ＄0.00", true, Class::Exhausted, None),
    (403, "", "", "账户余额为零", true, Class::Exhausted, None),
    (403, "", "", "您的套餐已到期", true, Class::Exhausted, None),
    (429, "", "", "配额不足", true, Class::Exhausted, None),
    (
        400,
        "",
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API.",
        true,
        Class::Exhausted,
        None,
    ),
    (400, "Arrearage", "Arrearage", "Access denied, account overdue", true, Class::Exhausted, None),
    (400, "", "", "账号已欠费", true, Class::Exhausted, None),
    (0, "insufficient_quota", "", "", true, Class::Exhausted, None),
    (0, "", "billing_error", "", true, Class::Exhausted, None),
    // rate_limited
    (429, "", "", "", false, Class::RateLimited, None),
    (429, "rate_limit_exceeded", "requests", "Rate limit reached for gpt-5", true, Class::RateLimited, None),
    (
        429,
        "",
        "rate_limit_error",
        "This request would exceed your account's rate limit",
        true,
        Class::RateLimited,
        None,
    ),
    (429, "", "", "Quota exceeded for quota metric 'requests per minute'", true, Class::RateLimited, None),
    (429, "", "", "您的账户已达到速率限制，请控制请求频率", true, Class::RateLimited, None),
    (0, "", "rate_limit_error", "slow", true, Class::RateLimited, None),
    (0, "429", "", "wait", true, Class::RateLimited, None),
    // overloaded
    (503, "", "", "", false, Class::Overloaded, None),
    (529, "", "overloaded_error", "Overloaded", true, Class::Overloaded, None),
    (500, "", "overloaded_error", "Overloaded", true, Class::Overloaded, None),
    (429, "", "engine_overloaded_error", "The engine is currently overloaded", true, Class::Overloaded, None),
    (429, "", "new_api_error", "当前分组上游负载已饱和，请稍后再试", true, Class::Overloaded, None),
    (503, "model_not_found", "", "无可用渠道 model not found", true, Class::Overloaded, None),
    (0, "server_is_overloaded", "", "", true, Class::Overloaded, None),
    (0, "slow_down", "", "", true, Class::Overloaded, None),
    // model_missing
    (
        404,
        "model_not_found",
        "invalid_request_error",
        "The model `gpt-9` does not exist",
        true,
        Class::ModelMissing,
        MODEL,
    ),
    (404, "", "not_found_error", "model: claude-9", true, Class::ModelMissing, MODEL),
    (404, "", "", "whatever, but in a known shape", true, Class::ModelMissing, MODEL),
    (404, "", "", "model 'llama9' not found, try pulling it first", false, Class::ModelMissing, MODEL),
    (400, "model_not_found", "", "", true, Class::ModelMissing, MODEL),
    (400, "", "", "Unknown model: gpt-9", true, Class::ModelMissing, MODEL),
    (
        400,
        "",
        "",
        "The 'gpt-9' model is not supported when using Codex with a ChatGPT account.",
        true,
        Class::ModelMissing,
        MODEL,
    ),
    (400, "", "", "The model `gpt-9` does not exist or you do not have access to it", true, Class::ModelMissing, MODEL),
    (400, "1211", "", "模型不存在，请检查模型代码。", true, Class::ModelMissing, MODEL),
    (400, "", "", "不支持该模型", true, Class::ModelMissing, MODEL),
    (400, "", "", "模型 gpt-9 不存在", true, Class::ModelMissing, MODEL),
    (0, "model_not_found", "", "", true, Class::ModelMissing, MODEL),
    // context, size, content
    (400, "context_length_exceeded", "invalid_request_error", "", true, Class::ClientFault, CONTEXT),
    (413, "context_length_exceeded", "", "", true, Class::ClientFault, CONTEXT),
    (
        400,
        "",
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum",
        true,
        Class::ClientFault,
        CONTEXT,
    ),
    (400, "", "", "This model's maximum context length is 8192 tokens", true, Class::ClientFault, CONTEXT),
    (400, "", "", "Your input exceeds the context window of this model", true, Class::ClientFault, CONTEXT),
    (413, "", "", "input longer than allowed", true, Class::ClientFault, CONTEXT),
    (0, "context_length_exceeded", "", "", true, Class::ClientFault, CONTEXT),
    (413, "", "", "<html>Request Entity Too Large</html>", false, Class::ClientFault, LARGE),
    (413, "", "request_too_large", "Request exceeds the maximum size", true, Class::ClientFault, LARGE),
    (400, "request_too_large", "", "", true, Class::ClientFault, LARGE),
    (400, "content_filter", "", "The response was filtered", true, Class::ContentPolicy, FILTER),
    (400, "content_policy_violation", "", "", true, Class::ContentPolicy, FILTER),
    (400, "invalid_prompt", "", "", true, Class::ContentPolicy, FILTER),
    (403, "content_policy_violation", "", "", true, Class::ContentPolicy, FILTER),
    (0, "content_filter", "", "", true, Class::ContentPolicy, FILTER),
    // client_fault
    (400, "", "invalid_request_error", "messages: at least one message is required", true, Class::ClientFault, None),
    (400, "", "", "tools.0.name: 'update_plan' may not contain a plan", true, Class::ClientFault, None),
    (400, "unsupported_parameter", "", "'temperature' of this model is not supported", true, Class::ClientFault, None),
    (400, "", "", "This model does not support image input", true, Class::ClientFault, None),
    (422, "", "", "field required", true, Class::ClientFault, None),
    (405, "", "", "method not allowed", true, Class::ClientFault, None),
    (409, "", "", "conflict", true, Class::ClientFault, None),
    (410, "", "", "", false, Class::ClientFault, None),
    (0, "", "invalid_request_error", "max_tokens is too large", true, Class::ClientFault, None),
    (0, "400", "", "bad", true, Class::ClientFault, None),
    // server
    (500, "", "", "Internal error", true, Class::Server, None),
    (502, "", "", "<html>Bad gateway</html>", false, Class::Server, None),
    (504, "", "", "", false, Class::Server, TIMEOUT),
    (520, "", "", "", false, Class::Server, None),
    (408, "", "", "", false, Class::Server, TIMEOUT),
    (500, "model_not_found", "", "no such model", true, Class::Server, None),
    (302, "", "", "", false, Class::Server, NOT_API),
    (307, "", "", "moved", true, Class::Server, NOT_API),
    (404, "", "", "404 page not found", false, Class::Server, NOT_API),
    (405, "", "", "<html>", false, Class::Server, NOT_API),
    (0, "", "api_error", "Internal server error", true, Class::Server, None),
    (0, "server_error", "", "", true, Class::Server, None),
    (0, "500", "", "oops", true, Class::Server, None),
    (0, "", "timeout_error", "", true, Class::Server, TIMEOUT),
    // broken
    (0, "", "", "something is wrong", true, Class::Broken, None),
    (0, "1234", "", "fail", true, Class::Broken, None),
    (0, "", "", "", false, Class::Broken, None),
];

#[test]
fn every_row_of_the_result_table() {
    for (status, code, kind, message, structured, class, detail) in ROWS {
        let failure = classify(&answer(*status, code, kind, message, *structured));
        assert_eq!(
            (failure.class, failure.detail),
            (*class, *detail),
            "status {status}, code '{code}', type '{kind}', message '{message}'"
        );
    }
}

#[test]
fn a_503_is_never_a_missing_model_whatever_it_says() {
    for words in crate::phrases::MODEL.iter().chain(crate::phrases::MODEL_CODES) {
        assert_eq!(classify(&answer(503, words, words, words, true)).class, Class::Overloaded, "{words}");
    }
}

#[test]
fn a_failure_keeps_what_the_upstream_said() {
    let said = UpstreamError { retry_after: Some(Duration::from_secs(7)), ..answer(429, "x", "", "Slow", true) };
    let failure = classify(&said);
    assert_eq!((failure.status, failure.code.as_deref(), &*failure.message), (Some(429), Some("x"), "Slow"));
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(classify(&answer(502, "", "", " ", false)).message, "upstream answered HTTP 502");
}
