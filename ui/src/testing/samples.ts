/** Objects as the admin API gives them. */
import type { AlertTarget, Delivery, Group, Member, Monitor, Probe, Upstream } from "@/api/types";

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

export function account(over: Partial<Upstream["account"]> = {}): Upstream["account"] {
  return { state: "not_asked", manual: false, unlimited: false, exhausted: false, concerns: [], ...over };
}

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
    account: account(),
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

export function probe(over: Partial<Probe> = {}): Probe {
  const at = "2026-11-30T11:58:00Z";
  return {
    monitor_id: 30,
    at,
    upstream_id: 2,
    model: "m",
    class: "ok",
    status: 200,
    ttft_ms: 300,
    duration_ms: 500,
    ...over,
  };
}

export function monitor(over: Partial<Monitor> = {}): Monitor {
  return {
    id: 30,
    revision: 7,
    upstream: 2,
    upstream_name: "relay-a",
    tag: "relay",
    model: "m",
    interval: "5m",
    endpoint: "auto",
    message: "hi",
    max_tokens: 16,
    active: true,
    condition: { state: "healthy", credentials_missing: false },
    health,
    strip: null,
    traffic: null,
    ...over,
  } as unknown as Monitor;
}

export function delivery(over: Partial<Delivery> = {}): Delivery {
  return {
    alert: "01a",
    target: 40,
    kind: "group_down",
    at: "2026-11-30T11:58:00Z",
    sentence: { en: "Group coding is down.", zh: "分组 coding 已中断。" },
    suppressed: 0,
    outcome: "delivered",
    attempts: 1,
    status: 200,
    error: null,
    duration_ms: 40,
    ...over,
  };
}

export function alertTarget(over: Partial<AlertTarget> = {}): AlertTarget {
  return {
    id: 40,
    revision: 7,
    name: "duty",
    address: "https://oapi.dingtalk.com/***",
    template: "dingtalk",
    signed: true,
    events: ["group_down"],
    debounce: null,
    enabled: true,
    trouble: null,
    last: null,
    ...over,
  };
}

export const group = { id: 12, name: "coding", revision: 5, members: [], aliases: {} } as unknown as Group;

export const list = <T>(items: T[]) => ({ items, next: null, total: items.length });
