//! Figures over a filter, and the values there are to filter by.

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{
    COUNTING,
    calls::{Calls, Compared, Paid},
    filter::{Bound, Filter, TokensWord},
    list::{ListError, filtered},
};
use crate::database::{Database, DatabaseError};

/// Figures over the requests that pass a filter. `direct_success` to `client_error` add up to `total`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Stats {
    /// Requests.
    pub total: i64,
    /// Success with one attempt.
    pub direct_success: i64,
    /// Success after more.
    pub failover_success: i64,
    /// Failed, nobody there, or nobody able.
    pub failed: i64,
    /// Broken off.
    pub partial: i64,
    /// The client left.
    pub canceled: i64,
    /// Refused for what they are.
    pub client_error: i64,
    /// With more than one attempt, however they ended.
    pub retried: i64,
    /// Both successes ÷ total; none without requests.
    pub success_rate: Option<f64>,
    /// Median of the time to the first output, in milliseconds, over those that have one. These four are within 5 %
    /// where they are read from sums, and of a sample where there are more than 100,000 requests otherwise.
    pub p50_ttft_ms: Option<f64>,
    /// Its 95th percentile.
    pub p95_ttft_ms: Option<f64>,
    /// Median of the duration in milliseconds.
    pub p50_duration_ms: Option<f64>,
    /// Its 95th percentile.
    pub p95_duration_ms: Option<f64>,
    /// Input tokens neither read from nor written to a cache.
    pub tokens_fresh: i64,
    /// Input tokens read from a cache.
    pub tokens_read: i64,
    /// Input tokens written to a cache, of any life.
    pub tokens_write: i64,
    /// Output tokens.
    pub tokens_output: i64,
    /// Reasoning tokens, a part of the output.
    pub tokens_reasoning: i64,
    /// What they cost, by currency; where a request is looked for by its upstream, what that upstream's attempts cost.
    pub costs: Vec<Amount>,
    /// How many may have been charged for.
    pub charged: i64,
    /// How many of those are priced in full. Where it is fewer, the amounts are lower bounds or estimates.
    pub priced: i64,
    /// The attempts that they made; where a request is looked for by its upstream, those at it.
    pub calls: Calls,
    /// Their output tokens as reported and as counted here, where just these are looked for.
    pub compared: Option<Compared>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Amount {
    /// Its currency.
    pub currency: String,
    /// The amount.
    #[schema(value_type = String, examples("0.0105"))]
    pub amount: Decimal,
}

/// Values that occur, in order, bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Options {
    /// Models asked for.
    pub models: Vec<String>,
    /// Client programs.
    pub clients: Vec<String>,
    /// Error kinds.
    pub error_kinds: Vec<String>,
}

/// What was spent in a time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Spend {
    /// By currency.
    pub costs: Vec<Amount>,
    /// Requests that may have been charged for.
    pub charged: i64,
    /// Those of them that are priced in full.
    pub priced: i64,
}

impl Stats {
    /// Both successes ÷ total.
    pub(super) fn rate(&self) -> Option<f64> {
        let successes = self.direct_success + self.failover_success;
        #[expect(clippy::cast_precision_loss, reason = "a share, and counts are far below 2^53")]
        let rate = (self.total > 0).then(|| successes as f64 / self.total as f64);
        rate
    }
}

pub(super) fn amount(currency: &str, text: Option<&str>) -> Option<Amount> {
    let amount: Decimal = text?.parse().ok()?;
    Some(Amount { currency: currency.to_owned(), amount: amount.normalize() })
}

const SAMPLE: i64 = 100_000;

/// How many of 256 requests to look at, so that there are about as many as a sample needs; none for all. The last byte
/// of an id is random.
pub(super) fn sample(total: i64) -> Option<i32> {
    (total > SAMPLE).then(|| i32::try_from((SAMPLE * 256).div_euclid(total)).unwrap_or(1).clamp(1, 255))
}

impl Database {
    /// Figures over the requests that pass the filter; those that only count tokens are left out.
    pub async fn request_stats(&self, filter: &Filter) -> Result<Stats, ListError> {
        let bound = filter.bind()?;
        if let Some(stats) = self.summed_stats(filter, &bound).await? {
            return Ok(stats);
        }
        let counting = filtered!(
            [r#"select count(*) as "total!",
                count(*) filter (where r.outcome = 'success' and r.attempt_count <= 1) as "direct_success!",
                count(*) filter (where r.outcome = 'success' and r.attempt_count > 1) as "failover_success!",
                count(*) filter (where r.outcome in ('failed', 'unavailable', 'unsupported')) as "failed!",
                count(*) filter (where r.outcome = 'partial') as "partial!",
                count(*) filter (where r.outcome = 'canceled') as "canceled!",
                count(*) filter (where r.outcome = 'client_error') as "client_error!",
                count(*) filter (where r.attempt_count > 1) as "retried!",
                coalesce(sum(r.tokens_fresh), 0)::bigint as "tokens_fresh!",
                coalesce(sum(r.tokens_read), 0)::bigint as "tokens_read!",
                (coalesce(sum(r.tokens_write_5m), 0) + coalesce(sum(r.tokens_write_1h), 0)
                    + coalesce(sum(r.tokens_write_other), 0))::bigint as "tokens_write!",
                coalesce(sum(r.tokens_output), 0)::bigint as "tokens_output!",
                coalesce(sum(r.tokens_reasoning), 0)::bigint as "tokens_reasoning!",
                count(r.cost_complete) as "charged!",
                count(*) filter (where r.cost_complete) as "priced!",
                coalesce(sum(r.attempt_count) filter (where r.attempt_count <= 1), 0)::bigint as "attempts_once!",
                count(r.cost_complete) filter (where r.attempt_count <= 1) as "charged_once!",
                count(*) filter (where r.cost_complete and r.attempt_count <= 1) as "priced_once!",
                count(r.cost_currency) filter (where r.attempt_count <= 1) as "amounts_once!",
                sum(r.cost) filter (where r.cost_currency = 'USD')::text as usd,
                count(*) filter (where coalesce(r.cost_currency <> 'USD', r.attempt_count > 1)) as "other_currencies!"
            from headgate.requests_of($5::bigint, $1::timestamptz, $2::timestamptz, $21::boolean, $22::text, $23::timestamptz,
                $24::timestamptz) r where true"#],
            [" and r.endpoint <> $26"],
            filter,
            bound,
            COUNTING
        )
        .fetch_one(self.pool());
        let of_upstream = async {
            match filter.upstream {
                Some(_) => self.upstream_costs(filter, &bound).await.map(Some),
                None => Ok(None),
            }
        };
        let twice = async {
            match filter.tokens {
                Some(TokensWord::Compared) => self.compared_output(filter, &bound).await.map(Some),
                _ => Ok(None),
            }
        };
        let (row, of_upstream, compared) = tokio::try_join!(async { Ok(counting.await?) }, of_upstream, twice)?;
        // Sorting is what takes long, and it keeps the counting from running in parallel: a statement of its own.
        let times = filtered!(
            [r#"select
                percentile_cont(array[0.5, 0.95]) within group (order by r.ttft_ms) as "ttft: Vec<Option<f64>>",
                percentile_cont(array[0.5, 0.95]) within group (order by r.duration_ms) as "duration: Vec<Option<f64>>"
            from headgate.requests_of($5::bigint, $1::timestamptz, $2::timestamptz, $21::boolean, $22::text, $23::timestamptz,
                $24::timestamptz) r where true"#],
            [" and r.endpoint <> $26 and ($27::int is null or get_byte(uuid_send(r.id), 15) < $27)"],
            filter,
            bound,
            COUNTING,
            sample(row.total),
        )
        .fetch_one(self.pool())
        .await?;
        let paid = if let Some(paid) = of_upstream {
            paid
        } else {
            let costs = if row.other_currencies > 0 {
                self.costs_by_currency(filter, &bound).await?
            } else {
                amount("USD", row.usd.as_deref()).into_iter().collect()
            };
            let once = Calls {
                made: row.attempts_once,
                charged: row.charged_once,
                priced: row.priced_once,
                with_amount: row.amounts_once,
            };
            let again = if row.retried > 0 { self.calls_of_retried(filter, &bound).await? } else { Calls::default() };
            Paid { calls: once + again, costs }
        };
        let (charged, priced) =
            if filter.upstream.is_some() { (paid.calls.charged, paid.calls.priced) } else { (row.charged, row.priced) };
        let at = |list: &Option<Vec<Option<f64>>>, n: usize| list.as_ref()?.get(n).copied().flatten();
        let mut stats = Stats {
            total: row.total,
            direct_success: row.direct_success,
            failover_success: row.failover_success,
            failed: row.failed,
            partial: row.partial,
            canceled: row.canceled,
            client_error: row.client_error,
            retried: row.retried,
            success_rate: None,
            p50_ttft_ms: at(&times.ttft, 0),
            p95_ttft_ms: at(&times.ttft, 1),
            p50_duration_ms: at(&times.duration, 0),
            p95_duration_ms: at(&times.duration, 1),
            tokens_fresh: row.tokens_fresh,
            tokens_read: row.tokens_read,
            tokens_write: row.tokens_write,
            tokens_output: row.tokens_output,
            tokens_reasoning: row.tokens_reasoning,
            costs: paid.costs,
            charged,
            priced,
            calls: paid.calls,
            compared,
        };
        stats.success_rate = stats.rate();
        Ok(stats)
    }

    /// What the requests that started in a time cost.
    pub async fn spend(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Spend, DatabaseError> {
        let asked = sqlx::query!(
            r#"select coalesce(sum(charged), 0)::bigint as "charged!", coalesce(sum(priced), 0)::bigint as "priced!"
            from headgate.requests_in($1, $2, false)"#,
            since,
            until
        )
        .fetch_one(self.pool())
        .await?;
        let rows = sqlx::query!(
            r#"select currency as "currency!", sum(cost)::text as amount from headgate.attempts_in($1, $2)
            where currency is not null group by 1 order by 1"#,
            since,
            until
        )
        .fetch_all(self.pool())
        .await?;
        Ok(Spend {
            costs: rows.iter().filter_map(|row| amount(&row.currency, row.amount.as_deref())).collect(),
            charged: asked.charged,
            priced: asked.priced,
        })
    }

    async fn costs_by_currency(&self, filter: &Filter, bound: &Bound) -> Result<Vec<Amount>, ListError> {
        let rows = filtered!(
            [r#"select c.currency as "currency!", sum(c.cost)::text as amount
            from headgate.requests r cross join lateral (
                select r.cost_currency as currency, r.cost where r.cost_currency is not null
                union all
                -- A request with several attempts may have cost in several currencies.
                select a.cost_currency, a.cost from headgate.attempts a
                where r.cost_currency is null and r.attempt_count > 1
                    and a.started_at = r.started_at and a.request_id = r.id and a.cost_currency is not null
            ) c where $5::bigint is null
                and headgate.request_passes(r, $21::boolean, $22::text, $23::timestamptz, $24::timestamptz)"#],
            [" and r.endpoint <> $26 group by 1 order by 1"],
            filter,
            bound,
            COUNTING
        )
        .fetch_all(self.pool())
        .await?;
        Ok(rows.iter().filter_map(|row| amount(&row.currency, row.amount.as_deref())).collect())
    }

    /// Models, clients and error kinds of the newest 50,000 requests of a time, at most 200 of each.
    pub async fn request_options(
        &self,
        since: Option<DateTime<Utc>>,
        until: Option<DateTime<Utc>>,
    ) -> Result<Options, DatabaseError> {
        let row = sqlx::query!(
            r#"with recent as materialized (
                select left(model, 200) as model, client, error_kind from headgate.requests
                where ($1::timestamptz is null or started_at >= $1) and ($2::timestamptz is null or started_at < $2)
                order by started_at desc limit 50000
            )
            select
                array(select distinct model from recent where model is not null order by 1 limit 200) as "models!",
                array(select distinct client from recent where client is not null order by 1 limit 200) as "clients!",
                array(select distinct error_kind from recent where error_kind is not null order by 1 limit 200) as "error_kinds!""#,
            since,
            until
        )
        .fetch_one(self.pool())
        .await?;
        Ok(Options { models: row.models, clients: row.clients, error_kinds: row.error_kinds })
    }
}
