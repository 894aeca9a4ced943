//! Counters of what access keys and groups have spent, shared by all processes on the database.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use headgate_domain::{BudgetOwner, BudgetSpan};
use headgate_pricing::{
    Currency,
    budget::{Account, Amounts},
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::{Database, DatabaseError};

/// Days for which periods that are over are kept.
const KEPT: u64 = 400;

/// Counts that a process hands over together. Sent again, they count once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The process.
    pub process: Uuid,
    /// Grows from batch to batch of the process.
    pub number: i64,
    /// What is to be added.
    pub counts: Vec<(Account, Amounts)>,
}

/// An account as the database knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Which.
    pub account: Account,
    /// What was counted.
    pub amounts: Amounts,
    /// The share in hundredths that people were told of last, by the currency of the budget.
    pub told: BTreeMap<Currency, i16>,
}

/// A row of counts; without a currency it is about what has no price.
#[derive(Serialize)]
struct Row<'a> {
    owner: &'static str,
    owner_id: i64,
    span: &'static str,
    start: NaiveDate,
    currency: &'a str,
    spent: Decimal,
    unpriced: i64,
}

fn rows(counts: &[(Account, Amounts)]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (account, amounts) in counts {
        let mut row = |currency, spent, unpriced| {
            let Account { owner, span, start } = *account;
            let (kind, owner_id, span) = (owner.kind(), owner.id(), span.as_str());
            rows.push(Row { owner: kind, owner_id, span, start, currency, spent, unpriced });
        };
        for (currency, amount) in &amounts.spent {
            row(currency.as_str(), *amount, 0);
        }
        if amounts.unpriced > 0 {
            row("", Decimal::ZERO, amounts.unpriced);
        }
    }
    rows
}

impl Database {
    /// Adds counts, unless this batch or a later one of the process was added already.
    pub async fn add_to_budgets(&self, batch: &Batch, now: DateTime<Utc>) -> Result<(), DatabaseError> {
        // In the order of their key, so that processes that add at the same time wait for each other in one direction.
        sqlx::query!(
            "with fresh as (
                insert into headgate.budget_batches (process, number, at) values ($1, $2, $3)
                on conflict (process) do update set number = excluded.number, at = excluded.at
                    where budget_batches.number < excluded.number
                returning 1
            )
            insert into headgate.budget_counters as c (owner, owner_id, span, start, currency, spent, unpriced)
            select owner, owner_id, span, start, currency, spent, unpriced
            from jsonb_to_recordset($4) as r(owner text, owner_id bigint, span text, start date, currency text,
                spent numeric, unpriced bigint)
            where exists (select from fresh)
            order by 1, 2, 3, 4, 5
            on conflict (owner, owner_id, span, start, currency) do update
                set spent = c.spent + excluded.spent, unpriced = c.unpriced + excluded.unpriced",
            batch.process,
            batch.number,
            now,
            Json(rows(&batch.counts)) as _
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// What was counted for everybody today, this month and altogether.
    pub async fn budget_totals(&self, day: NaiveDate, month: NaiveDate) -> Result<Vec<Total>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select owner, owner_id, span, start, currency, spent::text as "spent!", unpriced, told
            from headgate.budget_counters
            where span = 'day' and start = $1 or span = 'month' and start = $2 or span = 'total'
            order by owner, owner_id, span, start"#,
            day,
            month
        )
        .fetch_all(self.pool())
        .await?;
        let mut totals: Vec<Total> = Vec::new();
        for row in rows {
            // What a newer program counts is its own affair.
            let (Some(owner), Some(span)) = (BudgetOwner::of(&row.owner, row.owner_id), BudgetSpan::of(&row.span))
            else {
                continue;
            };
            let account = Account { owner, span, start: row.start };
            if totals.last().is_none_or(|last| last.account != account) {
                totals.push(Total { account, amounts: Amounts::default(), told: BTreeMap::new() });
            }
            let Some(total) = totals.last_mut() else { continue };
            total.amounts.unpriced += row.unpriced;
            if let (Ok(currency), Ok(spent)) = (row.currency.parse::<Currency>(), row.spent.parse()) {
                total.amounts.spent.insert(currency, spent);
                total.told.insert(currency, row.told);
            }
        }
        Ok(totals)
    }

    /// Notes the share of a budget that people are told of, in hundredths, in place of the one that was known. Of
    /// several processes that find it out, one gets it.
    pub async fn claim_budget_notice(
        &self,
        account: Account,
        currency: Currency,
        known: i16,
        percent: i16,
    ) -> Result<bool, DatabaseError> {
        let done = sqlx::query!(
            "update headgate.budget_counters set told = $7
            where owner = $1 and owner_id = $2 and span = $3 and start = $4 and currency = $5 and told = $6",
            account.owner.kind(),
            account.owner.id(),
            account.span.as_str(),
            account.start,
            currency.as_str(),
            known,
            percent
        )
        .execute(self.pool())
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Forgets periods that are long over, and processes that are long gone.
    pub async fn forget_old_budgets(&self, now: DateTime<Utc>) -> Result<(), DatabaseError> {
        let border = now.checked_sub_days(chrono::Days::new(KEPT)).unwrap_or(now);
        sqlx::query!("delete from headgate.budget_counters where span <> 'total' and start < $1", border.date_naive())
            .execute(self.pool())
            .await?;
        sqlx::query!("delete from headgate.budget_batches where at < $1", border).execute(self.pool()).await?;
        Ok(())
    }
}
