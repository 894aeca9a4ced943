/** The seven gates and four choices of a routing decision, and where each reason stops. */
import type { Reason } from "@/api/types";
import type { Kind } from "@/components/ui/StateMark.vue";

export const GATES = [
  "on",
  "policy",
  "able",
  "cost",
  "health",
  "room",
  "untried",
  "tier",
  "session",
  "draw",
  "key",
] as const;

type ReasonName = Reason["reason"];

const STOPS: Record<ReasonName, number | null> = {
  disabled: 1,
  policy: 2,
  model_missing: 3,
  capability: 3,
  context: 3,
  size: 3,
  untranslatable: 3,
  over_cap: 4,
  exhausted: 4,
  cooling_down: 5,
  saturated: 6,
  tried: 7,
  lower_tier: 8,
  dearer: 10,
  not_drawn: 10,
  chosen: null,
};

/** The gate that is shut, from 1; `null` when all are open. */
export function gateOf(reason: ReasonName): number | null {
  return STOPS[reason];
}

export function outcomeKind(reason: ReasonName): Kind {
  if (reason === "chosen") return "healthy";
  if (reason === "exhausted") return "down";
  return reason === "cooling_down" || reason === "over_cap" || reason === "saturated" ? "degraded" : "stopped";
}
