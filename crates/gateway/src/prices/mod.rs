//! The prices in force, and what an attempt cost by them.
//!
//! A price is looked for once for each upstream and model and then remembered, until prices change or an own price
//! comes into effect; so a record is priced without a search through thousands of names.

mod refresh;
mod reprice;

use std::{collections::HashMap, ops::Deref, sync::Arc};

use arc_swap::ArcSwap;
use chrono::{DateTime, Utc};
use headgate_domain::{AttemptRecord, CostColumns, Outcome, ServiceTier, UpstreamId, UsageSource, audit::clip};
use headgate_pricing::{Entry, Gap, Part, Rules, Service, Table, cost, names::Step};
use headgate_routing::Rates;
use parking_lot::{Mutex, RwLock};
use rust_decimal::prelude::ToPrimitive;

pub use self::{
    refresh::{RefreshError, load, refresh, run},
    reprice::{Repricing, reprice},
};

/// Models remembered; clients name them, so there may be any number.
const REMEMBERED: usize = 4096;
/// Longest name that is looked for.
const NAME: usize = 200;

/// A list of prices, wherever it is kept.
#[derive(Clone)]
pub enum List {
    /// The one that came with the program.
    Embedded,
    /// A fetched one.
    Fetched(Arc<Table>),
}

impl Deref for List {
    type Target = Table;
    fn deref(&self) -> &Table {
        match self {
            Self::Embedded => Table::embedded(),
            Self::Fetched(table) => table,
        }
    }
}

/// What a model costs at an upstream, and how that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Its rates.
    pub entry: Entry,
    /// The list's name for it, or the own rule's pattern.
    pub name: String,
    /// What had to be done to the name asked for.
    pub steps: Vec<Step>,
    /// The own rule it is from.
    pub rule: Option<i64>,
}

/// A price as it was found, between the times at which own prices come into effect.
struct Found {
    price: Option<Arc<Price>>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
}

impl Found {
    fn holds_at(&self, at: DateTime<Utc>) -> bool {
        self.since.is_none_or(|since| since <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// Prices that are in force together.
pub struct InForce {
    /// The list.
    pub list: List,
    /// Own prices.
    pub rules: Rules,
    found: RwLock<HashMap<UpstreamId, HashMap<Box<str>, Found>>>,
}

impl InForce {
    fn new(list: List, rules: Rules) -> Self {
        Self { list, rules, found: RwLock::default() }
    }

    /// What a model costs at an upstream at a time: by an own price, else by the list.
    pub fn search(&self, upstream: Option<UpstreamId>, model: &str, at: DateTime<Utc>) -> Option<Price> {
        if let Some(rule) = self.rules.find(upstream, model, at) {
            let (entry, name) = (rule.entry.clone(), rule.model.clone());
            return Some(Price { entry, name, steps: Vec::new(), rule: Some(rule.id) });
        }
        let found = self.list.find(model)?;
        Some(Price { entry: found.entry.clone(), name: found.name.to_owned(), steps: found.steps.to_vec(), rule: None })
    }

    /// The same, remembered.
    pub fn price(&self, upstream: UpstreamId, model: &str, at: DateTime<Utc>) -> Option<Arc<Price>> {
        // No list has longer names, and a client may write what it likes.
        if model.len() > NAME {
            return None;
        }
        if let Some(found) = self.found.read().get(&upstream).and_then(|models| models.get(model))
            && found.holds_at(at)
        {
            return found.price.clone();
        }
        let price = self.search(Some(upstream), model, at).map(Arc::new);
        let turns = || self.rules.all().iter().map(|rule| rule.from);
        let (since, until) = (turns().filter(|from| *from <= at).max(), turns().filter(|from| *from > at).min());
        let all = &mut *self.found.write();
        if all.values().map(HashMap::len).sum::<usize>() >= REMEMBERED {
            all.clear();
        }
        all.entry(upstream).or_default().insert(model.into(), Found { price: price.clone(), since, until });
        price
    }

    /// What a request of so many input tokens costs by the model's price, for a forecast.
    pub fn rates(&self, upstream: UpstreamId, model: &str, input: u64, at: DateTime<Utc>) -> Option<Rates> {
        let price = self.price(upstream, model, at)?;
        let rate = |part| price.entry.rate(part, Service::Standard, input).and_then(|rate| rate.to_f64());
        Some(Rates {
            currency: price.entry.currency.to_bytes(),
            input: rate(Part::Fresh).or_else(|| rate(Part::Request).map(|_| 0.0))?,
            output: rate(Part::Output).unwrap_or(0.0),
            read: rate(Part::Read),
            write: rate(Part::Write),
            request: rate(Part::Request).unwrap_or(0.0),
        })
    }

    /// What an attempt cost.
    pub fn stamp(&self, attempt: &AttemptRecord) -> CostColumns {
        let (Some(source), Some(model)) = (attempt.usage.usage_source, attempt.mapped_model.as_deref()) else {
            return CostColumns::default();
        };
        let mut columns = CostColumns { price_version: Some(self.list.version().id.clone()), ..CostColumns::default() };
        let Some(price) = self.price(attempt.upstream_id, model, attempt.completed_at) else { return columns };
        columns.price_entry = Some(clip(&price.name, NAME));
        columns.price_rule = price.rule;
        columns.price_steps = words(price.steps.iter().map(|step| step.as_str().to_owned()));
        let mut usage = attempt.usage.to_price();
        // Of an answer that broke off the last numbers were not told; what had passed is surely charged for.
        let is_cut = matches!(attempt.outcome, Outcome::Partial | Outcome::Canceled);
        if is_cut {
            usage.output = usage.output.max(attempt.usage.observed_output.and_then(|n| u64::try_from(n).ok()));
        }
        let Some(cost) = cost(&price.entry, &usage, service(usage.tier)) else { return columns };
        let estimated = match (source, is_cut) {
            (UsageSource::Observed, _) => Some("estimated".to_owned()),
            (UsageSource::Reported, true) => Some("cut".to_owned()),
            (UsageSource::Reported, false) => None,
        };
        columns.cost = Some(cost.total().round_dp(12).normalize());
        columns.cost_currency = Some(cost.currency.to_string());
        columns.cost_gaps = words(cost.gaps.iter().map(code).chain(estimated));
        columns
    }
}

/// The service that an answer is priced by: what was said, else the usual one.
fn service(tier: Option<ServiceTier>) -> Service {
    match tier {
        None | Some(ServiceTier::Standard) => Service::Standard,
        Some(ServiceTier::Batch) => Service::Batch,
        Some(ServiceTier::Flex) => Service::Flex,
        Some(ServiceTier::Priority) => Service::Priority,
    }
}

fn words(words: impl Iterator<Item = String>) -> Option<Vec<String>> {
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then_some(words)
}

fn code(gap: &Gap) -> String {
    match gap {
        Gap::NoPrice(part) => format!("no_price.{part}"),
        Gap::NotReported(part) => format!("not_reported.{part}"),
    }
}

/// The prices in force, swapped as a whole.
pub struct PriceBook {
    now: ArcSwap<InForce>,
    /// What of the database they were made from; none: nothing yet.
    seen: Mutex<Option<i64>>,
}

impl Default for PriceBook {
    fn default() -> Self {
        Self { now: ArcSwap::from_pointee(InForce::new(List::Embedded, Rules::default())), seen: Mutex::new(None) }
    }
}

impl PriceBook {
    /// The prices in force.
    pub fn now(&self) -> Arc<InForce> {
        self.now.load_full()
    }

    /// What an attempt cost.
    pub fn stamp(&self, attempt: &AttemptRecord) -> CostColumns {
        self.now.load().stamp(attempt)
    }

    fn set(&self, list: List, rules: Rules, changes: i64) {
        self.now.store(Arc::new(InForce::new(list, rules)));
        *self.seen.lock() = Some(changes);
    }
}

#[cfg(test)]
mod tests {
    use headgate_domain::{Usage, audit::UsageColumns};
    use headgate_pricing::{Currency, Rule};
    use rust_decimal::Decimal;

    use super::*;

    fn attempt(model: &str, usage: Usage) -> AttemptRecord {
        AttemptRecord {
            upstream_id: UpstreamId(1),
            mapped_model: Some(model.to_owned()),
            outcome: Outcome::Success,
            usage: UsageColumns::from(&usage),
            completed_at: "2026-06-01T00:00:00Z".parse().unwrap(),
            ..AttemptRecord::default()
        }
    }

    fn used(fresh: u64, output: u64) -> Usage {
        Usage { fresh: Some(fresh), output: Some(output), ..Usage::default() }
    }

    fn rule(model: &str, from: &str, price: i64) -> Rule {
        let entry = Entry::plain(Currency::USD, Decimal::from(price), Decimal::from(price));
        Rule { id: price, model: model.to_owned(), upstream: None, from: from.parse().unwrap(), entry }
    }

    #[test]
    fn an_attempt_is_stamped_with_amount_entry_and_version() {
        let book = PriceBook::default();
        let cost = book.stamp(&attempt("anthropic/claude-sonnet-4-5-high", used(1000, 500)));
        assert_eq!(cost.cost, Some(Decimal::new(105, 4)));
        assert_eq!(cost.cost_currency.as_deref(), Some("USD"));
        assert_eq!(cost.price_entry.as_deref(), Some("claude-sonnet-4-5"));
        assert_eq!(cost.price_steps, Some(vec!["vendor_prefix".to_owned(), "effort".to_owned()]));
        assert_eq!(cost.price_version, Some(Table::embedded().version().id.clone()));
        assert!(cost.is_complete());
    }

    #[test]
    fn a_service_that_was_said_is_priced_by_its_own_price() {
        let book = PriceBook::default();
        let at = |tier| {
            let usage = Usage { tier, ..used(1_000_000, 0) };
            book.stamp(&attempt("gpt-5", usage)).cost.unwrap()
        };
        let usual = at(None);
        assert_eq!(at(Some(ServiceTier::Standard)), usual);
        assert_eq!(at(Some(ServiceTier::Priority)), usual * Decimal::TWO);
        assert_eq!(at(Some(ServiceTier::Flex)), usual / Decimal::TWO);
    }

    #[test]
    fn without_usage_or_price_nothing_is_claimed() {
        let book = PriceBook::default();
        assert_eq!(book.stamp(&attempt("claude-sonnet-4-5", Usage::default())), CostColumns::default());
        let unknown = book.stamp(&attempt("my-own-model", used(1, 1)));
        assert_eq!((unknown.cost, unknown.price_entry, unknown.price_version.is_some()), (None, None, true));
    }

    #[test]
    fn what_was_only_observed_is_an_estimate() {
        let mut attempt = attempt("claude-sonnet-4-5", Usage::default());
        attempt.usage.observe(Some(1000), 2000);
        let cost = PriceBook::default().stamp(&attempt);
        assert_eq!((cost.cost, cost.is_complete()), (Some(Decimal::new(105, 4)), false));
        assert_eq!(cost.cost_gaps, Some(vec!["estimated".to_owned()]));
    }

    #[test]
    fn an_answer_that_broke_off_costs_at_least_what_had_passed() {
        let mut attempt = attempt("claude-sonnet-4-5", used(1000, 1));
        attempt.outcome = Outcome::Canceled;
        attempt.usage.observe(Some(900), 2000);
        let cost = PriceBook::default().stamp(&attempt);
        assert_eq!((cost.cost, cost.cost_gaps), (Some(Decimal::new(105, 4)), Some(vec!["cut".to_owned()])));
    }

    #[test]
    fn an_own_price_wins_from_the_moment_it_comes_into_effect() {
        let rules = Rules::new(vec![
            rule("claude-*", "2026-01-01T00:00:00Z", 1),
            rule("claude-sonnet-4-5", "2026-06-02T00:00:00Z", 7),
        ]);
        let now = InForce::new(List::Embedded, rules);
        let mut attempt = attempt("claude-sonnet-4-5", used(1_000_000, 0));
        assert_eq!(now.stamp(&attempt).price_rule, Some(1));
        attempt.completed_at = "2026-06-02T00:00:00Z".parse().unwrap();
        let cost = now.stamp(&attempt);
        assert_eq!((cost.cost, cost.price_rule), (Some(Decimal::from(7)), Some(7)));
        // What is priced anew is priced by its own time, whatever was looked for last.
        attempt.completed_at = "2026-06-01T00:00:00Z".parse().unwrap();
        assert_eq!(now.stamp(&attempt).price_rule, Some(1));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "measures")]
    fn a_known_model_is_priced_without_a_search() {
        let book = PriceBook::default();
        let attempt = attempt("anthropic/claude-sonnet-4-5-high", used(1000, 500));
        book.stamp(&attempt);
        let began = std::time::Instant::now();
        for _ in 0..1000 {
            std::hint::black_box(book.stamp(&attempt));
        }
        println!("{:?} each", began.elapsed() / 1000);
        // Any number of names stays a bounded number of names, and of bytes.
        assert_eq!(book.now().price(UpstreamId(1), &"claude-".repeat(1000), attempt.completed_at), None);
        for n in 0..2 * REMEMBERED {
            let at = attempt.completed_at;
            book.now().price(UpstreamId(1), &format!("made-up-{n}"), at);
        }
        assert!(book.now().found.read().values().map(HashMap::len).sum::<usize>() <= REMEMBERED);
    }
}
