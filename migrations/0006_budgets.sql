-- What access keys and groups have spent: counters of their own, so that enforcing a budget never sums up records.

create table headgate.budget_counters (
    owner    text     not null,
    owner_id bigint   not null,
    span     text     not null,
    -- First day of the period in the time zone of the settings.
    start    date     not null,
    -- Empty: what has no price.
    currency text     not null,
    spent    numeric  not null default 0,
    unpriced bigint   not null default 0,
    -- The share in hundredths that people were told of last.
    told     smallint not null default 0,
    primary key (owner, owner_id, span, start, currency)
);
create index budget_counters_start on headgate.budget_counters (span, start);

-- The last batch of counts each process has handed over: one that is sent again counts once.
create table headgate.budget_batches (
    process uuid        primary key,
    number  bigint      not null,
    at      timestamptz not null
);
