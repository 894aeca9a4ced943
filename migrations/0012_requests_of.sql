-- The requests with an attempt at an upstream that passes, or, without an upstream, those that pass themselves (see
-- 0010_traces.sql for what passes). Found by way of the attempts: asking every request for them reads a whole day. Of the
-- two halves the planner keeps one, since it sees the values.
create function headgate.requests_of(
    upstream bigint, since timestamptz, until timestamptz,
    priced boolean, tokens text, ended_after timestamptz, ended_by timestamptz
) returns setof headgate.requests
language sql stable parallel safe as $$
    select r.* from headgate.requests r
    where $1 is null and headgate.request_passes(r, $4, $5, $6, $7)
    union all
    select r.* from (
        select distinct a.started_at, a.request_id from headgate.attempts a
        where a.upstream_id = $1 and headgate.attempt_passes(a, $4, $5, $6, $7)
            and ($2 is null or a.started_at >= $2) and ($3 is null or a.started_at < $3)
    ) u join headgate.requests r on r.started_at = u.started_at and r.id = u.request_id
    where $1 is not null and ($4 is distinct from false or r.cost_complete = false)
$$;
