-- Rows that have no sums yet are added up by a join whatever the planner believes of them. It knows nothing of today's
-- rows before they are analyzed, nor how many lie between two moments that it cannot see, and compared each of a
-- quarter of an hour with each of the others. The two functions are therefore not taken apart into the statements that
-- call them, and use no nested loops.

drop function headgate.add_up_requests(timestamptz, timestamptz);
drop function headgate.requests_in(timestamptz, timestamptz);

-- The requests of a time, added up as in 0007_rollup.sql: those with an upstream that they tried, those as a whole, or,
-- where this is null, both.
create function headgate.add_up_requests(since timestamptz, until timestamptz, by_upstream boolean)
returns setof headgate.rollup_requests
language sql stable parallel safe
set enable_nestloop = off
as $$
    with asked as (
        select * from headgate.requests r
        where r.started_at >= $1 and r.started_at < $2 and r.endpoint <> '/v1/messages/count_tokens'
    ), attempted as (
        select null::bigint as attempted_id, r.* from asked r where $3 is not true
        union all
        select u.upstream_id, r.* from asked r join (
            select distinct started_at, request_id, upstream_id from headgate.attempts
            where started_at >= $1 and started_at < $2
        ) u on u.started_at = r.started_at and u.request_id = r.id
        where $3 is not false
    ), slotted as (
        select headgate.bucket(started_at) as bucket, attempted_id, group_id, key_id, model, protocol, stream, outcome,
            attempt_count > 1 as retried, headgate.slot(ttft_ms) as ttft, headgate.slot(duration_ms) as duration,
            cost_complete, tokens_fresh, tokens_read, tokens_output, tokens_reasoning,
            coalesce(tokens_write_5m, 0) + coalesce(tokens_write_1h, 0) + coalesce(tokens_write_other, 0) as tokens_write
        from attempted
    ), grouped as (
        select bucket, attempted_id, group_id, key_id, model, protocol, stream, outcome, retried, ttft, duration,
            grouping(ttft, duration) as part,
            count(*) as requests, count(cost_complete) as charged, count(*) filter (where cost_complete) as priced,
            sum(tokens_fresh) as tokens_fresh, sum(tokens_read) as tokens_read, sum(tokens_write) as tokens_write,
            sum(tokens_output) as tokens_output, sum(tokens_reasoning) as tokens_reasoning
        from slotted
        group by bucket, attempted_id, group_id, key_id, model, protocol, stream, outcome, retried,
            grouping sets ((), (ttft), (duration))
    )
    select bucket, attempted_id, group_id, key_id, model, protocol, stream, outcome, retried,
        sum(requests) filter (where part = 3)::bigint,
        sum(charged) filter (where part = 3)::bigint,
        sum(priced) filter (where part = 3)::bigint,
        coalesce(sum(tokens_fresh) filter (where part = 3), 0)::bigint,
        coalesce(sum(tokens_read) filter (where part = 3), 0)::bigint,
        coalesce(sum(tokens_write) filter (where part = 3), 0)::bigint,
        coalesce(sum(tokens_output) filter (where part = 3), 0)::bigint,
        coalesce(sum(tokens_reasoning) filter (where part = 3), 0)::bigint,
        coalesce(array_agg((ttft::bigint << 32) | requests) filter (where part = 1 and ttft is not null), '{}'),
        coalesce(array_agg((duration::bigint << 32) | requests) filter (where part = 2 and duration is not null), '{}')
    from grouped
    group by bucket, attempted_id, group_id, key_id, model, protocol, stream, outcome, retried
$$;

-- The attempts of a time, added up.
create or replace function headgate.add_up_attempts(since timestamptz, until timestamptz)
returns setof headgate.rollup_attempts
language sql stable parallel safe
set enable_nestloop = off
as $$
    select headgate.bucket(a.started_at), a.upstream_id, r.group_id, r.key_id, r.model, a.mapped_model, r.protocol,
        r.stream, r.outcome, r.attempt_count > 1, a.cost_currency,
        count(*),
        count(*) filter (where a.outcome = 'success' and r.outcome = 'success' and a.upstream_id = r.upstream_id),
        count(*) filter (where a.usage_source is not null or a.outcome in ('success', 'partial')),
        count(*) filter (where a.cost is not null and a.cost_gaps is null),
        sum(a.cost),
        coalesce(sum(a.tokens_fresh), 0)::bigint,
        coalesce(sum(a.tokens_read), 0)::bigint,
        (coalesce(sum(a.tokens_write_5m), 0) + coalesce(sum(a.tokens_write_1h), 0)
            + coalesce(sum(a.tokens_write_other), 0))::bigint,
        coalesce(sum(a.tokens_output), 0)::bigint,
        count(*) filter (where a.tokens_output is not null and a.observed_output is not null),
        coalesce(sum(a.tokens_output) filter (where a.observed_output is not null), 0)::bigint,
        coalesce(sum(a.observed_output) filter (where a.tokens_output is not null), 0)::bigint
    from headgate.attempts a
    join headgate.requests r on r.started_at = a.started_at and r.id = a.request_id
    where a.started_at >= $1 and a.started_at < $2 and r.started_at >= $1 and r.started_at < $2
        and r.endpoint <> '/v1/messages/count_tokens'
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
$$;

-- The requests of a time as sums, exactly: once for each upstream that they tried, or as a whole.
create function headgate.requests_in(since timestamptz, until timestamptz, by_upstream boolean)
returns setof headgate.rollup_requests
language sql stable parallel safe as $$
    select r.* from headgate.rollup_requests r
    where r.bucket >= headgate.bucket_after($1) and r.bucket < headgate.bucket($2)
        and (r.attempted_id is not null) = $3
        and not exists (select from headgate.rollup_changed c where c.bucket = r.bucket)
    union all
    select a.* from headgate.raw_spans($1, $2) s cross join lateral headgate.add_up_requests(s.lower, s.upper, $3) a
$$;
