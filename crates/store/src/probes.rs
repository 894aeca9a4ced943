//! Results of active probes.

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{MonitorId, UpstreamId, monitor::ProbeRecord};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use crate::database::{Database, DatabaseError};

/// A quarter of an hour of one monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProbeCell {
    /// When it begins.
    pub at: DateTime<Utc>,
    /// Probes that ended in a whole answer.
    pub ok: i64,
    /// Probes.
    pub total: i64,
}

/// What is known of one monitor.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ProbeStrip {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Probes of the last 24 hours that ended in a whole answer.
    pub ok: i64,
    /// Probes of the last 24 hours.
    pub total: i64,
    /// Median milliseconds of those that were answered.
    pub duration_ms: Option<i64>,
    /// Their median milliseconds to the first output.
    pub ttft_ms: Option<i64>,
    /// Quarters of an hour in which there was a probe, oldest first.
    pub cells: Vec<ProbeCell>,
    /// The newest probe.
    pub last: ProbeRecord,
}

/// Real traffic of one upstream and model in 24 hours, without what was nobody's fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ModelTraffic {
    /// The upstream.
    pub upstream_id: UpstreamId,
    /// The name sent to it.
    pub model: String,
    /// Attempts that succeeded.
    pub ok: i64,
    /// Attempts.
    pub total: i64,
    /// Median milliseconds to the first output.
    pub ttft_ms: Option<i64>,
}

impl Database {
    /// Stores the result of a probe.
    pub async fn insert_probe(&self, probe: &ProbeRecord) -> Result<(), DatabaseError> {
        sqlx::query!(
            "insert into headgate.probes
                (monitor_id, at, upstream_id, model, class, status, ttft_ms, duration_ms, error_text)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing",
            probe.monitor_id.0,
            probe.at,
            probe.upstream_id.0,
            probe.model,
            probe.class,
            probe.status,
            probe.ttft_ms,
            probe.duration_ms,
            probe.error_text,
        )
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// The last 24 hours of every monitor that was probed in them.
    pub async fn probe_strips(&self, now: DateTime<Utc>) -> Result<Vec<ProbeStrip>, DatabaseError> {
        let since = now - TimeDelta::hours(24);
        let rows = sqlx::query!(
            r#"with recent as (select * from headgate.probes where at > $1),
            cells as (
                select monitor_id, date_bin('15 minutes', at, 'epoch') as cell,
                    count(*) filter (where class = 'ok') as ok, count(*) as total
                from recent group by 1, 2
            ),
            strips as (
                select monitor_id, sum(ok)::bigint as ok, sum(total)::bigint as total,
                    jsonb_agg(jsonb_build_object('at', cell, 'ok', ok, 'total', total) order by cell) as cells
                from cells group by 1
            ),
            medians as (
                select monitor_id, percentile_disc(0.5) within group (order by duration_ms) as duration_ms,
                    percentile_disc(0.5) within group (order by ttft_ms) as ttft_ms
                from recent where class = 'ok' group by 1
            ),
            newest as (select distinct on (monitor_id) * from recent order by monitor_id, at desc)
            select s.monitor_id as "monitor_id!", s.ok as "ok!", s.total as "total!", m.duration_ms, m.ttft_ms,
                s.cells as "cells!: Json<Vec<ProbeCell>>", to_jsonb(n) as "last!: Json<ProbeRecord>"
            from strips s join newest n using (monitor_id) left join medians m using (monitor_id)
            order by s.monitor_id"#,
            since
        )
        .fetch_all(self.pool())
        .await?;
        let strips = rows.into_iter().map(|row| ProbeStrip {
            monitor_id: MonitorId(row.monitor_id),
            ok: row.ok,
            total: row.total,
            duration_ms: row.duration_ms,
            ttft_ms: row.ttft_ms,
            cells: row.cells.0,
            last: row.last.0,
        });
        Ok(strips.collect())
    }

    /// The newest probes of a monitor.
    pub async fn probes(&self, monitor: MonitorId, limit: i64) -> Result<Vec<ProbeRecord>, DatabaseError> {
        let rows = sqlx::query_scalar!(
            r#"select to_jsonb(p) as "probe!: Json<ProbeRecord>" from headgate.probes p
            where monitor_id = $1 order by at desc limit $2"#,
            monitor.0,
            limit
        )
        .fetch_all(self.pool())
        .await?;
        Ok(rows.into_iter().map(|probe| probe.0).collect())
    }

    /// What real requests say of each upstream and model: attempts of the last 24 hours, by the name that was sent.
    pub async fn model_traffic(&self, now: DateTime<Utc>) -> Result<Vec<ModelTraffic>, DatabaseError> {
        let since = now - TimeDelta::hours(24);
        let rows = sqlx::query!(
            r#"select upstream_id, mapped_model as "model!", count(*) as "total!",
                count(*) filter (where outcome = 'success') as "ok!",
                percentile_disc(0.5) within group (order by ttft_ms) as ttft_ms
            from headgate.attempts
            where started_at > $1 and mapped_model is not null
                and outcome not in ('canceled', 'client_error', 'unsupported')
            group by 1, 2"#,
            since
        )
        .fetch_all(self.pool())
        .await?;
        let traffic = rows.into_iter().map(|row| ModelTraffic {
            upstream_id: UpstreamId(row.upstream_id),
            model: row.model,
            ok: row.ok,
            total: row.total,
            ttft_ms: row.ttft_ms,
        });
        Ok(traffic.collect())
    }

    /// Removes probes older than this. Gives how many there were.
    pub async fn forget_probes(&self, before: DateTime<Utc>) -> Result<u64, DatabaseError> {
        let done = sqlx::query!("delete from headgate.probes where at < $1", before).execute(self.pool()).await?;
        Ok(done.rows_affected())
    }
}
