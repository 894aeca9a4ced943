/** The condition of an upstream as it is shown: kind, word and shape. */
import type { Schemas } from "@/api/client";
import type { MessageKey } from "@/i18n";
import type { Kind } from "@/components/ui/StateMark.vue";

export type Condition = Schemas["Condition"];
export type ConditionName =
  "healthy" | "cooling" | "trying" | "exhausted" | "rejected" | "missing" | "down" | "over_cap" | "off";

const KIND: Record<ConditionName, Kind> = {
  healthy: "healthy",
  cooling: "degraded",
  trying: "degraded",
  exhausted: "down",
  rejected: "down",
  missing: "down",
  down: "down",
  over_cap: "degraded",
  off: "stopped",
};

/** The words for an upstream in order of severity; over a cap is only a member of a group. */
export const CONDITION_NAMES: readonly ConditionName[] = [
  "down",
  "rejected",
  "exhausted",
  "missing",
  "cooling",
  "trying",
  "healthy",
  "off",
];

export function conditionName(condition: Condition): ConditionName {
  if (condition.state !== "down") return condition.state;
  if (condition.credentials_missing) return "missing";
  if (condition.class === "exhausted") return "exhausted";
  return condition.class === "credential" ? "rejected" : "down";
}

/** Out of rotation, or on its way back: clearing that has an effect. */
export function isOut(condition: Condition): boolean {
  return !["healthy", "over_cap", "off"].includes(condition.state);
}

export function conditionKind(condition: Condition): Kind {
  return KIND[conditionName(condition)];
}

export function conditionWord(condition: Condition): MessageKey {
  return `state.${conditionName(condition)}`;
}
