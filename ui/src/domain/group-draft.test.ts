import { describe, expect, it } from "vitest";
import type { Group } from "@/api/types";
import { groupCheck, groupDraftOf, groupFileOf } from "./group-draft";

const group = {
  name: "coding",
  strategy: "cheapest",
  across_tiers: true,
  max_multiplier: "1.5",
  unknown_multiplier: "deny",
};

describe("a group's form", () => {
  it("gives back what the file said about cost", () => {
    const file = groupFileOf(groupDraftOf(group as unknown as Group, new Map()));
    expect(file).toMatchObject(group);
  });

  it("drops what has no effect without its strategy or its cap", () => {
    const draft = groupDraftOf(group as unknown as Group, new Map());
    const file = groupFileOf({ ...draft, strategy: "p2c", max_multiplier: " " });
    expect(file).toMatchObject({ across_tiers: false, max_multiplier: null });
    expect(file).not.toHaveProperty("unknown_multiplier");
  });

  it("takes a cap above 0 or none", () => {
    const draft = groupDraftOf(undefined, new Map());
    const isFine = (max_multiplier: string) =>
      groupCheck([]).safeParse({ ...draft, name: "g", max_multiplier }).success;
    expect(["", " ", "1", "0.05", "12.5"].map(isFine)).toEqual([true, true, true, true, true]);
    expect(["0", "-1", "x", "1e3", "1,5"].map(isFine)).toEqual([false, false, false, false, false]);
  });
});
