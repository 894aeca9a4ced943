-- What a request used beyond text (tools, images …), so that recorded traffic can be replayed through another configuration.

alter table headgate.requests add column features text[];

-- How urgently an answer was given, as the upstream says: its price depends on it.
alter table headgate.attempts add column service_tier text;
alter table headgate.requests add column service_tier text;
