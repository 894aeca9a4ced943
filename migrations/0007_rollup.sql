-- Requests and attempts added up in quarters of an hour: figures of days and weeks are read from here, and are still
-- there when the rows they came from are gone.
--
-- A quarter ("bucket") is *changed* from its first row on until it is added up, and again when a row comes late or is
-- priced anew. Who writes rows marks their bucket in the same transaction and holds the mark until its end; who adds up
-- removes the mark first. So a reader that takes clean buckets from the sums and all else from the rows is exact.

create function headgate.bucket(at timestamptz) returns timestamptz
language sql immutable parallel safe as $$
    select date_bin('15 minutes', at, timestamptz '2000-01-01 00:00:00+00')
$$;

-- The first bucket that begins at a time or later.
create function headgate.bucket_after(at timestamptz) returns timestamptz
language sql immutable parallel safe as $$
    select case when headgate.bucket(at) = at then at else headgate.bucket(at) + interval '15 minutes' end
$$;

-- Times are counted in slots that grow by a tenth, so that the middle of a slot is within 5 % of all that is in it.
create function headgate.slot(ms bigint) returns integer
language sql immutable parallel safe as $$
    select floor(ln((case when ms < 1 then 1 else ms end)::float8) / ln(1.1::float8))::integer
$$;

create table headgate.rollup_changed (
    bucket  timestamptz primary key,
    changes bigint      not null default 1
) with (fillfactor = 50);

-- UTC days whose rows were dropped: what comes late is added to their sums, which are never made anew.
create table headgate.rollup_gone (
    day date primary key
);

-- Names that groups, keys and upstreams last had.
create table headgate.rollup_names (
    kind text        not null,
    id   bigint      not null,
    name text        not null,
    at   timestamptz not null,
    primary key (kind, id)
);

-- What clients asked, without token counting.
create table headgate.rollup_requests (
    bucket           timestamptz not null,
    -- Null: every request, once. Otherwise those with any attempt at this upstream.
    attempted_id     bigint,
    group_id         bigint,
    key_id           bigint,
    model            text,
    protocol         text,
    stream           boolean     not null,
    outcome          text        not null,
    retried          boolean     not null,
    requests         bigint      not null,
    charged          bigint      not null,
    priced           bigint      not null,
    tokens_fresh     bigint      not null,
    tokens_read      bigint      not null,
    tokens_write     bigint      not null,
    tokens_output    bigint      not null,
    tokens_reasoning bigint      not null,
    -- How many requests in which slot: the slot in the upper 32 bits, their number in the lower.
    ttft             bigint[]    not null,
    duration         bigint[]    not null
);
create index rollup_requests_bucket    on headgate.rollup_requests (bucket);
create index rollup_requests_attempted on headgate.rollup_requests (attempted_id, bucket);

-- What upstreams were asked and paid for.
create table headgate.rollup_attempts (
    bucket           timestamptz not null,
    upstream_id      bigint      not null,
    group_id         bigint,
    key_id           bigint,
    model            text,
    -- The model by the name the upstream was asked for.
    sent             text,
    protocol         text,
    stream           boolean     not null,
    -- How the request ended, and whether it took several attempts.
    outcome          text        not null,
    retried          boolean     not null,
    currency         text,
    attempts         bigint      not null,
    answered         bigint      not null,
    charged          bigint      not null,
    priced           bigint      not null,
    cost             numeric,
    tokens_fresh     bigint      not null,
    tokens_read      bigint      not null,
    tokens_write     bigint      not null,
    tokens_output    bigint      not null,
    -- Attempts whose output was both reported and counted here, and both sums.
    compared         bigint      not null,
    reported_output  bigint      not null,
    observed_output  bigint      not null
);
create index rollup_attempts_bucket   on headgate.rollup_attempts (bucket);
create index rollup_attempts_upstream on headgate.rollup_attempts (upstream_id, bucket);

-- The requests of a time, added up as above.
create function headgate.add_up_requests(since timestamptz, until timestamptz)
returns setof headgate.rollup_requests
language sql stable parallel safe as $$
    with asked as (
        select * from headgate.requests r
        where r.started_at >= $1 and r.started_at < $2 and r.endpoint <> '/v1/messages/count_tokens'
    ), attempted as (
        select null::bigint as attempted_id, r.* from asked r
        union all
        select u.upstream_id, r.* from asked r join (
            select distinct started_at, request_id, upstream_id from headgate.attempts
            where started_at >= $1 and started_at < $2
        ) u on u.started_at = r.started_at and u.request_id = r.id
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

-- The attempts of a time, added up as above.
create function headgate.add_up_attempts(since timestamptz, until timestamptz)
returns setof headgate.rollup_attempts
language sql stable parallel safe as $$
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

-- The parts of a time that have to be read from the rows: ragged edges and changed buckets, none longer than a bucket.
create function headgate.raw_spans(since timestamptz, until timestamptz)
returns table (lower timestamptz, upper timestamptz)
language sql stable parallel safe as $$
    select * from (
        select $1, least(headgate.bucket_after($1), $2)
        union all
        select greatest(headgate.bucket($2), headgate.bucket_after($1)), $2
        union all
        select c.bucket, c.bucket + interval '15 minutes' from headgate.rollup_changed c
        where c.bucket >= headgate.bucket_after($1) and c.bucket < headgate.bucket($2)
    ) s(lower, upper) where s.lower < s.upper
$$;

-- The requests of a time as sums, exactly.
create function headgate.requests_in(since timestamptz, until timestamptz)
returns setof headgate.rollup_requests
language sql stable parallel safe as $$
    select r.* from headgate.rollup_requests r
    where r.bucket >= headgate.bucket_after($1) and r.bucket < headgate.bucket($2)
        and not exists (select from headgate.rollup_changed c where c.bucket = r.bucket)
    union all
    select a.* from headgate.raw_spans($1, $2) s cross join lateral headgate.add_up_requests(s.lower, s.upper) a
$$;

-- The attempts of a time as sums, exactly.
create function headgate.attempts_in(since timestamptz, until timestamptz)
returns setof headgate.rollup_attempts
language sql stable parallel safe as $$
    select r.* from headgate.rollup_attempts r
    where r.bucket >= headgate.bucket_after($1) and r.bucket < headgate.bucket($2)
        and not exists (select from headgate.rollup_changed c where c.bucket = r.bucket)
    union all
    select a.* from headgate.raw_spans($1, $2) s cross join lateral headgate.add_up_attempts(s.lower, s.upper) a
$$;

-- Both tables lose a day at once, and only when it is added up.
drop function headgate.drop_days(text, date, timestamptz);

-- Past days with partitions whose newest row is older than the limit.
create function headgate.past_days(today date, cutoff timestamptz) returns setof date
language sql stable as $$
    select d.day
    from (
        select distinct to_date(right(c.relname, 8), 'YYYYMMDD') as day
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent in ('headgate.requests'::regclass, 'headgate.attempts'::regclass)
            and c.relname ~ '^(requests|attempts)_[0-9]{8}$'
    ) d
    cross join lateral (
        select d.day::timestamp at time zone 'UTC' as lower, (d.day + 1)::timestamp at time zone 'UTC' as upper
    ) b
    where d.day < $1
        and not exists (select from headgate.rollup_changed c where c.bucket >= b.lower and c.bucket < b.upper)
        and coalesce(greatest(
            (select max(started_at) from headgate.requests where started_at >= b.lower and started_at < b.upper),
            (select max(started_at) from headgate.attempts where started_at >= b.lower and started_at < b.upper)
        ) < $2, true)
    order by 1
$$;

-- Drops those days, and the rows of the default partitions that are older than the limit's day.
create function headgate.drop_days(today date, cutoff timestamptz, out dropped bigint, out deleted bigint)
language plpgsql as $$
declare
    border timestamptz := date_trunc('day', cutoff, 'UTC');
    days   date[]      := array(select headgate.past_days(today, cutoff));
    past   date;
    part   text;
    gone   bigint;
begin
    dropped := 0;
    deleted := 0;
    foreach past in array days loop
        insert into headgate.rollup_gone values (past) on conflict do nothing;
        foreach part in array array['requests', 'attempts'] loop
            part := format('headgate.%I', part || '_' || to_char(past, 'YYYYMMDD'));
            if to_regclass(part) is not null then
                execute 'drop table ' || part;
                dropped := dropped + 1;
            end if;
        end loop;
    end loop;
    -- What is in the default partitions is of days that have none of their own.
    days := array(
        select distinct (d.started_at at time zone 'UTC')::date from (
            select started_at from headgate.requests_default union all select started_at from headgate.attempts_default
        ) d
        where d.started_at < border and not exists (
            select from headgate.rollup_changed c
            where date_trunc('day', c.bucket, 'UTC') = date_trunc('day', d.started_at, 'UTC')));
    foreach past in array days
    loop
        insert into headgate.rollup_gone values (past) on conflict do nothing;
        foreach part in array array['requests_default', 'attempts_default'] loop
            execute format('delete from headgate.%I where (started_at at time zone ''UTC'')::date = $1', part) using past;
            get diagnostics gone = row_count;
            deleted := deleted + gone;
        end loop;
    end loop;
end
$$;

-- What is there already is added up in the background. From one bucket to the next by the index, never over all rows.
insert into headgate.rollup_changed (bucket)
with recursive found(bucket) as (
    select headgate.bucket(min(started_at)) from headgate.requests
    union all
    select (select headgate.bucket(min(r.started_at)) from headgate.requests r
            where r.started_at >= found.bucket + interval '15 minutes')
    from found where found.bucket is not null
)
select bucket from found where bucket is not null;
