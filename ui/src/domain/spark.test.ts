import { expect, it } from "vitest";
import { areaPath, linePath } from "./spark";

it("draws known values from left to right and leaves gaps", () => {
  expect(linePath([0, 5, 10], 10, 20)).toBe("M0 20L1 10.5L2 1");
  expect(linePath([0, null, 10, 10], 10, 20)).toBe("M0 20L0.5 20M2 1L3 1");
  expect(linePath([null, null], 10, 20)).toBe("");
});

it("closes an area at the foot", () => {
  expect(areaPath([10, 0], 10, 20)).toBe("M0 20L0 1L1 20L1 20Z");
});
