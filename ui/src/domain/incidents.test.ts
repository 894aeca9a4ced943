import { describe, expect, it } from "vitest";
import { incidentLines } from "./incidents";

const NOW = Date.parse("2026-11-30T12:00:00Z");

describe("incidents", () => {
  it("become spans from opening to closing, up to now if still open", () => {
    const lines = incidentLines(
      [
        { at: "2026-11-30T06:00:00Z", upstream: 1, kind: "closed", class: null },
        { at: "2026-11-30T00:00:00Z", upstream: 1, kind: "opened", class: "server" },
        { at: "2026-11-30T09:00:00Z", upstream: 2, kind: "opened", class: "connect" },
        { at: "2026-11-30T03:00:00Z", upstream: 3, kind: "credential_rejected", class: "credential" },
      ],
      NOW,
    );
    expect([...lines.keys()]).toEqual([2, 3, 1]);
    expect(lines.get(1)).toMatchObject([{ from: 0.5, length: 0.25, kind: "out" }]);
    expect(lines.get(2)).toMatchObject([{ from: 0.875, length: 0.125, kind: "out" }]);
    expect(lines.get(3)).toMatchObject([{ kind: "rejected", length: 0 }]);
  });

  it("of a group that leaves a member out are spans of their own, with why", () => {
    const why = { kind: "over_cap" as const, price: "2.4", cap: "2" };
    const lines = incidentLines(
      [
        { at: "2026-11-28T00:00:00Z", upstream: 1, kind: "withheld", class: null, group: 7, withheld: why },
        { at: "2026-11-30T00:00:00Z", upstream: 1, kind: "withheld", class: null, group: 8, withheld: why },
        { at: "2026-11-30T02:00:00Z", upstream: 1, kind: "opened", class: "server" },
        { at: "2026-11-30T06:00:00Z", upstream: 1, kind: "returned", class: null, group: 8 },
      ],
      NOW,
    );
    expect(lines.get(1)).toMatchObject([
      { from: 0, length: 1, kind: "withheld", group: 7, withheld: why },
      { from: 0.5, length: 0.25, kind: "withheld", group: 8, until: "2026-11-30T06:00:00Z" },
      { kind: "out", length: expect.closeTo(1 - 14 / 24) as number },
    ]);
  });

  it("of a breaker that opens again while open are one", () => {
    const opened = (at: string) => ({ at, upstream: 1, kind: "opened" as const, class: null });
    expect(incidentLines([opened("2026-11-30T01:00:00Z"), opened("2026-11-30T02:00:00Z")], NOW).get(1)).toHaveLength(1);
  });
});
