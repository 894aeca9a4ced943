/** The settings that have an effect, by subject, with what kind of value each has. */
import type { Settings } from "@/api/types";
import type { MessageKey } from "@/i18n";

type Words =
  | "part_time"
  | "part_retries"
  | "part_breaker"
  | "part_sessions"
  | "part_sizes"
  | "part_access"
  | "part_days"
  | "part_retention"
  | "part_alerts"
  | "part_prices";

export type SettingName = Exclude<keyof Settings, "billing_retention" | "fetch_proxy">;

export type SettingKind =
  | { kind: "span" | "size" | "switch" | "list" | "zone" | "address" }
  | { kind: "whole"; min: number; max: number }
  | { kind: "share"; min: number; max: number };

export interface Part {
  title: `settings.${Words}`;
  hint?: MessageKey;
  settings: { name: SettingName; value: SettingKind }[];
}

const span = (name: SettingName) => ({ name, value: { kind: "span" } as const });
const whole = (name: SettingName, min: number, max: number) => ({ name, value: { kind: "whole", min, max } as const });

export const GATEWAY_PARTS: readonly Part[] = [
  {
    title: "settings.part_time",
    hint: "settings.part_time_hint",
    settings: [
      span("first_response_timeout"),
      { name: "adaptive_timeout", value: { kind: "switch" } },
      span("stream_idle_timeout"),
      span("non_stream_timeout"),
      span("connect_timeout"),
      span("keep_alive"),
    ],
  },
  {
    title: "settings.part_retries",
    settings: [
      whole("max_attempts", 1, 20),
      whole("retry_same", 0, 3),
      { name: "retry_budget", value: { kind: "share", min: 0, max: 1 } },
      span("retry_after_max"),
    ],
  },
  {
    title: "settings.part_breaker",
    hint: "settings.part_breaker_hint",
    settings: [
      whole("breaker_failures", 1, 100),
      { name: "breaker_error_rate", value: { kind: "share", min: 0.01, max: 1 } },
      span("breaker_window"),
      whole("breaker_min_results", 1, 10_000),
      span("breaker_open"),
      span("breaker_open_max"),
      whole("breaker_recovery_successes", 1, 100),
    ],
  },
  {
    title: "settings.part_sessions",
    settings: [
      { name: "affinity", value: { kind: "switch" } },
      span("affinity_ttl"),
      whole("affinity_max", 0, 1_000_000),
    ],
  },
  {
    title: "settings.part_access",
    settings: [
      { name: "allowed_hosts", value: { kind: "list" } },
      { name: "allowed_origins", value: { kind: "list" } },
    ],
  },
  {
    title: "settings.part_sizes",
    settings: [
      { name: "body_limit", value: { kind: "size" } },
      { name: "event_limit", value: { kind: "size" } },
    ],
  },
  { title: "settings.part_days", settings: [{ name: "time_zone", value: { kind: "zone" } }] },
];

export const RETENTION: Part = {
  title: "settings.part_retention",
  settings: [span("request_retention"), span("probe_retention")],
};

export const ALERTS: Part = { title: "settings.part_alerts", settings: [span("alert_debounce")] };

export const PRICES: Part = {
  title: "settings.part_prices",
  settings: [{ name: "prices_url", value: { kind: "address" } }],
};
