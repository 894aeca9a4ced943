//! The words by which upstreams say what is wrong. All lower case; sources are public answers of vendors and relays.

/// Codes and types of a refusal for content.
pub(crate) const CONTENT_CODES: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "content_policy",
    "invalid_prompt",
    "responsibleaipolicyviolation",
    "responsible_ai_policy_violation",
    "data_inspection_failed",
    "datainspectionfailed",
    "sensitive_words_detected",
];

/// Codes of a prompt that is too long.
pub(crate) const CONTEXT_CODES: &[&str] =
    &["context_length_exceeded", "context_window_exceeded", "model_context_window_exceeded"];

/// Sentences about a prompt that is too long.
pub(crate) const CONTEXT: &[&str] = &[
    "prompt is too long",
    "prompt too long",
    "maximum context length",
    "max context length",
    "context length exceeded",
    "exceeds the context length",
    "context window",
    "context_length_exceeded",
    "input is longer than",
    "input longer than",
    "input length and `max_tokens` exceed context limit",
    "exceed context limit",
    "exceeds the maximum number of tokens allowed",
    "range of input length should be",
    "输入过长",
    "上下文长度",
    "超出上下文",
];

/// Codes and types of a body that is too large.
pub(crate) const TOO_LARGE_CODES: &[&str] = &["request_too_large", "payload_too_large", "request_entity_too_large"];

/// Codes and types of a credential that is refused.
pub(crate) const CREDENTIAL_CODES: &[&str] = &[
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "invalid_authentication",
    "invalid_authentication_error",
    "account_deactivated",
    "api_key_invalid",
    "unauthenticated",
    "permission_denied",
];

/// Codes and types of a quota, balance or plan that is used up.
pub(crate) const EXHAUSTED_CODES: &[&str] = &[
    "insufficient_quota",
    "insufficient_user_quota",
    "insufficient_balance",
    "insufficient_credits",
    "insufficient_funds",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "quota_exceeded",
    "quota_exhausted",
    "pre_consume_token_quota_failed",
    "exceeded_current_quota_error",
    "credit_exhausted",
    "usage_limit_reached",
    "usage_limit_exceeded",
    "usage_not_included",
    "allocationquota.freetieronly",
    "arrearage",
    "account_overdue",
    "payment_required",
];

/// Sentences that cannot be about anything else, whatever the status.
pub(crate) const EXHAUSTED: &[&str] = &[
    "insufficient quota",
    "insufficient balance",
    "insufficient credit",
    "insufficient funds",
    "insufficient account balance",
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance is too low",
    "not enough credits",
    "out of credits",
    "no credits",
    "quota exceeded",
    "quota is not enough",
    "quota has been exhausted",
    "quota exhausted",
    "usage limit",
    "in arrears",
    "overdue",
    "余额不足",
    "额度不足",
    "额度已用",
    "额度用尽",
    "额度耗尽",
    "剩余额度",
    "配额不足",
    "配额已用",
    "配额已耗尽",
    "欠费",
    "请充值",
];

/// Words that mean it in a 403 or 429, where a request's own text is not quoted.
pub(crate) const EXHAUSTED_WORDS: &[&str] =
    &["quota", "balance", "credit", "credits", "billing", "plan", "arrears", "arrearage", "subscription"];

/// The same in Chinese, where words have no borders.
pub(crate) const EXHAUSTED_PARTS: &[&str] = &["余额", "额度", "配额", "套餐", "充值"];

/// What makes a quota a rate: it is back within a minute.
pub(crate) const RATE: &[&str] = &[
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "per minute",
    "per second",
    "per min",
    "requests per",
    "tokens per",
    "perminute",
    "请求过于频繁",
    "频率",
    "每分钟",
    "速率",
    "限流",
];

/// Codes and types of a rate limit.
pub(crate) const RATE_CODES: &[&str] = &[
    "rate_limit_error",
    "rate_limit_exceeded",
    "rate_limit_reached",
    "rate_limit_reached_error",
    "too_many_requests",
    "resource_exhausted",
    "limit_requests",
    "limit_burst_rate",
];

/// Codes and types of an upstream without capacity.
pub(crate) const OVERLOADED_CODES: &[&str] = &[
    "overloaded_error",
    "overloaded",
    "server_is_overloaded",
    "slow_down",
    "engine_overloaded",
    "engine_overloaded_error",
    "service_unavailable",
    "service_unavailable_error",
    "server_overloaded",
    "model_overloaded",
    "unavailable",
];

/// Sentences of an upstream without capacity.
pub(crate) const OVERLOADED: &[&str] =
    &["overloaded", "at capacity", "负载已饱和", "负载过高", "服务繁忙", "系统繁忙", "服务器繁忙"];

/// Codes of an unknown model.
pub(crate) const MODEL_CODES: &[&str] = &[
    "model_not_found",
    "model_not_exist",
    "model_not_available",
    "model_not_supported",
    "model_not_allowed",
    "unsupported_model",
    "unknown_model",
    "invalid_model",
    "invalid_model_error",
    "no_such_model",
    "modelnotfound",
    "deployment_not_found",
    "deploymentnotfound",
];

/// Sentences about an unknown model.
pub(crate) const MODEL: &[&str] = &[
    "model_not_found",
    "model not found",
    "no such model",
    "unknown model",
    "invalid model name",
    "model not exist",
    "model does not exist",
    "not a valid model",
    "unsupported model",
    "no available channel for model",
    "模型不存在",
    "不支持该模型",
    "不支持的模型",
    "不支持此模型",
    "未知模型",
    "模型未找到",
    "未找到模型",
    "找不到模型",
    "无效的模型",
    "模型名称错误",
    "无可用模型",
    "模型无可用渠道",
];

/// What follows a quoted model name.
pub(crate) const MODEL_TAIL: &[&str] = &[
    "does not exist",
    "doesn't exist",
    "was not found",
    "is not found",
    "not found",
    "is not supported",
    "is not available",
    "is not a valid",
    "不存在",
    "未找到",
    "不支持",
];

/// Codes and types of an upstream that timed out by itself.
pub(crate) const TIMEOUT_CODES: &[&str] = &["timeout_error", "timeout", "request_timeout", "deadline_exceeded"];

/// Codes and types of an upstream's own fault.
pub(crate) const SERVER_CODES: &[&str] =
    &["api_error", "server_error", "internal_error", "internal_server_error", "internal", "upstream_error"];

/// Codes and types of a request that is wrong.
pub(crate) const FAULT_CODES: &[&str] = &[
    "invalid_request_error",
    "invalid_request",
    "invalid_value",
    "invalid_type",
    "missing_required_parameter",
    "unsupported_parameter",
    "unsupported_value",
    "unknown_parameter",
    "bad_request",
];

/// Whether any of the sentences occurs.
pub(crate) fn any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|phrase| text.contains(phrase))
}

/// Whether any of the words occurs as a whole word (`balance`, not `balancer`; not as a part of `update_plan`).
pub(crate) fn any_word(text: &str, list: &[&str]) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| list.contains(&word))
}

/// Whether a sentence names a model and then says that it is not there: `the model 'x' does not exist`.
pub(crate) fn says_model_is_missing(text: &str) -> bool {
    if any(text, MODEL) {
        return true;
    }
    // A name and its quotes fit into this many bytes; further on, another thing is spoken of.
    const REACH: usize = 120;
    ["model", "模型"].iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let from = at + word.len();
            let end = (from + REACH).min(text.len());
            let end = (from..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(from);
            text.get(from..end).is_some_and(|near| MODEL_TAIL.iter().any(|tail| follows_name(near, tail)))
        })
    })
}

/// Whether `tail` follows with nothing but a name between.
fn follows_name(near: &str, tail: &str) -> bool {
    near.find(tail).and_then(|at| near.get(..at)).is_some_and(|between| {
        let between = between.trim_matches(|c: char| c.is_whitespace() || "`'\":：“”「」[]()".contains(c));
        !between.contains(char::is_whitespace)
    })
}
