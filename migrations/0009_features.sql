-- What a request used beyond text (tools, images …), so that recorded traffic can be replayed through another configuration.

alter table headgate.requests add column features text[];
