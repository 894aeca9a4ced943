-- From every figure of money to the rows it came from, and who said what of a multiplier, and when.

-- Whether an attempt is one of those that a figure was made of. `priced`: it may have been charged for, and is priced in
-- full or not; `tokens`: where its tokens are from; it ended later than `after`, and by `until`.
create function headgate.attempt_passes(
    a headgate.attempts, priced boolean, tokens text, after timestamptz, until timestamptz
) returns boolean
language sql immutable parallel safe as $$
    select ($2 is null or (($1).usage_source is not null or ($1).outcome in ('success', 'partial'))
            and (($1).cost is not null and ($1).cost_gaps is null) = $2)
        and ($3 is null or case $3
            when 'reported' then ($1).usage_source = 'reported'
            when 'estimated' then ($1).usage_source = 'observed'
            when 'unknown' then ($1).usage_source is null
            else ($1).tokens_output is not null and ($1).observed_output is not null end)
        and ($4 is null or ($1).completed_at > $4)
        and ($5 is null or ($1).completed_at <= $5)
$$;

-- The same of a whole request.
create function headgate.request_passes(
    r headgate.requests, priced boolean, tokens text, after timestamptz, until timestamptz
) returns boolean
language sql immutable parallel safe as $$
    select ($2 is null or ($1).cost_complete = $2)
        and ($3 is null or case $3
            when 'reported' then ($1).usage_source = 'reported'
            when 'estimated' then ($1).usage_source = 'observed'
            when 'unknown' then ($1).usage_source is null
            else ($1).tokens_output is not null and ($1).observed_output is not null end)
        and ($4 is null or ($1).completed_at > $4)
        and ($5 is null or ($1).completed_at <= $5)
$$;

-- What has no full price is rare, and looked for.
create index requests_unpriced on headgate.requests (started_at, id) where cost_complete = false;
create index attempts_unpriced on headgate.attempts (upstream_id, started_at, request_id)
    where (usage_source is not null or outcome in ('success', 'partial')) and (cost is null or cost_gaps is not null);

-- Multipliers that persons set, each in force until the next of its upstream; null: taken back. Kept for
-- `billing_retention`, like the snapshots they go before.
create table headgate.multipliers_by_hand (
    upstream_id bigint      not null,
    at          timestamptz not null,
    multiplier  numeric,
    author      text,
    primary key (upstream_id, at)
);
insert into headgate.multipliers_by_hand (upstream_id, at, multiplier)
    select upstream_id, (manual ->> 'at')::timestamptz, (manual ->> 'multiplier')::numeric
    from headgate.billing_status where manual is not null and manual <> 'null'::jsonb;
