//! Figures read from the sums of [`crate::rollup`]: exact counts and amounts, percentiles within 5 %.

use super::{
    calls::{Calls, Paid},
    filter::{Bound, Filter, Unnamed},
    list::ListError,
    stats::{Stats, amount},
};
use crate::database::{Database, DatabaseError};

/// How many requests took how long, in slots that grow by a tenth.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    counts: Vec<i64>,
}

impl Histogram {
    const GROWTH: f64 = 1.1;

    /// Adds what a column holds: the slot in the upper 32 bits of each number, how many in the lower.
    pub(super) fn add(&mut self, packed: &[i64]) {
        for one in packed {
            let Ok(slot) = usize::try_from(one >> 32) else { continue };
            if slot >= self.counts.len() {
                self.counts.resize(slot + 1, 0);
            }
            if let Some(count) = self.counts.get_mut(slot) {
                *count += one & 0xffff_ffff;
            }
        }
    }

    /// The time that a part (0 to 1) of all stays below, in milliseconds: the geometric middle of its slot.
    pub(super) fn percentile(&self, part: f64) -> Option<f64> {
        let total: i64 = self.counts.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let rank = (part * (total - 1) as f64).max(0.0);
        let mut below = 0;
        let slot = self.counts.iter().position(|count| {
            below += count;
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            let reached = below as f64 > rank;
            reached
        })?;
        let middle = Self::GROWTH.powf(f64::from(u32::try_from(slot).ok()?) + 0.5);
        Some((middle * 10.0).round() / 10.0)
    }
}

impl Filter {
    /// Whether the sums know everything the filter asks about.
    pub(super) fn is_summed(&self, bound: &Bound) -> bool {
        let contradicts = bound.min_attempts.is_some() && bound.max_attempts.is_some();
        self.client.is_none()
            && self.error_kind.is_none()
            && self.error_source.is_none()
            && self.slow_ms.is_none()
            && self.id.is_none()
            && self.priced.is_none()
            && self.tokens.is_none()
            && self.ended_after.is_none()
            && self.ended_by.is_none()
            && bound.text.is_none()
            && !contradicts
    }
}

impl Bound {
    fn retried(&self) -> Option<bool> {
        match (self.min_attempts, self.max_attempts) {
            (None, None) => None,
            (least, _) => Some(least.is_some()),
        }
    }
}

impl Database {
    /// The figures of a filter from the sums; `None` where they do not say it, or there are none.
    pub(super) async fn summed_stats(&self, filter: &Filter, bound: &Bound) -> Result<Option<Stats>, ListError> {
        if !filter.is_summed(bound) || !self.has_sums(filter).await? {
            return Ok(None);
        }
        let requests = sqlx::query!(
            r#"select outcome as "outcome!", retried as "retried!", requests as "requests!", charged as "charged!",
                priced as "priced!", tokens_fresh as "fresh!", tokens_read as "read!", tokens_write as "write!",
                tokens_output as "output!", tokens_reasoning as "reasoning!", ttft as "ttft!", duration as "duration!"
            from headgate.requests_in(coalesce($1, '-infinity'::timestamptz), coalesce($2, 'infinity'::timestamptz),
                $3::bigint is not null)
            where ($3::bigint is null or attempted_id = $3)
                and ($4::bigint is null or group_id = $4) and ($5::bigint is null or key_id = $5)
                and ($6::text is null or model = $6) and ($7::text is null or protocol = $7)
                and ($8::boolean is null or stream = $8) and ($9::text[] is null or outcome = any($9))
                and ($10::boolean is null or retried = $10)
                and ($11::text is null or case $11 when 'model' then model is null when 'key' then key_id is null
                    else group_id is null end)"#,
            filter.since,
            filter.until,
            filter.upstream.map(|id| id.0),
            filter.group.map(|id| id.0),
            filter.key.map(|id| id.0),
            bound.model,
            filter.protocol.map(headgate_domain::Protocol::as_str),
            filter.stream,
            bound.outcomes.as_deref(),
            bound.retried(),
            filter.without.map(Unnamed::as_str),
        )
        .fetch_all(self.pool());
        let (rows, paid) = tokio::try_join!(async { Ok(requests.await?) }, self.summed_costs(filter, bound))?;
        let (mut stats, mut ttft, mut duration) = (Stats::default(), Histogram::default(), Histogram::default());
        for row in &rows {
            stats.total += row.requests;
            let of_outcome = match (row.outcome.as_str(), row.retried) {
                ("success", false) => &mut stats.direct_success,
                ("success", true) => &mut stats.failover_success,
                ("partial", _) => &mut stats.partial,
                ("canceled", _) => &mut stats.canceled,
                ("client_error", _) => &mut stats.client_error,
                _ => &mut stats.failed,
            };
            *of_outcome += row.requests;
            stats.retried += if row.retried { row.requests } else { 0 };
            stats.charged += row.charged;
            stats.priced += row.priced;
            stats.tokens_fresh += row.fresh;
            stats.tokens_read += row.read;
            stats.tokens_write += row.write;
            stats.tokens_output += row.output;
            stats.tokens_reasoning += row.reasoning;
            ttft.add(&row.ttft);
            duration.add(&row.duration);
        }
        (stats.p50_ttft_ms, stats.p95_ttft_ms) = (ttft.percentile(0.5), ttft.percentile(0.95));
        (stats.p50_duration_ms, stats.p95_duration_ms) = (duration.percentile(0.5), duration.percentile(0.95));
        stats.success_rate = stats.rate();
        if filter.upstream.is_some() {
            (stats.charged, stats.priced) = (paid.calls.charged, paid.calls.priced);
        }
        stats.calls = paid.calls;
        stats.costs = paid.costs;
        Ok(Some(stats))
    }

    /// Of the attempts that the filter's requests made, or of those at its upstream.
    async fn summed_costs(&self, filter: &Filter, bound: &Bound) -> Result<Paid, DatabaseError> {
        let rows = sqlx::query!(
            r#"select currency, sum(cost)::text as amount, sum(charged)::bigint as "charged!",
                sum(priced)::bigint as "priced!", sum(attempts)::bigint as "attempts!"
            from headgate.attempts_in(coalesce($1, '-infinity'::timestamptz), coalesce($2, 'infinity'::timestamptz))
            where ($3::bigint is null or upstream_id = $3)
                and ($4::bigint is null or group_id = $4) and ($5::bigint is null or key_id = $5)
                and ($6::text is null or model = $6) and ($7::text is null or protocol = $7)
                and ($8::boolean is null or stream = $8) and ($9::text[] is null or outcome = any($9))
                and ($10::boolean is null or retried = $10)
                and ($11::text is null or case $11 when 'model' then model is null when 'key' then key_id is null
                    else group_id is null end)
            group by 1 order by 1"#,
            filter.since,
            filter.until,
            filter.upstream.map(|id| id.0),
            filter.group.map(|id| id.0),
            filter.key.map(|id| id.0),
            bound.model,
            filter.protocol.map(headgate_domain::Protocol::as_str),
            filter.stream,
            bound.outcomes.as_deref(),
            bound.retried(),
            filter.without.map(Unnamed::as_str),
        )
        .fetch_all(self.pool())
        .await?;
        Ok(Paid::of(rows.into_iter().map(|row| {
            let calls = Calls { made: row.attempts, charged: row.charged, priced: row.priced, with_amount: 0 };
            (calls, row.currency.and_then(|currency| amount(&currency, row.amount.as_deref())))
        })))
    }

    async fn has_sums(&self, filter: &Filter) -> Result<bool, DatabaseError> {
        let has = sqlx::query_scalar!(
            r#"select exists (select from headgate.rollup_requests
                where bucket >= headgate.bucket_after(coalesce($1, '-infinity'::timestamptz))
                    and bucket < headgate.bucket(coalesce($2, 'infinity'::timestamptz))) as "has!""#,
            filter.since,
            filter.until
        );
        Ok(has.fetch_one(self.pool()).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl Iterator<Item = u32>) -> Histogram {
        let mut histogram = Histogram::default();
        for ms in times {
            #[expect(clippy::cast_possible_truncation, reason = "a slot is below 256")]
            let slot = (f64::from(ms.max(1)).ln() / Histogram::GROWTH.ln()).floor() as i64;
            histogram.add(&[(slot << 32) | 1]);
        }
        histogram
    }

    #[test]
    fn a_percentile_is_within_a_twentieth_of_the_true_one() {
        let (mut seed, mut times) = (1_u64, Vec::new());
        for _ in 0..5_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // From 1 ms to a quarter of an hour, evenly on a logarithmic scale.
            let exponent = f64::from(u32::try_from(seed >> 40).unwrap()) / f64::from(1 << 24) * 13.7;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10^6")]
            times.push(exponent.exp() as u32);
        }
        let histogram = of(times.iter().copied());
        times.sort_unstable();
        for part in [0.05, 0.5, 0.95, 0.99] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
            let exact = f64::from(times[(part * 4_999.0) as usize]);
            let read = histogram.percentile(part).unwrap();
            assert!((read / exact - 1.0).abs() < 0.05, "{part}: {read} instead of {exact}");
        }
    }

    #[test]
    fn nothing_has_no_percentile_and_one_has_itself() {
        assert_eq!(Histogram::default().percentile(0.5), None);
        let one = of([1000].into_iter());
        assert_eq!(one.percentile(0.5), one.percentile(0.95));
        assert!((one.percentile(0.5).unwrap() / 1000.0 - 1.0).abs() < 0.05);
    }
}
