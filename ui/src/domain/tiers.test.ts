import { describe, expect, it } from "vitest";
import type { Member } from "@/api/types";
import { priorityBefore, renumbered, tiersOf } from "./tiers";

const member = (upstream: number, priority: number) => ({ upstream, priority }) as Member;
const tiers = tiersOf([member(1, 20), member(2, 10), member(3, 20), member(4, 21)]);

describe("tiers", () => {
  it("stand in order of priority", () => {
    expect(tiers.map((tier) => [tier.priority, tier.members.map((m) => m.upstream)])).toEqual([
      [10, [2]],
      [20, [1, 3]],
      [21, [4]],
    ]);
  });

  it("have room for a new one before, between and after", () => {
    expect(priorityBefore(tiers, 0)).toBe(0);
    expect(priorityBefore(tiers, 1)).toBe(15);
    expect(priorityBefore(tiers, 2)).toBeNull();
    expect(priorityBefore(tiers, 3)).toBe(31);
    expect(priorityBefore([], 0)).toBe(10);
  });

  it("are numbered anew where there is no room", () => {
    expect([...renumbered(tiers, member(1, 20), 2)]).toEqual([
      [2, 10],
      [3, 20],
      [1, 30],
      [4, 40],
    ]);
  });
});
