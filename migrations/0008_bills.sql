-- What people were told of upstreams' money, so that of several processes one tells, and tells it once.

alter table headgate.billing_status add column told jsonb not null default '{}';

-- Single charges, as upstreams list them; kept for `billing_retention`.
create table headgate.charges (
    upstream_id bigint      not null,
    -- What tells a charge from the upstream's others.
    id          text        not null,
    at          timestamptz not null,
    charge      jsonb       not null,
    primary key (upstream_id, id)
);
create index charges_upstream_at on headgate.charges (upstream_id, at);
create index charges_at on headgate.charges (at);

-- The vocabulary that `observed_output` was counted with; null: it is estimated by length.
alter table headgate.attempts add column observed_with text;
