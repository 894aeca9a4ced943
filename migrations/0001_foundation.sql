-- The schema, the instance and the revisions of the configuration.

do $$
begin
    -- The program makes the schema before it migrates; "create schema if not exists" would need the right to make one.
    if to_regnamespace('headgate') is null then
        create schema headgate;
    end if;
end
$$;

-- One row: what all processes on this database share.
create table headgate.instance (
    single         boolean     primary key default true check (single),
    pepper         bytea       not null check (octet_length(pepper) = 32),
    next_object_id bigint      not null default 1,
    created_at     timestamptz not null default now()
);

-- Every state of the configuration as one document; "json" and not "jsonb", because the order of keys is kept.
create table headgate.revisions (
    id         bigint      primary key check (id > 0),
    author     text        not null,
    summary    text        not null,
    created_at timestamptz not null default now(),
    document   json        not null
);
