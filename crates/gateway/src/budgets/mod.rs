//! Budgets of access keys and groups: what was spent, and who may spend more.
//!
//! What counts is the last total of the database and what this process has not handed over yet; the same number is
//! enforced and shown. An attempt counts when it has ended, so a budget is overspent at most by what is under way when
//! it runs out. [`sync`] hands counts over every second.

mod sync;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
};

use chrono::{DateTime, SecondsFormat, Utc};
use headgate_domain::{BudgetOwner, BudgetSpan, Name, Settings, group::Budget};
use headgate_pricing::budget::{self, Account, Amounts, State};
use headgate_store::budgets::{Batch, Total};
use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

pub use self::sync::{hand_over, restore, run};
use crate::{shared::Shared, snapshot::Key};

/// A budget that is spent.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The budget.
    pub state: State,
    owner: BudgetOwner,
    name: Name,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { span, currency, spent, limit, resets_at, .. } = &self.state;
        let who = match self.owner {
            BudgetOwner::Key(_) => "access key",
            BudgetOwner::Group(_) => "group",
        };
        let of = match span {
            BudgetSpan::Day => "for the day",
            BudgetSpan::Month => "for the month",
            BudgetSpan::Total => "in total",
        };
        let spent = spent.round_dp(6).normalize();
        write!(f, "{who} '{}' has spent {spent} of its budget of {limit} {currency} {of}; ", self.name)?;
        match resets_at {
            Some(at) => write!(f, "it begins anew at {}", at.to_rfc3339_opts(SecondsFormat::Secs, true)),
            None => f.write_str("raise the budget to go on"),
        }
    }
}

/// How far a budget is used, and what may still be added to it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BudgetState {
    /// The budget.
    #[serde(flatten)]
    pub state: State,
    /// Requests under way in this process: the limit can be exceeded by their cost, and by no more.
    pub in_flight: u64,
}

/// The owners of budgets a request is under way for.
#[derive(Debug)]
pub struct UnderWay([Option<BudgetOwner>; 2]);

/// Counts on their way to the database.
struct Waiting {
    batch: Batch,
    /// It may have arrived, so nothing may be added to it.
    is_sealed: bool,
}

struct Books {
    /// What the database said last.
    known: HashMap<Account, Total>,
    /// What it has not confirmed, in order.
    waiting: VecDeque<Waiting>,
    /// What has not been put into a batch.
    open: BTreeMap<Account, Amounts>,
    under_way: HashMap<BudgetOwner, u64>,
    process: Uuid,
    /// Number of the last batch.
    number: i64,
}

impl Default for Books {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            waiting: VecDeque::new(),
            open: BTreeMap::new(),
            under_way: HashMap::new(),
            process: Uuid::now_v7(),
            number: 0,
        }
    }
}

impl Books {
    fn amounts(&self, account: &Account) -> Amounts {
        let mut sum = self.known.get(account).map(|total| total.amounts.clone()).unwrap_or_default();
        for Waiting { batch, .. } in &self.waiting {
            let at = batch.counts.binary_search_by(|(of, _)| of.cmp(account));
            if let Some((_, amounts)) = at.ok().and_then(|at| batch.counts.get(at)) {
                sum.add(amounts);
            }
        }
        if let Some(amounts) = self.open.get(account) {
            sum.add(amounts);
        }
        sum
    }

    fn states<'b>(
        &'b self,
        owner: BudgetOwner,
        budget: &'b Budget,
        now: DateTime<Utc>,
        settings: &'b Settings,
    ) -> impl Iterator<Item = State> + use<'b> {
        budget::limits(budget).map(move |(span, limit)| {
            let period = budget::period(span, now, settings);
            let amounts = self.amounts(&Account { owner, span, start: period.start });
            State::of(span, limit, budget::currency(budget), &amounts, period)
        })
    }

    fn count(&mut self, account: Account, amounts: &Amounts) {
        self.open.entry(account).or_default().add(amounts);
    }

    /// Puts what was counted into a batch; into the last one, if that surely has not been sent.
    fn seal_open(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return;
        }
        match self.waiting.back_mut().filter(|last| !last.is_sealed) {
            Some(last) => {
                for (account, amounts) in last.batch.counts.drain(..) {
                    open.entry(account).or_default().add(&amounts);
                }
                last.batch.counts = open.into_iter().collect();
            }
            None => {
                self.number += 1;
                let counts = open.into_iter().collect();
                let batch = Batch { process: self.process, number: self.number, counts };
                self.waiting.push_back(Waiting { batch, is_sealed: false });
            }
        }
    }

    /// The next batch to be sent, which then stays as it is.
    fn next_batch(&mut self) -> Option<Batch> {
        let first = self.waiting.front_mut()?;
        first.is_sealed = true;
        Some(first.batch.clone())
    }

    /// The first batch has arrived.
    fn confirm(&mut self) {
        let Some(Waiting { batch, .. }) = self.waiting.pop_front() else { return };
        for (account, amounts) in batch.counts {
            let nothing = || Total { account, amounts: Amounts::default(), told: BTreeMap::new() };
            self.known.entry(account).or_insert_with(nothing).amounts.add(&amounts);
        }
    }
}

/// What was spent, as far as this process knows.
#[derive(Default)]
pub struct Budgets {
    books: Mutex<Books>,
    /// Held while counts are handed over, which has to happen in order.
    handing_over: tokio::sync::Mutex<sync::Progress>,
}

impl Budgets {
    /// Counts a request as under way, if neither the budget of its key nor that of its group is spent.
    pub fn claim(&self, key: &Key, now: DateTime<Utc>, settings: &Settings) -> Result<Option<UnderWay>, Spent> {
        let of_key = (BudgetOwner::Key(key.id), &key.name, key.spec.budget.as_ref());
        let of_group = (BudgetOwner::Group(key.group.id), &key.group.name, key.group.budget.as_ref());
        if of_key.2.is_none() && of_group.2.is_none() {
            return Ok(None);
        }
        let books = &mut *self.books.lock();
        for (owner, name, budget) in [of_key, of_group] {
            let Some(budget) = budget else { continue };
            if let Some(state) = books.states(owner, budget, now, settings).find(State::is_spent) {
                return Err(Spent { state, owner, name: name.clone() });
            }
        }
        let owners = [of_key, of_group].map(|(owner, _, budget)| budget.map(|_| owner));
        for owner in owners.iter().flatten() {
            *books.under_way.entry(*owner).or_default() += 1;
        }
        Ok(Some(UnderWay(owners)))
    }

    /// A request is no longer under way.
    pub fn end(&self, under_way: &UnderWay) {
        let books = &mut *self.books.lock();
        for owner in under_way.0.iter().flatten() {
            if let Some(count) = books.under_way.get_mut(owner) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    books.under_way.remove(owner);
                }
            }
        }
    }

    /// Counts what an attempt cost. Everybody's is counted, so that a budget set later knows what was spent.
    pub fn count(
        &self,
        owners: impl Iterator<Item = BudgetOwner>,
        amounts: &Amounts,
        now: DateTime<Utc>,
        settings: &Settings,
    ) {
        if amounts.is_nothing() {
            return;
        }
        let books = &mut *self.books.lock();
        for owner in owners {
            for span in BudgetSpan::ALL {
                books.count(Account::at(owner, span, now, settings), amounts);
            }
        }
    }
}

impl Shared {
    /// How far the budgets of a key or group are used, the shortest span first.
    pub fn budget_states(&self, owner: BudgetOwner, budget: Option<&Budget>) -> Vec<BudgetState> {
        let Some(budget) = budget else { return Vec::new() };
        let (snapshot, now) = (self.snapshot.load(), self.clock.wall());
        let books = self.budgets.books.lock();
        let in_flight = books.under_way.get(&owner).copied().unwrap_or(0);
        books.states(owner, budget, now, &snapshot.settings).map(|state| BudgetState { state, in_flight }).collect()
    }
}

#[cfg(test)]
mod tests {
    use headgate_domain::KeyId;
    use rust_decimal::Decimal;

    use super::*;

    const OWNER: BudgetOwner = BudgetOwner::Key(KeyId(1));

    fn account() -> Account {
        Account::at(OWNER, BudgetSpan::Total, DateTime::default(), &Settings::default())
    }

    fn amounts(cents: i64) -> Amounts {
        Amounts { spent: [(Default::default(), Decimal::new(cents, 2))].into(), unpriced: 0 }
    }

    #[test]
    fn what_is_on_its_way_counts_until_the_database_has_it_and_then_counts_once() {
        let mut books = Books::default();
        books.count(account(), &amounts(100));
        books.seal_open();
        let sent = books.next_batch().unwrap();
        books.count(account(), &amounts(10));
        books.seal_open();
        books.count(account(), &amounts(1));
        books.seal_open();
        assert_eq!(books.amounts(&account()), amounts(111));
        assert_eq!(books.waiting.len(), 2, "a batch that may have arrived is left alone, others take more");
        assert_eq!(books.next_batch(), Some(sent));
        books.confirm();
        assert_eq!(books.amounts(&account()), amounts(111));
        assert_eq!(books.next_batch().unwrap().counts, [(account(), amounts(11))]);
        books.confirm();
        assert!(books.next_batch().is_none());
        assert_eq!(books.amounts(&account()), amounts(111));
    }
}
