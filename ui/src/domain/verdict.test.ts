import { describe, expect, it } from "vitest";
import type { Comparison, UpstreamCosts } from "@/api/costs";
import { bySuspicion, comparisonOf, formatGap, formatMultiplier, verdictKind } from "./verdict";

const comparison = (status: Comparison["status"]) => ({ status }) as Comparison;
const upstream = (name: string, status: Comparison["status"] | null) =>
  ({
    name,
    windows: status && [{ window: "7d", comparison: comparison(status) }],
  }) as unknown as UpstreamCosts;

describe("a verdict", () => {
  it("is told by shape and never by guessing", () => {
    expect(verdictKind(comparison("warning"))).toBe("degraded");
    expect(verdictKind(comparison("ok"))).toBe("healthy");
    expect(verdictKind(comparison("cannot_tell"))).toBe("stopped");
    expect(verdictKind(null)).toBe("stopped");
  });

  it("of a month is that of its last week", () => {
    expect(comparisonOf(upstream("a", "ok"), "30d")?.status).toBe("ok");
    expect(comparisonOf(upstream("a", "ok"), "1h")).toBeNull();
  });

  it("stands the higher the more suspicious it is", () => {
    const all = [upstream("b", "ok"), upstream("a", "ok"), upstream("c", null), upstream("d", "warning")];
    expect(all.sort(bySuspicion("7d")).map((u) => u.name)).toEqual(["d", "c", "a", "b"]);
  });
});

describe("figures of a verdict", () => {
  it("have a sign and few digits", () => {
    expect([formatGap("0.5"), formatGap("-0.21"), formatGap("0.002"), formatGap("0"), formatGap(null)]).toEqual([
      "+50 %",
      "−21 %",
      "+0.2 %",
      "0 %",
      "–",
    ]);
    expect([formatMultiplier("0.8500"), formatMultiplier("1.80"), formatMultiplier(null)]).toEqual([
      "×0.85",
      "×1.8",
      "–",
    ]);
  });
});
