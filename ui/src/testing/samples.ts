/** Objects as the admin API gives them. */
import type { Group, Member, Upstream } from "@/api/types";

const health = {
  state: "closed",
  failures: 0,
  last_failure: null,
  openings: 0,
  open_ms: null,
  cooling: null,
  in_flight: 0,
  ttft_ms: 310,
  results: 4,
  successes: 3,
  credentials: [],
  models: [],
} as const;

export function upstream(over: Partial<Upstream> = {}): Upstream {
  return {
    id: 2,
    name: "relay-a",
    revision: 7,
    base_url: "https://relay-a.example",
    protocol: "claude",
    tags: { main: "relay", labels: ["cn"] },
    credentials: [{ id: 1, name: "relay-a/1", source: "vault", hint: "7Qd1", missing: false }],
    groups: [12],
    condition: { state: "healthy", credentials_missing: false },
    health,
    ...over,
  } as unknown as Upstream;
}

export function member(over: Partial<Member> = {}): Member {
  return {
    upstream: 2,
    name: "relay-a",
    priority: 10,
    weight: 1,
    upstream_enabled: true,
    condition: { state: "healthy", credentials_missing: false },
    health,
    ...over,
  } as unknown as Member;
}

export const group = { id: 12, name: "coding", revision: 5, members: [], aliases: {} } as unknown as Group;

export const list = <T>(items: T[]) => ({ items, next: null, total: items.length });
