//! Hands counts to the database every second, learns what others have counted, and finds out what people are told of.
//!
//! What the database has not confirmed is also kept in a file, with the totals it said last: a restart loses nothing,
//! also while the database is away; a kill loses at most what was counted since the last second.

use std::{collections::HashMap, sync::Arc, time::Duration};

use headgate_domain::{AlertEvent, BudgetLevel, BudgetOwner, group::Budget};
use headgate_pricing::budget::{Account, State};
use headgate_routing::{Subject, Turn};
use headgate_store::{
    Database, DatabaseError,
    budgets::{Batch, Total},
    state_file,
};
use serde::{Deserialize, Serialize};

use super::{Books, Waiting};
use crate::{alerts::Signal, shared::Shared};

const FILE: &str = "budgets.json";
const EVERY: Duration = Duration::from_secs(1);
/// The longest the database is waited for.
const ANSWERS: Duration = Duration::from_secs(5);
/// Ticks between two times the file is written while all is well.
const FILE_EVERY: u32 = 5;

/// How handing over goes.
#[derive(Default)]
pub(super) struct Progress {
    ticks: u32,
    /// What the file holds.
    kept: Kept,
    /// The shares that people were told of, as this process has heard.
    told: HashMap<Account, i16>,
    /// The database has said what people were told of before.
    has_begun: bool,
    is_away: bool,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// What the database may not have.
    batches: Vec<Batch>,
    /// What it said last.
    known: Vec<Total>,
}

impl Kept {
    fn of(books: &Books) -> Self {
        let batches = books.waiting.iter().map(|waiting| waiting.batch.clone()).collect();
        let mut known: Vec<Total> = books.known.values().cloned().collect();
        known.sort_by_key(|total| total.account);
        Self { batches, known }
    }
}

/// Takes over what the last run had not handed over. A file that cannot be read is only a budget that is too large.
pub fn restore(shared: &Shared) {
    match state_file::read_json::<Kept>(&shared.bootstrap.data_dir.join(FILE)) {
        Ok(kept) => {
            let Kept { batches, known } = kept.unwrap_or_default();
            let books = &mut *shared.budgets.books.lock();
            books.known = known.into_iter().map(|total| (total.account, total)).collect();
            // It may have been sent by the last run, whose number it bears.
            books.waiting = batches.into_iter().map(|batch| Waiting { batch, is_sealed: true }).collect();
        }
        Err(why) => tracing::warn!(error = %why, "what was spent in the last run and not stored was not taken over"),
    }
}

/// Works until it is dropped.
pub async fn run(shared: Arc<Shared>) {
    let mut tick = tokio::time::interval(EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let progress = &mut *shared.budgets.handing_over.lock().await;
        progress.ticks += 1;
        hand_over_with(&shared, progress, ANSWERS).await;
        tell(&shared, progress).await;
    }
}

/// Hands over what was counted, before the process ends; what does not arrive is kept for the next run.
pub async fn hand_over(shared: &Shared) {
    let progress = &mut *shared.budgets.handing_over.lock().await;
    progress.ticks = FILE_EVERY;
    hand_over_with(shared, progress, Duration::from_secs(2)).await;
}

async fn hand_over_with(shared: &Shared, progress: &mut Progress, patience: Duration) {
    let handed = async {
        let database = shared.control.database().map_err(|why| why.to_string())?;
        let answer = tokio::time::timeout(patience, exchange(shared, &database)).await;
        answer.unwrap_or(Err(DatabaseError::Slow)).map_err(|why| why.to_string())
    };
    let handed = handed.await;
    let was_away = std::mem::replace(&mut progress.is_away, handed.is_err());
    match &handed {
        Ok(()) if was_away => tracing::info!("what was spent is shared with the database again"),
        Err(why) if !was_away => {
            tracing::warn!(error = %why, "what was spent cannot be shared; budgets go by what this process knows");
        }
        _ => {}
    }
    if handed.is_err() || progress.ticks >= FILE_EVERY {
        progress.ticks = 0;
        keep(shared, progress);
    }
}

fn keep(shared: &Shared, progress: &mut Progress) {
    let kept = Kept::of(&shared.budgets.books.lock());
    if kept == progress.kept {
        return;
    }
    match state_file::write_json(&shared.bootstrap.data_dir.join(FILE), &kept) {
        Ok(()) => progress.kept = kept,
        Err(why) => tracing::warn!(error = %why, "what was spent could not be kept on disk"),
    }
}

/// Adds what waits, and reads the totals.
async fn exchange(shared: &Shared, database: &Database) -> Result<(), DatabaseError> {
    let now = shared.clock.wall();
    shared.budgets.books.lock().seal_open();
    loop {
        let Some(batch) = shared.budgets.books.lock().next_batch() else { break };
        database.add_to_budgets(&batch, now).await?;
        shared.budgets.books.lock().confirm();
    }
    let today = shared.snapshot.load().settings.day(now);
    let totals = database.budget_totals(today, chrono::Datelike::with_day(&today, 1).unwrap_or(today)).await?;
    shared.budgets.books.lock().known = totals.into_iter().map(|total| (total.account, total)).collect();
    Ok(())
}

/// A budget as it is now.
struct Found {
    account: Account,
    state: State,
    /// The share that people were told of by any process.
    told: i16,
}

/// Finds shares that were reached, and tells of each once, whichever process finds it.
async fn tell(shared: &Shared, progress: &mut Progress) {
    let found = look(shared);
    progress.told.retain(|account, _| found.iter().any(|found| found.account == *account));
    if progress.is_away {
        return;
    }
    let is_first = !std::mem::replace(&mut progress.has_begun, true);
    for Found { account, state, told } in found {
        let level = state.level();
        let percent = level.map_or(0, BudgetLevel::percent);
        let heard = progress.told.insert(account, told).unwrap_or(if is_first { told } else { 0 });
        if told > heard {
            // Another process has told the targets; those who watch this one hear it, too.
            notify(shared, account, told, true);
        }
        if percent == told {
            continue;
        }
        let Ok(database) = shared.control.database() else { return };
        // A limit that was raised is told of anew when it is reached.
        match database.claim_budget_notice(account, state.currency, told, percent).await {
            Ok(true) => {
                progress.told.insert(account, percent);
                if let Some(total) = shared.budgets.books.lock().known.get_mut(&account) {
                    total.told.insert(state.currency, percent);
                }
                if percent > told {
                    notify(shared, account, percent, false);
                }
            }
            Ok(false) => {}
            Err(why) => tracing::debug!(error = %why, "a share of a budget could not be noted"),
        }
    }
}

/// Every budget with what is known of it.
fn look(shared: &Shared) -> Vec<Found> {
    let (snapshot, now) = (shared.snapshot.load_full(), shared.clock.wall());
    let configuration = &snapshot.configuration;
    let keys = configuration.keys.iter().map(|key| (BudgetOwner::Key(key.id), key.spec.budget.as_ref()));
    let groups = configuration.groups.iter().map(|group| (BudgetOwner::Group(group.id), group.spec.budget.as_ref()));
    let budgets = keys.chain(groups).filter_map(|(owner, budget)| Some((owner, budget?)));
    let books = shared.budgets.books.lock();
    let of = |(owner, budget): (BudgetOwner, &Budget)| -> Vec<Found> {
        let states = books.states(owner, budget, now, &snapshot.settings);
        let found = states.map(|state| {
            let account = Account::at(owner, state.span, now, &snapshot.settings);
            let told = books.known.get(&account).and_then(|total| total.told.get(&state.currency));
            Found { account, told: told.copied().unwrap_or(0), state }
        });
        found.collect()
    };
    budgets.flat_map(of).collect()
}

fn notify(shared: &Shared, account: Account, percent: i16, is_heard: bool) {
    let Some(level) = BudgetLevel::ALL.into_iter().find(|level| level.percent() == percent) else { return };
    let subject = Subject::Budget(account.owner, account.span, level);
    let turn = Turn { subject, event: AlertEvent::Budget, class: None };
    shared.alerts.tell(Signal::News { turn, is_heard });
}
