-- What requests cost: tokens as they passed, amounts, and the prices they came about by.

alter table headgate.attempts
    add column usage_source    text,
    add column observed_input  bigint,
    add column observed_output bigint,
    add column cost            numeric,
    add column cost_currency   text,
    add column cost_gaps       text[],
    add column price_version   text,
    add column price_entry     text,
    add column price_steps     text[],
    add column price_rule      bigint;

alter table headgate.requests
    add column usage_source    text,
    add column observed_input  bigint,
    add column observed_output bigint,
    add column cost            numeric,
    add column cost_currency   text,
    add column cost_complete   boolean;

-- Published price lists that were in force, as the table's own text.
create table headgate.price_lists (
    version    text        primary key,
    source     text        not null,
    date       date        not null,
    models     integer     not null,
    body       text        not null,
    fetched_at timestamptz not null
);

-- Own prices, laid over the list.
create table headgate.price_rules (
    id          bigint      generated always as identity primary key,
    model       text        not null,
    upstream_id bigint,
    valid_from  timestamptz not null,
    currency    text        not null,
    rates       jsonb       not null
);

-- One row: how fetching the list went, and a counter that tells other processes to read prices again.
create table headgate.price_state (
    single       boolean     primary key default true check (single),
    changes      bigint      not null default 0,
    checked_at   timestamptz,
    succeeded_at timestamptz,
    error        text
);
insert into headgate.price_state default values;

-- Records that were priced anew, on whose word.
create table headgate.repricings (
    id            bigint      generated always as identity primary key,
    at            timestamptz not null,
    author        text        not null,
    since         timestamptz not null,
    until         timestamptz not null,
    price_version text        not null,
    attempts      bigint      not null,
    changed       bigint      not null
);
