/** The state of an upstream in one word, from its health. */
import type { Upstream, UpstreamHealth } from "@/api/types";
import type { Kind } from "@/components/ui/StateMark.vue";

export type StateName =
  | "healthy"
  | "partly"
  | "cooling"
  | "trying"
  | "exhausted"
  | "rejected"
  | "missing"
  | "off"
  | "no_data";

export const KIND_OF: Record<StateName, Kind> = {
  healthy: "healthy",
  partly: "healthy",
  cooling: "degraded",
  trying: "degraded",
  exhausted: "down",
  rejected: "down",
  missing: "down",
  off: "stopped",
  no_data: "stopped",
};

export interface UpstreamState {
  name: StateName;
  /** Milliseconds until it is tried again, counted from when the answer arrived. */
  leftMs: number | null;
  /** Credentials that can be used, and all of them. */
  usable: number;
  credentials: number;
}

/** Time left of whatever keeps the whole upstream out. */
function leftMs(health: UpstreamHealth): number | null {
  const left = [health.open_ms, health.cooling?.remaining_ms].filter((ms) => ms !== null && ms !== undefined);
  return left.length > 0 ? Math.max(...left) : null;
}

export function upstreamState(upstream: Pick<Upstream, "enabled" | "credentials" | "health">): UpstreamState {
  const { health, credentials } = upstream;
  const resting = new Set(health.credentials.filter((c) => c.cooling.some((x) => !x.model)).map((c) => c.id));
  const usable = credentials.filter((c) => !c.missing && !resting.has(c.id)).length;
  const counts = { usable, credentials: credentials.length };
  const state = (name: StateName, left: number | null = null): UpstreamState => ({ name, leftMs: left, ...counts });

  if (upstream.enabled === false) return state("off");
  if (credentials.length > 0 && credentials.every((c) => c.missing)) return state("missing");
  if (health.state === "half_open") return state("trying");
  if (health.state === "open" || health.cooling) {
    if (health.cooling?.class === "exhausted") return state("exhausted", leftMs(health));
    return state("cooling", leftMs(health));
  }
  if (credentials.length > 0 && usable === 0) {
    const classes = health.credentials.flatMap((c) => c.cooling.map((x) => x.class));
    if (classes.includes("credential")) return state("rejected");
    if (classes.includes("exhausted")) return state("exhausted");
    return state("cooling");
  }
  if (usable < credentials.length) return state("partly");
  return state(health.results === 0 && health.ttft_ms === null ? "no_data" : "healthy");
}
