//! The attempts behind requests: how many were charged for and priced, what they cost, and their tokens counted twice.

use serde::{Deserialize, Serialize};

use super::{
    COUNTING,
    filter::{Bound, Filter},
    list::{ListError, filtered},
    stats::{Amount, amount},
};
use crate::database::Database;

/// Attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Calls {
    /// All of them.
    pub made: i64,
    /// Those that may have been charged for.
    pub charged: i64,
    /// Those of them that are priced in full.
    pub priced: i64,
    /// Those that have an amount, in full or as a lower bound.
    pub with_amount: i64,
}

impl std::ops::Add for Calls {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            made: self.made + other.made,
            charged: self.charged + other.charged,
            priced: self.priced + other.priced,
            with_amount: self.with_amount + other.with_amount,
        }
    }
}

/// Output of attempts that was both reported and counted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ComparedOutput)]
pub struct Compared {
    /// Attempts.
    pub attempts: i64,
    /// As it was reported.
    pub reported: i64,
    /// As it passed through.
    pub observed: i64,
}

/// What attempts cost.
pub(super) struct Paid {
    /// How many there are.
    pub(super) calls: Calls,
    /// The amounts.
    pub(super) costs: Vec<Amount>,
}

impl Paid {
    /// Adds up rows by currency: made, charged, priced, and the amount if there is one.
    pub(super) fn of(rows: impl IntoIterator<Item = (Calls, Option<Amount>)>) -> Self {
        let mut paid = Self { calls: Calls::default(), costs: Vec::new() };
        for (calls, cost) in rows {
            paid.calls = paid.calls + Calls { with_amount: if cost.is_some() { calls.made } else { 0 }, ..calls };
            paid.costs.extend(cost);
        }
        paid
    }
}

impl Database {
    /// Of the requests that pass, only the attempts at the upstream.
    pub(super) async fn upstream_costs(&self, filter: &Filter, bound: &Bound) -> Result<Paid, ListError> {
        let rows = filtered!(
            [r#"select c.cost_currency as currency, sum(c.cost)::text as amount, count(*) as "made!",
                count(*) filter (where c.usage_source is not null or c.outcome in ('success', 'partial')) as "charged!",
                count(*) filter (where c.cost is not null and c.cost_gaps is null) as "priced!"
            from headgate.requests r
            join headgate.attempts c on c.started_at = r.started_at and c.request_id = r.id and c.upstream_id = $5
                and headgate.attempt_passes(c, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz)
                and ($1::timestamptz is null or c.started_at >= $1) and ($2::timestamptz is null or c.started_at < $2)
            where ($21::boolean is distinct from false or r.cost_complete = false)"#],
            [" and r.endpoint <> $26 group by 1 order by 1"],
            filter,
            bound,
            COUNTING
        )
        .fetch_all(self.pool())
        .await?;
        Ok(Paid::of(rows.into_iter().map(|row| {
            let calls = Calls { made: row.made, charged: row.charged, priced: row.priced, with_amount: 0 };
            (calls, row.currency.and_then(|currency| amount(&currency, row.amount.as_deref())))
        })))
    }

    /// The attempts of the requests that pass and made several: of all others the request says it.
    pub(super) async fn calls_of_retried(&self, filter: &Filter, bound: &Bound) -> Result<Calls, ListError> {
        let row = filtered!(
            [r#"select count(*) as "made!",
                count(*) filter (where c.usage_source is not null or c.outcome in ('success', 'partial')) as "charged!",
                count(*) filter (where c.cost is not null and c.cost_gaps is null) as "priced!",
                count(c.cost_currency) as "with_amount!"
            from headgate.requests r
            join headgate.attempts c on c.started_at = r.started_at and c.request_id = r.id
            where $5::bigint is null and r.attempt_count > 1
                and headgate.request_passes(r, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz)"#],
            [" and r.endpoint <> $26"],
            filter,
            bound,
            COUNTING
        )
        .fetch_one(self.pool())
        .await?;
        Ok(Calls { made: row.made, charged: row.charged, priced: row.priced, with_amount: row.with_amount })
    }

    /// The output of the requests that pass, or of their attempts at the upstream, as reported and as counted here.
    pub(super) async fn compared_output(&self, filter: &Filter, bound: &Bound) -> Result<Compared, ListError> {
        let sums = filtered!(
            [r#"select count(*) as "attempts!", coalesce(sum(c.tokens_output), 0)::bigint as "reported!",
                coalesce(sum(c.observed_output), 0)::bigint as "observed!"
            from headgate.requests r
            join headgate.attempts c on c.started_at = r.started_at and c.request_id = r.id
                and c.tokens_output is not null and c.observed_output is not null
                and ($5::bigint is null or (c.upstream_id = $5
                    and headgate.attempt_passes(c, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz)))
                and ($1::timestamptz is null or c.started_at >= $1) and ($2::timestamptz is null or c.started_at < $2)
            where ($5::bigint is not null
                or headgate.request_passes(r, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz))"#],
            [" and r.endpoint <> $26"],
            filter,
            bound,
            COUNTING
        );
        let row = sums.fetch_one(self.pool()).await?;
        Ok(Compared { attempts: row.attempts, reported: row.reported, observed: row.observed })
    }
}
