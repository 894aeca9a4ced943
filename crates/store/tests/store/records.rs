//! Records to store.

use chrono::{DateTime, Duration, Utc};
use headgate_domain::{
    AttemptRecord, CostColumns, ErrorSource, GroupId, KeyId, Outcome, Protocol, RequestCost, RequestRecord, Revision,
    ServiceTier, UpstreamId, UpstreamKind, UsageSource,
    audit::{BreakerState, Reasons, Record, Selection, UsageColumns},
    upstream::Capability,
};
use rust_decimal::Decimal;
use uuid::Uuid;

/// A fixed day; what is stored needs no clock.
pub(crate) fn noon() -> DateTime<Utc> {
    "2026-03-10T12:00:00Z".parse().unwrap()
}

/// The `n`th record: one second after the one before, answered by upstream 1.
pub(crate) fn record(n: i64) -> Record {
    let started_at = noon() + Duration::seconds(n);
    let id = Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 + u128::try_from(n).unwrap());
    let usage = UsageColumns {
        tokens_fresh: Some(100),
        tokens_write_5m: Some(7),
        tokens_output: Some(10),
        usage_wire: Some(Protocol::Claude),
        usage_source: Some(UsageSource::Reported),
        service_tier: Some(ServiceTier::Priority),
        observed_input: Some(111),
        observed_output: Some(12),
        ..UsageColumns::default()
    };
    let request = RequestRecord {
        id,
        started_at,
        completed_at: started_at + Duration::milliseconds(900),
        group_id: Some(GroupId(1)),
        group_name: Some("coding".into()),
        key_id: Some(KeyId(2)),
        key_name: Some("laptop".into()),
        upstream_id: Some(UpstreamId(1)),
        upstream_name: Some("relay-1".into()),
        protocol: Some(Protocol::Claude),
        client: Some("claude-code".into()),
        endpoint: "/v1/messages".into(),
        model: Some("model-a".into()),
        stream: true,
        client_ip: Some("127.0.0.1".into()),
        user_agent: Some("claude-cli/2.0 (external)".into()),
        status: 200,
        outcome: Outcome::Success,
        error_kind: None,
        error_source: None,
        error_text: None,
        ttft_ms: Some(100 + n),
        duration_ms: 1000 + n,
        overhead_us: Some(210),
        attempt_count: 1,
        request_bytes: 2048,
        response_bytes: 4096,
        estimated_input: Some(512),
        features: Some(vec![Capability::Tools]),
        stream_completed: true,
        last_event: Some("message_stop".into()),
        upstream_request_id: Some("req_1".into()),
        affinity_key: None,
        revision: Revision(3),
        region: None,
        warnings: vec!["top_k_dropped".into(), "a,\"b\"{}".into()],
        reasons: reasons(),
        usage,
        cost: RequestCost {
            cost: Some(Decimal::new(n + 1, 3)),
            cost_currency: Some("USD".into()),
            cost_complete: Some(true),
        },
    };
    Record { attempts: vec![attempt(&request, 1, 1, Outcome::Success)], request }
}

fn reasons() -> Reasons {
    let mut reasons = Reasons::default();
    reasons.push(&serde_json::json!([{"upstream": 1, "why": "chosen"}]));
    reasons
}

/// The `n`th record, answered by upstream 2 after upstream 1 had failed.
pub(crate) fn failover(n: i64) -> Record {
    let mut record = record(n);
    record.request.upstream_id = Some(UpstreamId(2));
    record.request.attempt_count = 2;
    record.attempts =
        vec![attempt(&record.request, 1, 1, Outcome::Failed), attempt(&record.request, 2, 2, Outcome::Success)];
    record
}

/// The `n`th record, which ended otherwise.
pub(crate) fn ended(n: i64, outcome: Outcome, error_kind: &str) -> Record {
    let mut record = record(n);
    record.request.outcome = outcome;
    record.request.status = 502;
    record.request.error_kind = Some(error_kind.into());
    record.request.error_source = Some(ErrorSource::Upstream);
    record.request.ttft_ms = None;
    record.request.reasons = Reasons::default();
    record.request.usage = UsageColumns::default();
    record.request.cost = RequestCost::default();
    record.attempts = vec![attempt(&record.request, 1, 1, outcome)];
    record
}

pub(crate) fn attempt(request: &RequestRecord, number: i32, upstream: i64, outcome: Outcome) -> AttemptRecord {
    AttemptRecord {
        request_id: request.id,
        number,
        started_at: request.started_at,
        attempted_at: request.started_at + Duration::milliseconds(1),
        completed_at: request.completed_at,
        upstream_id: UpstreamId(upstream),
        upstream_name: format!("relay-{upstream}"),
        credential_id: None,
        protocol: UpstreamKind::OpenaiResponse,
        proxy: None,
        mapped_model: None,
        priority: 50,
        selection: if number == 1 { Selection::Initial } else { Selection::Failover },
        health_before: BreakerState::Closed,
        health_after: BreakerState::HalfOpen,
        status: Some(200),
        outcome,
        error_kind: request.error_kind.clone(),
        error_source: None,
        error_text: None,
        ttft_ms: request.ttft_ms,
        duration_ms: 890,
        response_bytes: 4096,
        stream: true,
        stream_completed: true,
        last_event: None,
        upstream_request_id: None,
        warnings: vec![],
        usage: request.usage,
        cost: CostColumns {
            cost: request.cost.cost.filter(|_| outcome == Outcome::Success),
            cost_currency: request.cost.cost_currency.clone(),
            cost_gaps: Some(vec!["no_price.cache_read".into()]).filter(|_| number > 1),
            price_version: Some("0123456789ab".into()),
            price_entry: Some("model-a".into()),
            price_steps: Some(vec!["case".into(), "date".into()]),
            price_rule: Some(4),
        },
    }
}

/// As [`headgate_store::Database::insert_records`] takes them.
pub(crate) fn array(records: &[Record]) -> String {
    serde_json::to_string(records).unwrap()
}
