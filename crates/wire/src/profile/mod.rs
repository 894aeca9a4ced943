//! What differs between upstreams of one kind is data: a [`Profile`].
//!
//! Three layers, the later over the earlier: the named base, the table of models for the name that is sent, and the
//! single keys of the upstream. Without a base it is `generic`, so that nobody has to choose a profile for the known
//! Claude and GPT models.

mod bases;
mod models;
mod table;

use headgate_domain::{
    UpstreamKind,
    upstream::{ProfileSpec, Thinking},
};

pub use self::{bases::NAMES, table::markdown};
use crate::{neutral::Effort, schema::Rule};

/// Output tokens a Claude upstream is asked for when nothing else is known.
const DEFAULT_MAX_TOKENS: u64 = 32_000;

/// Everything a codec needs to know about an upstream.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Claude `max_tokens` when the client gave none.
    pub default_max_tokens: u64,
    /// How a Claude model is asked to think.
    pub thinking: Thinking,
    /// Whether the effort `none` is accepted.
    pub effort_none: bool,
    /// The accepted efforts, ascending.
    pub efforts: Vec<Effort>,
    /// Whether temperature, `top_p` and `top_k` are accepted.
    pub sampling: bool,
    /// Claude: whether `role: system` is accepted inside `messages`.
    pub mid_system: bool,
    /// Chat: the limit goes into `max_completion_tokens` instead of `max_tokens`.
    pub max_completion_tokens: bool,
    /// Chat: `reasoning_content` has to be sent back with every assistant message.
    pub replay_reasoning: bool,
    /// Chat: `custom` tools are accepted.
    pub custom_tools: bool,
    /// Chat: only one leading system message is accepted.
    pub single_system: bool,
    /// A JSON schema for the answer is accepted.
    pub structured_output: bool,
    /// Claude: cache marks are placed when the client's protocol has none.
    pub auto_cache: bool,
    /// The header `anthropic-version` of translated Claude requests.
    pub anthropic_version: String,
    /// The effort used when the client says nothing.
    pub default_effort: Option<Effort>,
    /// Chat: `stream_options.include_usage` may be sent.
    pub usage_chunk: bool,
    /// Chat: the role `developer` may be sent.
    pub developer_role: bool,
    /// Chat: `<think>` at the beginning of the content is reasoning.
    pub think_tags: bool,
    /// `verbosity` is accepted.
    pub verbosity: bool,
    /// Thinking and a forced tool exclude each other; the tool wins.
    pub forced_tool_stops_thinking: bool,
    /// A rewriting of tool schemas.
    pub schema_rule: Option<Rule>,
}

impl Profile {
    /// The profile of an upstream for one model, by the name that is sent.
    pub fn resolve(kind: UpstreamKind, spec: Option<&ProfileSpec>, model: &str) -> Self {
        let base = spec.and_then(|s| s.base.as_deref()).unwrap_or("generic");
        let mut profile = Self::defaults(kind);
        profile.apply(&bases::named(base));
        if let Some(known) = models::known(kind, model) {
            profile.apply(&known);
        }
        if let Some(spec) = spec {
            profile.apply(spec);
        }
        if profile.anthropic_version.as_str() >= "2026-10-21" {
            // That version refuses temperature, top_p and top_k for every model.
            profile.sampling = false;
        }
        profile
    }

    /// What holds when nothing says otherwise.
    fn defaults(kind: UpstreamKind) -> Self {
        use Effort::{High, Low, Medium, Minimal, Xhigh};
        let responses = matches!(kind, UpstreamKind::OpenaiResponse | UpstreamKind::Codex);
        Self {
            default_max_tokens: DEFAULT_MAX_TOKENS,
            thinking: Thinking::Adaptive,
            effort_none: responses,
            efforts: if responses { vec![Minimal, Low, Medium, High, Xhigh] } else { vec![Low, Medium, High] },
            sampling: true,
            mid_system: false,
            max_completion_tokens: false,
            replay_reasoning: false,
            custom_tools: false,
            single_system: false,
            structured_output: true,
            auto_cache: true,
            anthropic_version: "2023-06-01".to_owned(),
            default_effort: None,
            usage_chunk: true,
            developer_role: false,
            think_tags: false,
            verbosity: false,
            forced_tool_stops_thinking: kind == UpstreamKind::Claude,
            schema_rule: None,
        }
    }

    /// Puts the keys that `over` sets over what stands here.
    fn apply(&mut self, over: &ProfileSpec) {
        fn set<T: Clone>(slot: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                slot.clone_from(value);
            }
        }
        set(&mut self.default_max_tokens, over.default_max_tokens.map(u64::from).as_ref());
        set(&mut self.thinking, over.thinking.as_ref());
        if let Some(words) = &over.efforts {
            self.effort_none = words.iter().any(|w| w == "none");
            self.efforts = words.iter().filter_map(|w| Effort::read(w)).collect();
            self.efforts.sort_unstable();
        }
        set(&mut self.sampling, over.sampling.as_ref());
        set(&mut self.mid_system, over.mid_system.as_ref());
        let field = over.max_tokens_field.as_ref().map(|f| f == "max_completion_tokens");
        set(&mut self.max_completion_tokens, field.as_ref());
        set(&mut self.replay_reasoning, over.replay_reasoning.as_ref().map(|r| r == "all").as_ref());
        set(&mut self.custom_tools, over.custom_tools.as_ref());
        set(&mut self.single_system, over.single_system.as_ref());
        set(&mut self.structured_output, over.structured_output.as_ref());
        set(&mut self.auto_cache, over.auto_cache.as_ref());
        set(&mut self.anthropic_version, over.anthropic_version.as_ref());
        set(&mut self.default_effort, over.default_effort.as_ref().map(|e| Effort::read(e)).as_ref());
        set(&mut self.usage_chunk, over.usage_chunk.as_ref());
        set(&mut self.developer_role, over.developer_role.as_ref());
        set(&mut self.think_tags, over.think_tags.as_ref());
        set(&mut self.verbosity, over.verbosity.as_ref());
        set(&mut self.forced_tool_stops_thinking, over.forced_tool_stops_thinking.as_ref());
        set(&mut self.schema_rule, over.schema_rules.as_ref().map(|r| Rule::named(r)).as_ref());
    }

    /// The accepted effort for a wished one: itself, else the nearest lower, else the lowest; `None` if none is.
    pub fn clamp(&self, wished: Effort) -> Option<Effort> {
        let lower = self.efforts.iter().rev().find(|e| **e <= wished);
        lower.or_else(|| self.efforts.first()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(kind: UpstreamKind, base: &str, model: &str) -> Profile {
        let spec = ProfileSpec { base: Some(base.to_owned()), ..ProfileSpec::default() };
        Profile::resolve(kind, Some(&spec), model)
    }

    #[test]
    fn single_keys_stand_over_the_model_table_and_that_over_the_base() {
        let spec = ProfileSpec { base: Some("anthropic".into()), sampling: Some(true), ..ProfileSpec::default() };
        let profile = Profile::resolve(UpstreamKind::Claude, Some(&spec), "claude-opus-4-8-20260601");
        assert!(profile.sampling && profile.mid_system);
        let spec = ProfileSpec { base: None, ..spec };
        assert!(!Profile::resolve(UpstreamKind::Claude, None, "claude-opus-4-8").sampling);
        assert!(Profile::resolve(UpstreamKind::Claude, Some(&spec), "unheard-of").sampling);
    }

    #[test]
    fn an_effort_is_clamped_to_the_nearest_lower_one_and_never_switched_off() {
        let profile = resolve(UpstreamKind::Openai, "generic", "m");
        assert_eq!(profile.clamp(Effort::Max), Some(Effort::High));
        assert_eq!(profile.clamp(Effort::Minimal), Some(Effort::Low));
        assert_eq!(resolve(UpstreamKind::OpenaiResponse, "generic", "m").clamp(Effort::Max), Some(Effort::Xhigh));
        assert_eq!(Profile { efforts: Vec::new(), ..profile }.clamp(Effort::Low), None);
    }

    #[test]
    fn the_newest_anthropic_version_takes_no_sampling_for_any_model() {
        let spec = ProfileSpec { anthropic_version: Some("2026-10-21".into()), ..ProfileSpec::default() };
        assert!(!Profile::resolve(UpstreamKind::Claude, Some(&spec), "claude-sonnet-4-5").sampling);
    }

    #[test]
    fn every_base_has_a_name_that_resolves_and_an_unknown_one_is_generic() {
        for name in NAMES {
            resolve(UpstreamKind::Openai, name, "m");
        }
        assert_eq!(resolve(UpstreamKind::Openai, "nobody", "m"), resolve(UpstreamKind::Openai, "generic", "m"));
    }
}
