-- Requests and their attempts, partitioned by the UTC day on which the request started.
--
-- Columns bear the names of the fields of the record and are filled by name from its JSON. A column that is added
-- later must allow null: journals of an older program are still inserted.

create table headgate.requests (
    id                  uuid        not null,
    started_at          timestamptz not null,
    completed_at        timestamptz not null,
    group_id            bigint,
    group_name          text,
    key_id              bigint,
    key_name            text,
    upstream_id         bigint,
    upstream_name       text,
    protocol            text,
    client              text,
    endpoint            text        not null,
    model               text,
    stream              boolean     not null,
    client_ip           text,
    user_agent          text,
    status              integer     not null,
    outcome             text        not null,
    error_kind          text,
    error_source        text,
    error_text          text,
    ttft_ms             bigint,
    duration_ms         bigint      not null,
    overhead_us         bigint,
    attempt_count       integer     not null,
    request_bytes       bigint      not null,
    response_bytes      bigint      not null,
    estimated_input     bigint,
    stream_completed    boolean     not null,
    last_event          text,
    upstream_request_id text,
    affinity_key        text,
    revision            bigint      not null,
    region              text,
    warnings            text[]      not null,
    reasons             jsonb,
    tokens_fresh        bigint,
    tokens_read         bigint,
    tokens_write_5m     bigint,
    tokens_write_1h     bigint,
    tokens_write_other  bigint,
    tokens_output       bigint,
    tokens_reasoning    bigint,
    usage_wire          text,
    primary key (started_at, id)
) partition by range (started_at);

create table headgate.attempts (
    request_id          uuid        not null,
    number              integer     not null,
    started_at          timestamptz not null,
    attempted_at        timestamptz not null,
    completed_at        timestamptz not null,
    upstream_id         bigint      not null,
    upstream_name       text        not null,
    credential_id       bigint,
    protocol            text        not null,
    proxy               text,
    mapped_model        text,
    priority            integer     not null,
    selection           text        not null,
    health_before       text        not null,
    health_after        text        not null,
    status              integer,
    outcome             text        not null,
    error_kind          text,
    error_source        text,
    error_text          text,
    ttft_ms             bigint,
    duration_ms         bigint      not null,
    response_bytes      bigint      not null,
    stream              boolean     not null,
    stream_completed    boolean     not null,
    last_event          text,
    upstream_request_id text,
    warnings            text[]      not null,
    tokens_fresh        bigint,
    tokens_read         bigint,
    tokens_write_5m     bigint,
    tokens_write_1h     bigint,
    tokens_write_other  bigint,
    tokens_output       bigint,
    tokens_reasoning    bigint,
    usage_wire          text,
    primary key (started_at, request_id, number)
) partition by range (started_at);

create table headgate.requests_default partition of headgate.requests default;
create table headgate.attempts_default partition of headgate.attempts default;

-- The list is read newest first, by the primary key or by one of these.
create index requests_id       on headgate.requests (id);
create index requests_group    on headgate.requests (group_id, started_at, id);
create index requests_key      on headgate.requests (key_id, started_at, id);
-- A client may send a name longer than an index entry can be.
create index requests_model    on headgate.requests (left(model, 100), started_at, id);
create index requests_client   on headgate.requests (client, started_at, id);
create index requests_outcome  on headgate.requests (outcome, started_at, id) where outcome <> 'success';
create index requests_error    on headgate.requests (error_kind text_pattern_ops, started_at, id) where error_kind is not null;
create index requests_retried  on headgate.requests (started_at, id) where attempt_count > 1;
create index requests_slow     on headgate.requests (duration_ms) where duration_ms >= 10000;
create index attempts_upstream on headgate.attempts (upstream_id, started_at, request_id);

-- Makes the partition of one day if it is not there, and moves into it what the default partition holds of that day.
create function headgate.add_day(parent text, day date) returns boolean
language plpgsql as $$
declare
    part   text        := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
    spare  text        := parent || '_default';
    lower  timestamptz := day::timestamp at time zone 'UTC';
    upper  timestamptz := (day + 1)::timestamp at time zone 'UTC';
begin
    if to_regclass(format('headgate.%I', part)) is not null then
        return false;
    end if;
    execute format('lock table headgate.%I in access exclusive mode', spare);
    execute format('create table headgate.%I (like headgate.%I including defaults)', part, parent);
    execute format(
        'with moved as (delete from headgate.%I where started_at >= $1 and started_at < $2 returning *)
         insert into headgate.%I select * from moved', spare, part) using lower, upper;
    execute format('alter table headgate.%I attach partition headgate.%I for values from (%L) to (%L)',
        parent, part, lower, upper);
    return true;
end
$$;

-- Drops the partitions of past days whose newest row is older than the limit, and such rows of the default partition.
create function headgate.drop_days(parent text, today date, cutoff timestamptz, out dropped bigint, out deleted bigint)
language plpgsql as $$
declare
    part   text;
    newest timestamptz;
begin
    dropped := 0;
    for part in
        select c.relname
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = format('headgate.%I', parent)::regclass
          and c.relname ~ ('^' || parent || '_[0-9]{8}$')
          and right(c.relname, 8) < to_char(today, 'YYYYMMDD')
        order by 1
    loop
        execute format('select max(started_at) from headgate.%I', part) into newest;
        if newest is null or newest < cutoff then
            execute format('drop table headgate.%I', part);
            dropped := dropped + 1;
        end if;
    end loop;
    execute format('delete from headgate.%I where started_at < $1', parent || '_default') using cutoff;
    get diagnostics deleted = row_count;
end
$$;
