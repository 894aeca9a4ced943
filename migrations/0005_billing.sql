-- What upstreams' billing APIs say.

-- One row for each upstream that was ever asked, or whose multiplier a person set.
create table headgate.billing_status (
    upstream_id bigint      primary key,
    -- When it is next asked. A process that asks first sets this ahead, so that the others do not ask, too.
    due_at      timestamptz not null,
    -- The newest figures and how asking went, as the program's own document.
    status      jsonb       not null default '{}',
    -- The multiplier a person set, and when.
    manual      jsonb
);

-- The figures of every collection that worked, kept for `billing_retention`.
create table headgate.billing_snapshots (
    upstream_id bigint      not null,
    at          timestamptz not null,
    figures     jsonb       not null,
    primary key (upstream_id, at)
);
create index billing_snapshots_at on headgate.billing_snapshots (at);
