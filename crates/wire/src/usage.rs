//! Usage objects of every protocol, read into canonical counters.
//!
//! Claude's `input_tokens` leaves out what was read from or written to a cache; OpenAI's numbers include both.

use headgate_domain::{Protocol, ServiceTier, Usage};
use serde::Deserialize;

/// No answer has more tokens; sums of such counts cannot overflow.
const MAX_COUNT: u64 = 1 << 48;

/// A count that some vendors write as a float or `null`.
fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Option::<serde_json::Number>::deserialize(deserializer)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a negative or huge count is nonsense anyway"
    )]
    Ok(value.and_then(|n| n.as_u64().or_else(|| n.as_f64().map(|f| f.max(0.0) as u64))).map(|n| n.min(MAX_COUNT)))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_write_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    thinking_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    #[serde(deserialize_with = "count")]
    ephemeral_5m_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    ephemeral_1h_input_tokens: Option<u64>,
}

/// A usage object as it stands on the wire, of whichever protocol.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireUsage {
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    #[serde(deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cached_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    input_tokens_details: Option<Details>,
    output_tokens_details: Option<Details>,
    service_tier: Tier,
}

/// `service_tier`, beside the counters or in the answer itself; anything but a known word says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tier(pub Option<ServiceTier>);

impl<'de> Deserialize<'de> for Tier {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Self(value.as_str().and_then(ServiceTier::of)))
    }
}

impl WireUsage {
    /// The counters, read by the rules of the protocol the object came in.
    pub fn canonical(&self, protocol: Protocol) -> Usage {
        let mut usage = match protocol {
            Protocol::Claude => self.claude(),
            Protocol::Chat => self.inclusive(
                self.prompt_tokens.or(self.input_tokens),
                self.completion_tokens.or(self.output_tokens),
                self.prompt_tokens_details.as_ref(),
                self.completion_tokens_details.as_ref(),
            ),
            Protocol::Responses => self.inclusive(
                self.input_tokens.or(self.prompt_tokens),
                self.output_tokens.or(self.completion_tokens),
                self.input_tokens_details.as_ref(),
                self.output_tokens_details.as_ref(),
            ),
        };
        usage.wire = usage.is_reported().then_some(protocol);
        usage.tier = self.service_tier.0;
        usage
    }

    /// Claude: input, cache reads and cache writes stand apart.
    fn claude(&self) -> Usage {
        let split = self.cache_creation.as_ref();
        let write_5m = split.and_then(|c| c.ephemeral_5m_input_tokens);
        let write_1h = split.and_then(|c| c.ephemeral_1h_input_tokens);
        let write_other = self
            .cache_creation_input_tokens
            .map(|all| all.saturating_sub(write_5m.unwrap_or(0)).saturating_sub(write_1h.unwrap_or(0)))
            .filter(|rest| *rest > 0 || split.is_none());
        Usage {
            fresh: self.input_tokens,
            read: self.cache_read_input_tokens,
            write_5m,
            write_1h,
            write_other,
            output: self.output_tokens,
            reasoning: self.output_tokens_details.as_ref().and_then(|d| d.thinking_tokens),
            ..Usage::default()
        }
    }

    /// OpenAI shapes: the input number includes what was read from and written to the cache.
    fn inclusive(&self, input: Option<u64>, output: Option<u64>, i: Option<&Details>, o: Option<&Details>) -> Usage {
        let read = i.and_then(|d| d.cached_tokens).or(self.prompt_cache_hit_tokens).or(self.cached_tokens);
        let write = i.and_then(|d| d.cache_write_tokens);
        Usage {
            fresh: input.map(|all| all.saturating_sub(read.unwrap_or(0)).saturating_sub(write.unwrap_or(0))),
            read,
            write_other: write,
            output,
            reasoning: o.and_then(|d| d.reasoning_tokens),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(protocol: Protocol, json: &str) -> Usage {
        serde_json::from_str::<WireUsage>(json).unwrap().canonical(protocol)
    }

    #[test]
    fn cached_tokens_are_inside_for_openai_and_outside_for_claude() {
        let chat = read(
            Protocol::Chat,
            r#"{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}"#,
        );
        assert_eq!((chat.fresh, chat.read, chat.output, chat.input()), (Some(40), Some(60), Some(7), 100));
        let claude = read(Protocol::Claude, r#"{"input_tokens":40,"cache_read_input_tokens":60,"output_tokens":7}"#);
        assert_eq!((claude.fresh, claude.read, claude.input()), (Some(40), Some(60), 100));
    }

    #[test]
    fn cache_writes_are_not_counted_twice() {
        let usage = read(
            Protocol::Claude,
            r#"{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":1}"#,
        );
        assert_eq!((usage.write_5m, usage.write_1h, usage.write_other, usage.input()), (Some(10), Some(20), None, 31));
        let usage = read(
            Protocol::Claude,
            r#"{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10},"output_tokens":1}"#,
        );
        assert_eq!((usage.write_5m, usage.write_1h, usage.write_other, usage.input()), (Some(10), None, Some(20), 31));
        let whole = read(Protocol::Claude, r#"{"cache_creation_input_tokens":30}"#);
        assert_eq!((whole.write_other, whole.write_5m), (Some(30), None));
    }

    #[test]
    fn vendors_words_for_cache_hits_are_known() {
        assert_eq!(read(Protocol::Chat, r#"{"prompt_tokens":9,"prompt_cache_hit_tokens":4}"#).fresh, Some(5));
        assert_eq!(read(Protocol::Chat, r#"{"prompt_tokens":9,"cached_tokens":3}"#).read, Some(3));
    }

    #[test]
    fn nothing_reported_is_not_zero() {
        let usage = read(Protocol::Responses, "{}");
        assert!(!usage.is_reported() && usage.wire.is_none());
    }
}
