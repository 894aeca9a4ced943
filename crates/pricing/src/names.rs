//! The names under which one model goes: relays put vendors before it, dates and efforts behind it.
//!
//! A name is looked for as it is; then with ever more of what surrounds the model's own name taken away, fewest steps
//! first and behind before in front; then under the table's own longer names. The steps that were needed are part of
//! the answer, so that a person can see which price was taken and judge it.

use headgate_domain::pattern::strip_context_mark;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use utoipa::ToSchema;

/// One thing that had to be done to a name to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = NameStep)]
pub enum Step {
    /// Written in another case.
    Case,
    /// A dot between two digits was written as a dash.
    Punctuation,
    /// A context mark such as `[1m]` was left out.
    ContextMark,
    /// A leading `models/` was left out.
    ModelsPrefix,
    /// A leading path segment was left out.
    VendorPrefix,
    /// A leading region or maker with a dot (`us.`, `anthropic.`) was left out.
    RegionPrefix,
    /// A trailing build such as `-v1:0` was left out.
    Build,
    /// A trailing variant such as `:free` or `@default` was left out.
    Variant,
    /// A trailing date was left out.
    Date,
    /// A trailing `-latest` was left out.
    Latest,
    /// A trailing `-thinking` was left out.
    Thinking,
    /// A trailing effort such as `-high` was left out.
    Effort,
    /// The table knows it only with a date: the newest was taken.
    DateAdded,
    /// The table knows it only under its maker's name.
    VendorAdded,
}

impl Step {
    /// The word used in records and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Punctuation => "punctuation",
            Self::ContextMark => "context_mark",
            Self::ModelsPrefix => "models_prefix",
            Self::VendorPrefix => "vendor_prefix",
            Self::RegionPrefix => "region_prefix",
            Self::Build => "build",
            Self::Variant => "variant",
            Self::Date => "date",
            Self::Latest => "latest",
            Self::Thinking => "thinking",
            Self::Effort => "effort",
            Self::DateAdded => "date_added",
            Self::VendorAdded => "vendor_added",
        }
    }
}

/// The steps of one match.
pub type Steps = SmallVec<[Step; 4]>;

/// Names that stand for regions and makers before a dot, as one cloud writes them.
const DOTTED: &[&str] = &[
    "us",
    "eu",
    "apac",
    "global",
    "au",
    "jp",
    "ca",
    "us-gov",
    "anthropic",
    "amazon",
    "meta",
    "mistral",
    "cohere",
    "deepseek",
    "openai",
    "qwen",
    "moonshotai",
    "moonshot",
    "zai",
    "minimax",
    "google",
    "nvidia",
];

const EFFORTS: &[&str] = &["-none", "-minimal", "-low", "-medium", "-high", "-xhigh", "-max"];

/// Takes one thing away behind a name.
fn shortened(name: &str) -> Option<(&str, Step)> {
    let unmarked = strip_context_mark(name);
    if unmarked != name {
        return Some((unmarked, Step::ContextMark));
    }
    if let Some((front, build)) = name.rsplit_once("-v")
        && build.split(':').all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        && (build.contains(':') || build == "1")
    {
        return Some((front, Step::Build));
    }
    if let Some(front) = undated(name) {
        return Some((front, Step::Date));
    }
    if let Some(at) = name.rfind([':', '@'])
        && at > 0
    {
        return name.get(..at).map(|front| (front, Step::Variant));
    }
    if let Some(front) = name.strip_suffix("-latest") {
        return Some((front, Step::Latest));
    }
    if let Some(front) = name.strip_suffix("-thinking") {
        return Some((front, Step::Thinking));
    }
    EFFORTS.iter().find_map(|effort| name.strip_suffix(effort)).map(|front| (front, Step::Effort))
}

/// Takes one thing away in front of a name.
fn bared(name: &str) -> Option<(&str, Step)> {
    if let Some(rest) = name.strip_prefix("models/") {
        return Some((rest, Step::ModelsPrefix));
    }
    if let Some((_, rest)) = name.split_once('/') {
        return Some((rest, Step::VendorPrefix));
    }
    let (front, rest) = name.split_once('.')?;
    DOTTED.contains(&front).then_some((rest, Step::RegionPrefix))
}

/// The name without a trailing date (`-20250929`, `@20250929`, `-2025-09-29`), if it has one.
pub(crate) fn undated(name: &str) -> Option<&str> {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    let split = |text, n: usize| -> Option<(&str, &str)> {
        let (front, last) = str::rsplit_once(text, ['-', '@'])?;
        digits(last, n).then_some((front, last))
    };
    if let Some((front, date)) = split(name, 8) {
        return date.starts_with("20").then_some(front).filter(|f| !f.is_empty());
    }
    let (front, _) = split(name, 2)?;
    let (front, _) = split(front, 2)?;
    let (front, year) = split(front, 4)?;
    year.starts_with("20").then_some(front).filter(|f| !f.is_empty())
}

/// The same with dashes for dots between digits, if that changes anything.
fn dashed(name: &str) -> Option<String> {
    let bytes = name.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
    let between = |at: usize| digit(at.checked_sub(1)) && digit(Some(at + 1));
    let made: String = name.char_indices().map(|(at, c)| if c == '.' && between(at) { '-' } else { c }).collect();
    (made != name).then_some(made)
}

/// A name to look for, and what was done to come to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The name.
    pub name: String,
    /// In the order in which they were taken.
    pub steps: Steps,
}

/// No model's name is longer; of what is longer nothing is taken away.
const LONGEST: usize = 200;
/// How much is taken away on either side at most.
const MOST: usize = 8;

/// Every name under which a model asked for as `name` may be known, itself first.
pub fn candidates(name: &str) -> Vec<Candidate> {
    if name.len() > LONGEST {
        return vec![Candidate { name: name.to_owned(), steps: Steps::new() }];
    }
    let plain = |text: &str| {
        let mut fronts: Vec<(&str, Steps)> = vec![(text, Steps::new())];
        while let Some((rest, step)) = fronts.last().filter(|_| fronts.len() <= MOST).and_then(|(last, _)| bared(last))
        {
            let mut steps = fronts.last().map(|(_, steps)| steps.clone()).unwrap_or_default();
            steps.push(step);
            fronts.push((rest, steps));
        }
        let mut found = Vec::new();
        for (front, before) in fronts {
            let (mut now, mut steps) = (front, before);
            found.push(Candidate { name: now.to_owned(), steps: steps.clone() });
            for _ in 0..MOST {
                let Some((shorter, step)) = shortened(now) else { break };
                now = shorter;
                steps.push(step);
                found.push(Candidate { name: now.to_owned(), steps: steps.clone() });
            }
        }
        found.retain(|c| !c.name.is_empty());
        found
    };
    let with = |step: Step, found: Vec<Candidate>| {
        found.into_iter().map(move |c| {
            let mut steps: Steps = SmallVec::from_slice(&[step]);
            steps.extend(c.steps);
            Candidate { name: c.name, steps }
        })
    };
    let mut all = plain(name);
    let lower = name.to_lowercase();
    if lower != name {
        all.extend(with(Step::Case, plain(&lower)));
    }
    if let Some(dashed) = dashed(&lower) {
        all.extend(with(Step::Punctuation, plain(&dashed)));
    }
    // Stable: among equally many steps, behind before in front.
    all.sort_by_key(|c| c.steps.len());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_itself_comes_first_and_no_name_is_empty() {
        for name in ["gpt-5", "/", "-latest", "models/", "us.", ":", "a/b/c-20250101-v1:0", "中/文-high"] {
            let all = candidates(name);
            assert!(all.iter().all(|c| !c.name.is_empty()), "{name}");
            assert_eq!(all[0], Candidate { name: name.to_owned(), steps: Steps::new() });
        }
    }

    #[test]
    fn a_name_that_is_made_to_cost_time_costs_none() {
        let slashes = "a/".repeat(90);
        assert!(candidates(&slashes).len() < 100);
        assert!(candidates(&"-high".repeat(40)).len() < 100);
        assert_eq!(candidates(&"a/".repeat(1_000_000)).len(), 1);
    }

    #[test]
    fn what_surrounds_a_name_is_taken_away() {
        let reaches = |from: &str, to: &str, steps: &[Step]| {
            let all = candidates(from);
            let found = all.iter().find(|c| c.name == to).unwrap_or_else(|| panic!("{from} → {to}: {all:?}"));
            assert_eq!(found.steps.as_slice(), steps, "{from}");
        };
        reaches("models/gemini-2.5-pro", "gemini-2.5-pro", &[Step::ModelsPrefix]);
        reaches("openrouter/anthropic/claude-x", "claude-x", &[Step::VendorPrefix, Step::VendorPrefix]);
        reaches("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", &[Step::Date]);
        reaches("gpt-4o-2024-08-06", "gpt-4o", &[Step::Date]);
        reaches("claude-x@20250929", "claude-x", &[Step::Date]);
        reaches("claude-x-latest", "claude-x", &[Step::Latest]);
        reaches("claude-x-20250219-thinking", "claude-x-20250219", &[Step::Thinking]);
        reaches("claude-x-20250219-thinking", "claude-x", &[Step::Thinking, Step::Date]);
        reaches("gpt-5-high", "gpt-5", &[Step::Effort]);
        reaches("claude-x[1m]", "claude-x", &[Step::ContextMark]);
        reaches("Claude-X", "claude-x", &[Step::Case]);
        reaches("claude-sonnet-4.5", "claude-sonnet-4-5", &[Step::Punctuation]);
        reaches(
            "us.anthropic.claude-x-20250514-v1:0",
            "claude-x",
            &[Step::RegionPrefix, Step::RegionPrefix, Step::Build, Step::Date],
        );
        reaches("qwen/qwen3:free", "qwen3", &[Step::VendorPrefix, Step::Variant]);
    }

    #[test]
    fn what_belongs_to_a_name_stays() {
        let never = |from: &str, to: &str| assert!(candidates(from).iter().all(|c| c.name != to), "{from} → {to}");
        never("gpt-4-0613", "gpt-4");
        never("llama-3.1-70b", "llama");
        never("gemini-2.5-pro", "5-pro");
        never("o1-12345678", "o1");
    }
}
