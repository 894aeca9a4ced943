//! What was spent over a time, by what it was spent on, and what upstreams said of themselves meanwhile.

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{GroupId, UpstreamId};
use headgate_pricing::compare::Snapshot;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use crate::{
    database::{Database, DatabaseError},
    requests::Amount,
};

/// What spending is told by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = SpendBy)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// The model asked for.
    #[default]
    Model,
    /// The access key.
    Key,
    /// The group.
    Group,
    /// The upstream that was asked.
    Upstream,
}

impl Dimension {
    /// The word in queries and in the table of names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Key => "key",
            Self::Group => "group",
            Self::Upstream => "upstream",
        }
    }
}

/// What was spent in one stretch of time on one value of a dimension in one currency.
#[derive(Debug, Clone, PartialEq)]
pub struct SpendCell {
    /// The stretch: 0 begins with the time asked about.
    pub stretch: i64,
    /// The key, group or upstream; none where there was none, and for models.
    pub id: Option<i64>,
    /// The model; none where none was named, and for all else.
    pub model: Option<String>,
    /// The currency; none of attempts without a price.
    pub currency: Option<String>,
    /// The amount.
    pub cost: Option<Decimal>,
    /// Attempts.
    pub attempts: i64,
    /// Those that may have been charged for.
    pub charged: i64,
    /// Those of them that are priced in full.
    pub priced: i64,
    /// Input tokens of any kind.
    pub tokens_input: i64,
    /// Those of them that were read from a cache.
    pub tokens_read: i64,
    /// Output tokens.
    pub tokens_output: i64,
}

/// What a group's attempts at an upstream for a model came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// The group.
    pub group: Option<GroupId>,
    /// The upstream.
    pub upstream: UpstreamId,
    /// The model asked for.
    pub model: Option<String>,
    /// By which name the upstream was asked.
    pub sent: Option<String>,
    /// The currency; none of attempts without a price.
    pub currency: Option<String>,
    /// What they cost at list price.
    pub cost: Decimal,
    /// Attempts.
    pub attempts: i64,
    /// Those that answered their request.
    pub answered: i64,
    /// Input tokens that no cache had to do with.
    pub tokens_fresh: i64,
    /// Input tokens read from a cache.
    pub tokens_read: i64,
    /// Input tokens written to a cache.
    pub tokens_write: i64,
    /// Output tokens.
    pub tokens_output: i64,
}

/// What is odd about a model of an upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendNote {
    /// The upstream.
    pub upstream: UpstreamId,
    /// The model asked for.
    pub model: Option<String>,
    /// By which name the upstream was asked.
    pub sent: Option<String>,
    /// Attempts that may have been charged for.
    pub charged: i64,
    /// Those of them that are priced in full.
    pub priced: i64,
    /// Attempts whose output was both reported and counted here.
    pub compared: i64,
    /// Their output as it was reported.
    pub reported_output: i64,
    /// Their output as it passed through.
    pub observed_output: i64,
}

fn decimal(text: Option<&str>) -> Option<Decimal> {
    text?.parse().ok()
}

impl Database {
    /// What attempts of a time cost, in stretches of `step` and by a dimension. Whole buckets are read from their sums.
    pub async fn spending(
        &self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        step: TimeDelta,
        by: Dimension,
    ) -> Result<Vec<SpendCell>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select floor(extract(epoch from bucket - $1) / $3::bigint)::bigint as "stretch!",
                case $4::text when 'key' then key_id when 'group' then group_id when 'upstream' then upstream_id end as id,
                case when $4 = 'model' then model end as model, currency, sum(cost)::text as cost,
                sum(attempts)::bigint as "attempts!", sum(charged)::bigint as "charged!", sum(priced)::bigint as "priced!",
                sum(tokens_fresh + tokens_read + tokens_write)::bigint as "tokens_input!",
                sum(tokens_read)::bigint as "tokens_read!", sum(tokens_output)::bigint as "tokens_output!"
            from headgate.attempts_in($1, $2) group by 1, 2, 3, 4"#,
            since,
            until,
            step.num_seconds().max(1),
            by.as_str()
        )
        .fetch_all(self.pool())
        .await?;
        let cell = rows.into_iter().map(|row| SpendCell {
            stretch: row.stretch,
            id: row.id,
            model: row.model,
            currency: row.currency,
            cost: decimal(row.cost.as_deref()),
            attempts: row.attempts,
            charged: row.charged,
            priced: row.priced,
            tokens_input: row.tokens_input,
            tokens_read: row.tokens_read,
            tokens_output: row.tokens_output,
        });
        Ok(cell.collect())
    }

    /// What attempts of a time cost, by currency.
    pub async fn spent(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<Amount>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select currency as "currency!", sum(cost)::text as cost from headgate.attempts_in($1, $2)
            where currency is not null group by 1 order by 1"#,
            since,
            until
        )
        .fetch_all(self.pool())
        .await?;
        let amount = |text: Option<String>| decimal(text.as_deref()).map(|amount| amount.normalize());
        let spent =
            rows.into_iter().filter_map(|row| Some(Amount { currency: row.currency, amount: amount(row.cost)? }));
        Ok(spent.collect())
    }

    /// What each group asked of each upstream, by model, name and currency.
    pub async fn traffic(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<Traffic>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select group_id, upstream_id as "upstream!", model, sent, currency, sum(cost)::text as cost,
                sum(attempts)::bigint as "attempts!", sum(answered)::bigint as "answered!",
                sum(tokens_fresh)::bigint as "tokens_fresh!", sum(tokens_read)::bigint as "tokens_read!",
                sum(tokens_write)::bigint as "tokens_write!", sum(tokens_output)::bigint as "tokens_output!"
            from headgate.attempts_in($1, $2) group by 1, 2, 3, 4, 5"#,
            since,
            until
        )
        .fetch_all(self.pool())
        .await?;
        let traffic = rows.into_iter().map(|row| Traffic {
            group: row.group_id.map(GroupId),
            upstream: UpstreamId(row.upstream),
            model: row.model,
            sent: row.sent,
            currency: row.currency,
            cost: decimal(row.cost.as_deref()).unwrap_or_default(),
            attempts: row.attempts,
            answered: row.answered,
            tokens_fresh: row.tokens_fresh,
            tokens_read: row.tokens_read,
            tokens_write: row.tokens_write,
            tokens_output: row.tokens_output,
        });
        Ok(traffic.collect())
    }

    /// Models of upstreams that have no full price, or whose output was counted here too; the most used first, at most
    /// two hundred.
    pub async fn spend_notes(
        &self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Vec<SpendNote>, DatabaseError> {
        let rows = sqlx::query!(
            r#"select upstream_id as "upstream!", model, sent, sum(charged)::bigint as "charged!",
                sum(priced)::bigint as "priced!", sum(compared)::bigint as "compared!",
                sum(reported_output)::bigint as "reported_output!", sum(observed_output)::bigint as "observed_output!"
            from headgate.attempts_in($1, $2)
            group by 1, 2, 3 having sum(charged) > sum(priced) or sum(compared) > 0
            order by sum(charged) desc, 1, 2, 3 limit 200"#,
            since,
            until
        )
        .fetch_all(self.pool())
        .await?;
        let note = rows.into_iter().map(|row| SpendNote {
            upstream: UpstreamId(row.upstream),
            model: row.model,
            sent: row.sent,
            charged: row.charged,
            priced: row.priced,
            compared: row.compared,
            reported_output: row.reported_output,
            observed_output: row.observed_output,
        });
        Ok(note.collect())
    }

    /// The names that keys, groups or upstreams had last, of those that were added up at least once.
    pub async fn last_names(&self, of: Dimension, ids: &[i64]) -> Result<Vec<(i64, String)>, DatabaseError> {
        let rows = sqlx::query!(
            "select id, name from headgate.rollup_names where kind = $1 and id = any($2)",
            of.as_str(),
            ids
        )
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
    }

    /// What upstreams said of themselves by each of `count` moments that end with `until`, `step` apart: the newest
    /// snapshot of the day before the moment, if there is one. A look into an index for each.
    pub async fn figures_over(
        &self,
        upstreams: &[UpstreamId],
        until: DateTime<Utc>,
        step: TimeDelta,
        count: i32,
    ) -> Result<Vec<(UpstreamId, i32, Snapshot)>, DatabaseError> {
        let ids: Vec<i64> = upstreams.iter().map(|id| id.0).collect();
        let rows = sqlx::query!(
            r#"select u.id as "id!", n as "n!", s.figures as "figures!: Json<Snapshot>"
            from unnest($1::bigint[]) u(id)
            cross join generate_series(0, $4::int - 1) n
            cross join lateral (
                select $2::timestamptz - ($4 - 1 - n) * make_interval(secs => $3::bigint::double precision)
            ) t(at)
            cross join lateral (
                select figures from headgate.billing_snapshots
                where upstream_id = u.id and at <= t.at and at > t.at - interval '1 day' order by at desc limit 1
            ) s
            order by 1, 2"#,
            &ids,
            until,
            step.num_seconds().max(1),
            count
        )
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(|row| (UpstreamId(row.id), row.n, row.figures.0)).collect())
    }
}
