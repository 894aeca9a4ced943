/** The state of a group, from its members. */
import type { Schemas } from "@/api/client";
import type { Kind } from "@/components/ui/StateMark.vue";

export type Lane = Schemas["Lane"];
export type LaneMember = Schemas["LaneMember"];

function serves(member: LaneMember): boolean {
  return member.condition.state === "healthy" || member.condition.state === "trying";
}

export function laneKind(lane: Lane): Kind {
  const on = lane.members.filter((member) => member.condition.state !== "off");
  if (on.length === 0) return "stopped";
  const serving = on.filter(serves).length;
  if (serving === 0) return "down";
  return serving < on.length ? "degraded" : "healthy";
}
