-- Results of active probes. Few rows: one for each monitor and interval, kept for `probe_retention`.
create table headgate.probes (
    monitor_id  bigint      not null,
    at          timestamptz not null,
    upstream_id bigint      not null,
    model       text        not null,
    class       text        not null,
    status      integer,
    ttft_ms     bigint,
    duration_ms bigint      not null,
    error_text  text,
    primary key (monitor_id, at)
);
create index probes_at on headgate.probes (at);
