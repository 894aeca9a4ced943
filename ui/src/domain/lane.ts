/** The state of a group, from its members. */
import type { Schemas } from "@/api/client";
import type { MessageKey } from "@/i18n";
import type { Kind } from "@/components/ui/StateMark.vue";

export type Lane = Schemas["Lane"];
export type LaneMember = Schemas["LaneMember"];

function serves(member: LaneMember): boolean {
  return member.condition.state === "healthy" || member.condition.state === "trying";
}

/** Of a group that has members: without one that is switched on it is off, whatever the gateway does. */
export function laneWord(lane: Lane): MessageKey {
  const kind = laneKind(lane);
  return kind === "stopped" ? "state.off" : `state.${kind}`;
}

export function laneKind(lane: Lane): Kind {
  const on = lane.members.filter((member) => member.condition.state !== "off");
  if (on.length === 0) return "stopped";
  const serving = on.filter(serves).length;
  if (serving === 0) return "down";
  return serving < on.length ? "degraded" : "healthy";
}
