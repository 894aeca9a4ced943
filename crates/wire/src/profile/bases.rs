//! The named bases. Every value has its source beside it; what is not set here keeps the general default.

use headgate_domain::upstream::{ProfileSpec, Thinking};

/// The names of the bases, in the order of the published table.
pub const NAMES: [&str; 11] =
    ["generic", "anthropic", "openai", "codex", "deepseek", "kimi", "glm", "qwen", "openrouter", "ollama", "vllm"];

fn words(list: &[&str]) -> Option<Vec<String>> {
    Some(list.iter().map(|word| (*word).to_owned()).collect())
}

/// The keys a base sets; an unknown name sets none.
pub(super) fn named(name: &str) -> ProfileSpec {
    let text = |text: &str| Some(text.to_owned());
    let none = ProfileSpec::default();
    match name {
        "anthropic" => ProfileSpec {
            // "Adaptive thinking": the recommended mode since Claude 4.6; older models are in the model table.
            thinking: Some(Thinking::Adaptive),
            // "Effort" documentation: low, medium, high everywhere; xhigh and max depend on the model.
            efforts: words(&["low", "medium", "high"]),
            // "Prompt caching": nothing is cached without a mark.
            auto_cache: Some(true),
            // "Extended thinking": tool_choice any and tool are refused while thinking.
            forced_tool_stops_thinking: Some(true),
            ..none
        },
        "openai" => ProfileSpec {
            // API reference: max_tokens is deprecated and refused by reasoning models.
            max_tokens_field: text("max_completion_tokens"),
            // API reference, ChatCompletionCustomTool.
            custom_tools: Some(true),
            // API reference, ChatCompletionDeveloperMessageParam.
            developer_role: Some(true),
            // API reference: verbosity in Chat, text.verbosity in Responses.
            verbosity: Some(true),
            ..none
        },
        "codex" => ProfileSpec {
            // Codex CLI sends text.verbosity itself.
            verbosity: Some(true),
            ..none
        },
        "deepseek" => ProfileSpec {
            // "reasoning_content must be passed back": opencode #24497, oai-compatible-copilot #215.
            replay_reasoning: text("all"),
            // Thinking refuses a forced tool: eino #994.
            forced_tool_stops_thinking: Some(true),
            // api-docs.deepseek.com/guides/thinking_mode: every word is accepted and mapped.
            efforts: words(&["minimal", "low", "medium", "high", "xhigh", "max"]),
            // "JSON output" documentation: only {"type":"json_object"}.
            structured_output: Some(false),
            ..none
        },
        "kimi" => ProfileSpec {
            // "reasoning_content is missing in assistant tool call message": qwen-code #3715.
            replay_reasoning: text("all"),
            // $ref beside type is refused: cc-switch #6861, #7028.
            schema_rules: text("ref_alone"),
            ..none
        },
        "glm" => ProfileSpec {
            // "Structured output" documentation: only {"type":"json_object"}.
            structured_output: Some(false),
            ..none
        },
        "qwen" => ProfileSpec {
            // Thinking refuses a forced tool: opencode-mem #253.
            forced_tool_stops_thinking: Some(true),
            // Qwen's chat templates raise "System message must be at the beginning": QwenLM/Qwen3.8 #244.
            single_system: Some(true),
            ..none
        },
        "openrouter" => ProfileSpec {
            // "Reasoning tokens" documentation: none, minimal, low, medium, high, xhigh; it maps them per provider.
            efforts: words(&["none", "minimal", "low", "medium", "high", "xhigh"]),
            // "Parameters" documentation: verbosity.
            verbosity: Some(true),
            ..none
        },
        "ollama" => ProfileSpec {
            // docs.ollama.com/api/openai-compatibility: reasoning_effort, none included.
            efforts: words(&["none", "low", "medium", "high"]),
            // The model's own chat template decides: code-buddy #75.
            single_system: Some(true),
            ..none
        },
        "vllm" => ProfileSpec {
            // The model's own chat template decides: vllm-project/vllm #41114.
            single_system: Some(true),
            ..none
        },
        _ => none,
    }
}
