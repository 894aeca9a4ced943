import { describe, expect, it } from "vitest";
import { emptyPrice, ownPriceOf, priceCheck, rateOf, tiersOf } from "./price-draft";

describe("an own price", () => {
  it("has a rate for what is filled in and none for what is not", () => {
    const draft = { ...emptyPrice(" claude-* "), upstream: "7", input: "3", output: " 15 " };
    expect(priceCheck().safeParse(draft).success).toBe(true);
    expect(ownPriceOf(draft)).toEqual({
      model: "claude-*",
      upstream: 7,
      currency: "USD",
      rates: [
        { part: "input", price: "3" },
        { part: "output", price: "15" },
      ],
    });
  });

  it("needs a model, a currency and one rate that is a number", () => {
    const problems = (change: object) => {
      const outcome = priceCheck().safeParse({ ...emptyPrice("m"), input: "1", ...change });
      return outcome.error?.issues.map((issue) => issue.path.join(".")) ?? [];
    };
    expect(problems({})).toEqual([]);
    expect(problems({ model: " " })).toEqual(["model"]);
    expect(problems({ currency: "usd" })).toEqual(["currency"]);
    expect(problems({ output: "-1" })).toEqual(["output"]);
    expect(problems({ input: "" })).toEqual(["input"]);
  });
});

describe("rates", () => {
  const entry = {
    currency: "USD",
    rates: [
      { part: "input", price: "3" },
      { part: "input", price: "6", above: 200_000 },
      { part: "input", price: "1.5", service: "batch" },
    ],
  };
  it("are those of the usual service and length, with the lengths from which others hold", () => {
    expect([rateOf(entry, "input"), rateOf(entry, "output")]).toEqual(["3", null]);
    expect(tiersOf(entry)).toEqual([200_000]);
  });
});
