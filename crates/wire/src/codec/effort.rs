//! How hard to think, in the words of OpenAI's protocols.

use crate::{
    loss::Losses,
    neutral::{Effort, ReasoningWish, Thinking},
    profile::Profile,
};

/// The effort word for an upstream that speaks an OpenAI protocol; `None`: nothing is said.
pub(crate) fn openai(
    wish: ReasoningWish,
    profile: &Profile,
    forced_tool: bool,
    losses: &mut Losses,
) -> Option<&'static str> {
    if wish.thinking == Thinking::Off {
        if !profile.effort_none {
            losses.note("dropped:effort");
        }
        return profile.effort_none.then_some("none");
    }
    let wished = wish.effort.or(match wish.thinking {
        Thinking::Budget(budget) => Some(of_budget(budget)),
        Thinking::Adaptive => Some(Effort::High),
        Thinking::Off | Thinking::Unsaid => None,
    });
    let level = wished.or(profile.default_effort)?;
    if forced_tool && profile.forced_tool_stops_thinking {
        losses.note("dropped:thinking");
        return None;
    }
    let accepted = profile.clamp(level);
    if wished.is_some() && accepted != wished {
        losses.note("clamped:effort");
    }
    accepted.map(Effort::as_str)
}

/// The effort that a Claude thinking budget stands for.
fn of_budget(budget: u64) -> Effort {
    match budget {
        ..4096 => Effort::Low,
        4096..12_288 => Effort::Medium,
        12_288..20_480 => Effort::High,
        _ => Effort::Xhigh,
    }
}

/// The Claude thinking budget that stands for an effort.
pub(crate) fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::Minimal => 1024,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 16_384,
        Effort::Xhigh => 24_576,
        Effort::Max => 30_976,
    }
}
