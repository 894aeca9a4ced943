/** A group's members as tiers, and moving a member between them. */
import type { Member } from "@/api/types";

export interface Tier {
  priority: number;
  members: Member[];
}

/** The priority of a member that names none. */
const DEFAULT = 50;

/** Room between two tiers that follow each other. */
const STEP = 10;

export function tiersOf(members: readonly Member[]): Tier[] {
  const byPriority = new Map<number, Member[]>();
  for (const member of members) {
    const list = byPriority.get(member.priority ?? DEFAULT) ?? [];
    list.push(member);
    byPriority.set(member.priority ?? DEFAULT, list);
  }
  return [...byPriority].sort(([a], [b]) => a - b).map(([priority, list]) => ({ priority, members: list }));
}

/**
 * The priority of a new tier that stands before the tier at `index` (after the last one: `index` = number of tiers);
 * `null` if there is no number left between its neighbours.
 */
export function priorityBefore(tiers: readonly Tier[], index: number): number | null {
  const [above, below] = [tiers[index - 1]?.priority, tiers[index]?.priority];
  if (above === undefined) return below === undefined ? STEP : below - STEP;
  if (below === undefined) return above + STEP;
  return below - above > 1 ? Math.floor((above + below) / 2) : null;
}

/** Priorities in even steps, with the member moved to a tier of its own before `index`. */
export function renumbered(tiers: readonly Tier[], moved: Member, index: number): Map<number, number> {
  const lists = tiers.map((tier) => tier.members.filter((m) => m.upstream !== moved.upstream));
  lists.splice(index, 0, [moved]);
  const priorities = new Map<number, number>();
  lists
    .filter((list) => list.length > 0)
    .forEach((list, i) => list.forEach((member) => priorities.set(member.upstream, (i + 1) * STEP)));
  return priorities;
}
